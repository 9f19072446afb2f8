#define _POSIX_C_SOURCE 200809L
#include "simd_baseline.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "threads.h"

#ifdef BENCH_X86
extern const simd_baseline simd_baseline_avx512, simd_baseline_avx2;
#endif

const simd_baseline *simd_baseline_widest(void) {
#ifdef BENCH_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &simd_baseline_avx512;
  if (__builtin_cpu_supports("avx2")) return &simd_baseline_avx2;
#endif
  return NULL;
}

int simd_baseline_pack(const simd_baseline *o, const slab_box *boxes, uint32_t count, simd_baseline_boxes *packed) {
  const size_t lanes = o->lanes, unit = lanes * SIMD_BASELINE_UNROLLED;
  const size_t padded = (count + unit - 1) / unit * unit;
  void *rows = NULL;
  if (posix_memalign(&rows, 64, (padded + 1) * 6 * sizeof(float)) != 0) return 0;
  *packed = (simd_baseline_boxes){rows, (uint32_t)(padded / lanes)};
  for (size_t i = 0; i < padded; i++) {
    float *to = packed->rows + i / lanes * lanes * 6 + i % lanes;
    for (size_t k = 0; k < 3; k++) {
      const int real = i < count;
      to[k * lanes] = real ? boxes[i].lower[k] : INFINITY;
      to[(k + 3) * lanes] = real ? boxes[i].upper[k] : -INFINITY;
    }
  }
  return 1;
}

typedef struct work {
  const simd_baseline *simd_baseline;
  const simd_baseline_boxes *boxes;
  slab_query query;
  const slab_ray *rays;
  size_t n;
  simd_baseline_answer *answers;
  atomic_size_t next; /* next ray that no thread has taken */
} work;

static void work_off(void *argument) {
  work *w = argument;
  for (;;) {
    const size_t first = atomic_fetch_add(&w->next, SIMD_BASELINE_GROUP);
    if (first >= w->n) return;
    const size_t left = w->n - first;
    const uint32_t count = left < SIMD_BASELINE_GROUP ? (uint32_t)left : SIMD_BASELINE_GROUP;
    w->simd_baseline->cast(w->boxes, w->query, w->rays + first, count, w->answers + first);
  }
}

int simd_baseline_cast(const simd_baseline *o, const simd_baseline_boxes *boxes, slab_query query, const slab_ray *rays,
                       size_t n, uint32_t threads, simd_baseline_answer *answers) {
  work w = {o, boxes, query, rays, n, answers, 0};
  return threads_run(threads, work_off, &w);
}
