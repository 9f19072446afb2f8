/* The processor as `slabcast bench` measures it: the kernels of kernels/ceiling.cl that were compiled with the program,
 * on a pool of threads like the one that casts. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "os/clock.h"
#include "os/memory.h"
#include "program/bench/bench.h"

static int native_open(slab_context *context, const slab_device_info *info, bench_device *d) {
  (void)context;
  d->threads = info->compute_units;
  for (d->level = bench_levels; d->level->lanes != info->lane_width; d->level++)
    if (d->level->lanes == 0) {
      complain("bench: the program was built without the ceilings of %u lanes", info->lane_width);
      return EXIT_FAILED;
    }
  d->lanes = d->level->lanes;
  d->chains = d->level->chains;
  return EXIT_DONE;
}

static void native_close(bench_device *d) { (void)d; }

static int native_allocate(bench_device *d, size_t bytes, bool staging, bench_array *a) {
  (void)d, (void)staging;
  a->bytes = bytes;
  a->host = os_allocate_lines(bytes); /* a line is the largest piece that a kernel reads */
  if (!a->host) complain("bench: no memory for %zu bytes", bytes);
  return a->host ? EXIT_DONE : EXIT_FAILED;
}

static int native_release(bench_device *d, bench_array *a) {
  (void)d;
  os_free(a->host);
  return EXIT_DONE;
}

static int native_write(bench_device *d, const bench_array *to, const void *from, size_t bytes) {
  (void)d;
  memcpy(to->host, from, bytes);
  return EXIT_DONE;
}

static int native_read(bench_device *d, const bench_array *from, void *to, size_t bytes) {
  (void)d;
  memcpy(to, from->host, bytes);
  return EXIT_DONE;
}

typedef struct work {
  bench_work *kernel;
  const bench_launch *launch;
  bool counts;                      /* processor time is measured */
  atomic_uint_fast64_t nanoseconds; /* of processors */
} work;

static uint64_t thread_nanoseconds(void) { return (uint64_t)(1e9 * seconds_of_thread()); }

/* Each thread reads its own clock: the process's clock gets another thread's time up to milliseconds later. */
static void run_item(void *argument, size_t item) {
  static const float values[] = BENCH_START;
  work *w = argument;
  const uint64_t begin = w->counts ? thread_nanoseconds() : 0;
  w->kernel(item, w->launch->from->host, w->launch->to->host, w->launch->n, values[0], values[1], values[2]);
  if (w->counts) atomic_fetch_add(&w->nanoseconds, thread_nanoseconds() - begin);
}

/* Alone: once on each thread, since a cast wakes them all. */
static int native_launch(bench_device *d, const bench_launch *l, double *seconds) {
  work w = {d->level->kernels[l->kernel], l, d->sharers > 0 && !l->alone, 0};
  const double begin = timing_now(0);
  pool_run(d->threads, l->alone ? d->threads : d->groups, run_item, &w);
  *seconds = w.counts ? 1e-9 * (double)w.nanoseconds / d->sharers : timing_now(0) - begin;
  return EXIT_DONE;
}

const bench_backend bench_native = {
    false, native_open, native_close, native_allocate, native_release, native_write, native_read, native_launch, NULL};
