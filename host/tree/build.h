/* An 8-wide bounding volume hierarchy over bounds: knows no shapes, no rays and no OpenCL.
 *
 * build.c    bounds -> binary tree: top-down, binned surface area heuristic (SAH), cost counted in blocks
 * split.c    where to cut one node
 * curve.c    the same by cells along a curve (TREE_FAST)
 * reinsert.c binary tree -> a better one (TREE_HIGH)
 * collapse.c binary tree -> which of its nodes become wide ones: the cheapest choice, by dynamic programming
 * wide.c     that choice -> nodes and blocks, in the order that traversal reads them
 *
 * The cost of a tree is the expected work of a ray that meets its root,
 *     sum over nodes of TREE_COST_NODE * area / root area + sum over leaves of TREE_COST_BLOCK * blocks * area / root
 * area, area being half the surface; blocks and their cost are as the options' tree_leaves say. Infinite z bounds count
 * as the ends of the finite ones; where there are none (2D), area is half the perimeter in x and y. Coordinates count
 * as at most 2^125. A root without area counts as 1, and so do the areas below it. */
#ifndef SLABCAST_TREE_BUILD_H
#define SLABCAST_TREE_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "leaves.h"
#include "types.h"

#define TREE_COST_NODE 1.0f
#define TREE_COST_BLOCK 1.2f
#define TREE_LEAF_BLOCKS 4 /* most blocks of a leaf */
/* Most inner levels, whatever the input: the binary tree is cut into halves where it would become deeper than
 * TREE_DEPTH_MAX - 8, and the last 8 levels part primitives of different kinds. */
#define TREE_DEPTH_MAX 48

typedef enum tree_quality { TREE_FAST, TREE_DEFAULT, TREE_HIGH } tree_quality;

typedef struct tree_bounds {
  float lower[3], upper[3];
} tree_bounds;

typedef struct tree_input {
  uint32_t count;            /* primitives; below 2^32 - 16 */
  const tree_bounds *bounds; /* count: lower <= upper, x and y finite; z may be infinite */
  const uint8_t *kinds;      /* count: a block holds one kind only; NULL: all kind 0 */
} tree_input;

typedef struct tree_options {
  tree_quality quality;
  int threads;        /* 0: all. The tree does not depend on it */
  tree_leaves leaves; /* zero: TREE_WIDTH, TREE_LEAF_BLOCKS, TREE_COST_BLOCK. The tree has blocks of TREE_WIDTH all the
                         same, some with empty lanes */
} tree_options;

#define TREE_NONE 0xFFFFFFFFu
typedef struct tree_block {
  uint32_t primitives[TREE_WIDTH]; /* indices into the input, ascending, then TREE_NONE */
} tree_block;

typedef struct tree {
  tree_node *nodes; /* node 0 is the root; the inner children of a node are neighbours */
  tree_block *blocks;
  uint8_t *block_kinds;
  uint32_t node_count, block_count;
  uint32_t depth;                           /* inner levels on the longest path; a root alone: 1 */
  double sah_cost;                          /* 0: no primitives */
  double occupancy_nodes, occupancy_blocks; /* used share of the slots */
  double seconds;
} tree;

/* False when memory runs out; *out is then zero, as it is worth nothing to read before. The caller frees *out. */
bool tree_build(const tree_input *, const tree_options *, tree *out);
void tree_free(tree *);

#endif
