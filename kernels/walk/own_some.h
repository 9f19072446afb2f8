/* The values of a ray's own: a mask, in place of the cast's, a world, and the hit that it begins after. own_none.h:
 * rays have none. A cast gives them in arrays; a kernel that has none sets them by query_owns. */
#ifndef WALK_OWN_SOME_H
#define WALK_OWN_SOME_H

#include "data/scene_memory.h"

typedef struct query_own {
  uint mask;
  uint world;    /* 0: it sees the geometries that all worlds share, and no others */
  float after_t; /* as reported */
  uint after_geometry, after_primitive;
} query_own;

/* Members of query_state. */
#define QUERY_OWN query_own own;
#define OWN_OF(q) (&(q)->own)

INLINE void own_set(query_own *own, uint mask, uint world, slab_short_hit after) {
  own->mask = mask;
  own->world = world;
  own->after_t = after.t;
  own->after_geometry = after.geometry;
  own->after_primitive = after.primitive;
}

/* The values of ray i. */
INLINE uint own_mask_given(const cast_arrays *arrays, const cast_uniforms *cast, size_t i) {
  const own_arrays *own = &arrays->own;
  return own->masks != 0 ? own->masks[cast->masks_begin + i] : cast->mask;
}

INLINE uint own_world_given(const cast_arrays *arrays, const cast_uniforms *cast, size_t i) {
  const own_arrays *own = &arrays->own;
  return own->worlds != 0 ? own->worlds[cast->worlds_begin + i] : 0;
}

INLINE slab_short_hit own_after_given(const cast_arrays *arrays, const cast_uniforms *cast, size_t i) {
  const own_arrays *own = &arrays->own;
  const slab_short_hit none = {-INFINITY, SLAB_MISS, SLAB_MISS};
  if (own->after == 0) return none;
  return ((GLOBAL const slab_short_hit *)((GLOBAL const uint *)own->after + cast->after_begin))[i];
}

/* Makes ray i invalid, by its t_min, where the t that it begins after is NaN, or the scene has no such world. */
INLINE void own_spoils(const cast_arrays *arrays, const cast_uniforms *cast, size_t i, float *t_min) {
  const float t = own_after_given(arrays, cast, i).t;
  if (t != t) *t_min = t;
  if (own_world_given(arrays, cast, i) > cast->worlds) *t_min = NAN;
}

INLINE slab_ray own_ray(const cast_arrays *arrays, const cast_uniforms *cast, size_t i, GLOBAL const slab_ray *given) {
  slab_ray ray = *given;
  own_spoils(arrays, cast, i, &ray.t_min);
  return ray;
}

/* The mask of the ray. */
INLINE uint own_mask(const query_own *own, const cast_uniforms *cast) {
  (void)cast;
  return own->mask;
}

INLINE uint own_world(const query_own *own, const cast_uniforms *cast) {
  (void)cast;
  return own->world;
}

/* Whether the ray sees geometries of this mask. */
INLINE bool own_sees(const query_own *own, uint mask) { return (own->mask & mask) != 0; }

/* Whether the ray begins before t, or at it, where ids decide: (t, geometry, primitive) is the order of hits. */
INLINE bool own_begins_before(const query_own *own, float t) { return own->after_t < t; }

INLINE bool own_begins_at(const query_own *own, float t) { return own->after_t == t; }

INLINE bool own_follows(const query_own *own, slab_primitive_id id) {
  if (id.geometry != own->after_geometry) return id.geometry > own->after_geometry;
  return id.primitive > own->after_primitive;
}

#endif
