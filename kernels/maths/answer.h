/* Turns crossings into the caller's results, for the kernels and the CPU reference. */
#ifndef MATHS_ANSWER_H
#define MATHS_ANSWER_H

#include "data/scene_memory.h"
#include "maths/primitive.h"

/* The index of the last entry of a table whose `begin` is not above a number. */
#define ENTRY_OF(name, begin)                                                       \
  INLINE uint name(GLOBAL const geometry_entry *table, uint entries, uint number) { \
    uint first = 0, count = entries;                                                \
    while (count > 1) {                                                             \
      uint middle = count / 2;                                                      \
      bool above = table[first + middle].begin > number;                            \
      first = above ? first : first + middle;                                       \
      count = above ? middle : count - middle;                                      \
    }                                                                               \
    return first;                                                                   \
  }
/* geometry_of: the geometry that a global primitive id belongs to. entry_of_id: the entry that a geometry's id belongs
 * to, which may be that of instances. */
ENTRY_OF(geometry_of, global_id_base)
ENTRY_OF(entry_of_id, id)

/* The global primitive id that a ray skips, SLAB_MISS for none. */
INLINE uint skipped_global_id(GLOBAL const geometry_entry *table, uint geometries, slab_primitive_id skip) {
  if (skip.geometry >= geometries || skip.primitive >= table[skip.geometry].count) return SLAB_MISS;
  if (!primitive_is_surface(table[skip.geometry].kind)) return SLAB_MISS;
  return table[skip.geometry].global_id_base + skip.primitive;
}

INLINE slab_hit hit_none(uint why) {
  slab_hit hit = {INFINITY, {0.0f, 0.0f, 0.0f}, 0.0f, 0.0f, why, why};
  return hit;
}

INLINE slab_interval interval_none(uint why) {
  slab_interval interval = {INFINITY, -INFINITY, why, why};
  return interval;
}

/* Why a ray has no hit, from the state of the prepared ray. */
INLINE ray_word reason_of(const prepared_ray *ray) {
  return ray->state == RAY_INVALID ? (ray_word)(SLAB_INVALID) : (ray_word)(SLAB_MISS);
}

/* Computes t, normal, u and v of a crossing at t (in the prepared ray's units) of a primitive with components v. */
INLINE void hit_attributes(const uint kind, const prepared_ray *ray, const ray_real v[FLOATS_MOST],
                           const cast_uniforms *cast, ray_real t, ray_hit *hit) {
  hit->t = ray_final_t(ray, t);
  hit->u = hit->v = (ray_real)(0.0f);
  primitive_attributes(kind, ray, v, t, cast->rules, hit);
  ray_real along =
      (hit->normal[0] * ray->direction[0] + hit->normal[1] * ray->direction[1]) + hit->normal[2] * ray->direction[2];
  ray_mask turn = along > 0.0f;
  UNROLL for (int i = 0; i < 3; i++) {
    ray_real against = turn ? -hit->normal[i] : hit->normal[i];
    hit->normal[i] = without_minus_zero(cast->face_forward != 0 ? against : hit->normal[i]);
  }
  hit->u = without_minus_zero(hit->u);
  hit->v = without_minus_zero(hit->v);
}

/* The result of SLAB_NEAREST. id: a global primitive id, or why there is no hit. SLAB_DISTANCE needs its t alone. */
INLINE slab_short_hit short_hit_of(const scene_view *scene, float t, uint id) {
  slab_short_hit hit = {t, id, id};
  if (scene->cast->ids != 0 && id < SLAB_INVALID) {
    hit.geometry = geometry_of(scene->table, scene->cast->geometries, id);
    hit.primitive = id - scene->table[hit.geometry].global_id_base;
  }
  return hit;
}

/* Writes result i of SLAB_DISTANCE or SLAB_NEAREST. */
INLINE void distance_write(GLOBAL void *results, size_t i, slab_short_hit hit, const cast_uniforms *cast) {
  if (cast->ids == 0)
    ((GLOBAL float *)results)[i] = hit.t;
  else
    ((GLOBAL slab_short_hit *)results)[i] = hit;
}

#ifndef SLAB_PACKET

/* The hit of the primitive in `lane` of a block. */
INLINE slab_hit hit_at(const prepared_ray *ray, const geometry_entry *entry, uint geometry, GLOBAL const float *block,
                       uint lane, const cast_uniforms *cast, float t, uint global_id) {
  slab_hit hit = hit_none(SLAB_MISS);
#if defined(__OPENCL_C_VERSION__) && !defined(SLAB_NATIVE)
  float v[FLOATS_MOST]; /* no device of OpenCL has flags, and GPUs would store the zeros */
#else
  /* All of it is cleared: compilers subtract corners in vectors of four. The memory behind the last coordinate may hold
   * a subnormal number, and a sum of it raises a flag (base/arithmetic.h). */
  float v[FLOATS_MOST] = {0};
#endif
  const uint floats = primitive_floats(entry->kind);
  for (uint r = 0; r < floats; r++) v[r] = block[r * STRIDE + lane];
  hit.geometry = geometry;
  hit.primitive = global_id - entry->global_id_base;
  hit_attributes(entry->kind, ray, v, cast, t, &hit);
  return hit;
}

/* The same for a flat scene, where the block follows from the global primitive id. */
INLINE slab_hit hit_of(const prepared_ray *ray, const scene_view *scene, float t, uint global_id) {
  uint geometry = geometry_of(scene->table, scene->cast->geometries, global_id);
  geometry_entry entry = scene->table[geometry];
  uint primitive = global_id - entry.global_id_base;
  size_t block = (size_t)entry.first * BLOCK_UNIT + (size_t)(primitive / LANES) * primitive_floats(entry.kind) * LANES;
  return hit_at(ray, &entry, geometry, block_at(scene->blocks, block), primitive % LANES, scene->cast, t, global_id);
}

/* The interval of a hit. Ends of a solid that the ray's range clipped are returned as the caller gave them. */
INLINE slab_interval interval_of(uint kind, const prepared_ray *ray, const slab_ray *given, float enter, float leave,
                                 uint primitive, uint geometry) {
  slab_interval interval;
  interval.primitive = primitive;
  interval.geometry = geometry;
  const bool solid = !primitive_is_surface(kind);
  interval.enter = without_minus_zero(solid && enter == ray->t_min ? given->t_min : ray_final_t(ray, enter));
  interval.leave = without_minus_zero(solid && leave == ray->t_max ? given->t_max : ray_final_t(ray, leave));
  return interval;
}

/* Tests one ray against one shape, in the first lane of the block: the result of slab_pairs. */
INLINE slab_interval pair_interval(uint kind, const slab_ray *given, GLOBAL const float *shape, uint primitive) {
  const prepared_ray ray = ray_prepare(given);
  if (ray.state != RAY_LIVE) return interval_none(reason_of(&ray));
  real enter, leave;
  mask hit = primitive_solid(kind, &ray, shape, ray.t_max, 0, &enter, &leave);
  if ((lanes_bits(hit) & 1) == 0) return interval_none(SLAB_MISS);
  return interval_of(kind, &ray, given, lanes_at(enter, 0), lanes_at(leave, 0), primitive, 0);
}

#endif

#endif
