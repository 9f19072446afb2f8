/* The oracle alone: verdicts and judgements derived from the contract by hand, planted wrong results, and seams of
 * thin, far and tiny meshes. test_oracle_exact.c compares it with rational arithmetic. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/oracle.h"

static const slab_primitive_id nothing = {SLAB_MISS, SLAB_MISS};
static const float no_hit_t = INFINITY;

static slab_ray ray(float ox, float oy, float oz, float dx, float dy, float dz) {
  const slab_ray r = {{ox, oy, oz}, 0.0f, {dx, dy, dz}, INFINITY};
  return r;
}

static slab_ray within(slab_ray r, float t_min, float t_max) {
  r.t_min = t_min;
  r.t_max = t_max;
  return r;
}

static slab_hit hit(float t, float nx, float ny, float nz, float u, float v, uint32_t primitive) {
  const slab_hit h = {t, {nx, ny, nz}, u, v, primitive, 0};
  return h;
}

static slab_hit miss(void) {
  const slab_hit h = {INFINITY, {0.0f, 0.0f, 0.0f}, 0.0f, 0.0f, SLAB_MISS, SLAB_MISS};
  return h;
}

static oracle_geometry geometry(slab_shape kind, const void *primitives, uint32_t count) {
  const oracle_geometry g = {.kind = kind, .primitives = primitives, .count = count};
  return g;
}

static oracle_judgement judge_with(const oracle_geometry *g, slab_query query, slab_ray r, const void *result,
                                   uint64_t n, const slab_cast_options *options) {
  const oracle_scene scene = {.geometries = g, .count = 1};
  const ray_own own = ray_own_of(options, 0);
  char why[256];
  const oracle_judgement judgement = oracle_judge(&scene, query, &r, result, n, &own, options, why, sizeof why);
  assert_int_equal(judgement == ORACLE_RIGHT, why[0] == '\0');
  return judgement;
}

static oracle_judgement judge(const oracle_geometry *g, slab_query query, slab_ray r, const void *result) {
  return judge_with(g, query, r, result, 1, NULL);
}

static oracle_judgement closest(const oracle_geometry *g, slab_ray r, slab_hit h) {
  return judge(g, SLAB_CLOSEST, r, &h);
}

static oracle_judgement count(const oracle_geometry *g, slab_ray r, uint32_t n) { return judge(g, SLAB_COUNT, r, &n); }

static oracle_judgement interval(const oracle_geometry *g, slab_ray r, float enter, float leave) {
  const slab_interval stretch = {enter, leave, 0, 0};
  return judge(g, SLAB_INTERVAL, r, &stretch);
}

static oracle_verdict verdict(const oracle_geometry *g, slab_ray r, double t[2]) {
  return oracle_decide(g, 0, SLAB_CLOSEST, &r, NULL, t);
}

/* The verdict on the first primitive is a hit at exactly t. */
static void assert_hit_at(const oracle_geometry *g, slab_ray r, double t) {
  double span[2];
  assert_int_equal(verdict(g, r, span), ORACLE_HIT);
  assert_true(span[0] == t && span[1] == t);
}

static void assert_verdict(const oracle_geometry *g, slab_ray r, oracle_verdict expected) {
  double span[2];
  assert_int_equal(verdict(g, r, span), expected);
}

/* ---- boxes ------------------------------------------------------------------------ */

static void wrong_answers_on_a_box_are_seen(void **state) {
  (void)state;
  const slab_box box = {{1, -1, -1}, {2, 1, 1}};
  const oracle_geometry g = geometry(SLAB_BOX, &box, 1);
  const slab_ray r = ray(0, 0, 0, 1, 0, 0);
  assert_int_equal(closest(&g, r, hit(1, -1, 0, 0, 0, 0, 0)), ORACLE_RIGHT);
  assert_int_equal(closest(&g, r, hit(nextafterf(1, 2), -1, 0, 0, 0, 0, 0)), ORACLE_WRONG);
  assert_int_equal(closest(&g, r, hit(2, 1, 0, 0, 1, 0, 0)), ORACLE_WRONG);  /* the exit */
  assert_int_equal(closest(&g, r, hit(1, 1, 0, 0, 0, 0, 0)), ORACLE_WRONG);  /* normal inward */
  assert_int_equal(closest(&g, r, hit(1, -1, 0, 0, 1, 0, 0)), ORACLE_WRONG); /* another face */
  assert_int_equal(closest(&g, r, hit(1, -1, -0.0f, 0, 0, 0, 0)), ORACLE_WRONG);
  assert_int_equal(closest(&g, r, hit(NAN, -1, 0, 0, 0, 0, 0)), ORACLE_WRONG);
  assert_int_equal(closest(&g, r, hit(1, -1, 0, 0, 0, 0, 1)), ORACLE_WRONG); /* no such primitive */
  assert_int_equal(closest(&g, r, miss()), ORACLE_WRONG);
  assert_int_equal(interval(&g, r, 1, 2), ORACLE_RIGHT);
  assert_int_equal(interval(&g, r, 0, 2), ORACLE_WRONG);
  assert_int_equal(interval(&g, r, 1, INFINITY), ORACLE_WRONG);
}

static void small_results_on_a_box(void **state) {
  (void)state;
  const slab_box box = {{1, -1, -1}, {2, 1, 1}};
  const oracle_geometry g = geometry(SLAB_BOX, &box, 1);
  const slab_ray r = ray(0, 0, 0, 1, 0, 0);
  const uint8_t yes = 1, no = 0, two = 2;
  const float one = 1.0f;
  assert_int_equal(judge(&g, SLAB_ANY, r, &yes), ORACLE_RIGHT);
  assert_int_equal(judge(&g, SLAB_ANY, r, &no), ORACLE_WRONG);
  assert_int_equal(judge(&g, SLAB_ANY, r, &two), ORACLE_WRONG);
  assert_int_equal(judge(&g, SLAB_DISTANCE, r, &one), ORACLE_RIGHT);
  assert_int_equal(judge(&g, SLAB_DISTANCE, r, &no_hit_t), ORACLE_WRONG);
  assert_int_equal(count(&g, r, 1), ORACLE_RIGHT);
  assert_int_equal(count(&g, r, 0), ORACLE_WRONG);
  assert_int_equal(count(&g, r, 2), ORACLE_WRONG);
  const slab_ray away = ray(0, 0, 0, -1, 0, 0);
  assert_int_equal(judge(&g, SLAB_ANY, away, &yes), ORACLE_WRONG);
  assert_int_equal(judge(&g, SLAB_DISTANCE, away, &no_hit_t), ORACLE_RIGHT);
  assert_int_equal(closest(&g, away, miss()), ORACLE_RIGHT);
}

/* The line x + y = 2 touches the unit square only in (1, 1), and so does 3 y + x = 4. */
static void boxes_are_closed_at_a_corner(void **state) {
  (void)state;
  const slab_box box = {{0, 0, 0}, {1, 1, 1}};
  const oracle_geometry g = geometry(SLAB_BOX, &box, 1);
  double t[2];
  assert_hit_at(&g, ray(0, 2, 0.5f, 1, -1, 0), 1.0);
  assert_int_equal(verdict(&g, ray(-2, 2, 0.5f, 3, -1, 0), t), ORACLE_HIT);
  assert_true(t[0] <= 1.0 && 1.0 <= t[1] && t[1] - t[0] < 0x1p-20);
  assert_verdict(&g, ray(-2, 2 + 0x1p-10f, 0.5f, 3, -1, 0), ORACLE_MISS);
  assert_verdict(&g, ray(-2, 2 + 0x1p-22f, 0.5f, 3, -1, 0), ORACLE_UNDECIDED); /* within the widening */
}

static void parallel_axes_have_no_slack(void **state) {
  (void)state;
  const slab_box box = {{0, 0, 0}, {1, 1, 1}};
  const oracle_geometry g = geometry(SLAB_BOX, &box, 1);
  assert_hit_at(&g, ray(-1, 1, 0.5f, 1, 0, 0), 1.0);
  assert_hit_at(&g, ray(-1, 1, 0, 1, -0.0f, 0), 1.0); /* along an edge */
  assert_verdict(&g, ray(-1, nextafterf(1, 2), 0.5f, 1, 0, 0), ORACLE_MISS);
  assert_verdict(&g, ray(-1, -0x1p-149f, 0.5f, 1, 0, 0), ORACLE_MISS);
  assert_verdict(&g, ray(-1, 2, 0.5f, 1, -0x1p-140f, 0), ORACLE_MISS); /* a subnormal component counts as 0 */
}

static void inside_flat_infinite_and_inverted_boxes(void **state) {
  (void)state;
  const slab_box cube = {{-1, -1, -1}, {1, 1, 1}}, flat = {{0, 0, 0}, {2, 0, 2}};
  const slab_box half = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, 0}}, inverted = {{1, 1, 1}, {0, 2, 2}};
  oracle_geometry g = geometry(SLAB_BOX, &cube, 1);
  assert_int_equal(closest(&g, ray(0, 0, 0, 0, 2, 0), hit(0.5f, 0, 1, 0, 3, 0, 0)), ORACLE_RIGHT);
  assert_int_equal(interval(&g, ray(0, 0, 0, 0, 2, 0), 0, 0.5f), ORACLE_RIGHT);
  assert_int_equal(interval(&g, within(ray(0, 0, 0, 0, 2, 0), -0.25f, 0.25f), -0.25f, 0.25f), ORACLE_RIGHT);
  assert_int_equal(closest(&g, within(ray(0, 0, 0, 0, 2, 0), -0.25f, 0.25f), miss()), ORACLE_RIGHT);
  g = geometry(SLAB_BOX, &flat, 1);
  assert_hit_at(&g, ray(1, 1, 1, 0, -1, 0), 1.0);
  assert_hit_at(&g, ray(-1, 0, 1, 1, 0, 0), 1.0); /* in its own plane */
  g = geometry(SLAB_BOX, &half, 1);
  assert_hit_at(&g, ray(5, 5, 8, 0, 0, -1), 8.0);
  assert_int_equal(interval(&g, ray(5, 5, 8, 0, 0, -1), 8, INFINITY), ORACLE_RIGHT);
  assert_int_equal(interval(&g, within(ray(5, 5, 8, 0, 0, 1), -INFINITY, INFINITY), -INFINITY, -8), ORACLE_RIGHT);
  g = geometry(SLAB_BOX, &inverted, 1);
  assert_verdict(&g, ray(0.5f, 1.5f, 0, 0, 0, 1), ORACLE_MISS);
}

static void ranges_are_closed(void **state) {
  (void)state;
  const slab_box box = {{1, 0, 0}, {3, 1, 1}};
  const oracle_geometry g = geometry(SLAB_BOX, &box, 1);
  const slab_ray r = ray(0, 0.5f, 0.5f, 2, 0, 0);
  assert_hit_at(&g, within(r, 0, 0.5f), 0.5);
  assert_hit_at(&g, within(r, 0.5f, 9), 0.5);
  assert_hit_at(&g, within(r, 1.5f, 1.5f), 1.5);
  assert_verdict(&g, within(r, 0, nextafterf(0.5f, 0)), ORACLE_MISS);
  assert_hit_at(&g, within(r, nextafterf(0.5f, 1), 9), 1.5); /* starts inside */
  assert_verdict(&g, within(r, nextafterf(1.5f, 2), 9), ORACLE_MISS);
  assert_verdict(&g, within(r, 1, 0), ORACLE_MISS);
}

/* Axes permuted and reversed: the frame is exact, and u is the face number in the box's own axes. */
static void oriented_boxes_in_their_frame(void **state) {
  (void)state;
  const slab_obb box = {{4, 0, 0}, {1, 2, 3}, {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}};
  const oracle_geometry g = geometry(SLAB_OBB, &box, 1);
  assert_hit_at(&g, ray(0, 1, 3, 1, 0, 0), 2.0); /* along an edge */
  assert_int_equal(closest(&g, ray(0, 0, 0, 1, 0, 0), hit(2, -1, 0, 0, 3, 0, 0)), ORACLE_RIGHT);
  assert_int_equal(closest(&g, ray(0, 0, 0, 1, 0, 0), hit(2, -1, 0, 0, 2, 0, 0)), ORACLE_WRONG);
  assert_verdict(&g, ray(0, 1.5f, 0, 1, 0, 0), ORACLE_MISS);
  const float s = 0.70710678f;
  const slab_obb turned = {{4, 0, 0}, {1, 1, 1}, {{s, s, 0}, {-s, s, 0}, {0, 0, 1}}};
  const oracle_geometry h = geometry(SLAB_OBB, &turned, 1);
  double t[2];
  assert_int_equal(verdict(&h, ray(0, 0.25f, 0, 1, 0, 0), t), ORACLE_HIT); /* 4 - (sqrt(2) - 0.25) */
  assert_true(t[0] < 2.8357865 && 2.8357864 < t[1] && t[1] - t[0] < 1e-5);
  assert_verdict(&h, ray(0, 1.4142f, 0, 1, 0, 0), ORACLE_HIT);
  assert_verdict(&h, ray(0, 1.4143f, 0, 1, 0, 0), ORACLE_MISS);
}

/* ---- spheres and planes --------------------------------------------------------------- */

static void tangents_touch(void **state) {
  (void)state;
  slab_sphere sphere = {{5, 3, 0}, 3};
  const oracle_geometry g = geometry(SLAB_SPHERE, &sphere, 1);
  const slab_ray r = ray(0, 0, 0, 1, 0, 0);
  assert_hit_at(&g, r, 5.0);
  assert_int_equal(closest(&g, r, hit(5, 0, -1, 0, 0, 0, 0)), ORACLE_RIGHT);
  sphere.radius = 3 + 0x1p-21f;
  assert_verdict(&g, r, ORACLE_UNDECIDED);
  sphere.radius = 2.999f;
  assert_verdict(&g, r, ORACLE_MISS);
  sphere.radius = 3.001f;
  assert_verdict(&g, r, ORACLE_HIT);
}

static void crossings_of_a_sphere(void **state) {
  (void)state;
  const slab_sphere sphere = {{0, 0, 5}, 2}, point = {{0, 0, 5}, 0};
  const oracle_geometry g = geometry(SLAB_SPHERE, &sphere, 1), p = geometry(SLAB_SPHERE, &point, 1);
  const slab_ray r = ray(0, 0, 0, 0, 0, 1);
  slab_cast_options front = {.cull = SLAB_CULL_FRONT}, forward = {.face_forward = 1, .cull = SLAB_CULL_FRONT};
  const slab_hit near = hit(3, 0, 0, -1, 0, 0, 0), far = hit(7, 0, 0, 1, 0, 0, 0), turned = hit(7, 0, 0, -1, 0, 0, 0);
  assert_int_equal(closest(&g, r, near), ORACLE_RIGHT);
  assert_int_equal(closest(&g, r, far), ORACLE_WRONG);
  assert_int_equal(judge_with(&g, SLAB_CLOSEST, r, &far, 1, &front), ORACLE_RIGHT);
  assert_int_equal(judge_with(&g, SLAB_CLOSEST, r, &near, 1, &front), ORACLE_WRONG);
  assert_int_equal(judge_with(&g, SLAB_CLOSEST, r, &turned, 1, &forward), ORACLE_RIGHT);
  assert_int_equal(judge_with(&g, SLAB_CLOSEST, r, &far, 1, &forward), ORACLE_WRONG);
  assert_int_equal(closest(&g, ray(0, 0, 5, 0, 0, 1), hit(2, 0, 0, 1, 0, 0, 0)), ORACLE_RIGHT);
  assert_int_equal(interval(&g, r, 3, 7), ORACLE_RIGHT);
  assert_int_equal(interval(&g, ray(0, 0, 5, 0, 0, 1), 0, 2), ORACLE_RIGHT);
  assert_int_equal(closest(&p, r, hit(5, 0, 0, -1, 0, 0, 0)), ORACLE_RIGHT);
  assert_int_equal(closest(&p, ray(0, 0, 5, 0, 0, -1), hit(0, 0, 0, 1, 0, 0, 0)),
                   ORACLE_RIGHT); /* exactly on the point */
}

/* A point, and a ball that is small for its distance. The roots are exact. The t of the padded bounds, (plane -
 * origin) * (1 / d), are not, and a t clamped to them is right too. */
static void gate_of_a_far_small_sphere_may_move_its_crossing(void **state) {
  (void)state;
  const float radii[] = {0.0f, 1.0f};
  for (size_t k = 0; k < 2; k++) {
    const slab_sphere sphere = {{0, 0, 0}, radii[k]};
    const oracle_geometry g = geometry(SLAB_SPHERE, &sphere, 1);
    int moved = 0;
    for (int i = 1; i <= 512; i++) {
      const float distance = 7.0f * (float)i, inverse = 1.0f / 1.75f;
      const slab_ray r = ray(-distance - radii[k], 0, 0, 1.75f, 0, 0);
      const float exact = 4.0f * (float)i, told = (-radii[k] - r.origin[0]) * inverse;
      const float beyond = exact * (1.0f + 0x1p-20f);
      assert_int_equal(closest(&g, r, hit(exact, -1, 0, 0, 0, 0, 0)), ORACLE_RIGHT);
      assert_int_equal(closest(&g, r, hit(told, -1, 0, 0, 0, 0, 0)), ORACLE_RIGHT);
      assert_int_equal(closest(&g, r, hit(beyond, -1, 0, 0, 0, 0, 0)), ORACLE_WRONG);
      moved += told != exact;
    }
    assert_true(moved > 0);
  }
}

static void planes_and_coplanar_rays(void **state) {
  (void)state;
  const slab_plane plane = {{0, 3, 4}, 20};
  const oracle_geometry g = geometry(SLAB_PLANE, &plane, 1);
  const slab_cast_options back = {.cull = SLAB_CULL_BACK}, forward = {.face_forward = 1};
  const slab_hit along = hit(5, 0, 0.6f, 0.8f, 0, 0, 0), against = hit(5, 0, -0.6f, -0.8f, 0, 0, 0), none = miss();
  const slab_ray r = ray(9, 0, 0, 0, 0, 1);
  assert_int_equal(closest(&g, r, along), ORACLE_RIGHT);
  assert_int_equal(closest(&g, r, against), ORACLE_WRONG);
  assert_int_equal(judge_with(&g, SLAB_CLOSEST, r, &against, 1, &forward), ORACLE_RIGHT);
  assert_int_equal(judge_with(&g, SLAB_CLOSEST, r, &none, 1, &back), ORACLE_RIGHT);
  assert_int_equal(judge_with(&g, SLAB_CLOSEST, r, &along, 1, &back), ORACLE_WRONG);
  assert_verdict(&g, ray(0, 4, 2, 1, -4, 3), ORACLE_MISS); /* in the plane: n.d = 0 */
  assert_verdict(&g, ray(0, 0, 0, 1, -4, 3), ORACLE_MISS);
}

/* ---- triangles --------------------------------------------------------------------------- */

/* a right triangle in z = 5. Along +z, the tie rule moves the ray's point by (e, e^2) in (x, y): the legs belong to
 * the triangle, the hypotenuse does not. */
static void edges_and_corners_by_the_tie_rule(void **state) {
  (void)state;
  const slab_triangle triangle = {{0, 0, 5}, {4, 0, 5}, {0, 4, 5}};
  const oracle_geometry g = geometry(SLAB_TRIANGLE, &triangle, 1);
  const struct {
    float x, y;
    oracle_verdict expected;
  } cases[] = {{1, 1, ORACLE_HIT},  {0, 1, ORACLE_HIT},  {1, 0, ORACLE_HIT},  {2, 2, ORACLE_MISS}, {0, 0, ORACLE_HIT},
               {4, 0, ORACLE_MISS}, {0, 4, ORACLE_MISS}, {5, 0, ORACLE_MISS}, {-1, 0, ORACLE_MISS}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const slab_ray up = ray(cases[i].x, cases[i].y, 0, 0, 0, 1), down = ray(cases[i].x, cases[i].y, 10, 0, 0, -1);
    assert_verdict(&g, up, cases[i].expected);
    assert_verdict(&g, down, cases[i].expected);
    if (cases[i].expected == ORACLE_HIT) assert_hit_at(&g, up, 5.0);
  }
}

/* On the diagonal x = y the two directions differ: along -z the axes swap, so the point moves by e in y. */
static void tie_rule_swaps_axes_down_z(void **state) {
  (void)state;
  const slab_triangle above = {{0, 0, 5}, {4, 4, 5}, {0, 4, 5}}, below = {{0, 0, 5}, {4, 0, 5}, {4, 4, 5}};
  const oracle_geometry a = geometry(SLAB_TRIANGLE, &above, 1), b = geometry(SLAB_TRIANGLE, &below, 1);
  assert_verdict(&a, ray(1, 1, 0, 0, 0, 1), ORACLE_MISS);
  assert_verdict(&b, ray(1, 1, 0, 0, 0, 1), ORACLE_HIT);
  assert_verdict(&a, ray(1, 1, 9, 0, 0, -1), ORACLE_HIT);
  assert_verdict(&b, ray(1, 1, 9, 0, 0, -1), ORACLE_MISS);
  assert_verdict(&a, ray(1 - 5 * 0.25f, 1 - 5 * 0.5f, 0, 0.25f, 0.5f, 1), ORACLE_MISS); /* the shear is exact */
  assert_verdict(&b, ray(1 - 5 * 0.25f, 1 - 5 * 0.5f, 0, 0.25f, 0.5f, 1), ORACLE_HIT);
}

static void wrong_answers_on_a_triangle_are_seen(void **state) {
  (void)state;
  const slab_triangle triangle = {{0, 0, 5}, {4, 0, 5}, {0, 4, 5}};
  const oracle_geometry g = geometry(SLAB_TRIANGLE, &triangle, 1);
  const slab_ray r = ray(1, 2, 0, 0, 0, 1);
  const slab_cast_options back = {.cull = SLAB_CULL_BACK}, front = {.cull = SLAB_CULL_FRONT};
  const slab_hit right = hit(5, 0, 0, 1, 0.25f, 0.5f, 0), none = miss();
  assert_int_equal(closest(&g, r, right), ORACLE_RIGHT);
  assert_int_equal(closest(&g, r, hit(5, 0, 0, 1, 0.5f, 0.25f, 0)), ORACLE_WRONG);
  assert_int_equal(closest(&g, r, hit(5, 0, 0, 1, 0.25f, 0.25f, 0)), ORACLE_WRONG);
  assert_int_equal(closest(&g, r, hit(5, 0, 0, -1, 0.25f, 0.5f, 0)), ORACLE_WRONG);
  assert_int_equal(closest(&g, r, hit(5, 0, 0, 0.9999f, 0.25f, 0.5f, 0)), ORACLE_WRONG);
  assert_int_equal(closest(&g, r, hit(nextafterf(5, 6), 0, 0, 1, 0.25f, 0.5f, 0)), ORACLE_WRONG);
  assert_int_equal(interval(&g, r, 5, 5), ORACLE_RIGHT);
  /* the ray is parallel to the normal, so it hits the back */
  assert_int_equal(judge_with(&g, SLAB_CLOSEST, r, &none, 1, &back), ORACLE_RIGHT);
  assert_int_equal(judge_with(&g, SLAB_CLOSEST, r, &right, 1, &back), ORACLE_WRONG);
  assert_int_equal(judge_with(&g, SLAB_CLOSEST, r, &right, 1, &front), ORACLE_RIGHT);
}

static void triangles_without_area_are_missed(void **state) {
  (void)state;
  const slab_triangle line = {{0, 0, 5}, {2, 2, 5}, {4, 4, 5}}, edge_on = {{0, 0, 5}, {4, 4, 5}, {2, 2, 9}};
  const slab_triangle point = {{1, 1, 5}, {1, 1, 5}, {1, 1, 5}};
  const slab_triangle *shapes[] = {&line, &edge_on, &point};
  for (size_t i = 0; i < 3; i++) {
    const oracle_geometry g = geometry(SLAB_TRIANGLE, shapes[i], 1);
    assert_verdict(&g, ray(1, 1, 0, 0, 0, 1), ORACLE_MISS);
    assert_verdict(&g, ray(2, 2, 0, 0, 0, 1), ORACLE_MISS);
  }
}

/* A slanted needle of width 1e-6. Its areas are compensated, so that the error of t stays within a few 1e-6 of its
 * length. */
/* Vertices and areas are floats, but the products of the areas are not: t may be off by its last bit. */
static void areas_of_rounded_products_may_move_t(void **state) {
  (void)state;
  const slab_triangle triangle = {{0, 4, -4}, {0, -4, 4}, {-4, 4, 0}};
  const oracle_geometry g = geometry(SLAB_TRIANGLE, &triangle, 1);
  const slab_ray r = within(ray(1, 1, -0x1.a857p-5f, 4, -4, 4), -INFINITY, INFINITY);
  const float exact = -0x1.f2bd48p-2f, told = nextafterf(exact, -INFINITY), beyond = exact * (1.0f + 0x1p-19f);
  assert_int_equal(judge(&g, SLAB_DISTANCE, r, &exact), ORACLE_RIGHT);
  assert_int_equal(judge(&g, SLAB_DISTANCE, r, &told), ORACLE_RIGHT);
  assert_int_equal(judge(&g, SLAB_DISTANCE, r, &beyond), ORACLE_WRONG);
}

static void needles_keep_their_t(void **state) {
  (void)state;
  const slab_triangle needle = {{-1, -1e-6f, 4}, {-1, 1e-6f, 4}, {1, 0, 6}};
  const oracle_geometry g = geometry(SLAB_TRIANGLE, &needle, 1);
  double t[2];
  assert_int_equal(verdict(&g, ray(0, 0, 0, 0, 0, 1), t), ORACLE_HIT);
  assert_true(t[0] <= 5.0 && 5.0 <= t[1] && t[1] - t[0] < 2e-5);
  assert_verdict(&g, ray(0, 0.6e-6f, 0, 0, 0, 1), ORACLE_MISS);
  assert_verdict(&g, ray(0, 0.4e-6f, 0, 0, 0, 1), ORACLE_HIT);
}

/* ---- order, ids, encodings ------------------------------------------------------------------ */

static void ties_go_to_the_lower_id(void **state) {
  (void)state;
  const slab_box boxes[] = {{{3, 0, 0}, {4, 1, 1}}, {{3, 0, 0}, {4, 1, 1}}, {{3, -5, 0}, {9, 7, 1}}};
  const oracle_geometry g = geometry(SLAB_BOX, boxes, 3);
  const slab_ray exact = ray(0, 0.5f, 0.5f, 1, 0, 0), rounded = ray(0, 0.5f, 0.5f, 7, 0.1f, 0);
  assert_int_equal(closest(&g, exact, hit(3, -1, 0, 0, 0, 0, 0)), ORACLE_RIGHT);
  assert_int_equal(closest(&g, exact, hit(3, -1, 0, 0, 0, 0, 1)), ORACLE_WRONG);
  assert_int_equal(closest(&g, rounded, hit(3.0f / 7, -1, 0, 0, 0, 0, 0)), ORACLE_RIGHT);
  assert_int_equal(closest(&g, rounded, hit(3.0f / 7, -1, 0, 0, 0, 0, 1)), ORACLE_WRONG); /* equal boxes */
  assert_int_equal(closest(&g, rounded, hit(3.0f / 7, -1, 0, 0, 0, 0, 2)), ORACLE_WRONG); /* the same plane */
}

static void lists_are_complete_and_sorted(void **state) {
  (void)state;
  const slab_box boxes[] = {
      {{5, 0, 0}, {6, 1, 1}}, {{1, 0, 0}, {2, 1, 1}}, {{1, 0, 0}, {2, 1, 1}}, {{1, 8, 0}, {2, 9, 1}}};
  const oracle_geometry g = geometry(SLAB_BOX, boxes, 4);
  const slab_ray r = ray(0, 0.5f, 0.5f, 1, 0, 0);
  const slab_hit h0 = hit(5, -1, 0, 0, 0, 0, 0), h1 = hit(1, -1, 0, 0, 0, 0, 1), h2 = hit(1, -1, 0, 0, 0, 0, 2);
  const slab_hit right[] = {h1, h2, h0}, swapped[] = {h2, h1, h0}, late[] = {h0, h1, h2}, twice[] = {h1, h1, h0};
  const slab_hit extra[] = {h1, h2, h0, hit(5, -1, 0, 0, 0, 0, 3)};
  assert_int_equal(judge_with(&g, SLAB_ALL, r, right, 3, NULL), ORACLE_RIGHT);
  assert_int_equal(judge_with(&g, SLAB_ALL, r, right, 2, NULL), ORACLE_WRONG);
  assert_int_equal(judge_with(&g, SLAB_ALL, r, NULL, 0, NULL), ORACLE_WRONG);
  assert_int_equal(judge_with(&g, SLAB_ALL, r, swapped, 3, NULL), ORACLE_WRONG);
  assert_int_equal(judge_with(&g, SLAB_ALL, r, late, 3, NULL), ORACLE_WRONG);
  assert_int_equal(judge_with(&g, SLAB_ALL, r, twice, 3, NULL), ORACLE_WRONG);
  assert_int_equal(judge_with(&g, SLAB_ALL, r, extra, 4, NULL), ORACLE_WRONG);
}

static void masks_skips_and_dropped(void **state) {
  (void)state;
  const slab_plane planes[] = {{{0, 0, 1}, 1}, {{0, 0, 1}, 2}, {{0, 0, 1}, 3}};
  const slab_box box = {{0, 0, 4}, {1, 1, 5}};
  const uint8_t dropped[] = {1, 0, 0};
  const oracle_geometry all[] = {{SLAB_PLANE, planes, 3, 1, dropped, NULL, 0, 0},
                                 {SLAB_BOX, &box, 1, 2, NULL, NULL, 1, 0}};
  const oracle_scene scene = {.geometries = all, .count = 2};
  const slab_ray r = ray(0, 0, 0, 0, 0, 1);
  const slab_primitive_id second = {1, 0}, the_box = {0, 1};
  const slab_cast_options boxes_only = {.mask = 2};
  const float two = 2, three = 3, four = 4;
  const struct {
    slab_primitive_id skip;
    const slab_cast_options *options;
    const float *t;
  } cases[] = {{nothing, NULL, &two}, {second, NULL, &three}, {the_box, &boxes_only, &four}};
  for (size_t i = 0; i < 3; i++)
    for (size_t k = 0; k < 3; k++) {
      ray_own own = ray_own_of(cases[i].options, 0);
      own.skip = cases[i].skip;
      assert_int_equal(oracle_judge(&scene, SLAB_DISTANCE, &r, cases[k].t, 1, &own, cases[i].options, NULL, 0),
                       i == k ? ORACLE_RIGHT : ORACLE_WRONG);
    }
}

static void invalid_and_empty_rays(void **state) {
  (void)state;
  const slab_box box = {{-1, -1, -1}, {1, 1, 1}};
  const oracle_geometry g = geometry(SLAB_BOX, &box, 1);
  const slab_ray invalid[] = {ray(NAN, 0, 0, 1, 0, 0), ray(0, 0, 0, INFINITY, 0, 0), ray(0, 0, 0, 0, -0.0f, 0),
                              ray(0x1.1p60f, 0, 0, 1, 0, 0), within(ray(0, 0, 0, 1, 0, 0), 0, NAN)};
  slab_hit bad = miss();
  bad.primitive = bad.geometry = SLAB_INVALID;
  const uint8_t no = 0, yes = 1;
  for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
    assert_int_equal(closest(&g, invalid[i], bad), ORACLE_RIGHT);
    assert_int_equal(closest(&g, invalid[i], miss()), ORACLE_WRONG);
    assert_int_equal(judge(&g, SLAB_ANY, invalid[i], &no), ORACLE_RIGHT);
    assert_int_equal(judge(&g, SLAB_ANY, invalid[i], &yes), ORACLE_WRONG);
  }
  const slab_ray empty = within(ray(0, 0, 0, 1, 0, 0), 2, 1);
  assert_int_equal(closest(&g, empty, miss()), ORACLE_RIGHT);
  assert_int_equal(closest(&g, empty, bad), ORACLE_WRONG);
  assert_verdict(&g, ray(0x1p60f, 0, 0, -1, 0, 0), ORACLE_HIT); /* the last valid origin */
}

/* Directions of all lengths: t scales by powers of two. A t that is not finite is a miss. */
static void tiny_and_huge_directions(void **state) {
  (void)state;
  const slab_box box = {{2, -1, -1}, {3, 1, 1}};
  const oracle_geometry g = geometry(SLAB_BOX, &box, 1);
  assert_hit_at(&g, ray(0, 0, 0, 0x1p100f, 0, 0), 0x1p-99);
  assert_hit_at(&g, ray(0, 0, 0, 0x1p-120f, 0, 0), 0x1p121);
  assert_verdict(&g, ray(0, 0, 0, 0x1p-140f, 0, 0), ORACLE_MISS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_answers_on_a_box_are_seen),
      cmocka_unit_test(small_results_on_a_box),
      cmocka_unit_test(boxes_are_closed_at_a_corner),
      cmocka_unit_test(parallel_axes_have_no_slack),
      cmocka_unit_test(inside_flat_infinite_and_inverted_boxes),
      cmocka_unit_test(ranges_are_closed),
      cmocka_unit_test(oriented_boxes_in_their_frame),
      cmocka_unit_test(tangents_touch),
      cmocka_unit_test(crossings_of_a_sphere),
      cmocka_unit_test(gate_of_a_far_small_sphere_may_move_its_crossing),
      cmocka_unit_test(planes_and_coplanar_rays),
      cmocka_unit_test(edges_and_corners_by_the_tie_rule),
      cmocka_unit_test(tie_rule_swaps_axes_down_z),
      cmocka_unit_test(wrong_answers_on_a_triangle_are_seen),
      cmocka_unit_test(triangles_without_area_are_missed),
      cmocka_unit_test(areas_of_rounded_products_may_move_t),
      cmocka_unit_test(needles_keep_their_t),
      cmocka_unit_test(ties_go_to_the_lower_id),
      cmocka_unit_test(lists_are_complete_and_sorted),
      cmocka_unit_test(masks_skips_and_dropped),
      cmocka_unit_test(invalid_and_empty_rays),
      cmocka_unit_test(tiny_and_huge_directions),
  };
  return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
