/* The depth of a ray where a scene has no instances: the scene. depths_some.h is the same where it has some, and says
 * more. */
#ifndef WALK_DEPTHS_NONE_H
#define WALK_DEPTHS_NONE_H

typedef uint ray_depths; /* nothing is kept */

#define QUERY_DEPTHS
#define QUERY_GEOMETRY(of) ((void)(of), 0u)
#define QUERY_KEEP_GEOMETRY(q, c)
#include "walk/query_state.inc"

INLINE void depths_begin(query_state *q, ray_depths *depths, const prepared_ray *ray, const scene_view *scene) {
  (void)q, (void)depths, (void)ray, (void)scene;
}

INLINE const prepared_ray *depth_ray(const query_state *q, const prepared_ray *ray) {
  (void)q;
  return ray;
}

/* ---- queries ---- */

INLINE void query_clear(query_state *q) { (void)q; }

INLINE void query_skips(query_state *q, const scene_view *scene, slab_primitive_id skip) {
  q->skip = skipped_global_id(scene->table, scene->cast->geometries, skip);
}

INLINE slab_primitive_id query_id(const query_state *q, const query_crossing *c, const scene_view *scene) {
  const uint geometry = geometry_of(scene->table, scene->cast->geometries, c->global_id);
  const slab_primitive_id id = {c->global_id - scene->table[geometry].global_id_base, geometry};
  (void)q;
  return id;
}

INLINE bool query_take(query_state *q, const prepared_ray *ray, query_crossing c, const scene_view *scene) {
  if (!query_follows(q, ray, &c, scene)) return false;
  query_keep(q, ray, &c, &q->limit, scene->cast);
  return true;
}

/* A flat scene applies masks to whole geometries instead. */
INLINE bool query_hides(const query_state *q, uint kind, uint global_id, const scene_view *scene) {
  const cast_uniforms *cast = scene->cast;
  if (primitive_is_surface(kind) && global_id == q->skip) return true;
  if (!SLAB_TREE || cast->masked == 0) return false;
  return (scene->table[geometry_of(scene->table, cast->geometries, global_id)].mask & own_mask(OWN_OF(q), cast)) == 0;
}

/* The hit of a primitive. `where` is its block in a BVH. In a flat scene the global primitive id gives the block. */
INLINE slab_hit query_hit(const prepared_ray *ray, const scene_view *scene, float t, uint global_id, uint where,
                          uint unused) {
  (void)unused;
  if (!SLAB_TREE) return hit_of(ray, scene, t, global_id);
  const uint geometry = geometry_of(scene->table, scene->cast->geometries, global_id);
  const geometry_entry entry = scene->table[geometry];
  return query_hit_of(ray, scene, &entry, geometry, t, global_id, where);
}

INLINE uint query_found(const query_state *q, const scene_view *scene, geometry_entry *entry) {
  const uint geometry = geometry_of(scene->table, scene->cast->geometries, q->global_id);
  *entry = scene->table[geometry];
  return geometry;
}

INLINE slab_short_hit query_short_hit(const query_state *q, const prepared_ray *ray, const scene_view *scene) {
  if (q->global_id == SLAB_MISS) return short_hit_of(scene, INFINITY, reason_of(ray));
  return short_hit_of(scene, ray_final_t(ray, q->t), q->global_id);
}

#endif
