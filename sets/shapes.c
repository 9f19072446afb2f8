#include "sets/shapes.h"

#include "shapes.def"

size_t shape_floats(slab_shape kind) {
#define FLOATS_OF(shape, name, names, noun, floats, form, place, source) [shape] = (floats),
  static const size_t floats[SHAPE_KINDS] = {SHAPES(FLOATS_OF)};
#undef FLOATS_OF
  return floats[kind];
}

const char *shape_name(slab_shape kind) {
#define NAME_OF(shape, name, names, noun, floats, form, place, source) [shape] = (noun),
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

static slab_mesh soup_of(const void *triangles, uint32_t n) {
  return (slab_mesh){.vertices = triangles, .vertex_count = 3 * n, .triangle_count = n};
}

slab_status shape_add_array(slab_scene *scene, slab_shape kind, const void *shapes, uint32_t n,
                            const slab_geometry_options *options, uint32_t *geometry) {
  const slab_mesh soup = soup_of(shapes, n);
  switch (kind) {
#define ADD_OF_ARRAY(names) slab_scene_add_##names(scene, shapes, n, options, geometry)
#define ADD_OF_MESH(names) slab_scene_add_mesh(scene, &soup, options, geometry)
#define ADD_OF(shape, name, names, noun, floats, form, place, source) \
  case shape:                                                         \
    return ADD_OF_##source(names);
    SHAPES(ADD_OF)
#undef ADD_OF
  }
  return SLAB_INVALID_ARGUMENT;
}

slab_status shape_add(slab_scene *scene, slab_shape kind, const void *shapes, uint32_t n,
                      const slab_geometry_options *options) {
  return shape_add_array(scene, kind, shapes, n, options, NULL);
}

slab_status shape_add_doubles(slab_scene *scene, slab_shape kind, const double *shapes, uint32_t n,
                              const slab_geometry_options *options) {
  const slab_mesh soup = {.vertices64 = shapes, .vertex_count = 3 * n, .triangle_count = n};
  switch (kind) {
#define ADD64_OF_ARRAY(name, names) \
  slab_scene_add_##names##64(scene, (const slab_##name##64 *)(const void *)shapes, n, options, NULL)
#define ADD64_OF_MESH(name, names) slab_scene_add_mesh(scene, &soup, options, NULL)
#define ADD64_OF(shape, name, names, noun, floats, form, place, source) \
  case shape:                                                           \
    return ADD64_OF_##source(name, names);
    SHAPES(ADD64_OF)
#undef ADD64_OF
  }
  return SLAB_INVALID_ARGUMENT;
}

slab_status shape_update_array(slab_scene *scene, uint32_t geometry, slab_shape kind, const void *shapes, uint32_t n) {
  const slab_mesh soup = soup_of(shapes, n);
  switch (kind) {
#define UPDATE_OF_ARRAY(names) slab_scene_update_##names(scene, geometry, shapes, n)
#define UPDATE_OF_MESH(names) slab_scene_update_mesh(scene, geometry, &soup)
#define UPDATE_OF(shape, name, names, noun, floats, form, place, source) \
  case shape:                                                            \
    return UPDATE_OF_##source(names);
    SHAPES(UPDATE_OF)
#undef UPDATE_OF
  }
  return SLAB_INVALID_ARGUMENT;
}

slab_status shape_update_some(slab_scene *scene, uint32_t geometry, slab_shape kind, uint32_t first, const void *shapes,
                              uint32_t n) {
  switch (kind) {
#define SOME_OF_ARRAY(names) slab_scene_update_some_##names(scene, geometry, first, shapes, n)
#define SOME_OF_MESH(names) slab_scene_update_some_vertices(scene, geometry, 3 * first, shapes, 3 * n)
#define SOME_OF(shape, name, names, noun, floats, form, place, source) \
  case shape:                                                          \
    return SOME_OF_##source(names);
    SHAPES(SOME_OF)
#undef SOME_OF
  }
  return SLAB_INVALID_ARGUMENT;
}
