/* A scene's BVH in the device's layout: nodes, and blocks with the primitives' values and global primitive ids. */
#ifndef SLABCAST_TREE_LAYOUT_H
#define SLABCAST_TREE_LAYOUT_H

#include "scene.h"
#include "types.h"

typedef struct bvh_layout {
  void *nodes; /* tree_nodes or compressed_nodes, the root first */
  size_t node_bytes;
  float *blocks;
  size_t floats;
  bvh_outside outside[OUTSIDE_KINDS];
  uint32_t depth, stack;                            /* stack: entries that a traversal can need */
  double sah_cost, node_occupancy, block_occupancy; /* as in slab_scene_stats */
} bvh_layout;

/* The caller frees nodes and blocks, whatever the status. */
slab_status bvh_layout_build(const slab_scene *, slab_tree quality, slab_layout, bvh_layout *);

/* Stack entries that a traversal of a BVH of this depth can need. */
uint32_t bvh_stack(slab_layout, uint32_t depth);
/* Validates a wide layout of this scene that was not built here: no traversal may leave its buffers. Fills in depth and
 * stack. */
slab_status bvh_layout_trust(const slab_scene *, bvh_layout *);

#endif
