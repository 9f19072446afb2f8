#include "mixed_fates.h"

#include <stdlib.h>

#include "bvh_scenes.h"

enum { SPHERES = 13, BOXES = 21, OBBS = 5, VERTICES = 30, TRIANGLES = 40 };

static void place(harness_random *random, float point[3]) {
  for (int i = 0; i < 3; i++) point[i] = harness_uniform(random, -8.0f, 8.0f);
}

static slab_sphere sphere_at(harness_random *random) {
  slab_sphere sphere;
  place(random, sphere.center);
  sphere.radius = harness_uniform(random, 0.0f, 2.0f);
  return sphere;
}

static slab_box box_at(harness_random *random) {
  slab_box box;
  place(random, box.lower);
  for (int i = 0; i < 3; i++) box.upper[i] = box.lower[i] + harness_uniform(random, 0.0f, 3.0f);
  return box;
}

/* Turned about z by a Pythagorean angle, so that the axes are orthonormal. */
static slab_obb obb_at(harness_random *random) {
  slab_obb box = {.axes = {{0.6f, 0.8f, 0.0f}, {-0.8f, 0.6f, 0.0f}, {0.0f, 0.0f, 1.0f}}};
  place(random, box.center);
  for (int i = 0; i < 3; i++) box.half_size[i] = harness_uniform(random, 0.1f, 2.0f);
  return box;
}

static slab_geometry_options masked(uint32_t geometry) {
  return (slab_geometry_options){.mask = MIXED_FATES_MASK(geometry)};
}

static void add_mesh(slab_scene *scene, harness_random *random) {
  float vertices[VERTICES][3];
  uint32_t indices[TRIANGLES][3];
  for (int i = 0; i < VERTICES; i++) place(random, vertices[i]);
  for (int i = 0; i < TRIANGLES; i++)
    for (int k = 0; k < 3; k++) indices[i][k] = harness_below(random, VERTICES);
  const slab_geometry_options options = masked(MIXED_FATES_MESH);
  const slab_mesh mesh = {vertices[0], 0, VERTICES, indices[0], TRIANGLES};
  assert_ok(slab_scene_add_mesh(scene, &mesh, &options, NULL));
}

slab_scene *mixed_fates_scene(slab_context *context, uint32_t variant) {
  harness_random random = {variant};
  const slab_plane planes[] = {{{0.0f, 0.0f, 1.0f}, -9.0f}, {{1.0f, 2.0f, 3.0f}, 40.0f}};
  slab_sphere spheres[SPHERES];
  slab_box boxes[BOXES];
  slab_obb obbs[OBBS];
  for (int i = 0; i < SPHERES; i++) spheres[i] = sphere_at(&random);
  for (int i = 0; i < BOXES; i++) boxes[i] = box_at(&random);
  for (int i = 0; i < OBBS; i++) obbs[i] = obb_at(&random);
  slab_geometry_options options[MIXED_FATES_GEOMETRIES];
  for (uint32_t i = 0; i < MIXED_FATES_GEOMETRIES; i++) options[i] = masked(i);
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_planes(scene, planes, 2, &options[MIXED_FATES_PLANES], NULL));
  assert_ok(slab_scene_add_spheres(scene, spheres, SPHERES, &options[MIXED_FATES_SPHERES], NULL));
  assert_ok(slab_scene_add_boxes(scene, NULL, 0, &options[MIXED_FATES_NOTHING], NULL));
  assert_ok(slab_scene_add_boxes(scene, boxes, BOXES, &options[MIXED_FATES_BOXES], NULL));
  assert_ok(slab_scene_add_obbs(scene, obbs, OBBS, &options[MIXED_FATES_OBBS], NULL));
  add_mesh(scene, &random);
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

static slab_ray ray_at(harness_random *random) {
  float from[3], to[3];
  place(random, from);
  place(random, to);
  slab_ray ray = slab_segment(from, to);
  const uint32_t fate = harness_below(random, 16);
  if (fate < 12) ray.t_max = INFINITY;
  if (fate < 2) ray.t_min = -INFINITY;
  if (fate == 13) ray.direction[0] = ray.direction[1] = 0.0f;
  if (fate == 14) ray.t_max = -1.0f; /* below t_min: a plain miss */
  if (fate == 15) ray.origin[harness_below(random, 3)] = NAN;
  return ray;
}

slab_scene *mixed_tree(slab_context *context, uint32_t shapes) {
  const slab_build_options high = {.tree = SLAB_TREE_HIGH};
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(bvh_scene_fill(BVH_MIXED, shapes, 1, scene));
  assert_ok(slab_scene_commit(scene, &high));
  return scene;
}

slab_ray *mixed_rays(const char *test, size_t n) {
  harness_random random = harness_seeded(test);
  slab_ray *rays = malloc(n * sizeof *rays + 1);
  assert_non_null(rays);
  for (size_t i = 0; i < n; i++) rays[i] = ray_at(&random);
  return rays;
}
