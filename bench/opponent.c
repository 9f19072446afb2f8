#define _POSIX_C_SOURCE 200809L
#include "opponent.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "threads.h"

#ifdef BENCH_X86
extern const opponent opponent_avx512, opponent_avx2;
#endif

const opponent *opponent_widest(void) {
#ifdef BENCH_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &opponent_avx512;
  if (__builtin_cpu_supports("avx2")) return &opponent_avx2;
#endif
  return NULL;
}

int opponent_pack(const opponent *o, const slab_box *boxes, uint32_t count, opponent_boxes *packed) {
  const size_t lanes = o->lanes, unit = lanes * OPPONENT_UNROLLED;
  const size_t padded = (count + unit - 1) / unit * unit;
  void *rows = NULL;
  if (posix_memalign(&rows, 64, (padded + 1) * 6 * sizeof(float)) != 0) return 0;
  *packed = (opponent_boxes){rows, (uint32_t)(padded / lanes)};
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
  const opponent *opponent;
  const opponent_boxes *boxes;
  slab_query query;
  const slab_ray *rays;
  size_t n;
  opponent_answer *answers;
  atomic_size_t next; /* first ray not handed out */
} work;

static void work_off(void *argument) {
  work *w = argument;
  for (;;) {
    const size_t first = atomic_fetch_add(&w->next, OPPONENT_GROUP);
    if (first >= w->n) return;
    const size_t left = w->n - first;
    const uint32_t count = left < OPPONENT_GROUP ? (uint32_t)left : OPPONENT_GROUP;
    w->opponent->cast(w->boxes, w->query, w->rays + first, count, w->answers + first);
  }
}

int opponent_cast(const opponent *o, const opponent_boxes *boxes, slab_query query, const slab_ray *rays, size_t n,
                  uint32_t threads, opponent_answer *answers) {
  work w = {o, boxes, query, rays, n, answers, 0};
  return threads_run(threads, work_off, &w);
}
