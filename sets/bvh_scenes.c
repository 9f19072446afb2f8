#include "sets/bvh_scenes.h"

#include <math.h>
#include <stdlib.h>

#include "sets/scenes.h"
#include "sets/scenes_private.h"
#include "sets/shapes.h"

const char *bvh_scene_name(bvh_scene which) {
  static const char *const names[BVH_SCENES] = {
      [BVH_MIXED] = "mixed", [BVH_TOUCHING] = "touching", [BVH_FLATLAND] = "flatland",
      [BVH_FAR] = "far",     [BVH_SCALES] = "scales",     [BVH_SLIVERS] = "slivers"};
  return names[which];
}

static slab_status add_named(slab_scene *scene, const char *name, uint32_t count, uint64_t seed, uint32_t mask) {
  const slab_geometry_options options = {.mask = mask};
  scene_geometry geometry;
  if (scene_build(name, count, seed, &geometry) != 0) return SLAB_OUT_OF_MEMORY;
  const slab_status status = scene_geometry_add(scene, &geometry, &options, NULL);
  scene_geometry_free(&geometry);
  return status;
}

static slab_status fill_mixed(slab_scene *scene, uint32_t count, uint64_t seed) {
  static const struct {
    const char *name;
    uint32_t mask;
  } parts[] = {{"boxes", 1}, {"soup", 2}, {"spheres", 3}, {"obbs", 1}, {"lattice", 3}};
  const uint32_t each = count / (sizeof parts / sizeof *parts);
  slab_status status = slab_scene_add_boxes(scene, NULL, 0, NULL, NULL);
  for (size_t i = 0; status == SLAB_OK && i < sizeof parts / sizeof *parts; i++)
    status = add_named(scene, parts[i].name, each, seed + i, parts[i].mask);
  return status == SLAB_OK ? add_named(scene, "planes", 20, seed + 5, 2) : status;
}

/* The number of positions (`places`) grows with the scene, so that a ray does not intersect more boxes in larger
 * scenes. */
static void touching_box(random_state *random, uint32_t i, uint32_t places, slab_box *box) {
  for (uint32_t k = 0; k < 3; k++) {
    box->lower[k] = (float)random_below(random, places) - 2.0f;
    box->upper[k] = box->lower[k] + (float)random_below(random, 4) - (i % 50 == 0 ? 1.0f : 0.0f);
    if (i < 400 && i % 20 == k) box->upper[k] = INFINITY;
    if (i < 400 && i % 20 == 2 * k) box->lower[k] = -INFINITY;
  }
}

static slab_status fill_boxes(slab_scene *scene, uint32_t count, uint64_t seed, int flatland) {
  random_state random = random_seed(seed);
  slab_box *boxes = malloc(((size_t)count + 1) * sizeof *boxes);
  if (boxes == NULL) return SLAB_OUT_OF_MEMORY;
  const uint32_t places = 5 + scene_cube_root(count) / 2;
  for (uint32_t i = 0; i < count; i++) {
    if (!flatland) {
      touching_box(&random, i, places, &boxes[i]);
      continue;
    }
    const float lower[2] = {random_between(&random, -2, 2), random_between(&random, -2, 2)};
    const float upper[2] = {lower[0] + random_between(&random, 0, 0.3f), lower[1] + random_between(&random, 0, 0.3f)};
    boxes[i] = slab_box_2d(lower, upper);
  }
  const slab_status status = slab_scene_add_boxes(scene, boxes, count, NULL, NULL);
  free(boxes);
  return status;
}

static slab_status fill_far(slab_scene *scene, uint32_t count, uint64_t seed) {
  static const float offset[3] = {148376, 1234, -223423};
  scene_geometry mesh;
  if (scene_build("lattice", count, seed, &mesh) != 0) return SLAB_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < 3 * mesh.vertex_count; i++) mesh.vertices[i] += offset[i % 3];
  const slab_status status = scene_geometry_add(scene, &mesh, NULL, NULL);
  scene_geometry_free(&mesh);
  return status;
}

/* Every third of the first 400 spheres has its centre at 0. */
static void scaled_shapes(random_state *random, uint32_t i, slab_sphere *sphere, float corners[9]) {
  const float size = ldexpf(1, (int)random_below(random, 81) - 40);
  for (int k = 0; k < 3; k++) sphere->center[k] = i % 3 == 0 && i < 400 ? 0 : random_between(random, -2, 2) * size;
  sphere->radius = size;
  for (int k = 0; k < 9; k++) corners[k] = size * random_between(random, -1, 1);
}

static slab_status fill_scales(slab_scene *scene, uint32_t count, uint64_t seed) {
  random_state random = random_seed(seed);
  const uint32_t n = count / 2;
  slab_sphere *spheres = malloc(((size_t)n + 1) * sizeof *spheres);
  float *corners = malloc(((size_t)n + 1) * 9 * sizeof *corners);
  slab_status status = spheres && corners ? SLAB_OK : SLAB_OUT_OF_MEMORY;
  for (uint32_t i = 0; status == SLAB_OK && i < n; i++) scaled_shapes(&random, i, &spheres[i], corners + (size_t)9 * i);
  const slab_mesh soup = {.vertices = corners, .vertex_count = 3 * n, .triangle_count = n};
  if (status == SLAB_OK) status = slab_scene_add_spheres(scene, spheres, n, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_add_mesh(scene, &soup, NULL, NULL);
  free(spheres);
  free(corners);
  return status;
}

/* Vertex i: anywhere, or within 1e-6 of the line through the two vertices before it. */
static void sliver_vertex(random_state *random, uint32_t i, float *vertices) {
  float *v = vertices + (size_t)3 * i;
  const float share = random_float(random);
  const int beside = i >= 2 && random_below(random, 2);
  for (int k = 0; k < 3; k++)
    v[k] = beside ? v[k - 6] + (v[k - 3] - v[k - 6]) * share + random_between(random, -1e-6f, 1e-6f)
                  : random_between(random, -2, 2);
}

static slab_status fill_slivers(slab_scene *scene, uint32_t count, uint64_t seed) {
  random_state random = random_seed(seed);
  const uint32_t vertices = count + 2;
  float *v = malloc((size_t)vertices * 3 * sizeof *v);
  uint32_t *indices = malloc(((size_t)count + 1) * 3 * sizeof *indices);
  slab_status status = v && indices ? SLAB_OK : SLAB_OUT_OF_MEMORY;
  for (uint32_t i = 0; status == SLAB_OK && i < vertices; i++) sliver_vertex(&random, i, v);
  for (uint32_t i = 0; status == SLAB_OK && i < 3 * count; i++)
    indices[i] = i / 3 + (random_below(&random, 20) ? i % 3 : 0);    /* some triangles use a vertex twice */
  for (uint32_t k = 0, first = 0; status == SLAB_OK && k < 2; k++) { /* two, of which a mask may hide one */
    const slab_geometry_options options = {.mask = 1u << k};
    const slab_mesh mesh = {.vertices = v,
                            .vertex_count = vertices,
                            .indices = indices + (size_t)3 * first,
                            .triangle_count = k == 0 ? count / 2 : count - first};
    first = mesh.triangle_count;
    status = slab_scene_add_mesh(scene, &mesh, &options, NULL);
  }
  free(v);
  free(indices);
  return status;
}

slab_status bvh_scene_fill(bvh_scene which, uint32_t count, uint64_t seed, slab_scene *scene) {
  switch (which) {
    case BVH_MIXED:
      return fill_mixed(scene, count, seed);
    case BVH_TOUCHING:
      return fill_boxes(scene, count, seed, 0);
    case BVH_FLATLAND:
      return fill_boxes(scene, count, seed, 1);
    case BVH_FAR:
      return fill_far(scene, count, seed);
    case BVH_SCALES:
      return fill_scales(scene, count, seed);
    default:
      return fill_slivers(scene, count, seed);
  }
}

slab_status bvh_scene_add_nothing(slab_scene *scene) {
  static const slab_geometry_options drop = {.skip_invalid = 1};
  slab_status status = SLAB_OK;
  float nothing[SHAPE_FLOATS_MOST];
  for (int i = 0; i < SHAPE_FLOATS_MOST; i++) nothing[i] = NAN;
  for (int kind = 0; status == SLAB_OK && kind < SHAPE_KINDS; kind++)
    status = shape_add(scene, (slab_shape)kind, nothing, 1, &drop);
  return status;
}

/* ---- rays ---- */

static float direction_part(random_state *random, float extent) {
  if (random_below(random, 4) == 0) return 0.0f;
  if (random_below(random, 3) == 0) return (float)random_below(random, 5) - 2.0f;
  return random_between(random, -1, 1) * (extent + 1.0f);
}

slab_ray bvh_scene_ray(random_state *random, const slab_scene_stats *stats) {
  slab_ray ray = {.t_max = INFINITY};
  for (int k = 0; k < 3; k++) {
    const int bounded = stats->lower[k] <= stats->upper[k];
    const float lower = bounded ? stats->lower[k] : 0.0f, extent = bounded ? stats->upper[k] - lower : 0.0f;
    const float at = lower + extent * random_between(random, -0.25f, 1.25f);
    ray.origin[k] = random_below(random, 3) == 0 ? roundf(at) : at;
    ray.direction[k] = direction_part(random, extent);
  }
  if (random_below(random, 4) == 0) ray.t_min = random_below(random, 2) ? -INFINITY : -1.0f;
  if (random_below(random, 4) == 0) ray.t_max = 1.0f;
  return ray;
}
