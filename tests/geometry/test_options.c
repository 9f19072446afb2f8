/* Options and ties: culling, face_forward, masks, skip, and which of several equal hits is reported; the same for
 * every kind. */
#include <math.h>
#include <string.h>

#include "unit_shapes.h"

/* Front: hit from outside, or from the side that the normal points to. The second ray comes from behind. */
static void culling_drops_one_side(void **state) {
  static const slab_cast_options back = {.cull = SLAB_CULL_BACK}, front = {.cull = SLAB_CULL_FRONT};
  for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++) {
    const slab_ray behind = {{0, 0, s->solid ? 0 : 4}, 0, {0, 0, -1}, INFINITY};
    const float t = s->solid ? 1 : 5;
    const expect_want from_behind = unit_shape_near(s, t, s->solid ? 0 : t, t);
    const expect_want gone = unit_shape_inside(3, s->solid ? 5 : 3),
                      gone_behind = unit_shape_inside(s->solid ? 0 : t, t);
    const expect_row without_back[] = {{unit_shape_ray(-4, 0, INFINITY), unit_shape_near(s, 3, 3, s->solid ? 5 : 3)},
                                       {behind, gone_behind}};
    const expect_row without_front[] = {{unit_shape_ray(-4, 0, INFINITY), s->solid ? unit_shape_far(s, 5, 3, 5) : gone},
                                        {behind, from_behind}};
    expect_shape(*state, s->kind, s->shape, without_back, &back, 0);
    expect_shape(*state, s->kind, s->shape, without_front, &front, 0);
  }
}

static void exit_beyond_t_max_is_not_reported_with_front_faces_culled(void **state) {
  static const slab_cast_options front = {.cull = SLAB_CULL_FRONT};
  for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++) {
    const expect_row rows[] = {{unit_shape_ray(-4, 0, 4), unit_shape_inside(3, 4)},
                               {unit_shape_ray(-4, 0, 5), unit_shape_far(s, 5, 3, 5)}};
    if (s->solid) expect_shape(*state, s->kind, s->shape, rows, &front, 0);
  }
}

static void face_forward_turns_normals_against_the_ray(void **state) {
  static const slab_cast_options forward = {.face_forward = 1};
  for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++) {
    const slab_ray behind = {{0, 0, s->solid ? 0 : 4}, 0, {0, 0, -1}, INFINITY};
    const float t = s->solid ? 1 : 5;
    expect_want turned = unit_shape_near(s, t, s->solid ? 0 : t, t);
    turned.normal[2] = 1;
    const expect_row rows[] = {{unit_shape_ray(-4, 0, INFINITY), unit_shape_near(s, 3, 3, s->solid ? 5 : 3)},
                               {behind, turned}};
    expect_shape(*state, s->kind, s->shape, rows, &forward, 0);
  }
}

/* A unit shape translated by z. */
static void moved(const unit_shape *s, float z, float shape[15]) {
  memcpy(shape, s->shape, sizeof s->shape);
  if (s->kind == SLAB_PLANE) shape[3] -= z; /* the plane equation is -z = offset */
  if (s->kind != SLAB_PLANE) shape[2] += z;
  if (s->kind == SLAB_BOX || s->kind == SLAB_TRIANGLE) shape[5] += z;
  if (s->kind == SLAB_TRIANGLE) shape[8] += z;
}

/* Geometries 0 .. 4 with masks 1, 2, 4, 8 and 0, which means all bits. Each is 4 behind the one before. */
static void mask_hides_a_geometry_from_every_query(void **state) {
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(*state, &scene));
  for (uint32_t k = 0; k < UNIT_SHAPES; k++) {
    const slab_geometry_options options = {.mask = k < 4 ? 1u << k : 0};
    float shape[15];
    moved(&unit_shapes[k], 4 * (float)k, shape);
    assert_ok(shape_add(scene, unit_shapes[k].kind, shape, 1, &options));
  }
  assert_ok(slab_scene_commit(scene, NULL));
  static const struct {
    uint32_t mask, first, count;
  } cases[] = {{0, 0, 5},  {1, 0, 2},  {2, 1, 2},           {4, 2, 2},           {8, 3, 2},
               {16, 4, 1}, {12, 2, 3}, {0x80000000u, 4, 1}, {0xFFFFFFFFu, 0, 5}, {6, 1, 3}};
  const slab_ray ray = unit_shape_ray(-4, 0, INFINITY);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const slab_cast_options options = {.mask = cases[i].mask};
    answers a;
    expect_cast(scene, &ray, 1, &options, &a);
    assert_int_equal(a.closest[0].geometry, cases[i].first);
    assert_int_equal(a.interval[0].geometry, cases[i].first);
    assert_true(a.closest[0].t == 3 + 4 * (float)cases[i].first);
    assert_int_equal(a.count[0], cases[i].count);
    answers_free(&a);
  }
  slab_scene_destroy(scene);
}

/* Each ray skips a different one of the five unit shapes, which are all at t = 3. Planes and triangles are hidden,
 * solids stay. */
static void skip_hides_planes_and_triangles_and_not_solids(void **state) {
  slab_scene *scene = unit_shape_scene(*state);
  slab_ray rays[UNIT_SHAPES + 2];
  slab_primitive_id skip[UNIT_SHAPES + 2];
  for (uint32_t k = 0; k < UNIT_SHAPES + 2; k++) {
    rays[k] = unit_shape_ray(-4, 0, INFINITY);
    skip[k] = (slab_primitive_id){k < UNIT_SHAPES ? 0 : SLAB_MISS, k < UNIT_SHAPES ? k : SLAB_MISS};
  }
  const slab_cast_options options = {.skip = skip};
  answers a;
  expect_cast(scene, rays, UNIT_SHAPES + 2, &options, &a);
  for (uint32_t k = 0; k < UNIT_SHAPES + 2; k++) {
    const int goes = k < UNIT_SHAPES && !unit_shapes[k].solid;
    assert_int_equal(a.count[k], goes ? UNIT_SHAPES - 1 : UNIT_SHAPES);
    for (uint64_t h = a.offsets[k]; goes && h < a.offsets[k + 1]; h++) assert_true(a.all[h].geometry != k);
  }
  answers_free(&a);
  slab_scene_destroy(scene);
}

static void skip_leaves_the_neighbours_of_what_it_hides(void **state) {
  float triangles[20][9];
  for (int i = 0; i < 20; i++) {
    memcpy(triangles[i], unit_shapes[UNIT_SHAPE_TRIANGLE].shape, sizeof triangles[i]);
    for (int v = 0; v < 3; v++) triangles[i][3 * v + 2] = (float)(i / 2); /* two triangles at each height */
  }
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, triangles, 20);
  slab_ray rays[20];
  slab_primitive_id skip[20];
  for (uint32_t i = 0; i < 20; i++) {
    rays[i] = unit_shape_ray(-4, 0, INFINITY);
    skip[i] = (slab_primitive_id){i, 0};
  }
  const slab_cast_options options = {.skip = skip};
  answers a;
  expect_cast(scene, rays, 20, &options, &a);
  for (uint32_t i = 0; i < 20; i++) {
    assert_int_equal(a.count[i], 19);
    assert_int_equal(a.closest[i].primitive, i == 0 ? 1 : 0);
    assert_int_equal(a.interval[i].primitive, i == 0 ? 1 : 0);
    for (uint32_t k = 0; k < 19; k++) assert_int_equal(a.all[a.offsets[i] + k].primitive, k < i ? k : k + 1);
  }
  answers_free(&a);
  slab_scene_destroy(scene);
}

/* ---- ties ---- */

/* All five unit shapes at t = 3, added in every rotation of their order. The one added first wins, and SLAB_ALL
 * lists them in that order. */
static void of_equal_t_the_lowest_geometry_wins(void **state) {
  const slab_ray ray = unit_shape_ray(-4, 0, INFINITY);
  for (uint32_t turn = 0; turn < UNIT_SHAPES; turn++) {
    slab_scene *scene = NULL;
    assert_ok(slab_scene_create(*state, &scene));
    for (uint32_t k = 0; k < UNIT_SHAPES; k++) {
      const unit_shape *s = &unit_shapes[(k + turn) % UNIT_SHAPES];
      assert_ok(shape_add(scene, s->kind, s->shape, 1, NULL));
    }
    assert_ok(slab_scene_commit(scene, NULL));
    answers a;
    expect_cast(scene, &ray, 1, NULL, &a);
    assert_int_equal(a.count[0], UNIT_SHAPES);
    assert_true(a.interval[0].geometry == 0 && a.interval[0].enter == 3);
    for (uint32_t k = 0; k < UNIT_SHAPES; k++) {
      const unit_shape *s = &unit_shapes[(k + turn) % UNIT_SHAPES];
      assert_true(a.all[k].geometry == k && a.all[k].t == 3);
      assert_true(a.all[k].u == unit_shape_near(s, 3, 3, 9).u); /* with its own attributes */
    }
    answers_free(&a);
    slab_scene_destroy(scene);
  }
}

/* x = 2^-52 and 2^-53 with a direction of 2^100. Both t are below the smallest float and are reported as 0. */
static void of_t_that_underflow_to_one_value_the_lowest_geometry_wins(void **state) {
  static const slab_plane planes[] = {{{1, 0, 0}, 0x1p-52f}, {{1, 0, 0}, 0x1p-53f}};
  static const slab_ray ray = {{0, 0, 0}, 0, {0x1p100f, 0, 0}, INFINITY};
  slab_scene *scene = expect_scene(*state, SLAB_PLANE, planes, 2);
  answers a;
  expect_cast(scene, &ray, 1, NULL, &a);
  assert_int_equal(a.count[0], 2);
  assert_true(a.all[0].t == 0 && a.all[1].t == 0);
  assert_int_equal(a.closest[0].primitive, 0);
  answers_free(&a);
  slab_scene_destroy(scene);
}

/* 37 copies in two geometries, so that ties occur across lanes and blocks of every width. */
static void of_equal_t_the_lowest_primitive_wins(void **state) {
  enum { N = 37 };
  for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++) {
    const size_t floats = shape_floats(s->kind);
    float copies[N * 15];
    for (size_t i = 0; i < N; i++) memcpy(copies + i * floats, s->shape, floats * sizeof *copies);
    slab_scene *scene = NULL;
    assert_ok(slab_scene_create(*state, &scene));
    assert_ok(shape_add(scene, s->kind, copies, N, NULL));
    assert_ok(shape_add(scene, s->kind, copies, N, NULL));
    assert_ok(slab_scene_commit(scene, NULL));
    const slab_ray ray = unit_shape_ray(-4, 0, INFINITY);
    answers a;
    expect_cast(scene, &ray, 1, NULL, &a);
    assert_int_equal(a.count[0], 2 * N);
    for (uint32_t k = 0; k < 2 * N; k++) assert_true(a.all[k].primitive == k % N && a.all[k].geometry == k / N);
    assert_true(a.interval[0].primitive == 0 && a.interval[0].geometry == 0);
    answers_free(&a);
    slab_scene_destroy(scene);
  }
}

/* Solids that contain the ray's start all have the clipped enter t_min, whatever their unclipped enter. So the first
 * is reported, although the last is the smallest and its surface the closest. Surfaces before t_min do not count, so
 * the closest distance differs from enter. */
static void interval_compares_clipped_enters(void **state) {
  static const slab_box boxes[] = {{{-9, -9, -9}, {9, 9, 9}}, {{-7, -7, -7}, {5, 5, 5}}, {{-1, -1, -1}, {1, 1, 1}}};
  slab_scene *scene = expect_scene(*state, SLAB_BOX, boxes, 3);
  static const slab_ray rays[] = {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY},
                                  {{-8, 0, 0}, 0, {1, 0, 0}, INFINITY},
                                  {{-10, 0, 0}, 2, {1, 0, 0}, INFINITY},
                                  {{0, 0, 0}, -INFINITY, {1, 0, 0}, INFINITY}};
  static const slab_interval want[] = {{0, 9, 0, 0}, {0, 17, 0, 0}, {2, 19, 0, 0}, {-9, 9, 0, 0}};
  static const uint32_t closest[] = {2, 1, 1, 0};
  answers a;
  expect_cast(scene, rays, 4, NULL, &a);
  for (int i = 0; i < 4; i++) {
    assert_same_bits(&a.interval[i], &want[i], 1, sizeof *want);
    assert_int_equal(a.closest[i].primitive, closest[i]);
  }
  answers_free(&a);
  slab_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(culling_drops_one_side),
      cmocka_unit_test(exit_beyond_t_max_is_not_reported_with_front_faces_culled),
      cmocka_unit_test(face_forward_turns_normals_against_the_ray),
      cmocka_unit_test(mask_hides_a_geometry_from_every_query),
      cmocka_unit_test(skip_hides_planes_and_triangles_and_not_solids),
      cmocka_unit_test(skip_leaves_the_neighbours_of_what_it_hides),
      cmocka_unit_test(of_equal_t_the_lowest_geometry_wins),
      cmocka_unit_test(of_t_that_underflow_to_one_value_the_lowest_geometry_wins),
      cmocka_unit_test(of_equal_t_the_lowest_primitive_wins),
      cmocka_unit_test(interval_compares_clipped_enters),
  };
  return cmocka_run_group_tests(tests, expect_setup, expect_teardown);
}
