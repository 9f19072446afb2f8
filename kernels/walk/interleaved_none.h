/* Interleaved rays where a scene has no instances. interleaved_some.h is the same where it has some, and says more. */
#ifndef WALK_INTERLEAVED_NONE_H
#define WALK_INTERLEAVED_NONE_H

#define INTERLEAVED_ENTRY_OWNER
#define INTERLEAVED_PATH_OWNER
#include "walk/interleaved_path.inc"

typedef struct interleaved_ray {
  prepared_words words;
} interleaved_ray;

INLINE const prepared_ray *interleaved_keep(interleaved_ray *to, const prepared_words *words) {
  prepared_rays_copy(&to->words, words);
  return &to->words.ray;
}

INLINE ray_depths *interleaved_depths(interleaved_ray *of) {
  (void)of;
  return 0;
}

INLINE const prepared_ray *interleaved_scene_ray(const interleaved_ray *of) { return &of->words.ray; }

INLINE const prepared_ray *interleaved_here(const interleaved_ray *of) { return &of->words.ray; }

INLINE void interleaved_turn(interleaved_ray *of, const query_state *q) { (void)of, (void)q; }

INLINE void interleaved_push_visit(interleaved_path *path, const scene_view *scene, uint number, uint meta) {
  (void)number;
  interleaved_push_one(path, scene, meta);
}

INLINE uint interleaved_children(uint meta) {
  (void)meta;
  return INTERLEAVED_NODE;
}

INLINE uint interleaved_is_inner(uint meta) { return meta >> 31; /* BVH_INNER */ }

INLINE void interleaved_take(interleaved_path *path, const scene_view *scene, const interleaved_entry *entry, uint lane,
                             uint child, uint meta) {
  (void)entry, (void)lane;
  path->child = child;
  path->meta = meta;
  path->at = bvh_at(scene, path->child, path->meta);
}

INLINE void interleaved_ungated(interleaved_path *path, const query_state *q, const scene_view *scene) {
  (void)path, (void)q, (void)scene;
}

INLINE void interleaved_others(interleaved_path *path, const query_state *q, const scene_view *scene) {
  (void)path, (void)q, (void)scene;
}

INLINE void interleaved_instance(interleaved_ray *of, const query_state *q, const interleaved_path *path,
                                 const scene_view *scene) {
  (void)of, (void)q, (void)path, (void)scene;
}

INLINE bool interleaved_enter(const interleaved_ray *of, query_state *q, interleaved_path *path,
                              const scene_view *scene) {
  (void)of, (void)q, (void)path, (void)scene;
  return false;
}

INLINE void depth_leave(query_state *q) { (void)q; }

#endif
