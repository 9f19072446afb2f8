/* The cost model of BVH leaves, for the traversal that the BVH is built for. */
#ifndef SLABCAST_BVH_LEAVES_H
#define SLABCAST_BVH_LEAVES_H

#include <stdint.h>

typedef struct bvh_leaves {
  uint32_t together; /* primitives tested at once, as a block; a power of two */
  uint32_t most;     /* most blocks of a leaf; most * together is at most BVH_LEAF_BLOCKS * BVH_WIDTH */
  float cost;        /* cost of a block; a node costs BVH_COST_NODE */
} bvh_leaves;

#endif
