/* Measures the current clock rate of the processor, not its nominal one. */
#ifndef SLABCAST_SETS_CLOCK_RATE_H
#define SLABCAST_SETS_CLOCK_RATE_H

#include "sets/timing.h"

enum { CLOCK_BURSTS = 20 };
#define CLOCK_CHAIN 2000000u /* additions in a burst: about 0.5 ms */

static inline double clock_chain_seconds(void) {
  uint64_t sum = 0, one = 1;
  /* Hides the value from the compiler, in a register: some processors execute additions of a constant without cost. */
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

/* Cycles per second, from a chain of dependent additions of one cycle each. Takes the best of several short bursts, in
 * processor time, so that other processes do not slow all of them. The process's other threads must be idle. */
static inline double clock_rate(void) {
  timing t = {.rounds = CLOCK_BURSTS};
  for (int i = 0; i < CLOCK_BURSTS; i++) t.seconds[i] = clock_chain_seconds();
  return CLOCK_CHAIN / timing_summarise(&t).best;
}

#endif
