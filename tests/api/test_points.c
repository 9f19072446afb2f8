/* Closest points by closed forms: every kind of primitive from outside, inside and its border. Also ties, masks, radii,
 * invalid and void geometry, extremes, instances, scenes that change or are packed, and every refusal. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "harness.h"
#include "sets/points.h"

/* ---- asking ---- */

static slab_check_report check_of(slab_scene *scene, slab_point_query query, const float *points, size_t n,
                                  const void *results, const slab_point_options *options) {
  slab_check_report report;
  assert_ok(slab_check_points(scene, query, points, n, results, options, &report));
  return report;
}

/* Asks every query of n points; each answer must be right by both references, and they must agree. */
static void ask(slab_scene *scene, const float *points, size_t n, const slab_point_options *options,
                slab_closest_point *results) {
  point_answers a = {0};
  assert_ok(point_answers_ask_all(&a, scene, points, n, options));
  for (int q = 0; q < a.queries; q++) {
    const slab_point_query query = (slab_point_query)q;
    const slab_point_options its = point_options_of(query, options != NULL ? options : &(slab_point_options){0});
    const slab_check_report report = check_of(scene, query, points, n, point_answers_of(&a, query), &its);
    if (report.mismatches + report.oracle_wrong != 0) fail_msg("%s", report.text);
    assert_int_equal(report.rays, n);
  }
  for (size_t i = 0; i < n; i++) {
    const char *fault = point_answers_fault(&a, i);
    if (fault != NULL) fail_msg("point %zu: %s", i, fault);
  }
  memcpy(results, a.closest, n * sizeof *results);
  harness_count((size_t)a.queries * n);
  point_answers_free(&a);
}

static slab_closest_point ask_one(slab_scene *scene, float x, float y, float z, const slab_point_options *options) {
  const float point[3] = {x, y, z};
  slab_closest_point c;
  ask(scene, point, 1, options, &c);
  return c;
}

typedef struct row {
  float at[3];
  slab_closest_point want; /* primitive and geometry are 0, or those of nothing */
} row;

#define NOTHING \
  { INFINITY, {0, 0, 0}, 0, 0, 0, SLAB_MISS, SLAB_MISS }
enum { FACE = SLAB_FEATURE_FACE, EDGE = SLAB_FEATURE_EDGE, VERTEX = SLAB_FEATURE_VERTEX };

/* A shape alone in a scene, flat and in a BVH, exactly. */
static void expect_exactly(slab_context *context, slab_shape kind, const void *shape, const row *rows, size_t n) {
  static const slab_tree trees[] = {SLAB_TREE_FLAT, SLAB_TREE_DEFAULT};
  for (size_t t = 0; t < 2; t++) {
    slab_scene *scene = harness_scene(context);
    assert_ok(shape_add(scene, kind, shape, 1, NULL));
    assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = trees[t]}));
    for (size_t i = 0; i < n; i++) {
      const slab_closest_point c = ask_one(scene, rows[i].at[0], rows[i].at[1], rows[i].at[2], NULL);
      assert_same_bits(&c, &rows[i].want, 1, sizeof c);
    }
    slab_scene_destroy(scene);
  }
}
#define EXPECT(context, kind, shape, rows) \
  expect_exactly((context), (kind), (shape), (rows), sizeof(rows) / sizeof *(rows))

/* ---- kinds ---- */

static void sphere_is_near_from_outside_inside_and_its_centre(void **state) {
  const slab_sphere sphere = {{1, 2, 3}, 2};
  const row rows[] = {
      {{6, 2, 3}, {3, {3, 2, 3}, 0, 0, FACE, 0, 0}}, {{1, 2, -7}, {8, {1, 2, 1}, 0, 0, FACE, 0, 0}},
      {{1, 3, 3}, {1, {1, 4, 3}, 0, 0, FACE, 0, 0}}, {{1, 2, 1}, {0, {1, 2, 1}, 0, 0, FACE, 0, 0}},
      {{1, 2, 3}, {2, {3, 2, 3}, 0, 0, FACE, 0, 0}}, /* its centre: along x */
  };
  EXPECT(*state, SLAB_SPHERE, &sphere, rows);
  const slab_sphere spot = {{1, 2, 3}, 0};
  const row spots[] = {{{1, 2, 3}, {0, {1, 2, 3}, 0, 0, FACE, 0, 0}}, {{1, 5, 7}, {5, {1, 2, 3}, 0, 0, FACE, 0, 0}}};
  EXPECT(*state, SLAB_SPHERE, &spot, spots);
}

static void box_is_near_by_faces_edges_and_corners(void **state) {
  const slab_box box = {{0, 0, 0}, {4, 6, 8}};
  const row rows[] = {
      {{-2, 3, 3}, {2, {0, 3, 3}, 0, 0, FACE, 0, 0}},
      {{7, 3, 3}, {3, {4, 3, 3}, 1, 0, FACE, 0, 0}},
      {{2, -1, 3}, {1, {2, 0, 3}, 2, 0, FACE, 0, 0}},
      {{2, 9, 3}, {3, {2, 6, 3}, 3, 0, FACE, 0, 0}},
      {{2, 3, -5}, {5, {2, 3, 0}, 4, 0, FACE, 0, 0}},
      {{2, 3, 9}, {1, {2, 3, 8}, 5, 0, FACE, 0, 0}},
      {{7, 10, 3}, {5, {4, 6, 3}, 1, 0, EDGE, 0, 0}},
      {{2, -3, 12}, {5, {2, 0, 8}, 2, 0, EDGE, 0, 0}},
      {{-1, -2, -2}, {3, {0, 0, 0}, 0, 0, VERTEX, 0, 0}},
      {{1, 3, 4}, {1, {0, 3, 4}, 0, 0, FACE, 0, 0}},
      {{3.5f, 3, 4}, {0.5f, {4, 3, 4}, 1, 0, FACE, 0, 0}},
      {{2, 3, 4}, {2, {0, 3, 4}, 0, 0, FACE, 0, 0}}, /* -x and +x are as near: the lower */
      {{2, 2, 2}, {2, {0, 2, 2}, 0, 0, FACE, 0, 0}},
      {{4, 3, 4}, {0, {4, 3, 4}, 1, 0, FACE, 0, 0}},
      {{4, 6, 8}, {0, {4, 6, 8}, 1, 0, FACE, 0, 0}}, /* the border counts as inside */
  };
  EXPECT(*state, SLAB_BOX, &box, rows);
}

static void box_without_bounds_has_the_faces_that_are_left(void **state) {
  const slab_box flat = {{0, 0, -INFINITY}, {4, 2, INFINITY}}; /* two dimensions */
  const row rows[] = {
      {{7, 6, 123}, {5, {4, 2, 123}, 1, 0, EDGE, 0, 0}},
      {{2, 1.5f, -9}, {0.5f, {2, 2, -9}, 3, 0, FACE, 0, 0}},
      {{-1, 1, 0}, {1, {0, 1, 0}, 0, 0, FACE, 0, 0}},
  };
  EXPECT(*state, SLAB_BOX, &flat, rows);
  const slab_box half = {{-INFINITY, -INFINITY, -INFINITY}, {1, INFINITY, INFINITY}};
  const row halves[] = {{{3, 5, 5}, {2, {1, 5, 5}, 1, 0, FACE, 0, 0}}, {{-8, 5, 5}, {9, {1, 5, 5}, 1, 0, FACE, 0, 0}}};
  EXPECT(*state, SLAB_BOX, &half, halves);
  const slab_box all = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
  const row none[] = {{{0, 0, 0}, NOTHING}};
  EXPECT(*state, SLAB_BOX, &all, none);
  const slab_box inverted = {{1, 1, 1}, {0, 2, 2}}, wrong = {{0, NAN, 0}, {1, 1, 1}};
  EXPECT(*state, SLAB_BOX, &inverted, none);
  EXPECT(*state, SLAB_BOX, &wrong, none);
}

static void oriented_box_is_a_box_in_its_frame(void **state) {
  const slab_obb box = {{10, 0, 0}, {1, 2, 3}, {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}}; /* a quarter turn about z */
  const row rows[] = {
      {{10, 5, 0}, {4, {10, 1, 0}, 1, 0, FACE, 0, 0}},
      {{15, 0, 0}, {3, {12, 0, 0}, 2, 0, FACE, 0, 0}},
      {{6, -4, 0}, {0x1.cd82b4p+1f, {8, -1, 0}, 0, 0, EDGE, 0, 0}},
      {{10, 0.5f, 0}, {0.5f, {10, 1, 0}, 1, 0, FACE, 0, 0}},
      {{10, 0, 0}, {1, {10, -1, 0}, 0, 0, FACE, 0, 0}},
      {{14, 3, 7}, {0x1.3988e2p+2f, {12, 1, 3}, 1, 0, VERTEX, 0, 0}},
  };
  EXPECT(*state, SLAB_OBB, &box, rows);
}

static void plane_is_near_at_the_foot(void **state) {
  const slab_plane plane = {{0, 0, 2}, 6};
  const row rows[] = {
      {{1, 2, 7}, {4, {1, 2, 3}, 0, 0, FACE, 0, 0}},
      {{1, 2, 3}, {0, {1, 2, 3}, 0, 0, FACE, 0, 0}},
      {{-1, 2, -5}, {8, {-1, 2, 3}, 0, 0, FACE, 0, 0}},
  };
  EXPECT(*state, SLAB_PLANE, &plane, rows);
}

static void triangle_is_near_in_each_of_its_regions(void **state) {
  const slab_triangle triangle = {{0, 0, 0}, {8, 0, 0}, {0, 8, 0}};
  const row rows[] = {
      {{2, 4, 3}, {3, {2, 4, 0}, 0.25f, 0.5f, FACE, 0, 0}},
      {{2, 4, 0}, {0, {2, 4, 0}, 0.25f, 0.5f, FACE, 0, 0}},
      {{2, -3, 4}, {5, {2, 0, 0}, 0.25f, 0, EDGE, 0, 0}},
      {{-3, 2, 4}, {5, {0, 2, 0}, 0, 0.25f, EDGE, 0, 0}},
      {{7, 7, 0}, {0x1.0f876ccp+2f, {4, 4, 0}, 0.5f, 0.5f, EDGE, 0, 0}},
      {{2, 0, 3}, {3, {2, 0, 0}, 0.25f, 0, EDGE, 0, 0}}, /* above an edge: not strictly inside */
      {{-3, -4, 0}, {5, {0, 0, 0}, 0, 0, VERTEX, 0, 0}},
      {{12, -3, 0}, {5, {8, 0, 0}, 1, 0, VERTEX, 0, 0}},
      {{-3, 12, 0}, {5, {0, 8, 0}, 0, 1, VERTEX, 0, 0}},
      {{0, 0, 7}, {7, {0, 0, 0}, 0, 0, VERTEX, 0, 0}},
      {{8, 0, 0}, {0, {8, 0, 0}, 1, 0, VERTEX, 0, 0}},
  };
  EXPECT(*state, SLAB_TRIANGLE, &triangle, rows);
}

static void triangle_without_area_is_a_segment_or_a_point(void **state) {
  const row point[] = {{{3, 4, 0}, {5, {0, 0, 0}, 0, 0, VERTEX, 0, 0}},
                       {{0, 0, 0}, {0, {0, 0, 0}, 0, 0, VERTEX, 0, 0}}};
  const slab_triangle spot = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  EXPECT(*state, SLAB_TRIANGLE, &spot, point);
  const slab_triangle twice[] = {{{0, 0, 0}, {4, 0, 0}, {4, 0, 0}},
                                 {{0, 0, 0}, {4, 0, 0}, {0, 0, 0}},
                                 {{0, 0, 0}, {2, 0, 0}, {4, 0, 0}}}; /* the last: on a line */
  const float u[] = {0.25f, 0.25f, 0.5f};
  for (int i = 0; i < 3; i++) {
    const row rows[] = {{{1, 3, 0}, {3, {1, 0, 0}, u[i], 0, EDGE, 0, 0}},
                        {{-3, 0, 4}, {5, {0, 0, 0}, 0, 0, VERTEX, 0, 0}}};
    EXPECT(*state, SLAB_TRIANGLE, &twice[i], rows);
  }
  const slab_triangle other = {{0, 0, 0}, {0, 0, 0}, {4, 0, 0}}; /* ab has no length; bc is as near as ca, and first */
  const row rows[] = {{{1, 3, 0}, {3, {1, 0, 0}, 0.75f, 0.25f, EDGE, 0, 0}}};
  EXPECT(*state, SLAB_TRIANGLE, &other, rows);
}

static void needles_are_as_near_as_their_axis(void **state) {
  const slab_triangle needle = {{0, 0, 0}, {1024, 0, 0}, {1024, 0.0009765625f, 0}};
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, &needle, 1);
  random_state random = harness_seeded("needles");
  for (int i = 0; i < 300; i++) {
    const float x = random_between(&random, 1.0f, 1023.0f), z = random_between(&random, 0.5f, 600.0f);
    const slab_closest_point c = ask_one(scene, x, 0.0f, z, NULL);
    assert_true(fabsf(c.distance - z) <= 1e-3f && fabsf(c.point[0] - x) <= 1e-3f);
  }
  slab_scene_destroy(scene);
}

/* ---- which point is chosen ---- */

static void ties_go_to_lower_ids(void **state) {
  const slab_sphere spheres[] = {{{4, 0, 0}, 1}, {{-4, 0, 0}, 1}, {{0, 4, 0}, 1}, {{-4, 0, 0}, 1}};
  slab_scene *scene = harness_scene(*state);
  assert_ok(slab_scene_add_spheres(scene, spheres + 3, 1, &(slab_geometry_options){.mask = 2}, NULL));
  assert_ok(slab_scene_add_spheres(scene, spheres, 4, &(slab_geometry_options){.mask = 1}, NULL));
  const slab_box box = {{3, -1, -1}, {5, 1, 1}};
  assert_ok(slab_scene_add_boxes(scene, &box, 1, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  slab_closest_point c = ask_one(scene, 0, 0, 0, NULL);
  assert_true(c.geometry == 0 && c.primitive == 0 && c.point[0] == -3);
  c = ask_one(scene, 0, 0, 0, &(slab_point_options){.mask = 1});
  assert_true(c.geometry == 1 && c.primitive == 0 && c.point[0] == 3);
  c = ask_one(scene, 0, 0, 0, &(slab_point_options){.mask = 4});
  assert_true(c.geometry == 2 && c.distance == 3);
  slab_scene_destroy(scene);
}

static void masks_of_points_are_their_own(void **state) {
  const slab_sphere near = {{2, 0, 0}, 1}, far = {{9, 0, 0}, 1};
  const float points[4 * 3] = {0};
  const uint32_t masks[4] = {3, 2, 0, 4};
  slab_closest_point c[4];
  slab_scene *scene = harness_scene(*state);
  assert_ok(slab_scene_add_spheres(scene, &near, 1, &(slab_geometry_options){.mask = 1}, NULL));
  assert_ok(slab_scene_add_spheres(scene, &far, 1, &(slab_geometry_options){.mask = 2}, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  ask(scene, points, 4, &(slab_point_options){.masks = masks}, c);
  assert_true(c[0].distance == 1 && c[1].distance == 8 && c[1].geometry == 1);
  assert_true(c[2].geometry == SLAB_MISS && c[3].geometry == SLAB_MISS);
  slab_scene_destroy(scene);
}

static void radii_are_closed_in_the_distance_as_reported(void **state) {
  const slab_triangle triangle = {{0, 0, 0}, {8, 0, 0}, {0, 8, 0}};
  const float points[6 * 3] = {2, 2, 3, 2, 2, 3, 2, 2, 0, 7, 7, 0, 7, 7, 0, 2, 2, 3};
  const float exact = 0x1.0f876ccp+2f; /* 3 sqrt(2), rounded */
  const float radii[6] = {3, nextafterf(3, 0), 0, exact, nextafterf(exact, 0), INFINITY};
  const bool found[6] = {true, false, true, true, false, true};
  slab_closest_point c[6];
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, &triangle, 1);
  ask(scene, points, 6, &(slab_point_options){.radii = radii}, c);
  for (int i = 0; i < 6; i++) assert_int_equal(c[i].primitive, found[i] ? 0 : SLAB_MISS);
  ask(scene, points, 6, &(slab_point_options){.radius = 4}, c);
  assert_true(c[0].primitive == 0 && c[3].primitive == SLAB_MISS);
  random_state random = harness_seeded("radii"); /* at the reported distance, and just below it */
  for (int i = 0; i < 200; i++) {
    float p[6], at[2];
    for (int k = 0; k < 3; k++) p[k] = p[3 + k] = random_between(&random, -20.0f, 20.0f);
    at[0] = ask_one(scene, p[0], p[1], p[2], NULL).distance;
    at[1] = nextafterf(at[0], 0.0f);
    if (at[0] == 0.0f) continue;
    ask(scene, p, 2, &(slab_point_options){.radii = at}, c);
    assert_true(c[0].distance == at[0] && c[1].primitive == SLAB_MISS);
  }
  slab_scene_destroy(scene);
}

/* ---- invalid, empty or extreme ---- */

static void invalid_points_find_nothing_and_are_counted(void **state) {
  const slab_plane plane = {{0, 0, 1}, 0};
  const float points[7 * 3] = {NAN,     0, 0, 0, INFINITY, 0,        0, 0, -INFINITY, 0x1.000002p60f, 0, 0,
                               0x1p60f, 0, 0, 0, 0,        -0x1p60f, 0, 0, 1};
  slab_scene *scene = expect_scene(*state, SLAB_PLANE, &plane, 1);
  for (int q = 0; q < SLAB_POINT_QUERY_COUNT; q++) {
    point_answers a = {0};
    assert_ok(point_answers_ask(&a, (slab_point_query)q, scene, points, 7, NULL));
    assert_int_equal(a.invalid[q], 4);
    if (q == SLAB_CLOSEST_POINTS)
      for (int i = 0; i < 7; i++) assert_int_equal(a.closest[i].primitive, i < 4 ? SLAB_INVALID : 0);
    if (q == SLAB_POINTS_WITHIN)
      for (int i = 0; i < 7; i++) assert_int_equal(a.within[i], i >= 4);
    uint64_t wrong = 3; /* a count that is wrong is one mismatch */
    slab_check_report report =
        check_of(scene, (slab_point_query)q, points, 7, point_answers_of(&a, (slab_point_query)q),
                 &(slab_point_options){.invalid = &wrong});
    assert_int_equal(report.mismatches, 1);
    assert_non_null(strstr(report.text, "the count of invalid points is 3, the CPU reference has 4"));
    point_answers_free(&a);
  }
  slab_scene_destroy(scene);
}

static void empty_scene_has_nothing_near(void **state) {
  slab_scene *scene = harness_scene(*state);
  assert_ok(slab_scene_commit(scene, NULL));
  const slab_closest_point want = NOTHING, c = ask_one(scene, 1, 2, 3, NULL);
  assert_same_bits(&c, &want, 1, sizeof c);
  assert_ok(slab_closest_points(scene, NULL, 0, NULL, NULL)); /* no points at all */
  slab_check_report report;
  assert_ok(slab_check_points(scene, SLAB_CLOSEST_POINTS, NULL, 0, NULL, NULL, &report));
  assert_int_equal(report.rays, 0);
  slab_scene_destroy(scene);
}

static void extremes_are_answered(void **state) {
  const float big = 0x1p60f, tiny = 0x1p-149f;
  const slab_triangle huge = {{-big, -big, 0}, {big, -big, 0}, {0, big, 0}};
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, &huge, 1);
  assert_true(ask_one(scene, 0, 0, big, NULL).distance == big);
  assert_true(ask_one(scene, 5, 5, 3, NULL).distance == 3);
  slab_scene_destroy(scene);
  const slab_triangle speck = {{tiny, 0, 0}, {0, tiny, 0}, {0, 0, tiny}};
  scene = expect_scene(*state, SLAB_TRIANGLE, &speck, 1);
  assert_true(ask_one(scene, 0, 0, 0, NULL).distance == 0); /* components below 2^-63 count as 0 */
  assert_true(ask_one(scene, 3, 4, 0, NULL).distance == 5);
  slab_scene_destroy(scene);
  const slab_sphere spheres[] = {{{0, 0, 0}, 0x1p60f}, {{0x1p-100f, 0, 0}, 0x1p-120f}};
  scene = expect_scene(*state, SLAB_SPHERE, spheres, 1);
  assert_true(ask_one(scene, 0, 0, 0, NULL).distance == 0x1p60f);
  slab_scene_destroy(scene);
  scene = expect_scene(*state, SLAB_SPHERE, spheres + 1, 1);
  assert_true(ask_one(scene, 0, 0, 0, NULL).distance == 0);
  slab_scene_destroy(scene);
  const slab_box beyond = {{FLT_MAX / 2, -1, -1}, {FLT_MAX, 1, 1}}; /* its square is no float: a miss */
  scene = expect_scene(*state, SLAB_BOX, &beyond, 1);
  assert_int_equal(ask_one(scene, 0, 0, 0, NULL).primitive, SLAB_MISS);
  slab_scene_destroy(scene);
}

static void dropped_and_disabled_primitives_are_not_found(void **state) {
  const slab_sphere spheres[] = {{{1, 0, 0}, -1}, {{5, 0, 0}, 1}};
  uint32_t other;
  slab_scene *scene = harness_scene(*state);
  assert_ok(slab_scene_add_spheres(scene, spheres, 2, &(slab_geometry_options){.skip_invalid = 1}, NULL));
  const slab_triangle triangles[] = {{{NAN, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 0, 2}, {1, 0, 2}, {0, 1, 2}}};
  assert_ok(shape_add_array(scene, SLAB_TRIANGLE, triangles, 2, &(slab_geometry_options){.skip_invalid = 1}, &other));
  assert_ok(slab_scene_commit(scene, NULL));
  slab_closest_point c = ask_one(scene, 0, 0, 0, NULL);
  assert_true(c.geometry == other && c.primitive == 1 && c.distance == 2);
  assert_ok(slab_scene_enable(scene, other, 0));
  assert_ok(slab_scene_commit(scene, NULL));
  c = ask_one(scene, 0, 0, 0, NULL);
  assert_true(c.geometry == 0 && c.primitive == 1 && c.distance == 4);
  assert_ok(slab_scene_enable(scene, other, 1));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_true(ask_one(scene, 0, 0, 0, NULL).geometry == other);
  assert_ok(slab_scene_remove(scene, other));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_true(ask_one(scene, 0, 0, 0, NULL).geometry == 0);
  slab_scene_destroy(scene);
}

/* A dropped triangle lies far away for the kernels. It is found neither alone nor where the others are not seen. */
static void dropped_triangles_are_nowhere(void **state) {
  const slab_triangle dropped = {{NAN, 0, 0}, {1, 0, 0}, {0, 1, 0}}, there = {{0, 0, 2}, {1, 0, 2}, {0, 1, 2}};
  slab_scene *scene = harness_scene(*state);
  assert_ok(shape_add_array(scene, SLAB_TRIANGLE, &dropped, 1, &(slab_geometry_options){.skip_invalid = 1}, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_true(ask_one(scene, 0, 0, 0, NULL).geometry == SLAB_MISS);
  assert_ok(shape_add_array(scene, SLAB_TRIANGLE, &there, 1, &(slab_geometry_options){.mask = 2}, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_true(ask_one(scene, 0, 0, 0, NULL).geometry == 1);
  assert_true(ask_one(scene, 0, 0, 0, &(slab_point_options){.mask = 1}).geometry == SLAB_MISS);
  slab_scene_destroy(scene);
}

/* ---- instances ---- */

static slab_scene *model_of(slab_context *context) {
  const slab_box box = {{-1, -1, -1}, {1, 1, 1}};
  return expect_scene(context, SLAB_BOX, &box, 1);
}

static slab_scene *placed(slab_context *context, slab_scene *model, const float *transforms, uint32_t n) {
  slab_scene *scene = harness_scene(context);
  assert_ok(slab_scene_add_instances(scene, model, transforms, n, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

static void instances_turn_scale_and_mirror(void **state) {
  const float places[4 * 12] = {
      1,      0,  0, 10,  0, 1,      0, 0,   0, 0, 1,      0, /* moved */
      0,      -2, 0, -10, 2, 0,      0, 0,   0, 0, 2,      0, /* a quarter turn, twice as large */
      -1,     0,  0, 0,   0, 1,      0, 10,  0, 0, 1,      0, /* mirrored */
      0.001f, 0,  0, 0,   0, 0.001f, 0, -10, 0, 0, 0.001f, 0,
  };
  slab_scene *model = model_of(*state), *scene = placed(*state, model, places, 4), *outer;
  slab_closest_point c = ask_one(scene, 10, 0, 3, NULL);
  assert_true(c.geometry == 0 && c.distance == 2 && c.point[2] == 1 && c.u == 5);
  c = ask_one(scene, -10, -5, 0, NULL); /* -y outside is -x of the model */
  assert_true(c.geometry == 1 && c.distance == 3 && c.point[1] == -2 && c.u == 0);
  c = ask_one(scene, 3, 10, 0, NULL);
  assert_true(c.geometry == 2 && c.distance == 2 && c.point[0] == 1 && c.u == 0);
  c = ask_one(scene, 0, -11, 0, NULL);
  assert_true(c.geometry == 3 && fabsf(c.distance - 0.999f) < 1e-6f);
  const float turn[12] = {0, 0, 1, 0, 0, 1, 0, 0, -1, 0, 0, 100};
  outer = placed(*state, scene, turn, 1); /* (x, y, z) is (z, y, 100 - x) there */
  c = ask_one(outer, 3, 0, 90, NULL);
  assert_true(c.geometry == 0 && c.distance == 2 && c.point[0] == 1 && c.point[2] == 90);
  slab_scene_destroy(outer);
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

static void skew_instances_are_refused_by_geometry(void **state) {
  const float skew[2 * 12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0.5f, 0, 9, 0, 1, 0, 0, 0, 0, 1, 0};
  const float point[3] = {0, 0, 0};
  slab_closest_point c;
  slab_check_report report;
  slab_scene *model = model_of(*state), *scene = placed(*state, model, skew, 2);
  assert_status(slab_closest_points(scene, point, 1, &c, NULL), SLAB_UNSUPPORTED);
  assert_mentions("slab_closest_points");
  assert_mentions("geometry");
  assert_status(slab_check_points(scene, SLAB_CLOSEST_POINTS, point, 1, &c, NULL, &report), SLAB_UNSUPPORTED);
  assert_mentions("slab_check_points");
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

/* ---- scenes ---- */

static void packed_scenes_answer_the_same(void **state) {
  const slab_triangle triangles[] = {{{0, 0, 0}, {8, 0, 0}, {0, 8, 0}}, {{0, 0, 5}, {0, 0, 5}, {1, 0, 5}}};
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, triangles, 2), *again;
  size_t size = 0;
  assert_ok(slab_scene_pack(scene, NULL, 0, &size));
  void *bytes = harness_space(size);
  assert_ok(slab_scene_pack(scene, bytes, size, &size));
  assert_ok(slab_scene_unpack(*state, bytes, size, &again));
  for (int i = 0; i < 20; i++) {
    const slab_closest_point a = ask_one(scene, (float)i, 2, 3, NULL), b = ask_one(again, (float)i, 2, 3, NULL);
    assert_same_bits(&b, &a, 1, sizeof a);
  }
  assert_int_equal(ask_one(again, 0, 0, 4.5f, NULL).primitive, 1);
  free(bytes);
  slab_scene_destroy(again);
  slab_scene_destroy(scene);
}

static void updates_move_what_is_near(void **state) {
  slab_sphere sphere = {{0, 0, 0}, 1};
  slab_scene *scene = expect_scene(*state, SLAB_SPHERE, &sphere, 1);
  assert_true(ask_one(scene, 9, 0, 0, NULL).distance == 8);
  sphere.center[0] = 4;
  assert_ok(slab_scene_update_spheres(scene, 0, &sphere, 1));
  assert_true(ask_one(scene, 9, 0, 0, NULL).distance == 8); /* until the commit */
  assert_ok(slab_scene_commit(scene, NULL));
  assert_true(ask_one(scene, 9, 0, 0, NULL).distance == 4);
  slab_scene_destroy(scene);
}

typedef struct seen {
  uint64_t calls, last, total;
  int stop;
} seen;

static int see(void *user, uint64_t done, uint64_t total) {
  seen *s = user;
  s->calls++;
  assert_true(done >= s->last && done <= total);
  s->last = done;
  s->total = total;
  return s->stop;
}

static void progress_is_told_and_cancels(void **state) {
  enum { MANY = 20000 };
  const slab_sphere sphere = {{0, 0, 0}, 1};
  slab_scene *scene = expect_scene(*state, SLAB_SPHERE, &sphere, 1);
  float *points = calloc(3 * MANY, sizeof *points), *distances = harness_space(MANY * sizeof *distances);
  seen s = {0};
  slab_point_options options = {.progress = see, .user = &s};
  assert_ok(slab_closest_distances(scene, points, MANY, distances, &options));
  assert_true(s.calls > 0 && s.last == MANY && s.total == MANY);
  s = (seen){0};
  assert_int_equal(check_of(scene, SLAB_CLOSEST_DISTANCES, points, MANY, distances, &options).mismatches, 0);
  assert_true(s.calls > 0 && s.last == MANY && s.total == MANY);
  s = (seen){.stop = 1};
  assert_status(slab_closest_distances(scene, points, MANY, distances, &options), SLAB_CANCELLED);
  s = (seen){.stop = 1};
  slab_check_report report;
  assert_status(slab_check_points(scene, SLAB_CLOSEST_DISTANCES, points, MANY, distances, &options, &report),
                SLAB_CANCELLED);
  assert_mentions("of 20000 points");
  free(points);
  free(distances);
  slab_scene_destroy(scene);
}

/* A first chunk has at most 262,144 points. */
static void every_chunk_has_its_own_radii(void **state) {
  enum { MANY = 800000 };
  const slab_sphere sphere = {{0, 0, 0}, 1};
  slab_scene *scene = expect_scene(*state, SLAB_SPHERE, &sphere, 1);
  float *points = calloc(3 * MANY, sizeof *points), *distances = harness_space(MANY * sizeof *distances);
  float *radii = harness_space(MANY * sizeof *radii);
  for (int i = 0; i < MANY; i++) radii[i] = i < MANY / 2 ? 0.5f : 1.0f;
  seen s = {0};
  const slab_point_options options = {.progress = see, .user = &s, .radii = radii};
  assert_ok(slab_closest_distances(scene, points, MANY, distances, &options));
  assert_true(s.calls > 1);
  for (int i = 0; i < MANY; i++) assert_true(distances[i] == (i < MANY / 2 ? INFINITY : 1.0f));
  free(radii);
  free(points);
  free(distances);
  slab_scene_destroy(scene);
}

/* ---- the check ---- */

/* Every member of a right answer, changed, is a mismatch. An answer that is wrong in real numbers is wrong for the
 * oracle. */
static void wrong_answers_are_seen(void **state) {
  const slab_triangle triangles[] = {{{0, 0, 0}, {8, 0, 0}, {0, 8, 0}}, {{0, 0, 9}, {8, 0, 9}, {0, 8, 9}}};
  const float point[3] = {2, 3, 3};
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, triangles, 2);
  const slab_closest_point right = ask_one(scene, 2, 3, 3, NULL);
  static const char *const words[] = {"distance", "point[0]", "point[1]",  "point[2]", "u",
                                      "v",        "feature",  "primitive", "geometry"};
  for (int k = 0; k < 9; k++) {
    slab_closest_point c = right;
    float value;
    memcpy(&value, (char *)&c + 4 * k, 4);
    value = k < 6 ? value + 0.001f : value;
    memcpy((char *)&c + 4 * k, &value, 4);
    if (k >= 6) ((char *)&c)[4 * k]++;
    const slab_check_report report = check_of(scene, SLAB_CLOSEST_POINTS, point, 1, &c, NULL);
    assert_true(report.mismatches == 1 && report.oracle_wrong == 1 && report.first == 0);
    assert_non_null(strstr(report.text, words[k]));
  }
  const slab_closest_point none = NOTHING, other = {6, {2, 3, 9}, 0.25f, 0.375f, FACE, 1, 0};
  assert_int_equal(check_of(scene, SLAB_CLOSEST_POINTS, point, 1, &none, NULL).oracle_wrong, 1);
  assert_int_equal(check_of(scene, SLAB_CLOSEST_POINTS, point, 1, &other, NULL).oracle_wrong, 1); /* not the nearest */
  const float distances[] = {6, 2.999f, INFINITY, NAN};
  for (int i = 0; i < 4; i++)
    assert_int_equal(check_of(scene, SLAB_CLOSEST_DISTANCES, point, 1, &distances[i], NULL).oracle_wrong, 1);
  const uint8_t within = 1;
  assert_int_equal(
      check_of(scene, SLAB_POINTS_WITHIN, point, 1, &within, &(slab_point_options){.radius = 2}).oracle_wrong, 1);
  const uint8_t not_within = 0;
  assert_int_equal(
      check_of(scene, SLAB_POINTS_WITHIN, point, 1, &not_within, &(slab_point_options){.radius = 4}).oracle_wrong, 1);
  slab_scene_destroy(scene);
}

/* The second of two equal triangles cannot be the answer. */
static void the_oracle_knows_ties(void **state) {
  const slab_triangle triangles[] = {{{0, 0, 0}, {8, 0, 0}, {0, 8, 0}}, {{0, 0, 0}, {8, 0, 0}, {0, 8, 0}}};
  const float point[3] = {2.3f, 3.7f, 3.1f};
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, triangles, 2);
  slab_closest_point c = ask_one(scene, point[0], point[1], point[2], NULL);
  assert_int_equal(c.primitive, 0);
  c.primitive = 1;
  assert_int_equal(check_of(scene, SLAB_CLOSEST_POINTS, point, 1, &c, NULL).oracle_wrong, 1);
  slab_scene_destroy(scene);
}

/* ---- refusals ---- */

#define REFUSED(call, status, part) \
  do {                              \
    assert_status(call, status);    \
    assert_mentions(part);          \
  } while (0)

static void every_refusal_names_what_is_wrong(void **state) {
  const slab_sphere sphere = {{0, 0, 0}, 1};
  slab_scene *scene = expect_scene(*state, SLAB_SPHERE, &sphere, 1), *open = harness_scene(*state);
  const float points[6] = {0}, radii[2] = {1, -1}, nans[2] = {NAN, 1};
  const uint32_t masks[2] = {1, 1};
  slab_closest_point c[2];
  float d[2];
  uint8_t w[2];
  slab_check_report report;
  REFUSED(slab_closest_points(NULL, points, 2, c, NULL), SLAB_INVALID_ARGUMENT, "slab_closest_points: scene is NULL");
  REFUSED(slab_closest_distances(open, points, 2, d, NULL), SLAB_INVALID_STATE, "slab_closest_distances");
  REFUSED(slab_closest_points(scene, NULL, 2, c, NULL), SLAB_INVALID_ARGUMENT, "points is NULL");
  REFUSED(slab_points_within(scene, points, 2, NULL, NULL), SLAB_INVALID_ARGUMENT, "slab_points_within");
  REFUSED(slab_closest_points(scene, points, 2, c, &(slab_point_options){.radius = -1}), SLAB_INVALID_ARGUMENT,
          "radius is -1");
  REFUSED(slab_closest_points(scene, points, 2, c, &(slab_point_options){.radius = NAN}), SLAB_INVALID_ARGUMENT,
          "radius is nan");
  REFUSED(slab_closest_distances(scene, points, 2, d, &(slab_point_options){.radii = radii}), SLAB_INVALID_ARGUMENT,
          "radii[1] is -1");
  REFUSED(slab_points_within(scene, points, 2, w, &(slab_point_options){.radii = nans}), SLAB_INVALID_ARGUMENT,
          "radii[0] is nan");
  REFUSED(slab_closest_points(scene, points, 2, c, &(slab_point_options){.radius = 2, .radii = radii}),
          SLAB_INVALID_ARGUMENT, "radius is 2, and radii are given");
  REFUSED(slab_closest_points(scene, points, 2, c, &(slab_point_options){.mask = 2, .masks = masks}),
          SLAB_INVALID_ARGUMENT, "mask");
  REFUSED(slab_check_points(NULL, SLAB_CLOSEST_POINTS, points, 2, c, NULL, &report), SLAB_INVALID_ARGUMENT,
          "slab_check_points: scene is NULL");
  REFUSED(slab_check_points(scene, SLAB_CLOSEST_POINTS, points, 2, c, NULL, NULL), SLAB_INVALID_ARGUMENT,
          "report is NULL");
  REFUSED(slab_check_points(scene, SLAB_CLOSEST_POINTS, NULL, 2, c, NULL, &report), SLAB_INVALID_ARGUMENT,
          "points is NULL");
  REFUSED(slab_check_points(scene, SLAB_CLOSEST_POINTS, points, 2, NULL, NULL, &report), SLAB_INVALID_ARGUMENT,
          "results is NULL");
  REFUSED(slab_check_points(scene, SLAB_POINT_QUERY_COUNT, points, 2, c, NULL, &report), SLAB_INVALID_ARGUMENT,
          "query is 6, not a slab_point_query");
  REFUSED(slab_check_points(open, SLAB_CLOSEST_POINTS, points, 2, c, NULL, &report), SLAB_INVALID_STATE,
          "slab_check_points");
  REFUSED(slab_check_points(scene, SLAB_CLOSEST_POINTS, points, 2, c, &(slab_point_options){.radii = radii}, &report),
          SLAB_INVALID_ARGUMENT, "slab_check_points: radii[1] is -1");
  assert_int_equal(slab_point_result_size(SLAB_CLOSEST_POINTS), 36);
  assert_int_equal(slab_point_result_size(SLAB_CLOSEST_DISTANCES), 4);
  assert_int_equal(slab_point_result_size(SLAB_POINTS_WITHIN), 1);
  assert_int_equal(slab_point_result_size((slab_point_query)SLAB_POINT_QUERY_COUNT), 0);
  slab_scene_destroy(open);
  slab_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sphere_is_near_from_outside_inside_and_its_centre),
      cmocka_unit_test(box_is_near_by_faces_edges_and_corners),
      cmocka_unit_test(box_without_bounds_has_the_faces_that_are_left),
      cmocka_unit_test(oriented_box_is_a_box_in_its_frame),
      cmocka_unit_test(plane_is_near_at_the_foot),
      cmocka_unit_test(triangle_is_near_in_each_of_its_regions),
      cmocka_unit_test(triangle_without_area_is_a_segment_or_a_point),
      cmocka_unit_test(needles_are_as_near_as_their_axis),
      cmocka_unit_test(ties_go_to_lower_ids),
      cmocka_unit_test(masks_of_points_are_their_own),
      cmocka_unit_test(radii_are_closed_in_the_distance_as_reported),
      cmocka_unit_test(invalid_points_find_nothing_and_are_counted),
      cmocka_unit_test(empty_scene_has_nothing_near),
      cmocka_unit_test(extremes_are_answered),
      cmocka_unit_test(dropped_and_disabled_primitives_are_not_found),
      cmocka_unit_test(dropped_triangles_are_nowhere),
      cmocka_unit_test(instances_turn_scale_and_mirror),
      cmocka_unit_test(skew_instances_are_refused_by_geometry),
      cmocka_unit_test(packed_scenes_answer_the_same),
      cmocka_unit_test(updates_move_what_is_near),
      cmocka_unit_test(progress_is_told_and_cancels),
      cmocka_unit_test(every_chunk_has_its_own_radii),
      cmocka_unit_test(wrong_answers_are_seen),
      cmocka_unit_test(the_oracle_knows_ties),
      cmocka_unit_test(every_refusal_names_what_is_wrong),
  };
  return cmocka_run_group_tests_name("test_points", tests, expect_setup, expect_teardown);
}
