/* The clock of the processor that this runs on, as it is now and not as it is sold. */
#ifndef SLABCAST_BENCH_CLOCK_RATE_H
#define SLABCAST_BENCH_CLOCK_RATE_H

#include "timing.h"

enum { CLOCK_BURSTS = 20 };
#define CLOCK_CHAIN 2000000u /* additions a burst: about 0.5 ms */

static inline double clock_chain_seconds(void) {
  uint64_t sum = 0, one = 1;
  /* Unknown to the compiler, and no constant: some processors add those for nothing. */
  __asm__ volatile("" : "+r"(one));
  const double begin = timing_now(1);
  for (uint32_t i = 0; i < CLOCK_CHAIN; i += 10) {
    for (int k = 0; k < 10; k++) {
      sum += one;
      __asm__ volatile("" : "+r"(sum));
    }
  }
  return timing_now(1) - begin;
}

/* Cycles a second, from a chain of additions that take one each: the best of several short bursts of the
 * processor's seconds, so that neighbours do not slow all of them. The process's other threads must be idle. */
static inline double clock_rate(void) {
  timing t = {.rounds = CLOCK_BURSTS};
  for (int i = 0; i < CLOCK_BURSTS; i++) t.seconds[i] = clock_chain_seconds();
  return CLOCK_CHAIN / timing_summarise(&t).best;
}

#endif
