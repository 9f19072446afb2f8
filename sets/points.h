/* Points for scenes of adversarial shapes, and their answers by every query of points. */
#ifndef SLABCAST_SETS_POINTS_H
#define SLABCAST_SETS_POINTS_H

#include <stdbool.h>

#include "sets/adversarial.h"

/* A point at a shape, beside it, or anywhere; seldom one that is invalid. */
void adversarial_point(random_state *random, const adversarial *, float point[3]);

/* Options for n points: none, one mask or radius of all, or each point's own, which go into the arrays. */
slab_point_options adversarial_point_options(random_state *random, const adversarial *, size_t n, uint32_t *masks,
                                             float *radii);

/* The same of one query: without a radius where it takes none. */
slab_point_options point_options_of(slab_point_query, const slab_point_options *);

/* The answers of all queries to n points. Zero before the first. Arrays grow and are reused. */
typedef struct point_answers {
  size_t n, space;
  slab_closest_point *closest;
  float *distance;
  uint8_t *within;
  int32_t *winding;
  float *signed_distance;
  float *number;
  uint64_t invalid[SLAB_POINT_QUERY_COUNT];
  int queries; /* answered by point_answers_ask_all: all, or without winding numbers, which open models have none of */
} point_answers;

/* SLAB_OUT_OF_MEMORY also where the answers cannot be allocated, then without a message. */
slab_status point_answers_ask(point_answers *, slab_point_query, slab_scene *, const float *points, size_t n,
                              const slab_point_options *);
slab_status point_answers_ask_all(point_answers *, slab_scene *, const float *points, size_t n,
                                  const slab_point_options *);
void point_answers_free(point_answers *);

const void *point_answers_of(const point_answers *, slab_point_query);
/* How many of n differ in any bit; *first is the first of them. */
size_t point_answers_differ(const point_answers *, const point_answers *, slab_point_query, size_t *first);
/* Whether the answers to point i contradict each other, or the form of all answers. NULL: no. */
const char *point_answers_fault(const point_answers *, size_t i);
const char *point_query_name(slab_point_query);

#endif
