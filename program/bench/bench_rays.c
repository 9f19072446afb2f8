/* Rays that casts are timed with, and the memory of the host that they and their results lie in. */
#include <stdlib.h>

#include "program/bench/bench.h"

#define SEED 20240607u

/* ---- memory ---- */

const char *const bench_memory_names[BENCH_MEMORIES] = {"ordinary", "pinned"};

void *bench_memory_take(bench_run *run, bench_memory memory, size_t bytes, const char *what) {
  void *taken = NULL;
  if (memory == MEMORY_ORDINARY)
    taken = malloc(bytes);
  else if (slab_host_alloc(run->context, bytes, &taken) != SLAB_OK)
    taken = NULL;
  if (!taken) complain("bench: no memory for %zu bytes of %s", bytes, what);
  return taken;
}

void bench_memory_give_back(bench_run *run, bench_memory memory, void *taken) {
  if (memory == MEMORY_ORDINARY)
    free(taken);
  else
    slab_host_free(run->context, taken);
}

/* ---- rays ---- */

static int take_rays(bench_run *run, const char *set, bench_memory memory, size_t n, bench_rays *rays) {
  *rays = (bench_rays){set, memory, bench_memory_take(run, memory, n * sizeof *rays->at, "rays"), n};
  return rays->at ? EXIT_DONE : EXIT_FAILED;
}

int bench_rays_of_set(bench_run *run, const bench_scene *s, trace_set set, uint32_t side, bench_rays *rays) {
  const int code = take_rays(run, trace_set_names[set], MEMORY_ORDINARY, (size_t)side * side, rays);
  if (code != EXIT_DONE) return code;
  const slab_status status = trace_rays_fill(s->scene, set, SEED, side, rays->at, NULL, &rays->n);
  return status == SLAB_OK ? EXIT_DONE : complain_status(status, "bench: rays");
}

int bench_rays_random(bench_run *run, const bench_scene *s, bench_memory memory, size_t n, bench_rays *rays) {
  slab_scene_stats stats;
  const int code = take_rays(run, trace_set_names[TRACE_RANDOM], memory, n, rays);
  if (code != EXIT_DONE) return code;
  const slab_status status = slab_scene_info(s->scene, &stats);
  if (status == SLAB_OK) trace_random_fill(&stats, SEED, n, rays->at);
  return status == SLAB_OK ? EXIT_DONE : complain_status(status, "bench: rays");
}

void bench_rays_free(bench_run *run, bench_rays *rays) {
  bench_memory_give_back(run, rays->memory, rays->at);
  rays->at = NULL;
}
