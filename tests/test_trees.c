/* The one invariant: no tree can change an answer. Scenes of every kind, cast on flat and as trees of each quality; all
 * six queries, bit by bit. SLABCAST_TEST_RAYS makes the sets larger. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "scenes.h"

enum { SHAPES = 400 };

static const slab_tree qualities[] = {SLAB_TREE_FLAT, SLAB_TREE_FAST, SLAB_TREE_DEFAULT, SLAB_TREE_HIGH};
enum { QUALITIES = sizeof qualities / sizeof *qualities };

static size_t ray_count(void) {
  const char *wanted = getenv("SLABCAST_TEST_RAYS");
  return wanted == NULL ? 5000 : strtoul(wanted, NULL, 10);
}

/* What a scene is made of, the same for every tree. */
typedef void fill(slab_scene *scene);

static void add_named(slab_scene *scene, const char *name, uint32_t count, uint64_t seed, uint32_t mask) {
  const slab_geometry_options options = {.mask = mask};
  scene_geometry geometry;
  assert_int_equal(scene_build(name, count, seed, &geometry), 0);
  assert_ok(scene_geometry_add(scene, &geometry, &options, NULL));
  scene_geometry_free(&geometry);
}

/* Every kind, geometries seen by different masks, some empty. */
static void fill_mixed(slab_scene *scene) {
  add_named(scene, "boxes", SHAPES, 1, 1);
  add_named(scene, "soup", SHAPES, 2, 2);
  assert_ok(slab_scene_add_boxes(scene, NULL, 0, NULL, NULL));
  add_named(scene, "spheres", SHAPES, 3, 3);
  add_named(scene, "obbs", SHAPES, 4, 1);
  add_named(scene, "planes", 20, 5, 2);
  add_named(scene, "lattice", SHAPES, 6, 3);
}

/* Boxes on few coordinates: touching, equal, flat, without volume, inverted, unbounded along one, two and all axes. */
static void fill_touching(slab_scene *scene) {
  harness_random random = harness_seeded("touching");
  slab_box boxes[SHAPES];
  for (int i = 0; i < SHAPES; i++)
    for (int k = 0; k < 3; k++) {
      boxes[i].lower[k] = (float)harness_below(&random, 5) - 2.0f;
      boxes[i].upper[k] = boxes[i].lower[k] + (float)harness_below(&random, 4) - (i % 50 == 0 ? 1.0f : 0.0f);
      if (i % 20 == k) boxes[i].upper[k] = INFINITY;
      if (i % 20 == 2 * k) boxes[i].lower[k] = -INFINITY;
    }
  assert_ok(slab_scene_add_boxes(scene, boxes, SHAPES, NULL, NULL));
}

/* Rectangles: boxes without bounds in z. */
static void fill_flatland(slab_scene *scene) {
  harness_random random = harness_seeded("flatland");
  slab_box boxes[SHAPES];
  for (int i = 0; i < SHAPES; i++) {
    const float lower[2] = {harness_uniform(&random, -2, 2), harness_uniform(&random, -2, 2)};
    const float upper[2] = {lower[0] + harness_uniform(&random, 0, 0.3f), lower[1] + harness_uniform(&random, 0, 0.3f)};
    boxes[i] = slab_box_2d(lower, upper);
  }
  assert_ok(slab_scene_add_boxes(scene, boxes, SHAPES, NULL, NULL));
}

/* A closed mesh far from the origin, where floats are coarse. */
static void fill_far(slab_scene *scene) {
  scene_geometry mesh;
  assert_int_equal(scene_build("lattice", 2 * SHAPES, 7, &mesh), 0);
  static const float offset[3] = {148376, 1234, -223423};
  for (uint32_t i = 0; i < 3 * mesh.vertex_count; i++) mesh.vertices[i] += offset[i % 3];
  assert_ok(scene_geometry_add(scene, &mesh, NULL, NULL));
  scene_geometry_free(&mesh);
}

/* Sizes from 2^-40 to 2^40 in one scene, many of them at one place. */
static void fill_scales(slab_scene *scene) {
  harness_random random = harness_seeded("scales");
  slab_sphere spheres[SHAPES];
  float corners[9 * SHAPES];
  for (int i = 0; i < SHAPES; i++) {
    const float size = ldexpf(1, (int)harness_below(&random, 81) - 40);
    for (int k = 0; k < 3; k++) spheres[i].center[k] = i % 3 == 0 ? 0 : harness_uniform(&random, -2, 2) * size;
    spheres[i].radius = size;
    for (int k = 0; k < 9; k++) corners[9 * i + k] = size * harness_uniform(&random, -1, 1);
  }
  const slab_mesh soup = {.vertices = corners, .vertex_count = 3 * SHAPES, .triangle_count = SHAPES};
  assert_ok(slab_scene_add_spheres(scene, spheres, SHAPES, NULL, NULL));
  assert_ok(slab_scene_add_mesh(scene, &soup, NULL, NULL));
}

/* Rays through the scene's bounds: on a lattice of few coordinates or anywhere, along axes, segments, whole lines. */
static slab_ray *rays_at(const slab_scene_stats *stats, const char *name, size_t n) {
  harness_random r = harness_seeded(name);
  slab_ray *rays = malloc(n * sizeof *rays);
  assert_non_null(rays);
  for (size_t i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      const float lower = stats->lower[k] <= stats->upper[k] ? stats->lower[k] : 0.0f;
      const float upper = stats->lower[k] <= stats->upper[k] ? stats->upper[k] : 0.0f;
      const float at = lower + (upper - lower) * harness_uniform(&r, -0.25f, 1.25f);
      rays[i].origin[k] = harness_below(&r, 3) == 0 ? roundf(at) : at;
      rays[i].direction[k] = harness_below(&r, 4) == 0   ? 0.0f
                             : harness_below(&r, 3) == 0 ? (float)harness_below(&r, 5) - 2.0f
                                                         : harness_uniform(&r, -1, 1) * (upper - lower + 1.0f);
    }
    rays[i].t_min = harness_below(&r, 4) == 0 ? -INFINITY : harness_below(&r, 4) == 0 ? -1.0f : 0.0f;
    rays[i].t_max = harness_below(&r, 4) == 0 ? 1.0f : INFINITY;
  }
  return rays;
}

/* The answers of one tree. */
typedef struct answers {
  slab_hit *closest, *all;
  float *distance;
  uint8_t *any;
  uint32_t *count;
  slab_interval *interval;
  uint64_t *offsets;
} answers;

static void *room(size_t bytes) {
  void *memory = malloc(bytes + 1);
  assert_non_null(memory);
  return memory;
}

static answers cast_all(slab_scene *scene, const slab_ray *rays, size_t n, const slab_cast_options *options) {
  answers a = {room(n * sizeof *a.closest),      NULL,
               room(n * sizeof *a.distance),     room(n),
               room(n * sizeof *a.count),        room(n * sizeof *a.interval),
               room((n + 1) * sizeof *a.offsets)};
  uint64_t required = 0;
  assert_ok(slab_closest(scene, rays, n, a.closest, options));
  assert_ok(slab_distance(scene, rays, n, a.distance, options));
  assert_ok(slab_any(scene, rays, n, a.any, options));
  assert_ok(slab_count(scene, rays, n, a.count, options));
  assert_ok(slab_interval_of(scene, rays, n, a.interval, options));
  assert_ok(slab_all(scene, rays, n, a.offsets, NULL, 0, &required, options));
  a.all = room(required * sizeof *a.all);
  assert_ok(slab_all(scene, rays, n, a.offsets, a.all, required + 1, NULL, options));
  return a;
}

static void release(answers *a) {
  void *all[] = {a->closest, a->all, a->distance, a->any, a->count, a->interval, a->offsets};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void assert_same_answers(const answers *got, const answers *want, size_t n) {
  assert_same_bits(got->closest, want->closest, n, sizeof *got->closest);
  assert_same_bits(got->distance, want->distance, n, sizeof *got->distance);
  assert_memory_equal(got->any, want->any, n);
  assert_same_bits(got->count, want->count, n, sizeof *got->count);
  assert_same_bits(got->interval, want->interval, n, sizeof *got->interval);
  assert_memory_equal(got->offsets, want->offsets, (n + 1) * sizeof *got->offsets);
  assert_same_bits(got->all, want->all, want->offsets[n], sizeof *got->all);
}

static void compare(slab_scene *scenes[QUALITIES], const slab_ray *rays, size_t n, const slab_cast_options *options) {
  answers flat = cast_all(scenes[0], rays, n, options);
  assert_true(flat.offsets[n] > n / 20); /* a set that hits nothing would prove nothing */
  for (int q = 1; q < QUALITIES; q++) {
    answers tree = cast_all(scenes[q], rays, n, options);
    assert_same_answers(&tree, &flat, n);
    release(&tree);
  }
  release(&flat);
}

static void trees_change_nothing(fill *what, const char *name) {
  slab_context *context = harness_context();
  slab_scene *scenes[QUALITIES];
  slab_scene_stats stats;
  const size_t n = ray_count();
  for (int q = 0; q < QUALITIES; q++) {
    const slab_build_options options = {.tree = qualities[q]};
    assert_ok(slab_scene_create(context, &scenes[q]));
    what(scenes[q]);
    assert_ok(slab_scene_commit(scenes[q], &options));
    assert_ok(slab_scene_info(scenes[q], &stats));
    assert_true(qualities[q] == SLAB_TREE_FLAT || qualities[q] == SLAB_TREE_DEFAULT || stats.tree_depth > 0);
  }
  slab_ray *rays = rays_at(&stats, name, n);
  slab_primitive_id *skip = room(n * sizeof *skip);
  for (size_t i = 0; i < n; i++) skip[i] = (slab_primitive_id){(uint32_t)i % SHAPES, (uint32_t)i % 7};
  const slab_cast_options some = {.mask = 1, .cull = SLAB_CULL_FRONT, .skip = skip, .face_forward = 1};
  compare(scenes, rays, n, NULL);
  compare(scenes, rays, n, &some);
  free(skip);
  free(rays);
  for (int q = 0; q < QUALITIES; q++) slab_scene_destroy(scenes[q]);
  slab_context_destroy(context);
}

#define TREE_TEST(name) \
  static void trees_equal_flat_on_##name(void **state) { (void)state, trees_change_nothing(fill_##name, #name); }
TREE_TEST(mixed)
TREE_TEST(touching)
TREE_TEST(flatland)
TREE_TEST(far)
TREE_TEST(scales)

static void tree_of_nothing_and_of_one(void **state) {
  (void)state;
  slab_context *context = harness_context();
  const slab_sphere ball = {{0, 0, 0}, 1};
  const slab_ray ray = {{-3, 0, 0}, 0, {1, 0, 0}, INFINITY};
  for (uint32_t count = 0; count < 2; count++) {
    const slab_build_options options = {.tree = SLAB_TREE_FAST};
    slab_scene *scene;
    slab_hit hit;
    assert_ok(slab_scene_create(context, &scene));
    assert_ok(slab_scene_add_spheres(scene, &ball, count, NULL, NULL));
    assert_ok(slab_scene_commit(scene, &options));
    assert_ok(slab_closest(scene, &ray, 1, &hit, NULL));
    assert_int_equal(hit.primitive, count == 0 ? SLAB_MISS : 0);
    assert_true(hit.t == (count == 0 ? INFINITY : 2.0f));
    slab_scene_destroy(scene);
  }
  slab_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trees_equal_flat_on_mixed),    cmocka_unit_test(trees_equal_flat_on_touching),
      cmocka_unit_test(trees_equal_flat_on_flatland), cmocka_unit_test(trees_equal_flat_on_far),
      cmocka_unit_test(trees_equal_flat_on_scales),   cmocka_unit_test(tree_of_nothing_and_of_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
