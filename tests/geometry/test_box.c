/* Boxes: the slab test, case by case. B extends from -H to H. All numbers below are exact in float. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "expect.h"

static const float H[3] = {1, 2, 4};
static const slab_box B = {{-1, -2, -4}, {1, 2, 4}};

#define CHECK(box, rows) expect_shape(*state, SLAB_BOX, (box), (rows), NULL, 0)
#define CHECK_ONE(box, row) expect_ray(*state, SLAB_BOX, (box), &(row), NULL, 0)

static unsigned face_of(int axis, float side) { return 2 * (unsigned)axis + (side > 0 ? 1 : 0); }

static void face_is_entered_from_outside(void **state) {
  for (int face = 0; face < 6; face++) {
    const int axis = face / 2;
    const float side = face % 2 ? 1.0f : -1.0f;
    expect_row row = {{{0}, 0, {0}, INFINITY}, expect_face(8 - H[axis], (unsigned)face, 8 - H[axis], 8 + H[axis])};
    row.ray.origin[axis] = side * 8;
    row.ray.direction[axis] = -side;
    CHECK_ONE(&B, row);
  }
}

static void ray_from_inside_reports_its_exit(void **state) {
  for (int face = 0; face < 6; face++) {
    const int axis = face / 2;
    const float side = face % 2 ? 1.0f : -1.0f;
    expect_row row = {{{0.5f, 0.5f, 0.5f}, 0, {0}, INFINITY}, EXPECT_MISS};
    const float t = H[axis] - side * 0.5f;
    row.ray.direction[axis] = side;
    row.want = expect_face(t, (unsigned)face, 0, t);
    CHECK_ONE(&B, row);
  }
}

static void box_behind_the_ray_is_missed(void **state) {
  static const expect_row rows[] = {
      {{{8, 0, 0}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{-8, 0, 0}, 0, {-1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{0, -8, 3}, 0, {0, -1, 0}, INFINITY}, EXPECT_MISS},
      {{{8, 8, 8}, 0, {1, 1, 1}, INFINITY}, EXPECT_MISS},
  };
  CHECK(&B, rows);
}

static void ray_beside_the_box_misses(void **state) {
  static const expect_row rows[] = {
      {{{-8, 3, 0}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{-8, 0, -5}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      /* crosses x = -1 at y = 3 after it has left y's slab: enter 7, leave 6 */
      {{{-8, -4, 0}, 0, {1, 1, 0}, INFINITY}, EXPECT_MISS},
      /* the error of a dropped offset: o = (-10,-5), d = (1,1) crosses x = -1 at y = 4 */
      {{{-10, -5, 0}, 0, {1, 1, 0}, INFINITY}, EXPECT_MISS},
  };
  CHECK(&B, rows);
}

/* Starting on a face. Inward: lo = 0 is in the range. Outward: lo = -2h is not, so the exit at t = 0 counts. */
static void ray_starting_on_a_face_touches_it(void **state) {
  for (int face = 0; face < 6; face++) {
    const int axis = face / 2;
    const float side = face % 2 ? 1.0f : -1.0f;
    expect_row row = {{{0}, 0, {0}, INFINITY}, expect_face(0, (unsigned)face, 0, 2 * H[axis])};
    row.ray.origin[axis] = side * H[axis];
    row.ray.direction[axis] = -side;
    CHECK_ONE(&B, row);
    row.ray.direction[axis] = side;
    row.want = expect_face(0, (unsigned)face, 0, 0);
    CHECK_ONE(&B, row);
  }
}

/* The direction is zero along `axis`, and the origin lies on a plane of that axis. 0 * inf must constrain nothing,
 * whatever the sign of the zero. A zero is +0, -0 or any number that is subnormal after the direction is scaled. */
static void ray_in_a_face_plane_is_not_lost_to_zero_times_infinity(void **state) {
  static const float zeros[] = {0.0f, -0.0f, 0x1p-149f, -0x1p-149f, 0x1.8p-127f, -0x1.8p-127f};
  for (int plane = 0; plane < 6; plane++)
    for (int other = 0; other < 3; other++)
      for (int zero = 0; zero < 36; zero++) {
        const int axis = plane / 2, third = 3 - axis - other;
        if (other == axis) continue;
        expect_row row = {{{0}, 0, {0}, INFINITY},
                          expect_face(8 - H[other], face_of(other, -1), 8 - H[other], 8 + H[other])};
        row.ray.origin[axis] = plane % 2 ? H[axis] : -H[axis];
        row.ray.origin[other] = -8;
        row.ray.direction[axis] = zeros[zero % 6];
        row.ray.direction[third] = zeros[zero / 6];
        row.ray.direction[other] = 1;
        if (zero % 7 == 0) row.ray.origin[third] = H[third]; /* along an edge */
        CHECK_ONE(&B, row);
      }
}

static void ray_one_step_outside_a_face_plane_misses(void **state) {
  for (int plane = 0; plane < 6; plane++) {
    const int axis = plane / 2, other = (axis + 1) % 3;
    const float side = plane % 2 ? 1.0f : -1.0f;
    expect_row row = {{{0}, 0, {0}, INFINITY}, EXPECT_MISS};
    row.ray.origin[axis] = nextafterf(side * H[axis], side * INFINITY);
    row.ray.origin[other] = -8;
    row.ray.direction[other] = 1;
    row.ray.direction[axis] = -0.0f;
    CHECK_ONE(&B, row);
    row.ray.direction[axis] = -side * 0x1p-149f; /* towards the box, but a subnormal counts as zero */
    CHECK_ONE(&B, row);
  }
}

static void ray_starting_inside_a_face_plane_exits_at_its_end(void **state) {
  static const expect_row rows[] = {
      {{{1, 0, 0}, 0, {0, 1, 0}, INFINITY}, {2, EXPECT_FACE_3, 0, 2}},
      {{{-1, 1, 0}, 0, {0, -1, -0.0f}, INFINITY}, {3, EXPECT_FACE_2, 0, 3}},
      {{{1, 2, 0}, 0, {0, 0, 1}, INFINITY}, {4, EXPECT_FACE_5, 0, 4}},
      /* at the corner, along an edge: inward (t = 0, the face that is entered) and outward (t = 0, the face that is
       * left) */
      {{{1, 2, 4}, 0, {-1, 0, 0}, INFINITY}, {0, EXPECT_FACE_1, 0, 2}},
      {{{1, 2, 4}, 0, {1, -0.0f, 0}, INFINITY}, {0, EXPECT_FACE_1, 0, 0}},
      {{{1, 2, 4}, 0, {1, 1, 1}, INFINITY}, {0, EXPECT_FACE_1, 0, 0}},
      {{{1, 2, 4}, 0, {-1, -1, -1}, INFINITY}, {0, EXPECT_FACE_1, 0, 2}},
      /* outward in the corner's y and z, inward in its x: touches at the origin alone; lo = 0 by x, hi = 0 by y and
       * z */
      {{{1, 2, 4}, 0, {-1, 1, 1}, INFINITY}, {0, EXPECT_FACE_1, 0, 0}},
      {{{1, 2, 4}, 0, {1, -1, 1}, INFINITY}, {0, EXPECT_FACE_3, 0, 0}},
  };
  CHECK(&B, rows);
}

/* Every edge, touched from outside at t = 2: the ray enters one axis's slab there and leaves the other's. */
static void ray_touching_an_edge_hits(void **state) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int signs = 0; signs < 4 && j != i; signs++) {
        const float si = signs & 1 ? 1.0f : -1.0f, sj = signs & 2 ? 1.0f : -1.0f;
        expect_row row = {{{0}, 0, {0}, INFINITY}, expect_face(2, face_of(j, sj), 2, 2)};
        row.ray.direction[i] = si; /* leaves i's slab */
        row.ray.direction[j] = -sj;
        row.ray.origin[i] = si * H[i] - 2 * si;
        row.ray.origin[j] = sj * H[j] + 2 * sj;
        CHECK_ONE(&B, row);
      }
}

/* Every corner in every octant, reached at t = 2. An axis with an inward direction enters its slab there, the others
 * leave. All inward: the ray continues to the nearest far plane, that of x at 2 + 2 H[0]. All outward: the ray ends
 * there. Mixed: the ray touches the corner. */
static void ray_through_a_corner_hits(void **state) {
  for (int corner = 0; corner < 8; corner++)
    for (int octant = 0; octant < 8; octant++) {
      expect_row row = {{{0}, 0, {0}, INFINITY}, EXPECT_MISS};
      int entered = -1;
      for (int i = 2; i >= 0; i--) {
        const float side = corner >> i & 1 ? 1.0f : -1.0f, d = octant >> i & 1 ? 1.0f : -1.0f;
        row.ray.direction[i] = d;
        row.ray.origin[i] = side * H[i] - 2 * d;
        if (d != side) entered = i;
      }
      const float side = corner & 1 ? 1.0f : -1.0f;
      const int inward = (corner ^ octant) == 7, outward = corner == octant;
      if (!outward)
        row.want = expect_face(2, face_of(entered, corner >> entered & 1 ? 1.0f : -1.0f), 2, inward ? 4 : 2);
      /* outward, the start is corner - 2, on the face x = -side and in the range, so the ray enters there at t = 0 */
      if (outward) row.want = expect_face(0, face_of(0, -side), 0, 2);
      CHECK_ONE(&B, row);
    }
}

/* Enter and leave differ at an edge: leave is 2, widened to 2 + 2^-20, and enter is 2 plus the offset of the ray
 * from the edge. */
static void stretch_is_widened_by_eight_u_and_no_more(void **state) {
  static const slab_box cube = {{-1, -1, -1}, {1, 1, 1}};
  static const expect_row rows[] = {
      {{{-1, 3, 0}, 0, {1, -1, 0}, INFINITY}, {2, EXPECT_FACE_3, 2, 2}},
      {{{-1, 3 + 0x1p-21f, 0}, 0, {1, -1, 0}, INFINITY}, {2 + 0x1p-21f, EXPECT_FACE_3, 2 + 0x1p-21f, 2 + 0x1p-21f}},
      {{{-1, 3 + 0x1p-20f, 0}, 0, {1, -1, 0}, INFINITY}, {2 + 0x1p-20f, EXPECT_FACE_3, 2 + 0x1p-20f, 2 + 0x1p-20f}},
      {{{-1, 3 + 0x3p-21f, 0}, 0, {1, -1, 0}, INFINITY}, EXPECT_MISS},
      {{{-1, 3 + 0x1p-19f, 0}, 0, {1, -1, 0}, INFINITY}, EXPECT_MISS},
      /* behind the origin: leave = -2 widens towards 0, to -2 + 2^-20 */
      {{{3, -1, 0}, -INFINITY, {1, -1, 0}, INFINITY}, {-2, EXPECT_FACE_3, -2, -2}},
      {{{3, -1 + 0x1p-20f, 0}, -INFINITY, {1, -1, 0}, INFINITY},
       {-2 + 0x1p-20f, EXPECT_FACE_3, -2 + 0x1p-20f, -2 + 0x1p-20f}},
      {{{3, -1 + 0x1p-19f, 0}, -INFINITY, {1, -1, 0}, INFINITY}, EXPECT_MISS},
  };
  CHECK(&cube, rows);
}

static void of_planes_met_at_once_the_lowest_axis_gives_the_normal(void **state) {
  static const slab_box cube = {{-1, -1, -1}, {1, 1, 1}};
  static const expect_row rows[] = {
      {{{3, 3, 3}, 0, {-1, -1, -1}, INFINITY}, {2, EXPECT_FACE_1, 2, 4}},
      {{{0, -3, 3}, 0, {0, 1, -1}, INFINITY}, {2, EXPECT_FACE_2, 2, 4}},
      {{{0.25f, -3, 3}, 0, {0, 1, -1}, INFINITY}, {2, EXPECT_FACE_2, 2, 4}},
      {{{0, 0, 0}, 0, {-1, -1, 1}, INFINITY}, {1, EXPECT_FACE_0, 0, 1}},
      {{{0, 0, 0}, 0, {0, 1, 1}, INFINITY}, {1, EXPECT_FACE_3, 0, 1}},
      {{{0.5f, 0, 0}, 0, {-1, -1, -1}, INFINITY}, {1, EXPECT_FACE_2, 0, 1}},
  };
  CHECK(&cube, rows);
}

static void range_is_closed_at_both_ends(void **state) {
  const float above3 = nextafterf(3, 4), below3 = nextafterf(3, 0), above5 = nextafterf(5, 6);
  const slab_box cube = {{-1, -1, -1}, {1, 1, 1}};
  const expect_row rows[] = {
      {{{0, 0, -4}, 3, {0, 0, 1}, 3}, {3, EXPECT_FACE_4, 3, 3}},
      {{{0, 0, -4}, 0, {0, 0, 1}, 3}, {3, EXPECT_FACE_4, 3, 3}},
      {{{0, 0, -4}, 0, {0, 0, 1}, below3}, EXPECT_MISS}, /* t_max is not widened */
      {{{0, 0, -4}, above3, {0, 0, 1}, INFINITY}, {5, EXPECT_FACE_5, above3, 5}},
      {{{0, 0, -4}, 0, {0, 0, 1}, 4}, {3, EXPECT_FACE_4, 3, 4}},
      {{{0, 0, -4}, 5, {0, 0, 1}, 5}, {5, EXPECT_FACE_5, 5, 5}},
      {{{0, 0, -4}, 5, {0, 0, 1}, INFINITY}, {5, EXPECT_FACE_5, 5, 5}},
      {{{0, 0, -4}, above5, {0, 0, 1}, INFINITY},
       EXPECT_MISS}, /* within the widening, but reported values are not widened */
      {{{0, 0, -4}, 3.5f, {0, 0, 1}, 4.5f}, {EXPECT_NO_SURFACE, 3.5f, 4.5f}},
      {{{0, 0, -4}, 3, {0, 0, 1}, above3}, {3, EXPECT_FACE_4, 3, above3}},
      {{{0, 0, 0}, -INFINITY, {0, 0, 1}, INFINITY}, {-1, EXPECT_FACE_4, -1, 1}},
      {{{0, 0, 4}, -INFINITY, {0, 0, 1}, INFINITY}, {-5, EXPECT_FACE_4, -5, -3}},
      {{{0, 0, 4}, -4, {0, 0, 1}, 0}, {-3, EXPECT_FACE_5, -4, -3}},
      {{{0, 0, 4}, 0, {0, 0, 1}, -1}, EXPECT_MISS},
      {{{0, 0, 0}, -0.0f, {0, 0, 1}, 0.5f}, {EXPECT_NO_SURFACE, 0, 0.5f}}, /* +0 instead of -0 */
      {{{0, 0, 0}, -0.5f, {0, 0, 1}, -0.0f}, {EXPECT_NO_SURFACE, -0.5f, 0}},
  };
  CHECK(&cube, rows);
}

/* The direction has length 2^k, and t = 7 / 2^k. From x = -8 to -1, t * 2^k = 7. 7 * 2^126 would be infinite. */
static void tiny_and_huge_directions_scale_t(void **state) {
  static const int exponents[] = {-124, -60, -1, 1, 60, 120, 127};
  for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
    const float d = ldexpf(1, exponents[i]), t = ldexpf(7, -exponents[i]), out = ldexpf(9, -exponents[i]);
    const expect_row rows[] = {
        {{{-8, 0, 0}, 0, {d, 0, 0}, INFINITY}, {t, EXPECT_FACE_0, t, out}},
        {{{-8, 0, 0}, 0, {d, 0, 0}, t}, {t, EXPECT_FACE_0, t, t}},
        {{{-8, 0, 0}, t, {d, 0, 0}, t}, {t, EXPECT_FACE_0, t, t}},
        {{{8, 0, 0}, -INFINITY, {d, 0, 0}, 0}, {-out, EXPECT_FACE_0, -out, -t}},
        {{{-8, 0, 0}, 0, {d, 0, 0}, nextafterf(t, 0)}, EXPECT_MISS},
    };
    CHECK(&B, rows);
  }
}

/* Subnormal only before scaling, so slopes are kept. The box is [0,1]^3. Scaled numbers are multiplied by 2^140. */
static void subnormal_direction_keeps_its_slope(void **state) {
  static const slab_box unit = {{0, 0, 0}, {1, 1, 1}};
  static const expect_row rows[] = {
      {{{-0x1p-20f, 0.5f, 0.5f}, 0, {0x1p-140f, 0, 0}, 0x1p120f}, {0x1p120f, EXPECT_FACE_0, 0x1p120f, 0x1p120f}},
      {{{-0x1p-20f, -0x1p-29f, 0.5f}, 0, {0x1p-140f, 0x1p-149f, 0}, 0x1p121f},
       {0x1p120f, EXPECT_FACE_0, 0x1p120f, 0x1p121f}},
      /* crosses x = 0 at 2^120, y = 0 at 2^121 */
      {{{-0x1p-20f, -0x1p-28f, 0.5f}, 0, {0x1p-140f, 0x1p-149f, 0}, 0x1p122f},
       {0x1p121f, EXPECT_FACE_2, 0x1p121f, 0x1p122f}},
      /* 3 * 2^140 is not finite: nothing is hit there, and the range ends before the box */
      {{{-3, 0.5f, 0.5f}, 0, {0x1p-140f, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{0.5f, 0.5f, 0.5f}, 0, {0x1p-140f, 0, 0}, INFINITY}, {EXPECT_NO_SURFACE, 0, INFINITY}},
  };
  CHECK(&unit, rows);
}

static void culling_drops_crossings_not_boxes(void **state) {
  static const slab_cast_options back = {.cull = SLAB_CULL_BACK}, front = {.cull = SLAB_CULL_FRONT};
  static const expect_row without_front[] = {
      {{{-8, 0, 0}, 0, {1, 0, 0}, INFINITY}, {9, EXPECT_FACE_1, 7, 9}},
      {{{-8, 0, 0}, 0, {1, 0, 0}, 8}, {EXPECT_NO_SURFACE, 7, 8}},
      {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, {1, EXPECT_FACE_1, 0, 1}},
      {{{-2, 1, 0}, 0, {1, 1, 0}, INFINITY}, {1, EXPECT_FACE_3, 1, 1}}, /* touches an edge and leaves through y */
      {{{8, 0, 0}, 0, {1, 0, 0}, INFINITY}, EXPECT_MISS},
  };
  static const expect_row without_back[] = {
      {{{-8, 0, 0}, 0, {1, 0, 0}, INFINITY}, {7, EXPECT_FACE_0, 7, 9}},
      {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, {EXPECT_NO_SURFACE, 0, 1}},
      {{{0, 0, 0}, -INFINITY, {1, 0, 0}, INFINITY}, {-1, EXPECT_FACE_0, -1, 1}},
      {{{-8, 0, 0}, 8, {1, 0, 0}, INFINITY}, {EXPECT_NO_SURFACE, 8, 9}},
      {{{-1, 0, 0}, 0, {1, 0, 0}, INFINITY}, {0, EXPECT_FACE_0, 0, 2}},
  };
  expect_shape(*state, SLAB_BOX, &B, without_front, &front, 0);
  expect_shape(*state, SLAB_BOX, &B, without_back, &back, 0);
}

static void face_forward_turns_the_normal_but_not_the_face(void **state) {
  static const slab_cast_options forward = {.face_forward = 1};
  static const expect_row rows[] = {
      {{{0, 0, 0}, 0, {1, 0, 0}, INFINITY}, {1, {-1, 0, 0}, 1, 0, 0, 1}},
      {{{0, 0, 0}, 0, {0, 0, -1}, INFINITY}, {4, {0, 0, 1}, 4, 0, 0, 4}},
      {{{-8, 0, 0}, 0, {1, 0, 0}, INFINITY}, {7, {-1, 0, 0}, 0, 0, 7, 9}},
  };
  expect_shape(*state, SLAB_BOX, &B, rows, &forward, 0);
}

/* ---- millions of corners -------- */

#define REACH ((1 << 24) - 1) /* integers up to here are exact as floats */

static int integer_below(random_state *r, int limit) { return (int)random_below(r, 2 * (uint32_t)limit + 1) - limit; }

static slab_box integer_box(random_state *r) {
  slab_box box;
  for (int i = 0; i < 3; i++) {
    const int a = integer_below(r, REACH),
              b = random_below(r, 8) ? integer_below(r, REACH) : a; /* some are degenerate */
    box.lower[i] = (float)(a < b ? a : b);
    box.upper[i] = (float)(a < b ? b : a);
  }
  return box;
}

/* If possible, an origin whose distance from the corner is a little more than 2^24: a number of 25 bits, for which
 * rounding has the largest effect. */
static int farther_than_a_float_counts(random_state *r, int corner) {
  const int more = (int)random_below(r, 1 << 20), distance = (1 << 24) + more;
  if (abs(corner) <= more) return corner;
  return corner > 0 ? corner - distance : corner + distance;
}

/* A ray of integers that passes exactly through a corner at t = 3, 5 or 7. Corner minus origin is t times the
 * direction and has up to 25 bits. So the slab test rounds it, the reciprocal and the product. Some directions have
 * zero components. */
static int aim_at_corner(random_state *r, const slab_box *box, slab_ray *ray) {
  const int t = 3 + 2 * (int)random_below(r, 3), worst = (int)random_below(r, 2);
  *ray = (slab_ray){{0}, 0, {0}, INFINITY};
  do {
    for (int i = 0; i < 3; i++) {
      const int corner = (int)(random_bits(r) & 1 ? box->lower[i] : box->upper[i]);
      int from = random_below(r, 8) ? integer_below(r, REACH) : corner;
      if (worst) from = farther_than_a_float_counts(r, corner);
      const int d = (corner - from) / t;
      ray->origin[i] = (float)(corner - t * d);
      ray->direction[i] = (float)d;
    }
  } while (ray->direction[0] == 0 && ray->direction[1] == 0 && ray->direction[2] == 0);
  return t;
}

static int holds(const slab_interval *v, int t) {
  return v->enter <= 1.000001f * (float)t && v->leave >= 0.999999f * (float)t;
}

static void no_ray_through_an_exact_corner_misses(void **state) {
  enum { N = 1 << 20, ROUNDS = 3 };
  random_state r = harness_seeded("no_ray_through_an_exact_corner_misses");
  slab_ray *rays = malloc(N * sizeof *rays);
  slab_box *boxes = malloc(N * sizeof *boxes);
  slab_interval *intervals = malloc(N * sizeof *intervals);
  int *at = malloc(N * sizeof *at);
  for (int round = 0; round < ROUNDS; round++) {
    for (size_t i = 0; i < N; i++) {
      boxes[i] = integer_box(&r);
      at[i] = aim_at_corner(&r, &boxes[i], &rays[i]);
    }
    assert_ok(slab_pairs(*state, SLAB_BOX, rays, boxes, N, intervals));
    size_t missed = 0;
    for (size_t i = 0; i < N; i++) missed += intervals[i].primitive != i || !holds(&intervals[i], at[i]);
    assert_int_equal(missed, 0);
  }
  free(rays);
  free(boxes);
  free(intervals);
  free(at);
}

/* The same at the width under test: each ray is cast in a scene of the box it is aimed at. */
static void no_ray_through_an_exact_corner_misses_in_a_scene(void **state) {
  enum { N = 1 << 12, SCENES = 16 };
  random_state r = harness_seeded("no_ray_through_an_exact_corner_misses_in_a_scene");
  slab_ray *rays = malloc(N * sizeof *rays);
  int *at = malloc(N * sizeof *at);
  for (int k = 0; k < SCENES; k++) {
    const slab_box box = integer_box(&r);
    for (size_t i = 0; i < N; i++) at[i] = aim_at_corner(&r, &box, &rays[i]);
    slab_scene *scene = expect_scene(*state, SLAB_BOX, &box, 1);
    answers a;
    expect_cast(scene, rays, N, NULL, &a);
    size_t missed = 0;
    for (size_t i = 0; i < N; i++) missed += a.count[i] != 1 || !holds(&a.interval[i], at[i]);
    assert_int_equal(missed, 0);
    answers_free(&a);
    slab_scene_destroy(scene);
  }
  free(rays);
  free(at);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(face_is_entered_from_outside),
      cmocka_unit_test(ray_from_inside_reports_its_exit),
      cmocka_unit_test(box_behind_the_ray_is_missed),
      cmocka_unit_test(ray_beside_the_box_misses),
      cmocka_unit_test(ray_starting_on_a_face_touches_it),
      cmocka_unit_test(ray_in_a_face_plane_is_not_lost_to_zero_times_infinity),
      cmocka_unit_test(ray_one_step_outside_a_face_plane_misses),
      cmocka_unit_test(ray_starting_inside_a_face_plane_exits_at_its_end),
      cmocka_unit_test(ray_touching_an_edge_hits),
      cmocka_unit_test(ray_through_a_corner_hits),
      cmocka_unit_test(stretch_is_widened_by_eight_u_and_no_more),
      cmocka_unit_test(of_planes_met_at_once_the_lowest_axis_gives_the_normal),
      cmocka_unit_test(range_is_closed_at_both_ends),
      cmocka_unit_test(tiny_and_huge_directions_scale_t),
      cmocka_unit_test(subnormal_direction_keeps_its_slope),
      cmocka_unit_test(culling_drops_crossings_not_boxes),
      cmocka_unit_test(face_forward_turns_the_normal_but_not_the_face),
      cmocka_unit_test(no_ray_through_an_exact_corner_misses),
      cmocka_unit_test(no_ray_through_an_exact_corner_misses_in_a_scene),
  };
  return cmocka_run_group_tests(tests, expect_setup, expect_teardown);
}
