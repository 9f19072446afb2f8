#include "filled.h"

#include "bvh_scenes.h"
#include "harness.h"

slab_scene *filled_scene(slab_context *context, slab_tree tree, scene_filler *fill, const void *user) {
  const slab_build_options options = {.tree = tree};
  slab_scene *scene;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(fill(scene, user));
  assert_ok(bvh_scene_add_nothing(scene));
  assert_ok(slab_scene_commit(scene, &options));
  return scene;
}

void share_programs(slab_scene *scene) {
  if (harness_width() != 8) assert_ok(bvh_scene_add_nothing(scene));
}
