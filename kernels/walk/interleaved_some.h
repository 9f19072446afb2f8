/* Traversal of instances, for interleaved rays; interleaved_none.h is the same where a scene has none. It does what
 * visits_some.h does, in other steps. A block of gates is a node whose children are instances, so there is no branch
 * between the two. That test is conservative: the exact test of an instance's gate comes when the instance's turn
 * comes. */
#ifndef WALK_INTERLEAVED_SOME_H
#define WALK_INTERLEAVED_SOME_H

#include "walk/instance_depths.h"

/* Members of interleaved_entry and of interleaved_path. */
#define INTERLEAVED_ENTRY_OWNER uint number; /* of the owner */

#define INTERLEAVED_PATH_OWNER                       \
  const global float *owner; /* of the next child */ \
  uint lane;                 /* its place there */

#include "walk/interleaved_path.inc"

/* The ray of a walker, at each of its depths. */
typedef struct interleaved_ray {
  ray_depths depths;
  const prepared_ray *here; /* at the depth where its traversal is */
  uint instance;            /* that is visited next, as depth_instance, */
  float gate;               /* and where the ray enters its gate */
} interleaved_ray;

/* Takes a ray. Returns it, until the next one is prepared; depths_begin copies it. */
INLINE const prepared_ray *interleaved_keep(interleaved_ray *to, const prepared_words *words) {
  (void)to;
  return &words->ray;
}

INLINE ray_depths *interleaved_depths(interleaved_ray *of) { return &of->depths; }

INLINE const prepared_ray *interleaved_scene_ray(const interleaved_ray *of) { return &of->depths.of[0].ray; }

INLINE const prepared_ray *interleaved_here(const interleaved_ray *of) { return of->here; }

/* The depth where the traversal is has become another. */
INLINE void interleaved_turn(interleaved_ray *of, const query_state *q) { of->here = &of->depths.of[q->depth].ray; }

INLINE void interleaved_push_visit(interleaved_path *path, const scene_view *scene, uint number, uint meta) {
  interleaved_push_one(path, scene, meta)->number = number;
}

/* The children of a visit are those of a node, or instances. */
INLINE uint interleaved_children(uint meta) { return BVH_IS_INNER(meta) ? INTERLEAVED_NODE : VISIT_INSTANCE; }

/* Whether a visit has children: 1 at a node or at a block of gates. */
INLINE uint interleaved_is_inner(uint meta) {
  const uint kind = BVH_LEAF_KIND(meta) - SHAPE_INSTANCE;
  return meta >> 31 | (kind <= 1); /* BVH_INNER; 1: VISIT_GATES */
}

/* A child of an entry's owner becomes the next; where the entry is one visit, that. meta: not of such. No branches. */
INLINE void interleaved_take(interleaved_path *path, const scene_view *scene, const interleaved_entry *entry, uint lane,
                             uint child, uint meta) {
  const uint of = entry->of, is_node = of == INTERLEAVED_NODE ? INTERLEAVED_NODE : 0;
  path->meta = (meta & is_node) | (of & ~is_node);
  path->child = (is_node | (of == VISIT_INSTANCE)) != 0 ? child : entry->number;
  path->owner = &entry->owner->bounds[0][0];
  path->lane = lane;
  path->at = bvh_at(scene, path->child, path->meta);
  if (of == VISIT_INSTANCE) path->at = path->owner; /* the instance's needs are not known yet */
}

/* Pushes the instances without a gate of a model that is entered. */
INLINE void interleaved_ungated(interleaved_path *path, const query_state *q, const scene_view *scene) {
  const bvh_outside ungated = q->depths[q->depth].model->outside[OUTSIDE_INSTANCES];
  if (ungated.blocks != 0) interleaved_push_visit(path, scene, ungated.first, VISIT_GATES);
}

/* Where the next visit is one of several blocks of gates, pushes the others. */
INLINE void interleaved_others(interleaved_path *path, const query_state *q, const scene_view *scene) {
  const uint meta = path->meta, next = path->child + BVH_BLOCK_UNITS(BOX_FLOATS);
  if (BVH_IS_INNER(meta) | ((meta != VISIT_GATES) & (BVH_LEAF_BLOCK_COUNT(meta) == 1))) return; /* of nearly all */
  const bvh_outside ungated = q->depths[q->depth].model->outside[OUTSIDE_INSTANCES];
  if (meta != VISIT_GATES)
    interleaved_push_visit(path, scene, next, meta - 1); /* its lowest bits count blocks */
  else if (next - ungated.first < ungated.blocks * BVH_BLOCK_UNITS(BOX_FLOATS))
    interleaved_push_visit(path, scene, next, meta);
}

/* The next instance, as depth_instance; SLAB_MISS also where the ray does not enter its gate. */
INLINE void interleaved_instance(interleaved_ray *of, const query_state *q, const interleaved_path *path,
                                 const scene_view *scene) {
  const prepared_ray *ray = &q->depths[q->depth].ray;
  real enter = (real)(0.0f), leave;
  const mask hit = box_solid(ray, path->owner, ray->t_max, &enter, &leave);
  of->gate = lanes_at(enter, path->lane);
  of->instance = (lanes_bits(hit) >> path->lane & 1) != 0 ? depth_instance(q, scene, path->child, of->gate) : SLAB_MISS;
  memory_fetch((size_t)scene_instance(scene, of->instance), sizeof(instance_entry));
}

/* Goes into the model of that instance. False where the ray hits nothing there. */
INLINE bool interleaved_enter(const interleaved_ray *of, query_state *q, interleaved_path *path,
                              const scene_view *scene) {
  if (of->instance == SLAB_MISS || !depth_enter(q, scene, of->instance, of->gate)) return false;
  const scene_depth *inner = &q->depths[q->depth];
  interleaved_push_visit(path, scene, 0, VISIT_END);
  interleaved_root(path, scene, inner->model->root);
  if (depth_scan_outside(q, &inner->ray, scene)) {
    interleaved_stop(path);
    path->meta = 0;
  } else {
    interleaved_ungated(path, q, scene);
  }
  return true;
}

#endif
