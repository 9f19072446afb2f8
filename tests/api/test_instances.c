/* Instances. In any nesting the answers are those of the CPU reference, bit by bit, and the same for every quality of
 * every BVH. Exact transforms keep a model's own bits. A refused call changes nothing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "harness.h"
#include "sets/nested.h"

enum { RAYS = 300, ROUNDS = 6, SOME = NESTED_EACH, APART = 10, PLACES = 1 << SLAB_LEVELS };

/* Of the contexts that the tests share. */
static slab_layout layout = SLAB_LAYOUT_DEFAULT;

static void commit(slab_scene *scene, slab_tree tree) {
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = tree}));
}

enum { ALL_IN_BVH = ADVERSARIAL_ALL_KINDS & ~(1 << SLAB_PLANE), TRIANGLES_ALONE = 1 << SLAB_TRIANGLE };

static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

/* ---- random scenes ---- */

static nested nested_of(slab_context *context, random_state *random, unsigned kinds) {
  nested n;
  assert_ok(nested_begin(&n, context, random_next(random), kinds));
  return n;
}

static uint32_t hits_in(const answers *a) {
  uint32_t hits = 0;
  for (size_t i = 0; i < a->n; i++) hits += a->any[i];
  return hits;
}

/* Every tree of the scene gives these answers. */
static void assert_same_for_all_trees(nested *w, const slab_ray *rays, const answers *want,
                                      const slab_cast_options *options) {
  answers got = {0};
  size_t first = 0;
  for (int tree = SLAB_TREE_DEFAULT; tree <= SLAB_TREE_HIGH; tree++) {
    assert_ok(slab_scene_commit(w->scenes[NESTED_TOP],
                                &(slab_build_options){.tree = (slab_tree)tree, .update = SLAB_UPDATE_REBUILD}));
    assert_ok(answers_cast_all(&got, w->scenes[NESTED_TOP], rays, want->n, options));
    for (int q = 0; q < ANSWER_QUERIES; q++)
      if (answers_differ(&got, want, (slab_query)q, &first) > 0)
        fail_msg("%s differs for tree %d, at ray %zu first", answer_name((slab_query)q), tree, first);
  }
  harness_count(ANSWER_QUERIES * want->n * 4);
  answers_free(&got);
}

static uint32_t assert_answers(nested *w) {
  slab_ray rays[RAYS];
  slab_primitive_id skips[RAYS];
  const uint32_t n = harness_rays(RAYS);
  answers got = {0};
  uint32_t hits = 0;
  slab_scene_stats stats;
  assert_ok(slab_scene_info(w->scenes[NESTED_TOP], &stats));
  nested_rays(w, n, rays);
  for (uint32_t i = 0; i < n; i++)
    skips[i] = (slab_primitive_id){random_below(&w->random, 12), random_below(&w->random, stats.geometries + 1)};
  const slab_cast_options plain = {0}, some = adversarial_options(&w->random, skips), *options[] = {&plain, &some};
  for (int o = 0; o < 2; o++) {
    expect_cast(w->scenes[NESTED_TOP], rays, n, options[o], &got);
    assert_same_for_all_trees(w, rays, &got, options[o]);
    hits += hits_in(&got);
    answers_free(&got);
  }
  return hits;
}

/* Only the width that checks all has all rounds; others have half of them. */
static int rounds_of(int all) { return harness_asks_all() ? all : all / 2; }

static void instances_answer_as_the_reference(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  slab_context *context = harness_shared(layout);
  uint32_t hits = 0;
  const int rounds = rounds_of(ROUNDS);
  for (int round = 0; round < rounds; round++) {
    nested w = nested_of(context, &random, round % 2 == 0 ? ADVERSARIAL_ALL_KINDS : ALL_IN_BVH);
    hits += assert_answers(&w);
    nested_end(&w);
  }
  const uint32_t rays = (uint32_t)rounds * harness_rays(RAYS);
  print_message("%u of %u rays hit\n", hits, 2 * rays);
  assert_true(hits > rays / 4);
}

static void assert_answers_with(const slab_context_options *options, unsigned kinds, random_state *random) {
  slab_context *context = NULL;
  assert_ok(slab_context_create(options, &context));
  nested w = nested_of(context, random, kinds);
  assert_answers(&w);
  nested_end(&w);
  slab_context_destroy(context);
}

/* Models whose trees are on the device alone are laid out again for the scene that contains them. */
static void instances_answer_alike_wherever_their_models_are(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  const uint32_t lanes = harness_width();
  assert_answers_with(&(slab_context_options){.lane_width = lanes, .layout = SLAB_LAYOUT_COMPRESSED, .copy = 1},
                      ADVERSARIAL_ALL_KINDS, &random);
  assert_answers_with(&(slab_context_options){.lane_width = lanes, .copy = 1}, ADVERSARIAL_ALL_KINDS, &random);
}

static void assert_answers_on_all_devices(const char *test, slab_layout of) {
  random_state random = harness_seeded(test);
  assert_answers_with(&(slab_context_options){.device = "all", .layout = of, .launch_rays = 64}, ADVERSARIAL_ALL_KINDS,
                      &random);
}

static void instances_answer_on_all_devices(void **state) {
  (void)state;
  assert_answers_on_all_devices(__func__, SLAB_LAYOUT_DEFAULT);
}

static void compressed_instances_answer_on_all_devices(void **state) {
  (void)state;
  assert_answers_on_all_devices(__func__, SLAB_LAYOUT_COMPRESSED);
}

/* Where all primitives are triangles there are packets. Some of their rays go into a model, and not all with one octant
 * there. Rays are interleaved whatever the primitives are. */
static void instances_answer_alike_in_every_traversal(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  slab_context_options options = {.lane_width = harness_width()};
  const int packed = harness_width() == 1 ? 1 : rounds_of(ROUNDS); /* one lane has no packets */
  for (int traversal = SLAB_TRAVERSAL_AUTO; traversal <= SLAB_TRAVERSAL_SORTED; traversal++)
    for (int round = 0; round < (traversal == SLAB_TRAVERSAL_PACKETS ? packed : 1); round++) {
      options.traversal = (slab_traversal)traversal;
      assert_answers_with(&options, TRIANGLES_ALONE, &random);
    }
  options.traversal = SLAB_TRAVERSAL_INTERLEAVED;
  assert_answers_with(&options, ADVERSARIAL_ALL_KINDS, &random);
}

/* Transforms are replaced, instances are disabled, enabled and removed, and a model is committed anew. */
static void instances_change(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  slab_context *context = harness_shared(layout);
  for (int round = 0; round < rounds_of(ROUNDS / 3); round++) {
    nested w = nested_of(context, &random, ADVERSARIAL_ALL_KINDS);
    slab_scene *scene = w.scenes[NESTED_TOP];
    nested_transforms(&w.random, w.outer[0]);
    assert_ok(slab_scene_update_instances(scene, w.outer_ids[0], w.outer[0][0], SOME));
    commit(scene, w.trees[NESTED_TOP]);
    assert_answers(&w);
    assert_ok(slab_scene_enable(scene, w.outer_ids[0], 0));
    commit(scene, w.trees[NESTED_TOP]);
    assert_answers(&w);
    assert_ok(slab_scene_enable(scene, w.outer_ids[0], 1));
    assert_ok(slab_scene_enable(w.scenes[0], 0, 0));
    commit(w.scenes[0], w.trees[0]);
    commit(w.scenes[2], w.trees[2]);
    commit(scene, w.trees[NESTED_TOP]);
    assert_answers(&w);
    for (int i = 1; i >= 0; i--) { /* ids stay what they are when nothing is left of the instances */
      assert_ok(slab_scene_remove(scene, w.outer_ids[i]));
      commit(scene, w.trees[NESTED_TOP]);
      assert_answers(&w);
    }
    nested_end(&w);
  }
}

/* Casts rays that are compared with the reference alone. */
static void assert_reference(nested *w) {
  slab_ray rays[RAYS];
  const uint32_t n = harness_rays(RAYS);
  answers got = {0};
  nested_rays(w, n, rays);
  expect_cast(w->scenes[NESTED_TOP], rays, n, NULL, &got);
  answers_free(&got);
}

/* Instances and their models change between refits. Models come back as they were, and as others of the same size and
 * of another, so that arrays of older commits may be written again, and may not. */
static void instances_are_refitted_whatever_their_models_become(void **state) {
  const slab_build_options refit = {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT},
                           build = {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REBUILD};
  (void)state;
  random_state random = harness_seeded(__func__);
  slab_context *context = harness_shared(layout);
  for (int round = 0; round < ROUNDS / 2; round++) {
    nested w = nested_of(context, &random, round % 2 == 0);
    slab_scene *top = w.scenes[NESTED_TOP];
    assert_ok(slab_scene_commit(top, &build));
    for (int step = 0; step < 12; step++) {
      const uint32_t group = random_below(&random, 2);
      nested_transforms(&w.random, w.outer[group]);
      assert_ok(slab_scene_update_instances(top, w.outer_ids[group], w.outer[group][0], SOME));
      if (step % 4 == 1) assert_ok(slab_scene_enable(w.scenes[round % 2], 0, step % 8 == 5));
      if (step % 4 > 0) assert_ok(slab_scene_commit(w.scenes[round % 2], step % 4 == 3 ? &build : &refit));
      if (step == 8) assert_ok(slab_scene_enable(top, w.outer_ids[0], 0));
      if (step == 9) assert_ok(slab_scene_enable(top, w.outer_ids[0], 1));
      assert_ok(slab_scene_commit(w.scenes[2], &refit));
      assert_ok(slab_scene_commit(top, step == 5 ? &build : &refit));
      assert_reference(&w);
    }
    assert_ok(slab_scene_remove(top, w.outer_ids[round % 2]));
    assert_ok(slab_scene_commit(top, &refit));
    assert_reference(&w);
    nested_end(&w);
  }
}

/* After the removal of an instance that has one id, a scene is like one that never had instances. Kernels for such
 * scenes know no leaves of instances. */
static void the_last_instance_is_removed(void **state) {
  (void)state;
  slab_context *context = harness_shared(layout);
  slab_scene *model = harness_scene(context), *scene = harness_scene(context);
  const slab_box box = {{0, 0, 0}, {1, 1, 1}};
  const slab_ray ray = {{0.5f, 0.5f, 9}, 0, {0, 0, -1}, INFINITY};
  float t = 0;
  size_t size = 0;
  slab_scene *copy = NULL;
  assert_ok(slab_scene_add_boxes(model, &box, 1, NULL, NULL));
  commit(model, SLAB_TREE_DEFAULT);
  assert_ok(slab_scene_add_boxes(scene, &box, 1, NULL, NULL));
  assert_ok(slab_scene_add_instances(scene, model, (float[]){1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 4, 0}, 1, NULL, NULL));
  commit(scene, SLAB_TREE_FAST);
  assert_ok(slab_distance(scene, &ray, 1, &t, NULL));
  assert_true(t == 5);
  assert_ok(slab_scene_remove(scene, 1));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT}));
  assert_ok(slab_distance(scene, &ray, 1, &t, NULL));
  assert_true(t == 8);
  assert_ok(slab_scene_pack(scene, NULL, 0, &size));
  void *bytes = malloc(size);
  assert_non_null(bytes);
  assert_ok(slab_scene_pack(scene, bytes, size, &size));
  assert_ok(slab_scene_unpack(context, bytes, size, &copy));
  assert_ok(slab_distance(copy, &ray, 1, &t, NULL));
  assert_true(t == 8);
  free(bytes);
  slab_scene_destroy(copy);
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

/* After a refit, which keeps numbers, instances that were removed are no more where they lay. Many were before them, so
 * that who looks there is far outside of the arrays. */
static void ids_of_removed_instances_lead_nowhere(void **state) {
  (void)state;
  enum { MANY = 300000, LAST = 3 };
  const slab_build_options refit = {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT};
  const slab_box box = {{0, 0, 0}, {1, 1, 1}};
  const slab_ray ray = {{0.5f, 0.5f, 9}, 0, {0, 0, -1}, INFINITY};
  slab_context *context = harness_shared(layout);
  slab_scene *model = harness_scene(context), *scene = harness_scene(context);
  float *transforms = harness_space(MANY * 12 * sizeof *transforms), t = 0;
  uint32_t removed[2], last = 0;
  for (uint32_t i = 0; i < MANY; i++)
    memcpy(transforms + (size_t)12 * i,
           (float[]){1, 0, 0, (float)(2 * i % 1000), 0, 1, 0, (float)(i / 500), 0, 0, 1, -5}, 12 * sizeof *transforms);
  assert_ok(slab_scene_add_boxes(model, &box, 1, NULL, NULL));
  commit(model, SLAB_TREE_FAST);
  assert_ok(slab_scene_add_instances(scene, model, transforms, MANY, NULL, &removed[0]));
  assert_ok(slab_scene_add_instances(scene, model, transforms, LAST, NULL, &removed[1]));
  assert_ok(slab_scene_add_boxes(scene, &box, 1, NULL, &last));
  commit(scene, SLAB_TREE_FAST);
  for (int i = 0; i < 2; i++) assert_ok(slab_scene_remove(scene, removed[i]));
  assert_ok(slab_scene_commit(scene, &refit));
  for (uint32_t id = removed[1]; id < last; id++) {
    assert_ok(slab_distance(scene, &ray, 1, &t, &(slab_cast_options){.skip = &(slab_primitive_id){0, id}}));
    assert_true(t == 8);
  }
  assert_ok(slab_distance(scene, &ray, 1, &t, &(slab_cast_options){.skip = &(slab_primitive_id){0, last}}));
  assert_true(t == 8); /* boxes are not skipped */
  free(transforms);
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

enum { TILES = 1500 };

static void tiles_at(slab_box tiles[TILES], float height) {
  for (uint32_t i = 0; i < TILES; i++) {
    const float x = (float)(i % 40), y = (float)(i / 40);
    tiles[i] = (slab_box){{x, y, height}, {x + 0.5f, y + 0.5f, height + (x + y) / 64}};
  }
}

static double occupancy_of(const slab_scene *scene) {
  slab_scene_stats stats;
  assert_ok(slab_scene_info(scene, &stats));
  return stats.node_occupancy;
}

/* A model and the scene that contains it have trees that are refitted. They keep their shape, which a build of this
 * quality would not. */
static void tiles_move_in_a_scene_and_in_its_model(void **state) {
  static slab_box tiles[TILES];
  const float apart[2][12] = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, {0, 2, 0, 3, -2, 0, 0, 5, 0, 0, 2, 30}};
  const slab_build_options fast = {.tree = SLAB_TREE_FAST},
                           refit = {.tree = SLAB_TREE_HIGH, .update = SLAB_UPDATE_REFIT},
                           high = {.tree = SLAB_TREE_HIGH, .update = SLAB_UPDATE_REBUILD};
  (void)state;
  random_state random = harness_seeded(__func__);
  slab_context *context = harness_shared(layout);
  slab_scene *model = harness_scene(context), *scene = harness_scene(context);
  tiles_at(tiles, 0);
  assert_ok(slab_scene_add_boxes(model, tiles, TILES, NULL, NULL));
  assert_ok(slab_scene_commit(model, &fast));
  assert_ok(slab_scene_add_boxes(scene, tiles, TILES, NULL, NULL));
  assert_ok(slab_scene_add_instances(scene, model, apart[0], 2, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &fast));
  const double built = occupancy_of(scene);
  for (int step = 0; step < 6; step++) {
    slab_ray rays[RAYS];
    const uint32_t n = harness_rays(RAYS);
    answers got = {0};
    tiles_at(tiles, (float)(step + 1));
    if (step % 3 != 1) assert_ok(slab_scene_update_boxes(model, 0, tiles, TILES));
    if (step % 3 != 2) assert_ok(slab_scene_update_boxes(scene, 0, tiles, TILES));
    if (step > 3) assert_ok(slab_scene_update_instances(scene, 1, apart[0], 2));
    assert_ok(slab_scene_commit(model, &refit));
    assert_ok(slab_scene_commit(scene, &refit));
    assert_true(occupancy_of(scene) == built);
    for (uint32_t i = 0; i < n; i++)
      rays[i] = (slab_ray){{random_between(&random, 0, 40), random_between(&random, 0, 38), 99},
                           0,
                           {random_between(&random, -0.1f, 0.1f), random_between(&random, -0.1f, 0.1f), -1},
                           INFINITY};
    expect_cast(scene, rays, n, NULL, &got);
    assert_true(hits_in(&got) > n / 8);
    answers_free(&got);
  }
  assert_ok(slab_scene_commit(scene, &high));
  assert_true(occupancy_of(scene) != built);
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

/* ---- bits of the model ---- */

/* A unit tetrahedron's face, a box and a sphere. */
static slab_scene *small_model(slab_context *context) {
  static const float corners[] = {0, 0, 1, 1, 0, 1, 0, 1, 1};
  slab_scene *model = harness_scene(context);
  assert_ok(slab_scene_add_mesh(model, &(slab_mesh){.vertices = corners, .vertex_count = 3, .triangle_count = 1}, NULL,
                                NULL));
  assert_ok(slab_scene_add_boxes(model, &(slab_box){{-2, -2, -2}, {-1, -1, -0.5f}}, 1, NULL, NULL));
  assert_ok(slab_scene_add_spheres(model, &(slab_sphere){{3, 0.1f, 0.2f}, 0.7f}, 1, NULL, NULL));
  commit(model, SLAB_TREE_DEFAULT);
  return model;
}

static void exact_transforms_keep_the_models_bits(void **state) {
  static const float maps[][12] = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                   {4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4, 0},
                                   {0.125f, 0, 0, 0, 0, 0.125f, 0, 0, 0, 0, 0.125f, 0},
                                   {1, 0, 0, 8, 0, 1, 0, 0, 0, 0, 1, 0},
                                   {0x1p40f, 0, 0, 0, 0, 0x1p40f, 0, 0, 0, 0, 0x1p40f, 0}};
  (void)state;
  random_state random = harness_seeded(__func__);
  slab_context *context = harness_shared(layout);
  slab_scene *model = small_model(context);
  for (size_t t = 0; t < sizeof maps / sizeof *maps; t++) {
    slab_scene *scene = harness_scene(context);
    uint32_t hits = 0;
    assert_ok(slab_scene_add_instances(scene, model, maps[t], 1, NULL, NULL));
    commit(scene, SLAB_TREE_DEFAULT);
    for (int i = 0; i < RAYS; i++) {
      slab_ray ray = {.t_max = INFINITY};
      for (int k = 0; k < 3; k++) {
        ray.origin[k] = (float)random_below(&random, 1025) / 64.0f - 8.0f;
        ray.direction[k] = random_between(&random, -2, 2) - ray.origin[k];
      }
      const slab_ray outside = nested_ray_outside(maps[t], ray);
      slab_hit want, got;
      assert_ok(slab_closest(model, &ray, 1, &want, NULL));
      assert_ok(slab_closest(scene, &outside, 1, &got, NULL));
      hits += want.geometry != SLAB_MISS;
      assert_memory_equal(&got, &want, sizeof got);
    }
    assert_true(hits > RAYS / 20);
    harness_count(RAYS);
    slab_scene_destroy(scene);
  }
  slab_scene_destroy(model);
}

/* ---- copies ---- */

enum { TRIANGLES = 40, CLOSE_RAYS = 2000, CROWD = 75 };

/* Whether two hits of one triangle are the same but for rounding. Copies that are mirrored face the other way. */
static bool is_about(const slab_hit *a, const slab_hit *b) {
  const float along = a->normal[0] * b->normal[0] + a->normal[1] * b->normal[1] + a->normal[2] * b->normal[2];
  return fabsf(a->t - b->t) <= 1e-4f && fabsf(a->u - b->u) + fabsf(a->v - b->v) < 1e-2f && fabsf(along) > 0.9999f;
}

static void add_mapped(slab_scene *scene, float corners[3 * TRIANGLES][3], const float m[12]) {
  float mapped[3 * TRIANGLES][3];
  const slab_mesh mesh = {.vertices = mapped[0], .vertex_count = 3 * TRIANGLES, .triangle_count = TRIANGLES};
  for (int i = 0; i < 3 * TRIANGLES; i++)
    for (int k = 0; k < 3; k++) {
      const double at[3] = {corners[i][0], corners[i][1], corners[i][2]};
      mapped[i][k] = (float)(m[4 * k] * at[0] + m[4 * k + 1] * at[1] + m[4 * k + 2] * at[2] + m[4 * k + 3]);
    }
  assert_ok(slab_scene_add_mesh(scene, &mesh, NULL, NULL));
}

/* The same triangles, their vertices mapped in double: another way to the same picture. Hits differ by rounding alone,
 * and where two triangles are about as near. */
static void instances_look_like_copies(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  slab_context *context = harness_shared(layout);
  slab_scene *model = harness_scene(context), *scene = harness_scene(context), *copies = harness_scene(context);
  float corners[3 * TRIANGLES][3], m[SOME][12];
  for (int i = 0; i < 3 * TRIANGLES; i++)
    for (int k = 0; k < 3; k++) corners[i][k] = random_between(&random, -1, 1);
  add_mapped(model, corners, identity);
  commit(model, SLAB_TREE_HIGH);
  nested_transforms(&random, m);
  assert_ok(slab_scene_add_instances(scene, model, m[0], SOME, NULL, NULL));
  for (int n = 0; n < SOME; n++) add_mapped(copies, corners, m[n]);
  commit(scene, SLAB_TREE_HIGH);
  commit(copies, SLAB_TREE_HIGH);
  int hits = 0, others = 0;
  for (int i = 0; i < CLOSE_RAYS; i++) {
    slab_ray ray = {.t_max = INFINITY};
    slab_hit got, want;
    for (int k = 0; k < 3; k++) {
      ray.origin[k] = random_between(&random, -9, 9);
      ray.direction[k] = random_between(&random, -4, 4) - ray.origin[k];
    }
    assert_ok(slab_closest(scene, &ray, 1, &got, NULL));
    assert_ok(slab_closest(copies, &ray, 1, &want, NULL));
    hits += want.geometry != SLAB_MISS;
    if (got.geometry != want.geometry || got.primitive != want.primitive)
      others++;
    else if (want.geometry != SLAB_MISS && !is_about(&got, &want))
      fail_msg("ray %d: t %a, not %a; u %a v %a, not %a %a; normal %a %a %a, not %a %a %a", i, got.t, want.t, got.u,
               got.v, want.u, want.v, got.normal[0], got.normal[1], got.normal[2], want.normal[0], want.normal[1],
               want.normal[2]);
  }
  print_message("%d rays hit, %d something else\n", hits, others);
  assert_true(hits > CLOSE_RAYS / 8 && others <= hits / 100);
  harness_count(CLOSE_RAYS);
  slab_scene_destroy(copies);
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

/* A model's surface at its border, 1e5 from its origin, is hit by rays that rounding in the model's space, 0.004 there,
 * moves onto it. The model's gate has space for that. Only the oracle can decide, since it has no gates. */
static void borders_far_from_a_models_origin_are_hit(void **state) {
  const float c = 0.8660254f, s = 0.5f, far = 1e5f;
  const float m[12] = {1, 0, 0, -far, 0, c, -s, -c * far, 0, s, c, -s * far};
  const slab_box tile = {{far, far, 0}, {far + 1, far + 1, 0.5f}};
  (void)state;
  random_state random = harness_seeded(__func__);
  slab_context *context = harness_shared(layout);
  slab_scene *model = harness_scene(context), *scene = harness_scene(context);
  slab_ray rays[CLOSE_RAYS];
  answers got = {0};
  assert_ok(slab_scene_add_boxes(model, &tile, 1, NULL, NULL));
  commit(model, SLAB_TREE_DEFAULT);
  assert_ok(slab_scene_add_instances(scene, model, m, 1, NULL, NULL));
  commit(scene, SLAB_TREE_DEFAULT);
  for (int i = 0; i < CLOSE_RAYS; i++) {
    const float at[3] = {(float)(i % 2) + random_between(&random, -0.005f, 0.005f), random_between(&random, 0.1f, 0.6f),
                         random_between(&random, 0.1f, 0.6f)};
    rays[i] = (slab_ray){.t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      rays[i].origin[k] = k == 0 ? at[0] : random_between(&random, -4, 4); /* along the border */
      rays[i].direction[k] = at[k] - rays[i].origin[k];
    }
  }
  expect_cast(scene, rays, CLOSE_RAYS, NULL, &got);
  assert_true(hits_in(&got) > CLOSE_RAYS / 4);
  answers_free(&got);
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

/* More instances than a block has, in one place, with a gate and without: a ray counts them all. */
static void assert_crowds_are_counted(slab_traversal traversal) {
  static float m[CROWD][12];
  slab_context *context = NULL;
  assert_ok(slab_context_create(
      &(slab_context_options){.lane_width = harness_width(), .layout = layout, .traversal = traversal}, &context));
  for (int i = 0; i < CROWD; i++) memcpy(m[i], identity, sizeof identity);
  for (int open = 0; open < 2; open++) {
    slab_scene *model = harness_scene(context), *scene = harness_scene(context);
    const slab_ray ray = {{0.25f, 0.25f, 9}, 0, {0, 0, -1}, INFINITY};
    uint32_t count = 0;
    slab_hit hit;
    if (open)
      assert_ok(slab_scene_add_planes(model, &(slab_plane){{0, 0, 1}, 0}, 1, NULL, NULL));
    else
      assert_ok(slab_scene_add_spheres(model, &(slab_sphere){{0, 0, 0}, 1}, 1, NULL, NULL));
    commit(model, SLAB_TREE_DEFAULT);
    assert_ok(slab_scene_add_instances(scene, model, m[0], CROWD, NULL, NULL));
    commit(scene, SLAB_TREE_DEFAULT);
    assert_ok(slab_count(scene, &ray, 1, &count, NULL));
    assert_int_equal(count, CROWD);
    assert_ok(slab_closest(scene, &ray, 1, &hit, NULL));
    assert_int_equal(hit.geometry, 0); /* of equal hits that of the lowest id */
    slab_scene_destroy(scene);
    slab_scene_destroy(model);
  }
  slab_context_destroy(context);
}

static void crowds_are_counted(void **state) {
  (void)state;
  assert_crowds_are_counted(SLAB_TRAVERSAL_SINGLE);
  assert_crowds_are_counted(SLAB_TRAVERSAL_INTERLEAVED);
}

/* Ids run through the geometries of each instance, and on after the last. */
static void ids_name_instance_and_geometry(void **state) {
  (void)state;
  slab_context *context = harness_shared(layout);
  slab_scene *model = small_model(context), *scene = harness_scene(context);
  float m[3][12];
  uint32_t first = 99, after = 99;
  slab_hit hit;
  for (int i = 0; i < 3; i++) {
    memcpy(m[i], identity, sizeof identity);
    m[i][3] = 20.0f * (float)i;
  }
  assert_ok(slab_scene_add_boxes(scene, &(slab_box){{-9, -9, -9}, {-8, -8, -8}}, 1, NULL, NULL));
  assert_ok(slab_scene_add_instances(scene, model, m[0], 3, NULL, &first));
  assert_ok(slab_scene_add_boxes(scene, &(slab_box){{90, 0, 0}, {91, 1, 1}}, 1, NULL, &after));
  assert_int_equal(first, 1);
  assert_int_equal(after, 1 + 3 * 3);
  slab_scene_destroy(model); /* the scene retains it */
  commit(scene, SLAB_TREE_DEFAULT);
  for (uint32_t i = 0; i < 3; i++)
    for (uint32_t g = 0; g < 3; g++) {
      const float x[] = {0.25f, -1.5f, 3.0f}, y[] = {0.25f, -1.5f, 0.1f};
      const slab_ray ray = {{x[g] + 20.0f * (float)i, y[g], 9}, 0, {0, 0, -1}, INFINITY};
      assert_ok(slab_closest(scene, &ray, 1, &hit, NULL));
      assert_int_equal(hit.geometry, first + 3 * i + g);
      assert_int_equal(hit.primitive, 0);
    }
  slab_scene_destroy(scene);
}

/* A scene with a box of its own far away, and twice a model, APART << depth from each other. */
static slab_scene *two_of(slab_context *context, slab_scene *model, int depth) {
  slab_scene *scene = harness_scene(context);
  float m[2][12];
  for (int i = 0; i < 2; i++) memcpy(m[i], identity, sizeof identity);
  m[1][3] = (float)(APART << depth);
  assert_ok(slab_scene_add_boxes(scene, &(slab_box){{-900, 0, 0}, {-899, 1, 1}}, 1, NULL, NULL));
  assert_ok(slab_scene_add_instances(scene, model, m[0], 2, NULL, NULL));
  if (depth == SLAB_LEVELS - 1) assert_ok(slab_scene_add_spheres(scene, &(slab_sphere){{0, 99, 0}, 1}, 1, NULL, NULL));
  commit(scene, SLAB_TREE_DEFAULT);
  slab_scene_destroy(model);
  return scene;
}

/* Twice a small model, twice, as deep as models may be: 3 geometries, 7, 15, 31, and a sphere after 63. */
static slab_scene *deep_scene(slab_context *context) {
  slab_scene *scene = small_model(context);
  for (int depth = 0; depth < SLAB_LEVELS; depth++) scene = two_of(context, scene, depth);
  return scene;
}

/* A hit's path has the indices that lead to its instance, and they lead back to its id. */
static void paths_name_instances_on_every_depth(void **state) {
  (void)state;
  slab_context *context = harness_shared(layout);
  slab_scene *scene = deep_scene(context);
  for (uint32_t i = 0; i < PLACES; i++)
    for (uint32_t g = 0; g < 3; g++) {
      const float x[] = {0.25f, -1.5f, 3.0f}, y[] = {0.25f, -1.5f, 0.1f};
      const slab_ray ray = {{x[g] + (float)(APART * i), y[g], 9}, 0, {0, 0, -1}, INFINITY};
      slab_hit hit;
      slab_path path;
      uint32_t back = 0;
      assert_ok(slab_closest(scene, &ray, 1, &hit, NULL));
      assert_ok(slab_scene_paths(scene, &hit.geometry, 1, &path));
      assert_int_equal(path.levels, SLAB_LEVELS);
      assert_int_equal(path.geometry, g);
      for (uint32_t l = 0; l < SLAB_LEVELS; l++) {
        assert_int_equal(path.instances[l], 1);
        assert_int_equal(path.index[l], i >> (SLAB_LEVELS - 1 - l) & 1);
      }
      assert_ok(slab_scene_path_ids(scene, &path, 1, &back));
      assert_int_equal(back, hit.geometry);
    }
  slab_scene_destroy(scene);
}

static void paths_of_own_geometries_and_misses_have_no_levels(void **state) {
  (void)state;
  slab_context *context = harness_shared(layout);
  slab_scene *scene = deep_scene(context);
  const uint32_t ids[] = {0, 63, 1, 32, SLAB_MISS, SLAB_INVALID};
  enum { N = sizeof ids / sizeof *ids };
  const slab_path want[N] = {{.geometry = 0},
                             {.geometry = 63},
                             {.geometry = 0, .levels = 1, .instances = {1}},
                             {.geometry = 0, .levels = 1, .instances = {1}, .index = {1}},
                             {.geometry = SLAB_MISS},
                             {.geometry = SLAB_INVALID}};
  slab_path got[N];
  uint32_t back[N];
  assert_ok(slab_scene_paths(scene, ids, N, got));
  assert_memory_equal(got, want, sizeof got);
  assert_ok(slab_scene_path_ids(scene, got, N, back));
  assert_memory_equal(back, ids, sizeof back);
  const slab_path of_instances = {.geometry = 1, .levels = 1, .instances = {1}, .index = {1}};
  assert_ok(slab_scene_path_ids(scene, &of_instances, 1, back)); /* the first that the model's own instances take */
  assert_int_equal(back[0], 33);
  assert_ok(slab_scene_paths(scene, NULL, 0, NULL));
  assert_ok(slab_scene_path_ids(scene, NULL, 0, NULL));
  slab_scene_destroy(scene);
}

static void bad_paths_are_refused(void **state) {
  static const struct {
    slab_path path;
    const char *says;
  } bad[] = {{{.geometry = 64}, "path 1 ends at geometry 64: the scene has 64"},
             {{.geometry = SLAB_MISS, .levels = 1, .instances = {1}}, "the model has 31"},
             {{.levels = 5, .instances = {1, 1, 1, 1}}, "path 1 has 5 levels, of at most 4"},
             {{.levels = 1, .instances = {0}}, "geometry 0 of level 0 is no instances"},
             {{.levels = 1, .instances = {2}}, "geometry 2 of level 0 is no instances"},
             {{.levels = 1, .instances = {64}}, "geometry 64 of level 0 is no instances"},
             {{.levels = 2, .instances = {1, 30}}, "geometry 30 of level 1 is no instances"},
             {{.levels = 2, .instances = {1, 1}, .index = {1, 2}}, "index 2 of level 1: geometry 1 has 2 instances"}};
  (void)state;
  slab_context *context = harness_shared(layout);
  slab_scene *scene = deep_scene(context), *open = harness_scene(context);
  slab_path both[2] = {{0}, {0}};
  uint32_t ids[2] = {7, 64};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    both[1] = bad[i].path;
    assert_status(slab_scene_path_ids(scene, both, 2, ids), SLAB_INVALID_ARGUMENT);
    assert_mentions(bad[i].says);
  }
  assert_int_equal(ids[0], 7);
  both[0].geometry = 99;
  assert_status(slab_scene_paths(scene, ids, 2, both), SLAB_INVALID_ARGUMENT);
  assert_mentions("entry 1 is geometry 64: the scene has 64");
  assert_int_equal(both[0].geometry, 99);
  assert_status(slab_scene_paths(NULL, ids, 1, both), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_paths(scene, NULL, 1, both), SLAB_INVALID_ARGUMENT);
  assert_mentions("geometries is NULL");
  assert_status(slab_scene_path_ids(scene, NULL, 1, ids), SLAB_INVALID_ARGUMENT);
  assert_mentions("paths is NULL");
  assert_status(slab_scene_path_ids(open, both, 1, ids), SLAB_INVALID_STATE);
  assert_ok(slab_scene_remove(scene, 1));
  assert_ok(slab_scene_paths(scene, ids, 1, both)); /* the last commit has them */
  commit(scene, SLAB_TREE_DEFAULT);
  assert_status(slab_scene_paths(scene, ids, 1, both), SLAB_INVALID_ARGUMENT);
  assert_mentions("entry 0 is geometry 7, which is removed");
  assert_ok(slab_scene_paths(scene, (uint32_t[]){63}, 1, both));
  assert_int_equal(both[0].geometry, 63);
  slab_scene_destroy(open);
  slab_scene_destroy(scene);
}

/* A model may be committed anew at any time. Scenes see it from their own next commit on. */
static void a_model_is_what_it_was_at_the_commit(void **state) {
  (void)state;
  slab_context *context = harness_shared(layout);
  slab_scene *model = harness_scene(context), *scene = harness_scene(context);
  const slab_ray ray = {{0, 0, 9}, 0, {0, 0, -1}, INFINITY};
  float t = 0;
  assert_ok(slab_scene_add_spheres(model, &(slab_sphere){{0, 0, 0}, 1}, 1, NULL, NULL));
  commit(model, SLAB_TREE_DEFAULT);
  assert_ok(slab_scene_add_instances(scene, model, identity, 1, NULL, NULL));
  commit(scene, SLAB_TREE_DEFAULT);
  assert_ok(slab_scene_update_spheres(model, 0, &(slab_sphere){{0, 0, 0}, 2}, 1));
  commit(model, SLAB_TREE_DEFAULT);
  commit(model, SLAB_TREE_DEFAULT);
  assert_ok(slab_distance(scene, &ray, 1, &t, NULL));
  assert_true(t == 8);
  commit(scene, SLAB_TREE_DEFAULT);
  assert_ok(slab_distance(scene, &ray, 1, &t, NULL));
  assert_true(t == 7);
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

static void masks_of_instances_and_of_models_apply(void **state) {
  (void)state;
  slab_context *context = harness_shared(layout);
  slab_scene *model = harness_scene(context), *scene = harness_scene(context);
  const slab_ray ray = {{0, 0, 9}, 0, {0, 0, -1}, INFINITY};
  assert_ok(slab_scene_add_spheres(model, &(slab_sphere){{0, 0, 0}, 1}, 1, &(slab_geometry_options){.mask = 6}, NULL));
  commit(model, SLAB_TREE_DEFAULT);
  assert_ok(slab_scene_add_instances(scene, model, identity, 1, &(slab_geometry_options){.mask = 3}, NULL));
  commit(scene, SLAB_TREE_DEFAULT);
  for (uint32_t visible = 0; visible < 8; visible++) {
    const slab_cast_options options = {.mask = visible};
    uint8_t any = 9;
    assert_ok(slab_any(scene, &ray, 1, &any, &options));
    assert_int_equal(any, visible == 0 || ((visible & 3) != 0 && (visible & 6) != 0));
  }
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

/* The range is clamped in a model's own units. A hit that begins with the range there does so outside, and ties are
 * kept. */
static void everywhere_begins_with_the_range(void **state) {
  (void)state;
  slab_context *context = harness_shared(layout);
  slab_scene *model = harness_scene(context);
  const slab_box everywhere = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
  const slab_ray ray = {{1, 2, 3}, -INFINITY, {3, -1, 2}, INFINITY};
  assert_ok(slab_scene_add_boxes(model, &everywhere, 1, NULL, NULL));
  commit(model, SLAB_TREE_DEFAULT);
  for (int e = -4; e <= 4; e += 4) {
    slab_scene *scene = harness_scene(context);
    float m[2][12] = {{0}};
    slab_interval interval;
    for (int i = 0; i < 6; i++) m[i / 3][5 * (i % 3)] = ldexpf(1, e);
    assert_ok(slab_scene_add_instances(scene, model, m[0], 2, NULL, NULL));
    commit(scene, SLAB_TREE_DEFAULT);
    assert_ok(slab_interval_of(scene, &ray, 1, &interval, NULL));
    assert_int_equal(interval.geometry, 0);
    assert_true(interval.enter == -INFINITY && interval.leave == INFINITY);
    slab_scene_destroy(scene);
  }
  slab_scene_destroy(model);
}

static void empty_models_are_never_hit(void **state) {
  (void)state;
  slab_context *context = harness_shared(layout);
  slab_scene *model = harness_scene(context), *scene = harness_scene(context);
  const slab_ray ray = {{0, 0, 9}, 0, {0, 0, -1}, INFINITY};
  uint8_t any = 9;
  commit(model, SLAB_TREE_DEFAULT);
  assert_ok(slab_scene_add_instances(scene, model, identity, 1, NULL, NULL));
  commit(scene, SLAB_TREE_DEFAULT);
  assert_ok(slab_any(scene, &ray, 1, &any, NULL));
  assert_int_equal(any, 0);
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

/* ---- refusals ---- */

static const struct {
  float map[12];
  const char *says;
} bad[] = {{{1, 0, 0, NAN, 0, 1, 0, 0, 0, 0, 1, 0}, "not finite"},
           {{1, 0, 0, 0, 0, INFINITY, 0, 0, 0, 0, 1, 0}, "not finite"},
           {{1, 0, 0, 0x1p61f, 0, 1, 0, 0, 0, 0, 1, 0}, "2^60"},
           {{1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0}, "singular"},
           {{0x1p61f, 0, 0, 0, 0, 0x1p61f, 0, 0, 0, 0, 0x1p61f, 0}, "2^60"},
           {{0x1p-61f, 0, 0, 0, 0, 0x1p-61f, 0, 0, 0, 0, 0x1p-61f, 0}, "2^-60"},
           {{1, 5000, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, "skew"}};

static void bad_transforms_are_refused(void **state) {
  (void)state;
  slab_context *context = harness_shared(layout);
  slab_scene *model = small_model(context), *scene = harness_scene(context);
  uint32_t geometry = 99;
  slab_scene_stats stats;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    float both[2][12];
    memcpy(both[0], identity, sizeof identity);
    memcpy(both[1], bad[i].map, sizeof bad[i].map);
    assert_status(slab_scene_add_instances(scene, model, both[0], 2, NULL, &geometry), SLAB_INVALID_ARGUMENT);
    assert_mentions("transform 1");
    assert_mentions(bad[i].says);
  }
  assert_int_equal(geometry, 99);
  assert_ok(slab_scene_add_instances(scene, model, identity, 1, NULL, &geometry));
  assert_status(slab_scene_update_instances(scene, geometry, bad[0].map, 1), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_update_instances(scene, geometry, identity, 2), SLAB_INVALID_ARGUMENT);
  assert_mentions("has 1 instance");
  assert_status(slab_scene_update_instances(scene, geometry + 1, identity, 1), SLAB_INVALID_ARGUMENT);
  assert_mentions("one of an instance");
  assert_status(slab_scene_update_boxes(scene, geometry, &(slab_box){0}, 1), SLAB_INVALID_ARGUMENT);
  assert_mentions("slab_scene_update_boxes: geometry 0 has primitives of another kind: instance, not box");
  assert_status(slab_scene_update_instances(model, 1, identity, 1), SLAB_INVALID_ARGUMENT);
  assert_mentions("slab_scene_update_instances: geometry 1 has primitives of another kind: box, not instance");
  commit(scene, SLAB_TREE_DEFAULT);
  assert_ok(slab_scene_info(scene, &stats));
  assert_int_equal(stats.geometries, 3);
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

/* ---- many at once ---- */

enum { CALLS = 4, TO_MOVE = 7, AFAR = 100 };
static const uint32_t sizes_of_calls[CALLS] = {1, 3, 2, 1};

/* A scene of boxes in a row, placed by several calls, and behind them a box of its own. ids: those of the calls. */
static slab_scene *row_of_boxes(slab_context *context, slab_scene *model, uint32_t ids[CALLS]) {
  slab_scene *scene = harness_scene(context);
  float maps[TO_MOVE][12];
  for (uint32_t i = 0; i < TO_MOVE; i++) {
    memcpy(maps[i], identity, sizeof identity);
    maps[i][3] = 4.0f * (float)i;
  }
  for (uint32_t k = 0, first = 0; k < CALLS; first += sizes_of_calls[k++])
    assert_ok(slab_scene_add_instances(scene, model, maps[first], sizes_of_calls[k], NULL, &ids[k]));
  assert_ok(slab_scene_add_boxes(scene, &(slab_box){{-9, -9, -9}, {-8, -8, -8}}, 1, NULL, NULL));
  return scene;
}

/* The instances of a row that are where they began, and those `AFAR` from there, as bits. */
static void where_they_stand(slab_scene *scene, uint32_t *here, uint32_t *afar) {
  *here = *afar = 0;
  slab_ray rays[2 * TO_MOVE];
  uint8_t any[2 * TO_MOVE];
  for (int i = 0; i < 2 * TO_MOVE; i++)
    rays[i] =
        (slab_ray){{4.0f * (float)(i % TO_MOVE) + 0.25f, 0.25f, i < TO_MOVE ? 9.0f : AFAR + 9.0f}, 0, {0, 0, -1}, 18};
  commit(scene, SLAB_TREE_DEFAULT);
  assert_ok(slab_any(scene, rays, 2 * TO_MOVE, any, NULL));
  for (int i = 0; i < TO_MOVE; i++) {
    *here |= (uint32_t)any[i] << i;
    *afar |= (uint32_t)any[TO_MOVE + i] << i;
  }
}

/* The fault of a call, and a part of its message. geometries[at] is `id`, or the number of transforms is wrong (at
 * CALLS: only that). */
typedef struct wrong_move {
  const char *says;
  uint32_t at, id, transforms;
} wrong_move;

static void assert_nothing_moves(slab_scene *scene, const uint32_t ids[CALLS], float maps[][12], wrong_move w) {
  uint32_t given[CALLS], here, afar;
  memcpy(given, ids, sizeof given);
  if (w.at < CALLS) given[w.at] = w.id;
  assert_status(slab_scene_move_instances(scene, given, CALLS, maps[0], w.transforms), SLAB_INVALID_ARGUMENT);
  assert_mentions(w.says);
  where_they_stand(scene, &here, &afar);
  assert_true(here == (1u << TO_MOVE) - 1 && afar == 0);
}

/* Transform i of all is `within` of those of call k. */
static void assert_a_bad_transform_moves_nothing(slab_scene *scene, const uint32_t ids[CALLS], float maps[][12],
                                                 uint32_t i, uint32_t k, uint32_t within) {
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
    float wrong[TO_MOVE][12];
    char says[64];
    memcpy(wrong, maps, sizeof wrong);
    memcpy(wrong[i], bad[b].map, sizeof wrong[i]);
    snprintf(says, sizeof says, "geometries[%u]: transform %u ", k, within);
    assert_nothing_moves(scene, ids, wrong, (wrong_move){says, CALLS, 0, TO_MOVE});
    assert_mentions(bad[b].says);
  }
}

static void assert_a_bad_id_moves_nothing(slab_scene *scene, const uint32_t ids[CALLS], float maps[][12]) {
  const uint32_t box = ids[CALLS - 1] + (ids[1] - ids[0]);
  const wrong_move wrong[] = {{"geometries[2]: geometry 5000: the scene has", 2, 5000, TO_MOVE},
                              {"geometries[3]: geometry", 3, box + 1, TO_MOVE},
                              {"has primitives of another kind: box, not instance", 1, box, TO_MOVE},
                              {"is one of an instance", 2, ids[1] + 1, TO_MOVE},
                              {"6 transforms for 4 geometries, which have 7 instances", CALLS, 0, 6},
                              {"geometries[3]: geometry 0 is one of them already", 3, ids[0], TO_MOVE}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_nothing_moves(scene, ids, maps, wrong[i]);
  assert_status(slab_scene_move_instances(scene, NULL, 1, maps[0], 1), SLAB_INVALID_ARGUMENT);
  assert_mentions("the array of 1 geometries is NULL");
  assert_status(slab_scene_move_instances(scene, ids, 1, NULL, 1), SLAB_INVALID_ARGUMENT);
  assert_mentions("the array of 1 transforms is NULL");
}

static void many_are_moved_at_once_or_none_is(void **state) {
  (void)state;
  slab_context *context = harness_shared(layout);
  slab_scene *model = small_model(context);
  uint32_t ids[CALLS], here, afar;
  slab_scene *scene = row_of_boxes(context, model, ids);
  float maps[TO_MOVE][12];
  for (uint32_t i = 0; i < TO_MOVE; i++) {
    memcpy(maps[i], identity, sizeof identity);
    maps[i][3] = 4.0f * (float)i;
    maps[i][11] = AFAR;
  }
  for (uint32_t k = 0, first = 0; k < CALLS; first += sizes_of_calls[k++])
    for (uint32_t i = 0; i < sizes_of_calls[k]; i++)
      assert_a_bad_transform_moves_nothing(scene, ids, maps, first + i, k, i);
  assert_a_bad_id_moves_nothing(scene, ids, maps);
  assert_ok(slab_scene_move_instances(scene, NULL, 0, NULL, 0));
  assert_ok(slab_scene_move_instances(scene, (uint32_t[]){ids[2], ids[0]}, 2, maps[0], 3));
  where_they_stand(scene, &here, &afar);
  assert_true(here == 0x4E && afar == 0x07);
  assert_ok(slab_scene_move_instances(scene, ids, CALLS, maps[0], TO_MOVE));
  where_they_stand(scene, &here, &afar);
  assert_true(here == 0 && afar == (1u << TO_MOVE) - 1);
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

/* Maps that pass by themselves, and not in each other. */
static const float by_y[12] = {1, 60, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, by_x[12] = {1, 0, 0, 0, 60, 1, 0, 0, 0, 0, 1, 0},
                   high[12] = {1, 0, 0, 0, 0, 100, 0, 0, 0, 0, 1, 0}, wide[12] = {100, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                   large[12] = {0x1p40f, 0, 0, 0, 0, 0x1p40f, 0, 0, 0, 0, 0x1p40f, 0},
                   tiny[12] = {0x1p-40f, 0, 0, 0, 0, 0x1p-40f, 0, 0, 0, 0, 0x1p-40f, 0};

/* A scene with a model by the identity, and then by this map. */
static slab_scene *placed_scene(slab_context *context, slab_scene *model, const float map[12]) {
  slab_scene *scene = harness_scene(context);
  float m[2][12];
  memcpy(m[0], identity, sizeof identity);
  memcpy(m[1], map, sizeof identity);
  assert_ok(slab_scene_add_instances(scene, model, m[0], 2, NULL, NULL));
  commit(scene, SLAB_TREE_DEFAULT);
  slab_scene_destroy(model);
  return scene;
}

static void transforms_in_each_other_are_refused(void **state) {
  static const struct {
    const float *outer, *inner;
    const char *says; /* NULL: taken */
  } pairs[] = {{by_y, by_x, "is too skew: |A| |B| beyond 4096 (439321)"},
               {by_x, by_y, "is too skew"},
               {wide, by_y, "is too skew: |A| |B| beyond 4096 (12001)"},
               {large, large, "scales by more than 2^60 (1.20893e+24)"},
               {tiny, tiny, "scales by less than 2^-60, inversely"},
               {large, tiny, NULL},
               {by_y, by_y, NULL},
               {high, by_y, NULL}};
  (void)state;
  slab_context *context = harness_shared(layout);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    for (int between = 0; between < 2; between++) { /* a model whose maps change nothing */
      slab_scene *model = placed_scene(context, small_model(context), pairs[i].inner), *scene = harness_scene(context);
      if (between) model = placed_scene(context, model, identity);
      const slab_status want = pairs[i].says == NULL ? SLAB_OK : SLAB_INVALID_ARGUMENT;
      float both[2][12];
      memcpy(both[0], identity, sizeof identity);
      memcpy(both[1], pairs[i].outer, sizeof identity);
      assert_status(slab_scene_add_instances(scene, model, both[0], 2, NULL, NULL), want);
      if (want != SLAB_OK) {
        assert_mentions(between
                            ? "slab_scene_add_instances: transform 1, with that of instance 1 of geometry 0, 2 models"
                            : "slab_scene_add_instances: transform 1, with that of instance 1 of geometry 0, 1 model");
        assert_mentions(pairs[i].says);
        assert_ok(slab_scene_add_instances(scene, model, identity, 1, NULL, NULL));
        assert_status(slab_scene_update_instances(scene, 0, pairs[i].outer, 1), SLAB_INVALID_ARGUMENT);
        assert_mentions("slab_scene_update_instances: transform 0, with that of instance 1");
      }
      commit(scene, SLAB_TREE_DEFAULT);
      slab_scene_destroy(scene);
      slab_scene_destroy(model);
    }
}

/* A model that has changed is refused by commits of the scene that contains it. That scene answers as before. */
static void models_that_bend_further_are_refused(void **state) {
  (void)state;
  slab_context *context = harness_shared(layout);
  slab_scene *model = placed_scene(context, small_model(context), identity), *scene = harness_scene(context);
  const slab_ray ray = {{0.25f, 0.25f, 9}, 0, {0, 0, -1}, INFINITY};
  float both[2][12], t = 0;
  assert_ok(slab_scene_add_boxes(scene, &(slab_box){{-9, -9, -9}, {-8, -8, -8}}, 1, NULL, NULL));
  assert_ok(slab_scene_add_instances(scene, model, by_y, 1, NULL, NULL));
  commit(scene, SLAB_TREE_DEFAULT);
  memcpy(both[0], identity, sizeof identity);
  memcpy(both[1], by_x, sizeof identity);
  assert_ok(slab_scene_update_instances(model, 0, both[0], 2));
  commit(model, SLAB_TREE_DEFAULT);
  assert_status(slab_scene_commit(scene, NULL), SLAB_INVALID_STATE);
  assert_mentions(
      "slab_scene_commit: geometry 1: transform 0, with that of instance 1 of geometry 0, 1 model below, is");
  slab_ray outside = nested_ray_outside(by_y, ray);
  assert_ok(slab_distance(scene, &outside, 1, &t, NULL));
  assert_true(t == 8);
  assert_ok(slab_scene_update_instances(scene, 1, identity, 1));
  commit(scene, SLAB_TREE_DEFAULT);
  outside = nested_ray_outside(by_x, ray);
  assert_ok(slab_distance(scene, &outside, 1, &t, NULL));
  assert_true(t == 8);
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

static void bad_models_are_refused(void **state) {
  (void)state;
  slab_context *context = harness_shared(layout), *other = harness_context();
  slab_scene *model = harness_scene(context), *foreign = small_model(other);
  assert_status(slab_scene_add_instances(model, NULL, identity, 1, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_add_instances(model, foreign, identity, 1, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_mentions("another context");
  assert_status(slab_scene_add_instances(model, model, identity, 1, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_mentions("itself");
  slab_scene *inner = harness_scene(context);
  assert_status(slab_scene_add_instances(model, inner, identity, 1, NULL, NULL), SLAB_INVALID_STATE);
  assert_mentions("not committed");
  assert_ok(slab_scene_add_boxes(foreign, &(slab_box){{0, 0, 0}, {1, 1, 1}}, 1, NULL, NULL));
  slab_scene *elsewhere = harness_scene(other);
  assert_status(slab_scene_add_instances(elsewhere, foreign, identity, 1, NULL, NULL), SLAB_INVALID_STATE);
  assert_mentions("geometries that are not committed");
  slab_scene_destroy(elsewhere);
  assert_ok(slab_scene_add_spheres(inner, &(slab_sphere){{0, 0, 0}, 1}, 1, NULL, NULL));
  commit(inner, SLAB_TREE_DEFAULT);
  assert_status(slab_scene_add_instances(model, inner, NULL, 1, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_ok(slab_scene_add_instances(model, inner, identity, 1, NULL, NULL));
  commit(model, SLAB_TREE_DEFAULT);
  assert_status(slab_scene_add_instances(inner, model, identity, 1, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_add_spheres(inner, &(slab_sphere){{0, 0, 0}, 1}, 1, NULL, NULL), SLAB_INVALID_STATE);
  assert_mentions("is a model");
  assert_ok(slab_scene_remove(model, 0)); /* which its last commit still has */
  assert_status(slab_scene_add_instances(inner, model, identity, 1, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_mentions("contains it");
  slab_scene_destroy(model);
  model = harness_scene(context);
  assert_ok(slab_scene_add_instances(model, inner, identity, 1, NULL, NULL));
  commit(model, SLAB_TREE_DEFAULT);
  slab_scene_destroy(inner);
  for (int depth = 2; depth <= 5; depth++) { /* `model` is at depth 1 */
    slab_scene *outer = harness_scene(context);
    if (depth < 5) {
      assert_ok(slab_scene_add_instances(outer, model, identity, 1, NULL, NULL));
      commit(outer, SLAB_TREE_DEFAULT);
    } else {
      assert_status(slab_scene_add_instances(outer, model, identity, 1, NULL, NULL), SLAB_INVALID_ARGUMENT);
      assert_mentions("deep");
    }
    slab_scene_destroy(model);
    model = outer;
  }
  slab_scene_destroy(model);
  slab_scene_destroy(foreign);
  slab_context_destroy(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(instances_answer_as_the_reference),
      cmocka_unit_test(instances_answer_alike_wherever_their_models_are),
      cmocka_unit_test(instances_answer_on_all_devices),
      cmocka_unit_test(compressed_instances_answer_on_all_devices),
      cmocka_unit_test(instances_answer_alike_in_every_traversal),
      cmocka_unit_test(instances_change),
      cmocka_unit_test(instances_are_refitted_whatever_their_models_become),
      cmocka_unit_test(the_last_instance_is_removed),
      cmocka_unit_test(ids_of_removed_instances_lead_nowhere),
      cmocka_unit_test(tiles_move_in_a_scene_and_in_its_model),
      cmocka_unit_test(instances_look_like_copies),
      cmocka_unit_test(crowds_are_counted),
      cmocka_unit_test(borders_far_from_a_models_origin_are_hit),
      cmocka_unit_test(exact_transforms_keep_the_models_bits),
      cmocka_unit_test(ids_name_instance_and_geometry),
      cmocka_unit_test(paths_name_instances_on_every_depth),
      cmocka_unit_test(paths_of_own_geometries_and_misses_have_no_levels),
      cmocka_unit_test(bad_paths_are_refused),
      cmocka_unit_test(a_model_is_what_it_was_at_the_commit),
      cmocka_unit_test(masks_of_instances_and_of_models_apply),
      cmocka_unit_test(everywhere_begins_with_the_range),
      cmocka_unit_test(empty_models_are_never_hit),
      cmocka_unit_test(bad_transforms_are_refused),
      cmocka_unit_test(many_are_moved_at_once_or_none_is),
      cmocka_unit_test(transforms_in_each_other_are_refused),
      cmocka_unit_test(models_that_bend_further_are_refused),
      cmocka_unit_test(bad_models_are_refused),
  };
  int failed = cmocka_run_group_tests(tests, NULL, harness_close);
  /* Compressed kernels have one lane at every width. OpenCL would compile as many programs again. */
  if (!harness_is_native() || harness_width() != 1) return failed;
  layout = SLAB_LAYOUT_COMPRESSED;
  failed += cmocka_run_group_tests_name("compressed", tests, NULL, harness_close);
  return failed;
}
