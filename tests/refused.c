#include "refused.h"

#include <stdlib.h>
#include <string.h>

/* Just beyond the largest coordinate, 2^60 = 1.15292e+18. */
#define BEYOND 0x1.000002p60f
#define FAR 3e18f

/* Members: plane 0-2 normal, 3 offset; sphere 0-2 centre, 3 radius; oriented box 0-2 centre, 3-5 half size, 6-14
 * axes; triangle 0-2 a, 3-5 b, 6-8 c. */
static const refused_case cases[] = {
    {SLAB_PLANE, 2, 0.0f, "0"}, /* the only component of the normal that is not zero */
    {SLAB_PLANE, 0, NAN, "nan"},
    {SLAB_PLANE, 1, INFINITY, "inf"},
    {SLAB_PLANE, 2, -INFINITY, "-inf"},
    {SLAB_PLANE, 3, NAN, "nan"},
    {SLAB_PLANE, 3, -INFINITY, "-inf"},
    {SLAB_SPHERE, 0, NAN, "nan"},
    {SLAB_SPHERE, 1, -INFINITY, "-inf"},
    {SLAB_SPHERE, 2, FAR, "3e+18"},
    {SLAB_SPHERE, 2, -BEYOND, "-1.15292"},
    {SLAB_SPHERE, 3, -0.125f, "-0.125"},
    {SLAB_SPHERE, 3, NAN, "nan"},
    {SLAB_SPHERE, 3, INFINITY, "inf"},
    {SLAB_SPHERE, 3, FAR, "3e+18"},
    {SLAB_OBB, 0, INFINITY, "inf"},
    {SLAB_OBB, 1, NAN, "nan"},
    {SLAB_OBB, 2, -FAR, "-3e+18"},
    {SLAB_OBB, 3, -2.5f, "-2.5"},
    {SLAB_OBB, 4, NAN, "nan"},
    {SLAB_OBB, 5, INFINITY, "inf"},
    {SLAB_OBB, 5, FAR, "3e+18"},
    {SLAB_OBB, 6, NAN, "nan"},
    {SLAB_OBB, 14, INFINITY, "inf"},
    {SLAB_OBB, 6, 1.0001f, "1.000"}, /* the length may be named, or its square */
    {SLAB_OBB, 7, 0.0001f, "0.0001"},
    {SLAB_OBB, 10, 0.0f, "0"},
    {SLAB_TRIANGLE, 0, NAN, "nan"},
    {SLAB_TRIANGLE, 4, INFINITY, "inf"},
    {SLAB_TRIANGLE, 5, FAR, "3e+18"},
    {SLAB_TRIANGLE, 7, -INFINITY, "-inf"},
    {SLAB_TRIANGLE, 8, BEYOND, "1.15292"},
};

size_t refused_count(void) { return sizeof cases / sizeof *cases; }
const refused_case *refused_at(size_t i) { return &cases[i]; }

size_t shape_size(slab_shape kind) {
  static const size_t sizes[] = {[SLAB_PLANE] = sizeof(slab_plane),
                                 [SLAB_SPHERE] = sizeof(slab_sphere),
                                 [SLAB_BOX] = sizeof(slab_box),
                                 [SLAB_OBB] = sizeof(slab_obb),
                                 [SLAB_TRIANGLE] = sizeof(slab_triangle)};
  return sizes[kind];
}

any_shape shape_accepted(slab_shape kind) {
  switch (kind) {
    case SLAB_PLANE:
      return (any_shape){.plane = {{0, 0, 1}, 1}};
    case SLAB_SPHERE:
      return (any_shape){.sphere = {{0, 0, 0}, 1}};
    case SLAB_BOX:
      return (any_shape){.box = {{-1, -1, -1}, {1, 1, 1}}};
    case SLAB_OBB:
      return (any_shape){.obb = {{0, 0, 0}, {1, 1, 1}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    case SLAB_TRIANGLE:
      break;
  }
  return (any_shape){.triangle = {{-1, -1, 1}, {2, -1, 1}, {-1, 2, 1}}};
}

any_shape shape_refused(const refused_case *c) {
  any_shape shape = shape_accepted(c->kind);
  shape.floats[c->member] = c->value;
  return shape;
}

unsigned char *shapes_accepted(slab_shape kind, size_t n) {
  const size_t size = shape_size(kind);
  const any_shape shape = shape_accepted(kind);
  unsigned char *shapes = malloc(n * size + 1);
  assert_non_null(shapes);
  for (size_t i = 0; i < n; i++) memcpy(shapes + i * size, &shape, size);
  return shapes;
}

slab_status add_shapes(slab_scene *scene, slab_shape kind, const void *shapes, uint32_t n,
                       const slab_geometry_options *options, uint32_t *geometry) {
  switch (kind) {
    case SLAB_PLANE:
      return slab_scene_add_planes(scene, shapes, n, options, geometry);
    case SLAB_SPHERE:
      return slab_scene_add_spheres(scene, shapes, n, options, geometry);
    case SLAB_BOX:
      return slab_scene_add_boxes(scene, shapes, n, options, geometry);
    case SLAB_OBB:
      return slab_scene_add_obbs(scene, shapes, n, options, geometry);
    case SLAB_TRIANGLE:
      break;
  }
  const slab_mesh soup = {shapes, 0, 3 * n, NULL, n};
  return slab_scene_add_mesh(scene, &soup, options, geometry);
}
