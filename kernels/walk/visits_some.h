/* Traversal of instances, for rays that are cast one after the other; visits_none.h is the same where a scene has none.
 * One stack holds everything still to visit: the gates of a leaf, and instances whose gate the ray enters. An entry
 * that ends a model lies below the entries that were put there inside it. So models in models add a depth, but no
 * recursion. t on the stack are of the depth that the entry belongs to. */
#ifndef WALK_VISITS_SOME_H
#define WALK_VISITS_SOME_H

#include "walk/bvh.h"
#include "walk/instance_depths.h"

/* Tests the first of some blocks of gates. The instances are pushed, the nearest last, above the other blocks. A gate
 * is tested with the whole range of the ray, since instance_t needs the t where it is entered. */
INLINE bool visit_gates(query_state *q, bvh_path *path, const scene_view *scene, uint first, uint blocks) {
  const prepared_ray *ray = &q->depths[q->depth].ray;
  const global float *block = block_at(scene->blocks, (size_t)first * BVH_UNIT);
  const global uint *instances = (const global uint *)(block + BOX_FLOATS * STRIDE);
  if (blocks > 1) visit_push(path, first + BVH_BLOCK_UNITS(BOX_FLOATS), VISIT_GATES, path->next.enter, blocks - 1);
  const uint base = path->top;
  for (uint part = 0; part < STRIDE; part += LANES) {
    real enter, leave;
    const mask hit = box_solid(ray, block + part, ray->t_max, &enter, &leave);
    for (uint bits = lanes_bits(hit); bits != 0; bits &= bits - 1) {
      const uint lane = lowest_lane(bits);
      const float at = lanes_at(enter, lane);
      const bvh_visit v = {depth_instance(q, scene, instances[part + lane], at), VISIT_INSTANCE, at, 0};
      if (v.child == SLAB_MISS) continue;
      memory_fetch((size_t)scene_instance(scene, v.child), sizeof(instance_entry));
      visit_insert(path, base, v);
    }
  }
  return bvh_pop(path, q->limit);
}

/* Goes into the model of an instance. False when the ray is done. */
INLINE bool visit_instance(query_state *q, bvh_path *path, const scene_view *scene) {
  if (!depth_enter(q, scene, path->next.child, path->next.enter)) return bvh_pop(path, q->limit);
  visit_push(path, 0, VISIT_END, -INFINITY, 0);
  if (depth_scan_outside(q, &q->depths[q->depth].ray, scene)) return false;
  visit_ungated(path, q->depths[q->depth].model);
  path->next.child = q->depths[q->depth].model->root;
  path->next.meta = BVH_INNER;
  return true;
}

INLINE bool visit_end(query_state *q, bvh_path *path) {
  depth_leave(q);
  return bvh_pop(path, q->limit);
}

/* Begins at the root of the scene, and with its instances without a gate. A ray of a world begins with that, and the
 * geometries that all worlds share wait below. */
INLINE void visit_begin(const query_state *q, bvh_path *path, const scene_view *scene, bvh_visit *stack) {
  bvh_begin(path, stack);
  if (own_world(OWN_OF(q), scene->cast) == 0) {
    visit_ungated(path, q->depths[0].model);
    return;
  }
  visit_ungated(path, scene_model(scene, 0));
  visit_world(path, q->depths[0].model, -INFINITY);
}

/* Whether the next visit is neither a node nor a leaf with primitives. */
INLINE bool visit_is_of_instances(uint meta) { return !BVH_IS_INNER(meta) && BVH_LEAF_KIND(meta) >= SHAPE_INSTANCE; }

/* One such visit. False when the ray is done. */
INLINE bool visit_step(query_state *q, bvh_path *path, const scene_view *scene) {
  const uint meta = path->next.meta;
  if (meta == VISIT_END) return visit_end(q, path);
  if (meta == VISIT_INSTANCE) return visit_instance(q, path, scene);
  return visit_gates(q, path, scene, path->next.child,
                     meta == VISIT_GATES ? path->next.place : BVH_LEAF_BLOCK_COUNT(meta));
}

#endif
