/* How far off distances of triangles are, in units of 2^-24 of the largest distance of a corner. Triangles are needles,
 * far and tiny ones; points are on, beside and away from them. The contract's bound holds. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check/oracle_points.h"
#include "harness.h"

/* Each triangle is a geometry of its own, which points see by masks. */
enum { TRIANGLES = 32, EACH = 32, POINTS = TRIANGLES * EACH, ROUNDS = 60 };
#define BOUND 10.0

typedef enum sort { PLAIN, NEEDLES, CAPS, FAR_AWAY, TINY, FLAT_POINTS, SORTS } sort;

static const char *const names[SORTS] = {"plain", "needles", "caps", "far away", "tiny", "needles, far points"};

static void random_vector(random_state *r, float size, float v[3]) {
  for (int i = 0; i < 3; i++) v[i] = size * random_between(r, -1.0f, 1.0f);
}

/* b = a + side, and c beside a (needles) or beside the middle (caps). */
static slab_triangle triangle_of(random_state *r, sort which) {
  static const float sizes[SORTS] = {1.0f, 1.0f, 1.0f, 1.0f, 1e-12f, 1.0f};
  static const float aspects[SORTS] = {1.0f, 1e-6f, 1e-6f, 1.0f, 1e-3f, 1e-6f};
  float origin[3], side[3], beside[3];
  slab_triangle t;
  random_vector(r, which == FAR_AWAY ? 1e6f : sizes[which], origin);
  random_vector(r, sizes[which], side);
  random_vector(r, sizes[which] * aspects[which], beside);
  const float along = which == CAPS ? random_float(r) : 0.0f;
  for (int i = 0; i < 3; i++) {
    t.a[i] = origin[i];
    t.b[i] = origin[i] + side[i];
    t.c[i] = origin[i] + along * side[i] + beside[i];
  }
  return t;
}

/* On the triangle, near it, or away by as much as it is large. */
static void point_of(random_state *r, sort which, const slab_triangle *t, float p[3]) {
  static const float far_sizes[] = {0.0f, 1e-7f, 1e-3f, 1.0f, 1e3f};
  const float u = random_float(r), v = random_float(r) * (1.0f - u);
  const float size = far_sizes[random_below(r, which == FLAT_POINTS ? 5 : 4)] * (which == TINY ? 1e-12f : 1.0f);
  float off[3];
  random_vector(r, size, off);
  for (int i = 0; i < 3; i++) p[i] = t->a[i] + u * (t->b[i] - t->a[i]) + v * (t->c[i] - t->a[i]) + off[i];
}

/* Beside what comes of components below 2^-63, which count as 0: three of a corner, and three of the vector. */
static double error_of(const slab_triangle *t, const float point[3], float distance) {
  const double p[3] = {(double)point[0], (double)point[1], (double)point[2]};
  oracle_near near;
  oracle_near_triangle(t, p, &near);
  const double error = fmax(fabs((double)distance - near.distance) - 0x1p-61, 0.0);
  return error > 0.0 ? error / (ORACLE_U * near.reach) : 0.0;
}

static double largest_error(slab_context *context, random_state *random, sort which) {
  static float points[3 * POINTS], distances[POINTS];
  static uint32_t masks[POINTS];
  slab_triangle triangles[TRIANGLES];
  double largest = 0.0;
  slab_scene *scene = harness_scene(context);
  for (uint32_t k = 0; k < TRIANGLES; k++) {
    triangles[k] = triangle_of(random, which);
    const slab_mesh mesh = {.vertices = triangles[k].a, .vertex_count = 3, .triangle_count = 1};
    assert_ok(slab_scene_add_mesh(scene, &mesh, &(slab_geometry_options){.mask = 1u << k}, NULL));
  }
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_FLAT}));
  for (uint32_t i = 0; i < POINTS; i++) {
    masks[i] = 1u << i % TRIANGLES;
    point_of(random, which, &triangles[i % TRIANGLES], points + 3 * i);
  }
  assert_ok(slab_closest_distances(scene, points, POINTS, distances, &(slab_point_options){.masks = masks}));
  for (uint32_t i = 0; i < POINTS; i++)
    largest = fmax(largest, error_of(&triangles[i % TRIANGLES], points + 3 * i, distances[i]));
  slab_scene_destroy(scene);
  harness_count(POINTS);
  return largest;
}

static void distances_of_triangles_are_within_the_bound(void **state) {
  (void)state;
  random_state random = harness_seeded("test_points_error");
  slab_context *context = harness_context();
  for (int which = 0; which < SORTS; which++) {
    double largest = 0.0;
    for (int k = 0; k < ROUNDS; k++) largest = fmax(largest, largest_error(context, &random, (sort)which));
    print_message("%s: %.2f of 2^-24 of the largest distance of a corner\n", names[which], largest);
    assert_true(largest <= BOUND);
  }
  slab_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(distances_of_triangles_are_within_the_bound)};
  return cmocka_run_group_tests_name("test_points_error", tests, NULL, NULL);
}
