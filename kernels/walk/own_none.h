/* Where rays have no mask, no world and no hit to begin after of their own. own_some.h is the same where they have, and
 * says more.
 */
#ifndef WALK_OWN_NONE_H
#define WALK_OWN_NONE_H

#include "data/scene_memory.h"

typedef uint query_own; /* nothing is kept */

#define QUERY_OWN
#define OWN_OF(q) ((void)(q), (query_own *)0)

INLINE void own_set(query_own *own, uint mask, uint world, slab_short_hit after) {
  (void)own, (void)mask, (void)world, (void)after;
}

INLINE uint own_mask_given(const cast_arrays *arrays, const cast_uniforms *cast, size_t i) {
  (void)arrays, (void)i;
  return cast->mask;
}

INLINE uint own_world_given(const cast_arrays *arrays, const cast_uniforms *cast, size_t i) {
  (void)arrays, (void)cast, (void)i;
  return 0;
}

INLINE slab_short_hit own_after_given(const cast_arrays *arrays, const cast_uniforms *cast, size_t i) {
  const slab_short_hit none = {-INFINITY, SLAB_MISS, SLAB_MISS};
  (void)arrays, (void)cast, (void)i;
  return none;
}

INLINE slab_ray own_ray(const cast_arrays *arrays, const cast_uniforms *cast, size_t i, GLOBAL const slab_ray *ray) {
  (void)arrays, (void)cast, (void)i;
  return *ray;
}

INLINE void own_spoils(const cast_arrays *arrays, const cast_uniforms *cast, size_t i, float *t_min) {
  (void)arrays, (void)cast, (void)i, (void)t_min;
}

INLINE uint own_mask(const query_own *own, const cast_uniforms *cast) {
  (void)own;
  return cast->mask;
}

/* A kernel of the user's has the uniforms of one ray. */
INLINE uint own_world(const query_own *own, const cast_uniforms *cast) {
  (void)own, (void)cast;
#ifdef SLAB_TRACE
  return cast->world;
#else
  return 0;
#endif
}

INLINE bool own_sees(const query_own *own, uint mask) {
  (void)own, (void)mask;
  return true;
}

INLINE bool own_begins_before(const query_own *own, float t) {
  (void)own, (void)t;
  return true;
}

INLINE bool own_begins_at(const query_own *own, float t) {
  (void)own, (void)t;
  return false;
}

INLINE bool own_follows(const query_own *own, slab_primitive_id id) {
  (void)own, (void)id;
  return true;
}

#endif
