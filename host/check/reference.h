/* The CPU reference: the kernels' own maths headers compiled as C11, brute force over a scene, one ray at a time. Its
 * answers are the device's, bit for bit; it knows nothing of lanes, launches or BVHs, and is blind to wrong maths. */
#ifndef SLABCAST_REFERENCE_H
#define SLABCAST_REFERENCE_H

#include "../scene.h"
#include "types.h"

/* The answer to one ray, whatever the query: the member that the query names is set. */
typedef struct reference_answer {
  slab_hit closest;
  float distance;
  uint8_t any;
  bool invalid; /* the ray is: set whatever the query */
  uint32_t count;
  slab_interval interval;
  slab_hit *all; /* SLAB_ALL: count hits, malloc'ed when capacity grows; reused from call to call */
  uint32_t capacity;
} reference_answer;

/* skip: the primitive this ray does not see, {SLAB_MISS, SLAB_MISS} for none. False when memory runs out. */
bool reference_cast(const slab_scene *, const cast_uniforms *, slab_query, const slab_ray *, slab_primitive_id skip,
                    reference_answer *answer);

#endif
