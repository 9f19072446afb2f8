/* From a BVH to nodes of 80 bytes: kernels/types.h tells what is in them. */
#ifndef SLABCAST_TREE_COMPRESSED_H
#define SLABCAST_TREE_COMPRESSED_H

#include "build.h"

/* Which child of a node stands in each place of a compressed one. */
typedef struct compressed_slots {
  int child[BVH_WIDTH]; /* -1: none */
} compressed_slots;

/* Each child near the corner from which rays that meet its place first come. */
compressed_slots compressed_arrange(const bvh_node *);
/* Origin, scales but for the mask of nodes, and planes. Places without a child get bounds turned inside out. */
void compressed_bounds(const bvh_node *, const compressed_slots *, compressed_node *);

/* Writes t->node_count nodes. places: of each block of the BVH where its first primitive lies, in COMPRESSED_UNITs,
 * ascending; rewritten, since leaves of a node change places with each other. False when memory runs out. */
bool compressed_emit(const bvh *t, uint32_t *places, compressed_node *nodes);

/* Primitives of block b. */
uint32_t bvh_block_count(const bvh *, uint32_t b);

#endif
