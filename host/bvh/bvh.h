/* Builds an 8-wide bounding volume hierarchy (BVH) from bounds. Knows no shapes, no rays and no OpenCL.
 *
 * build.c    bounds -> binary BVH: top-down, by the binned surface area heuristic (SAH), with costs in blocks
 * split.c    where to cut one node
 * curve.c    where to cut one node, by cells along a curve (BVH_FAST)
 * reinsert.c binary BVH -> a better one (BVH_HIGH)
 * collapse.c binary BVH -> which of its nodes become wide ones: the cheapest choice, by dynamic programming,
 *            and in which slots
 * wide.c     that choice -> nodes and blocks, in the order that traversal reads them
 *
 * The cost of a BVH is the expected work of a ray that intersects the root's bounds,
 *     sum over nodes of BVH_COST_NODE * area / root area + sum over leaves of BVH_COST_BLOCK * blocks * area / root
 * area, where area is half the surface. The options' bvh_leaves set the blocks and their cost. Infinite z bounds are
 * replaced by the ends of the finite ones. Where there are no finite ones (2D), area is half the perimeter in x and y.
 * Coordinates are clamped to 2^125. If the root has no area, its area and all areas below it count as 1. */
#ifndef SLABCAST_BVH_BVH_H
#define SLABCAST_BVH_BVH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bvh/float4.h"
#include "data/types.h"

#define BVH_COST_NODE 1.0f
#define BVH_COST_BLOCK 1.2f
#define BVH_LEAF_BLOCKS 4 /* most blocks of a leaf */
/* Most inner nodes on a path, for any input. The binary BVH is cut into halves where it would become deeper than
 * BVH_DEPTH_MAX - 8. The last 8 depths separate primitives of different kinds. */
#define BVH_DEPTH_MAX 48

/* The cost model of leaves, for the traversal that the BVH is built for. */
typedef struct bvh_leaves {
  uint32_t together; /* primitives tested at once, as a block; a power of two */
  uint32_t most;     /* most blocks of a leaf; most * together is at most BVH_LEAF_BLOCKS * BVH_WIDTH */
  float cost;        /* cost of a block; a node costs BVH_COST_NODE */
} bvh_leaves;

typedef enum bvh_quality { BVH_FAST, BVH_DEFAULT, BVH_HIGH } bvh_quality;

typedef struct bvh_bounds {
  float lower[3], upper[3];
} bvh_bounds;

/* A primitive during the build. It holds the bounds and the index together, so that memory is read in order. */
typedef union bvh_reference {
  struct {
    float lower[3];
    uint32_t index; /* in the input */
    float upper[3];
    uint32_t tag; /* kind, and the builder's notes */
  };
  float4 side[2]; /* lower, upper; lane 3 is not a number */
} bvh_reference;

/* Fills in the references of `count` primitives, at most BVH_FILL_MOST: bounds with lower <= upper, x and y finite, z
 * may be infinite; and the kind, below 256, as the tag. The builder fills in the index. It may want a primitive more
 * than once. Threads call it at once. */
#define BVH_FILL_MOST 256
typedef void bvh_fill(const void *argument, const uint32_t *primitives, uint32_t count, bvh_reference *);

typedef struct bvh_input {
  uint32_t count; /* number of primitives; below 2^32 - 16 */
  bvh_fill *fill;
  const void *argument;
  bvh_bounds bounds; /* of the primitives, about; not finite, or of no extent: unknown. BVH_FAST is built faster if they
                        are known */
  const atomic_bool *ends; /* NULL, or `fill` may set it: the build then ends once it has seen each primitive */
} bvh_input;

typedef struct bvh_options {
  bvh_quality quality;
  uint32_t threads;  /* as pool_run takes it. The BVH does not depend on it */
  bvh_leaves leaves; /* zero: BVH_WIDTH, BVH_LEAF_BLOCKS, BVH_COST_BLOCK. Blocks always have BVH_WIDTH lanes, some of
                        them may be empty */
} bvh_options;

#define BVH_NONE 0xFFFFFFFFu
typedef struct bvh_block {
  uint32_t primitives[BVH_WIDTH]; /* indices into the input, ascending, then BVH_NONE */
} bvh_block;

typedef struct bvh {
  bvh_node *nodes; /* node 0 is the root; the inner children of a node are adjacent */
  bvh_block *blocks;
  uint8_t *block_kinds;
  void *spare; /* memory that the builder used, for bvh_reuse */
  size_t spare_bytes;
  uint32_t node_count, block_count;
  uint32_t depth;                           /* inner nodes on the longest path; a root alone: 1 */
  double sah_cost;                          /* 0: no primitives */
  double occupancy_nodes, occupancy_blocks; /* used fraction of the slots */
  double seconds;
} bvh;

/* Returns false when memory runs out, or where the input ends it; *out is then zero. Does not read *out. The caller
 * frees *out. */
bool bvh_build(const bvh_input *, const bvh_options *, bvh *out);
void bvh_free(bvh *);

#endif
