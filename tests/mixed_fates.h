/* A scene of every kind of primitive, and rays of every kind of fate, for comparisons between two ways of asking. */
#ifndef MIXED_FATES_H
#define MIXED_FATES_H

#include "harness.h"

/* Geometries in the order of adding; each has a mask bit of its own, MIXED_FATES_MASK(geometry). */
enum {
  MIXED_FATES_PLANES,
  MIXED_FATES_SPHERES,
  MIXED_FATES_NOTHING,
  MIXED_FATES_BOXES,
  MIXED_FATES_OBBS,
  MIXED_FATES_MESH,
  MIXED_FATES_GEOMETRIES
};
#define MIXED_FATES_MASK(geometry) (1u << (geometry))

/* Committed. Other variants are other scenes. The caller destroys it. */
slab_scene *mixed_fates_scene(slab_context *context, uint32_t variant);

/* Committed, through a BVH of high quality: `shapes` of every kind. The caller destroys it. */
slab_scene *mixed_tree(slab_context *context, uint32_t shapes);

/* Malloc'ed rays at it: hits, misses, segments, invalid ones. */
slab_ray *mixed_rays(const char *test, size_t n);

#endif
