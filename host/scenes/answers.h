/* What a cast answers, whichever the query: cast through one door, compared by bits, and held against each other. */
#ifndef SLABCAST_BENCH_ANSWERS_H
#define SLABCAST_BENCH_ANSWERS_H

#include <stdbool.h>

#include "slabcast.h"

enum { ANSWER_QUERIES = 6 };

const char *answer_name(slab_query query);

/* Every query but SLAB_ALL, for which it returns SLAB_INVALID_ARGUMENT. */
slab_status cast_query(slab_scene *scene, slab_query query, const slab_ray *rays, size_t n, void *results,
                       const slab_cast_options *options);

/* Every query's answers to n rays. Zero before the first cast; buffers grow and are used again. */
typedef struct answers {
  size_t n;
  slab_hit *closest;
  float *distance;
  uint8_t *any;
  uint32_t *count;
  uint64_t *offsets; /* n + 1 */
  slab_hit *all;
  uint64_t asked; /* what SLAB_ALL said that it would need: offsets[n] */
  slab_interval *interval;
  uint64_t invalid[ANSWER_QUERIES]; /* how many rays each query called invalid */
  size_t room;                      /* rays that the arrays hold */
  uint64_t hits_room;               /* hits that `all` holds */
} answers;

/* Casts one query, filling in its arrays, which hold no old results before. SLAB_OUT_OF_MEMORY also where the answers
 * find no room, then without a message. */
slab_status answers_cast(answers *a, slab_query query, slab_scene *scene, const slab_ray *rays, size_t n,
                         const slab_cast_options *options);
/* All six. */
slab_status answers_cast_all(answers *a, slab_scene *scene, const slab_ray *rays, size_t n,
                             const slab_cast_options *options);
void answers_free(answers *a);

/* The array that slab_check wants as results; NULL for SLAB_ALL without a hit. */
const void *answers_of(const answers *a, slab_query query);

/* How many of the n rays have other bits in b; *first is the first of them. */
size_t answers_differ(const answers *a, const answers *b, slab_query query, size_t *first);

/* NULL, or how the six answers to ray i contradict each other, its range, or a form that all answers have: no NaN, no
 * -0, unit normals, lists in order. */
const char *answers_fault(const answers *a, size_t i, const slab_ray *ray, const slab_cast_options *options);

/* Whether all six counted the same number of invalid rays, which is that of closest's. */
bool answers_same_invalid(const answers *a);

#endif
