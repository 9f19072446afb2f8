/* Planes, case by case: t = (offset - n.o) / n.d, with sums in the order x, y, z, and no epsilon. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "expect.h"

#define CHECK(plane, rows) expect_shape(*state, SLAB_PLANE, (plane), (rows), NULL, 0)
#define CHECK_WITHIN(plane, rows, within) expect_shape(*state, SLAB_PLANE, (plane), (rows), NULL, (within))
/* A hit at t, with this normal. */
#define AT(t, x, y, z) \
  { t, {x, y, z}, 0, 0, t, t }

static const slab_plane P = {{0, 0, 2}, 6}; /* z = 3 */

static void plane_is_met_from_both_sides(void **state) {
  static const expect_row rows[] = {
      {{{1, 2, -1}, 0, {0, 0, 1}, INFINITY}, AT(4, 0, 0, 1)},
      {{{1, 2, 7}, 0, {0, 0, -1}, INFINITY}, AT(4, 0, 0, 1)},
      {{{1, 2, 7}, 0, {5, -3, -8}, INFINITY}, AT(0.5f, 0, 0, 1)},
      {{{1, 2, 7}, 0, {0, 0, 1}, INFINITY}, EXPECT_MISS}, /* behind */
      {{{1, 2, 7}, -INFINITY, {0, 0, 1}, INFINITY}, AT(-4, 0, 0, 1)},
  };
  CHECK(&P, rows);
}

static void ray_starting_on_the_plane_hits_it_at_zero(void **state) {
  static const expect_row rows[] = {
      {{{0, 0, 3}, 0, {0, 0, 1}, INFINITY}, AT(0, 0, 0, 1)},
      {{{0, 0, 3}, 0, {0, 0, -1}, INFINITY}, AT(0, 0, 0, 1)}, /* 0 / -1 is -0 */
      {{{0, 0, 3}, -0.0f, {0, 0, -1}, -0.0f}, AT(0, 0, 0, 1)},
      {{{0, 0, 3}, 0x1p-100f, {0, 0, -1}, INFINITY}, EXPECT_MISS},
  };
  CHECK(&P, rows);
}

static void range_is_closed(void **state) {
  const expect_row rows[] = {
      {{{0, 0, -1}, 4, {0, 0, 1}, 4}, AT(4, 0, 0, 1)},
      {{{0, 0, -1}, nextafterf(4, 9), {0, 0, 1}, 9}, EXPECT_MISS},
      {{{0, 0, -1}, 0, {0, 0, 1}, nextafterf(4, 0)}, EXPECT_MISS},
  };
  CHECK(&P, rows);
}

static void parallel_and_coplanar_rays_miss(void **state) {
  static const expect_row rows[] = {
      {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{0, 0, 3}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{0, 0, 3}, -INFINITY, {1, 1, -0.0f}, INFINITY}, EXPECT_MISS},
      {{{0, 0, 3}, -INFINITY, {1, 1, 0x1p-149f}, INFINITY}, EXPECT_MISS}, /* a subnormal component counts as zero */
      {{{0, 0, 0}, -INFINITY, {-1, 1, 0}, INFINITY}, EXPECT_MISS},
  };
  static const slab_plane slanted = {{1, 1, 0}, 2};
  static const expect_row cancelling[] = {
      {{{0, 0, 0}, -INFINITY, {1, -1, 0}, INFINITY}, EXPECT_MISS},
      {{{2, 0, 0}, -INFINITY, {1, -1, 5}, INFINITY}, EXPECT_MISS},
  };
  CHECK(&P, rows);
  CHECK(&slanted, cancelling);
}

/* x = 1 at t = 2^100: the quotient decides, and there is no "nearly parallel". */
static void nearly_parallel_ray_hits_far_away(void **state) {
  static const slab_plane plane = {{1, 0, 0}, 1};
  static const expect_row rows[] = {
      {{{0, 0, 0}, 0, {0x1p-100f, 1, 0}, INFINITY}, AT(0x1p100f, 1, 0, 0)},
      {{{0, 0, 0}, 0, {0x1p-126f, 1, 0}, INFINITY}, AT(0x1p126f, 1, 0, 0)},
      {{{0, 0, 0}, -INFINITY, {-0x1p-100f, 1, 0}, INFINITY}, AT(-0x1p100f, 1, 0, 0)},
      {{{-3, 0, 0}, 0, {0x1p-126f, 1, 0}, INFINITY}, EXPECT_MISS}, /* 4 * 2^126 */
  };
  CHECK(&plane, rows);
}

/* 2^24 + 1 rounds to 2^24, and adding -2^24 gives 0. Any other order gives 1, and t = 4 or -6. */
static void sums_run_in_x_y_z_order(void **state) {
  static const slab_plane plane = {{1, 1, 1}, 5};
  static const expect_row rows[] = {
      {{{0x1p24f, 1, -0x1p24f}, -INFINITY, {0, 0, 1}, INFINITY}, AT(5, 0.57735027f, 0.57735027f, 0.57735027f)},
      {{{0, 0, 0}, -INFINITY, {0x1p24f, 1, -0x1p24f}, INFINITY}, EXPECT_MISS},
  };
  CHECK_WITHIN(&plane, rows, 0x1p-23f);
}

static void quotient_is_correctly_rounded(void **state) {
  static const slab_plane plane = {{3, 4, 0}, 25};
  const expect_row rows[] = {
      {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, AT(25.0f / 3.0f, 0.6f, 0.8f, 0)},
      {{{0, 0, 0}, 0, {1, 1, 0}, INFINITY}, AT(25.0f / 7.0f, 0.6f, 0.8f, 0)},
      {{{1, -1, 0}, 0, {-2, 4, 0}, INFINITY}, AT(26.0f / 10.0f, 0.6f, 0.8f, 0)},
  };
  CHECK(&plane, rows);
}

/* The length of the normal cancels. */
static void normal_of_any_length_makes_the_same_plane(void **state) {
  static const int exponents[] = {-149, -140, -126, -60, 0, 60, 120, 126};
  for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
    const float n = ldexpf(1, exponents[i]);
    const slab_plane plane = {{n, 0, -0.0f}, 2 * n}, behind = {{0, -n, 0}, 2 * n};
    const expect_row rows[] = {{{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, AT(2, 1, 0, 0)},
                               {{{-2, 1, 1}, 0, {4, 1, 2}, INFINITY}, AT(1, 1, 0, 0)}};
    const expect_row down[] = {{{{0, 0, 0}, 0, {0, -1, 0}, INFINITY}, AT(2, 0, -1, 0)},
                               {{{0, 0, 0}, 0, {0, 1, 0}, INFINITY}, EXPECT_MISS}};
    CHECK(&plane, rows);
    CHECK(&behind, down);
  }
}

static void plane_out_of_reach_is_missed(void **state) {
  static const slab_plane plane = {{0x1p-140f, 0, 0}, 1}; /* x = 2^140 */
  static const expect_row rows[] = {{{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
                                    {{{0, 0, 0}, -INFINITY, {-1, 0, 0}, INFINITY}, EXPECT_MISS}};
  CHECK(&plane, rows);
}

static void culling_looks_at_the_side_of_the_normal(void **state) {
  static const slab_cast_options back = {.cull = SLAB_CULL_BACK}, front = {.cull = SLAB_CULL_FRONT};
  static const expect_want culled = {EXPECT_NO_SURFACE, 4, 4}; /* intervals are not culled */
  const expect_row without_back[] = {{{{0, 0, 7}, 0, {0, 0, -1}, INFINITY}, AT(4, 0, 0, 1)},
                                     {{{0, 0, -1}, 0, {0, 0, 1}, INFINITY}, culled}};
  const expect_row without_front[] = {{{{0, 0, 7}, 0, {0, 0, -1}, INFINITY}, culled},
                                      {{{0, 0, -1}, 0, {0, 0, 1}, INFINITY}, AT(4, 0, 0, 1)}};
  expect_shape(*state, SLAB_PLANE, &P, without_back, &back, 0);
  expect_shape(*state, SLAB_PLANE, &P, without_front, &front, 0);
}

static void face_forward_turns_the_back(void **state) {
  static const slab_cast_options forward = {.face_forward = 1};
  static const expect_row rows[] = {{{{0, 0, 7}, 0, {0, 0, -1}, INFINITY}, AT(4, 0, 0, 1)},
                                    {{{0, 0, -1}, 0, {0, 0, 1}, INFINITY}, AT(4, 0, 0, -1)}};
  expect_shape(*state, SLAB_PLANE, &P, rows, &forward, 0);
}

static void plane_through_a_point_passes_it(void **state) {
  static const float point[3] = {1, 2, 3}, normal[3] = {2, 0, 1};
  const slab_plane plane = slab_plane_through(point, normal);
  assert_true(plane.offset == 5);
  static const expect_row rows[] = {{{{1, 2, 1}, 0, {0, 0, 1}, INFINITY}, AT(2, 0.89442719f, 0, 0.44721360f)}};
  CHECK_WITHIN(&plane, rows, 0x1p-23f);
}

enum { FAINT_PLANES = 64, FAINT_RAYS = 512 };

/* Any magnitude from 2^least, which may be subnormal, to 2^most, of either sign, or 0. */
static float any_magnitude(random_state *r, int least, int most) {
  const float size = ldexpf(random_between(r, 1, 2), least + (int)random_below(r, (uint32_t)(most - least) + 1));
  return random_below(r, 8) == 0 ? 0.0f : random_bits(r) & 1 ? size : -size;
}

/* The formula of the contract, for directions and normals whose largest component is in [1, 2). */
static float plain_quotient(const slab_plane *p, const slab_ray *ray) {
  const float *n = p->normal, *o = ray->origin, *d = ray->direction;
  const volatile float from[3] = {n[0] * o[0], n[1] * o[1], n[2] * o[2]},
                       along = (n[0] * d[0] + n[1] * d[1]) + n[2] * d[2];
  const float t = (p->offset - ((from[0] + from[1]) + from[2])) / along;
  return along == 0 || !isfinite(t) ? INFINITY : t + 0.0f;
}

/* Products of subnormal components are omitted only where that changes no result. So offsets, normals and the other
 * components of the origin are as small, in every combination. Some results must depend on these products, or the
 * test would prove nothing. */
static void subnormal_components_of_the_origin_count(void **state) {
  random_state r = harness_seeded("subnormal_components_of_the_origin_count");
  slab_ray rays[FAINT_RAYS];
  size_t told = 0;
  for (uint32_t k = 0; k < FAINT_PLANES; k++) {
    const int least = -10 * (int)random_below(&r, 15);
    slab_plane plane = {{0}, any_magnitude(&r, least - 9, least)};
    for (int i = 0; i < 3; i++) plane.normal[i] = any_magnitude(&r, least, 0);
    plane.normal[random_below(&r, 3)] = random_between(&r, 1, 2);
    float want[FAINT_RAYS];
    for (size_t i = 0; i < FAINT_RAYS; i++) {
      slab_ray *ray = &rays[i], without;
      *ray = (slab_ray){.t_min = -INFINITY, .t_max = INFINITY};
      for (int c = 0; c < 3; c++) {
        ray->direction[c] = random_between(&r, 1, 2) * (random_bits(&r) & 1 ? 1.0f : -1.0f);
        ray->origin[c] = any_magnitude(&r, least - 9, least);
      }
      ray->origin[random_below(&r, 3)] = any_magnitude(&r, -149, -127);
      without = *ray;
      for (int c = 0; c < 3; c++)
        if (fabsf(without.origin[c]) < FLT_MIN) without.origin[c] = 0;
      want[i] = plain_quotient(&plane, ray);
      told += want[i] != plain_quotient(&plane, &without);
    }
    slab_scene *scene = expect_scene(*state, SLAB_PLANE, &plane, 1);
    answers a;
    expect_cast(scene, rays, FAINT_RAYS, NULL, &a);
    assert_same_bits(a.distance, want, FAINT_RAYS, sizeof *want);
    answers_free(&a);
    slab_scene_destroy(scene);
  }
  assert_true(told > FAINT_RAYS);
}

static void zero_and_non_finite_planes_are_refused_by_index(void **state) {
  static const slab_plane bad[] = {{{0, 0, 0}, 1},        {{0, -0.0f, 0}, 0},     {{NAN, 0, 1}, 0},
                                   {{0, INFINITY, 0}, 0}, {{0, 0, -INFINITY}, 0}, {{0, 0, 1}, NAN},
                                   {{0, 0, 1}, INFINITY}, {{0, 0, 1}, -INFINITY}};
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(*state, &scene));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const slab_plane planes[] = {P, P, bad[i], P};
    assert_status(slab_scene_add_planes(scene, planes, 4, NULL, NULL), SLAB_INVALID_ARGUMENT);
    assert_non_null(strchr(slab_message(), '2'));
  }
  slab_scene_destroy(scene);
}

static void dropped_planes_keep_the_numbering(void **state) {
  const slab_plane planes[] = {{{0, 0, 0}, 1}, {{0, 0, 1}, NAN}, P, {{NAN, 0, 0}, 0}, {{0, 0, 1}, 5}};
  uint32_t skipped = 0;
  const slab_geometry_options drop = {.skip_invalid = 1, .skipped = &skipped};
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(*state, &scene));
  assert_ok(slab_scene_add_planes(scene, planes, 5, &drop, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_int_equal(skipped, 3);
  static const slab_ray ray = {{0, 0, 0}, 0, {0, 0, 1}, INFINITY};
  answers a;
  expect_cast(scene, &ray, 1, NULL, &a);
  assert_int_equal(a.count[0], 2);
  assert_true(a.all[0].primitive == 2 && a.all[0].t == 3 && a.all[1].primitive == 4 && a.all[1].t == 5);
  answers_free(&a);
  slab_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plane_is_met_from_both_sides),
      cmocka_unit_test(ray_starting_on_the_plane_hits_it_at_zero),
      cmocka_unit_test(range_is_closed),
      cmocka_unit_test(parallel_and_coplanar_rays_miss),
      cmocka_unit_test(nearly_parallel_ray_hits_far_away),
      cmocka_unit_test(sums_run_in_x_y_z_order),
      cmocka_unit_test(quotient_is_correctly_rounded),
      cmocka_unit_test(normal_of_any_length_makes_the_same_plane),
      cmocka_unit_test(plane_out_of_reach_is_missed),
      cmocka_unit_test(culling_looks_at_the_side_of_the_normal),
      cmocka_unit_test(face_forward_turns_the_back),
      cmocka_unit_test(plane_through_a_point_passes_it),
      cmocka_unit_test(subnormal_components_of_the_origin_count),
      cmocka_unit_test(zero_and_non_finite_planes_are_refused_by_index),
      cmocka_unit_test(dropped_planes_keep_the_numbering),
  };
  return cmocka_run_group_tests(tests, expect_setup, expect_teardown);
}
