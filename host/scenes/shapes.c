#include "shapes.h"

#include "shapes.def"

size_t shape_floats(slab_shape kind) {
#define FLOATS_OF(shape, name, names, noun, rows, form, place, source) [shape] = (rows),
  static const size_t floats[SHAPE_KINDS] = {SHAPES(FLOATS_OF)};
#undef FLOATS_OF
  return floats[kind];
}

const char *shape_name(slab_shape kind) {
#define NAME_OF(shape, name, names, noun, rows, form, place, source) [shape] = (noun),
  static const char *const nouns[SHAPE_KINDS] = {SHAPES(NAME_OF)};
#undef NAME_OF
  return nouns[kind];
}

uint32_t shape_sizes(slab_shape kind) {
  static const uint32_t sizes[SHAPE_KINDS] = {[SLAB_SPHERE] = 1u << 3, [SLAB_OBB] = 7u << 3};
  return sizes[kind];
}

uint32_t shape_points(slab_shape kind) {
  static const uint32_t points[SHAPE_KINDS] = {
      [SLAB_SPHERE] = 1, [SLAB_BOX] = 1 | 1u << 3, [SLAB_OBB] = 1, [SLAB_TRIANGLE] = 1 | 1u << 3 | 1u << 6};
  return points[kind];
}

slab_status shape_add_array(slab_scene *scene, slab_shape kind, const void *shapes, uint32_t n,
                            const slab_geometry_options *options, uint32_t *geometry) {
  switch (kind) {
#define ADD_OF_ARRAY(shape, names) \
  case shape:                      \
    return slab_scene_add_##names(scene, shapes, n, options, geometry);
#define ADD_OF_MESH(shape, names) \
  case shape:                     \
    break;
#define ADD_OF(shape, name, names, noun, rows, form, place, source) ADD_OF_##source(shape, names)
    SHAPES(ADD_OF)
#undef ADD_OF
  }
  const slab_mesh soup = {.vertices = shapes, .vertex_count = 3 * n, .triangle_count = n};
  return slab_scene_add_mesh(scene, &soup, options, geometry);
}

slab_status shape_add(slab_scene *scene, slab_shape kind, const void *shapes, uint32_t n,
                      const slab_geometry_options *options) {
  return shape_add_array(scene, kind, shapes, n, options, NULL);
}
