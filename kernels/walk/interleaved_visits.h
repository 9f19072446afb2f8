/* Traversal of instances, for interleaved rays. It does what instance_visits.h does, in other steps. A block of gates
 * is a node whose children are instances, so there is no branch between the two. That test is conservative: the gate of
 * an instance is tested for what it is when the instance's turn comes. */
#ifndef WALK_INTERLEAVED_VISITS_H
#define WALK_INTERLEAVED_VISITS_H

#include "walk/instance_levels.h"
#include "walk/interleaved.h"

/* Pushes the instances without a gate of a model that is entered. */
INLINE void interleaved_ungated(interleaved_path *path, const scene_view *scene, GLOBAL const model_entry *model) {
  const bvh_outside ungated = model->outside[OUTSIDE_INSTANCES];
  if (ungated.blocks != 0) interleaved_push_visit(path, scene, ungated.first, VISIT_GATES);
}

/* Where the next visit is one of several blocks of gates, pushes the others. model: the one that the ray is in. */
INLINE void interleaved_others(interleaved_path *path, const scene_view *scene, GLOBAL const model_entry *model) {
  const uint meta = path->meta, next = path->child + BVH_BLOCK_UNITS(BOX_ROWS);
  if (BVH_IS_INNER(meta) | ((meta != VISIT_GATES) & (BVH_LEAF_BLOCK_COUNT(meta) == 1))) return; /* of nearly all */
  const bvh_outside ungated = model->outside[OUTSIDE_INSTANCES];
  if (meta != VISIT_GATES)
    interleaved_push_visit(path, scene, next, meta - 1); /* its lowest bits count blocks */
  else if (next - ungated.first < ungated.blocks * BVH_BLOCK_UNITS(BOX_ROWS))
    interleaved_push_visit(path, scene, next, meta);
}

/* The next instance, as level_instance; SLAB_MISS also where the ray does not enter its gate. gate: the t of that. */
INLINE uint interleaved_instance(const query_state *q, const interleaved_path *path, const scene_view *scene,
                                 float *gate) {
  const prepared_ray *ray = &q->levels[q->level].ray;
  real enter = (real)(0.0f), leave;
  const mask hit = box_solid(ray, path->owner, ray->t_max, &enter, &leave);
  *gate = lanes_at(enter, path->lane);
  return (lanes_bits(hit) >> path->lane & 1) != 0 ? level_instance(q, scene, path->child, *gate) : SLAB_MISS;
}

/* Goes into the model of an instance. False where the ray hits nothing there. */
INLINE bool interleaved_enter(query_state *q, interleaved_path *path, const scene_view *scene, uint instance,
                              float gate) {
  if (instance == SLAB_MISS || !level_enter(q, scene, instance, gate)) return false;
  const scene_level *inner = &q->levels[q->level];
  interleaved_push_visit(path, scene, 0, VISIT_END);
  interleaved_root(path, scene, inner->model->root);
  if (level_scan_outside(q, &inner->ray, scene)) {
    interleaved_stop(path);
    path->meta = 0;
  } else {
    interleaved_ungated(path, scene, inner->model);
  }
  return true;
}

#endif
