/* Converts a BVH to compressed nodes of 80 bytes. kernels/data/types.h defines their contents. */
#ifndef SLABCAST_BVH_COMPRESSED_H
#define SLABCAST_BVH_COMPRESSED_H

#include <stddef.h>

#include "bvh/bvh.h"

/* Which child of a node is in each slot of the compressed node. */
typedef struct compressed_slots {
  int child[BVH_WIDTH]; /* index of the child; -1: none */
} compressed_slots;

/* Assigns each child to a slot. The child is near the corner from which rays enter that visit this slot first. */
compressed_slots compressed_arrange(const bvh_node *);
/* Writes origin, scales without the mask of inner nodes, and planes. Empty slots get inverted bounds. */
void compressed_bounds(const bvh_node *, const compressed_slots *, compressed_node *);

/* Opens the bounds of all children of n nodes: none is culled by them. */
void compressed_open(compressed_node *, size_t n);

/* Writes t->node_count nodes of a BVH whose leaves hold COMPRESSED_LEAF_MOST primitives or fewer. places: for each
 * block of the BVH the position of its first primitive, in COMPRESSED_UNITs, ascending. The function rewrites places,
 * since leaves of one node may change their order. threads: as pool_run takes it. Returns false when memory runs out.
 */
bool compressed_emit(const bvh *t, uint32_t *places, compressed_node *nodes, uint32_t threads);

/* COMPRESSED_UNITs of a primitive. */
uint32_t compressed_primitive_units(uint32_t kind);

/* Number of primitives in block b. */
uint32_t bvh_block_count(const bvh *, uint32_t b);

#endif
