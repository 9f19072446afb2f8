/* Closed meshes and rays through their edges and vertices: no leak, and every crossing counted once.
 *
 * Meshes have integer vertices, and rays run through lattice points of their edges, so that edge functions are exactly
 * zero in exact arithmetic. Where the direction's largest component is a power of two, nothing is rounded in shear
 * space either and the library meets the zero itself: those rays are counted, with integers, and must be 30 % or more.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

#define CASTS 3000     /* rays that go through every query */
#define COUNTED 100000 /* rays of which the counts are looked at */
#define GRID 16        /* origins lie on multiples of 1 / GRID */

/* Where the meshes stand: beside the second point a float has a sixty-fourth left. */
static const int places[2][3] = {{0, 0, 0}, {148376, 1234, -223423}};

typedef struct mesh {
  int vertices[512][3];
  uint32_t vertex_count;
  uint32_t indices[512][3];
  uint32_t triangle_count;
} mesh;

/* ---- meshes ---- */

static uint32_t vertex_of(mesh *m, const int v[3]) {
  for (uint32_t i = 0; i < m->vertex_count; i++)
    if (!memcmp(m->vertices[i], v, 3 * sizeof *v)) return i;
  memcpy(m->vertices[m->vertex_count], v, 3 * sizeof *v);
  return m->vertex_count++;
}

static void add_triangle(mesh *m, const int a[3], const int b[3], const int c[3]) {
  uint32_t *t = m->indices[m->triangle_count++];
  t[0] = vertex_of(m, a);
  t[1] = vertex_of(m, b);
  t[2] = vertex_of(m, c);
}

/* Four corners, counter-clockwise from outside; the diagonal is one or the other. */
static void add_square(mesh *m, int corners[4][3], bool other) {
  add_triangle(m, corners[other], corners[other + 1], corners[other + 2]);
  add_triangle(m, corners[other], corners[other + 2], corners[(other + 3) % 4]);
}

/* The face of the box lower .. lower + size that looks along axis, up or down. */
static void add_face(mesh *m, const int lower[3], const int size[3], int axis, bool up, bool diagonal) {
  const int x = (axis + 1) % 3, y = (axis + 2) % 3;
  int corners[4][3];
  for (int k = 0; k < 4; k++) {
    const int step = up ? k : 3 - k;
    memcpy(corners[k], lower, sizeof corners[k]);
    if (step == 1 || step == 2) corners[k][x] += size[x];
    if (step == 2 || step == 3) corners[k][y] += size[y];
    if (up) corners[k][axis] += size[axis];
  }
  add_square(m, corners, diagonal);
}

static void make_box(mesh *m, int x, int y, int z) {
  static const int lower[3] = {0, 0, 0};
  const int size[3] = {x, y, z};
  for (int face = 0; face < 6; face++) add_face(m, lower, size, face / 2, face % 2, face % 3 == 0);
}

/* A union of unit cubes of a 3 x 3 x 3 block: bit x + 3 y + 9 z. Its boundary is closed, though not everywhere a
 * manifold: cubes may share an edge alone. */
static bool has_cube(uint32_t cubes, int x, int y, int z) {
  return x >= 0 && x < 3 && y >= 0 && y < 3 && z >= 0 && z < 3 && (cubes >> (x + 3 * y + 9 * z) & 1);
}

static void make_cubes(mesh *m, uint32_t cubes) {
  static const int size[3] = {1, 1, 1};
  for (int i = 0; i < 27 * 6; i++) {
    const int cell = i / 6, axis = i % 6 / 2, up = i % 2;
    const int lower[3] = {cell % 3, cell / 3 % 3, cell / 9};
    int beside[3] = {lower[0], lower[1], lower[2]};
    beside[axis] += up ? 1 : -1;
    if (!has_cube(cubes, lower[0], lower[1], lower[2]) || has_cube(cubes, beside[0], beside[1], beside[2])) continue;
    add_face(m, lower, size, axis, up, (lower[0] + lower[1] + lower[2] + axis) % 2);
  }
}

static void make_octahedron(mesh *m, int radius) {
  for (int octant = 0; octant < 8; octant++) {
    int corners[3][3] = {{0}};
    int odd = 0;
    for (int i = 0; i < 3; i++) {
      corners[i][i] = octant >> i & 1 ? -radius : radius;
      odd ^= octant >> i & 1;
    }
    add_triangle(m, corners[0], corners[odd ? 2 : 1], corners[odd ? 1 : 2]);
  }
}

static slab_scene *scene_of(slab_context *context, const mesh *m, const int place[3]) {
  float vertices[512][3];
  for (uint32_t i = 0; i < m->vertex_count; i++)
    for (int k = 0; k < 3; k++) vertices[i][k] = (float)(m->vertices[i][k] + place[k]);
  const slab_mesh given = {vertices[0], 0, m->vertex_count, m->indices[0], m->triangle_count};
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_mesh(scene, &given, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

/* ---- rays, in units of 1 / GRID ---- */

/* A point of an edge of the mesh: a vertex, or 1/4, 1/2, 3/4 of the way. */
static void point_of_edge(harness_random *r, const mesh *m, int64_t ends[2][3], int64_t point[3]) {
  const uint32_t *t = m->indices[harness_below(r, m->triangle_count)];
  const uint32_t side = harness_below(r, 3), part = harness_below(r, 5);
  for (int i = 0; i < 3; i++) {
    ends[0][i] = (int64_t)m->vertices[t[side]][i] * GRID;
    ends[1][i] = (int64_t)m->vertices[t[(side + 1) % 3]][i] * GRID;
    point[i] = ends[0][i] + (ends[1][i] - ends[0][i]) / 4 * (int64_t)part;
  }
}

static int64_t power_of_two_below(int64_t x) {
  int64_t p = 1;
  while (2 * p <= x) p *= 2;
  return p;
}

static bool fits_a_float(int64_t x) {
  while (x && x % 2 == 0) x /= 2;
  return llabs(x) < 1 << 24;
}

/* Whether the shear rounds nothing: the direction's largest component is a power of two, and the ends of the edge,
 * x - z * (d_x / d_z) and the like, fit a float. */
static bool is_exact_in_shear_space(const int64_t o[3], const int64_t d[3], int64_t ends[2][3]) {
  int z = 0;
  for (int i = 1; i < 3; i++) z = llabs(d[i]) > llabs(d[z]) ? i : z;
  bool exact = llabs(d[z]) == power_of_two_below(llabs(d[z]));
  for (int end = 0; end < 2; end++)
    for (int i = 0; i < 3; i++)
      exact = exact && fits_a_float((ends[end][i] - o[i]) * d[z] - (ends[end][z] - o[z]) * d[i]);
  return exact;
}

/* The edge function of the ray and the edge p q: det(d, p - o, q - o). */
static int64_t edge_function(const int64_t o[3], const int64_t d[3], int64_t ends[2][3]) {
  int64_t p[3], q[3];
  for (int i = 0; i < 3; i++) {
    p[i] = ends[0][i] - o[i];
    q[i] = ends[1][i] - o[i];
  }
  return d[0] * (p[1] * q[2] - p[2] * q[1]) + d[1] * (p[2] * q[0] - p[0] * q[2]) + d[2] * (p[0] * q[1] - p[1] * q[0]);
}

static slab_ray ray_of(const int64_t o[3], const int64_t d[3], const int place[3]) {
  slab_ray ray = {{0}, 0, {0}, INFINITY};
  for (int i = 0; i < 3; i++) {
    ray.origin[i] = (float)(o[i] + (int64_t)place[i] * GRID) / GRID; /* exact: at most 18 + 4 bits */
    ray.direction[i] = (float)d[i] / GRID;
  }
  return ray;
}

/* From o through a point of an edge. Three in four are given a shear that rounds nothing, by moving o along: towards
 * d = (a, b, +-2^k), o = point - d. False where `allowed` refuses that o. */
typedef bool origin_test(const mesh *m, const int64_t o[3], const void *user);

static bool aim(harness_random *r, const mesh *m, const int64_t reach[3], origin_test *allowed, const void *user,
                int64_t o[3], int64_t d[3], int64_t ends[2][3]) {
  int64_t point[3];
  point_of_edge(r, m, ends, point);
  const int axis = (int)harness_below(r, 3);
  for (int i = 0; i < 3; i++) {
    o[i] = (int64_t)harness_below(r, (uint32_t)(2 * reach[i] + 1)) - reach[i];
    d[i] = point[i] - o[i];
  }
  if (harness_below(r, 4) && d[axis]) {
    const int64_t length = power_of_two_below(llabs(d[axis]));
    d[axis] = d[axis] < 0 ? -length : length;
    for (int i = 0; i < 3; i++) {
      if (i != axis && llabs(d[i]) > length) d[i] = d[i] % (length + 1);
      if (harness_below(r, 6) == 0 && i != axis) d[i] = 0;
      o[i] = point[i] - d[i];
    }
  }
  return (d[0] || d[1] || d[2]) && allowed(m, o, user);
}

typedef struct rays_set {
  slab_ray rays[COUNTED];
  size_t zero; /* through an edge function that is exactly zero in shear space */
} rays_set;

static rays_set *lattice_rays(harness_random *r, const mesh *m, const int place[3], const int64_t reach[3],
                              origin_test *allowed, const void *user) {
  rays_set *set = calloc(1, sizeof *set);
  assert_non_null(set);
  for (size_t i = 0; i < COUNTED;) {
    int64_t o[3], d[3], ends[2][3];
    if (!aim(r, m, reach, allowed, user, o, d, ends)) continue;
    assert_true(edge_function(o, d, ends) == 0);
    set->zero += is_exact_in_shear_space(o, d, ends);
    set->rays[i++] = ray_of(o, d, place);
  }
  print_message("%.1f %% of the rays meet an exactly zero edge function\n", 100.0 * (double)set->zero / COUNTED);
  assert_true(set->zero * 10 >= COUNTED * 3);
  return set;
}

/* ---- counts ---- */

/* How far the normal looks along the ray. */
static double along(const slab_hit *h, const slab_ray *ray) {
  double sum = 0, length = 0;
  for (int j = 0; j < 3; j++) {
    sum += (double)h->normal[j] * (double)ray->direction[j];
    length += (double)ray->direction[j] * (double)ray->direction[j];
  }
  return sum / sqrt(length);
}

/* Facing is told by culling, since of a triangle along the ray the normal cannot tell it: the exits of each ray are one
 * more than its entries from inside a closed mesh, as many from outside. */
static void check_balance(slab_scene *scene, const slab_ray *rays, size_t n, uint32_t inside) {
  uint32_t *entries = malloc(n * sizeof *entries), *exits = malloc(n * sizeof *exits);
  static const slab_cast_options back = {.cull = SLAB_CULL_BACK}, front = {.cull = SLAB_CULL_FRONT};
  assert_ok(slab_count(scene, rays, n, entries, &back));
  assert_ok(slab_count(scene, rays, n, exits, &front));
  for (size_t i = 0; i < n; i++) assert_int_equal(exits[i], entries[i] + inside);
  free(entries);
  free(exits);
}

/* inside: 1 where the rays begin inside the mesh. */
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
}

static void check_queries(slab_scene *scene, const slab_ray *rays, uint32_t inside) {
  expect_answers a;
  expect_cast(scene, rays, CASTS, NULL, &a);
  for (size_t i = 0; i < CASTS; i++) assert_int_equal(a.count[i] % 2, inside);
  expect_release(&a);
  check_balance(scene, rays, COUNTED, inside);
}

/* From inside; then the same lines, whole. */
static void check_mesh_from_inside(void **state, const char *name, const mesh *m, const int64_t reach[3],
                                   origin_test *inside, const void *user) {
  harness_random r = harness_seeded(name);
  for (int p = 0; p < 2; p++) {
    slab_scene *scene = scene_of(*state, m, places[p]);
    rays_set *set = lattice_rays(&r, m, places[p], reach, inside, user);
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

static bool in_a_cube(const mesh *m, const int64_t o[3], const void *user) {
  (void)m;
  for (int i = 0; i < 3; i++)
    if (o[i] <= 0 || o[i] >= 3 * GRID || o[i] % GRID == 0) return false; /* nor on a face */
  return has_cube(*(const uint32_t *)user, (int)(o[0] / GRID), (int)(o[1] / GRID), (int)(o[2] / GRID));
}

static void union_of_cubes_leaks_nowhere(void **state) {
  static const uint32_t unions[] = {0x1B, 0x5A3C96D, 0x2AAAAAA};
  static const int64_t reach[3] = {3 * GRID, 3 * GRID, 3 * GRID};
  for (int i = 0; i < 3; i++) {
    mesh m = {.vertex_count = 0};
    make_cubes(&m, unions[i]);
    print_message("%u triangles\n", (unsigned)m.triangle_count);
    check_mesh_from_inside(state, "union_of_cubes_leaks_nowhere", &m, reach, in_a_cube, &unions[i]);
  }
}

static bool far_outside(const mesh *m, const int64_t o[3], const void *user) {
  (void)m;
  (void)user;
  for (int i = 0; i < 3; i++)
    if (o[i] < -GRID || o[i] > 4 * GRID) return true;
  return false;
}

static void ray_that_begins_and_ends_outside_crosses_an_even_number_of_times(void **state) {
  static const uint32_t cubes = 0x5A3C96D;
  static const int64_t reach[3] = {9 * GRID, 9 * GRID, 9 * GRID};
  mesh m = {.vertex_count = 0};
  make_cubes(&m, cubes);
  harness_random r = harness_seeded("ray_that_begins_and_ends_outside_crosses_an_even_number_of_times");
  for (int p = 0; p < 2; p++) {
    slab_scene *scene = scene_of(*state, &m, places[p]);
    rays_set *set = lattice_rays(&r, &m, places[p], reach, far_outside, NULL);
    check_parity(scene, set->rays, 0);
    check_queries(scene, set->rays, 0);
    free(set);
    slab_scene_destroy(scene);
  }
}

/* ---- convex meshes ---- */

static bool in_the_octahedron(const mesh *m, const int64_t o[3], const void *user) {
  (void)m;
  return llabs(o[0]) + llabs(o[1]) + llabs(o[2]) < *(const int *)user * GRID;
}

static bool outside_the_octahedron(const mesh *m, const int64_t o[3], const void *user) {
  (void)m;
  return llabs(o[0]) + llabs(o[1]) + llabs(o[2]) > *(const int *)user * GRID;
}

static void octahedron_leaks_nowhere(void **state) {
  static const int radius = 4;
  static const int64_t reach[3] = {4 * GRID, 4 * GRID, 4 * GRID};
  mesh m = {.vertex_count = 0};
  make_octahedron(&m, radius);
  check_mesh_from_inside(state, "octahedron_leaks_nowhere", &m, reach, in_the_octahedron, &radius);
}

/* A line meets a convex mesh in no point or enters once and leaves once, in this order: rays through silhouette edges
 * and vertices count 0 or 2. */
static void line_through_a_convex_mesh_enters_once_and_leaves_once(void **state) {
  static const int radius = 4;
  static const int64_t reach[3] = {9 * GRID, 9 * GRID, 9 * GRID};
  mesh m = {.vertex_count = 0};
  make_octahedron(&m, radius);
  harness_random r = harness_seeded("line_through_a_convex_mesh_enters_once_and_leaves_once");
  slab_scene *scene = scene_of(*state, &m, places[0]);
  rays_set *set = lattice_rays(&r, &m, places[0], reach, outside_the_octahedron, &radius);
  for (size_t i = 0; i < CASTS; i++) set->rays[i].t_min = -INFINITY;
  expect_answers a;
  expect_cast(scene, set->rays, CASTS, NULL, &a);
  size_t met = 0;
  for (size_t i = 0; i < CASTS; i++) {
    assert_true(a.count[i] == 0 || a.count[i] == 2);
    if (!a.count[i]) continue;
    met++;
    const slab_hit *h = a.all + a.offsets[i];
    const double first = along(&h[0], &set->rays[i]), last = along(&h[1], &set->rays[i]);
    const bool apart = h[1].t - h[0].t > 1e-5f * fabsf(h[1].t); /* else rounding may swap the two */
    if (apart && fabs(first) > 1e-5 && fabs(last) > 1e-5) assert_true(first < 0 && last > 0);
  }
  check_balance(scene, set->rays, CASTS, 0);
  assert_true(met > CASTS / 4 && met < CASTS); /* silhouettes of both sorts were seen */
  expect_release(&a);
  free(set);
  slab_scene_destroy(scene);
}

/* Folds: rays aimed at the edges of a cube along which it turns away. Of a silhouette edge both triangles are counted
 * or neither. */
static void ray_on_a_silhouette_counts_zero_or_two(void **state) {
  static const int size = 4;
  mesh m = {.vertex_count = 0};
  make_box(&m, size, size, size);
  slab_scene *scene = scene_of(*state, &m, places[1]);
  enum { N = 12 * 9 * 8 };
  static slab_ray rays[N];
  size_t n = 0;
  for (int edge = 0; edge < 12; edge++)
    for (int step = -4; step <= 4; step++)
      for (int slope = 1; slope <= 8; slope++) {
        /* the edge runs along `axis` at the corner (u, v) of the others; the ray leaves both faces on one side */
        const int axis = edge / 4, x = (axis + 1) % 3, y = (axis + 2) % 3;
        const int64_t u = edge & 1 ? 1 : -1, v = edge & 2 ? 1 : -1;
        int64_t o[3], d[3];
        d[axis] = step;
        d[x] = u * slope;
        d[y] = -v * (9 - slope);
        o[axis] = size * GRID / 2 + 3 - 2 * step;
        o[x] = (u > 0 ? size * GRID : 0) - 2 * d[x];
        o[y] = (v > 0 ? size * GRID : 0) - 2 * d[y];
        rays[n++] = ray_of(o, d, places[1]);
      }
  expect_answers a;
  expect_cast(scene, rays, n, NULL, &a);
  for (size_t i = 0; i < n; i++) assert_true(a.count[i] == 0 || a.count[i] == 2);
  expect_release(&a);
  slab_scene_destroy(scene);
}

/* ---- long rooms ---- */

static bool in_the_room(const mesh *m, const int64_t o[3], const void *user) {
  (void)m;
  const int *size = user;
  for (int i = 0; i < 3; i++)
    if (o[i] <= 0 || o[i] >= size[i] * GRID) return false;
  return true;
}

/* A float point inside the room, and one on an edge or vertex or anywhere on the walls, rounded. */
static slab_ray random_ray_in(harness_random *r, const mesh *m, const int size[3], const int place[3]) {
  const uint32_t *t = m->indices[harness_below(r, m->triangle_count)];
  float u = harness_uniform(r, 0, 1), v = harness_uniform(r, 0, 1 - u);
  if (harness_below(r, 2)) v = 0;             /* on an edge */
  if (harness_below(r, 8) == 0) u = v = 0;    /* on a vertex */
  if (harness_below(r, 8) == 0) u = v = 0.5f; /* in a diagonal's middle */
  float from[3], to[3];
  for (int i = 0; i < 3; i++) {
    const int *a = m->vertices[t[0]], *b = m->vertices[t[1]], *c = m->vertices[t[2]];
    const float wall = (float)a[i] + u * (float)(b[i] - a[i]) + v * (float)(c[i] - a[i]);
    to[i] = wall + (float)place[i];
    from[i] = harness_uniform(r, 0.1f, 0.9f) * (float)size[i] + (float)place[i];
  }
  slab_ray ray = slab_segment(from, to);
  ray.t_max = INFINITY;
  return ray;
}

static void check_room(void **state, const int size[3]) {
  const int64_t reach[3] = {size[0] * GRID, size[1] * GRID, size[2] * GRID};
  mesh m = {.vertex_count = 0};
  make_box(&m, size[0], size[1], size[2]);
  check_mesh_from_inside(state, "room", &m, reach, in_the_room, size);
  harness_random r = harness_seeded("random rays in the room");
  slab_ray *rays = malloc(COUNTED * sizeof *rays);
  for (int p = 0; p < 2; p++) {
    slab_scene *scene = scene_of(*state, &m, places[p]);
    for (size_t i = 0; i < COUNTED; i++) rays[i] = random_ray_in(&r, &m, size, places[p]);
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
