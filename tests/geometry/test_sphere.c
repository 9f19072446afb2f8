/* Spheres, case by case. Unless stated otherwise, the numbers of the quadratic are small integers, so nothing is
 * rounded. */
#include <math.h>
#include <stdlib.h>

#include "expect.h"

static const slab_sphere S = {{0, 0, 0}, 2};

#define CHECK(sphere, rows) expect_shape(*state, SLAB_SPHERE, (sphere), (rows), NULL, 0)
#define CHECK_WITHIN(sphere, rows, within) expect_shape(*state, SLAB_SPHERE, (sphere), (rows), NULL, (within))
/* Normal of a crossing, and u = v = 0. */
#define NORMAL(x, y, z) {x, y, z}, 0, 0

static void ray_through_the_centre_enters_and_leaves(void **state) {
  static const expect_row rows[] = {
      {{{-6, 0, 0}, 0, {1, 0, 0}, INFINITY}, {4, NORMAL(-1, 0, 0), 4, 8}},
      {{{6, 0, 0}, 0, {-1, 0, 0}, INFINITY}, {4, NORMAL(1, 0, 0), 4, 8}},
      {{{0, -6, 0}, 0, {0, 1, 0}, INFINITY}, {4, NORMAL(0, -1, 0), 4, 8}},
      {{{0, 0, 6}, 0, {0, 0, -1}, INFINITY}, {4, NORMAL(0, 0, 1), 4, 8}},
      {{{-6, 0, 0}, 0, {-1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{-6, 0, 0}, -INFINITY, {-1, 0, 0}, INFINITY}, {-8, NORMAL(1, 0, 0), -8, -4}},
      {{{-6, 0, 0}, -5, {-1, 0, 0}, INFINITY}, {-4, NORMAL(-1, 0, 0), -5, -4}},
  };
  CHECK(&S, rows);
}

/* The exit is reported, not the far root of a sphere ahead. */
static void ray_from_inside_reports_its_exit(void **state) {
  static const expect_row rows[] = {
      {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, {2, NORMAL(1, 0, 0), 0, 2}},
      {{{1, 0, 0}, 0, {1, 0, 0}, INFINITY}, {1, NORMAL(1, 0, 0), 0, 1}},
      {{{1, 0, 0}, 0, {-1, 0, 0}, INFINITY}, {3, NORMAL(-1, 0, 0), 0, 3}},
      {{{0, 0, 0}, 0, {0, 0, -4}, INFINITY}, {0.5f, NORMAL(0, 0, -1), 0, 0.5f}},
      {{{0, 0, 0}, 0, {1, 0, 0}, 1}, {EXPECT_NO_SURFACE, 0, 1}},
  };
  CHECK(&S, rows);
}

static void ray_starting_on_the_surface_touches_it(void **state) {
  static const expect_row rows[] = {
      {{{-2, 0, 0}, 0, {1, 0, 0}, INFINITY}, {0, NORMAL(-1, 0, 0), 0, 4}},
      {{{2, 0, 0}, 0, {1, 0, 0}, INFINITY}, {0, NORMAL(1, 0, 0), 0, 0}},
      {{{0, 2, 0}, 0, {1, 0, 0}, INFINITY}, {0, NORMAL(0, 1, 0), 0, 0}}, /* tangent at that point: q = 0 */
      {{{0, 0, -2}, 0, {-0.0f, 1, 0}, INFINITY}, {0, NORMAL(0, 0, -1), 0, 0}},
      {{{-2, 0, 0}, 0x1p-100f, {1, 0, 0}, INFINITY}, {4, NORMAL(1, 0, 0), 0x1p-100f, 4}},
  };
  CHECK(&S, rows);
}

/* y = 2: the discriminant is 4 - 4. One step outside it is 4 - (2 + 2^-22)^2 = -2^-20. One step inside it is 4 - (2
 * - 2^-23)^2 = 2^-21, whose root 2^-10.5 is half the length of the interval. */
static void tangent_ray_hits_and_one_step_beyond_misses(void **state) {
  static const expect_row rows[] = {
      {{{-6, 2, 0}, 0, {1, 0, 0}, INFINITY}, {6, NORMAL(0, 1, 0), 6, 6}},
      {{{-6, 0, -2}, 0, {1, -0.0f, 0}, INFINITY}, {6, NORMAL(0, 0, -1), 6, 6}},
      {{{-6, 2, 0}, 0, {1, 0, 0}, 6}, {6, NORMAL(0, 1, 0), 6, 6}},
      {{{-6, 2, 0}, 6, {1, 0, 0}, INFINITY}, {6, NORMAL(0, 1, 0), 6, 6}},
      {{{-6, 2, 0}, -INFINITY, {-1, 0, 0}, INFINITY}, {-6, NORMAL(0, 1, 0), -6, -6}},
      {{{-6, 0x1.000002p1f, 0}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{-6, 2, 0x1p-9f}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS}, /* discriminant -2^-18 */
  };
  static const expect_row inside[] = {
      {{{-6, 0x1.fffffep0f, 0}, 0, {1, 0, 0}, INFINITY},
       {6 - 0x1.6a09e6p-11f, NORMAL(-0x1.6a09e6p-12f, 1, 0), 6 - 0x1.6a09e6p-11f, 6 + 0x1.6a09e6p-11f}},
  };
  CHECK(&S, rows);
  CHECK_WITHIN(&S, inside, 0x1p-20f);
}

/* Radius 5 and triangles 3, 4, 5: b = 10, discriminant 16, q = 14, c = 84. The normals -4/5 and 3/5 are rounded. */
static void ray_beside_the_centre_meets_both_roots(void **state) {
  static const slab_sphere sphere = {{0, 0, 0}, 5}, away = {{100, -200, 300}, 5};
  static const expect_row rows[] = {
      {{{-10, 3, 0}, 0, {1, 0, 0}, INFINITY}, {6, NORMAL(-0.8f, 0.6f, 0), 6, 14}},
      {{{-10, 0, -4}, 0, {1, 0, 0}, INFINITY}, {7, NORMAL(-0.6f, 0, -0.8f), 7, 13}},
      {{{0, 3, 0}, 0, {1, 0, 0}, INFINITY}, {4, NORMAL(0.8f, 0.6f, 0), 0, 4}},
      {{{-6, -8, 0}, 0, {3, 4, 0}, INFINITY}, {1, NORMAL(-0.6f, -0.8f, 0), 1, 3}},
      {{{-6, -8, 0}, 0, {3, 4, 0}, 1}, {1, NORMAL(-0.6f, -0.8f, 0), 1, 1}},
      {{{-10, 6, 0}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{-10, 4, 4}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
  };
  static const expect_row moved[] = {
      {{{90, -197, 300}, 0, {1, 0, 0}, INFINITY}, {6, NORMAL(-0.8f, 0.6f, 0), 6, 14}},
      {{{94, -208, 300}, 0, {3, 4, 0}, INFINITY}, {1, NORMAL(-0.6f, -0.8f, 0), 1, 3}},
  };
  CHECK_WITHIN(&sphere, rows, 0x1p-23f);
  CHECK_WITHIN(&away, moved, 0x1p-23f);
}

static void sphere_of_radius_zero_is_a_point_facing_the_ray(void **state) {
  static const slab_sphere point = {{3, 4, 0}, 0};
  static const expect_row rows[] = {
      {{{0, 4, 0}, 0, {1, 0, 0}, INFINITY}, {3, NORMAL(-1, 0, 0), 3, 3}},
      {{{9, 4, 0}, 0, {-2, 0, 0}, INFINITY}, {3, NORMAL(1, 0, 0), 3, 3}},
      {{{3, 4, 0}, 0, {0, 0, 1}, INFINITY}, {0, NORMAL(0, 0, -1), 0, 0}},
      {{{3, 0, 0}, 4, {0, 1, 0}, 4}, {4, NORMAL(0, -1, 0), 4, 4}},
      {{{0, 4, 0x1p-10f}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{0, 4, 0}, 0, {-1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{0, 4, 0}, -INFINITY, {-1, 0, 0}, INFINITY}, {-3, NORMAL(1, 0, 0), -3, -3}},
  };
  CHECK(&point, rows);
  static const expect_row aslant[] = {{{{0, 0, 0}, 0, {3, 4, 0}, INFINITY}, {1, NORMAL(-0.6f, -0.8f, 0), 1, 1}}};
  CHECK_WITHIN(&point, aslant, 0x1p-23f);
}

/* At a distance of 4096 every number is an integer below 2^24: b = 4096, q = 4097, c = 4096^2 - 1 = 4095 * 4097. */
static void far_small_sphere_is_neither_lost_nor_grown(void **state) {
  static const slab_sphere unit = {{0, 0, 0}, 1};
  static const expect_row rows[] = {
      {{{-4096, 0, 0}, 0, {1, 0, 0}, INFINITY}, {4095, NORMAL(-1, 0, 0), 4095, 4097}},
      {{{-0x1p30f, 1, 0}, 0, {1, 0, 0}, INFINITY}, {0x1p30f, NORMAL(0, 1, 0), 0x1p30f, 0x1p30f}},
      {{{-0x1p30f, 1.0625f, 0}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{-0x1p30f, 1.0625f, 0}, 0, {0x1p-90f, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{0x1p60f, 0, -1.0625f}, -INFINITY, {1, 0, 0}, INFINITY}, EXPECT_MISS},
  };
  CHECK(&unit, rows);
}

/* At a distance of 2^30, a quarter beside the centre: a hit, where b^2 - a c would lose all precision. */
static void distance_to_the_line_decides_not_b_squared(void **state) {
  static const slab_sphere unit = {{0, 0, 0}, 1};
  static const slab_ray ray = {{-0x1p30f, 0.25f, 0}, 0, {1, 0, 0}, INFINITY};
  slab_scene *scene = expect_scene(*state, SLAB_SPHERE, &unit, 1);
  answers a;
  expect_cast(scene, &ray, 1, NULL, &a);
  assert_int_equal(a.count[0], 1);
  assert_true(fabs((double)a.closest[0].t - 0x1p30) <= 2);
  answers_free(&a);
  slab_scene_destroy(scene);
}

static void tiny_and_huge_spheres_are_spheres(void **state) {
  for (int e = -50; e <= 50; e += 10) {
    const float s = ldexpf(1, e);
    const slab_sphere sphere = {{s * 3, -s, 0}, s * 2};
    const expect_row rows[] = {
        {{{-3 * s, -s, 0}, 0, {1, 0, 0}, INFINITY}, {4 * s, NORMAL(-1, 0, 0), 4 * s, 8 * s}},
        {{{-3 * s, -s, 0}, 0, {s, 0, 0}, INFINITY}, {4, NORMAL(-1, 0, 0), 4, 8}},
        {{{3 * s, -s, 0}, 0, {0, 0, -1}, INFINITY}, {2 * s, NORMAL(0, 0, -1), 0, 2 * s}},
        {{{-3 * s, s, 0}, 0, {1, 0, 0}, INFINITY}, {6 * s, NORMAL(0, 1, 0), 6 * s, 6 * s}},
        {{{-3 * s, s, s}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
    };
    CHECK(&sphere, rows);
  }
}

static void culling_drops_crossings_not_spheres(void **state) {
  static const slab_cast_options back = {.cull = SLAB_CULL_BACK}, front = {.cull = SLAB_CULL_FRONT};
  static const expect_row without_front[] = {
      {{{-6, 0, 0}, 0, {1, 0, 0}, INFINITY}, {8, NORMAL(1, 0, 0), 4, 8}},
      {{{-6, 0, 0}, 0, {1, 0, 0}, 7}, {EXPECT_NO_SURFACE, 4, 7}},
      {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, {2, NORMAL(1, 0, 0), 0, 2}},
  };
  static const expect_row without_back[] = {
      {{{-6, 0, 0}, 0, {1, 0, 0}, INFINITY}, {4, NORMAL(-1, 0, 0), 4, 8}},
      {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, {EXPECT_NO_SURFACE, 0, 2}},
      {{{-6, 0, 0}, 5, {1, 0, 0}, INFINITY}, {EXPECT_NO_SURFACE, 5, 8}},
  };
  expect_shape(*state, SLAB_SPHERE, &S, without_front, &front, 0);
  expect_shape(*state, SLAB_SPHERE, &S, without_back, &back, 0);
}

static void face_forward_turns_the_exit(void **state) {
  static const slab_cast_options forward = {.face_forward = 1};
  static const expect_row rows[] = {
      {{{-6, 0, 0}, 0, {1, 0, 0}, INFINITY}, {4, NORMAL(-1, 0, 0), 4, 8}},
      {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, {2, NORMAL(-1, 0, 0), 0, 2}},
  };
  expect_shape(*state, SLAB_SPHERE, &S, rows, &forward, 0);
}

/* A quarter turn about every axis turns rays and results alike. */
static void axes_are_alike(void **state) {
  static const slab_sphere sphere = {{0, 0, 0}, 5};
  for (int turn = 0; turn < 3; turn++)
    for (int sign = -1; sign <= 1; sign += 2) {
      expect_row row = {{{0}, 0, {0}, INFINITY}, {6, {0, 0, 0}, 0, 0, 6, 14}};
      const int x = turn, y = (turn + 1) % 3;
      row.ray.origin[x] = -10 * (float)sign;
      row.ray.origin[y] = 3;
      row.ray.direction[x] = (float)sign;
      row.want.normal[x] = -0.8f * (float)sign;
      row.want.normal[y] = 0.6f;
      expect_ray(*state, SLAB_SPHERE, &sphere, &row, NULL, 0x1p-23f);
    }
}

static void negative_or_unbounded_sphere_is_refused(void **state) {
  static const slab_sphere bad[] = {{{0, 0, 0}, -1},        {{0, 0, 0}, -0x1p-149f},    {{0, 0, 0}, NAN},
                                    {{0, 0, 0}, INFINITY},  {{NAN, 0, 0}, 1},           {{0, INFINITY, 0}, 1},
                                    {{0, 0, -INFINITY}, 1}, {{0x1.000002p60f, 0, 0}, 1}};
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(*state, &scene));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    uint32_t skipped = 0;
    const slab_geometry_options drop = {.skip_invalid = 1, .skipped = &skipped};
    assert_status(slab_scene_add_spheres(scene, &bad[i], 1, NULL, NULL), SLAB_INVALID_ARGUMENT);
    assert_ok(slab_scene_add_spheres(scene, &bad[i], 1, &drop, NULL));
    assert_int_equal(skipped, 1);
  }
  static const slab_sphere good[] = {{{0, 0, 0}, 0}, {{0, 0, 0}, -0.0f}, {{0x1p60f, 0, 0}, 1}};
  assert_ok(slab_scene_add_spheres(scene, good, 3, NULL, NULL));
  slab_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ray_through_the_centre_enters_and_leaves),
      cmocka_unit_test(ray_from_inside_reports_its_exit),
      cmocka_unit_test(ray_starting_on_the_surface_touches_it),
      cmocka_unit_test(tangent_ray_hits_and_one_step_beyond_misses),
      cmocka_unit_test(ray_beside_the_centre_meets_both_roots),
      cmocka_unit_test(sphere_of_radius_zero_is_a_point_facing_the_ray),
      cmocka_unit_test(far_small_sphere_is_neither_lost_nor_grown),
      cmocka_unit_test(distance_to_the_line_decides_not_b_squared),
      cmocka_unit_test(tiny_and_huge_spheres_are_spheres),
      cmocka_unit_test(culling_drops_crossings_not_spheres),
      cmocka_unit_test(face_forward_turns_the_exit),
      cmocka_unit_test(axes_are_alike),
      cmocka_unit_test(negative_or_unbounded_sphere_is_refused),
  };
  return cmocka_run_group_tests(tests, expect_setup, expect_teardown);
}
