/* The stack that a scene needs: at each depth of instances the entries of its BVH, and no more. Otherwise scenes in
 * each other would not share the programs of OpenCL with other scenes. */
#include "harness.h"
#include "sets/bvh_scenes.h"
/* cmocka has a macro fail(). */
#undef fail
#include "bvh/bvh.h"
#include "scene/scene.h"

enum { DEPTHS = SLAB_LEVELS };

static uint32_t stack_of(slab_scene *scene) { return atomic_load(&scene->committed)->bvh.stack; }

static uint32_t depth_of(slab_scene *scene) {
  slab_scene_stats stats;
  assert_ok(slab_scene_info(scene, &stats));
  return stats.tree_depth;
}

/* A BVH of its own, and one instance of the model, which is given away. NULL: none. */
static slab_scene *one_deeper(slab_context *context, slab_scene *model, uint32_t count) {
  static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  slab_scene *scene = harness_scene(context);
  assert_ok(bvh_scene_fill(BVH_SCALES, count, 7, scene));
  if (model != NULL) assert_ok(slab_scene_add_instances(scene, model, identity, 1, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_HIGH}));
  slab_scene_destroy(model);
  return scene;
}

/* Each depth adds its own part to the models' need. Rounded up on each, four depths would need twice as much. */
static void assert_stacks(slab_layout layout, uint32_t a_node, uint32_t of_instances) {
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  uint32_t needed = 0;
  assert_ok(slab_context_create(&(slab_context_options){.layout = layout}, &context));
  for (uint32_t nested = 0; nested <= DEPTHS; nested++) {
    scene = one_deeper(context, scene, 300 * (nested + 1));
    const uint32_t depth = depth_of(scene);
    assert_in_range(depth, 2, BVH_DEPTH_MAX);
    needed += a_node * depth + (nested > 0 ? of_instances : 0);
    assert_int_equal(stack_of(scene), needed);
  }
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

/* Seven of a node's children wait while one is visited. So do eight instances of a block but one, the other blocks of
 * their leaf, the instances without a gate, and the end of the model. Each takes a node's space. */
static void wide_scenes_need_the_sum_over_their_depths(void **state) {
  (void)state;
  assert_stacks(SLAB_LAYOUT_WIDE, BVH_WIDTH - 1, 4 * (BVH_WIDTH - 1));
}

/* A node has one entry for all its children, and gates are primitives. */
static void compressed_scenes_need_the_sum_over_their_depths(void **state) {
  (void)state;
  assert_stacks(SLAB_LAYOUT_COMPRESSED, 1, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wide_scenes_need_the_sum_over_their_depths),
      cmocka_unit_test(compressed_scenes_need_the_sum_over_their_depths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
