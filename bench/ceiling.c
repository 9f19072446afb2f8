#include "ceiling.h"

#include "os/thread.h"
#include "sets/timing.h"
#include "threads.h"

enum { BURSTS = 20 };
#define BLOCKS 500000u /* in a burst of one thread: about 1 ms */

typedef struct bursts {
  const simd_baseline *simd_baseline;
  os_mutex lock;
  double tests; /* tests per second, sum of the threads that have finished */
} bursts;

static void run_bursts(void *argument) {
  bursts *b = argument;
  timing t = {.rounds = BURSTS};
  for (int i = 0; i < BURSTS; i++) {
    const double begin = timing_now(0);
    b->simd_baseline->arithmetic(BLOCKS);
    t.seconds[i] = timing_now(0) - begin;
  }
  os_mutex_lock(&b->lock);
  b->tests += (double)BLOCKS * b->simd_baseline->lanes / timing_summarise(&t).best;
  os_mutex_unlock(&b->lock);
}

double ceiling_tests(const simd_baseline *o, uint32_t threads) {
  bursts b = {.simd_baseline = o};
  os_mutex_init(&b.lock);
  threads_run(threads, run_bursts, &b);
  os_mutex_destroy(&b.lock);
  return b.tests;
}
