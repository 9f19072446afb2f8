/* Building scenes: primitives are accepted, refused by index, dropped and counted; ids, limits, statistics. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "refused.h"

/* A context and an open scene. */
static int open_scene(void **state) {
  slab_context *context = harness_context();
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  slab_context_destroy(context); /* the scene keeps it alive */
  *state = scene;
  return 0;
}

static int close_scene(void **state) {
  slab_scene_destroy(*state);
  return 0;
}

/* The first hit of a ray from above down the line (x, y). */
static slab_hit look_down(slab_scene *scene, float x, float y) {
  const slab_ray ray = {{x, y, 9.0f}, 0.0f, {0.0f, 0.0f, -1.0f}, INFINITY};
  slab_hit hit;
  assert_ok(slab_closest(scene, &ray, 1, &hit, NULL));
  return hit;
}

static void assert_down(slab_scene *scene, float x, float y, uint32_t geometry, uint32_t primitive, float t) {
  const slab_hit hit = look_down(scene, x, y);
  assert_int_equal(hit.geometry, geometry);
  assert_int_equal(hit.primitive, primitive);
  assert_true(hit.t == t);
}

/* ---- refusals ---- */

enum { CROWD = 40, CULPRIT = 37 };

static void refused_primitive_is_named_by_index_and_value(void **state) {
  for (size_t i = 0; i < refused_count(); i++) {
    const refused_case *c = refused_at(i);
    const any_shape bad = shape_refused(c);
    unsigned char *shapes = shapes_accepted(c->kind, CROWD);
    memcpy(shapes + CULPRIT * shape_size(c->kind), &bad, shape_size(c->kind));
    memcpy(shapes + (CULPRIT + 1) * shape_size(c->kind), &bad, shape_size(c->kind));
    uint32_t geometry = 77, skipped = 77;
    const slab_geometry_options options = {.skipped = &skipped};
    const slab_status status = shape_add_array(*state, c->kind, shapes, CROWD, &options, &geometry);
    if (status != SLAB_INVALID_ARGUMENT) fail_msg("case %zu gave \"%s\"", i, slab_status_text(status));
    assert_mentions("37");
    assert_mentions(c->shown);
    assert_int_equal(geometry, 77);
    assert_int_equal(skipped, 77);
    free(shapes);
  }
}

static void refused_geometry_leaves_the_scene_as_it_was(void **state) {
  slab_scene_stats stats;
  uint32_t geometry = 77;
  for (size_t i = 0; i < refused_count(); i++) {
    const any_shape bad = shape_refused(refused_at(i));
    assert_status(shape_add_array(*state, refused_at(i)->kind, &bad, 1, NULL, NULL), SLAB_INVALID_ARGUMENT);
  }
  assert_ok(shape_add_array(*state, SLAB_BOX, &(slab_box){{0, 0, 0}, {1, 1, 1}}, 1, NULL, &geometry));
  assert_int_equal(geometry, 0);
  assert_ok(slab_scene_commit(*state, NULL));
  assert_ok(slab_scene_info(*state, &stats));
  assert_int_equal(stats.geometries, 1);
  assert_int_equal(shapes_added(&stats), 1);
  assert_int_equal(stats.boxes, 1);
  assert_down(*state, 0.5f, 0.5f, 0, 0, 8.0f);
}

static void numbers_at_the_limits_are_accepted(void **state) {
  const float far = 0x1p60f, tiny = 0x1p-149f;
  const slab_plane planes[] = {{{0, tiny, 0}, 1}, {{0, 0, FLT_MAX}, FLT_MAX}, {{-0.0f, 0, 1}, -0.0f}};
  const slab_sphere spheres[] = {{{far, -far, far}, far}, {{0, 0, 0}, 0}, {{1, 1, 1}, tiny}};
  const slab_obb obbs[] = {
      {{far, far, -far}, {far, 0, tiny}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
      {{0, 0, 0},
       {1, 1, 1},
       {{1.000004f, 0, 0}, {0, 0.999996f, 0}, {0, 0, 1}}}, /* squares of the lengths within 1e-5 of 1 */
      {{0, 0, 0}, {1, 1, 1}, {{1, 0.000009f, 0}, {0, 1, 0}, {0, 0, 1}}},
      {{0, 0, 0}, {1, 1, 1}, {{-1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}; /* a reflection is orthonormal too */
  const slab_triangle triangles[] = {{{far, far, far}, {-far, -far, -far}, {far, -far, 0}},
                                     {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}};
  assert_ok(shape_add_array(*state, SLAB_PLANE, planes, 3, NULL, NULL));
  assert_ok(shape_add_array(*state, SLAB_SPHERE, spheres, 3, NULL, NULL));
  assert_ok(shape_add_array(*state, SLAB_OBB, obbs, 4, NULL, NULL));
  assert_ok(shape_add_array(*state, SLAB_TRIANGLE, triangles, 2, NULL, NULL));
  assert_ok(slab_scene_commit(*state, NULL));
}

static void odd_boxes_are_no_error_and_never_hit(void **state) {
  slab_box boxes[] = {{{0, 0, 0}, {1, 1, -1}},
                      {{0, 0, NAN}, {1, 1, 1}},
                      {{0, NAN, 0}, {1, NAN, 1}},
                      {{INFINITY, 0, 0}, {-INFINITY, 1, 1}},
                      {{0, 0, 0}, {1, 1, 2}}};
  assert_ok(slab_scene_add_boxes(*state, boxes, 5, NULL, NULL));
  assert_ok(slab_scene_commit(*state, NULL));
  assert_down(*state, 0.5f, 0.5f, 0, 4, 7.0f);
  const slab_ray ray = {{0.5f, 0.5f, 0.5f}, -INFINITY, {1, 1, 1}, INFINITY};
  uint32_t count = 77;
  assert_ok(slab_count(*state, &ray, 1, &count, NULL));
  assert_int_equal(count, 1);
}

/* ---- skip_invalid ---- */

static void dropped_primitives_are_counted_and_ids_stay(void **state) {
  for (size_t i = 0; i < refused_count(); i++) {
    const refused_case *c = refused_at(i);
    const any_shape bad = shape_refused(c);
    unsigned char *shapes = shapes_accepted(c->kind, 20);
    for (size_t k = 0; k < 20; k++)
      if (k != 11) memcpy(shapes + k * shape_size(c->kind), &bad, shape_size(c->kind));
    uint32_t geometry = 77, skipped = 77;
    const slab_geometry_options options = {.skip_invalid = 1, .skipped = &skipped};
    assert_ok(shape_add_array(*state, c->kind, shapes, 20, &options, &geometry));
    assert_int_equal(skipped, 19);
    assert_int_equal(geometry, i);
    free(shapes);
  }
  assert_ok(slab_scene_commit(*state, NULL));
  const slab_ray ray = {{0.25f, 0.25f, 9.0f}, 0.0f, {0, 0, -1}, INFINITY};
  uint64_t offsets[2];
  slab_hit hits[64];
  assert_ok(slab_all(*state, &ray, 1, offsets, hits, 64, NULL, NULL));
  assert_int_equal(offsets[1], refused_count()); /* one accepted shape in each geometry */
  for (size_t i = 0; i < refused_count(); i++) assert_int_equal(hits[i].primitive, 11);
  slab_scene_stats stats;
  assert_ok(slab_scene_info(*state, &stats));
  assert_int_equal(shapes_added(&stats), 20 * refused_count());
}

static void nothing_dropped_is_reported_as_zero(void **state) {
  for (int skip = 0; skip < 2; skip++)
    for (slab_shape kind = SLAB_PLANE; kind < SLAB_SHAPE_COUNT; kind++) {
      uint32_t skipped = 77;
      const slab_geometry_options options = {.skip_invalid = skip, .skipped = &skipped};
      unsigned char *shapes = shapes_accepted(kind, 3);
      assert_ok(shape_add_array(*state, kind, shapes, 3, &options, NULL));
      assert_int_equal(skipped, 0);
      free(shapes);
    }
}

static void everything_dropped_is_a_geometry_that_is_never_hit(void **state) {
  const slab_sphere spheres[] = {{{0, 0, 0}, -1}, {{NAN, 0, 0}, 1}};
  const slab_geometry_options options = {.skip_invalid = 1};
  assert_ok(slab_scene_add_spheres(*state, spheres, 2, &options, NULL));
  assert_ok(slab_scene_commit(*state, NULL));
  assert_int_equal(look_down(*state, 0, 0).geometry, SLAB_MISS);
  slab_scene_stats stats;
  assert_ok(slab_scene_info(*state, &stats));
  assert_int_equal(stats.spheres, 2);
  assert_true(stats.lower[0] > stats.upper[0]);
}

/* ---- meshes ---- */

static void vertices_may_be_far_apart_in_memory(void **state) {
  struct {
    float position[3];
    float colour[2];
  } vertices[] = {{{0, 0, 1}, {NAN, NAN}}, {{1, 0, 1}, {NAN, NAN}}, {{0, 1, 1}, {NAN, NAN}}, {{1, 1, 1}, {NAN, NAN}}};
  const uint32_t indices[] = {0, 1, 2, 1, 3, 2};
  const slab_mesh mesh = {vertices[0].position, sizeof vertices[0], 4, indices, 2, NULL};
  assert_ok(slab_scene_add_mesh(*state, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(*state, NULL));
  assert_down(*state, 0.25f, 0.25f, 0, 0, 8.0f);
  assert_down(*state, 0.75f, 0.75f, 0, 1, 8.0f);
}

static void stride_zero_is_twelve_bytes_and_no_indices_is_a_soup(void **state) {
  const float vertices[] = {0, 0, 1, 1, 0, 1, 0, 1, 1, 10, 0, 2, 11, 0, 2, 10, 1, 2, NAN};
  const slab_mesh dense = {vertices, 12, 6, NULL, 2, NULL}, soup = {vertices, 0, 6, NULL, 2, NULL};
  assert_ok(slab_scene_add_mesh(*state, &soup, NULL, NULL));
  assert_ok(slab_scene_add_mesh(*state, &dense, NULL, NULL));
  assert_ok(slab_scene_commit(*state, NULL));
  assert_down(*state, 0.25f, 0.25f, 0, 0, 8.0f);
  assert_down(*state, 10.25f, 0.25f, 0, 1, 7.0f);
  const slab_ray ray = {{10.25f, 0.25f, 9.0f}, 0.0f, {0, 0, -1}, INFINITY};
  uint32_t count = 0;
  assert_ok(slab_count(*state, &ray, 1, &count, NULL));
  assert_int_equal(count, 2); /* both strides describe the same mesh */
}

static void strided_soup_steps_by_its_stride(void **state) {
  const float vertices[] = {0, 0, 1, NAN, 1, 0, 1, NAN, 0, 1, 1, NAN};
  const slab_mesh mesh = {vertices, 16, 3, NULL, 1, NULL};
  assert_ok(slab_scene_add_mesh(*state, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(*state, NULL));
  assert_down(*state, 0.25f, 0.25f, 0, 0, 8.0f);
}

static void index_out_of_range_is_refused_with_triangle_and_value(void **state) {
  const float vertices[] = {0, 0, 1, 1, 0, 1, 0, 1, 1};
  uint32_t indices[3 * CROWD];
  for (uint32_t i = 0; i < 3 * CROWD; i++) indices[i] = i % 3;
  const slab_mesh mesh = {vertices, 0, 3, indices, CROWD, NULL};
  const uint32_t beyond[] = {3, 1000003, UINT32_MAX};
  const char *const shown[] = {"3", "1000003", "4294967295"};
  for (int i = 0; i < 3; i++) {
    uint32_t geometry = 77, skipped = 77;
    const slab_geometry_options drop = {.skip_invalid = 1, .skipped = &skipped};
    indices[3 * CULPRIT + (uint32_t)i] = beyond[i];
    assert_status(slab_scene_add_mesh(*state, &mesh, NULL, &geometry), SLAB_INVALID_ARGUMENT);
    assert_mentions("37");
    assert_mentions(shown[i]);
    assert_int_equal(geometry, 77);
    assert_ok(slab_scene_add_mesh(*state, &mesh, &drop, &geometry));
    assert_int_equal(skipped, 1);
    indices[3 * CULPRIT + (uint32_t)i] = (uint32_t)i;
  }
}

static void soup_that_needs_more_vertices_is_refused(void **state) {
  const float vertices[] = {0, 0, 1, 1, 0, 1, 0, 1, 1, 10, 0, 2, 11, 0, 2};
  uint32_t skipped = 77;
  const slab_geometry_options drop = {.skip_invalid = 1, .skipped = &skipped};
  const slab_mesh mesh = {vertices, 0, 5, NULL, 2, NULL};
  assert_status(slab_scene_add_mesh(*state, &mesh, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_mentions("5"); /* the missing vertex, or the number of vertices */
  assert_ok(slab_scene_add_mesh(*state, &mesh, &drop, NULL));
  assert_int_equal(skipped, 1);
  assert_ok(slab_scene_commit(*state, NULL));
  assert_down(*state, 0.25f, 0.25f, 0, 0, 8.0f);
}

static void vertex_that_no_triangle_uses_may_be_anything(void **state) {
  const float vertices[] = {NAN, INFINITY, 3e38f, 0, 0, 1, 1, 0, 1, 0, 1, 1};
  const uint32_t indices[] = {1, 2, 3};
  const slab_mesh mesh = {vertices, 0, 4, indices, 1, NULL};
  assert_ok(slab_scene_add_mesh(*state, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(*state, NULL));
  assert_down(*state, 0.25f, 0.25f, 0, 0, 8.0f);
}

/* ---- ids, emptiness, copies ---- */

static void geometries_of_all_kinds_keep_their_ids(void **state) {
  uint32_t geometry = 77;
  for (uint32_t i = 0; i < 3 * SHAPE_KINDS; i++) {
    unsigned char *shapes = shapes_accepted((slab_shape)(i % SHAPE_KINDS), i);
    const uint32_t n = i % 2 == 0 ? 0 : i; /* every second geometry is empty */
    assert_ok(shape_add_array(*state, (slab_shape)(i % SHAPE_KINDS), n == 0 ? NULL : shapes, n, NULL, &geometry));
    assert_int_equal(geometry, i);
    free(shapes);
  }
  assert_ok(slab_scene_commit(*state, NULL));
  const slab_ray ray = {{0.25f, 0.25f, 9.0f}, 0.0f, {0, 0, -1}, INFINITY};
  uint64_t offsets[2];
  slab_hit hits[64];
  assert_ok(slab_all(*state, &ray, 1, offsets, hits, 64, NULL, NULL));
  uint32_t seen[3 * SHAPE_KINDS] = {0};
  for (size_t i = 0; i < offsets[1]; i++) {
    assert_in_range(hits[i].geometry, 0, 3 * SHAPE_KINDS - 1);
    assert_in_range(hits[i].primitive, 0, hits[i].geometry - 1);
    seen[hits[i].geometry]++;
  }
  for (uint32_t i = 0; i < 3 * SHAPE_KINDS; i++) assert_int_equal(seen[i], i % 2 == 0 ? 0 : i);
}

static void assert_all_miss(slab_scene *scene) {
  const slab_ray rays[] = {{{0, 0, 9}, 0, {0, 0, -1}, INFINITY}, {{0, 0, 9}, 0, {0, 0, 0}, INFINITY}};
  const uint32_t reasons[] = {SLAB_MISS, SLAB_INVALID};
  slab_hit hits[2];
  float t[2];
  uint8_t any[2] = {7, 7};
  uint32_t count[2] = {7, 7};
  slab_interval intervals[2];
  uint64_t offsets[3] = {7, 7, 7}, required = 7;
  assert_ok(slab_closest(scene, rays, 2, hits, NULL));
  assert_ok(slab_distance(scene, rays, 2, t, NULL));
  assert_ok(slab_any(scene, rays, 2, any, NULL));
  assert_ok(slab_count(scene, rays, 2, count, NULL));
  assert_ok(slab_interval_of(scene, rays, 2, intervals, NULL));
  assert_ok(slab_all(scene, rays, 2, offsets, hits, 2, &required, NULL));
  for (int i = 0; i < 2; i++) {
    const slab_hit miss = {INFINITY, {0, 0, 0}, 0, 0, reasons[i], reasons[i]};
    const slab_interval nothing = {INFINITY, -INFINITY, reasons[i], reasons[i]};
    assert_same_bits(&hits[i], &miss, 1, sizeof miss);
    assert_same_bits(&intervals[i], &nothing, 1, sizeof nothing);
    assert_true(t[i] == INFINITY);
    assert_int_equal(any[i] + count[i], 0);
  }
  assert_int_equal(offsets[0] + offsets[1] + offsets[2] + required, 0);
}

static void empty_scene_is_missed_by_all(void **state) {
  assert_ok(slab_scene_commit(*state, NULL));
  assert_all_miss(*state);
  slab_scene_stats stats;
  assert_ok(slab_scene_info(*state, &stats));
  assert_int_equal(stats.geometries + shapes_added(&stats), 0);
  for (int i = 0; i < 3; i++) assert_true(stats.lower[i] > stats.upper[i]);
}

static void scene_of_empty_geometries_is_missed_by_all(void **state) {
  for (int kind = 0; kind < SHAPE_KINDS; kind++)
    assert_ok(shape_add_array(*state, (slab_shape)kind, NULL, 0, NULL, NULL));
  assert_ok(slab_scene_commit(*state, NULL));
  assert_all_miss(*state);
}

static void geometry_is_copied_when_added(void **state) {
  slab_sphere sphere = {{0, 0, 0}, 1};
  float vertices[] = {10, 0, 1, 11, 0, 1, 10, 1, 1};
  uint32_t indices[] = {0, 1, 2};
  const slab_mesh mesh = {vertices, 0, 3, indices, 1, NULL};
  assert_ok(slab_scene_add_spheres(*state, &sphere, 1, NULL, NULL));
  assert_ok(slab_scene_add_mesh(*state, &mesh, NULL, NULL));
  memset(&sphere, 0xFF, sizeof sphere);
  memset(vertices, 0xFF, sizeof vertices);
  memset(indices, 0xFF, sizeof indices);
  assert_ok(slab_scene_commit(*state, NULL));
  assert_down(*state, 0, 0, 0, 0, 8.0f);
  assert_down(*state, 10.25f, 0.25f, 1, 0, 8.0f);
}

static void every_tree_gives_the_same_answer(void **state) {
  (void)state;
  slab_context *context = harness_context();
  for (int tree = SLAB_TREE_DEFAULT; tree <= SLAB_TREE_HIGH; tree++) {
    slab_scene *scene = NULL;
    const slab_build_options options = {.tree = (slab_tree)tree};
    const slab_box box = {{-1, -1, -1}, {1, 1, 1}};
    assert_ok(slab_scene_create(context, &scene));
    assert_ok(slab_scene_add_boxes(scene, &box, 1, NULL, NULL));
    assert_ok(slab_scene_commit(scene, &options));
    assert_down(scene, 0, 0, 0, 0, 8.0f);
    slab_scene_destroy(scene);
  }
  slab_context_destroy(context);
}

/* ---- limits and stats ---- */

static void scene_holds_at_most_2_to_32_less_16_primitives(void **state) {
  for (int kind = 0; kind < SHAPE_KINDS; kind++) {
    unsigned char *shape = shapes_accepted((slab_shape)kind, 1);
    const slab_geometry_options drop = {.skip_invalid = 1};
    /* Too many primitives in one geometry; then, after a geometry of one, too many in all. None of them is read. */
    assert_status(shape_add_array(*state, (slab_shape)kind, shape, 0xFFFFFFF1u, NULL, NULL), SLAB_INVALID_ARGUMENT);
    assert_status(shape_add_array(*state, (slab_shape)kind, shape, UINT32_MAX, &drop, NULL), SLAB_INVALID_ARGUMENT);
    assert_ok(shape_add_array(*state, (slab_shape)kind, shape, 1, NULL, NULL));
    assert_status(shape_add_array(*state, (slab_shape)kind, shape, 0xFFFFFFF0u - (uint32_t)kind, NULL, NULL),
                  SLAB_INVALID_ARGUMENT);
    free(shape);
  }
  assert_ok(slab_scene_commit(*state, NULL));
  slab_scene_stats stats;
  assert_ok(slab_scene_info(*state, &stats));
  assert_int_equal(stats.geometries, SHAPE_KINDS);
}

static void stats_count_and_bound_what_was_added(void **state) {
  const slab_plane plane = {{0, 0, 1}, 1000};
  const slab_sphere sphere = {{10, 0, 0}, 2};
  const slab_box boxes[] = {{{0, -5, 0}, {1, 1, 1}}, {{90, 90, 90}, {80, 80, 80}}, {{NAN, -99, -99}, {99, 99, 99}}};
  const slab_obb obb = {{0, 0, 20}, {3, 4, 0.5f}, {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}};
  const float corners[] = {-7, 0, 0, 0, 6, 0, 0, 0, -8, -99, -99, -99};
  const slab_mesh mesh = {corners, 0, 4, (const uint32_t[]){0, 1, 2}, 1, NULL};
  assert_ok(slab_scene_add_planes(*state, &plane, 1, NULL, NULL));
  assert_ok(slab_scene_add_spheres(*state, &sphere, 1, NULL, NULL));
  assert_ok(slab_scene_add_boxes(*state, boxes, 3, NULL, NULL));
  assert_ok(slab_scene_add_obbs(*state, &obb, 1, NULL, NULL));
  assert_ok(slab_scene_add_mesh(*state, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(*state, &(slab_build_options){.tree = SLAB_TREE_FLAT}));
  slab_scene_stats s;
  assert_ok(slab_scene_info(*state, &s));
  assert_int_equal(s.geometries, 5);
  assert_int_equal(s.planes, 1);
  assert_int_equal(s.spheres, 1);
  assert_int_equal(s.boxes, 3);
  assert_int_equal(s.obbs, 1);
  assert_int_equal(s.triangles, 1);
  const float lower[] = {-7, -5, -8}, upper[] = {12, 6, 20.5f};
  for (int i = 0; i < 3; i++) {
    assert_true(s.lower[i] == lower[i]);
    assert_true(s.upper[i] == upper[i]);
  }
  assert_int_equal(s.tree_depth, 0);
  assert_true(s.sah_cost == 0.0 && s.build_seconds >= 0.0);
  assert_true(s.host_bytes > 0 && s.device_bytes > 0);
}

static void unbounded_sides_are_left_out_of_the_bounds(void **state) {
  const float lower[] = {-1, -2}, upper[] = {3, 4};
  const slab_box boxes[] = {slab_box_2d(lower, upper)};
  slab_scene_stats s;
  assert_ok(slab_scene_add_boxes(*state, boxes, 1, NULL, NULL));
  assert_ok(slab_scene_commit(*state, NULL));
  assert_ok(slab_scene_info(*state, &s));
  for (int i = 0; i < 2; i++) assert_true(s.lower[i] == lower[i] && s.upper[i] == upper[i]);
  assert_true(s.lower[2] > s.upper[2]);
}

int main(void) {
#define ON_A_SCENE(test) cmocka_unit_test_setup_teardown(test, open_scene, close_scene)
  const struct CMUnitTest tests[] = {
      ON_A_SCENE(refused_primitive_is_named_by_index_and_value),
      ON_A_SCENE(refused_geometry_leaves_the_scene_as_it_was),
      ON_A_SCENE(numbers_at_the_limits_are_accepted),
      ON_A_SCENE(odd_boxes_are_no_error_and_never_hit),
      ON_A_SCENE(dropped_primitives_are_counted_and_ids_stay),
      ON_A_SCENE(nothing_dropped_is_reported_as_zero),
      ON_A_SCENE(everything_dropped_is_a_geometry_that_is_never_hit),
      ON_A_SCENE(vertices_may_be_far_apart_in_memory),
      ON_A_SCENE(stride_zero_is_twelve_bytes_and_no_indices_is_a_soup),
      ON_A_SCENE(strided_soup_steps_by_its_stride),
      ON_A_SCENE(index_out_of_range_is_refused_with_triangle_and_value),
      ON_A_SCENE(soup_that_needs_more_vertices_is_refused),
      ON_A_SCENE(vertex_that_no_triangle_uses_may_be_anything),
      ON_A_SCENE(geometries_of_all_kinds_keep_their_ids),
      ON_A_SCENE(empty_scene_is_missed_by_all),
      ON_A_SCENE(scene_of_empty_geometries_is_missed_by_all),
      ON_A_SCENE(geometry_is_copied_when_added),
      cmocka_unit_test(every_tree_gives_the_same_answer),
      ON_A_SCENE(scene_holds_at_most_2_to_32_less_16_primitives),
      ON_A_SCENE(stats_count_and_bound_what_was_added),
      ON_A_SCENE(unbounded_sides_are_left_out_of_the_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
