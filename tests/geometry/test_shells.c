/* Spheres and planes of triangles: no ray leaks, invalid rays disturb none beside them, masks and culling hide the
 * right hits. After the scenes of Embree's `verify` (WatertightTest, SmallTriangleHitTest, NaNTest, InfTest,
 * InactiveRaysTest, RayMasksTest, BackfaceCullingTest, OverlappingPrimitives), written anew from their conditions.
 * Theirs lets 20 rays of a million leak, here none may. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ways.h"

enum { MOST_RINGS = 200, MOST_VERTICES = 2 * MOST_RINGS * MOST_RINGS, MOST_TRIANGLES = 2 * MOST_VERTICES };

typedef struct shell {
  float vertices[MOST_VERTICES][3];
  uint32_t vertex_count;
  uint32_t triangles[MOST_TRIANGLES][3];
  uint32_t triangle_count;
  uint32_t mask;
} shell;

static slab_status fill_shell(slab_scene *scene, const void *user) {
  const shell *s = user;
  const slab_geometry_options options = {.mask = s->mask};
  const slab_mesh mesh = {.vertices = s->vertices[0],
                          .vertex_count = s->vertex_count,
                          .indices = s->triangles[0],
                          .triangle_count = s->triangle_count};
  return slab_scene_add_mesh(scene, &mesh, &options, NULL);
}

/* ---- spheres and planes ---- */

static const float origin[3] = {0, 0, 0};
static const float far_away[3] = {148376, 1234, -223423}; /* theirs; floats resolve 1/64 there */

static bool is_long(void) { return getenv("SLABCAST_TEST_RAYS") != NULL; }
static uint32_t fineness(void) { return is_long() ? MOST_RINGS : 24; }
static size_t rays_of(size_t all) { return is_long() ? all : harness_rays((uint32_t)all); }

static void add_vertex(shell *s, double x, double y, double z) {
  float *v = s->vertices[s->vertex_count++];
  v[0] = (float)x, v[1] = (float)y, v[2] = (float)z;
}

static void add_triangle(shell *s, uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t triangle[3] = {a, b, c};
  memcpy(s->triangles[s->triangle_count++], triangle, sizeof triangle);
}

static void add_quad(shell *s, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  add_triangle(s, a, b, c);
  add_triangle(s, a, c, d);
}

/* Of this many rings with twice as many columns, normals outward. Each pole is one vertex, where theirs is a ring of
 * them that leaves a hole. */
static void make_sphere(shell *s, const float at[3], double radius, uint32_t rings) {
  const double pi = 3.14159265358979323846;
  const uint32_t columns = 2 * rings;
  s->vertex_count = s->triangle_count = 0;
  add_vertex(s, (double)at[0], (double)at[1], (double)at[2] + radius);
  add_vertex(s, (double)at[0], (double)at[1], (double)at[2] - radius);
  for (uint32_t i = 1; i < rings; i++)
    for (uint32_t k = 0; k < columns; k++) {
      const double down = pi * i / rings, round = 2 * pi * k / columns;
      add_vertex(s, at[0] + radius * sin(down) * cos(round), at[1] + radius * sin(down) * sin(round),
                 at[2] + radius * cos(down));
    }
  for (uint32_t k = 0; k < columns; k++) {
    const uint32_t a = 2 + k, b = 2 + (k + 1) % columns, last = (rings - 2) * columns;
    add_triangle(s, 0, a, b);
    add_triangle(s, 1, last + b, last + a);
    for (uint32_t i = 0; i + 2 < rings; i++) {
      const uint32_t up = i * columns;
      add_quad(s, up + a, up + columns + a, up + columns + b, up + b);
    }
  }
}

/* n x n squares from p on, whose sides are x / n and y / n; normals along cross(x, y). */
static void make_plane(shell *s, const double p[3], const double x[3], const double y[3], uint32_t n) {
  s->vertex_count = s->triangle_count = 0;
  for (uint32_t i = 0; i <= n; i++)
    for (uint32_t k = 0; k <= n; k++) {
      const double a = (double)k / n, b = (double)i / n;
      add_vertex(s, p[0] + a * x[0] + b * y[0], p[1] + a * x[1] + b * y[1], p[2] + a * x[2] + b * y[2]);
    }
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < n; k++) {
      const uint32_t corner = i * (n + 1) + k;
      add_quad(s, corner, corner + 1, corner + n + 2, corner + n + 1);
    }
}

/* ---- leaks ---- */

static float signed_unit(random_state *random) { return random_between(random, -1, 1); }

/* A point of a vertex, an edge or the inside of a triangle, by a third each. */
static void point_of(random_state *random, const shell *s, float point[3]) {
  const uint32_t *t = s->triangles[random_below(random, s->triangle_count)];
  const uint32_t kind = random_below(random, 3);
  const float u = kind == 0 ? 0 : random_float(random), v = kind < 2 ? 0 : random_float(random) * (1 - u);
  for (int j = 0; j < 3; j++) {
    const float a = s->vertices[t[0]][j], b = s->vertices[t[1]][j], c = s->vertices[t[2]][j];
    point[j] = a + u * (b - a) + v * (c - a);
  }
}

static slab_ray aimed_at(const float from[3], const float to[3]) {
  return (slab_ray){{from[0], from[1], from[2]}, 0, {to[0] - from[0], to[1] - from[1], to[2] - from[2]}, INFINITY};
}

/* From the middle half of a sphere of radius 2, anywhere or at what it is made of. */
static slab_ray ray_inside(random_state *random, const shell *s, const float at[3]) {
  float from[3], to[3];
  for (int j = 0; j < 3; j++) from[j] = at[j] + signed_unit(random);
  point_of(random, s, to);
  if (random_below(random, 2))
    for (int j = 0; j < 3; j++) to[j] = from[j] + signed_unit(random);
  if (to[0] == from[0] && to[1] == from[1]) to[0] += 1; /* far away a direction may round to 0 */
  return aimed_at(from, to);
}

/* Rays with another number of fronts or backs than wanted: `surplus` more fronts than backs, and where `once` not more
 * than one crossing at all. */
static uint64_t leaks(const ways_scenes *scenes, const slab_ray *rays, size_t n, int surplus, bool once) {
  static const slab_cast_options fronts_alone = {.cull = SLAB_CULL_BACK};
  answers all, fronts;
  uint64_t wrong = 0;
  ways_cast(scenes, rays, n, NULL, &all);
  ways_cast(scenes, rays, n, &fronts_alone, &fronts);
  for (size_t i = 0; i < all.n; i++) {
    const int front = (int)fronts.count[i], back = (int)all.count[i] - front;
    wrong += front - back != surplus || (once && all.count[i] != 1) || !all.any[i];
  }
  answers_free(&all);
  answers_free(&fronts);
  return wrong;
}

static void ray_inside_a_sphere_of_triangles_leaves_it(void **state) {
  enum { RAYS = 4096 };
  static const float *const places[] = {origin, far_away};
  random_state random = harness_seeded("ray_inside_a_sphere_of_triangles_leaves_it");
  shell *s = harness_space(sizeof *s);
  slab_ray *rays = harness_space(RAYS * sizeof *rays);
  const size_t n = rays_of(RAYS);
  uint64_t wrong = 0;
  const uint32_t rounds = ways_rounds(2 * n);
  s->mask = 0;
  for (int p = 0; p < 2; p++) {
    make_sphere(s, places[p], 2, fineness());
    ways_scenes scenes = ways_made(*state, fill_shell, s);
    for (uint32_t round = 0; round < rounds; round++) {
      for (size_t i = 0; i < n; i++) rays[i] = ray_inside(&random, s, places[p]);
      /* far away vertices are rounded by so much that the sphere has folds */
      wrong += leaks(&scenes, rays, n, -1, places[p] == origin);
    }
    ways_free(&scenes);
  }
  ways_tell("spheres of triangles, from inside", 2 * rounds * (uint64_t)n, wrong);
  free(rays);
  free(s);
}

static void ray_at_a_plane_of_triangles_crosses_it_once(void **state) {
  enum { RAYS = 4096 };
  random_state random = harness_seeded("ray_at_a_plane_of_triangles_crosses_it_once");
  static const double along_z[3] = {0, 0, 12}, along_y[3] = {0, 12, 0};
  static const float places[] = {0, 148376};
  shell *s = harness_space(sizeof *s);
  slab_ray *rays = harness_space(RAYS * sizeof *rays);
  const size_t n = rays_of(RAYS);
  const uint32_t rounds = ways_rounds(2 * n);
  uint64_t wrong = 0;
  s->mask = 0;
  for (int p = 0; p < 2; p++) {
    const double corner[3] = {(double)places[p], -6, -6};
    const float from[3] = {places[p] - 3, 0, 0};
    make_plane(s, corner, along_z, along_y, fineness());
    ways_scenes scenes = ways_made(*state, fill_shell, s);
    for (uint32_t round = 0; round < rounds; round++) {
      for (size_t i = 0; i < n; i++) {
        float to[3] = {places[p], 6, 6};
        while (fabsf(to[1]) > 3 || fabsf(to[2]) > 3) point_of(&random, s, to); /* clear of the border */
        if (i % 2) to[1] = 3 * signed_unit(&random), to[2] = 3 * signed_unit(&random);
        rays[i] = aimed_at(from, to);
      }
      wrong += leaks(&scenes, rays, n, 1, true);
    }
    ways_free(&scenes);
  }
  ways_tell("planes of triangles, from a point", 2 * rounds * (uint64_t)n, wrong);
  free(rays);
  free(s);
}

/* ---- small triangles ---- */

typedef double vec[3];

static double dot(const vec a, const vec b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Whether the triangle is so large, as seen along the ray, that no rounding can move the ray to another. Its height
 * over its longest side is compared with 16 u of the distance, for the rounding of direction and shear. */
static bool is_clear(const slab_ray *ray, const vec normal, double side, double distance) {
  const vec d = {(double)ray->direction[0], (double)ray->direction[1], (double)ray->direction[2]};
  const double slant = fabs(dot(d, normal)) / sqrt(dot(d, d));
  return 0.2 * side * slant > 16 * 0x1p-24 * distance;
}

/* Squares of side 1 from `radius` away, at the middles of triangles, everything scaled. Theirs, of radius 10^6, is not
 * run by it: there the least step of a float is 1/16, and the ray's own rounding takes it to a neighbour. */
static void check_small(void **state, shell *s, random_state *random, double scale, double radius) {
  enum { RAYS = 1024, SQUARES = 40 };
  static const vec x = {2.0 / 3, 2.0 / 3, 1.0 / 3}, y = {-2.0 / 3, 1.0 / 3, 2.0 / 3},
                   normal = {1.0 / 3, -2.0 / 3, 2.0 / 3};
  static slab_ray rays[RAYS];
  static uint32_t aims[RAYS];
  vec corner, dx, dy;
  for (int j = 0; j < 3; j++) {
    dx[j] = x[j] * SQUARES * scale, dy[j] = y[j] * SQUARES * scale;
    corner[j] = -(dx[j] + dy[j]) / 2;
  }
  make_plane(s, corner, dx, dy, SQUARES);
  size_t n = 0;
  while (n < RAYS) {
    float from[3], to[3];
    const uint32_t aim = random_below(random, s->triangle_count), *t = s->triangles[aim];
    for (int j = 0; j < 3; j++) {
      from[j] = (float)(scale * radius) * signed_unit(random);
      to[j] = (float)(((double)s->vertices[t[0]][j] + (double)s->vertices[t[1]][j] + (double)s->vertices[t[2]][j]) / 3);
    }
    rays[n] = aimed_at(from, to);
    aims[n] = aim;
    n += is_clear(&rays[n], normal, scale, 2 * scale * radius);
  }
  ways_scenes scenes = ways_made(*state, fill_shell, s);
  answers a;
  uint64_t wrong = 0;
  ways_cast(&scenes, rays, rays_of(RAYS), NULL, &a);
  for (size_t i = 0; i < a.n; i++) wrong += a.count[i] != 1 || a.closest[i].primitive != aims[i];
  ways_tell("small triangles, from afar", a.n, wrong);
  answers_free(&a);
  ways_free(&scenes);
}

static void small_triangle_is_hit_from_afar(void **state) {
  static const double scales[] = {1, 1e-6, 1e6}, radii[] = {100, 1e4};
  random_state random = harness_seeded("small_triangle_is_hit_from_afar");
  shell *s = harness_space(sizeof *s);
  s->mask = 0;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++) check_small(state, s, &random, scales[i], radii[k]);
  free(s);
}

/* ---- invalid rays beside others ---- */

/* Makes a ray of one of these kinds invalid or a plain miss, by NaN and infinities as theirs. */
static void spoil(slab_ray *ray, uint32_t kind) {
  for (int j = 0; j < 3; j++) {
    if (kind == 0 || kind == 1) ray->origin[j] += NAN;
    if (kind == 1) ray->direction[j] += NAN;
    if (kind == 3 || kind == 5) ray->origin[j] += INFINITY;
    if (kind == 4 || kind == 5) ray->direction[j] += INFINITY;
  }
  if (kind == 2) ray->t_min = ray->t_max = NAN;
  if (kind == 6) ray->t_min = INFINITY, ray->t_max = 0; /* an inactive ray of theirs: a miss */
}

enum { INACTIVE = 6, SPOILED = 7 };

/* Streams of 1 to 40 rays, of which half are spoiled: the others leave the sphere, whatever is beside them. */
static void rays_that_are_invalid_disturb_none_beside_them(void **state) {
  enum { LONGEST = 40 };
  random_state random = harness_seeded("rays_that_are_invalid_disturb_none_beside_them");
  shell *s = harness_space(sizeof *s);
  uint64_t asked = 0, wrong = 0;
  s->mask = 0;
  make_sphere(s, origin, 2, 24);
  ways_scenes scenes = ways_made(*state, fill_shell, s);
  for (uint32_t n = 1; n <= LONGEST; n++) {
    slab_ray rays[LONGEST];
    uint32_t kinds[LONGEST];
    answers a;
    for (uint32_t i = 0; i < n; i++) {
      rays[i] = ray_inside(&random, s, origin);
      kinds[i] = random_below(&random, 2 * SPOILED);
      spoil(&rays[i], kinds[i]);
    }
    ways_cast(&scenes, rays, n, NULL, &a);
    for (uint32_t i = 0; i < n; i++) {
      const uint32_t miss = kinds[i] == INACTIVE ? SLAB_MISS : SLAB_INVALID;
      wrong += a.count[i] != (kinds[i] >= SPOILED) || (kinds[i] < SPOILED && a.closest[i].primitive != miss);
    }
    asked += n;
    answers_free(&a);
  }
  ways_free(&scenes);
  ways_tell("invalid rays beside others", asked, wrong);
  free(s);
}

/* ---- masks ---- */

enum { MASKS = 15 };

/* A small sphere of mask k + 1 at x = 4 k. */
static slab_status fill_masked(slab_scene *scene, const void *user) {
  (void)user;
  shell *s = harness_space(sizeof *s);
  slab_status status = SLAB_OK;
  for (uint32_t k = 0; k < MASKS && status == SLAB_OK; k++) {
    const float at[3] = {4 * (float)k, 0, 0};
    s->mask = k + 1;
    make_sphere(s, at, 1, 8);
    status = fill_shell(scene, s);
  }
  free(s);
  return status;
}

/* The model once for each mask, instance i at y = 4 i. */
static slab_scene *masked_instances(slab_context *context) {
  slab_scene *model = filled_alone(context, SLAB_TREE_FAST, fill_masked, NULL), *scene = harness_scene(context);
  for (uint32_t i = 0; i < MASKS; i++) {
    const slab_geometry_options options = {.mask = i + 1};
    const float transform[12] = {1, 0, 0, 0, 0, 1, 0, 4 * (float)i, 0, 0, 1, 0};
    assert_ok(slab_scene_add_instances(scene, model, transform, 1, &options, NULL));
  }
  assert_ok(slab_scene_commit(scene, NULL));
  slab_scene_destroy(model);
  return scene;
}

static void make_grid(slab_ray *rays, uint32_t rows) {
  for (uint32_t i = 0; i < rows * MASKS; i++)
    rays[i] = (slab_ray){{4 * (float)(i % MASKS) + 0.1f, 4 * (float)(i / MASKS) + 0.2f, 10}, 0, {0, 0, -1}, INFINITY};
}

/* Row i is seen through instance i, or of a scene without instances by all masks. */
static uint64_t wrongly_seen(const ways_scenes *scenes, uint32_t rows) {
  slab_ray rays[MASKS * MASKS];
  uint64_t wrong = 0;
  make_grid(rays, rows);
  for (uint32_t mask = 1; mask <= MASKS; mask++) {
    const slab_cast_options options = {.mask = mask};
    answers a;
    ways_cast(scenes, rays, rows * MASKS, &options, &a);
    for (uint32_t i = 0; i < rows * MASKS; i++) {
      const bool is_seen = (mask & (i % MASKS + 1)) != 0 && (rows == 1 || (mask & (i / MASKS + 1)) != 0);
      wrong += a.any[i] != is_seen || a.count[i] != 2u * is_seen || (is_seen && a.closest[i].geometry != i);
    }
    answers_free(&a);
  }
  return wrong;
}

static void mask_shows_a_sphere_where_a_bit_is_common(void **state) {
  ways_scenes scenes = ways_made(*state, fill_masked, NULL);
  ways_tell("masks of geometries", MASKS * MASKS, wrongly_seen(&scenes, 1));
  ways_free(&scenes);
}

/* Of each mask of a ray, of an instance and of a geometry with each. On OpenCL test_instances has masks. */
static void mask_shows_an_instance_where_both_have_a_common_bit(void **state) {
  if (!harness_is_native()) return;
  const ways *w = *state;
  ways_scenes scenes = {.primitives = MASKS * MASKS * UINT64_C(224)}; /* as brute force meets them */
  for (int k = 0; k < WAYS; k++) scenes.of[k] = masked_instances(w->of[k]);
  ways_tell("masks of instances and geometries", MASKS * MASKS * MASKS, wrongly_seen(&scenes, MASKS));
  ways_free(&scenes);
}

/* ---- culling, and triangles upon each other ---- */

/* A unit square that faces +z, seen from both sides in turn, its diagonal included. */
static void culling_hides_a_square_from_one_side(void **state) {
  enum { RAYS = 1000 };
  static const double corner[3] = {0}, x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
  random_state random = harness_seeded("culling_hides_a_square_from_one_side");
  shell *s = harness_space(sizeof *s);
  static slab_ray rays[RAYS];
  uint64_t wrong = 0;
  s->mask = 0;
  make_plane(s, corner, x, y, 1);
  for (int i = 0; i < RAYS; i++) {
    const float a = random_between(&random, 0x1p-10f, 1 - 0x1p-10f),
                b = random_between(&random, 0x1p-10f, 1 - 0x1p-10f);
    const float side = i % 2 ? 1 : -1;
    rays[i] = (slab_ray){{a, i % 5 ? b : a, side}, 0, {0, 0, -side}, INFINITY};
  }
  ways_scenes scenes = ways_made(*state, fill_shell, s);
  for (slab_cull cull = SLAB_CULL_NONE; cull <= SLAB_CULL_FRONT; cull++) {
    const slab_cast_options options = {.cull = cull, .face_forward = 1};
    answers a;
    ways_cast(&scenes, rays, RAYS, &options, &a);
    for (int i = 0; i < RAYS; i++) {
      const bool is_seen = cull == SLAB_CULL_NONE || (cull == SLAB_CULL_BACK) == (i % 2 != 0);
      wrong += a.count[i] != is_seen || a.closest[i].normal[2] != (is_seen ? -rays[i].direction[2] : 0);
    }
    answers_free(&a);
  }
  ways_free(&scenes);
  ways_tell("culling of a square", RAYS * UINT64_C(3), wrong);
  free(s);
}

/* A BVH cannot part them, and a ray hits all. */
static void triangles_upon_each_other_are_all_hit(void **state) {
  enum { COPIES = 5000 };
  shell *s = harness_space(sizeof *s);
  static const slab_ray rays[] = {{{0.25f, 0.25f, 1}, 0, {0, 0, -1}, INFINITY},
                                  {{0.25f, 0.25f, -1}, 0, {0, 0, 1}, INFINITY},
                                  {{0.5f, 0.75f, -1}, 0, {0, 0, 1}, INFINITY}};
  answers a;
  *s = (shell){.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, .vertex_count = 3};
  for (int i = 0; i < COPIES; i++) add_triangle(s, 0, 1, 2);
  ways_scenes scenes = ways_made(*state, fill_shell, s);
  ways_cast(&scenes, rays, 3, NULL, &a);
  assert_true(a.n == 3 && a.count[0] == COPIES && a.count[1] == COPIES && a.count[2] == 0);
  assert_true(a.closest[0].primitive == 0 && a.all[COPIES - 1].primitive == COPIES - 1);
  answers_free(&a);
  ways_free(&scenes);
  free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ray_inside_a_sphere_of_triangles_leaves_it),
      cmocka_unit_test(ray_at_a_plane_of_triangles_crosses_it_once),
      cmocka_unit_test(small_triangle_is_hit_from_afar),
      cmocka_unit_test(rays_that_are_invalid_disturb_none_beside_them),
      cmocka_unit_test(mask_shows_a_sphere_where_a_bit_is_common),
      cmocka_unit_test(mask_shows_an_instance_where_both_have_a_common_bit),
      cmocka_unit_test(culling_hides_a_square_from_one_side),
      cmocka_unit_test(triangles_upon_each_other_are_all_hit),
  };
  return cmocka_run_group_tests(tests, ways_setup, ways_teardown);
}
