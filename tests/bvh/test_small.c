/* Small scenes: up to which number of primitives SLAB_TREE_DEFAULT does without a BVH, or has brute force beside it,
 * and that neither changes an answer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "sets/answers.h"
#include "sets/scenes.h"
/* cmocka has a macro fail(). */
#undef fail
#include "bvh/bvh.h"
#include "device/backend.h"
#include "device/context.h"
#include "scene/scene.h"

enum { KINDS = 5, RAYS = 6000 };
static const char *const names[KINDS] = {"planes", "spheres", "boxes", "obbs", "soup"};

static const snapshot *committed(slab_scene *scene) { return atomic_load(&scene->committed); }

static bool chooses(const device *d) { return d->backend->mixes && d->info.lane_width > 1; }

/* The largest number of primitives of a kind that brute force tests. */
static uint32_t most_of(const device *d, const char *name) {
  scene_geometry one;
  assert_int_equal(scene_build(name, 1, 1, &one), 0);
  const uint32_t each = chooses(d)          ? d->tuning->beside_work[one.kind]
                        : d->backend->ready ? d->tuning->ready_work[one.kind]
                                            : d->tuning->flat_work[one.kind];
  scene_geometry_free(&one);
  return (uint32_t)((chooses(d) ? beside_most(d) : FLAT_MOST) / each);
}

static void add(slab_scene *scene, const char *name, uint32_t count, uint32_t *geometry) {
  scene_geometry made;
  assert_int_equal(scene_build(name, count, 1, &made), 0);
  assert_ok(scene_geometry_add(scene, &made, NULL, geometry));
  scene_geometry_free(&made);
}

static void assert_brute_force(slab_scene *scene, const device *d, bool there) {
  const snapshot *s = committed(scene);
  assert_true(s->has_bvh == (chooses(d) || !there));
  assert_true((s->states[0].beside != NULL) == (chooses(d) && there));
}

typedef void add_primitives(slab_scene *, const char *name, uint32_t count, uint32_t *geometry);

static void assert_ends_at(slab_context *context, add_primitives *add_some, const char *name, uint32_t most) {
  for (uint32_t more = 0; more <= 1; more++) {
    slab_scene *scene = harness_scene(context);
    add_some(scene, name, most + more, NULL);
    assert_ok(slab_scene_commit(scene, NULL));
    assert_brute_force(scene, &context->devices[0], more == 0);
    slab_scene_destroy(scene);
  }
}

/* A kind that the table lacks would be tested one by one however many there are. */
static void brute_force_ends_where_the_table_says(void **state) {
  (void)state;
  slab_context *context = harness_context();
  for (int kind = 1; kind < KINDS; kind++)
    assert_ends_at(context, add, names[kind], most_of(&context->devices[0], names[kind]));
  slab_context_destroy(context);
}

/* Boxes of 2D. */
static void add_rectangles(slab_scene *scene, const char *boxes_name, uint32_t count, uint32_t *geometry) {
  scene_geometry made;
  assert_int_equal(scene_build(boxes_name, count, 1, &made), 0);
  slab_box *boxes = made.shapes;
  for (uint32_t i = 0; i < count; i++) {
    boxes[i].lower[2] = -INFINITY;
    boxes[i].upper[2] = INFINITY;
  }
  assert_ok(scene_geometry_add(scene, &made, NULL, geometry));
  scene_geometry_free(&made);
}

static void brute_force_of_rectangles_ends_later(void **state) {
  (void)state;
  slab_context *context = harness_context();
  const device *d = &context->devices[0];
  assert_ends_at(context, add_rectangles, "boxes", (chooses(d) ? 2 : 1) * most_of(d, "boxes"));
  slab_context_destroy(context);
}

/* No BVH has planes, so that any number of them needs none. */
static void planes_need_no_bvh(void **state) {
  (void)state;
  slab_context *context = harness_context();
  slab_scene *scene = harness_scene(context);
  add(scene, "planes", 2000, NULL);
  assert_ok(slab_scene_commit(scene, NULL));
  assert_false(committed(scene)->has_bvh);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

/* Disabled geometries take no time. A block of one primitive takes as long as a full one. */
static void work_counts_blocks_of_what_is_there(void **state) {
  (void)state;
  slab_context *context = harness_context();
  const device *d = &context->devices[0];
  const uint32_t most = most_of(d, "boxes"), lanes = d->info.lane_width < BVH_WIDTH ? 1 : BVH_WIDTH;
  slab_scene *scene = harness_scene(context);
  uint32_t first;
  add(scene, "boxes", 1, &first);
  for (uint32_t n = lanes; n < most; n += lanes) add(scene, "boxes", 1, NULL);
  assert_ok(slab_scene_commit(scene, NULL));
  assert_brute_force(scene, d, true);
  add(scene, "boxes", 1, NULL);
  assert_ok(slab_scene_commit(scene, NULL));
  assert_brute_force(scene, d, false);
  assert_ok(slab_scene_enable(scene, first, 0));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.update = SLAB_UPDATE_REBUILD}));
  assert_brute_force(scene, d, true);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

static void no_other_build_has_brute_force_beside_it(void **state) {
  (void)state;
  slab_context *context = harness_context();
  for (slab_tree tree = SLAB_TREE_FLAT; tree <= SLAB_TREE_HIGH; tree++) {
    slab_scene *scene = harness_scene(context);
    add(scene, "boxes", 4, NULL);
    assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = tree}));
    assert_true(committed(scene)->has_bvh == (tree != SLAB_TREE_FLAT) && committed(scene)->states[0].beside == NULL);
    slab_scene_destroy(scene);
  }
  slab_context_destroy(context);
}

/* ---- answers ---- */

/* A camera's rays in rows, then rays from anywhere. Each fourth is a segment, each hundredth invalid. */
static void rays_fill(slab_ray *rays, bool camera) {
  random_state random = harness_seeded("rays_fill");
  for (int i = 0; i < RAYS; i++) {
    rays[i] = (slab_ray){.origin = {0, 0, -3}, .t_max = i % 4 == 0 ? 3.0f : INFINITY};
    for (int k = 0; k < 3; k++) rays[i].direction[k] = random_between(&random, -1.0f, 1.0f);
    for (int k = 0; k < 3 && !camera; k++) rays[i].origin[k] = random_between(&random, -1.2f, 1.2f);
    const float row = (float)(i / 100) / 60.0f, column = (float)(i % 100) / 100.0f;
    if (camera) memcpy(rays[i].direction, (float[3]){column - 0.5f, row - 0.5f, 1.0f}, sizeof rays[i].direction);
    if (i % 100 == 50) rays[i].t_min = NAN;
  }
}

static void compare(slab_scene *scenes[2], const slab_ray *rays, size_t n, const slab_cast_options *options) {
  answers flat = {0}, chosen = {0};
  assert_ok(answers_cast_all(&flat, scenes[0], rays, n, options));
  for (int round = 0; round < 4; round++) { /* samples teach which traversal is the best */
    assert_ok(answers_cast_all(&chosen, scenes[1], rays, n, options));
    for (int query = 0; query < ANSWER_QUERIES; query++) {
      size_t first = 0;
      assert_int_equal(answers_differ(&chosen, &flat, (slab_query)query, &first), 0);
      assert_true(chosen.invalid[query] == flat.invalid[query]);
      harness_count(n);
    }
  }
  answers_free(&flat);
  answers_free(&chosen);
}

/* Calls of one ray, of few, and of so many that pieces go several ways. */
static void small_scenes_answer_as_brute_force(void **state) {
  (void)state;
  static const size_t calls[] = {1, 2, 3, 100, 300, RAYS};
  slab_context *context = harness_context();
  slab_scene *scenes[2];
  slab_ray *rays = harness_space(RAYS * sizeof *rays);
  slab_primitive_id *skip = harness_space(RAYS * sizeof *skip);
  for (uint32_t i = 0; i < RAYS; i++) skip[i] = (slab_primitive_id){i % 8, 4};
  const slab_cast_options some = {.cull = SLAB_CULL_FRONT, .skip = skip, .face_forward = 1, .max_hits = 3};
  for (int s = 0; s < 2; s++) {
    scenes[s] = harness_scene(context);
    for (int kind = 0; kind < KINDS; kind++) add(scenes[s], names[kind], kind == 2 ? 40 : 8, NULL);
    assert_ok(slab_scene_commit(scenes[s], &(slab_build_options){.tree = s == 0 ? SLAB_TREE_FLAT : SLAB_TREE_DEFAULT}));
  }
  for (int camera = 0; camera < 2; camera++) {
    rays_fill(rays, camera);
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
      compare(scenes, rays, calls[k], NULL);
      compare(scenes, rays, calls[k], &some);
    }
  }
  free(skip);
  free(rays);
  for (int s = 0; s < 2; s++) slab_scene_destroy(scenes[s]);
  slab_context_destroy(context);
}

/* Calls of few rays are cast both ways in turn, which no answer shows. Their times are known after a refit. */
static void few_rays_learn_for_the_next_refit_too(void **state) {
  (void)state;
  enum { FEW = 3, CALLS = RAYS / FEW };
  slab_context *context = harness_context();
  const device *d = &context->devices[0];
  slab_scene *scene = harness_scene(context);
  scene_geometry made;
  uint32_t geometry;
  assert_int_equal(scene_build("boxes", 8, 1, &made), 0);
  assert_ok(scene_geometry_add(scene, &made, NULL, &geometry));
  assert_ok(slab_scene_commit(scene, NULL));
  slab_ray *rays = harness_space(RAYS * sizeof *rays);
  slab_hit *whole = harness_space(RAYS * sizeof *whole), *few = harness_space(RAYS * sizeof *few);
  rays_fill(rays, false);
  assert_ok(slab_closest(scene, rays, RAYS, whole, NULL));
  for (int call = 0; call < CALLS; call++)
    assert_ok(slab_closest(scene, rays + call * FEW, FEW, few + call * FEW, NULL));
  assert_memory_equal(whole, few, RAYS * sizeof *few);
  harness_count(RAYS);
  const few_choice *learned = &committed(scene)->states[0].few.of[SLAB_CLOSEST][1];
  const uint32_t flat = learned->flat.calls, tree = learned->tree.calls;
  assert_true((flat > 0 && tree > 0) == chooses(d));
  assert_ok(slab_scene_update_boxes(scene, geometry, made.shapes, made.count));
  assert_ok(slab_scene_commit(scene, NULL));
  scene_geometry_free(&made);
  learned = &committed(scene)->states[0].few.of[SLAB_CLOSEST][1];
  assert_true(learned->flat.calls == flat && learned->tree.calls == tree);
  free(few);
  free(whole);
  free(rays);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(brute_force_ends_where_the_table_says),
      cmocka_unit_test(brute_force_of_rectangles_ends_later),
      cmocka_unit_test(planes_need_no_bvh),
      cmocka_unit_test(work_counts_blocks_of_what_is_there),
      cmocka_unit_test(no_other_build_has_brute_force_beside_it),
      cmocka_unit_test(small_scenes_answer_as_brute_force),
      cmocka_unit_test(few_rays_learn_for_the_next_refit_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
