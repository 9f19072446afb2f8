/* Where a scene has no instances nodes and leaves are visited alone. visits_some.h is the same where it has some. */
#ifndef WALK_VISITS_NONE_H
#define WALK_VISITS_NONE_H

#include "walk/bvh.h"
#include "walk/nodes.h"

INLINE bool scene_scan_outside(query_state *q, const prepared_ray *ray, const scene_view *scene) {
  return scan_outside(q, ray, scene, scene->cast->outside);
}

INLINE void visit_begin(const query_state *q, bvh_path *path, const scene_view *scene, bvh_visit *stack) {
  (void)q, (void)scene;
  bvh_begin(path, stack);
}

INLINE bool visit_is_of_instances(uint meta) {
  (void)meta;
  return false;
}

INLINE bool visit_step(query_state *q, bvh_path *path, const scene_view *scene) {
  (void)q, (void)path, (void)scene;
  return false;
}

#endif
