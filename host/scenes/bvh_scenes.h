/* Scenes on which a BVH could go wrong, extremes over-represented, and rays at them: for comparing BVHs with flat
 * scenes. A scene, a count and a seed give the same primitives on every call. */
#ifndef SLABCAST_BENCH_TREE_SCENES_H
#define SLABCAST_BENCH_TREE_SCENES_H

#include "random.h"
#include "slabcast.h"

typedef enum bvh_scene {
  BVH_MIXED,    /* every kind, geometries seen by different masks (1, 2, 3), one empty */
  BVH_TOUCHING, /* boxes on few coordinates: equal, flat, without volume, inverted, unbounded along one, two, all axes
                 */
  BVH_FLATLAND, /* rectangles: boxes without bounds in z */
  BVH_FAR,      /* a closed mesh far from the origin, where floats are coarse */
  BVH_SCALES,   /* spheres and triangles of sizes from 2^-40 to 2^40, many of them at one place */
  BVH_SLIVERS,  /* triangles of aspect 1e-6 beside short ones, shared vertices, triangles without area */
  BVH_SCENES
} bvh_scene;

const char *bvh_scene_name(bvh_scene which);

/* About `count` primitives. SLAB_OUT_OF_MEMORY also, without a message, where the generator finds no room. */
slab_status bvh_scene_fill(bvh_scene which, uint32_t count, uint64_t seed, slab_scene *scene);

/* A dropped primitive of every kind, so that all scenes share one program for each query. */
slab_status bvh_scene_add_nothing(slab_scene *scene);

/* Through the bounds of a committed scene: on a lattice of few coordinates or anywhere, along axes, segments, whole
 * lines. */
slab_ray bvh_scene_ray(random_state *random, const slab_scene_stats *stats);

#endif
