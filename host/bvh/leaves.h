/* What leaves of a BVH cost the traversal that it is built for. */
#ifndef SLABCAST_TREE_LEAVES_H
#define SLABCAST_TREE_LEAVES_H

#include <stdint.h>

typedef struct bvh_leaves {
  uint32_t together; /* primitives that are met at once, as a block; a power of two */
  uint32_t most;     /* blocks of a leaf; most * together is BVH_LEAF_BLOCKS * BVH_WIDTH at the most */
  float cost;        /* of a block, that of a node being BVH_COST_NODE */
} bvh_leaves;

#endif
