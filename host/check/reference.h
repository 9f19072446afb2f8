/* The CPU reference: the kernels' own maths headers compiled as C11, brute force over a scene, one ray at a time. Its
 * answers equal the device's, bit for bit. It does not use lanes, launches or BVHs. It cannot detect errors in the
 * maths that it shares with the kernels. */
#ifndef SLABCAST_CHECK_REFERENCE_H
#define SLABCAST_CHECK_REFERENCE_H

#include "check/ray_own.h"
#include "data/types.h"
#include "maths/ray.h"
#include "record/snapshot.h"

/* The answer to one ray. The member that belongs to the query is set. */
typedef struct reference_answer {
  slab_hit closest;
  float distance;
  slab_short_hit nearest;
  uint8_t any;
  bool invalid;   /* the ray is invalid: set for every query */
  uint32_t count; /* SLAB_ALL: hits that are listed */
  slab_interval interval;
  slab_hit *all; /* SLAB_ALL: its hits, allocated by malloc when capacity grows; reused from call to call */
  uint32_t capacity;
} reference_answer;

/* A hit that the scene shows, from the t of its prepared ray. */
slab_hit reference_hit(const snapshot *, const cast_uniforms *, const prepared_ray *, float t, slab_primitive_id);

/* Returns false when memory runs out. */
bool reference_cast(const snapshot *, const cast_uniforms *, slab_query, const slab_ray *, const ray_own *,
                    reference_answer *answer);

#endif
