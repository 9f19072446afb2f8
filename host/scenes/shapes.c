#include "shapes.h"

size_t shape_floats(slab_shape kind) {
  static const size_t sizes[SHAPE_KINDS] = {[SLAB_PLANE] = sizeof(slab_plane),
                                            [SLAB_SPHERE] = sizeof(slab_sphere),
                                            [SLAB_BOX] = sizeof(slab_box),
                                            [SLAB_OBB] = sizeof(slab_obb),
                                            [SLAB_TRIANGLE] = sizeof(slab_triangle)};
  return sizes[kind] / sizeof(float);
}

const char *shape_name(slab_shape kind) {
  static const char *const names[SHAPE_KINDS] = {[SLAB_PLANE] = "plane",
                                                 [SLAB_SPHERE] = "sphere",
                                                 [SLAB_BOX] = "box",
                                                 [SLAB_OBB] = "oriented box",
                                                 [SLAB_TRIANGLE] = "triangle"};
  return names[kind];
}

slab_status shape_add(slab_scene *scene, slab_shape kind, const void *shapes, uint32_t n,
                      const slab_geometry_options *options) {
  const slab_mesh soup = {.vertices = shapes, .vertex_count = 3 * n, .triangle_count = n};
  switch (kind) {
    case SLAB_PLANE:
      return slab_scene_add_planes(scene, shapes, n, options, NULL);
    case SLAB_SPHERE:
      return slab_scene_add_spheres(scene, shapes, n, options, NULL);
    case SLAB_BOX:
      return slab_scene_add_boxes(scene, shapes, n, options, NULL);
    case SLAB_OBB:
      return slab_scene_add_obbs(scene, shapes, n, options, NULL);
    case SLAB_TRIANGLE:
      break;
  }
  return slab_scene_add_mesh(scene, &soup, options, NULL);
}
