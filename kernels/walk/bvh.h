/* Traversal of a BVH: which child is visited next, and a stack of those to visit later. */
#ifndef WALK_BVH_H
#define WALK_BVH_H

#include "data/scene_memory.h"

/* Not 0: a ray wants all its hits, so that children are visited in any order. */
#ifndef BVH_UNORDERED
#define BVH_UNORDERED (SLAB_QUERY == SLAB_COUNT)
#endif

/* A child of a node, and the t where the ray enters it. */
typedef struct bvh_visit {
  uint child, meta;
  float enter;
  uint place; /* BVH_WIDTH * its parent + its lane there */
} bvh_visit;

#define BVH_MUCH_LESS 2 /* binary logarithm: a quarter of the primitives */

/* The state of a traversal. The stack is not part of it: compilers keep a struct that holds an array in memory as a
 * whole. */
typedef struct bvh_path {
  bvh_visit next;
  uint top;
  bvh_visit *stack; /* SLAB_STACK entries */
} bvh_path;

INLINE void bvh_begin(bvh_path *path, bvh_visit *stack) {
  path->stack = stack;
  path->next.child = 0;
  path->next.meta = BVH_INNER;
  path->top = 0;
}

/* Pops the stack until an entry is entered at limit or before, which becomes the next. False where there is none. */
INLINE bool bvh_pop(bvh_path *path, float limit) {
  do {
    if (path->top == 0) return false;
    path->next = path->stack[--path->top];
  } while (path->next.enter > limit);
  return true;
}

/* The memory of a node, or of a leaf's first block. */
INLINE const global float *bvh_at(const scene_view *scene, uint child, uint meta) {
  return BVH_IS_INNER(meta) ? &node_at(scene->nodes, child)->bounds[0][0]
                            : block_at(scene->blocks, (size_t)child * BLOCK_UNIT);
}

INLINE bvh_visit bvh_child(const scene_view *scene, uint node, uint lane, const float enter[BVH_WIDTH]) {
  const bvh_visit v = {node_at(scene->nodes, node)->child[lane], node_at(scene->nodes, node)->meta[lane], enter[lane],
                       node * BVH_WIDTH + lane};
  memory_fetch((size_t)bvh_at(scene, v.child, v.meta), sizeof(bvh_node)); /* is visited soon */
  return v;
}

/* About the binary logarithm of the number of primitives below a child. */
INLINE uint bvh_size(uint meta) { return BVH_IS_INNER(meta) ? meta & 0xFFu : 3; }

/* Whether child a is visited before b. The nearer one comes first. For SLAB_ANY a child with at most about a quarter
 * of the other's primitives comes first: where large and small primitives are mixed, the large ones are in small
 * subtrees. */
INLINE bool bvh_before(const bvh_visit *a, const bvh_visit *b) {
  if (SLAB_QUERY == SLAB_ANY) {
    const uint size = bvh_size(a->meta), other = bvh_size(b->meta);
    if (size + BVH_MUCH_LESS <= other) return true;
    if (other + BVH_MUCH_LESS <= size) return false;
  }
  return a->enter < b->enter;
}

/* Visits one more child of a node. `before`: it becomes *next. The others are pushed, the nearest last. Unordered the
 * last child becomes *next. base: entries of the stack before those of the node. */
INLINE void bvh_choose(bvh_path *path, uint base, bvh_visit *next, bvh_visit v, bool before) {
  if (BVH_UNORDERED) {
    path->stack[path->top++] = *next;
    *next = v;
    return;
  }
  const bvh_visit later = {before ? next->child : v.child, before ? next->meta : v.meta, before ? next->enter : v.enter,
                           before ? next->place : v.place};
  next->child = before ? v.child : next->child;
  next->meta = before ? v.meta : next->meta;
  next->enter = before ? v.enter : next->enter;
  next->place = before ? v.place : next->place;
  uint at = path->top++;
  for (; SLAB_QUERY != SLAB_ANY && at > base && path->stack[at - 1].enter < later.enter; at--)
    path->stack[at] = path->stack[at - 1];
  path->stack[at] = later;
}

/* Visits a node's children in `bits`. Where there are none, pops. */
INLINE bool bvh_down(bvh_path *path, const scene_view *scene, uint node, uint bits, const float enter[BVH_WIDTH],
                     float limit) {
  const uint base = path->top;
  if (bits == 0) return bvh_pop(path, limit);
  bvh_visit nearest = bvh_child(scene, node, lowest_lane(bits), enter);
  for (bits &= bits - 1; bits != 0; bits &= bits - 1) {
    const bvh_visit v = bvh_child(scene, node, lowest_lane(bits), enter);
    bvh_choose(path, base, &nearest, v, bvh_before(&v, &nearest));
  }
  path->next = nearest;
  return true;
}

/* ---- instances ---- */

/* Values of bvh_visit.meta beside those of nodes. Their kinds are those of no leaf. */
#define VISIT_GATES BVH_LEAF(SHAPE_INSTANCE + 1, 1)    /* child: the first of `place` blocks of gates */
#define VISIT_INSTANCE BVH_LEAF(SHAPE_INSTANCE + 2, 1) /* child: index of an instance */
#define VISIT_END BVH_LEAF(SHAPE_INSTANCE + 3, 1)      /* the ray leaves the model */

INLINE void visit_push(bvh_path *path, uint child, uint meta, float enter, uint place) {
  const bvh_visit v = {child, meta, enter, place};
  path->stack[path->top++] = v;
}

/* Inserts a visit above the first `base` ones, the nearest last. */
INLINE void visit_insert(bvh_path *path, uint base, bvh_visit v) {
  uint to = path->top++;
  for (; SLAB_QUERY != SLAB_ANY && to > base && path->stack[to - 1].enter < v.enter; to--)
    path->stack[to] = path->stack[to - 1];
  path->stack[to] = v;
}

/* Pushes the instances without a gate of a model that is entered. */
INLINE void visit_ungated(bvh_path *path, GLOBAL const model_entry *model) {
  const bvh_outside ungated = model->outside[OUTSIDE_INSTANCES];
  if (ungated.blocks != 0) visit_push(path, ungated.first, VISIT_GATES, -INFINITY, ungated.blocks);
}

/* Pushes the scene's root, and above it a world's: its root, and its instances without a gate, which may be all of its
 * instances. The last becomes the next. enter: where roots are entered. */
INLINE void visit_world(bvh_path *path, GLOBAL const model_entry *world, float enter) {
  visit_push(path, 0, BVH_INNER, enter, 0);
  if (world->root != ROOT_NONE) visit_push(path, world->root, BVH_INNER, enter, 0);
  visit_ungated(path, world);
  path->next = path->stack[--path->top];
}

#endif
