/* Scenes on which a tree could go wrong, extremes over-represented, and rays at them: for comparing trees with flat
 * scenes. A scene, a count and a seed give the same primitives on every call. */
#ifndef SLABCAST_BENCH_TREE_SCENES_H
#define SLABCAST_BENCH_TREE_SCENES_H

#include "../host/cli/random.h"
#include "slabcast.h"

typedef enum tree_scene {
  TREE_MIXED,    /* every kind, geometries seen by different masks (1, 2, 3), one empty */
  TREE_TOUCHING, /* boxes on few coordinates: equal, flat, without volume, inverted, unbounded along one, two, all axes
                  */
  TREE_FLATLAND, /* rectangles: boxes without bounds in z */
  TREE_FAR,      /* a closed mesh far from the origin, where floats are coarse */
  TREE_SCALES,   /* spheres and triangles of sizes from 2^-40 to 2^40, many of them at one place */
  TREE_SLIVERS,  /* triangles of aspect 1e-6 beside short ones, shared vertices, triangles without area */
  TREE_SCENES
} tree_scene;

const char *tree_scene_name(tree_scene which);

/* About `count` primitives. SLAB_OUT_OF_MEMORY also, without a message, where the generator finds no room. */
slab_status tree_scene_fill(tree_scene which, uint32_t count, uint64_t seed, slab_scene *scene);

/* A dropped primitive of every kind, so that all scenes share one program for each query. */
slab_status tree_scene_add_nothing(slab_scene *scene);

/* Through the bounds of a committed scene: on a lattice of few coordinates or anywhere, along axes, segments, whole
 * lines. */
slab_ray tree_scene_ray(random_state *random, const slab_scene_stats *stats);

#endif
