/* A ray goes into models, and leaves them: the part that the layouts of a BVH have in common. */
#ifndef WALK_INSTANCE_DEPTHS_H
#define WALK_INSTANCE_DEPTHS_H

#include "walk/nodes.h"

/* Index of an instance, from its global primitive id at the ray's depth; SLAB_MISS: hidden by the mask, or its gate is
 * entered too late. enter: the t of that. */
INLINE uint depth_instance(const query_state *q, const scene_view *scene, uint global_id, float enter) {
  const geometry_entry group = *model_entry_of(scene, q->depths[q->depth].model, global_id);
  if (enter > q->limit || (group.mask & own_mask(OWN_OF(q), scene->cast)) == 0) return SLAB_MISS;
  return group.first + (global_id - group.global_id_base);
}

/* Goes into the model of an instance. False where the ray hits nothing there. */
INLINE bool depth_enter(query_state *q, const scene_view *scene, uint instance, float gate) {
  GLOBAL const instance_entry *of = scene_instance(scene, instance);
  scene_depth *outer = &q->depths[q->depth], *inner = outer + 1;
  instance_ray(&outer->ray, of, &inner->ray);
  if (inner->ray.state != RAY_LIVE) return false;
  inner->model = scene_model(scene, of->model);
  inner->gate = gate;
  inner->geometry = outer->geometry + of->geometry;
  q->depth++;
  q->limit = depth_limit(q->depths, q->depth, q->scene_limit);
  return true;
}

/* Tests the primitives outside the BVH of the model that the ray is in; ray: the one there. True when the ray is
 * done. */
INLINE bool depth_scan_outside(query_state *q, const prepared_ray *ray, const scene_view *scene) {
  GLOBAL const model_entry *model = q->depths[q->depth].model;
  bvh_outside outside[OUTSIDE_KINDS];
  UNROLL for (int k = 0; k < OUTSIDE_KINDS; k++) outside[k] = model->outside[k];
  return scan_outside(q, ray, scene, outside);
}

/* Tests the primitives outside the scene's BVH, and those of the ray's world. */
INLINE bool scene_scan_outside(query_state *q, const prepared_ray *ray, const scene_view *scene) {
  if (scan_outside(q, ray, scene, scene->cast->outside)) return true;
  return own_world(OWN_OF(q), scene->cast) != 0 && depth_scan_outside(q, ray, scene);
}

INLINE void depth_leave(query_state *q) {
  q->depth--;
  q->limit = depth_limit(q->depths, q->depth, q->scene_limit);
}

#endif
