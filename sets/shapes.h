/* Adds shapes of any kind by one function, as arrays of floats in the member order of the kind's struct. */
#ifndef SLABCAST_SETS_SHAPES_H
#define SLABCAST_SETS_SHAPES_H

#include "data/types.h"
#include "slabcast.h"

enum { SHAPE_KINDS = SLAB_SHAPE_COUNT, SHAPE_FLOATS_MOST = FLOATS_MOST };

size_t shape_floats(slab_shape kind);
const char *shape_name(slab_shape kind);
/* The floats that a scene refuses where they are negative, as bits: bit i for float i of the struct. */
uint32_t shape_sizes(slab_shape kind);
/* The floats at which a point begins, in such bits. */
uint32_t shape_points(slab_shape kind);

/* Adds n shapes of a kind as one geometry; triangles as a soup of slab_triangle. */
slab_status shape_add_array(slab_scene *scene, slab_shape kind, const void *shapes, uint32_t n,
                            const slab_geometry_options *options, uint32_t *geometry);
/* The same, where the geometry's index is not wanted. */
slab_status shape_add(slab_scene *scene, slab_shape kind, const void *shapes, uint32_t n,
                      const slab_geometry_options *options);
/* The same of shapes in double. */
slab_status shape_add_doubles(slab_scene *scene, slab_shape kind, const double *shapes, uint32_t n,
                              const slab_geometry_options *options);
/* Replaces the n shapes of a geometry, triangles as a soup. */
slab_status shape_update_array(slab_scene *scene, uint32_t geometry, slab_shape kind, const void *shapes, uint32_t n);
/* The same of n shapes from number `first` on; of a mesh without indices, all vertices of these. */
slab_status shape_update_some(slab_scene *scene, uint32_t geometry, slab_shape kind, uint32_t first, const void *shapes,
                              uint32_t n);

#endif
