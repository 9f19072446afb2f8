/* The way through a tree of rays that a work-item takes in turns. As tree.h, but without branches that processors
 * cannot foresee: where one went wrong, what was begun for the other rays would be thrown away too. So all children of
 * a node are sorted and pushed at once, and what comes next is popped. */
#ifndef TURNS_H
#define TURNS_H

#include "tree.h"

#if LANES != TREE_WIDTH
#error "a node's children are sorted in the lanes of one vector"
#endif

/* Children that are left for later. */
typedef struct turns_stack {
  int key[SLAB_STACK];    /* the child's lane in LANE_BITS, above them its rank: the least is visited first */
  uint owner[SLAB_STACK]; /* the node whose child it is */
} turns_stack;

#define LANE_BITS (TREE_WIDTH - 1)

/* Of the next child: a node, or a block of triangles, which is a line longer. Without that line random rays take 1.03
 * to 1.34 times as long (PoCL 3.1, Zen 3); rays one by one are as fast without it. */
#define TURNS_FETCHED \
  ((SLAB_KINDS >> SLAB_TRIANGLE & 1) != 0 ? BLOCK_UNIT * TREE_BLOCK_UNITS(TRIANGLE_ROWS) * 4 : (uint)sizeof(tree_node))

typedef struct turns_path {
  uint child, meta; /* of the next; meta 0: there is none */
  uint top;
  turns_stack *stack;
} turns_path;

INLINE void turns_begin(turns_path *path, turns_stack *stack) {
  path->child = 0;
  path->meta = TREE_INNER;
  path->top = 0;
  path->stack = stack;
}

/* The keys of children, 0 of those that the ray does not touch. Rank is where a child is entered, since floats from 0
 * on have the order of their bits; one entered before, of a range that begins below 0, is as if at 0. Where any hit
 * will do, size comes first, as in tree_before. */
INLINE int8 turns_keys(const global tree_node *node, real enter, mask touched) {
  int8 rank = max(as_int8(enter), 0);
  if (SLAB_QUERY == SLAB_ANY) {
    const int8 meta = as_int8(vload8(0, node->meta));
    const int8 size = meta < 0 ? meta & 0xFF : 3;
    rank = (size >> 1) << 26 | rank >> 5;
  }
  return ((rank & ~LANE_BITS) | (int8)(0, 1, 2, 3, 4, 5, 6, 7)) & touched;
}

/* A layer of a sorting network: each lane and its partner, whose place is in `order`; where `first` the greater stays.
 */
#define SORT_LAYER(key, order, ...)                                                                      \
  {                                                                                                      \
    const int8 other = key.order, greater = key > other ? key : other, less = key > other ? other : key, \
               first = (int8)(__VA_ARGS__);                                                              \
    key = first ? greater : less;                                                                        \
  }

/* The greatest in lane 0: Batcher 1968, bitonic. It has as many layers as merging odd and even, but only one of them
 * crosses the halves of the vector, which takes 6 to 8 cycles on Zen 3: rays in turns are 1.04 to 1.09 times as fast.
 */
INLINE int8 turns_sorted(int8 key) {
  SORT_LAYER(key, s10325476, -1, 0, 0, -1, -1, 0, 0, -1)
  SORT_LAYER(key, s23016745, -1, -1, 0, 0, 0, 0, -1, -1)
  SORT_LAYER(key, s10325476, -1, 0, -1, 0, 0, -1, 0, -1)
  SORT_LAYER(key, s45670123, -1, -1, -1, -1, 0, 0, 0, 0)
  SORT_LAYER(key, s23016745, -1, -1, 0, 0, -1, -1, 0, 0)
  SORT_LAYER(key, s10325476, -1, 0, -1, 0, -1, 0, -1, 0)
  return key;
}

/* The children of a node that the ray touches, the last to be visited first; what stands above them on the stack is
 * written over by what is pushed next. */
INLINE void turns_push(turns_path *path, const global tree_node *nodes, uint node, real enter, mask touched) {
  const uint top = path->top;
  vstore8(turns_sorted(turns_keys(nodes + node, enter, touched)), 0, path->stack->key + top);
  vstore8((uint8)(node), 0, path->stack->owner + top);
  path->top = top + popcount(lanes_bits(touched));
}

/* The last on the stack becomes the next, if it is entered at limit or before, as far as its key tells. */
INLINE void turns_pop(turns_path *path, const global tree_node *nodes, const global float *blocks, float limit) {
  const int last = SLAB_QUERY == SLAB_ANY ? INT_MAX : as_int(limit > 0.0f ? limit : 0.0f) | LANE_BITS;
  uint top = path->top;
  int key;
  do {
    if (top == 0) {
      path->meta = 0;
      return;
    }
    key = path->stack->key[--top];
  } while (key > last);
  const global tree_node *owner = nodes + path->stack->owner[top];
  const uint lane = (uint)key & LANE_BITS;
  path->top = top;
  path->child = owner->child[lane];
  path->meta = owner->meta[lane];
  tree_fetch(nodes, blocks, path->child, path->meta, TURNS_FETCHED);
}

#endif
