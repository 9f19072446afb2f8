/* Boxes with unusual bounds: degenerate, inverted, infinite, of lower dimension, tiny and far away. */
#include <float.h>
#include <math.h>

#include "expect.h"

static const float H[3] = {1, 2, 4};
static const slab_box B = {{-1, -2, -4}, {1, 2, 4}};

#define CHECK(box, rows) expect_shape(*state, SLAB_BOX, (box), (rows), NULL, 0)

static void flat_box_is_hit_through_and_in_its_own_plane(void **state) {
  static const slab_box flat = {{1, -2, -4}, {1, 2, 4}};
  static const expect_row rows[] = {
      {{{-1, 0, 0}, 0, {1, 0, 0}, INFINITY}, {2, EXPECT_FACE_0, 2, 2}},
      {{{3, 1, 1}, 0, {-1, 0, 0}, INFINITY}, {2, EXPECT_FACE_1, 2, 2}},
      {{{1, 1, 1}, 0, {-1, 0, 0}, INFINITY}, {0, EXPECT_FACE_1, 0, 0}},
      {{{1, -5, 0}, 0, {0, 1, 0}, INFINITY}, {3, EXPECT_FACE_2, 3, 7}},
      {{{1, -5, 4}, 0, {-0.0f, 1, -0.0f}, INFINITY}, {3, EXPECT_FACE_2, 3, 7}},
      {{{1, 0, 0}, 0, {0, 1, 0}, INFINITY}, {2, EXPECT_FACE_3, 0, 2}},
      {{{1, -3, 0}, 0, {0, 1, 1}, INFINITY}, {1, EXPECT_FACE_2, 1, 4}},
      {{{0x1.000002p0f, -5, 0}, 0, {0, 1, 0}, INFINITY}, EXPECT_MISS},
      {{{-1, 0, 0}, 0, {1, 1, 0}, INFINITY}, {2, EXPECT_FACE_0, 2, 2}}, /* through the edge y = 2 */
      {{{-1, 1, 0}, 0, {1, 1, 0}, INFINITY}, EXPECT_MISS},
  };
  CHECK(&flat, rows);
}

static void point_and_line_boxes_are_hit(void **state) {
  static const slab_box point = {{1, 2, 3}, {1, 2, 3}}, line = {{1, 2, -4}, {1, 2, 4}};
  static const expect_row through_point[] = {
      {{{0, 1, 2}, 0, {1, 1, 1}, INFINITY}, {1, EXPECT_FACE_0, 1, 1}},
      {{{1, 2, 0}, 0, {0, -0.0f, 1}, INFINITY}, {3, EXPECT_FACE_4, 3, 3}},
      {{{1, 2, 3}, 0, {0, 0, 1}, INFINITY}, {0, EXPECT_FACE_4, 0, 0}},
      {{{1, 2, 3}, 0, {-1, 1, 1}, INFINITY}, {0, EXPECT_FACE_1, 0, 0}},
      {{{1, 2, 0}, 0, {0x1p-10f, 0, 1}, INFINITY}, EXPECT_MISS},
  };
  static const expect_row through_line[] = {
      {{{1, 2, -9}, 0, {0, 0, 1}, INFINITY}, {5, EXPECT_FACE_4, 5, 13}},
      {{{0, 1, 0}, 0, {1, 1, 0}, INFINITY}, {1, EXPECT_FACE_0, 1, 1}},
      {{{0, 1, 0}, 0, {1, 1, 4}, INFINITY}, {1, EXPECT_FACE_0, 1, 1}},
      {{{0, 1, 0}, 0, {1, 1, 8}, INFINITY}, EXPECT_MISS},
  };
  CHECK(&point, through_point);
  CHECK(&line, through_line);
}

/* Rays that would hit the box if it were not inverted: from outside, from inside, and along an axis as a whole line. */
static void check_never_hit(void **state, const slab_box *box) {
  static const expect_row rows[] = {
      {{{-8, 0, 0}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{0, 0, 0}, 0, {0, 0, -1}, INFINITY}, EXPECT_MISS},
      {{{0, 0, 0}, -INFINITY, {0, 1, 0}, INFINITY}, EXPECT_MISS},
      {{{0, 0, 0}, -INFINITY, {-1, 2, 4}, INFINITY}, EXPECT_MISS},
      {{{1, 2, 4}, -INFINITY, {-1, -2, -4}, INFINITY}, EXPECT_MISS},
      {{{8, 0, 0}, -INFINITY, {-1, 0, 0}, INFINITY}, EXPECT_MISS},
  };
  CHECK(box, rows);
}

static void inverted_box_is_never_hit(void **state) {
  for (int i = 0; i < 3; i++) {
    slab_box box = B;
    box.lower[i] = H[i];
    box.upper[i] = nextafterf(H[i], 0); /* inverted by the smallest step */
    check_never_hit(state, &box);
    box.lower[i] = INFINITY;
    box.upper[i] = -INFINITY;
    check_never_hit(state, &box);
    box.lower[i] = 1;
    box.upper[i] = -1;
    check_never_hit(state, &box);
  }
}

static void box_with_a_nan_is_never_hit(void **state) {
  for (int i = 0; i < 6; i++) {
    slab_box box = B;
    (i < 3 ? box.lower : box.upper)[i % 3] = NAN;
    check_never_hit(state, &box);
  }
  static const slab_box nothing = {{NAN, NAN, NAN}, {NAN, NAN, NAN}};
  check_never_hit(state, &nothing);
}

static void box_at_infinity_is_never_hit(void **state) {
  for (int i = 0; i < 6; i++) {
    slab_box box = B;
    box.lower[i % 3] = box.upper[i % 3] = i < 3 ? INFINITY : -INFINITY;
    check_never_hit(state, &box);
  }
}

static void half_space_has_one_surface_and_endless_inside(void **state) {
  static const slab_box half = {{-INFINITY, -INFINITY, -INFINITY}, {1, INFINITY, INFINITY}};
  static const expect_row rows[] = {
      {{{3, 0, 0}, 0, {-1, 0, 0}, INFINITY}, {2, EXPECT_FACE_1, 2, INFINITY}},
      {{{3, 7, -9}, 0, {-1, 1, 0}, INFINITY}, {2, EXPECT_FACE_1, 2, INFINITY}},
      {{{-3, 0, 0}, 0, {1, 0, 0}, INFINITY}, {4, EXPECT_FACE_1, 0, 4}},
      {{{-3, 0, 0}, -INFINITY, {1, 0, 0}, INFINITY}, {4, EXPECT_FACE_1, -INFINITY, 4}},
      {{{3, 0, 0}, -INFINITY, {-1, 0, 0}, INFINITY}, {2, EXPECT_FACE_1, 2, INFINITY}},
      {{{0, 0, 0}, 0, {-1, 0, 0}, INFINITY}, {EXPECT_NO_SURFACE, 0, INFINITY}}, /* nothing is hit at infinity */
      {{{0, 0, 0}, 0, {-1, 0, 0}, 10}, {EXPECT_NO_SURFACE, 0, 10}},
      {{{0, 0, 0}, 0, {0, 1, 0}, INFINITY}, {EXPECT_NO_SURFACE, 0, INFINITY}},
      {{{1, 0, 0}, 0, {0, 1, 0}, INFINITY}, {EXPECT_NO_SURFACE, 0, INFINITY}}, /* along the surface */
      {{{1, 0, 0}, 0, {-0.0f, 0, 1}, INFINITY}, {EXPECT_NO_SURFACE, 0, INFINITY}},
      {{{1, 0, 0}, 0, {-1, 0, 0}, INFINITY}, {0, EXPECT_FACE_1, 0, INFINITY}},
      {{{3, 0, 0}, 0, {0, 1, 0}, INFINITY}, EXPECT_MISS},
      {{{3, 0, 0}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
  };
  CHECK(&half, rows);
}

static void box_infinite_all_round_has_no_surface(void **state) {
  static const slab_box all = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
  static const expect_row rows[] = {
      {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, {EXPECT_NO_SURFACE, 0, INFINITY}},
      {{{5, -7, 0x1p60f}, -INFINITY, {1, -1, 0.5f}, INFINITY}, {EXPECT_NO_SURFACE, -INFINITY, INFINITY}},
      {{{0, 0, 0}, -2, {0x1p-140f, 0, 0}, 3}, {EXPECT_NO_SURFACE, -2, 3}},
      {{{0, 0, 0}, 2, {0x1p120f, 0, 0}, 2}, {EXPECT_NO_SURFACE, 2, 2}},
      {{{0, 0, 0}, 3, {1, 0, 0}, 2}, EXPECT_MISS},
  };
  CHECK(&all, rows);
}

static void rectangle_in_2d_is_a_box_without_z(void **state) {
  const float lower[2] = {-1, -2}, upper[2] = {1, 2};
  const slab_box box = slab_box_2d(lower, upper);
  assert_true(box.lower[2] == -INFINITY && box.upper[2] == INFINITY);
  const struct {
    float o[2], d[2];
    expect_want want;
  } flat[] = {{{-3, 0}, {1, 0}, {2, EXPECT_FACE_0, 2, 4}},    {{3, 0}, {-1, 0}, {2, EXPECT_FACE_1, 2, 4}},
              {{0, -3}, {0, 1}, {1, EXPECT_FACE_2, 1, 5}},    {{0, 3}, {0, -1}, {1, EXPECT_FACE_3, 1, 5}},
              {{-2, 1}, {1, 1}, {1, EXPECT_FACE_0, 1, 1}},    {{-2, 1.5f}, {1, 1}, EXPECT_MISS},
              {{1, -5}, {0, 1}, {3, EXPECT_FACE_2, 3, 7}},    {{0, 0}, {-1, -1}, {1, EXPECT_FACE_0, 0, 1}},
              {{-3, -4}, {1, 1}, {2, EXPECT_FACE_0, 2, 4}},   {{1, 2}, {1, 0}, {0, EXPECT_FACE_1, 0, 0}},
              {{-3, 2}, {1, -0.0f}, {2, EXPECT_FACE_0, 2, 4}}};
  expect_row rows[sizeof flat / sizeof *flat];
  for (size_t i = 0; i < sizeof flat / sizeof *flat; i++)
    rows[i] = (expect_row){slab_ray_2d(flat[i].o, flat[i].d, 0, INFINITY), flat[i].want};
  CHECK(&box, rows);
}

static void interval_in_1d_is_a_box_without_y_and_z(void **state) {
  static const slab_box box = {{2, -INFINITY, -INFINITY}, {5, INFINITY, INFINITY}};
  static const expect_row rows[] = {
      {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, {2, EXPECT_FACE_0, 2, 5}},
      {{{9, 0, 0}, 0, {-1, 0, 0}, INFINITY}, {4, EXPECT_FACE_1, 4, 7}},
      {{{3, 0, 0}, 0, {-1, 0, 0}, INFINITY}, {1, EXPECT_FACE_0, 0, 1}},
      {{{5, 0, 0}, 0, {1, 0, 0}, INFINITY}, {0, EXPECT_FACE_1, 0, 0}},
      {{{6, 0, 0}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{0, 0, 0}, 0, {4, 0, 0}, 1}, {0.5f, EXPECT_FACE_0, 0.5f, 1}},
  };
  CHECK(&box, rows);
}

static void crossing_at_a_t_beyond_all_floats_is_a_miss(void **state) {
  static const slab_box widest = {{-FLT_MAX, -1, -1}, {FLT_MAX, 1, 1}};
  static const expect_row rows[] = {
      {{{0, 0, 0}, 0, {1, 0, 0}, FLT_MAX}, {FLT_MAX, EXPECT_FACE_1, 0, FLT_MAX}},
      {{{0, 0, 0}, 0, {2, 0, 0}, 0.5f * FLT_MAX}, {0.5f * FLT_MAX, EXPECT_FACE_1, 0, 0.5f * FLT_MAX}},
      {{{0, 0, 0}, 0, {0.5f, 0, 0}, INFINITY}, {EXPECT_NO_SURFACE, 0, INFINITY}},
      {{{0, 0, 0}, 0, {0, 0.5f, 0}, INFINITY}, {2, EXPECT_FACE_3, 0, 2}},
  };
  static const slab_box distant = {{0x1p100f, -1, -1}, {0x1p101f, 1, 1}};
  static const expect_row towards[] = {
      {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, {0x1p100f, EXPECT_FACE_0, 0x1p100f, 0x1p101f}},
      {{{0, 0, 0}, 0, {0x1p-27f, 0, 0}, INFINITY}, {0x1p127f, EXPECT_FACE_0, 0x1p127f, INFINITY}},
      {{{0, 0, 0}, 0, {0x1p-28f, 0, 0}, INFINITY}, EXPECT_MISS},
  };
  CHECK(&widest, rows);
  CHECK(&distant, towards);
}

static void tiny_boxes_are_boxes(void **state) {
  static const slab_box tiny = {{0x1p-121f, 0, 0}, {0x1p-120f, 0x1p-120f, 0x1p-120f}};
  static const expect_row rows[] = {
      {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, {0x1p-121f, EXPECT_FACE_0, 0x1p-121f, 0x1p-120f}},
      {{{0, 0, 0}, 0, {2, 1, 0}, INFINITY}, {0x1p-122f, EXPECT_FACE_0, 0x1p-122f, 0x1p-121f}},
      {{{0, 0x1p-119f, 0}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{1, 0, 0}, 0, {-1, 0, 0}, INFINITY}, {1, EXPECT_FACE_1, 1, 1}},
  };
  CHECK(&tiny, rows);
  slab_device_info device;
  assert_ok(slab_context_device(*state, &device));
  if (!device.denormals) return; /* guaranteed only if the device keeps subnormals */
  static const slab_box subnormal = {{0x1p-140f, 0, 0}, {0x1p-139f, 1, 1}};
  static const expect_row below[] = {
      {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, {0x1p-140f, EXPECT_FACE_0, 0x1p-140f, 0x1p-139f}},
      {{{0, 0, 0}, 0, {0x1p-60f, 0, 0}, INFINITY}, {0x1p-80f, EXPECT_FACE_0, 0x1p-80f, 0x1p-79f}},
  };
  CHECK(&subnormal, below);
}

static void box_far_from_the_origin_is_exact_on_a_lattice(void **state) {
  static const slab_box far = {{148376, 1234, -223424}, {148377, 1235, -223423}};
  static const expect_row rows[] = {
      {{{148368, 1234.5f, -223423.5f}, 0, {1, 0, 0}, INFINITY}, {8, EXPECT_FACE_0, 8, 9}},
      {{{148374, 1232, -223426}, 0, {1, 1, 1}, INFINITY}, {2, EXPECT_FACE_0, 2, 3}},
      {{{148379, 1234, -223424}, 0, {-1, 0, 0}, INFINITY}, {2, EXPECT_FACE_1, 2, 3}},
      {{{148374, 1235, -223426}, 0, {1, 1, 1}, INFINITY}, EXPECT_MISS},
  };
  CHECK(&far, rows);
}

/* Two boxes that share a face. A ray in the shared plane hits both. A ray through it crosses the exit of the first
 * box there. */
static void shared_face_belongs_to_both_boxes(void **state) {
  static const slab_box pair[] = {{{0, 0, 0}, {1, 1, 1}}, {{1, 0, 0}, {2, 1, 1}}};
  static const slab_ray rays[] = {{{1, -1, 0.5f}, 0, {0, 1, 0}, INFINITY},
                                  {{-1, 0.5f, 0.5f}, 0, {1, 0, 0}, INFINITY},
                                  {{1, 0.5f, 0.5f}, 0, {1, 0, 0}, INFINITY}};
  slab_scene *scene = expect_scene(*state, SLAB_BOX, pair, 2);
  answers a;
  expect_cast(scene, rays, 3, NULL, &a);
  for (int i = 0; i < 3; i++) assert_int_equal(a.count[i], 2);
  assert_true(a.all[0].primitive == 0 && a.all[1].primitive == 1 && a.all[0].t == 1 && a.all[1].t == 1);
  assert_true(a.all[2].t == 1 && a.all[3].t == 2 && a.all[3].u == 0);
  /* from the shared plane: the ray leaves the left box at t = 0 (+x) and enters the right one at t = 0 (-x) */
  assert_true(a.all[4].t == 0 && a.all[4].u == 1 && a.all[5].t == 0 && a.all[5].u == 0);
  answers_free(&a);
  slab_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flat_box_is_hit_through_and_in_its_own_plane),
      cmocka_unit_test(point_and_line_boxes_are_hit),
      cmocka_unit_test(inverted_box_is_never_hit),
      cmocka_unit_test(box_with_a_nan_is_never_hit),
      cmocka_unit_test(box_at_infinity_is_never_hit),
      cmocka_unit_test(half_space_has_one_surface_and_endless_inside),
      cmocka_unit_test(box_infinite_all_round_has_no_surface),
      cmocka_unit_test(rectangle_in_2d_is_a_box_without_z),
      cmocka_unit_test(interval_in_1d_is_a_box_without_y_and_z),
      cmocka_unit_test(crossing_at_a_t_beyond_all_floats_is_a_miss),
      cmocka_unit_test(tiny_boxes_are_boxes),
      cmocka_unit_test(box_far_from_the_origin_is_exact_on_a_lattice),
      cmocka_unit_test(shared_face_belongs_to_both_boxes),
  };
  return cmocka_run_group_tests(tests, expect_setup, expect_teardown);
}
