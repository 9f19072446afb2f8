/* Traversal of an 8-wide BVH, by one ray: see wide.cl. */
#ifndef WALK_WIDE_H
#define WALK_WIDE_H

#include "walk/bvh.h"
#include "walk/nodes.h"
#include "walk/occluder.h"
#include "walk/prepared_rays.h"
#if SLAB_INSTANCES
#include "walk/visits_some.h"
#else
#include "walk/visits_none.h"
#endif

/* The state of a ray in traversal. */
typedef struct traversal {
  query_state q;
  uint number; /* number of the ray */
  bool more;   /* the ray is not done */
} traversal;

/* Tests the blocks of a leaf. False when the ray is done. */
INLINE bool traversal_leaf(traversal *w, const prepared_ray *ray, const scene_view *scene, uint first, uint meta) {
  return !scan_leaf(&w->q, ray, scene, BVH_LEAF_KIND(meta), first, BVH_LEAF_BLOCK_COUNT(meta));
}

/* Children whose bounds the ray may overlap at limit or before, as bits. enter[k] is set for those. */
INLINE uint node_children(const prepared_ray *ray, const global bvh_node *node, float limit, float enter[BVH_WIDTH]) {
  uint bits = 0;
  for (uint part = 0; part < BVH_WIDTH; part += LANES) {
    real near[3], far[3], from;
    box_planes(ray, &node->bounds[0][0] + part, near, far);
    bits |= lanes_bits(bounds_overlap(ray, near, far, limit, &from)) << part;
    lanes_store(from, enter + part);
  }
  return bits;
}

/* One step: tests a node or a leaf. False when the ray is done. */
INLINE bool traversal_step(traversal *w, bvh_path *path, const prepared_ray *ray, const scene_view *scene) {
  const uint at = path->next.child, meta = path->next.meta;
  ray = depth_ray(&w->q, ray);
  if (visit_is_of_instances(meta)) return visit_step(&w->q, path, scene);
  if (BVH_IS_INNER(meta)) {
    float enter[BVH_WIDTH];
    COUNT(nodes, 1);
    const uint bits = node_children(ray, node_at(scene->nodes, at), w->q.limit, enter);
    return bvh_down(path, scene, at, bits, enter, w->q.limit);
  }
  return traversal_leaf(w, ray, scene, at, meta) && bvh_pop(path, w->q.limit);
}

/* For SLAB_ANY, tests the block of the primitive that blocked an earlier ray. */
INLINE void traversal_occluder(traversal *w, occluder *last, const prepared_ray *ray, const scene_view *scene) {
  if (!OCCLUDERS || !w->more || !occluder_is_tested(last)) return;
  w->more = traversal_leaf(w, ray, scene, last->where, BVH_LEAF(last->kind, 1));
  occluder_judge(last, !w->more);
}

/* Traverses the BVH until the ray is done. */
INLINE void traversal_run(traversal *w, occluder *last, const prepared_ray *ray, const scene_view *scene,
                          bvh_visit *stack) {
  bvh_path path;
  if (!w->more) return;
  visit_begin(&w->q, &path, scene, stack);
  while (w->more) w->more = traversal_step(w, &path, prepared_kept(ray), scene);
  if (SLAB_QUERY == SLAB_ANY && w->q.global_id != SLAB_MISS)
    occluder_remember(last, BVH_LEAF_KIND(path.next.meta), w->q.where, w->q.lane);
}

/* Casts one ray alone. */
INLINE void wide_cast(query_state *q, const prepared_ray *ray, const scene_view *scene) {
  bvh_visit stack[SLAB_STACK];
  occluder none = occluder_none();
  traversal w;
  w.more = !scene_scan_outside(q, ray, scene);
  w.q = *q;
  traversal_run(&w, &none, ray, scene, stack);
  *q = w.q;
}

#endif
