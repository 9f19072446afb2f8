/* Gaps in the other tests that mutants revealed. Each test here detects a fault of tests/mutants/mutants.txt that
 * survived the other tests. The comments derive the expected values by hand. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

/* ---- rays ---- */

/* Scaled by the direction's 2^-10, both ends become 0, and all shapes here are touched at t = 0. */
static void range_reversed_by_the_least_step_is_a_plain_miss(void **state) {
  static const expect_row rows[] = {{{{0, 0, 0}, 0x1p-148f, {0, 0, 0x1p-10f}, 0x1p-149f}, EXPECT_MISS}};
  static const slab_box box = {{-1, -1, 0}, {1, 1, 1}};
  static const slab_plane plane = {{0, 0, 1}, 0};
  static const slab_sphere sphere = {{0, 0, 1}, 1};
  static const slab_triangle triangle = {{-1, -1, 0}, {3, -1, 0}, {-1, 3, 0}};
  expect_shape(*state, SLAB_BOX, &box, rows, NULL, 0);
  expect_shape(*state, SLAB_PLANE, &plane, rows, NULL, 0);
  expect_shape(*state, SLAB_SPHERE, &sphere, rows, NULL, 0);
  expect_shape(*state, SLAB_TRIANGLE, &triangle, rows, NULL, 0);
}

/* Scaled by the direction's 2^10, both ends overflow. If they were clamped they would be FLT_MAX, where this plane
 * is. */
static void range_that_overflows_holds_nothing(void **state) {
  static const expect_row rows[] = {
      {{{0, 0, 0}, 0x1.8p127f, {0, 0, 0x1p10f}, 0x1p127f}, EXPECT_MISS},
      {{{0, 0, 0}, 0x1p127f, {0, 0, 0x1p10f}, 0x1.8p127f}, EXPECT_MISS},
      {{{0, 0, 0}, 0x1p127f, {0, 0, 0x1p10f}, INFINITY}, EXPECT_MISS},
      {{{0, 0, 0}, -INFINITY, {0, 0, -0x1p10f}, -0x1p127f}, EXPECT_MISS},
      {{{0, 0, 0}, 0x1.fffffep117f, {0, 0, 0x1p10f}, INFINITY},
       {0x1.fffffep117f, {0, 0, 1}, 0, 0, 0x1.fffffep117f, 0x1.fffffep117f}},
  };
  static const slab_plane plane = {{0, 0, 1}, FLT_MAX};
  expect_shape(*state, SLAB_PLANE, &plane, rows, NULL, 0);
}

/* ---- planes ---- */

/* e = 1 + 2^-23, and e e rounds to 1 + 2^-22, so n.o = e e - (1 + 2^-22) is 0. If the product were not rounded,
 * 2^-46 would remain, and the crossing would lie before the start. */
static void plane_sum_rounds_its_products(void **state) {
  static const float e = 1 + 0x1p-23f, f = -(1 + 0x1p-22f);
  const slab_plane last = {{1, 0, e}, 0}, first = {{e, 1, 0}, 0};
  const float part = sqrtf(0.5f);
  const expect_row at_last[] = {{{{f, 0, e}, 0, {0, 0, 1}, INFINITY}, {0, {part, 0, part}, 0, 0, 0, 0}}};
  const expect_row at_first[] = {{{{e, f, 0}, 0, {1, 0, 0}, INFINITY}, {0, {part, part, 0}, 0, 0, 0, 0}}};
  expect_shape(*state, SLAB_PLANE, &last, at_last, NULL, 0x1p-22f);
  expect_shape(*state, SLAB_PLANE, &first, at_first, NULL, 0x1p-22f);
}

/* ---- t is clamped to the interval of the bounds ---- */

enum { CLAMPED = 4096 };

/* A ray from -k d, where k and 8 d are small integers. It hits a shape at 0 at t = k. The slab test computes the
 * maximum over the axes of (k d_i) * fl(1 / d_i), which is k or next to it. */
static slab_ray ray_to_the_centre(random_state *r, float *slab_t) {
  slab_ray ray = {{0}, 0, {0}, INFINITY};
  const float k = (float)(1 + random_below(r, 40));
  const uint32_t largest = random_below(r, 3);
  *slab_t = 0;
  for (uint32_t i = 0; i < 3; i++) {
    const int d =
        (int)(i == largest ? 8 + random_below(r, 8) : 1 + random_below(r, 15)) * (random_bits(r) & 1 ? 1 : -1);
    ray.direction[i] = (float)d / 8;
    ray.origin[i] = -k * ray.direction[i];
    const float reciprocal = 1.0f / ray.direction[i], t = (k * ray.direction[i]) * reciprocal;
    *slab_t = fmaxf(*slab_t, t);
  }
  return ray;
}

/* Shapes at 0 with a half size of 2^-40. All planes of their bounds are crossed at the same t. The hit's t is
 * clamped to this t, although the shape's own formula gives k. For some rays this t must differ from k, or the test
 * would prove nothing. */
static void check_clamped(void **state, slab_shape kind, const void *shape, size_t least, const char *name) {
  random_state r = harness_seeded(name);
  static slab_ray rays[CLAMPED];
  static float want[CLAMPED];
  for (size_t i = 0; i < CLAMPED; i++) rays[i] = ray_to_the_centre(&r, &want[i]);
  slab_scene *scene = expect_scene(*state, kind, shape, 1);
  answers a;
  expect_cast(scene, rays, CLAMPED, NULL, &a);
  size_t met = 0, moved = 0;
  for (size_t i = 0; i < CLAMPED; i++) {
    if (!a.count[i]) continue;
    met++;
    moved += want[i] != rintf(want[i]);
    assert_same_bits(&a.distance[i], &want[i], 1, sizeof want[i]);
  }
  assert_true(met >= least && moved > 0);
  answers_free(&a);
  slab_scene_destroy(scene);
}

/* Sums of small integers are exact, so every ray hits the sphere. */
static void sphere_is_met_within_its_bounds(void **state) {
  static const slab_sphere s = {{0, 0, 0}, 0x1p-40f};
  check_clamped(state, SLAB_SPHERE, &s, CLAMPED, "sphere_is_met_within_its_bounds");
}

/* A point has no side. Its normal is opposite to the ray, even where the clamped t is not the root by which the ray
 * enters. */
static void point_faces_the_ray_although_t_is_clamped(void **state) {
  random_state r = harness_seeded("point_faces_the_ray_although_t_is_clamped");
  static const slab_sphere point = {{0, 0, 0}, 0};
  static slab_ray rays[CLAMPED];
  size_t moved = 0;
  slab_scene *scene = expect_scene(*state, SLAB_SPHERE, &point, 1);
  answers a;
  for (size_t i = 0; i < CLAMPED; i++) {
    float t;
    rays[i] = ray_to_the_centre(&r, &t);
    moved += t != rintf(t);
  }
  assert_true(moved > 0);
  expect_cast(scene, rays, CLAMPED, NULL, &a);
  for (size_t i = 0; i < CLAMPED; i++) {
    const float *d = rays[i].direction;
    const double length = sqrt((double)d[0] * d[0] + (double)d[1] * d[1] + (double)d[2] * d[2]);
    assert_int_equal(a.count[i], 1);
    for (int k = 0; k < 3; k++) assert_true(fabs((double)a.closest[i].normal[k] + (double)d[k] / length) < 0x1p-22);
  }
  answers_free(&a);
  slab_scene_destroy(scene);
}

/* The rotation rounds, so some rays miss such a small box. */
static void oriented_box_is_met_within_its_bounds(void **state) {
  static const slab_obb b = {{0, 0, 0}, {0x1p-40f, 0x1p-40f, 0x1p-40f}, {{0.6f, 0.8f, 0}, {-0.8f, 0.6f, 0}, {0, 0, 1}}};
  check_clamped(state, SLAB_OBB, &b, CLAMPED / 8, "oriented_box_is_met_within_its_bounds");
}

/* The bounds of a triangle in z = 0 are degenerate. t is that of the slab's single plane, (0 - o_z) * fl(1 / d_z),
 * and not a sum of weighted vertices. */
static void flat_triangle_is_met_where_its_bounds_are(void **state) {
  random_state r = harness_seeded("flat_triangle_is_met_where_its_bounds_are");
  static const slab_triangle t = {{-100, -100, 0}, {300, -100, 0}, {-100, 300, 0}};
  static slab_ray rays[CLAMPED];
  for (size_t i = 0; i < CLAMPED; i++) {
    rays[i] = (slab_ray){{0}, 0, {0}, INFINITY};
    for (int k = 0; k < 2; k++) rays[i].origin[k] = random_between(&r, -1, 1);
    for (int k = 0; k < 2; k++) rays[i].direction[k] = random_between(&r, -0.9f, 0.9f);
    rays[i].origin[2] = random_between(&r, 1, 10);
    rays[i].direction[2] = -random_between(&r, 1, 2);
  }
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, &t, 1);
  answers a;
  expect_cast(scene, rays, CLAMPED, NULL, &a);
  for (size_t i = 0; i < CLAMPED; i++) {
    const float reciprocal = 1.0f / rays[i].direction[2], want = (0 - rays[i].origin[2]) * reciprocal;
    assert_same_bits(&a.distance[i], &want, 1, sizeof want);
  }
  answers_free(&a);
  slab_scene_destroy(scene);
}

/* ---- spheres ---- */

/* A tangent that begins at its point of contact: b and the discriminant are 0, and so are c and q. t = 0, not 0 / 0. */
static void tangent_that_begins_where_it_touches_hits_at_zero(void **state) {
  static const slab_sphere s = {{0, 0, 0}, 2}, point = {{1, 2, 3}, 0};
  static const expect_row touching[] = {
      {{{0, 0, 2}, 0, {1, 0, 0}, INFINITY}, {0, {0, 0, 1}, 0, 0, 0, 0}},
      {{{0, -2, 0}, 0, {0, 0, -4}, INFINITY}, {0, {0, -1, 0}, 0, 0, 0, 0}},
      {{{2, 0, 0}, -INFINITY, {0, 1, 1}, INFINITY}, {0, {1, 0, 0}, 0, 0, 0, 0}},
      {{{0, 0, 2}, 0x1p-30f, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{0, 0, 2}, -INFINITY, {1, 0, 0}, -0x1p-30f}, EXPECT_MISS},
  };
  static const expect_row inside[] = {{{{1, 2, 3}, 0, {0, 2, 0}, INFINITY}, {0, {0, -1, 0}, 0, 0, 0, 0}}};
  expect_shape(*state, SLAB_SPHERE, &s, touching, NULL, 0);
  expect_shape(*state, SLAB_SPHERE, &point, inside, NULL, 0);
}

/* From 2^-20 below the surface outwards, b = -(1 - 2^-20) and the root is 1. Their sum would cancel completely, and c
 * divided by it would give an entry of -2. Rounded f.f is 1 - 2^-19, so c = -2^-19, q = -(2 - 2^-20) and the exit is
 * 2^-20 (1 + 2^-21) to first order. */
static void roots_do_not_cancel_beside_the_surface(void **state) {
  static const slab_sphere s = {{0, 0, 0}, 1};
  static const float x = 1 - 0x1p-20f;
  const expect_row rows[] = {
      {{{x, 0, 0}, -INFINITY, {1, 0, 0}, INFINITY}, {-2 + 0x1p-20f, {-1, 0, 0}, 0, 0, -2 + 0x1p-20f, 0x1p-20f}},
      {{{-x, 0, 0}, -INFINITY, {1, 0, 0}, INFINITY}, {-0x1p-20f, {-1, 0, 0}, 0, 0, -0x1p-20f, 2 - 0x1p-20f}},
  };
  expect_shape(*state, SLAB_SPHERE, &s, rows, NULL, 0x1p-23f);
}

/* ---- triangles ---- */

/* Vertices m d + s with d = (1/2, 1/4, 1) and s = 0, (4, 0, 0), (0, 4, 0). The shear along d is exact. So seen along d
 * the triangle is s, and a ray from (1, 1, 0) passes inside. The product s_b x s_c = (0, 0, 16) points along d: that
 * winding shows its back, the other one its front. In space the triangle is a needle of length 2^20. Rounding destroys
 * its normal, because products of 2^40 cancel to 16. */
static void facing_is_that_of_the_edges_not_of_the_rounded_normal(void **state) {
  enum { N = 2000 };
  random_state r = harness_seeded("facing_is_that_of_the_edges_not_of_the_rounded_normal");
  static slab_triangle triangles[N];
  for (size_t i = 0; i < N; i++) {
    float corners[3][3] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}};
    for (int k = 1; k < 3; k++) {
      const float m = 4 * (float)(0x10000 + random_below(&r, 0x30000));
      corners[k][0] += m / 2;
      corners[k][1] += m / 4;
      corners[k][2] += m;
    }
    memcpy(triangles[i].a, corners[0], sizeof corners[0]);
    memcpy(triangles[i].b, corners[i % 2 ? 2 : 1], sizeof corners[0]);
    memcpy(triangles[i].c, corners[i % 2 ? 1 : 2], sizeof corners[0]);
  }
  static const slab_ray ray = {{1, 1, 0}, 0, {0.5f, 0.25f, 1}, INFINITY};
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, triangles, N);
  for (uint32_t front = 0; front < 2; front++) {
    const slab_cast_options options = {.cull = front ? SLAB_CULL_BACK : SLAB_CULL_FRONT};
    answers a;
    expect_cast(scene, &ray, 1, &options, &a);
    assert_int_equal(a.count[0], N / 2);
    for (uint32_t k = 0; k < N / 2; k++) assert_int_equal(a.all[k].primitive % 2, front);
    answers_free(&a);
  }
  slab_scene_destroy(scene);
}

/* The normal of (0, b, c), in double. */
static void exact_normal(const float b[3], const float c[3], double n[3]) {
  double square = 0;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    n[i] = (double)b[j] * (double)c[k] - (double)b[k] * (double)c[j];
    square += n[i] * n[i];
  }
  for (int i = 0; i < 3; i++) n[i] /= sqrt(square);
}

/* Checks the normal of (0, b, c) that is reported for a ray through its inside. */
static void check_normal(slab_context *context, const slab_triangle *t, const slab_ray *ray, const double want[3],
                         double within) {
  slab_scene *scene = expect_scene(context, SLAB_TRIANGLE, t, 1);
  slab_hit hit;
  assert_ok(slab_closest(scene, ray, 1, &hit, NULL));
  assert_int_equal(hit.primitive, 0);
  for (int i = 0; i < 3; i++) assert_true(fabs((double)hit.normal[i] - want[i]) < within);
  slab_scene_destroy(scene);
}

/* With sides of 2^-68, the products are below every float with full precision. */
static void triangle_too_small_for_products_has_its_normal(void **state) {
  static const float b[3] = {3.3f, 0.7f, 1.9f}, c[3] = {-1.1f, 2.9f, 0.6f};
  slab_triangle t = {{0}, {0}, {0}};
  slab_ray ray = {{0}, 0, {0, 0, -1}, INFINITY};
  double n[3];
  for (int i = 0; i < 3; i++) {
    t.b[i] = ldexpf(b[i], -70);
    t.c[i] = ldexpf(c[i], -70);
    ray.origin[i] = i < 2 ? (t.b[i] + t.c[i]) / 4 : 1;
  }
  exact_normal(b, c, n);
  check_normal(*state, &t, &ray, n, 0x1p-23);
}

/* The products of needles cancel to 2^-12 of their size. Products that are only rounded would give a normal accurate
 * to 2^-12. */
static void needle_has_the_normal_of_its_vertices(void **state) {
  random_state r = harness_seeded("needle_has_the_normal_of_its_vertices");
  for (int trial = 0; trial < 100; trial++) {
    slab_triangle t = {{0}, {0}, {0}};
    slab_ray ray = {{0}, 0, {0}, INFINITY};
    double n[3];
    for (int i = 0; i < 3; i++) {
      t.b[i] = random_between(&r, 1, 2);
      t.c[i] = t.b[i] * 0.75f + random_between(&r, -0x1p-12f, 0x1p-12f);
    }
    exact_normal(t.b, t.c, n);
    for (int i = 0; i < 3; i++) {
      ray.direction[i] = (float)-n[i];
      ray.origin[i] = (t.b[i] + t.c[i]) / 3 - ray.direction[i];
    }
    check_normal(*state, &t, &ray, n, 0x1p-20);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(range_reversed_by_the_least_step_is_a_plain_miss),
      cmocka_unit_test(range_that_overflows_holds_nothing),
      cmocka_unit_test(plane_sum_rounds_its_products),
      cmocka_unit_test(sphere_is_met_within_its_bounds),
      cmocka_unit_test(point_faces_the_ray_although_t_is_clamped),
      cmocka_unit_test(oriented_box_is_met_within_its_bounds),
      cmocka_unit_test(flat_triangle_is_met_where_its_bounds_are),
      cmocka_unit_test(tangent_that_begins_where_it_touches_hits_at_zero),
      cmocka_unit_test(roots_do_not_cancel_beside_the_surface),
      cmocka_unit_test(facing_is_that_of_the_edges_not_of_the_rounded_normal),
      cmocka_unit_test(triangle_too_small_for_products_has_its_normal),
      cmocka_unit_test(needle_has_the_normal_of_its_vertices),
  };
  return cmocka_run_group_tests(tests, expect_setup, expect_teardown);
}
