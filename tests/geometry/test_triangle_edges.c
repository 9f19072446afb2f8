/* Rays exactly on edges and vertices of triangles: a point belongs to exactly one side. test_watertight.c tests
 * closed meshes. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "expect.h"

/* Triangles in a plane, and counts of rays perpendicular to it, along z (mapped to any axis). */
typedef struct sheet {
  int axis; /* the axis in the place of z */
  float side;
  slab_triangle triangles[16];
  uint32_t count;
} sheet;

static void place(const sheet *s, float x, float y, float z, float to[3]) {
  to[(s->axis + 1) % 3] = x;
  to[(s->axis + 2) % 3] = y;
  to[s->axis] = z;
}

static void add_flat(sheet *s, const float a[2], const float b[2], const float c[2]) {
  slab_triangle *t = &s->triangles[s->count++];
  place(s, a[0], a[1], 0, t->a);
  place(s, b[0], b[1], 0, t->b);
  place(s, c[0], c[1], 0, t->c);
}

static slab_ray through(const sheet *s, float x, float y) {
  slab_ray ray = {{0}, 0, {0}, INFINITY};
  place(s, x, y, 5 * s->side, ray.origin);
  place(s, 0, 0, -s->side, ray.direction);
  return ray;
}

/* Checks that the count of rays[i] is want[i]. */
static void check_counts_with(void **state, const sheet *s, const slab_ray *rays, const uint32_t *want, size_t n,
                              slab_edges edges) {
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, s->triangles, s->count);
  const slab_cast_options options = {.edges = edges};
  answers a;
  expect_cast(scene, rays, n, &options, &a);
  for (size_t i = 0; i < n; i++) assert_int_equal(a.count[i], want[i]);
  answers_free(&a);
  slab_scene_destroy(scene);
}

static void check_counts(void **state, const sheet *s, const slab_ray *rays, const uint32_t *want, size_t n) {
  check_counts_with(state, s, rays, want, n, SLAB_EDGES_HALF_OPEN);
}

/* An edge from (0, 0) to e with a triangle on each side, in all directions, with equal or opposite winding. */
static void ray_on_shared_edge_hits_once(void **state) {
  for (int axis = 0; axis < 6; axis++)
    for (int dx = -4; dx <= 4; dx += 2)
      for (int dy = -4; dy <= 4; dy += 2)
        for (int winding = 0; winding < 4 && (dx || dy); winding++) {
          const float p[2] = {0, 0}, q[2] = {4 * (float)dx, 4 * (float)dy};
          const float left[2] = {q[0] / 4 - (float)dy, q[1] / 2 + (float)dx};
          const float right[2] = {q[0] / 2 + (float)dy, q[1] / 4 - (float)dx};
          sheet s = {.axis = axis % 3, .side = axis < 3 ? 1.0f : -1.0f};
          add_flat(&s, winding & 1 ? q : p, winding & 1 ? p : q, left);
          add_flat(&s, winding & 2 ? p : q, winding & 2 ? q : p, right);
          slab_ray rays[15];
          uint32_t want[15];
          for (int i = 0; i < 15; i++) {
            rays[i] = through(&s, q[0] * (float)(i + 1) / 16, q[1] * (float)(i + 1) / 16);
            want[i] = 1;
          }
          check_counts(state, &s, rays, want, 15);
        }
}

/* Mirrors a point in x, in y, and at the diagonal. */
static void flip(int flips, float point[2]) {
  const float x = flips & 1 ? -point[0] : point[0], y = flips & 2 ? -point[1] : point[1];
  point[0] = flips & 4 ? y : x;
  point[1] = flips & 4 ? x : y;
}

/* The edge from (n + 1, n) to (-n, 1 - n) passes the ray on the side of (-n, n). Its edge function there is (n +
 * 1)(1 - n) + n n = 1, but for n = 2^23 both products round to n n. The exact sign decides, not the rule for points
 * on an edge. So the triangle towards (n, -n) is hit and the one towards (-n, n) is not. */
static void edge_function_that_rounds_to_zero_keeps_its_exact_sign(void **state) {
  static const float n = 0x1p23f;
  for (int axis = 0; axis < 6; axis++)
    for (int flips = 0; flips < 8; flips++)
      for (uint32_t hit = 0; hit < 2; hit++) {
        float p[2] = {n + 1, n}, q[2] = {-n, 1 - n}, corner[2] = {hit ? n : -n, hit ? -n : n};
        flip(flips, p);
        flip(flips, q);
        flip(flips, corner);
        sheet s = {.axis = axis % 3, .side = axis < 3 ? 1.0f : -1.0f};
        add_flat(&s, p, q, corner);
        const slab_ray ray = through(&s, 0, 0);
        check_counts(state, &s, &ray, &hit, 1);
      }
}

static void ray_on_a_vertex_of_a_closed_fan_hits_once(void **state) {
  static const float rings[3][8][2] = {
      {{4, 0}, {4, 4}, {0, 4}, {-4, 4}, {-4, 0}, {-4, -4}, {0, -4}, {4, -4}},
      {{5, 1}, {1, 5}, {-3, 2}, {-1, -4}, {3, -3}},
      {{0, 4}, {-4, -4}, {4, -4}},
  };
  static const int sizes[3] = {8, 5, 3};
  for (int axis = 0; axis < 6; axis++)
    for (int ring = 0; ring < 3; ring++)
      for (int turn = 0; turn < sizes[ring]; turn++) {
        sheet s = {.axis = axis % 3, .side = axis < 3 ? 1.0f : -1.0f};
        static const float centre[2] = {0, 0};
        for (int i = 0; i < sizes[ring]; i++) {
          const int from = (i + turn) % sizes[ring], to = (from + 1) % sizes[ring];
          const float *corners[3] = {centre, rings[ring][from], rings[ring][to]};
          add_flat(&s, corners[i % 3], corners[(i + 1) % 3], corners[(i + 2) % 3]); /* any corner may come first */
        }
        const slab_ray rays[] = {through(&s, 0, 0), through(&s, -0.0f, 0x1p-20f), through(&s, 0.125f, 0.25f)};
        static const uint32_t want[] = {1, 1, 1};
        check_counts(state, &s, rays, want, 3);
      }
}

/* A triangle, and its point reflection at the middle of an edge. Each border point belongs to one of the two. */
static void border_edge_is_half_open(void **state) {
  static const float a[2] = {0, 0}, b[2] = {8, 0}, c[2] = {0, 8}, d[2] = {8, 8};
  for (int axis = 0; axis < 6; axis++) {
    uint32_t hits[2][7];
    for (int half = 0; half < 2; half++) {
      sheet s = {.axis = axis % 3, .side = axis < 3 ? 1.0f : -1.0f};
      add_flat(&s, half ? d : a, half ? c : b, half ? b : c);
      slab_ray rays[7];
      for (int i = 0; i < 7; i++) rays[i] = through(&s, (float)(i + 1), (float)(7 - i)); /* on b - c */
      slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, s.triangles, 1);
      assert_ok(slab_count(scene, rays, 7, hits[half], NULL));
      slab_scene_destroy(scene);
    }
    for (int i = 0; i < 7; i++) assert_true(hits[0][i] == hits[0][0] && hits[0][i] + hits[1][i] == 1);
  }
}

/* Two triangles that share an edge and, seen along the ray, lie on the same side of it (a fold). A point of the edge
 * belongs to that side or to the other. So either the fold or its mirror image counts 2, and the other one counts 0. */
static void ray_on_a_fold_hits_twice_or_not_at_all(void **state) {
  for (int axis = 0; axis < 6; axis++)
    for (int dx = -2; dx <= 2; dx++)
      for (int dy = -2; dy <= 2; dy++) {
        if (!dx && !dy) continue;
        uint32_t counts[2][7];
        for (int mirrored = 0; mirrored < 2; mirrored++) {
          sheet s = {.axis = axis % 3, .side = axis < 3 ? 1.0f : -1.0f, .count = 2};
          const float away = mirrored ? -1.0f : 1.0f, x = 8 * (float)dx, y = 8 * (float)dy;
          for (int k = 0; k < 2; k++) {
            slab_triangle *t = &s.triangles[k];
            place(&s, 0, 0, 0, k ? t->b : t->a);
            place(&s, x, y, 0, k ? t->a : t->b);
            place(&s, x / 4 - away * (float)dy * (float)(k + 1), y / 4 + away * (float)dx * (float)(k + 1),
                  k ? 1.0f : -1.0f, t->c);
          }
          slab_ray rays[7];
          for (int i = 0; i < 7; i++) rays[i] = through(&s, x * (float)(i + 1) / 8, y * (float)(i + 1) / 8);
          slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, s.triangles, 2);
          assert_ok(slab_count(scene, rays, 7, counts[mirrored], NULL));
          slab_scene_destroy(scene);
        }
        for (int i = 0; i < 7; i++) {
          assert_true(counts[0][i] == 0 || counts[0][i] == 2);
          assert_int_equal(counts[0][i] + counts[1][i], 2);
        }
      }
}

/* ---- closed edges ---- */

/* Every triangle that the ray touches is hit: at a shared edge both, at a vertex of a fan all, on a border its one. */
static void closed_edges_belong_to_every_triangle_there(void **state) {
  static const float ring[8][2] = {{4, 0}, {4, 4}, {0, 4}, {-4, 4}, {-4, 0}, {-4, -4}, {0, -4}, {4, -4}}, centre[2];
  for (int axis = 0; axis < 6; axis++)
    for (int winding = 0; winding < 2; winding++) {
      sheet s = {.axis = axis % 3, .side = axis < 3 ? 1.0f : -1.0f};
      for (int i = 0; i < 8; i++) add_flat(&s, centre, ring[(i + winding) % 8], ring[(i + 1 - winding) % 8]);
      const slab_ray rays[] = {through(&s, 0, 0),  through(&s, 2, 2),  through(&s, -3, 0), through(&s, 4, 4),
                               through(&s, -4, 2), through(&s, 4, -1), through(&s, 1, 2),  through(&s, 4, 4.5f)};
      static const uint32_t want[] = {8, 2, 2, 2, 1, 1, 1, 0};
      check_counts_with(state, &s, rays, want, 8, SLAB_EDGES_CLOSED);
    }
}

/* One face of a closed surface is seen edge-on, and so not hit; the ray along its edge hits the neighbour. */
static void ray_along_a_silhouette_hits_with_closed_edges(void **state) {
  static const float corner[8][3] = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}, {4, 4, 0},
                                     {0, 0, 4}, {4, 0, 4}, {0, 4, 4}, {4, 4, 4}};
  static const int face[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                  {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  slab_triangle cube[12];
  for (int i = 0; i < 12; i++) {
    memcpy(cube[i].a, corner[face[i][0]], sizeof cube[i].a);
    memcpy(cube[i].b, corner[face[i][1]], sizeof cube[i].b);
    memcpy(cube[i].c, corner[face[i][2]], sizeof cube[i].c);
  }
  const slab_ray rays[] = {
      {{0, 1, -1}, 0, {0, 0, 1}, INFINITY},     /* along the face x = 0: its edges at z = 0 and z = 4 */
      {{4, 1, -1}, 0, {0, 0, 1}, INFINITY},     /* x = 4 */
      {{0, 0, -1}, 0, {0, 0, 1}, INFINITY},     /* along an edge, through two corners */
      {{4, 4, -1}, 0, {0, 0, 1}, INFINITY},     /* the opposite one */
      {{-1, 3, 2}, 0, {1, 1, 0}, INFINITY},     /* past the edge x = 0, y = 4, which it touches */
      {{-1, 3.25f, 2}, 0, {1, 1, 0}, INFINITY}, /* beside it */
  };
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, cube, 12);
  const slab_cast_options closed = {.edges = SLAB_EDGES_CLOSED};
  answers a;
  expect_cast(scene, rays, 6, &closed, &a);
  for (int i = 0; i < 5; i++) assert_true(a.any[i] == 1 && a.distance[i] == 1.0f);
  assert_true(a.any[5] == 0);
  answers_free(&a);
  slab_scene_destroy(scene);
}

/* All three edge functions are exactly 0 where the ray sees the triangle edge-on. No reading of edges hits it. */
static void triangle_seen_edge_on_is_never_hit(void **state) {
  static const slab_triangle triangle = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}};
  static const slab_ray rays[] = {{{1.5f, 0, 0}, 0, {-1, 0, 0}, INFINITY}, {{0.25f, 0, 2}, 0, {0, 0, -1}, INFINITY}};
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, &triangle, 1);
  for (int edges = 0; edges < 2; edges++) {
    const slab_cast_options options = {.edges = (slab_edges)edges};
    answers a;
    expect_cast(scene, rays, 2, &options, &a);
    assert_int_equal(a.count[0] + a.count[1], 0);
    answers_free(&a);
  }
  slab_scene_destroy(scene);
}

/* The front of a triangle, of a hit where edge functions are 0, is that of its other points. */
static void closed_edges_keep_their_side(void **state) {
  static const slab_triangle triangle = {{0, 0, 0}, {4, 0, 0}, {0, 4, 0}};
  static const float points[6][2] = {{0, 0}, {4, 0}, {0, 4}, {2, 0}, {0, 2}, {2, 2}};
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, &triangle, 1);
  for (int k = 0; k < 12; k++) {
    const float side = k < 6 ? 1.0f : -1.0f;
    const slab_ray ray = {{points[k % 6][0], points[k % 6][1], 3 * side}, 0, {0, 0, -side}, INFINITY};
    for (int cull = 0; cull < 3; cull++) {
      const slab_cast_options options = {.edges = SLAB_EDGES_CLOSED, .cull = (slab_cull)cull};
      const bool dropped = cull == (k < 6 ? SLAB_CULL_FRONT : SLAB_CULL_BACK);
      answers a;
      expect_cast(scene, &ray, 1, &options, &a);
      assert_true(a.any[0] == !dropped && a.interval[0].enter == 3.0f);
      if (!dropped) assert_true(a.closest[0].normal[2] == 1.0f && a.closest[0].t == 3.0f);
      if (!dropped) assert_true(a.closest[0].u == points[k % 6][0] / 4 && a.closest[0].v == points[k % 6][1] / 4);
      answers_free(&a);
    }
  }
  slab_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ray_on_shared_edge_hits_once),
      cmocka_unit_test(closed_edges_belong_to_every_triangle_there),
      cmocka_unit_test(ray_along_a_silhouette_hits_with_closed_edges),
      cmocka_unit_test(triangle_seen_edge_on_is_never_hit),
      cmocka_unit_test(closed_edges_keep_their_side),
      cmocka_unit_test(edge_function_that_rounds_to_zero_keeps_its_exact_sign),
      cmocka_unit_test(ray_on_a_vertex_of_a_closed_fan_hits_once),
      cmocka_unit_test(border_edge_is_half_open),
      cmocka_unit_test(ray_on_a_fold_hits_twice_or_not_at_all),
  };
  return cmocka_run_group_tests(tests, expect_setup, expect_teardown);
}
