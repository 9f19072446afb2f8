/* Closed meshes, and rays through their edges and vertices: no leak, and every crossing is counted once.
 *
 * Meshes have integer vertices, and rays pass through lattice points of their edges, so edge functions are zero in
 * exact arithmetic. Where the largest component of the direction is a power of two, nothing is rounded in shear
 * space either, and the library itself computes zero. Those rays are counted, with integers, and must be 30 % or
 * more. */
#include <math.h>
#include <stdlib.h>

#include "expect.h"
#include "sets/lattice.h"

#define CASTS 3000     /* rays cast in every query */
#define COUNTED 100000 /* rays whose counts are checked */
static slab_scene *scene_of(slab_context *context, const lattice_mesh *m, const int place[3]) {
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(lattice_add(scene, m, place));
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

/* ---- rays ---- */

typedef struct rays_set {
  slab_ray rays[COUNTED];
  size_t zero; /* rays with an edge function that is exactly zero in shear space */
} rays_set;

static rays_set *lattice_rays(random_state *r, const lattice_mesh *m, const int place[3],
                              const lattice_origins *origins) {
  rays_set *set = calloc(1, sizeof *set);
  assert_non_null(set);
  for (size_t i = 0; i < COUNTED; i++) {
    const lattice_aim aim = lattice_aim_at(r, m, origins);
    assert_true(lattice_edge_function(&aim) == 0);
    set->zero += lattice_is_exact(&aim);
    set->rays[i] = lattice_ray(&aim, place);
  }
  print_message("%.1f %% of the rays meet an exactly zero edge function\n", 100.0 * (double)set->zero / COUNTED);
  assert_true(set->zero * 10 >= COUNTED * 3);
  return set;
}

/* ---- counts ---- */

/* The component of the normal along the ray. */
static double along(const slab_hit *h, const slab_ray *ray) {
  double sum = 0, length = 0;
  for (int j = 0; j < 3; j++) {
    sum += (double)h->normal[j] * (double)ray->direction[j];
    length += (double)ray->direction[j] * (double)ray->direction[j];
  }
  return sum / sqrt(length);
}

/* Culling gives the facing, because for a triangle along the ray the normal cannot. From inside a closed mesh, each
 * ray has one more exit than entries; from outside, as many. */
static void check_balance(slab_scene *scene, const slab_ray *rays, size_t n, uint32_t inside) {
  uint32_t *entries = malloc(n * sizeof *entries), *exits = malloc(n * sizeof *exits);
  static const slab_cast_options back = {.cull = SLAB_CULL_BACK}, front = {.cull = SLAB_CULL_FRONT};
  assert_ok(slab_count(scene, rays, n, entries, &back));
  assert_ok(slab_count(scene, rays, n, exits, &front));
  for (size_t i = 0; i < n; i++) assert_int_equal(exits[i], entries[i] + inside);
  harness_count(2 * n);
  free(entries);
  free(exits);
}

/* inside: 1 if the rays begin inside the mesh. */
static void check_parity(slab_scene *scene, const slab_ray *rays, uint32_t inside) {
  uint32_t *counts = malloc(COUNTED * sizeof *counts);
  uint8_t *any = malloc(COUNTED);
  assert_ok(slab_count(scene, rays, COUNTED, counts, NULL));
  assert_ok(slab_any(scene, rays, COUNTED, any, NULL));
  size_t odd = 0, leaks = 0;
  for (size_t i = 0; i < COUNTED; i++) {
    odd += counts[i] % 2 != inside;
    leaks += inside && (counts[i] == 0 || !any[i]);
  }
  free(counts);
  free(any);
  if (odd || leaks) print_error("%zu leaks, %zu wrong crossing counts\n", leaks, odd);
  assert_true(!odd && !leaks);
  harness_count(2 * (size_t)COUNTED);
}

static void check_queries(slab_scene *scene, const slab_ray *rays, uint32_t inside) {
  answers a;
  expect_cast(scene, rays, CASTS, NULL, &a);
  for (size_t i = 0; i < CASTS; i++) assert_int_equal(a.count[i] % 2, inside);
  answers_free(&a);
  check_balance(scene, rays, COUNTED, inside);
}

/* Rays from inside; then the same rays as whole lines. */
static void check_mesh_from_inside(void **state, const char *name, const lattice_mesh *m,
                                   const lattice_origins *inside) {
  random_state r = harness_seeded(name);
  for (int p = 0; p < 2; p++) {
    slab_scene *scene = scene_of(*state, m, lattice_places[p]);
    rays_set *set = lattice_rays(&r, m, lattice_places[p], inside);
    check_parity(scene, set->rays, 1);
    check_queries(scene, set->rays, 1);
    for (size_t i = 0; i < COUNTED; i++) set->rays[i].t_min = -INFINITY;
    check_parity(scene, set->rays, 0);
    check_queries(scene, set->rays, 0);
    free(set);
    slab_scene_destroy(scene);
  }
}

/* ---- unions of cubes ---- */

static void union_of_cubes_leaks_nowhere(void **state) {
  static const uint32_t unions[] = {0x1B, 0x5A3C96D, 0x2AAAAAA};
  for (int i = 0; i < 3; i++) {
    const lattice_origins inside = {
        {3 * LATTICE_GRID, 3 * LATTICE_GRID, 3 * LATTICE_GRID}, lattice_in_cubes, &unions[i]};
    lattice_mesh m = {.vertex_count = 0};
    lattice_cubes(&m, unions[i]);
    print_message("%u triangles\n", (unsigned)m.triangle_count);
    check_mesh_from_inside(state, "union_of_cubes_leaks_nowhere", &m, &inside);
  }
}

static void ray_that_begins_and_ends_outside_crosses_an_even_number_of_times(void **state) {
  static const uint32_t cubes = 0x5A3C96D;
  static const lattice_origins outside = {
      {9 * LATTICE_GRID, 9 * LATTICE_GRID, 9 * LATTICE_GRID}, lattice_out_of_cubes, NULL};
  lattice_mesh m = {.vertex_count = 0};
  lattice_cubes(&m, cubes);
  random_state r = harness_seeded("ray_that_begins_and_ends_outside_crosses_an_even_number_of_times");
  for (int p = 0; p < 2; p++) {
    slab_scene *scene = scene_of(*state, &m, lattice_places[p]);
    rays_set *set = lattice_rays(&r, &m, lattice_places[p], &outside);
    check_parity(scene, set->rays, 0);
    check_queries(scene, set->rays, 0);
    free(set);
    slab_scene_destroy(scene);
  }
}

/* ---- convex meshes ---- */

static void octahedron_leaks_nowhere(void **state) {
  static const int radius = 4;
  static const lattice_origins inside = {
      {4 * LATTICE_GRID, 4 * LATTICE_GRID, 4 * LATTICE_GRID}, lattice_in_octahedron, &radius};
  lattice_mesh m = {.vertex_count = 0};
  lattice_octahedron(&m, radius);
  check_mesh_from_inside(state, "octahedron_leaks_nowhere", &m, &inside);
}

/* A line misses a convex mesh, or enters once and then leaves once. So rays through silhouette edges and vertices
 * count 0 or 2. */
static void line_through_a_convex_mesh_enters_once_and_leaves_once(void **state) {
  static const int radius = 4;
  static const lattice_origins outside = {
      {9 * LATTICE_GRID, 9 * LATTICE_GRID, 9 * LATTICE_GRID}, lattice_out_of_octahedron, &radius};
  lattice_mesh m = {.vertex_count = 0};
  lattice_octahedron(&m, radius);
  random_state r = harness_seeded("line_through_a_convex_mesh_enters_once_and_leaves_once");
  slab_scene *scene = scene_of(*state, &m, lattice_places[0]);
  rays_set *set = lattice_rays(&r, &m, lattice_places[0], &outside);
  for (size_t i = 0; i < CASTS; i++) set->rays[i].t_min = -INFINITY;
  answers a;
  expect_cast(scene, set->rays, CASTS, NULL, &a);
  size_t met = 0;
  for (size_t i = 0; i < CASTS; i++) {
    assert_true(a.count[i] == 0 || a.count[i] == 2);
    if (!a.count[i]) continue;
    met++;
    const slab_hit *h = a.all + a.offsets[i];
    const double first = along(&h[0], &set->rays[i]), last = along(&h[1], &set->rays[i]);
    const bool apart = h[1].t - h[0].t > 1e-5f * fabsf(h[1].t); /* otherwise rounding may swap the two */
    if (apart && fabs(first) > 1e-5 && fabs(last) > 1e-5) assert_true(first < 0 && last > 0);
  }
  check_balance(scene, set->rays, CASTS, 0);
  assert_true(met > CASTS / 4 && met < CASTS); /* both kinds of silhouettes occurred */
  answers_free(&a);
  free(set);
  slab_scene_destroy(scene);
}

/* Folds: rays aimed at silhouette edges of a cube. Both triangles of such an edge are counted, or neither is. */
static void ray_on_a_silhouette_counts_zero_or_two(void **state) {
  static const int size = 4;
  lattice_mesh m = {.vertex_count = 0};
  lattice_box(&m, (const int[3]){size, size, size});
  slab_scene *scene = scene_of(*state, &m, lattice_places[1]);
  enum { N = 12 * 9 * 8 };
  static slab_ray rays[N];
  size_t n = 0;
  for (int edge = 0; edge < 12; edge++)
    for (int step = -4; step <= 4; step++)
      for (int slope = 1; slope <= 8; slope++) {
        /* the edge runs along `axis` at the corner (u, v) of the other axes; the ray passes both faces on one side */
        const int axis = edge / 4, x = (axis + 1) % 3, y = (axis + 2) % 3;
        const int64_t u = edge & 1 ? 1 : -1, v = edge & 2 ? 1 : -1;
        lattice_aim aim = {.ends = {{0}}};
        int64_t *o = aim.origin, *d = aim.direction;
        d[axis] = step;
        d[x] = u * slope;
        d[y] = -v * (9 - slope);
        o[axis] = size * LATTICE_GRID / 2 + 3 - 2 * step;
        o[x] = (u > 0 ? size * LATTICE_GRID : 0) - 2 * d[x];
        o[y] = (v > 0 ? size * LATTICE_GRID : 0) - 2 * d[y];
        rays[n++] = lattice_ray(&aim, lattice_places[1]);
      }
  answers a;
  expect_cast(scene, rays, n, NULL, &a);
  for (size_t i = 0; i < n; i++) assert_true(a.count[i] == 0 || a.count[i] == 2);
  answers_free(&a);
  slab_scene_destroy(scene);
}

/* ---- long rooms ---- */

static void check_room(void **state, const int size[3]) {
  const lattice_origins inside = {
      {size[0] * LATTICE_GRID, size[1] * LATTICE_GRID, size[2] * LATTICE_GRID}, lattice_in_box, size};
  lattice_mesh m = {.vertex_count = 0};
  lattice_box(&m, size);
  check_mesh_from_inside(state, "room", &m, &inside);
  random_state r = harness_seeded("random rays in the room");
  slab_ray *rays = malloc(COUNTED * sizeof *rays);
  for (int p = 0; p < 2; p++) {
    slab_scene *scene = scene_of(*state, &m, lattice_places[p]);
    for (size_t i = 0; i < COUNTED; i++) rays[i] = lattice_rounded_ray(&r, &m, size, lattice_places[p]);
    check_parity(scene, rays, 1);
    check_queries(scene, rays, 1);
    slab_scene_destroy(scene);
  }
  free(rays);
}

static void long_thin_room_leaks_nowhere(void **state) {
  static const int size[3] = {1, 1, 1000};
  check_room(state, size);
}

static void long_wide_room_leaks_nowhere(void **state) {
  static const int size[3] = {1000, 10, 3};
  check_room(state, size);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(union_of_cubes_leaks_nowhere),
      cmocka_unit_test(ray_that_begins_and_ends_outside_crosses_an_even_number_of_times),
      cmocka_unit_test(octahedron_leaks_nowhere),
      cmocka_unit_test(line_through_a_convex_mesh_enters_once_and_leaves_once),
      cmocka_unit_test(ray_on_a_silhouette_counts_zero_or_two),
      cmocka_unit_test(long_thin_room_leaks_nowhere),
      cmocka_unit_test(long_wide_room_leaks_nowhere),
  };
  return cmocka_run_group_tests(tests, expect_setup, expect_teardown);
}
