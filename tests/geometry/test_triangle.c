/* Triangles, case by case. Coordinates are small dyadic numbers, so edge functions and weights are exact.
 * test_watertight.c tests closed meshes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

/* In z = 0, with its front towards +z. */
static const slab_triangle T = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}};

#define CHECK(triangle, rows) expect_shape(*state, SLAB_TRIANGLE, (triangle), (rows), NULL, 0)
#define CHECK_WITHIN(triangle, rows, within) expect_shape(*state, SLAB_TRIANGLE, (triangle), (rows), NULL, (within))
/* A hit at t, with a normal and the weights of b and c. */
#define AT(t, x, y, z, u, v) \
  { t, {x, y, z}, u, v, t, t }

static void inside_is_hit_from_both_sides_with_its_weights(void **state) {
  static const expect_row rows[] = {
      {{{1, 1, 5}, 0, {0, 0, -1}, INFINITY}, AT(5, 0, 0, 1, 0.25f, 0.25f)},
      {{{1, 2, 5}, 0, {0, 0, -1}, INFINITY}, AT(5, 0, 0, 1, 0.25f, 0.5f)},
      {{{2, 1, -5}, 0, {0, 0, 1}, INFINITY}, AT(5, 0, 0, 1, 0.5f, 0.25f)},
      {{{2, 1, -5}, 0, {0, 0, 4}, INFINITY}, AT(1.25f, 0, 0, 1, 0.5f, 0.25f)},
      {{{-1, 0, 4}, 0, {0.5f, 0.25f, -1}, INFINITY}, AT(4, 0, 0, 1, 0.25f, 0.25f)},
      {{{1, 1, 5}, 0, {0, 0, 1}, INFINITY}, EXPECT_MISS},
      {{{1, 1, 5}, -INFINITY, {0, 0, 1}, INFINITY}, AT(-5, 0, 0, 1, 0.25f, 0.25f)},
      {{{1, 1, 0}, 0, {0, 0, -1}, INFINITY}, AT(0, 0, 0, 1, 0.25f, 0.25f)},
  };
  CHECK(&T, rows);
}

static void outside_of_each_edge_is_missed(void **state) {
  static const expect_row rows[] = {
      {{{1, -0x1p-20f, 5}, 0, {0, 0, -1}, INFINITY}, EXPECT_MISS},
      {{{-0x1p-20f, 1, 5}, 0, {0, 0, -1}, INFINITY}, EXPECT_MISS},
      {{{2, 2 + 0x1p-20f, 5}, 0, {0, 0, -1}, INFINITY}, EXPECT_MISS},
      {{{-1, -1, 5}, 0, {0, 0, -1}, INFINITY}, EXPECT_MISS},
      {{{5, -0.5f, 5}, 0, {0, 0, -1}, INFINITY}, EXPECT_MISS},
      {{{-0.5f, 5, 5}, 0, {0, 0, -1}, INFINITY}, EXPECT_MISS},
  };
  CHECK(&T, rows);
}

/* Coordinates rotated cyclically, reflected or not: the normal is always that of cross(b - a, c - a). */
static void every_axis_and_winding_has_its_normal(void **state) {
  for (int turn = 0; turn < 3; turn++)
    for (int side = -1; side <= 1; side += 2)
      for (int reversed = 0; reversed < 2; reversed++) {
        const int x = (turn + 1) % 3, y = (turn + 2) % 3, z = turn;
        slab_triangle t = {{0}, {0}, {0}};
        (reversed ? t.c : t.b)[x] = 4;
        (reversed ? t.b : t.c)[y] = 4;
        expect_row row = {{{0}, 0, {0}, INFINITY}, {5, {0, 0, 0}, 0.25f, 0.5f, 5, 5}};
        if (reversed) {
          row.want.u = 0.5f;
          row.want.v = 0.25f;
        }
        row.want.normal[z] = reversed ? -1.0f : 1.0f;
        row.ray.origin[x] = 1;
        row.ray.origin[y] = 2;
        row.ray.origin[z] = 5 * (float)side;
        row.ray.direction[z] = -(float)side;
        expect_ray(*state, SLAB_TRIANGLE, &t, &row, NULL, 0);
      }
}

static void ray_in_the_plane_misses(void **state) {
  static const expect_row rows[] = {
      {{{-5, 1, 0}, -INFINITY, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{1, 1, 0}, -INFINITY, {1, 0, 0}, INFINITY}, EXPECT_MISS},
      {{{1, 1, 0}, -INFINITY, {1, -2, -0.0f}, INFINITY}, EXPECT_MISS},
      {{{-5, 0, 0}, -INFINITY, {1, 0, 0}, INFINITY}, EXPECT_MISS},        /* along an edge */
      {{{5, -1, 0}, -INFINITY, {-1, 1, 0}, INFINITY}, EXPECT_MISS},       /* along the slanted edge */
      {{{-5, 1, 0x1p-20f}, -INFINITY, {1, 0, 0}, INFINITY}, EXPECT_MISS}, /* beside it */
  };
  CHECK(&T, rows);
  static const slab_triangle slanted = {{0, 0, 0}, {1, 2, 4}, {2, 4, 1}};
  static const expect_row aslant[] = {{{{0, 0, 0}, -INFINITY, {3, 6, 5}, INFINITY}, EXPECT_MISS},
                                      {{{0.5f, 1, 2}, -INFINITY, {1, 2, 0.5f}, INFINITY}, EXPECT_MISS}};
  CHECK(&slanted, aslant);
}

static void triangle_without_area_is_never_hit(void **state) {
  static const slab_triangle none[] = {{{1, 1, 0}, {1, 1, 0}, {1, 1, 0}}, {{0, 0, 0}, {2, 2, 0}, {2, 2, 0}},
                                       {{0, 0, 0}, {0, 0, 0}, {2, 2, 0}}, {{2, 2, 0}, {0, 0, 0}, {2, 2, 0}},
                                       {{0, 0, 0}, {2, 2, 0}, {4, 4, 0}}, {{4, 4, 0}, {0, 0, 0}, {2, 2, 0}},
                                       {{0, 0, -1}, {2, 2, 1}, {3, 3, 2}}};
  static const expect_row rows[] = {
      {{{1, 1, 5}, 0, {0, 0, -1}, INFINITY}, EXPECT_MISS},        {{{1, 1, -5}, 0, {0, 0, 1}, INFINITY}, EXPECT_MISS},
      {{{0, 0, 5}, 0, {1, 1, -5}, INFINITY}, EXPECT_MISS},        {{{-3, 5, 4}, 0, {1, -1, -1}, INFINITY}, EXPECT_MISS},
      {{{2, 2, 1}, -INFINITY, {0, 0, 1}, INFINITY}, EXPECT_MISS},
  };
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) CHECK(&none[i], rows);
}

static void culling_and_face_forward_look_at_the_winding(void **state) {
  static const slab_cast_options back = {.cull = SLAB_CULL_BACK}, front = {.cull = SLAB_CULL_FRONT};
  static const slab_cast_options forward = {.face_forward = 1};
  static const expect_want culled = {EXPECT_NO_SURFACE, 5, 5};
  static const slab_ray above = {{1, 2, 5}, 0, {0, 0, -1}, INFINITY}, below = {{1, 2, -5}, 0, {0, 0, 1}, INFINITY};
  const expect_row without_back[] = {{above, AT(5, 0, 0, 1, 0.25f, 0.5f)}, {below, culled}};
  const expect_row without_front[] = {{above, culled}, {below, AT(5, 0, 0, 1, 0.25f, 0.5f)}};
  const expect_row turned[] = {{above, AT(5, 0, 0, 1, 0.25f, 0.5f)}, {below, AT(5, 0, 0, -1, 0.25f, 0.5f)}};
  expect_shape(*state, SLAB_TRIANGLE, &T, without_back, &back, 0);
  expect_shape(*state, SLAB_TRIANGLE, &T, without_front, &front, 0);
  expect_shape(*state, SLAB_TRIANGLE, &T, turned, &forward, 0);
}

/* b - a = (s, 0, s), c - a = (0, s, 0): normal (-1, 0, 1) / sqrt 2. The ray hits the point with weight 1/4 of b and
 * of c at z = s / 4. */
static void triangles_of_every_size_have_normal_weights_and_t(void **state) {
  for (int e = -40; e <= 50; e += 10) {
    const float s = ldexpf(1, e), n = 0.70710678f;
    const slab_triangle t = {{0, 0, 0}, {s, 0, s}, {0, s, 0}};
    const expect_row rows[] = {
        {{{s / 4, s / 4, 5 * s}, 0, {0, 0, -s}, INFINITY}, AT(4.75f, -n, 0, n, 0.25f, 0.25f)},
        {{{s / 4, s / 4, -s}, 0, {0, 0, s}, INFINITY}, AT(1.25f, -n, 0, n, 0.25f, 0.25f)},
        {{{s / 2, s / 4, 5 * s}, 0, {0, 0, -s}, INFINITY}, AT(4.5f, -n, 0, n, 0.5f, 0.25f)},
        {{{s, s, 5 * s}, 0, {0, 0, -s}, INFINITY}, EXPECT_MISS},
    };
    CHECK_WITHIN(&t, rows, 0x1p-23f);
  }
}

/* Width 2^-40, from a distance of 1: there is no absolute epsilon. */
static void tiny_triangle_is_hit_from_afar(void **state) {
  static const slab_triangle t = {{0, 0, 0}, {0x1p-38f, 0, 0}, {0, 0x1p-38f, 0}};
  static const expect_row rows[] = {
      {{{0x1p-40f, 0x1p-40f, 1}, 0, {0, 0, -1}, INFINITY}, AT(1, 0, 0, 1, 0.25f, 0.25f)},
      {{{0x1p-40f, 0x1p-39f, -0x1p20f}, 0, {0, 0, 0x1p20f}, INFINITY}, AT(1, 0, 0, 1, 0.25f, 0.5f)},
      {{{0x1p-37f, 0x1p-40f, 1}, 0, {0, 0, -1}, INFINITY}, EXPECT_MISS},
  };
  CHECK(&t, rows);
}

/* Its width is 2^-20 of its length: cross((1, 0, 0), (1, 2^-20, 1/2)) = (0, -1/2, 2^-20). */
static void needle_has_normal_weights_and_t(void **state) {
  static const slab_triangle t = {{0, 0, 0}, {1, 0, 0}, {1, 0x1p-20f, 0.5f}};
  static const expect_row rows[] = {
      {{{0.75f, 0x1p-21f, 4.25f}, 0, {0, 0, -1}, INFINITY}, AT(4, 0, -1, 0x1p-19f, 0.25f, 0.5f)},
      {{{0.75f, 0x1p-22f, 4.125f}, 0, {0, 0, -1}, INFINITY}, AT(4, 0, -1, 0x1p-19f, 0.5f, 0.25f)},
      {{{0.75f, 0x1p-20f, 4.25f}, 0, {0, 0, -1}, INFINITY}, EXPECT_MISS},
  };
  CHECK_WITHIN(&t, rows, 0x1p-23f);
}

static void translation_by_lattice_vectors_changes_no_bit(void **state) {
  static const float by[3] = {148376, 1234, -223423};
  slab_triangle t = T;
  slab_ray ray = {{-1, 0, 4}, 0, {0.5f, 0.25f, -1}, INFINITY};
  for (int i = 0; i < 3; i++) {
    t.a[i] += by[i];
    t.b[i] += by[i];
    t.c[i] += by[i];
    ray.origin[i] += by[i];
  }
  const expect_row rows[] = {{ray, AT(4, 0, 0, 1, 0.25f, 0.25f)}};
  CHECK(&t, rows);
}

static void tiny_and_huge_directions_scale_t(void **state) {
  static const int exponents[] = {-124, -60, 60, 120};
  for (int i = 0; i < 4; i++) {
    const float d = ldexpf(1, exponents[i]), t = ldexpf(5, -exponents[i]);
    const expect_row rows[] = {{{{1, 1, 5}, 0, {0, 0, -d}, INFINITY}, AT(t, 0, 0, 1, 0.25f, 0.25f)},
                               {{{1, 1, 5}, t, {0, 0, -d}, t}, AT(t, 0, 0, 1, 0.25f, 0.25f)},
                               {{{1, 1, 5}, 0, {0, 0, -d}, nextafterf(t, 0)}, EXPECT_MISS}};
    CHECK(&T, rows);
  }
}

/* ---- values ---- */

static void random_triangle(random_state *r, slab_triangle *t) {
  float *corners[3] = {t->a, t->b, t->c};
  for (int i = 0; i < 9; i++) corners[i / 3][i % 3] = random_between(r, -10, 10);
}

static void double_normal(const slab_triangle *t, double n[3]) {
  double e1[3], e2[3], length = 0;
  for (int i = 0; i < 3; i++) {
    e1[i] = (double)t->b[i] - (double)t->a[i];
    e2[i] = (double)t->c[i] - (double)t->a[i];
  }
  for (int i = 0; i < 3; i++) {
    n[i] = e1[(i + 1) % 3] * e2[(i + 2) % 3] - e1[(i + 2) % 3] * e2[(i + 1) % 3];
    length += n[i] * n[i];
  }
  for (int i = 0; i < 3; i++) n[i] /= sqrt(length);
}

/* t at which the ray intersects the triangle's plane, and the sine of the angle between them. */
static double plane_t(const slab_triangle *t, const slab_ray *ray, double *sine) {
  double n[3], from = 0, along = 0, length = 0;
  double_normal(t, n);
  for (int i = 0; i < 3; i++) {
    from += n[i] * ((double)t->a[i] - (double)ray->origin[i]);
    along += n[i] * (double)ray->direction[i];
    length += (double)ray->direction[i] * (double)ray->direction[i];
  }
  *sine = fabs(along) / sqrt(length);
  return from / along;
}

/* A ray through a point of the triangle, from a distance of up to `distance`. */
static slab_ray aimed_at(random_state *r, const slab_triangle *t, float distance) {
  float u = random_between(r, 0.01f, 0.98f), v = random_between(r, 0.01f, 0.98f), point[3], from[3];
  if (u + v > 0.99f) {
    u = 1 - u;
    v = 1 - v;
  }
  for (int i = 0; i < 3; i++) {
    point[i] = t->a[i] + u * (t->b[i] - t->a[i]) + v * (t->c[i] - t->a[i]);
    from[i] = point[i] + random_between(r, -distance, distance);
  }
  slab_ray ray = slab_segment(from, point);
  ray.t_max = INFINITY;
  return ray;
}

static void weights_and_t_name_the_same_point(void **state) {
  enum { TRIANGLES = 60, RAYS = 400 };
  random_state r = harness_seeded("weights_and_t_name_the_same_point");
  slab_ray rays[RAYS];
  for (int k = 0; k < TRIANGLES; k++) {
    slab_triangle t;
    random_triangle(&r, &t);
    for (int i = 0; i < RAYS; i++) rays[i] = aimed_at(&r, &t, 30);
    slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, &t, 1);
    answers a;
    expect_cast(scene, rays, RAYS, NULL, &a);
    double n[3];
    double_normal(&t, n);
    for (int i = 0; i < RAYS; i++) {
      const slab_hit *h = &a.closest[i];
      double sine;
      const double want = plane_t(&t, &rays[i], &sine);
      if (sine < 0.05 || !a.any[i]) continue; /* grazing, or moved over the edge by rounding */
      assert_true(h->u >= 0 && h->v >= 0 && h->u + h->v <= 1.000001f);
      assert_true(fabs((double)h->t - want) < 1e-4 * want);
      for (int j = 0; j < 3; j++) {
        const double by_weights = (double)t.a[j] + (double)h->u * ((double)t.b[j] - (double)t.a[j]) +
                                  (double)h->v * ((double)t.c[j] - (double)t.a[j]);
        assert_true(fabs(by_weights - (double)rays[i].origin[j] - want * (double)rays[i].direction[j]) < 1e-3);
        assert_true(fabs((double)h->normal[j] - n[j]) < 1e-4);
      }
    }
    answers_free(&a);
    slab_scene_destroy(scene);
  }
}

/* Of the ray on a triangle whose products with it underflow. */
static slab_hit faint_hit(void **state, const slab_ray *ray) {
  static const slab_triangle faint = {{0x1p-140f, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, &faint, 1);
  answers a;
  expect_cast(scene, ray, 1, NULL, &a);
  const slab_hit hit = a.closest[0];
  answers_free(&a);
  slab_scene_destroy(scene);
  assert_int_equal(hit.primitive, 0);
  return hit;
}

/* The ray leaves the triangle's bounds along y at 1, and enters them along z at 1e10. Products of 2^-140 do not show
 * that, so it hits. At last t is clamped to the padded bounds, to where they are left. */
static void products_that_underflow_hit_beside_the_bounds(void **state) {
  static const slab_ray ray = {{0, 0, -0x1.20d12p-78f}, 0, {0, 1, 0x1.03005cp-111f}, INFINITY};
  assert_true(fabsf(faint_hit(state, &ray).t - 1.0f) < 1e-5f);
}

/* The areas of its parts are subnormal, so the reciprocal of their sum overflows, and each weight is 1. */
static void areas_that_underflow_hit(void **state) {
  static const slab_ray ray = {{0, 0, -0x1.20dp-94f}, 0, {0x1.7d7dfep-126f, 0x1.bcp+3f, 0x1.bcp+3f}, INFINITY};
  const slab_hit hit = faint_hit(state, &ray);
  assert_true(hit.u == 1.0f && hit.v == 1.0f);
}

/* Closed meshes of sizes from 1 down to 2^-110, where areas, products and at last all of them underflow. From there up
 * to 2^-63 t is any in the interval of the bounds, and the oracle proves no more than that. */
static void meshes_of_every_size_pass_their_check(void **state) {
  enum { RAYS = 100, STEP = 3, LEAST = -110 };
  static const uint32_t sides[8][3] = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                       {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  random_state r = harness_seeded("meshes_of_every_size_pass_their_check");
  size_t hits = 0;
  for (int power = 0; power >= LEAST; power -= STEP) {
    float corners[6][3];
    slab_ray rays[RAYS];
    for (int i = 0; i < 18; i++) {
      const float out = i / 3 / 2 == i % 3 ? (i / 3 % 2 == 0 ? 1.0f : -1.0f) : 0.0f;
      corners[i / 3][i % 3] = ldexpf(out + random_between(&r, -0.3f, 0.3f), power);
    }
    for (int i = 0; i < RAYS; i++) {
      rays[i] = (slab_ray){.t_max = INFINITY};
      for (int k = 0; k < 3; k++) {
        const float *at = corners[random_below(&r, 6)], inside = random_between(&r, -0.3f, 0.3f);
        rays[i].origin[k] = ldexpf(random_between(&r, -3.0f, 3.0f), power);
        rays[i].direction[k] =
            ldexpf(i % 4 == 0 ? at[k] : ldexpf(inside, power), -power) - ldexpf(rays[i].origin[k], -power);
      }
    }
    const slab_mesh mesh = {corners[0], 0, 6, sides[0], 8, NULL};
    slab_scene *scene = NULL;
    assert_ok(slab_scene_create(*state, &scene));
    assert_ok(slab_scene_add_mesh(scene, &mesh, NULL, NULL));
    assert_ok(slab_scene_commit(scene, NULL));
    for (int edges = 0; edges < 2; edges++) {
      const slab_cast_options options = {.edges = (slab_edges)edges};
      answers a;
      expect_cast(scene, rays, RAYS, &options, &a);
      for (int i = 0; i < RAYS; i++) hits += a.any[i];
      answers_free(&a);
    }
    slab_scene_destroy(scene);
  }
  assert_true(hits > 2 * RAYS * (-LEAST / STEP) / 2);
}

/* Aspect ratio 1e-6. With weights from the rounded edge functions, the error of t would reach 0.3. */
static void t_on_needles_is_right_to_a_few_parts_in_a_million(void **state) {
  enum { NEEDLES = 200, RAYS = 200 };
  random_state r = harness_seeded("t_on_needles_is_right_to_a_few_parts_in_a_million");
  slab_ray rays[RAYS];
  slab_hit hits[RAYS];
  size_t judged = 0;
  for (int k = 0; k < NEEDLES; k++) {
    slab_triangle t;
    random_triangle(&r, &t);
    for (int i = 0; i < 3; i++) t.c[i] = t.a[i] + 0.5f * (t.b[i] - t.a[i]) + 1e-6f * (t.c[i] - t.a[i]);
    for (int i = 0; i < RAYS; i++) rays[i] = aimed_at(&r, &t, 30);
    slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, &t, 1);
    assert_ok(slab_closest(scene, rays, RAYS, hits, NULL));
    for (int i = 0; i < RAYS; i++) {
      double sine;
      const double want = plane_t(&t, &rays[i], &sine);
      if (hits[i].primitive != 0 || sine < 0.5) continue;
      judged++;
      if (fabs((double)hits[i].t - want) > 1e-5 * want)
        fail_msg("needle %d, ray %d: t %.9g, should be %.9g", k, i, (double)hits[i].t, want);
    }
    slab_scene_destroy(scene);
  }
  print_message("%zu hits of needles judged\n", judged);
  assert_true(judged > 1000);
}

/* t is clamped to the slab interval of the bounds. The bounds of a triangle in an axis plane are a degenerate box,
 * whose t it equals bit by bit, whatever the slope of the ray. */
static void axis_aligned_triangle_and_flat_box_have_one_t(void **state) {
  enum { RAYS = 20000 };
  random_state r = harness_seeded("axis_aligned_triangle_and_flat_box_have_one_t");
  slab_ray *rays = malloc(RAYS * sizeof *rays);
  float *of_triangle = malloc(RAYS * sizeof *of_triangle), *of_box = malloc(RAYS * sizeof *of_box);
  for (int axis = 0; axis < 3; axis++) {
    const int x = (axis + 1) % 3, y = (axis + 2) % 3;
    slab_triangle t = {{0}, {0}, {0}};
    slab_box box = {{-9, -9, -9}, {9, 9, 9}};
    t.a[axis] = t.b[axis] = t.c[axis] = box.lower[axis] = box.upper[axis] = 0.7f;
    t.a[x] = t.a[y] = t.b[y] = t.c[x] = -9;
    t.b[x] = t.c[y] = 9;
    for (int i = 0; i < RAYS; i++) {
      rays[i] = aimed_at(&r, &t, 20);
      for (int j = 0; j < 3; j++) rays[i].direction[j] *= 1.7f;
    }
    slab_scene *triangles = expect_scene(*state, SLAB_TRIANGLE, &t, 1),
               *boxes = expect_scene(*state, SLAB_BOX, &box, 1);
    assert_ok(slab_distance(triangles, rays, RAYS, of_triangle, NULL));
    assert_ok(slab_distance(boxes, rays, RAYS, of_box, NULL));
    size_t hits = 0;
    for (int i = 0; i < RAYS; i++) {
      if (of_triangle[i] == INFINITY) continue;
      assert_same_bits(&of_triangle[i], &of_box[i], 1, sizeof(float));
      hits++;
    }
    assert_true(hits > RAYS / 2);
    slab_scene_destroy(triangles);
    slab_scene_destroy(boxes);
  }
  free(rays);
  free(of_triangle);
  free(of_box);
}

/* A triangle has one crossing, and the crossing has one side. So the hits with back faces culled and those with
 * front faces culled are a partition of the hits without culling. Reversing the winding of every triangle swaps the
 * two parts. */
static void facing_splits_the_hits_in_two(void **state) {
  enum { N = 60, RAYS = 3000 };
  random_state r = harness_seeded("facing_splits_the_hits_in_two");
  slab_triangle triangles[N], turned[N];
  slab_ray rays[RAYS];
  uint32_t counts[3][RAYS], of_turned[3][RAYS];
  for (int i = 0; i < N; i++) {
    random_triangle(&r, &triangles[i]);
    turned[i] = triangles[i];
    memcpy(turned[i].b, triangles[i].c, sizeof turned[i].b);
    memcpy(turned[i].c, triangles[i].b, sizeof turned[i].c);
  }
  for (int i = 0; i < RAYS; i++) {
    const slab_triangle *t = &triangles[random_below(&r, N)];
    rays[i] = aimed_at(&r, t, 30);
    if (i % 2) continue;
    const float *edge = t->b; /* nearly parallel to the triangle: from beside a vertex to the point aimed at */
    for (int j = 0; j < 3; j++) rays[i].origin[j] = edge[j] + random_between(&r, -1e-6f, 1e-6f);
  }
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, triangles, N);
  slab_scene *scene_turned = expect_scene(*state, SLAB_TRIANGLE, turned, N);
  for (int cull = 0; cull < 3; cull++) {
    const slab_cast_options options = {.cull = (slab_cull)cull};
    assert_ok(slab_count(scene, rays, RAYS, counts[cull], &options));
    assert_ok(slab_count(scene_turned, rays, RAYS, of_turned[cull], &options));
  }
  for (int i = 0; i < RAYS; i++) {
    assert_int_equal(counts[0][i], counts[1][i] + counts[2][i]);
    assert_int_equal(counts[1][i], of_turned[2][i]);
    assert_int_equal(counts[2][i], of_turned[1][i]);
  }
  slab_scene_destroy(scene);
  slab_scene_destroy(scene_turned);
}

static void shared_vertices_and_soup_give_the_same_bits(void **state) {
  enum { RAYS = 500 };
  static const float corners[5][4] = {{0, 0, 0, 9}, {4, 0, 1, 9}, {4, 4, 0, 9}, {0, 4, 1, 9}, {2, 2, 3, 9}};
  static const uint32_t indices[12] = {0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4};
  random_state r = harness_seeded("shared_vertices_and_soup_give_the_same_bits");
  const slab_mesh mesh = {corners[0], sizeof corners[0], 5, indices, 4, NULL};
  slab_triangle soup[4];
  for (int i = 0; i < 12; i++) memcpy((float *)&soup[i / 3] + 3 * (i % 3), corners[indices[i]], 3 * sizeof(float));
  slab_scene *shared = NULL, *separate = expect_scene(*state, SLAB_TRIANGLE, soup, 4);
  assert_ok(slab_scene_create(*state, &shared));
  assert_ok(slab_scene_add_mesh(shared, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(shared, NULL));
  slab_ray rays[RAYS];
  slab_hit hits[2][RAYS];
  for (int i = 0; i < RAYS; i++) rays[i] = aimed_at(&r, &soup[i % 4], 5);
  assert_ok(slab_closest(shared, rays, RAYS, hits[0], NULL));
  assert_ok(slab_closest(separate, rays, RAYS, hits[1], NULL));
  assert_same_bits(hits[0], hits[1], RAYS, sizeof(slab_hit));
  slab_scene_destroy(shared);
  slab_scene_destroy(separate);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inside_is_hit_from_both_sides_with_its_weights),
      cmocka_unit_test(outside_of_each_edge_is_missed),
      cmocka_unit_test(every_axis_and_winding_has_its_normal),
      cmocka_unit_test(ray_in_the_plane_misses),
      cmocka_unit_test(triangle_without_area_is_never_hit),
      cmocka_unit_test(culling_and_face_forward_look_at_the_winding),
      cmocka_unit_test(triangles_of_every_size_have_normal_weights_and_t),
      cmocka_unit_test(tiny_triangle_is_hit_from_afar),
      cmocka_unit_test(needle_has_normal_weights_and_t),
      cmocka_unit_test(translation_by_lattice_vectors_changes_no_bit),
      cmocka_unit_test(tiny_and_huge_directions_scale_t),
      cmocka_unit_test(weights_and_t_name_the_same_point),
      cmocka_unit_test(products_that_underflow_hit_beside_the_bounds),
      cmocka_unit_test(areas_that_underflow_hit),
      cmocka_unit_test(meshes_of_every_size_pass_their_check),
      cmocka_unit_test(t_on_needles_is_right_to_a_few_parts_in_a_million),
      cmocka_unit_test(axis_aligned_triangle_and_flat_box_have_one_t),
      cmocka_unit_test(facing_splits_the_hits_in_two),
      cmocka_unit_test(shared_vertices_and_soup_give_the_same_bits),
  };
  return cmocka_run_group_tests(tests, expect_setup, expect_teardown);
}
