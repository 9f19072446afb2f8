/* Blocks of primitives in a layout: lanes of values, then the global primitive ids of the lanes. */
#ifndef SLABCAST_LAYOUT_BLOCKS_H
#define SLABCAST_LAYOUT_BLOCKS_H

#include "bvh/float4.h"
#include "data/types.h"
#include "record/snapshot.h"

/* Blocks of a layout: primitives in a block, and the unit of block positions in floats. */
typedef struct block_form {
  uint32_t width, unit;
} block_form;

block_form block_form_of(slab_layout);
uint32_t block_units(block_form, uint32_t kind);

/* The ids of a block's lanes: SLAB_MISS for none. */
uint32_t *block_ids(block_form, uint32_t kind, float *block);
/* Writes the ids of a block's lanes, SLAB_MISS from `count` on, and zeros up to its end. */
void block_write_ids(block_form, uint32_t kind, float *block, const uint32_t *ids, uint32_t count);

typedef struct block_writing {
  const snapshot *scene;
  block_form form;
  const float *from; /* blocks that hold the ids; may be those to be written */
  float *to;
  size_t alike; /* floats up to which all blocks are of triangles and hold ids, so that the next ones are known; or 0 */
} block_writing;

/* Primitives in blocks: those that may be hit, how many of them are outside a BVH, and collapsed triangles beside. */
typedef struct blocks_held {
  uint32_t there, outside, collapsed;
} blocks_held;

/* Writes `count` blocks of one kind, the first at unit `first`, for the ids that they hold, SLAB_MISS for none. Lanes
 * are left empty where a primitive is void or disabled by now. Grows *bounds, unless it is NULL, by the padded bounds
 * of all others. */
blocks_held blocks_write(const block_writing *, uint32_t kind, uint32_t first, uint32_t count, aabb *bounds);

#endif
