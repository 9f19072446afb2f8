/* Scenes that change after their commit. The answers are those of a scene that was made anew, whatever is updated,
 * disabled, removed and added, and whether the BVH is refitted or built. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "harness.h"
#include "refused.h"
#include "sets/moving.h"

enum { RAYS = 600, EACH = 70, STEPS = 5 };

static slab_context *context_with(slab_context_options options) {
  slab_context *context = NULL;
  options.lane_width = harness_width();
  assert_ok(slab_context_create(&options, &context));
  return context;
}

static slab_scene_stats stats_of(const slab_scene *scene) {
  slab_scene_stats stats;
  assert_ok(slab_scene_info(scene, &stats));
  return stats;
}

/* The first hit of a ray from above down the line (x, 0). */
static slab_hit look_down(slab_scene *scene, float x) {
  const slab_ray ray = {{x, 0, 9}, 0, {0, 0, -1}, INFINITY};
  slab_hit hit;
  assert_ok(slab_closest(scene, &ray, 1, &hit, NULL));
  return hit;
}

/* ---- the same answers ---- */

/* The scene's answers are those of a scene that was made anew, flat and with a BVH. */
static void assert_as_if_anew(const moving *m, slab_context *context, random_state *random) {
  static const slab_tree trees[] = {SLAB_TREE_FLAT, SLAB_TREE_FAST};
  slab_ray rays[RAYS];
  slab_primitive_id skips[RAYS];
  const uint32_t n = harness_rays(RAYS);
  answers got = {0}, want = {0};
  for (uint32_t i = 0; i < n; i++) {
    rays[i] = adversarial_ray(random, &m->points);
    skips[i] = adversarial_skip(random);
  }
  const slab_cast_options plain = {0}, some = adversarial_options(random, skips), *options[] = {&plain, &some};
  for (int o = 0; o < 2; o++) {
    expect_cast(m->scene, rays, n, options[o], &got);
    for (size_t t = 0; t < sizeof trees / sizeof *trees; t++) {
      slab_scene *anew = NULL;
      size_t first = 0;
      assert_ok(moving_anew(m, context, trees[t], &anew));
      assert_ok(answers_cast_all(&want, anew, rays, n, options[o]));
      for (int q = 0; q < ANSWER_QUERIES; q++)
        if (answers_differ(&got, &want, (slab_query)q, &first) > 0)
          fail_msg("%s differs from a scene made anew, at ray %zu first", answer_name((slab_query)q), first);
      harness_count(ANSWER_QUERIES * n);
      slab_scene_destroy(anew);
    }
    answers_free(&got);
  }
  answers_free(&want);
}

static void moves_as_if_anew(const char *test, slab_context *context, const slab_build_options *build,
                             unsigned changes) {
  random_state random = harness_seeded(test);
  moving m;
  assert_ok(moving_begin(&m, context, random_next(&random), EACH));
  assert_ok(slab_scene_commit(m.scene, build));
  for (int step = 0; step < STEPS; step++) {
    assert_ok(moving_step(&m, changes));
    assert_ok(slab_scene_commit(m.scene, build));
    assert_as_if_anew(&m, context, &random);
  }
  moving_end(&m);
}

#define MOVING_TEST(name, layout, tree_, update_, changes)                                          \
  static void name(void **state) {                                                                  \
    const slab_build_options build = {.tree = (tree_), .update = (update_)};                        \
    (void)state, moves_as_if_anew(__func__, harness_shared(SLAB_LAYOUT_##layout), &build, changes); \
  }
MOVING_TEST(flat_scenes_move, DEFAULT, SLAB_TREE_FLAT, SLAB_UPDATE_AUTO, MOVING_ANY)
MOVING_TEST(wide_trees_are_refitted_to_small_moves, WIDE, SLAB_TREE_HIGH, SLAB_UPDATE_REFIT, MOVING_SHIFT)
MOVING_TEST(wide_trees_are_refitted_to_any_update, WIDE, SLAB_TREE_FAST, SLAB_UPDATE_REFIT,
            MOVING_SHIFT | MOVING_SCATTER)
MOVING_TEST(wide_trees_are_refitted_to_what_is_switched, WIDE, SLAB_TREE_FAST, SLAB_UPDATE_REFIT,
            MOVING_SHIFT | MOVING_SWITCH | MOVING_REMOVE)
MOVING_TEST(wide_trees_follow_any_change, WIDE, SLAB_TREE_FAST, SLAB_UPDATE_AUTO, MOVING_ANY)
MOVING_TEST(wide_trees_follow_ranges, WIDE, SLAB_TREE_FAST, SLAB_UPDATE_AUTO, MOVING_SOME)
MOVING_TEST(wide_trees_are_refitted_to_ranges, WIDE, SLAB_TREE_HIGH, SLAB_UPDATE_REFIT, MOVING_SOME)
MOVING_TEST(wide_trees_follow_ranges_and_others, WIDE, SLAB_TREE_FAST, SLAB_UPDATE_AUTO, MOVING_ANY | MOVING_SOME)
MOVING_TEST(compressed_trees_follow_ranges, COMPRESSED, SLAB_TREE_FAST, SLAB_UPDATE_AUTO, MOVING_SOME)
MOVING_TEST(flat_scenes_follow_ranges, DEFAULT, SLAB_TREE_FLAT, SLAB_UPDATE_AUTO, MOVING_SOME)
MOVING_TEST(wide_trees_are_rebuilt, WIDE, SLAB_TREE_FAST, SLAB_UPDATE_REBUILD, MOVING_ANY)
MOVING_TEST(compressed_trees_are_refitted_to_small_moves, COMPRESSED, SLAB_TREE_HIGH, SLAB_UPDATE_REFIT, MOVING_SHIFT)
MOVING_TEST(compressed_trees_are_refitted_to_any_update, COMPRESSED, SLAB_TREE_FAST, SLAB_UPDATE_REFIT,
            MOVING_SHIFT | MOVING_SCATTER)
MOVING_TEST(compressed_trees_are_refitted_to_what_is_switched, COMPRESSED, SLAB_TREE_FAST, SLAB_UPDATE_REFIT,
            MOVING_SHIFT | MOVING_SWITCH | MOVING_REMOVE)
MOVING_TEST(compressed_trees_follow_any_change, COMPRESSED, SLAB_TREE_FAST, SLAB_UPDATE_AUTO, MOVING_ANY)

/* As on devices that cannot use host memory: the first refit reads back the tree that it starts from. */
static void trees_are_refitted_where_they_are_copied(void **state) {
  const slab_build_options build = {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT};
  const slab_layout layouts[] = {SLAB_LAYOUT_WIDE, SLAB_LAYOUT_COMPRESSED};
  (void)state;
  for (int i = 0; i < 2; i++) {
    slab_context *context = context_with((slab_context_options){.layout = layouts[i], .copy = 1});
    moves_as_if_anew(__func__, context, &build, MOVING_SHIFT | MOVING_SWITCH);
    slab_context_destroy(context);
  }
}

static void scenes_move_on_all_devices(void **state) {
  const slab_build_options build = {.tree = SLAB_TREE_FAST};
  slab_context *context = context_with((slab_context_options){.device = "all", .launch_rays = 64});
  size_t count = 0;
  (void)state;
  assert_ok(slab_context_devices(context, NULL, 0, &count));
  print_message("%zu devices\n", count);
  moves_as_if_anew(__func__, context, &build, MOVING_SHIFT | MOVING_SWITCH | MOVING_ADD);
  slab_context_destroy(context);
}

/* ---- refit or build ---- */

enum { GRID = 40 };

static uint32_t grid_of_boxes(slab_box boxes[GRID * GRID], float lift) {
  for (uint32_t i = 0; i < GRID * GRID; i++) {
    const float x = (float)(i % GRID), y = (float)(i / GRID);
    boxes[i] = (slab_box){{x, y, lift}, {x + 0.5f, y + 0.5f, lift + 0.5f}};
  }
  return GRID * GRID;
}

/* A refit keeps the shape of the BVH, so its occupancies; a build of other quality does not. */
static bool was_refitted(slab_scene *scene, slab_update update) {
  const slab_scene_stats before = stats_of(scene);
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_HIGH, .update = update}));
  const slab_scene_stats after = stats_of(scene);
  return before.node_occupancy == after.node_occupancy && before.block_occupancy == after.block_occupancy &&
         before.tree_depth == after.tree_depth;
}

static void shuffle(slab_box *boxes, uint32_t n, random_state *random) {
  for (uint32_t i = n - 1; i > 0; i--) {
    const uint32_t k = random_below(random, i + 1);
    const slab_box kept = boxes[i];
    boxes[i] = boxes[k];
    boxes[k] = kept;
  }
}

static void refits_until_the_cost_is_too_high(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  slab_context *context = harness_shared(SLAB_LAYOUT_DEFAULT);
  slab_scene *scene = harness_scene(context);
  slab_box boxes[GRID * GRID];
  const uint32_t n = grid_of_boxes(boxes, 0);
  assert_ok(slab_scene_add_boxes(scene, boxes, n, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_FAST}));
  const double built = stats_of(scene).sah_cost;
  grid_of_boxes(boxes, 3);
  assert_ok(slab_scene_update_boxes(scene, 0, boxes, n));
  assert_true(was_refitted(scene, SLAB_UPDATE_AUTO));
  assert_true(fabs(stats_of(scene).sah_cost - built) < 1e-3 * built); /* all moved together */
  assert_true(stats_of(scene).lower[2] == 3.0f && stats_of(scene).upper[2] == 3.5f);
  shuffle(boxes, n, &random);
  assert_ok(slab_scene_update_boxes(scene, 0, boxes, n));
  assert_true(was_refitted(scene, SLAB_UPDATE_REFIT));
  assert_true(stats_of(scene).sah_cost > 1.3 * built);
  shuffle(boxes, n, &random);
  assert_ok(slab_scene_update_boxes(scene, 0, boxes, n));
  assert_false(was_refitted(scene, SLAB_UPDATE_AUTO));
  assert_true(stats_of(scene).sah_cost < 1.3 * built);
  slab_scene_destroy(scene);
}

/* A shape that the BVH cannot hold causes a build, under any options, and is seen. */
static void builds_where_the_tree_does_not_hold_the_scene(void **state) {
  (void)state;
  slab_context *context = harness_shared(SLAB_LAYOUT_DEFAULT);
  slab_scene *scene = harness_scene(context);
  slab_box boxes[GRID * GRID];
  const slab_build_options refit = {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT};
  const uint32_t n = grid_of_boxes(boxes, 0);
  assert_ok(slab_scene_add_boxes(scene, boxes, n, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &refit));
  boxes[7].upper[0] = INFINITY; /* out of the tree */
  boxes[7].lower[1] = -1, boxes[7].upper[1] = 1;
  assert_ok(slab_scene_update_boxes(scene, 0, boxes, n));
  assert_ok(slab_scene_commit(scene, &refit));
  assert_int_equal(look_down(scene, 1e6f).primitive, 7);
  boxes[7].upper[0] = 1e7f; /* and back */
  assert_ok(slab_scene_update_boxes(scene, 0, boxes, n));
  assert_ok(slab_scene_commit(scene, &refit));
  assert_int_equal(look_down(scene, 1e6f).primitive, 7);
  boxes[7].upper[0] = NAN; /* never hit, which the tree can hold */
  assert_ok(slab_scene_update_boxes(scene, 0, boxes, n));
  assert_ok(slab_scene_commit(scene, &refit));
  assert_int_equal(look_down(scene, 1e6f).primitive, SLAB_MISS);
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REBUILD}));
  boxes[7].upper[0] = 1e7f; /* and back, into a tree that has no place for it */
  assert_ok(slab_scene_update_boxes(scene, 0, boxes, n));
  assert_ok(slab_scene_commit(scene, &refit));
  assert_int_equal(look_down(scene, 1e6f).primitive, 7);
  slab_scene_destroy(scene);
}

/* A box leaves the tree and another one comes in, so that as many are where they were. In compressed nodes a build of
 * these boxes has the same occupancies whatever its quality. */
static void boxes_that_change_sides_are_not_refitted(void **state) {
  (void)state;
  slab_context *context = harness_shared(SLAB_LAYOUT_WIDE);
  slab_scene *scene = harness_scene(context);
  slab_box boxes[GRID * GRID];
  const slab_build_options refit = {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT};
  const uint32_t n = grid_of_boxes(boxes, 0);
  boxes[0] = (slab_box){{-INFINITY, -1, 6}, {INFINITY, 1, 7}};
  assert_ok(slab_scene_add_boxes(scene, boxes, n, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &refit));
  assert_int_equal(look_down(scene, -50).primitive, 0);
  boxes[1] = boxes[0];
  boxes[0] = (slab_box){{-60, -1, 6}, {-40, 1, 8}};
  assert_ok(slab_scene_update_boxes(scene, 0, boxes, n));
  assert_false(was_refitted(scene, SLAB_UPDATE_REFIT));
  assert_true(look_down(scene, -50).primitive == 0 && look_down(scene, -50).t == 1.0f);
  assert_true(look_down(scene, 1e6f).primitive == 1 && look_down(scene, 1e6f).t == 2.0f);
  slab_scene_destroy(scene);
}

/* A refit finds arrays of its size that an older build filled: the same boxes in another order. With their ids it would
 * be a BVH for that order, of far higher cost. */
static void refits_after_another_build_have_its_order(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  const slab_layout layouts[] = {SLAB_LAYOUT_WIDE, SLAB_LAYOUT_COMPRESSED};
  slab_box boxes[GRID * GRID];
  for (int l = 0; l < 2; l++) {
    slab_context *context = harness_shared(layouts[l]);
    slab_scene *scene = harness_scene(context);
    const uint32_t n = grid_of_boxes(boxes, 0);
    double built = 0;
    assert_ok(slab_scene_add_boxes(scene, boxes, n, NULL, NULL));
    for (int step = 0; step < 9; step++) {
      const slab_build_options how = {.tree = SLAB_TREE_FAST,
                                      .update = step == 4 ? SLAB_UPDATE_REBUILD : SLAB_UPDATE_REFIT};
      if (step == 4) shuffle(boxes, n, &random);
      assert_ok(slab_scene_update_boxes(scene, 0, boxes, n));
      assert_ok(slab_scene_commit(scene, &how));
      if (step == 0) built = stats_of(scene).sah_cost;
      assert_true(fabs(stats_of(scene).sah_cost - built) < 1e-3 * built);
      for (uint32_t i = 0; i < n; i += GRID) {
        const slab_ray ray = {{boxes[i].lower[0] + 0.25f, boxes[i].lower[1] + 0.25f, 9}, 0, {0, 0, -1}, INFINITY};
        slab_short_hit hit;
        assert_ok(slab_nearest(scene, &ray, 1, &hit, NULL));
        assert_int_equal(hit.primitive, i);
      }
    }
    slab_scene_destroy(scene);
  }
}

enum { OWN_BOXES = 2, MODEL_BOXES = 4, LIFTS = 5 };

/* Whether a ray down at (x, y) meets the box of this geometry and primitive at a height; NAN: none. */
static void assert_height(slab_scene *scene, float x, float y, uint32_t geometry, uint32_t primitive, float height) {
  const slab_ray ray = {{x, y, 99}, 0, {0, 0, -1}, INFINITY};
  slab_short_hit hit;
  assert_ok(slab_nearest(scene, &ray, 1, &hit, NULL));
  assert_int_equal(hit.geometry, isnan(height) ? SLAB_MISS : geometry);
  if (!isnan(height)) assert_true(hit.primitive == primitive && hit.t == 99 - height);
}

/* Boxes of the scene's own, an instance of a model of n boxes, and commits: refits, a build without the last box, and a
 * refit again. */
static void assert_models_follow(slab_context *context, uint32_t n) {
  const slab_build_options fast = {.tree = SLAB_TREE_FAST},
                           refit = {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT},
                           build = {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REBUILD};
  slab_scene *model = harness_scene(context), *scene = harness_scene(context);
  slab_box boxes[MODEL_BOXES];
  float at[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  for (uint32_t i = 0; i < MODEL_BOXES; i++) boxes[i] = (slab_box){{2 * (float)i, 0, -1}, {2 * (float)i + 1, 1, 0}};
  assert_ok(slab_scene_add_boxes(model, boxes, n, NULL, NULL));
  assert_ok(slab_scene_commit(model, &fast));
  assert_ok(slab_scene_add_instances(scene, model, at, 1, NULL, NULL));
  for (uint32_t g = 1; g <= OWN_BOXES; g++) {
    const slab_box own = {{0, 4 * (float)g, -1}, {1, 4 * (float)g + 1, 0}};
    assert_ok(slab_scene_add_boxes(scene, &own, 1, NULL, NULL));
  }
  assert_ok(slab_scene_commit(scene, &fast));
  for (int lift = 1; lift < LIFTS; lift++) {
    at[11] = (float)lift;
    assert_ok(slab_scene_update_instances(scene, 0, at, 1));
    if (lift == 3) assert_ok(slab_scene_enable(scene, OWN_BOXES, 0));
    assert_ok(slab_scene_commit(scene, lift == 3 ? &build : &refit));
    for (uint32_t i = 0; i < n; i++) assert_height(scene, 2 * (float)i + 0.5f, 0.5f, 0, i, (float)lift);
    for (uint32_t g = 1; g <= OWN_BOXES; g++)
      assert_height(scene, 0.5f, 4 * (float)g + 0.5f, g, 0, g == OWN_BOXES && lift >= 3 ? NAN : 0.0f);
  }
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

/* A refit finds arrays of its size that an older build filled, in which the model lies elsewhere. The scene's own
 * blocks took more, and the part behind those of models is rounded up. That is so of some models alone. */
static void refits_after_another_build_have_its_models(void **state) {
  (void)state;
  const slab_layout layouts[] = {SLAB_LAYOUT_WIDE, SLAB_LAYOUT_COMPRESSED};
  if (!harness_is_native()) skip(); /* the arrays are the host's, and OpenCL would compile for a minute */
  for (int l = 0; l < 2; l++)
    for (uint32_t n = 1; n <= MODEL_BOXES; n++) assert_models_follow(harness_shared(layouts[l]), n);
}

/* Leaves of several blocks, which boxes at one place make. */
static void every_block_of_a_leaf_is_refitted(void **state) {
  (void)state;
  enum { PILES = 60, HIGH = 20 };
  const slab_layout layouts[] = {SLAB_LAYOUT_WIDE, SLAB_LAYOUT_COMPRESSED};
  slab_box boxes[PILES * HIGH];
  for (int l = 0; l < 2; l++) {
    slab_context *context = harness_shared(layouts[l]);
    slab_scene *scene = harness_scene(context);
    for (int lift = 0; lift < 2; lift++) {
      for (int i = 0; i < PILES * HIGH; i++) {
        const float x = (float)(i % PILES) * 4.0f;
        boxes[i] = (slab_box){{x, -1, (float)(3 * lift)}, {x + 1, 1, (float)(3 * lift) + 1}};
      }
      if (lift == 0) assert_ok(slab_scene_add_boxes(scene, boxes, PILES * HIGH, NULL, NULL));
      if (lift > 0) assert_ok(slab_scene_update_boxes(scene, 0, boxes, PILES * HIGH));
      assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_HIGH, .update = SLAB_UPDATE_REFIT}));
      for (int i = 0; i < PILES; i++) {
        const slab_ray ray = {{(float)i * 4.0f + 0.5f, 0, 9}, 0, {0, 0, -1}, INFINITY};
        uint32_t count = 0;
        assert_ok(slab_count(scene, &ray, 1, &count, NULL));
        assert_int_equal(count, HIGH);
        assert_true(look_down(scene, ray.origin[0]).t == (lift == 0 ? 8.0f : 5.0f));
      }
    }
    slab_scene_destroy(scene);
  }
}

/* Rays that pass the edge of a long wall closely hit it by the rounding of its far corners, beyond bounds that are not
 * padded. The walls are far from each other, so that each has bounds of its own. */
static void long_walls_are_hit_beyond_their_edges(void **state) {
  (void)state;
  enum { WALLS = 12, MANY = 24000 };
  static slab_ray rays[MANY];
  static uint32_t got[MANY], want[MANY];
  const uint32_t indices[] = {0, 1, 2, 0, 2, 3};
  random_state random = harness_seeded(__func__);
  slab_context *context = harness_shared(SLAB_LAYOUT_DEFAULT);
  slab_scene *moved = harness_scene(context), *anew = harness_scene(context);
  for (uint32_t i = 0; i < WALLS; i++) {
    const float x = 40.0f * (float)i, y = 7.0f * (float)i;
    float wall[4][3] = {{x, y, 0}, {x + 1, y, 0}, {x + 1, y, 1000}, {x, y, 1000}};
    slab_mesh mesh = {wall[0], 0, 4, indices, 2, NULL};
    assert_ok(slab_scene_add_mesh(anew, &mesh, NULL, NULL));
    for (int k = 0; k < 4; k++) wall[k][1] += 2.0f;
    assert_ok(slab_scene_add_mesh(moved, &mesh, NULL, NULL));
  }
  assert_ok(slab_scene_commit(moved, &(slab_build_options){.tree = SLAB_TREE_HIGH}));
  for (uint32_t i = 0; i < WALLS; i++) {
    const float x = 40.0f * (float)i, y = 7.0f * (float)i;
    const float wall[4][3] = {{x, y, 0}, {x + 1, y, 0}, {x + 1, y, 1000}, {x, y, 1000}};
    assert_ok(
        slab_scene_update_mesh(moved, i, &(slab_mesh){.vertices = wall[0], .vertex_count = 4, .triangle_count = 2}));
  }
  assert_ok(slab_scene_commit(moved, &(slab_build_options){.update = SLAB_UPDATE_REFIT}));
  assert_ok(slab_scene_commit(anew, &(slab_build_options){.tree = SLAB_TREE_FLAT}));
  for (uint32_t i = 0; i < MANY; i++) {
    const float x = 40.0f * (float)(i % WALLS), y = 7.0f * (float)(i % WALLS), z = random_between(&random, 400, 600);
    const float from[3] = {x + random_between(&random, 0, 1), y + random_between(&random, 0.01f, 1), z};
    const float to[3] = {x + 1 + random_between(&random, -1e-4f, 1e-4f), y, z + random_between(&random, -1, 1)};
    rays[i] = slab_segment(from, to);
    rays[i].t_max = INFINITY;
  }
  assert_ok(slab_count(moved, rays, MANY, got, NULL));
  assert_ok(slab_count(anew, rays, MANY, want, NULL));
  assert_same_bits(got, want, MANY, sizeof *got);
  assert_ok(slab_scene_commit(anew, &(slab_build_options){.tree = SLAB_TREE_HIGH, .update = SLAB_UPDATE_REBUILD}));
  assert_ok(slab_count(anew, rays, MANY, got, NULL));
  assert_same_bits(got, want, MANY, sizeof *got);
  harness_count(MANY);
  slab_scene_destroy(moved);
  slab_scene_destroy(anew);
}

/* ---- pending changes ---- */

static void casts_answer_the_last_commit_until_the_next(void **state) {
  (void)state;
  slab_context *context = harness_shared(SLAB_LAYOUT_DEFAULT);
  slab_scene *scene = harness_scene(context);
  slab_sphere sphere = {{0, 0, 0}, 1};
  uint32_t added = 77;
  assert_ok(slab_scene_add_spheres(scene, &sphere, 1, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  sphere.center[2] = 2;
  assert_ok(slab_scene_update_spheres(scene, 0, &sphere, 1));
  assert_true(look_down(scene, 0).t == 8.0f);
  assert_ok(slab_scene_commit(scene, NULL));
  assert_true(look_down(scene, 0).t == 6.0f);
  assert_ok(slab_scene_enable(scene, 0, 0));
  assert_true(look_down(scene, 0).t == 6.0f);
  assert_ok(slab_scene_commit(scene, NULL));
  assert_int_equal(look_down(scene, 0).primitive, SLAB_MISS);
  sphere.center[2] = 3;
  assert_ok(slab_scene_update_spheres(scene, 0, &sphere, 1)); /* while it is disabled */
  assert_ok(slab_scene_enable(scene, 0, 1));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_true(look_down(scene, 0).t == 5.0f);
  assert_ok(slab_scene_add_spheres(scene, &(slab_sphere){{0, 0, 4}, 1}, 1, NULL, &added));
  assert_int_equal(added, 1);
  assert_ok(slab_scene_remove(scene, 0));
  assert_true(look_down(scene, 0).t == 5.0f && look_down(scene, 0).geometry == 0);
  assert_ok(slab_scene_commit(scene, NULL));
  assert_true(look_down(scene, 0).t == 4.0f && look_down(scene, 0).geometry == 1);
  assert_int_equal(stats_of(scene).geometries, 2);
  assert_int_equal(stats_of(scene).spheres, 1);
  slab_scene_destroy(scene);
}

/* A geometry's mask is not what disables it: rays of every mask miss it, and it has its mask again. */
static void a_disabled_geometry_is_seen_by_no_mask(void **state) {
  (void)state;
  slab_context *context = harness_shared(SLAB_LAYOUT_DEFAULT);
  slab_scene *scene = harness_scene(context);
  const slab_ray ray = {{0, 0, 9}, 0, {0, 0, -1}, INFINITY};
  const slab_geometry_options seen_by_two = {.mask = 2};
  const uint32_t masks[] = {0, 1, 2, UINT32_MAX};
  assert_ok(slab_scene_add_spheres(scene, &(slab_sphere){{0, 0, 0}, 1}, 1, &seen_by_two, NULL));
  for (int enabled = 1; enabled >= -1; enabled--) {
    assert_ok(slab_scene_enable(scene, 0, enabled));
    assert_ok(slab_scene_commit(scene, NULL));
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
      uint8_t hit = 77;
      assert_ok(slab_any(scene, &ray, 1, &hit, &(slab_cast_options){.mask = masks[i]}));
      assert_int_equal(hit, enabled != 0 && masks[i] != 1);
    }
  }
  slab_scene_destroy(scene);
}

static void meshes_may_have_other_indices_and_vertices(void **state) {
  (void)state;
  slab_context *context = harness_shared(SLAB_LAYOUT_DEFAULT);
  slab_scene *scene = harness_scene(context);
  const float one[][3] = {{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}},
              other[][4] = {{0}, {-1, -1, 5}, {0}, {1, -1, 5}, {0, 1, 5}};
  const uint32_t indices[] = {1, 3, 4};
  const slab_mesh before = {.vertices = one[0], .vertex_count = 3, .triangle_count = 1},
                  after = {other[0], sizeof other[0], 5, indices, 1, NULL};
  assert_ok(slab_scene_add_mesh(scene, &before, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_true(look_down(scene, 0).t == 9.0f);
  assert_ok(slab_scene_update_mesh(scene, 0, &after));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_true(look_down(scene, 0).t == 4.0f);
  slab_scene_destroy(scene);
}

/* A row of triangles is lifted, of which each of one or three meshes has every one or every third, so that all have
 * triangles in each block. The first `indexed` meshes have indices. */
static void lift_a_row(uint32_t meshes, uint32_t indexed) {
  enum { ROW = 300, MESHES_MOST = 3 };
  static float vertices[MESHES_MOST][3 * ROW][3];
  static uint32_t indices[3 * ROW];
  const uint32_t share = ROW / meshes;
  slab_context *context = harness_shared(SLAB_LAYOUT_WIDE);
  slab_scene *scene = harness_scene(context);
  for (uint32_t i = 0; i < 3 * share; i++) indices[i] = i;
  for (int lift = 0; lift < 2; lift++) {
    for (uint32_t i = 0; i < ROW; i++)
      for (uint32_t v = 0; v < 3; v++) {
        float *at = vertices[i % meshes][3 * (i / meshes) + v];
        at[0] = (float)i + 0.8f * (float)(v == 1);
        at[1] = v == 2 ? 1.0f : -1.0f;
        at[2] = (float)(3 * lift);
      }
    for (uint32_t k = 0; k < meshes; k++) {
      const slab_mesh mesh = {
          vertices[k][0], sizeof vertices[k][0], 3 * share, k < indexed ? indices : NULL, share, NULL};
      assert_ok(lift == 0 ? slab_scene_add_mesh(scene, &mesh, NULL, NULL) : slab_scene_update_mesh(scene, k, &mesh));
    }
    assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_HIGH, .update = SLAB_UPDATE_REFIT}));
    for (uint32_t i = 0; i < ROW; i++) {
      const slab_hit hit = look_down(scene, (float)i + 0.3f);
      assert_true(hit.t == (lift == 0 ? 9.0f : 6.0f));
      assert_int_equal(hit.geometry, i % meshes);
      assert_int_equal(hit.primitive, i / meshes);
    }
  }
  slab_scene_destroy(scene);
}

static void meshes_share_blocks(void **state) {
  (void)state;
  lift_a_row(3, 2);
}

static void meshes_fill_their_blocks(void **state) {
  (void)state;
  lift_a_row(1, 1);
  lift_a_row(1, 0);
}

/* Vertices of meshes with indices are tested one by one. Their triangles are refused or dropped, each by itself. */
static void triangles_of_vertices_that_are_refused(void **state) {
  (void)state;
  const float odd[] = {NAN, INFINITY, -INFINITY, 0x1.000002p60f, -0x1p61f};
  const uint32_t indices[] = {0, 1, 2, 0, 2, 3};
  slab_context *context = harness_shared(SLAB_LAYOUT_DEFAULT);
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    float vertices[4][3] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    const slab_mesh mesh = {vertices[0], 0, 4, indices, 2, NULL}, moved = {vertices[0], 0, 4, NULL, 2, NULL};
    const slab_ray rays[] = {{{0.5f, -0.5f, 9}, 0, {0, 0, -1}, INFINITY}, {{-0.5f, 0.5f, 9}, 0, {0, 0, -1}, INFINITY}};
    uint8_t hit[2];
    slab_scene *scene = harness_scene(context);
    assert_ok(slab_scene_add_mesh(scene, &mesh, NULL, NULL));
    assert_ok(slab_scene_add_mesh(scene, &mesh, &(slab_geometry_options){.skip_invalid = 1}, NULL));
    vertices[3][i % 3] = odd[i];
    assert_status(slab_scene_add_mesh(scene, &mesh, NULL, NULL), SLAB_INVALID_ARGUMENT);
    assert_mentions("slab_scene_add_mesh: triangle 1: vertex is NaN, infinite or beyond 2^60");
    assert_status(slab_scene_update_mesh(scene, 0, &moved), SLAB_INVALID_ARGUMENT);
    assert_mentions("slab_scene_update_mesh: triangle 1: vertex is NaN, infinite or beyond 2^60");
    assert_ok(slab_scene_update_mesh(scene, 1, &moved));
    assert_ok(slab_scene_remove(scene, 0));
    assert_ok(slab_scene_commit(scene, NULL));
    assert_ok(slab_any(scene, rays, 2, hit, NULL));
    assert_true(hit[0] && !hit[1]);
    assert_true(stats_of(scene).upper[1] == 1.0f && stats_of(scene).lower[0] == -1.0f);
    vertices[3][i % 3] = i % 3 == 0 ? -1.0f : i % 3 == 1 ? 1.0f : 0.0f; /* and back */
    assert_ok(slab_scene_update_mesh(scene, 1, &moved));
    assert_ok(slab_scene_commit(scene, NULL));
    assert_ok(slab_any(scene, rays, 2, hit, NULL));
    assert_true(hit[0] && hit[1]);
    slab_scene_destroy(scene);
  }
}

/* ---- refusals ---- */

#define assert_refused(call, part)              \
  do {                                          \
    assert_status(call, SLAB_INVALID_ARGUMENT); \
    assert_mentions(part);                      \
  } while (0)

static void what_cannot_be_changed_is_refused(void **state) {
  (void)state;
  slab_context *context = harness_shared(SLAB_LAYOUT_DEFAULT);
  slab_scene *scene = harness_scene(context);
  const slab_sphere spheres[3] = {{{0, 0, 0}, 1}, {{0, 0, 0}, 1}, {{0, 0, 0}, 1}};
  const slab_box boxes[2] = {{{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 1}}};
  const slab_mesh vertexless = {.triangle_count = 1};
  assert_ok(slab_scene_add_spheres(scene, spheres, 2, NULL, NULL));
  assert_ok(slab_scene_add_spheres(scene, spheres, 1, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_refused(slab_scene_update_spheres(NULL, 0, spheres, 2), "slab_scene_update_spheres: scene is NULL");
  assert_refused(slab_scene_update_spheres(scene, 0, NULL, 2), "array of 2 is NULL");
  assert_refused(slab_scene_update_spheres(scene, 2, spheres, 2), "geometry 2: the scene has 2");
  assert_refused(slab_scene_update_spheres(scene, 0, spheres, 3), "3 primitives for geometry 0, which has 2");
  assert_refused(slab_scene_update_spheres(scene, 0, spheres, 1), "1 primitives for geometry 0, which has 2");
  assert_refused(slab_scene_update_boxes(scene, 0, boxes, 2),
                 "geometry 0 has primitives of another kind: sphere, not box");
  assert_refused(slab_scene_update_mesh(scene, 0, NULL), "slab_scene_update_mesh: mesh is NULL");
  assert_refused(slab_scene_update_mesh(scene, 0, &vertexless), "slab_scene_update_mesh: vertices is NULL");
  assert_refused(slab_scene_enable(NULL, 0, 1), "slab_scene_enable: scene is NULL");
  assert_refused(slab_scene_enable(scene, 9, 1), "slab_scene_enable: geometry 9: the scene has 2");
  assert_refused(slab_scene_remove(NULL, 0), "slab_scene_remove: scene is NULL");
  assert_refused(slab_scene_remove(scene, 2), "slab_scene_remove: geometry 2: the scene has 2");
  assert_ok(slab_scene_remove(scene, 1));
  assert_refused(slab_scene_remove(scene, 1), "slab_scene_remove: geometry 1 is removed");
  assert_refused(slab_scene_enable(scene, 1, 1), "slab_scene_enable: geometry 1 is removed");
  assert_refused(slab_scene_update_spheres(scene, 1, spheres, 1), "geometry 1 is removed");
  assert_ok(slab_scene_commit(scene, NULL));
  assert_refused(slab_scene_remove(scene, 1), "geometry 1 is removed");
  assert_int_equal(look_down(scene, 0).geometry, 0);
  slab_scene_destroy(scene);
}

enum { CROWD = 40, CULPRIT = 37 };

static void a_refused_update_names_the_primitive_and_changes_nothing(void **state) {
  (void)state;
  slab_context *context = harness_shared(SLAB_LAYOUT_DEFAULT);
  for (size_t i = 0; i < refused_count(); i++) {
    const refused_case *c = refused_at(i);
    const any_shape bad = shape_refused(c);
    unsigned char *shapes = shapes_accepted(c->kind, CROWD);
    slab_scene *scene = harness_scene(context);
    slab_hit before[2];
    assert_ok(shape_add(scene, c->kind, shapes, CROWD, NULL));
    assert_ok(shape_add(scene, c->kind, shapes, CROWD, &(slab_geometry_options){.skip_invalid = 1}));
    assert_ok(slab_scene_commit(scene, NULL));
    before[0] = look_down(scene, 0.25f);
    memcpy(shapes + CULPRIT * shape_size(c->kind), &bad, shape_size(c->kind));
    assert_status(shape_update_array(scene, 0, c->kind, shapes, CROWD), SLAB_INVALID_ARGUMENT);
    assert_mentions("slab_scene_update_");
    assert_mentions("37");
    assert_mentions(c->shown);
    assert_ok(slab_scene_commit(scene, &(slab_build_options){.update = SLAB_UPDATE_REBUILD}));
    before[1] = look_down(scene, 0.25f);
    assert_same_bits(&before[1], &before[0], 1, sizeof *before);
    assert_ok(shape_update_array(scene, 1, c->kind, shapes, CROWD)); /* dropped */
    assert_ok(slab_scene_commit(scene, NULL));
    uint32_t count = 0;
    const slab_ray ray = {{0.25f, 0.25f, 9}, 0, {0, 0, -1}, INFINITY};
    assert_ok(slab_count(scene, &ray, 1, &count, NULL));
    assert_int_equal(count, 2 * CROWD - 1);
    free(shapes);
    slab_scene_destroy(scene);
  }
}

/* ---- packing ---- */

/* After any removing and disabling, the copy answers alike, and takes the same changes. */
static void packed(slab_layout layout, slab_update update, unsigned changes) {
  random_state random = harness_seeded(__func__);
  const slab_build_options build = {.tree = SLAB_TREE_FAST, .update = update};
  slab_context *context = harness_shared(layout);
  moving m;
  assert_ok(moving_begin(&m, context, random_next(&random), EACH));
  assert_ok(slab_scene_commit(m.scene, &build));
  for (int step = 0; step < STEPS; step++) {
    size_t size = 0;
    assert_ok(moving_step(&m, changes));
    assert_ok(slab_scene_commit(m.scene, &build));
    assert_ok(slab_scene_pack(m.scene, NULL, 0, &size));
    void *bytes = harness_space(size);
    assert_ok(slab_scene_pack(m.scene, bytes, size, &size));
    slab_scene *original = m.scene;
    assert_ok(slab_scene_unpack(context, bytes, size, &m.scene));
    free(bytes);
    slab_scene_destroy(original);
    assert_as_if_anew(&m, context, &random);
  }
  moving_end(&m);
}

static void changed_scenes_can_be_packed(void **state) {
  (void)state;
  const unsigned changes = MOVING_SHIFT | MOVING_SWITCH | MOVING_REMOVE;
  packed(SLAB_LAYOUT_WIDE, SLAB_UPDATE_REFIT, changes);
  packed(SLAB_LAYOUT_WIDE, SLAB_UPDATE_REBUILD, changes);
  packed(SLAB_LAYOUT_COMPRESSED, SLAB_UPDATE_AUTO, changes);
  packed(SLAB_LAYOUT_WIDE, SLAB_UPDATE_REFIT, MOVING_SOME);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flat_scenes_move),
      cmocka_unit_test(wide_trees_are_refitted_to_small_moves),
      cmocka_unit_test(wide_trees_are_refitted_to_any_update),
      cmocka_unit_test(wide_trees_are_refitted_to_what_is_switched),
      cmocka_unit_test(wide_trees_follow_any_change),
      cmocka_unit_test(wide_trees_follow_ranges),
      cmocka_unit_test(wide_trees_are_refitted_to_ranges),
      cmocka_unit_test(wide_trees_follow_ranges_and_others),
      cmocka_unit_test(compressed_trees_follow_ranges),
      cmocka_unit_test(flat_scenes_follow_ranges),
      cmocka_unit_test(wide_trees_are_rebuilt),
      cmocka_unit_test(compressed_trees_are_refitted_to_small_moves),
      cmocka_unit_test(compressed_trees_are_refitted_to_any_update),
      cmocka_unit_test(compressed_trees_are_refitted_to_what_is_switched),
      cmocka_unit_test(compressed_trees_follow_any_change),
      cmocka_unit_test(trees_are_refitted_where_they_are_copied),
      cmocka_unit_test(scenes_move_on_all_devices),
      cmocka_unit_test(refits_until_the_cost_is_too_high),
      cmocka_unit_test(builds_where_the_tree_does_not_hold_the_scene),
      cmocka_unit_test(boxes_that_change_sides_are_not_refitted),
      cmocka_unit_test(refits_after_another_build_have_its_order),
      cmocka_unit_test(refits_after_another_build_have_its_models),
      cmocka_unit_test(every_block_of_a_leaf_is_refitted),
      cmocka_unit_test(long_walls_are_hit_beyond_their_edges),
      cmocka_unit_test(casts_answer_the_last_commit_until_the_next),
      cmocka_unit_test(a_disabled_geometry_is_seen_by_no_mask),
      cmocka_unit_test(meshes_may_have_other_indices_and_vertices),
      cmocka_unit_test(meshes_share_blocks),
      cmocka_unit_test(meshes_fill_their_blocks),
      cmocka_unit_test(triangles_of_vertices_that_are_refused),
      cmocka_unit_test(what_cannot_be_changed_is_refused),
      cmocka_unit_test(a_refused_update_names_the_primitive_and_changes_nothing),
      cmocka_unit_test(changed_scenes_can_be_packed),
  };
  return cmocka_run_group_tests(tests, NULL, harness_close);
}
