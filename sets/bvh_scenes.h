/* Scenes that are hard for a BVH, and rays to cast at them, for comparing BVHs with brute force. Extreme cases are
 * over-represented. The same scene, count and seed give the same primitives on every call. */
#ifndef SLABCAST_SETS_BVH_SCENES_H
#define SLABCAST_SETS_BVH_SCENES_H

#include "sets/random.h"
#include "slabcast.h"

typedef enum bvh_scene {
  BVH_MIXED,    /* every kind, geometries with different masks (1, 2, 3), one of them empty */
  BVH_TOUCHING, /* boxes on few coordinates: equal, flat, without volume, inverted, unbounded along one, two
                 * or all axes */
  BVH_FLATLAND, /* rectangles: boxes unbounded in z */
  BVH_FAR,      /* a closed mesh far from the origin, where floats are coarse */
  BVH_SCALES,   /* spheres and triangles of sizes from 2^-40 to 2^40, many of them at the same position */
  BVH_SLIVERS,  /* triangles of aspect 1e-6 beside short ones, shared vertices, triangles without area */
  BVH_SCENES
} bvh_scene;

const char *bvh_scene_name(bvh_scene which);

/* Adds about `count` primitives. SLAB_OUT_OF_MEMORY also, without a message, where the generator runs out of memory. */
slab_status bvh_scene_fill(bvh_scene which, uint32_t count, uint64_t seed, slab_scene *scene);

/* Adds a dropped primitive of every kind, so that all scenes share one program for each query. */
slab_status bvh_scene_add_nothing(slab_scene *scene);

/* A ray through the bounds of a committed scene: from a lattice of few coordinates or from anywhere, along axes, as a
 * segment, or as a whole line. */
slab_ray bvh_scene_ray(random_state *random, const slab_scene_stats *stats);

#endif
