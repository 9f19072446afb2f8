/* The invariant that no BVH changes a result. Scenes of every kind are cast flat and with a BVH of each quality, in
 * all six queries, and compared bit by bit. SLABCAST_TEST_RAYS makes the sets larger. */
#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "sets/answers.h"
#include "sets/bvh_scenes.h"

enum { SHAPES = 1500 };

static const slab_tree qualities[] = {SLAB_TREE_FLAT, SLAB_TREE_FAST, SLAB_TREE_DEFAULT, SLAB_TREE_HIGH};
enum { QUALITIES = sizeof qualities / sizeof *qualities };

static size_t ray_count(void) {
  const char *wanted = getenv("SLABCAST_TEST_RAYS");
  return wanted == NULL ? 5000 : strtoul(wanted, NULL, 10);
}

static void compare(slab_scene *scenes[QUALITIES], const slab_ray *rays, size_t n, const slab_cast_options *options) {
  answers flat = {0}, tree = {0};
  assert_ok(answers_cast_all(&flat, scenes[0], rays, n, options));
  assert_true(flat.offsets[n] > n / 20); /* a set without hits would prove nothing */
  for (int q = 1; q < QUALITIES; q++) {
    assert_ok(answers_cast_all(&tree, scenes[q], rays, n, options));
    for (int query = 0; query < ANSWER_QUERIES; query++) {
      size_t first = 0;
      const size_t differing = answers_differ(&tree, &flat, (slab_query)query, &first);
      if (differing)
        fail_msg("%s on tree %d: %zu rays differ from flat, the first is %zu", answer_name((slab_query)query),
                 (int)qualities[q], differing, first);
      harness_count(n);
    }
  }
  answers_free(&flat);
  answers_free(&tree);
}

static void trees_change_nothing(bvh_scene which) {
  slab_context *context = harness_context();
  slab_scene *scenes[QUALITIES];
  slab_scene_stats stats;
  const size_t n = ray_count();
  random_state random = harness_seeded(bvh_scene_name(which));
  const uint64_t seed = random_next(&random);
  for (int q = 0; q < QUALITIES; q++) {
    const slab_build_options options = {.tree = qualities[q]};
    assert_ok(slab_scene_create(context, &scenes[q]));
    assert_ok(bvh_scene_fill(which, SHAPES, seed, scenes[q]));
    if (harness_width() == 1 || which == BVH_SCALES) /* so that scenes share programs */
      assert_ok(bvh_scene_add_nothing(scenes[q]));
    assert_ok(slab_scene_commit(scenes[q], &options));
    assert_ok(slab_scene_info(scenes[q], &stats));
    assert_true((stats.tree_depth > 0) == (qualities[q] != SLAB_TREE_FLAT));
  }
  slab_ray *rays = malloc(n * sizeof *rays + 1);
  slab_primitive_id *skip = malloc(n * sizeof *skip + 1);
  assert_true(rays && skip);
  for (size_t i = 0; i < n; i++) {
    rays[i] = bvh_scene_ray(&random, &stats);
    skip[i] = (slab_primitive_id){(uint32_t)i % SHAPES, (uint32_t)i % 7};
  }
  const slab_cast_options some = {.mask = 1, .cull = SLAB_CULL_FRONT, .skip = skip, .face_forward = 1};
  compare(scenes, rays, n, NULL);
  compare(scenes, rays, n, &some);
  free(skip);
  free(rays);
  for (int q = 0; q < QUALITIES; q++) slab_scene_destroy(scenes[q]);
  slab_context_destroy(context);
}

#define BVH_TEST(name, which) \
  static void trees_equal_flat_on_##name(void **state) { (void)state, trees_change_nothing(which); }
BVH_TEST(mixed, BVH_MIXED)
BVH_TEST(touching, BVH_TOUCHING)
BVH_TEST(flatland, BVH_FLATLAND)
BVH_TEST(far, BVH_FAR)
BVH_TEST(scales, BVH_SCALES)
BVH_TEST(slivers, BVH_SLIVERS)

static void tree_of_nothing_and_of_one(void **state) {
  (void)state;
  slab_context *context = harness_context();
  const slab_sphere ball = {{0, 0, 0}, 1};
  const slab_ray ray = {{-3, 0, 0}, 0, {1, 0, 0}, INFINITY};
  for (uint32_t count = 0; count < 2; count++) {
    const slab_build_options options = {.tree = SLAB_TREE_FAST};
    slab_scene *scene;
    slab_hit hit;
    assert_ok(slab_scene_create(context, &scene));
    assert_ok(slab_scene_add_spheres(scene, &ball, count, NULL, NULL));
    assert_ok(slab_scene_commit(scene, &options));
    assert_ok(slab_closest(scene, &ray, 1, &hit, NULL));
    assert_int_equal(hit.primitive, count == 0 ? SLAB_MISS : 0);
    assert_true(hit.t == (count == 0 ? INFINITY : 2.0f));
    slab_scene_destroy(scene);
  }
  slab_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trees_equal_flat_on_mixed),    cmocka_unit_test(trees_equal_flat_on_touching),
      cmocka_unit_test(trees_equal_flat_on_flatland), cmocka_unit_test(trees_equal_flat_on_far),
      cmocka_unit_test(trees_equal_flat_on_scales),   cmocka_unit_test(trees_equal_flat_on_slivers),
      cmocka_unit_test(tree_of_nothing_and_of_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
