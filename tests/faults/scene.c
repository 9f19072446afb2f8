/* The scene that all fault tests use: all kinds of primitives, and more hits on a ray than the initial capacities
 * hold. */
#include "scene.h"

#include <stdlib.h>

enum { SPHERES = 120, BOXES = 12, CORNERS = 24, TRIANGLES = 16 };

static const slab_plane planes[] = {{{0, 0, 1}, -9}, {{1, 2, 3}, 40}};
static const slab_obb obbs[] = {{{2, 2, 2}, {1, 1, 1}, {{0.6f, 0.8f, 0}, {-0.8f, 0.6f, 0}, {0, 0, 1}}},
                                {{-3, 0, 1}, {1, 2, 0.5f}, {{1, 0, 0}, {0, 0.6f, 0.8f}, {0, -0.8f, 0.6f}}}};

static void place(random_state *random, float point[3]) {
  for (int i = 0; i < 3; i++) point[i] = random_between(random, -6.0f, 6.0f);
}

/* Adds a geometry, or updates one of that kind. */
static slab_status add_or_update(slab_scene *scene, slab_shape shape, uint32_t count, bool update, uint32_t *geometry) {
  random_state random = random_seed(1);
  slab_sphere spheres[SPHERES];
  float corners[CORNERS][3];
  uint32_t indices[3 * TRIANGLES];
  switch (shape) {
    case SLAB_PLANE:
      return update ? slab_scene_update_planes(scene, *geometry, planes, 2)
                    : slab_scene_add_planes(scene, planes, 2, NULL, geometry);
    case SLAB_SPHERE:
      for (int i = 0; i < SPHERES; i++) spheres[i] = (slab_sphere){{0, 0, 0}, 0.02f * (float)(i + 1)};
      return update ? slab_scene_update_spheres(scene, *geometry, spheres, SPHERES)
                    : slab_scene_add_spheres(scene, spheres, SPHERES, NULL, geometry);
    case SLAB_OBB:
      return update ? slab_scene_update_obbs(scene, *geometry, obbs, 2)
                    : slab_scene_add_obbs(scene, obbs, 2, NULL, geometry);
    case SLAB_TRIANGLE: {
      const slab_mesh mesh = {corners[0], 0, CORNERS, indices, TRIANGLES, NULL};
      for (int i = 0; i < CORNERS; i++) place(&random, corners[i]);
      for (int i = 0; i < 3 * TRIANGLES; i++) indices[i] = random_below(&random, CORNERS);
      return update ? slab_scene_update_mesh(scene, *geometry, &mesh)
                    : slab_scene_add_mesh(scene, &mesh, NULL, geometry);
    }
    case SLAB_BOX:
      break;
  }
  slab_box few[BOXES], *boxes = count > BOXES ? calloc(count, sizeof *boxes) : few;
  assert_non_null(boxes);
  count = count > BOXES ? count : BOXES;
  for (uint32_t i = 0; i < count; i++) {
    place(&random, boxes[i].lower);
    for (int k = 0; k < 3; k++) boxes[i].upper[k] = boxes[i].lower[k] + random_between(&random, 0.0f, 1.0f);
  }
  const slab_status status = update ? slab_scene_update_boxes(scene, *geometry, boxes, count)
                                    : slab_scene_add_boxes(scene, boxes, count, NULL, geometry);
  if (boxes != few) free(boxes);
  return status;
}

slab_status scene_add(slab_scene *scene, slab_shape shape, uint32_t count, uint32_t *geometry) {
  return add_or_update(scene, shape, count, false, geometry);
}

slab_status scene_change(slab_scene *scene, slab_shape shape, uint32_t count) {
  uint32_t geometry = (uint32_t)shape;
  return add_or_update(scene, shape, count, true, &geometry);
}

void scene_fill(slab_scene *scene, uint32_t boxes) {
  for (int shape = SLAB_PLANE; shape < SLAB_SHAPE_COUNT; shape++)
    assert_ok(scene_add(scene, (slab_shape)shape, boxes, NULL));
}

void scene_rays(slab_ray *rays, slab_primitive_id *skips, size_t n) {
  random_state random = random_seed(2);
  for (size_t i = 0; i < n; i++) {
    float from[3], to[3];
    place(&random, from);
    for (int k = 0; k < 3; k++) to[k] = random_between(&random, -2.0f, 2.0f);
    rays[i] = slab_segment(from, to);
    if (i % 4) rays[i].t_max = INFINITY;
    if (i % 16 == 5) rays[i].direction[1] = NAN;
    skips[i] = i % 3 ? (slab_primitive_id){SLAB_MISS, SLAB_MISS} : (slab_primitive_id){(uint32_t)i % TRIANGLES, 4};
  }
}

void scene_own(uint32_t *masks, slab_short_hit *after, size_t n) {
  for (size_t i = 0; i < n; i++) {
    masks[i] = i % 7 ? UINT32_MAX : 0;
    after[i] = i % 2 ? (slab_short_hit){-INFINITY, SLAB_MISS, SLAB_MISS} : (slab_short_hit){1.0f, 0, 0};
  }
}

void scene_shapes(slab_shape shape, size_t n, void *shapes) {
  slab_sphere *spheres = shapes;
  slab_box *boxes = shapes;
  random_state random = random_seed(3);
  for (size_t i = 0; i < n; i++) {
    if (shape == SLAB_SPHERE) {
      place(&random, spheres[i].center);
      spheres[i].radius = 2.0f;
    } else {
      for (int k = 0; k < 3; k++) boxes[i].upper[k] = 2.0f + (boxes[i].lower[k] = random_between(&random, -3, 1));
    }
  }
}
