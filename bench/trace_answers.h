/* The answers of the BVH benchmark's sides: memory for them, and how well they agree. */
#ifndef SLABCAST_BENCH_TRACE_ANSWERS_H
#define SLABCAST_BENCH_TRACE_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slabcast.h"

/* Of one side, to n rays: n results of a query; of all the hits of ray i are hits[offsets[i] .. offsets[i + 1] - 1]. */
typedef struct trace_answers {
  void *results;     /* slab_hit, uint8_t, uint32_t; all: the hits */
  uint64_t *offsets; /* n + 1, for all */
  uint64_t hits;     /* all: those that fit */
} trace_answers;

/* Space for n results of any query but all. False where there is no memory; release in any case. */
bool trace_answers_open(trace_answers *, size_t n);
/* Space for so many hits; may drop the hits that are there. False where there is no memory. */
bool trace_answers_reserve(trace_answers *, uint64_t hits);
void trace_answers_close(trace_answers *);

/* Whether all bits are the same. */
bool trace_answers_equal(slab_query, size_t n, const trace_answers *, const trace_answers *);
/* Share of rays whose answers differ by more than rounding: whether they hit, how often, and each t. near: a length
 * that rounding may change t by. That is on the way back to a surface that the ray has just left. */
double trace_answers_differ(slab_query, const slab_ray *, size_t n, float near, const trace_answers *,
                            const trace_answers *);
/* Reported hits per ray: at most 1, except for count and all. */
double trace_answers_hits(slab_query, size_t n, const trace_answers *);
/* Copies the answers to every step-th ray, `count` of them. `to` has space for `count` results. False where there is no
 * memory. */
bool trace_answers_pick(slab_query, const trace_answers *from, size_t step, size_t count, trace_answers *to);

#endif
