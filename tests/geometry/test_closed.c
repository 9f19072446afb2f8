/* Closed edges, exactly: rays through a vertex or an edge's middle of a triangle, all of whole numbers, hit it,
 * whatever their direction is. The shear of most of them is rounded, so that half open edges see them beside the
 * triangle. */
#include <math.h>

#include "expect.h"

enum { TRIANGLES = 200, EACH = 64 };

/* A triangle with even coordinates, so that the middles of its edges are whole numbers. */
typedef struct whole_triangle {
  int64_t corner[3][3], normal[3];
} whole_triangle;

static int64_t whole_below(random_state *r, int64_t limit) {
  return (int64_t)random_below(r, (uint32_t)(2 * limit + 1)) - limit;
}

static whole_triangle random_triangle(random_state *r, int64_t limit) {
  whole_triangle w;
  int64_t e[2][3];
  for (int v = 0; v < 3; v++)
    for (int i = 0; i < 3; i++) w.corner[v][i] = 2 * whole_below(r, limit);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++) e[k][i] = w.corner[k + 1][i] - w.corner[0][i];
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    w.normal[i] = e[0][j] * e[1][k] - e[0][k] * e[1][j];
  }
  return w;
}

static slab_triangle as_triangle(const whole_triangle *w) {
  slab_triangle t;
  for (int i = 0; i < 3; i++) {
    t.a[i] = (float)w->corner[0][i];
    t.b[i] = (float)w->corner[1][i];
    t.c[i] = (float)w->corner[2][i];
  }
  return t;
}

/* Where a ray touches: at corner `from`, or in the middle of the edge to another one. */
typedef struct touched {
  int from, to;
  float t, weight[3];
} touched;

/* A ray that reaches the point after 1 to 4 times its direction, which is not in the triangle's plane. */
static slab_ray ray_to(random_state *r, const whole_triangle *w, int64_t limit, touched *at) {
  int64_t d[3], along = 0;
  slab_ray ray = {.t_max = INFINITY};
  *at =
      (touched){.from = (int)random_below(r, 3), .to = (int)random_below(r, 3), .t = 1.0f + (float)random_below(r, 4)};
  at->weight[at->from] += 0.5f;
  at->weight[at->to] += 0.5f;
  while (along == 0) {
    along = 0;
    for (int i = 0; i < 3; i++) {
      d[i] = whole_below(r, limit);
      along += d[i] * w->normal[i];
    }
  }
  for (int i = 0; i < 3; i++) {
    const int64_t point = (w->corner[at->from][i] + w->corner[at->to][i]) / 2;
    ray.direction[i] = (float)d[i];
    ray.origin[i] = (float)(point - (int64_t)at->t * d[i]);
  }
  return ray;
}

static void check_touches(void **state, const char *test, int64_t limit) {
  static const slab_cast_options closed = {.edges = SLAB_EDGES_CLOSED};
  random_state r = harness_seeded(test);
  slab_ray rays[EACH];
  touched at[EACH];
  const uint32_t triangles = harness_rays(TRIANGLES);
  for (uint32_t k = 0; k < triangles; k++) {
    const whole_triangle w = random_triangle(&r, limit);
    if (w.normal[0] == 0 && w.normal[1] == 0 && w.normal[2] == 0) continue;
    const slab_triangle triangle = as_triangle(&w);
    slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, &triangle, 1);
    for (int i = 0; i < EACH; i++) rays[i] = ray_to(&r, &w, limit, &at[i]);
    answers a;
    expect_cast(scene, rays, EACH, &closed, &a);
    for (int i = 0; i < EACH; i++) {
      assert_int_equal(a.any[i], 1);
      assert_true(fabsf(a.distance[i] - at[i].t) <= 0x1p-20f * at[i].t);
      assert_true(a.closest[i].u == at[i].weight[1] && a.closest[i].v == at[i].weight[2]);
    }
    answers_free(&a);
    slab_scene_destroy(scene);
  }
}

static void touch_of_small_whole_numbers_is_a_hit(void **state) { check_touches(state, __func__, 8); }
static void touch_of_whole_numbers_is_a_hit(void **state) { check_touches(state, __func__, 1000); }
static void touch_of_large_whole_numbers_is_a_hit(void **state) { check_touches(state, __func__, 250000); }

/* By rounded weights these rays, which pass a corner or an edge, met the plane of the triangle elsewhere, or missed. */
static void touch_is_reported_where_it_is(void **state) {
  static const struct {
    slab_triangle triangle;
    slab_ray ray;
    float t, u, v;
  } rows[] = {
      {{{1, 3, 0}, {0, 1, -1}, {0, 2, 0}}, {{0, 0, 0}, 0, {1, 3, 0}, INFINITY}, 1, 0, 0},
      {{{-1228, -1670, -1204}, {-752, 366, -736}, {-54174, -38263, -53082}},
       {{0, 0, 0}, 0, {-990, -652, -970}, INFINITY},
       1,
       0.5f,
       0},
      {{{3, 7, 11}, {3, 7, 12}, {5, 7, 13}}, {{0, 0, 0}, 0, {3, 7, 11}, INFINITY}, 1, 0, 0},
      {{{0x1p-60f, 0x3p-60f, 0}, {0, 0x1p-60f, -0x1p-60f}, {0, 0x1p-59f, 0}},
       {{0, 0, 0}, 0, {1, 3, 0}, INFINITY},
       0x1p-60f,
       0,
       0},
      {{{0x1p50f, 0x3p50f, 0}, {0, 0x1p50f, -0x1p50f}, {0, 0x1p51f, 0}},
       {{0, 0, 0}, 0, {1, 3, 0}, INFINITY},
       0x1p50f,
       0,
       0},
  };
  static const slab_cast_options closed = {.edges = SLAB_EDGES_CLOSED};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, &rows[i].triangle, 1);
    answers a;
    expect_cast(scene, &rows[i].ray, 1, &closed, &a);
    assert_true(a.any[0] == 1 && a.closest[0].t == rows[i].t);
    assert_true(a.closest[0].u == rows[i].u && a.closest[0].v == rows[i].v);
    answers_free(&a);
    slab_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(touch_of_small_whole_numbers_is_a_hit),
      cmocka_unit_test(touch_of_whole_numbers_is_a_hit),
      cmocka_unit_test(touch_of_large_whole_numbers_is_a_hit),
      cmocka_unit_test(touch_is_reported_where_it_is),
  };
  return cmocka_run_group_tests(tests, expect_setup, expect_teardown);
}
