/* The way through a tree of rays that a work-item takes in turns. As tree.h, but without branches that processors
 * cannot foresee: where one went wrong, what was begun for the other rays would be thrown away too. So what is left of
 * a node stays together, in order of its children, and the next of them is found each time: the least of eight numbers
 * is one instruction on x86, and sorting them took 1.1 to 1.2 times as long (PoCL 3.1, Zen 3). */
#ifndef TURNS_H
#define TURNS_H

#include "tree.h"

#if LANES != TREE_WIDTH
#error "a node's children are told apart in the lanes of one vector"
#endif

#define TURNS_LEVELS (SLAB_STACK / (TREE_WIDTH - 1)) /* of inner nodes, at the most */
#define TURNS_NONE 0xFFFFu

/* What is left for later, of one node a level. */
typedef struct turns_stack {
  ushort8 left[TURNS_LEVELS]; /* the rank of each child, the least is visited first; TURNS_NONE: it is not left */
  uint owner[TURNS_LEVELS];   /* the node */
} turns_stack;

/* Of the next child: a node, or a block of triangles, which is a line longer. Without that line random rays take 1.03
 * to 1.34 times as long (PoCL 3.1, Zen 3); rays one by one are as fast without it. */
#define TURNS_FETCHED \
  ((SLAB_KINDS >> SLAB_TRIANGLE & 1) != 0 ? BLOCK_UNIT * TREE_BLOCK_UNITS(TRIANGLE_ROWS) * 4 : (uint)sizeof(tree_node))

typedef struct turns_path {
  uint child, meta; /* of the next; meta 0: there is none */
  uint top;         /* levels of which something is left */
  turns_stack *stack;
} turns_path;

INLINE void turns_begin(turns_path *path, turns_stack *stack) {
  path->child = 0;
  path->meta = TREE_INNER;
  path->top = 0;
  path->stack = stack;
}

/* The least of eight numbers, and its place in bits 16 to 18; and whether one of them is left. */
#if defined(__clang__) && defined(__SSE4_1__)
INLINE uint turns_least(ushort8 v) {
  typedef short eight __attribute__((vector_size(16)));
  return as_uint4(__builtin_ia32_phminposuw128((eight)as_short8(v))).x;
}

INLINE bool turns_some(ushort8 v) { return (turns_least(v) & 0xFFFFu) != TURNS_NONE; }
#else
INLINE uint turns_least(ushort8 v) {
  const uint8 all = convert_uint8(v) << 3 | (uint8)(0, 1, 2, 3, 4, 5, 6, 7);
  const uint4 four = min(all.lo, all.hi);
  const uint2 two = min(four.lo, four.hi);
  const uint least = min(two.x, two.y);
  return (least & 7) << 16 | least >> 3;
}

INLINE bool turns_some(ushort8 v) { return any(v != (ushort8)(TURNS_NONE)) != 0; }
#endif

/* A rank is where a child is entered, since floats from 0 on have the order of their bits, of which sixteen do; one
 * entered before, of a range that begins below 0, is as if at 0. Where any hit will do, size comes first, as in
 * tree_before. */
INLINE ushort8 turns_ranks(const global tree_node *node, real enter, mask touched) {
  uint8 rank = as_uint8(max(as_int8(enter), 0)) >> 15;
  if (SLAB_QUERY == SLAB_ANY) {
    const int8 meta = as_int8(vload8(0, node->meta));
    const int8 size = min(meta < 0 ? meta & 0xFF : 3, 31);
    rank = as_uint8(size >> 1) << 12 | rank >> 4;
  }
  const int8 told = touched ? as_int8(rank) : INT_MAX; /* which becomes TURNS_NONE */
#if defined(__clang__) && defined(__SSE4_1__)
  typedef int four __attribute__((vector_size(16)));
  return as_ushort8(__builtin_ia32_packusdw128((four)told.lo, (four)told.hi));
#else
  return convert_ushort8_sat(told);
#endif
}

/* The children of a node that the ray touches. */
INLINE void turns_push(turns_path *path, scene_nodes nodes, uint node, real enter, mask touched) {
  const uint top = path->top;
  path->stack->left[top] = turns_ranks(node_at(nodes, node), enter, touched);
  path->stack->owner[top] = node;
  path->top = top + (lanes_any(touched) ? 1 : 0);
}

constant ushort8 turns_taken[TREE_WIDTH] = {
    (ushort8)(TURNS_NONE, 0, 0, 0, 0, 0, 0, 0), (ushort8)(0, TURNS_NONE, 0, 0, 0, 0, 0, 0),
    (ushort8)(0, 0, TURNS_NONE, 0, 0, 0, 0, 0), (ushort8)(0, 0, 0, TURNS_NONE, 0, 0, 0, 0),
    (ushort8)(0, 0, 0, 0, TURNS_NONE, 0, 0, 0), (ushort8)(0, 0, 0, 0, 0, TURNS_NONE, 0, 0),
    (ushort8)(0, 0, 0, 0, 0, 0, TURNS_NONE, 0), (ushort8)(0, 0, 0, 0, 0, 0, 0, TURNS_NONE)};

/* The first of those left on the deepest level becomes the next, if it is entered at limit or before, as far as its
 * rank tells. */
INLINE void turns_pop(turns_path *path, scene_nodes nodes, scene_blocks blocks, float limit) {
  const uint last = SLAB_QUERY == SLAB_ANY ? TURNS_NONE : as_uint(limit) >> 15; /* which below 0 drops none */
  uint level = path->top, least;
  do {
    if (level == 0) {
      path->meta = 0;
      return;
    }
    least = turns_least(path->stack->left[--level]);
  } while ((least & 0xFFFFu) > last);
  const global tree_node *owner = node_at(nodes, path->stack->owner[level]);
  const uint lane = least >> 16;
  const ushort8 left = path->stack->left[level] | turns_taken[lane];
  path->stack->left[level] = left;
  path->top = level + (turns_some(left) ? 1 : 0);
  path->child = owner->child[lane];
  path->meta = owner->meta[lane];
  tree_fetch(nodes, blocks, path->child, path->meta, TURNS_FETCHED);
}

#endif
