/* Rays and ranges: rules that are the same for every kind of primitive. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit_shapes.h"

/* ---- validity ---- */

/* Checks the results of every query for rays that are all invalid. */
static void check_invalid(slab_scene *scene, const slab_ray *rays, size_t n) {
  static const slab_hit no_hit = {INFINITY, {0, 0, 0}, 0, 0, SLAB_INVALID, SLAB_INVALID};
  static const slab_interval no_interval = {INFINITY, -INFINITY, SLAB_INVALID, SLAB_INVALID};
  answers a;
  expect_cast(scene, rays, n, NULL, &a);
  assert_true(a.invalid[0] == n);
  for (size_t i = 0; i < n; i++) {
    assert_same_bits(&a.closest[i], &no_hit, 1, sizeof no_hit);
    assert_same_bits(&a.interval[i], &no_interval, 1, sizeof no_interval);
    assert_true(a.distance[i] == INFINITY && a.any[i] == 0 && a.count[i] == 0 && a.offsets[i + 1] == 0);
  }
  answers_free(&a);
}

static void nan_anywhere_is_invalid(void **state) {
  static const uint32_t nans[] = {0x7FC00000u, 0xFFC00000u, 0x7F800001u, 0xFFFFFFFFu};
  slab_scene *scene = unit_shape_scene(*state);
  slab_ray rays[32];
  for (int i = 0; i < 32; i++) {
    float values[8] = {0, 0, -4, 0, 0, 0, 1, 9};
    memcpy(&values[i % 8], &nans[i / 8], sizeof(float));
    memcpy(&rays[i], values, sizeof values);
  }
  check_invalid(scene, rays, 32);
  slab_scene_destroy(scene);
}

static void infinite_origin_or_direction_is_invalid(void **state) {
  slab_scene *scene = unit_shape_scene(*state);
  slab_ray rays[12];
  for (int i = 0; i < 12; i++) {
    rays[i] = unit_shape_ray(-4, 0, INFINITY);
    (i % 6 < 3 ? rays[i].origin : rays[i].direction)[i % 3] = i < 6 ? INFINITY : -INFINITY;
  }
  check_invalid(scene, rays, 12);
  slab_scene_destroy(scene);
}

static void zero_direction_is_invalid(void **state) {
  slab_scene *scene = unit_shape_scene(*state);
  slab_ray rays[8];
  for (int i = 0; i < 8; i++) {
    rays[i] = unit_shape_ray(0, 0, INFINITY);
    for (int k = 0; k < 3; k++) rays[i].direction[k] = i >> k & 1 ? -0.0f : 0.0f;
  }
  check_invalid(scene, rays, 8);
  slab_scene_destroy(scene);
}

static void origin_beyond_two_to_the_60_is_invalid(void **state) {
  slab_scene *scene = unit_shape_scene(*state);
  slab_ray rays[6], valid[6];
  for (int i = 0; i < 6; i++) {
    const float side = i < 3 ? 1.0f : -1.0f;
    valid[i] = unit_shape_ray(0, 0, 1);
    valid[i].origin[i % 3] = side * 0x1p60f;
    rays[i] = valid[i];
    rays[i].origin[i % 3] = side * nextafterf(0x1p60f, INFINITY);
  }
  check_invalid(scene, rays, 6);
  answers a;
  expect_cast(scene, valid, 6, NULL, &a);
  assert_true(a.invalid[0] == 0);
  answers_free(&a);
  slab_scene_destroy(scene);
}

static void ray_at_the_edge_of_validity_still_hits(void **state) {
  static const slab_box box = {{0x1p59f, -1, -1}, {0x1.8p59f, 1, 1}};
  static const expect_row rows[] = {
      {{{0x1p60f, 0, 0}, 0, {-1, 0, 0}, INFINITY}, {0x1p58f, EXPECT_FACE_1, 0x1p58f, 0x1p59f}},
      {{{0x1p60f, 0, 0}, 0, {-0x1p127f, 0, 0}, INFINITY}, {0x1p-69f, EXPECT_FACE_1, 0x1p-69f, 0x1p-68f}},
  };
  expect_shape(*state, SLAB_BOX, &box, rows, NULL, 0);
}

static void invalid_rays_are_counted_and_misses_are_not(void **state) {
  const slab_ray rays[] = {
      unit_shape_ray(-4, 0, INFINITY), unit_shape_ray(-4, NAN, INFINITY),   unit_shape_ray(-4, 2, 1),
      {{0, 0, 0}, 0, {0, 0, 0}, 1},    {{9, 9, 9}, 0, {1, 1, 1}, INFINITY}, unit_shape_ray(NAN, 5, 1)};
  static const uint32_t ids[] = {0, SLAB_INVALID, SLAB_MISS, SLAB_INVALID, SLAB_MISS, SLAB_INVALID};
  slab_scene *scene = expect_scene(*state, SLAB_BOX, unit_shapes[UNIT_SHAPE_BOX].shape, 1);
  answers a;
  expect_cast(scene, rays, 6, NULL, &a);
  assert_true(a.invalid[0] == 3);
  for (int i = 0; i < 6; i++) assert_true(a.closest[i].geometry == ids[i] && a.interval[i].geometry == ids[i]);
  uint64_t invalid = 77; /* written, not added to */
  float t[6];
  assert_ok(slab_distance(scene, rays, 6, t, &(slab_cast_options){.invalid = &invalid}));
  assert_true(invalid == 3);
  answers_free(&a);
  slab_scene_destroy(scene);
}

static void empty_scene_is_missed_and_invalid_rays_stay_invalid(void **state) {
  const slab_ray rays[] = {unit_shape_ray(-4, 0, INFINITY), unit_shape_ray(-4, NAN, INFINITY)};
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(*state, &scene));
  assert_ok(slab_scene_commit(scene, NULL));
  answers a;
  expect_cast(scene, rays, 2, NULL, &a);
  assert_true(a.closest[0].primitive == SLAB_MISS && a.closest[1].primitive == SLAB_INVALID && a.invalid[0] == 1);
  answers_free(&a);
  slab_scene_destroy(scene);
}

/* ---- ranges ---- */

static void range_ends_belong_to_the_range(void **state) {
  for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++) {
    const float out = s->solid ? 5 : 3;
    const float above = nextafterf(3, 9);
    unit_shape_check(state, s, unit_shape_ray(-4, 0, INFINITY), unit_shape_near(s, 3, 3, out));
    unit_shape_check(state, s, unit_shape_ray(-4, 3, 3), unit_shape_near(s, 3, 3, 3));
    unit_shape_check(state, s, unit_shape_ray(-4, 0, nextafterf(3, 0)), (expect_want)EXPECT_MISS);
    unit_shape_check(state, s, unit_shape_ray(-4, nextafterf(out, 9), INFINITY), (expect_want)EXPECT_MISS);
    if (!s->solid) continue;
    unit_shape_check(state, s, unit_shape_ray(-4, above, INFINITY), unit_shape_far(s, 5, above, 5));
    unit_shape_check(state, s, unit_shape_ray(-4, 5, 5), unit_shape_far(s, 5, 5, 5));
    unit_shape_check(state, s, unit_shape_ray(-4, 5, INFINITY), unit_shape_far(s, 5, 5, 5));
    unit_shape_check(state, s, unit_shape_ray(-4, 3.5f, 4.5f), unit_shape_inside(3.5f, 4.5f));
  }
}

static void reversed_range_is_a_plain_miss(void **state) {
  for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++) {
    unit_shape_check(state, s, unit_shape_ray(-4, 5, 3), (expect_want)EXPECT_MISS);
    unit_shape_check(state, s, unit_shape_ray(-4, INFINITY, -INFINITY), (expect_want)EXPECT_MISS);
    unit_shape_check(state, s, unit_shape_ray(0, 0x1p-100f, 0), (expect_want)EXPECT_MISS);
    unit_shape_check(state, s, unit_shape_ray(0, 0, -1), (expect_want)EXPECT_MISS);
  }
}

static void whole_line_is_hit_behind_its_origin(void **state) {
  for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++) {
    unit_shape_check(state, s, unit_shape_ray(4, -INFINITY, INFINITY), unit_shape_near(s, -5, -5, s->solid ? -3 : -5));
    unit_shape_check(state, s, unit_shape_ray(0, -INFINITY, INFINITY), unit_shape_near(s, -1, -1, s->solid ? 1 : -1));
    unit_shape_check(state, s, unit_shape_ray(4, -INFINITY, 0), unit_shape_near(s, -5, -5, s->solid ? -3 : -5));
    unit_shape_check(state, s, unit_shape_ray(4, 0, INFINITY), (expect_want)EXPECT_MISS);
  }
}

static void nothing_is_hit_at_infinity(void **state) {
  for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++) {
    unit_shape_check(state, s, unit_shape_ray(-4, INFINITY, INFINITY), (expect_want)EXPECT_MISS);
    unit_shape_check(state, s, unit_shape_ray(-4, -INFINITY, -INFINITY), (expect_want)EXPECT_MISS);
  }
}

static void ray_from_inside_a_solid_exits_and_its_interval_begins_at_t_min(void **state) {
  for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++) {
    if (!s->solid) continue;
    unit_shape_check(state, s, unit_shape_ray(0, 0, INFINITY), unit_shape_far(s, 1, 0, 1));
    unit_shape_check(state, s, unit_shape_ray(0, -0.5f, INFINITY), unit_shape_far(s, 1, -0.5f, 1));
    unit_shape_check(state, s, unit_shape_ray(-4, 4, INFINITY), unit_shape_far(s, 5, 4, 5));
  }
}

static void segment_inside_a_solid_has_an_interval_and_no_hit(void **state) {
  static const float a[3] = {0, 0, -0.5f}, b[3] = {0, 0, 0.5f};
  for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++)
    if (s->solid) unit_shape_check(state, s, slab_segment(a, b), unit_shape_inside(0, 1));
}

/* t is the fraction of the segment. Lengths are powers of two, so nothing is rounded. */
static void segment_ending_on_a_surface_hits_it(void **state) {
  static const float a[3] = {0, 0, -5}, b[3] = {0, 0, -1}, c[3] = {0, 0, 3}, d[3] = {0, 0, -1.0625f};
  for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++) {
    expect_want want = unit_shape_near(s, 3, 3, 9); /* front side */
    want.t = want.enter = want.leave = 1;
    unit_shape_check(state, s, slab_segment(a, b), want);
    want.t = want.enter = 0.5f;
    want.leave = s->solid ? 0.75f : 0.5f;
    unit_shape_check(state, s, slab_segment(a, c), want);
    want.t = want.enter = 0; /* starts on it */
    want.leave = s->solid ? 0.5f : 0;
    unit_shape_check(state, s, slab_segment(b, c), want);
    unit_shape_check(state, s, slab_segment(a, d), (expect_want)EXPECT_MISS); /* ends before it */
  }
}

static void length_of_the_direction_divides_t(void **state) {
  static const int exponents[] = {-125, -60, -3, 3, 60, 120, 127};
  for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++)
    for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++) {
      const float d = ldexpf(1, exponents[i]), t = ldexpf(3, -exponents[i]);
      const float out = s->solid ? ldexpf(5, -exponents[i]) : t;
      expect_want want = unit_shape_near(s, 3, 3, 9);
      want.t = want.enter = t;
      want.leave = out;
      unit_shape_check(state, s, (slab_ray){{0, 0, -4}, 0, {0, 0, d}, INFINITY}, want);
      want.leave = t;
      unit_shape_check(state, s, (slab_ray){{0, 0, -4}, t, {0, 0, d}, t}, want);
      unit_shape_check(state, s, (slab_ray){{0, 0, -4}, 0, {0, 0, d}, nextafterf(t, 0)}, (expect_want)EXPECT_MISS);
    }
}

/* 3 * 2^140 is larger than every float, and so is 3 * 2^127. */
static void hit_whose_t_is_not_finite_is_a_miss(void **state) {
  for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++) {
    unit_shape_check(state, s, (slab_ray){{0, 0, -4}, 0, {0, 0, 0x1p-140f}, INFINITY}, (expect_want)EXPECT_MISS);
    unit_shape_check(state, s, (slab_ray){{0, 0, -4}, 0, {0, 0, 0x1p-127f}, INFINITY}, (expect_want)EXPECT_MISS);
    unit_shape_check(state, s, (slab_ray){{0, 0, 4}, -INFINITY, {0, 0, 0x1p-127f}, INFINITY}, (expect_want)EXPECT_MISS);
  }
}

/* t_min = 2^-10 is 2^-150 in lengths of the scaled direction, and rounds to 0 there. The surface at t = 0 must still
 * be outside the range. Solids end at t = 2^141, which is no float. */
static void range_end_that_underflows_still_excludes_zero(void **state) {
  for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++) {
    const slab_ray ray = {{0, 0, -1}, 0x1p-10f, {0, 0, 0x1p-140f}, INFINITY};
    unit_shape_check(state, s, ray, s->solid ? unit_shape_inside(0x1p-10f, INFINITY) : (expect_want)EXPECT_MISS);
    const slab_ray before = {{0, 0, -1}, -INFINITY, {0, 0, 0x1p-140f}, -0x1p-10f};
    unit_shape_check(state, s, before, (expect_want)EXPECT_MISS);
  }
}

/* The scaled direction is (~0, ~0, 1), with components that are subnormal or zeros of either sign. All are the same
 * ray. */
static void zeros_of_either_sign_and_subnormals_give_the_same_bits(void **state) {
  static const float zeros[] = {0.0f, -0.0f, 0x1p-149f, -0x1p-149f, 0x1.cp-127f, -0x1.cp-127f};
  slab_ray rays[36];
  for (int i = 0; i < 36; i++) {
    rays[i] = unit_shape_ray(-4, 0, INFINITY);
    rays[i].direction[0] = zeros[i % 6];
    rays[i].direction[1] = zeros[i / 6];
    rays[i].origin[0] = i % 5 == 0 ? -0.0f : 0.0f;
  }
  for (const unit_shape *s = unit_shapes; s < unit_shapes + UNIT_SHAPES; s++) {
    slab_scene *scene = expect_scene(*state, s->kind, s->shape, 1);
    answers a;
    expect_cast(scene, rays, 36, NULL, &a);
    assert_true(a.closest[0].t == 3);
    for (int i = 1; i < 36; i++) assert_same_bits(&a.closest[i], &a.closest[0], 1, sizeof(slab_hit));
    for (int i = 1; i < 36; i++) assert_same_bits(&a.interval[i], &a.interval[0], 1, sizeof(slab_interval));
    answers_free(&a);
    slab_scene_destroy(scene);
  }
}

/* expect_cast rejects -0: rays that start on the surface, t_min and t_max of -0, flipped normals. */
static void minus_zero_never_appears(void **state) {
  const slab_ray rays[] = {unit_shape_ray(-1, -0.0f, INFINITY),
                           unit_shape_ray(-1, -1, -0.0f),
                           unit_shape_ray(1, 0, INFINITY),
                           {{-0.0f, -0.0f, -1}, -0.0f, {-0.0f, -0.0f, -1}, INFINITY},
                           {{0, 0, 1}, -INFINITY, {-0.0f, -0.0f, -1}, -0.0f},
                           {{0, 0, 0}, -0.0f, {0, 0, -1}, 0},
                           {{0, 0, 0}, -0.5f, {0, 0, -1}, -0.0f}};
  static const slab_cast_options forward = {.face_forward = 1};
  slab_scene *scene = unit_shape_scene(*state);
  for (int k = 0; k < 2; k++) {
    answers a;
    expect_cast(scene, rays, 7, k ? &forward : NULL, &a);
    for (int i = 0; i < 5; i++) assert_true(a.any[i] == 1);
    answers_free(&a);
  }
  slab_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nan_anywhere_is_invalid),
      cmocka_unit_test(infinite_origin_or_direction_is_invalid),
      cmocka_unit_test(zero_direction_is_invalid),
      cmocka_unit_test(origin_beyond_two_to_the_60_is_invalid),
      cmocka_unit_test(ray_at_the_edge_of_validity_still_hits),
      cmocka_unit_test(invalid_rays_are_counted_and_misses_are_not),
      cmocka_unit_test(empty_scene_is_missed_and_invalid_rays_stay_invalid),
      cmocka_unit_test(range_ends_belong_to_the_range),
      cmocka_unit_test(reversed_range_is_a_plain_miss),
      cmocka_unit_test(whole_line_is_hit_behind_its_origin),
      cmocka_unit_test(nothing_is_hit_at_infinity),
      cmocka_unit_test(ray_from_inside_a_solid_exits_and_its_interval_begins_at_t_min),
      cmocka_unit_test(segment_inside_a_solid_has_an_interval_and_no_hit),
      cmocka_unit_test(segment_ending_on_a_surface_hits_it),
      cmocka_unit_test(length_of_the_direction_divides_t),
      cmocka_unit_test(hit_whose_t_is_not_finite_is_a_miss),
      cmocka_unit_test(range_end_that_underflows_still_excludes_zero),
      cmocka_unit_test(zeros_of_either_sign_and_subnormals_give_the_same_bits),
      cmocka_unit_test(minus_zero_never_appears),
  };
  return cmocka_run_group_tests(tests, expect_setup, expect_teardown);
}
