/* A range of a geometry's primitives, or of a mesh's vertices, that takes the place of the former ones. */
#ifndef SLABCAST_SHAPES_RANGE_H
#define SLABCAST_SHAPES_RANGE_H

#include "shapes/values.h"

/* The elements of values are vertices where it is indexed, else primitives. So many of them have bounds of their own.
 * By these the bounds of all are found again without a look at each. */
enum { VALUES_A_PART = 32 };

/* `count` shapes, or vertices of 12 bytes each, the first in the place of number `first`. */
typedef struct values_range {
  const char *function, *noun;
  slab_shape kind; /* SLAB_TRIANGLE: vertices */
  uint32_t geometry, first, count;
  const float *values;
  const double *values64; /* in place of values; floats take their place before values_range_accept */
} values_range;

/* Refuses the first of them that a geometry of so many primitives does not take, by its index. Makes the space that is
 * needed. */
slab_status values_range_accept(const geometry_values *, uint32_t primitives, const values_range *);
/* Values that nobody shares, and that have parts: these, or a copy, which has the caller's reference then. NULL: memory
 * is short. */
geometry_values *values_own(uint32_t threads, geometry_values *, slab_shape, uint32_t primitives);
/* A copy without parts. NULL: memory is short. */
geometry_values *values_copy(uint32_t threads, const geometry_values *);
/* Replaces them in values that are owned. */
void values_range_put(geometry_values *, const values_range *);
/* Finds lower and upper of values that are owned. */
void values_settle(geometry_values *);

/* Takes `count` elements from `now`, and all facts about it, but not its parts. Both are of one geometry, equal
 * elsewhere. */
void values_follow(geometry_values *, const geometry_values *now, slab_shape, uint32_t first, uint32_t count);

/* Calls `visit` for runs of elements that a range replaces. */
typedef void values_visit_run(void *argument, uint32_t first, uint32_t count);
void values_range_runs(const geometry_values *, const values_range *, values_visit_run *, void *argument);
/* Calls `visit` for each primitive that has an element in a run, once or more. */
typedef void values_visit(void *argument, uint32_t primitive);
void values_run_primitives(const geometry_values *, uint32_t first, uint32_t count, values_visit *, void *argument);

#endif
