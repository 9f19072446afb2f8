/* An 8-wide bounding volume hierarchy over bounds: knows no shapes, no rays and no OpenCL.
 *
 * build.c    bounds -> binary BVH: top-down, binned surface area heuristic (SAH), cost counted in blocks
 * split.c    where to cut one node
 * curve.c    the same by cells along a curve (BVH_FAST)
 * reinsert.c binary BVH -> a better one (BVH_HIGH)
 * collapse.c binary BVH -> which of its nodes become wide ones: the cheapest choice, by dynamic programming
 * wide.c     that choice -> nodes and blocks, in the order that traversal reads them
 *
 * The cost of a BVH is the expected work of a ray that meets its root,
 *     sum over nodes of BVH_COST_NODE * area / root area + sum over leaves of BVH_COST_BLOCK * blocks * area / root
 * area, area being half the surface; blocks and their cost are as the options' bvh_leaves say. Infinite z bounds count
 * as the ends of the finite ones; where there are none (2D), area is half the perimeter in x and y. Coordinates count
 * as at most 2^125. A root without area counts as 1, and so do the areas below it. */
#ifndef SLABCAST_TREE_BUILD_H
#define SLABCAST_TREE_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "leaves.h"
#include "types.h"

#define BVH_COST_NODE 1.0f
#define BVH_COST_BLOCK 1.2f
#define BVH_LEAF_BLOCKS 4 /* most blocks of a leaf */
/* Most inner levels, whatever the input: the binary BVH is cut into halves where it would become deeper than
 * BVH_DEPTH_MAX - 8, and the last 8 levels part primitives of different kinds. */
#define BVH_DEPTH_MAX 48

typedef enum bvh_quality { BVH_FAST, BVH_DEFAULT, BVH_HIGH } bvh_quality;

typedef struct bvh_bounds {
  float lower[3], upper[3];
} bvh_bounds;

typedef struct bvh_input {
  uint32_t count;           /* primitives; below 2^32 - 16 */
  const bvh_bounds *bounds; /* count: lower <= upper, x and y finite; z may be infinite */
  const uint8_t *kinds;     /* count: a block holds one kind only; NULL: all kind 0 */
} bvh_input;

typedef struct bvh_options {
  bvh_quality quality;
  int threads;       /* 0: all. The BVH does not depend on it */
  bvh_leaves leaves; /* zero: BVH_WIDTH, BVH_LEAF_BLOCKS, BVH_COST_BLOCK. The BVH has blocks of BVH_WIDTH all the
                         same, some with empty lanes */
} bvh_options;

#define BVH_NONE 0xFFFFFFFFu
typedef struct bvh_block {
  uint32_t primitives[BVH_WIDTH]; /* indices into the input, ascending, then BVH_NONE */
} bvh_block;

typedef struct bvh {
  bvh_node *nodes; /* node 0 is the root; the inner children of a node are neighbours */
  bvh_block *blocks;
  uint8_t *block_kinds;
  uint32_t node_count, block_count;
  uint32_t depth;                           /* inner levels on the longest path; a root alone: 1 */
  double sah_cost;                          /* 0: no primitives */
  double occupancy_nodes, occupancy_blocks; /* used share of the slots */
  double seconds;
} bvh;

/* False when memory runs out; *out is then zero, as it is worth nothing to read before. The caller frees *out. */
bool bvh_build(const bvh_input *, const bvh_options *, bvh *out);
void bvh_free(bvh *);

#endif
