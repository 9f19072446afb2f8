/* The depths of a ray where a scene has instances: the scene, and models in each other. depths_none.h is the same where
 * it has none. Both define a query's members for depths, and its tests of a primitive's geometry. */
#ifndef WALK_DEPTHS_SOME_H
#define WALK_DEPTHS_SOME_H

#include "maths/instances.h"
#include "walk/models.h"

/* The scene, or a model that a ray is in. */
typedef struct scene_depth {
  prepared_ray ray;
  GLOBAL const model_entry *model;
  float gate;    /* as in instance_t; not set for the scene */
  uint geometry; /* id of the model's first geometry */
} scene_depth;

/* A crossing at depth `nth` as the ray of the scene has it. */
INLINE float depth_t(const scene_depth *depths, uint nth, float t) {
  for (; nth > 0; nth--) t = instance_t(&depths[nth].ray, &depths[nth - 1].ray, depths[nth].gate, t);
  return t;
}

/* A limit of the scene's ray as that at depth `nth` has it. */
INLINE float depth_limit(const scene_depth *depths, uint nth, float limit) {
  for (uint k = 1; k <= nth; k++) limit = instance_limit(&depths[k].ray, limit);
  return limit;
}

/* Memory for the depths of a ray. */
typedef struct ray_depths {
  scene_depth of[SCENE_DEPTHS];
} ray_depths;

/* Members of query_state. */
#define QUERY_DEPTHS                                                                        \
  scene_depth *depths; /* SCENE_DEPTHS of them */                                           \
  uint depth;          /* where the traversal is; limit, skip and global_id are as there */ \
  float scene_limit;   /* the limit of the scene's ray */                                   \
  uint geometry;       /* id of the geometry of the best crossing */                        \
  uint skipped;        /* that of the primitive to skip */

/* The geometry of a crossing, or of the best so far. */
#define QUERY_GEOMETRY(of) ((of)->geometry)
#define QUERY_KEEP_GEOMETRY(q, c) (q)->geometry = (c)->geometry;

#include "walk/query_state.inc"

/* The view of a ray of a world: the entry of the world, or of the parts that belong to all. */
INLINE GLOBAL const model_entry *scene_world(const scene_view *scene, uint world) {
  return scene_model(scene, world != 0 ? scene->cast->world_models + world : 0);
}

/* Begins at the depth of the scene, in the ray's world. */
INLINE void depths_begin(query_state *q, ray_depths *depths, const prepared_ray *ray, const scene_view *scene) {
  q->depths = depths->of;
  q->depth = 0;
  q->scene_limit = q->limit;
  q->depths[0].ray = *ray;
  q->depths[0].model = scene_world(scene, own_world(OWN_OF(q), scene->cast));
  q->depths[0].geometry = 0;
}

/* The ray at the depth where the traversal is. ray: the scene's. */
INLINE const prepared_ray *depth_ray(const query_state *q, const prepared_ray *ray) {
  (void)ray;
  return &q->depths[q->depth].ray;
}

/* The id of a primitive's geometry, at the traversal's depth. */
INLINE uint depth_geometry(const query_state *q, const scene_view *scene, uint global_id) {
  const scene_depth *at = &q->depths[q->depth];
  return at->geometry + model_entry_of(scene, at->model, global_id)->id;
}

/* ---- queries ---- */

/* Nothing is found or skipped so far. */
INLINE void query_clear(query_state *q) { q->geometry = SLAB_MISS; }

INLINE void query_skips(query_state *q, const scene_view *scene, slab_primitive_id skip) {
  const geometry_entry entry = path_to(scene, skip.geometry).entry;
  if (skip.primitive >= entry.count || !primitive_is_surface(entry.kind)) return;
  q->skip = entry.global_id_base + skip.primitive;
  q->skipped = skip.geometry;
}

INLINE slab_primitive_id query_id(const query_state *q, const query_crossing *c, const scene_view *scene) {
  GLOBAL const geometry_entry *entry = model_entry_of(scene, q->depths[q->depth].model, c->global_id);
  const slab_primitive_id id = {c->global_id - entry->global_id_base, c->geometry};
  return id;
}

/* Takes a crossing of the ray at the traversal's depth. */
INLINE bool query_take(query_state *q, const prepared_ray *ray, query_crossing c, const scene_view *scene) {
  (void)ray;
  c.geometry = depth_geometry(q, scene, c.global_id);
  c.t = depth_t(q->depths, q->depth, c.t);
  c.leave = depth_t(q->depths, q->depth, c.leave);
  if (!query_follows(q, &q->depths[0].ray, &c, scene)) return false;
  query_keep(q, &q->depths[0].ray, &c, &q->scene_limit, scene->cast);
  q->limit = depth_limit(q->depths, q->depth, q->scene_limit);
  return true;
}

/* Whether this primitive is hidden from the ray: it is skipped, or the cast's mask excludes its geometry. */
INLINE bool query_hides(const query_state *q, uint kind, uint global_id, const scene_view *scene) {
  const cast_uniforms *cast = scene->cast;
  GLOBAL const model_entry *model = q->depths[q->depth].model;
  if (primitive_is_surface(kind) && global_id == q->skip && depth_geometry(q, scene, global_id) == q->skipped)
    return true;
  return cast->masked != 0 && (model_entry_of(scene, model, global_id)->mask & own_mask(OWN_OF(q), cast)) == 0;
}

/* The hit of a primitive that may be in a model. geometry: its geometry in the scene, whose ray is given. */
INLINE slab_hit query_hit(const prepared_ray *ray, const scene_view *scene, float t, uint global_id, uint where,
                          uint geometry) {
  const instance_path path = path_to(scene, geometry);
  prepared_ray inner = *ray;
  float inside = t;
  for (uint k = 0; k < path.count; k++) {
    const prepared_ray outer = inner;
    instance_ray(&outer, scene_instance(scene, path.instances[k]), &inner);
    inside = instance_t_inside(&inner, inside);
  }
  slab_hit hit = query_hit_of(&inner, scene, &path.entry, geometry, inside, global_id, where);
  for (uint k = path.count; k-- > 0;) instance_normal(scene_instance(scene, path.instances[k]), hit.normal);
  hit.t = ray_final_t(ray, t);
  return hit;
}

/* The id of the geometry of the best crossing, and its entry. */
INLINE uint query_found(const query_state *q, const scene_view *scene, geometry_entry *entry) {
  *entry = path_to(scene, q->geometry).entry;
  return q->geometry;
}

INLINE slab_short_hit query_short_hit(const query_state *q, const prepared_ray *ray, const scene_view *scene) {
  if (q->global_id == SLAB_MISS) return short_hit_of(scene, INFINITY, reason_of(ray));
  slab_short_hit hit = {ray_final_t(ray, q->t), 0, q->geometry};
  if (scene->cast->ids != 0) hit.primitive = q->global_id - path_to(scene, q->geometry).entry.global_id_base;
  return hit;
}

#endif
