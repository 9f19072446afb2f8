/* The way through a tree: what is visited next, and what is left for later on a stack. */
#ifndef TREE_H
#define TREE_H

#include "scene_memory.h"

/* A child of a node, and where it is entered. */
typedef struct tree_visit {
  uint child, meta;
  float enter;
  uint place; /* TREE_WIDTH * its parent + its lane there */
} tree_visit;

#define TREE_MUCH_LESS 2 /* a quarter */

/* The stack stands apart: compilers keep a struct that holds an array in memory as a whole. */
typedef struct tree_path {
  tree_visit next;
  uint top;
  tree_visit *stack; /* SLAB_STACK */
} tree_path;

INLINE void tree_begin(tree_path *path, tree_visit *stack) {
  path->stack = stack;
  path->next.child = 0;
  path->next.meta = TREE_INNER;
  path->top = 0;
}

/* The last on the stack becomes the next. False when there is none that is entered at limit or before. */
INLINE bool tree_pop(tree_path *path, float limit) {
  do {
    if (path->top == 0) return false;
    path->next = path->stack[--path->top];
  } while (path->next.enter > limit);
  return true;
}

/* A child that is visited soon, `bytes` of it. */
INLINE void tree_fetch(scene_nodes nodes, scene_blocks blocks, uint child, uint meta, uint bytes) {
  memory_fetch(
      TREE_IS_INNER(meta) ? (size_t)node_at(nodes, child) : (size_t)block_at(blocks, (size_t)child * BLOCK_UNIT),
      bytes);
}

INLINE tree_visit tree_child(scene_nodes nodes, scene_blocks blocks, uint node, uint lane,
                             const float enter[TREE_WIDTH]) {
  const tree_visit v = {node_at(nodes, node)->child[lane], node_at(nodes, node)->meta[lane], enter[lane],
                        node * TREE_WIDTH + lane};
  tree_fetch(nodes, blocks, v.child, v.meta, sizeof(tree_node));
  return v;
}

/* The binary logarithm of how many primitives are below, about. */
INLINE uint tree_size(uint meta) { return TREE_IS_INNER(meta) ? meta & 0xFFu : 3; }

/* Which of two children is visited first: the nearer; where any hit will do, one with much less to go through, since
 * where large and small primitives are mixed it is the large that stand alone. */
INLINE bool tree_before(const tree_visit *a, const tree_visit *b) {
  if (SLAB_QUERY == SLAB_ANY) {
    const uint size = tree_size(a->meta), other = tree_size(b->meta);
    if (size + TREE_MUCH_LESS <= other) return true;
    if (other + TREE_MUCH_LESS <= size) return false;
  }
  return a->enter < b->enter;
}

/* The nearest of a node's children in bits becomes the next; the others are pushed, nearest last. Without children,
 * pops. */
INLINE bool tree_down(tree_path *path, scene_nodes nodes, scene_blocks blocks, uint node, uint bits,
                      const float enter[TREE_WIDTH], float limit) {
  const uint base = path->top;
  if (bits == 0) return tree_pop(path, limit);
  tree_visit nearest = tree_child(nodes, blocks, node, lowest_lane(bits), enter);
  for (bits &= bits - 1; bits != 0; bits &= bits - 1) {
    const tree_visit v = tree_child(nodes, blocks, node, lowest_lane(bits), enter);
    const bool nearer = tree_before(&v, &nearest);
    const tree_visit later = {nearer ? nearest.child : v.child, nearer ? nearest.meta : v.meta,
                              nearer ? nearest.enter : v.enter, nearer ? nearest.place : v.place};
    nearest.child = nearer ? v.child : nearest.child;
    nearest.meta = nearer ? v.meta : nearest.meta;
    nearest.enter = nearer ? v.enter : nearest.enter;
    nearest.place = nearer ? v.place : nearest.place;
    uint at = path->top++;
    for (; SLAB_QUERY != SLAB_ANY && at > base && path->stack[at - 1].enter < later.enter; at--)
      path->stack[at] = path->stack[at - 1];
    path->stack[at] = later;
  }
  path->next = nearest;
  return true;
}

#endif
