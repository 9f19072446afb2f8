/* Nodes of the compressed layout as traversals keep them: which children are left, and the leaves' primitives. */
#ifndef WALK_COMPRESSED_NODES_H
#define WALK_COMPRESSED_NODES_H

#include "data/scene_memory.h"
#include "maths/primitive.h"
#include "maths/quantised.h"

/* The inner children of one node, which are stored next to each other. */
typedef struct siblings {
  uint first; /* index of the first */
  uint lanes; /* bits 0 to 7: still to visit; bits 8 to 15: which children are inner */
} siblings;

/* Of the children in `bits`, which are not none, the one with the least child ^ octant, as a bit. */
INLINE uint first_child(uint bits, uint octant) {
  const uint sides[3] = {0x55u << (octant & 1), 0x33u << (octant & 2), 0x0Fu << (octant & 4)};
  UNROLL for (int i = 2; i >= 0; i--) bits = (bits & sides[i]) != 0 ? bits & sides[i] : bits;
  return bits;
}

/* A node in registers, read as rows of 16 bytes. */
typedef struct node_rows {
  uint4 row[5];
} node_rows;

INLINE node_rows node_load(scene_nodes nodes, uint index) {
  const global uint4 *rows = (const global uint4 *)node_at(nodes, index);
  node_rows n;
  UNROLL for (int i = 0; i < 5; i++) n.row[i] = rows[i];
  return n;
}

/* The kinds that the scene's leaves may be of. */
#define IN_BVH(shape, name, names, noun, floats, form, place, source) | (uint)SHAPE_IN_BVH_##place << (shape)
enum { LEAF_KINDS = (SLAB_KINDS & (0 SHAPES(IN_BVH))) | SLAB_INSTANCES << SHAPE_INSTANCE };
#undef IN_BVH

/* Adds to `units` those of the leaves of one kind, as below. */
INLINE uint kind_units(uint units, uint meta, uint kind, uint floats) {
  const uint each = 0x01010101u, counts = meta & COMPRESSED_LEAF_BITS * each;
  const uint apart = (meta ^ COMPRESSED_LEAF(kind, 0) * each) >> 5 & 7 * each;
  const uint is_it = LEAF_KINDS == 1 << kind ? each : (8 * each - apart) >> 3 & each;
  return units + (counts & is_it * COMPRESSED_LEAF_BITS) * BLOCK_UNITS(floats, STRIDE, BVH_UNIT);
}

/* The COMPRESSED_UNITs of four leaves, one byte each, from their bytes of meta. Four bytes at a time: 8 - x has bit 3
 * where x, at most 7, is 0. */
INLINE uint leaf_units(uint meta) {
  uint units = 0;
#define ADD_UNITS(shape, name, names, noun, floats, form, place, source) \
  if ((LEAF_KINDS >> (shape)&1) != 0) units = kind_units(units, meta, shape, floats);
  SHAPES(ADD_UNITS)
#undef ADD_UNITS
  return SLAB_INSTANCES ? kind_units(units, meta, SHAPE_INSTANCE, BOX_FLOATS) : units;
}

/* Where the primitives of child `lane` begin, counted from those of the first leaf. The bytes of the children before
 * it sum up to at most 255 (COMPRESSED_LEAF_MOST), and the product collects them in its highest byte. */
INLINE uint leaf_place(uint first_meta, uint last_meta, uint lane) {
  const uint first = leaf_units(first_meta), last = leaf_units(last_meta), below = (1u << 8 * (lane % 4)) - 1;
  return (lane < 4 ? first & below : first + (last & below)) * 0x01010101u >> 24;
}

/* Leaves of a node that are still to be tested. */
typedef struct node_leaves {
  uint bits;               /* which children */
  uint begin, first, last; /* of the node: where its leaves begin, and the bytes of meta */
  uint meta, place; /* of the leaf that is begun, the first of them: its byte, with a count of those left, and its
                       next primitive. A count of 0: none is begun */
} node_leaves;

/* Takes the next primitive of leaves that are left. Returns its byte of meta, with a count of 0 where the child is
 * unused: that takes the same way, of which compilers make less code. */
INLINE uint next_primitive(node_leaves *l, uint *place) {
  if (COMPRESSED_LEAF_COUNT(l->meta) == 0) {
    const uint lane = lowest_lane(l->bits);
    l->meta = compressed_byte(lane < 4 ? l->first : l->last, lane % 4);
    l->place = l->begin + leaf_place(l->first, l->last, lane);
  }
  const uint meta = l->meta;
  *place = l->place;
  if (COMPRESSED_LEAF_COUNT(meta) <= 1) l->bits &= l->bits - 1;
  l->place += leaf_units((meta & ~COMPRESSED_LEAF_BITS) | 1);
  l->meta -= COMPRESSED_LEAF_COUNT(meta) != 0;
  return meta;
}

/* The nodes still to visit in a scene, or in a model, besides the stack's entries. */
typedef struct descent {
  siblings next;
  node_leaves leaves;
} descent;

/* At a root, as child 0 of no node. */
#define AT_ROOT(root)                   \
  {                                     \
    {root, 0x101}, { 0, 0, 0, 0, 0, 0 } \
  }

#endif
