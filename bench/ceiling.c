#include "ceiling.h"

#include <pthread.h>

#include "threads.h"
#include "timing.h"

enum { BURSTS = 20 };
#define CHAIN 2000000u /* additions a burst: about 0.5 ms */
#define BLOCKS 500000u /* a thread and burst: about 1 ms */

static double chain_seconds(void) {
  uint64_t sum = 0, one = 1;
  /* Unknown to the compiler, and no constant: some processors add those for nothing. */
  __asm__ volatile("" : "+r"(one));
  const double begin = timing_now(0);
  for (uint32_t i = 0; i < CHAIN; i += 10) {
    for (int k = 0; k < 10; k++) {
      sum += one;
      __asm__ volatile("" : "+r"(sum));
    }
  }
  return timing_now(0) - begin;
}

double ceiling_clock(void) {
  timing t = {.rounds = BURSTS};
  for (int i = 0; i < BURSTS; i++) t.seconds[i] = chain_seconds();
  return CHAIN / timing_summarise(&t).best;
}

typedef struct bursts {
  const opponent *opponent;
  pthread_mutex_t lock;
  double tests; /* a second, of the threads that are done */
} bursts;

static void run_bursts(void *argument) {
  bursts *b = argument;
  timing t = {.rounds = BURSTS};
  for (int i = 0; i < BURSTS; i++) {
    const double begin = timing_now(0);
    b->opponent->arithmetic(BLOCKS);
    t.seconds[i] = timing_now(0) - begin;
  }
  pthread_mutex_lock(&b->lock);
  b->tests += (double)BLOCKS * b->opponent->lanes / timing_summarise(&t).best;
  pthread_mutex_unlock(&b->lock);
}

double ceiling_tests(const opponent *o, uint32_t threads) {
  bursts b = {.opponent = o};
  pthread_mutex_init(&b.lock, NULL);
  threads_run(threads, run_bursts, &b);
  pthread_mutex_destroy(&b.lock);
  return b.tests;
}
