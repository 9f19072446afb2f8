/* The oracle of rays of doubles: whether a hit's t, which is of the world, leads to its primitive. */
#ifndef SLABCAST_CHECK_ORACLE_FAR_H
#define SLABCAST_CHECK_ORACLE_FAR_H

#include "check/oracle.h"
#include "check/reference_far.h"

/* A hit of a ray of doubles. */
typedef struct far_claim {
  double t;
  float order; /* t of the float ray */
  slab_primitive_id id;
} far_claim;

/* Judges planes, spheres, axis-aligned boxes and triangles of the scene itself, from a scene's origin. Takes all else
 * as right: oriented boxes, and primitives in instances. Too close: a primitive that the oracle leaves undecided for
 * the float ray. `why` is written where it is not right. */
oracle_judgement oracle_judge_far(const oracle_scene *, const double origin[3], const reference_line *,
                                  const far_claim *, const slab_cast_options *, char *why, size_t why_size);

#endif
