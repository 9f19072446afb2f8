/* Results of any query: cast by one function, compared bit by bit, and checked against each other. */
#ifndef SLABCAST_SETS_ANSWERS_H
#define SLABCAST_SETS_ANSWERS_H

#include <stdbool.h>

#include "slabcast.h"

enum { ANSWER_QUERIES = SLAB_QUERY_COUNT };

const char *answer_name(slab_query query);

/* Casts every query except SLAB_ALL, for which it returns SLAB_INVALID_ARGUMENT. */
slab_status cast_query(slab_scene *scene, slab_query query, const slab_ray *rays, size_t n, void *results,
                       const slab_cast_options *options);

/* The answers of all queries to n rays. Zero before the first cast. Buffers grow and are reused. */
typedef struct answers {
  size_t n;
  slab_hit *closest;
  float *distance;
  uint8_t *any;
  uint32_t *count;
  uint64_t *offsets; /* n + 1 offsets */
  slab_hit *all;
  uint64_t asked; /* capacity that SLAB_ALL requested: offsets[n] */
  slab_interval *interval;
  slab_short_hit *nearest;
  uint64_t invalid[ANSWER_QUERIES]; /* number of rays that each query reported as invalid */
  size_t space;                     /* rays that the arrays have space for */
  uint64_t hits_space;              /* hits that `all` has space for */
} answers;

/* Casts one query and fills its arrays, which are cleared of old results before. SLAB_OUT_OF_MEMORY also where the
 * answers cannot be allocated, then without a message. */
slab_status answers_cast(answers *a, slab_query query, slab_scene *scene, const slab_ray *rays, size_t n,
                         const slab_cast_options *options);
/* The same of n rays of a set, from ray `first` on, by slab_cast. */
slab_status answers_cast_set(answers *a, slab_query query, slab_scene *scene, const slab_rays *set, uint64_t first,
                             size_t n, const slab_cast_options *options);
/* Casts all queries. */
slab_status answers_cast_all(answers *a, slab_scene *scene, const slab_ray *rays, size_t n,
                             const slab_cast_options *options);
void answers_free(answers *a);

/* The array to pass to slab_check as results; NULL for SLAB_ALL without a hit. */
const void *answers_of(const answers *a, slab_query query);

/* The number of the n rays whose bits differ in b; *first is the first of them. */
size_t answers_differ(const answers *a, const answers *b, slab_query query, size_t *first);

/* Checks that the answers to ray i agree with each other, with the ray's range, and with the form of all answers: no
 * NaN, no -0, unit normals, sorted lists. Returns NULL, or a text with the fault. */
const char *answers_fault(const answers *a, size_t i, const slab_ray *ray, const slab_cast_options *options);

/* Whether all queries counted the same number of invalid rays as closest. */
bool answers_same_invalid(const answers *a);

#endif
