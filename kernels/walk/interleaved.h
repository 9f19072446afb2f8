/* BVH traversal for interleaved rays. It does what bvh.h does, without unpredictable branches: a misprediction also
 * discards the work already begun for the other rays. The children of a node that are still to visit stay together, in
 * the order of the children. The next of them is searched each time. Sorting them took 1.1 to 1.2 times as long (PoCL
 * 3.1, Zen 3). */
#ifndef WALK_INTERLEAVED_H
#define WALK_INTERLEAVED_H

#include "walk/bvh.h"
#include "walk/ranks.h"

#if LANES != BVH_WIDTH
#error "a node's children are told apart in the lanes of one vector"
#endif

#define INTERLEAVED_LEVELS (SLAB_STACK / (BVH_WIDTH - 1) + 1) /* most levels of inner nodes, and the end below them */
/* Ranks of an only child. */
#define INTERLEAVED_ONE ((ushort8)(0, RANK_NONE, RANK_NONE, RANK_NONE, RANK_NONE, RANK_NONE, RANK_NONE, RANK_NONE))

#define INTERLEAVED_NODE 0xFFFFFFFFu /* interleaved_level.of: the owner is a node */

/* A level of the stack: children of one node that are still to visit. */
typedef struct interleaved_level {
  ushort8 left;                 /* rank of each of these; the least is visited first; RANK_NONE: none */
  const global bvh_node *owner; /* the node */
  uint bits;                    /* these children */
  uint of; /* INTERLEAVED_NODE; VISIT_INSTANCE: the owner is a block of gates, and its children are instances. Else the
              level stands for one visit, which has this meta: gates that are tested later, the end of a model, or of
              the traversal (0). So nothing has to ask whether the stack is empty. */
#if SLAB_INSTANCES
  uint number; /* of the owner */
#endif
} interleaved_level;

/* Bytes that are prefetched of the next child: a node, or a block of triangles, which is one cache line longer.
 * Without that line random rays take 1.03 to 1.34 times as long (PoCL 3.1, Zen 3). Rays cast one by one are as fast
 * without it. */
#define INTERLEAVED_FETCHED \
  ((SLAB_KINDS >> SLAB_TRIANGLE & 1) != 0 ? BLOCK_UNIT * BVH_BLOCK_UNITS(TRIANGLE_ROWS) * 4 : (uint)sizeof(bvh_node))

typedef struct interleaved_path {
  uint child, meta;         /* the next child; meta 0: there is none */
  const global float *at;   /* its memory, where it is a node or has blocks */
  interleaved_level *top;   /* the first level that is free */
  interleaved_level *stack; /* INTERLEAVED_LEVELS of them, the end of the traversal first */
#if SLAB_INSTANCES
  const global float *owner; /* of the next child */
  uint lane;
#endif
} interleaved_path;

/* Pushes a level that stands for one visit. */
INLINE void interleaved_push_visit(interleaved_path *path, const scene_view *scene, uint number, uint meta) {
  interleaved_level *level = path->top++;
  level->left = INTERLEAVED_ONE;
  level->bits = 1;
  level->owner = node_at(scene->nodes, 0); /* any that can be read */
  level->of = meta;
#if SLAB_INSTANCES
  level->number = number;
#endif
  (void)number;
}

/* Nothing is left to visit but the end. */
INLINE void interleaved_stop(interleaved_path *path) { path->top = path->stack + 1; }

/* The root becomes the next. */
INLINE void interleaved_root(interleaved_path *path, const scene_view *scene, uint root) {
  path->child = root;
  path->meta = BVH_INNER;
  path->at = &node_at(scene->nodes, root)->bounds[0][0];
}

INLINE void interleaved_begin(interleaved_path *path, const scene_view *scene) {
  path->top = path->stack;
  interleaved_push_visit(path, scene, 0, 0);
  interleaved_root(path, scene, 0);
}

/* Pushes the children of the next node whose bounds the ray overlaps; or of a block of gates, which has planes and
 * children where a node has. These children are instances. */
INLINE void interleaved_push(interleaved_path *path, const scene_view *scene, real enter, mask overlapped) {
  const global bvh_node *owner = (const global bvh_node *)path->at;
  interleaved_level *level = path->top;
  level->bits = lanes_bits(overlapped);
  if (!scene->unordered) level->left = ranks_of(ranks_entered(enter), overlapped);
  level->owner = owner;
  level->of = INTERLEAVED_NODE;
#if SLAB_INSTANCES
  if (!BVH_IS_INNER(path->meta)) level->of = VISIT_INSTANCE;
#endif
  path->top = level + (level->bits != 0 ? 1 : 0);
}

/* A child of a level's owner becomes the next. */
INLINE void interleaved_next(interleaved_path *path, const scene_view *scene, interleaved_level *level, uint lane) {
  const global bvh_node *owner = level->owner;
  const uint of = level->of, child = owner->child[lane], meta = owner->meta[lane]; /* always read: no branches */
  const uint bits = level->bits & ~(1u << lane);
  level->bits = bits;
  path->top = level + (bits != 0 ? 1 : 0);
  path->child = child;
  path->meta = meta & of;
#if SLAB_INSTANCES
  const uint is_node = of == INTERLEAVED_NODE ? INTERLEAVED_NODE : 0;
  path->meta = (meta & is_node) | (of & ~is_node);
  path->child = (is_node | (of == VISIT_INSTANCE)) != 0 ? child : level->number;
  path->owner = &owner->bounds[0][0];
  path->lane = lane;
#endif
  path->at = bvh_at(scene, path->child, path->meta);
#if SLAB_INSTANCES
  if (of == VISIT_INSTANCE) path->at = path->owner; /* what the instance needs is not known yet */
#endif
  memory_fetch((size_t)path->at, INTERLEAVED_FETCHED);
}

/* The child with the least rank on the deepest level becomes the next, if by its rank it is entered at limit or before.
 * Otherwise the level is dropped. Unordered it is the first child by its slot, which suits SLAB_ANY: see
 * sort_by_worth (host/bvh/collapse.c). The end has the least rank of all. */
INLINE void interleaved_pop(interleaved_path *path, const scene_view *scene, float limit) {
  interleaved_level *level = path->top;
  if (scene->unordered) {
    level--;
    interleaved_next(path, scene, level, lowest_lane(level->bits));
    return;
  }
  const uint last = rank_last(limit);
  uint least;
  do least = rank_least((--level)->left);
  while ((least & RANK_NONE) > last);
  const uint lane = least >> 16;
  level->left = level->left | rank_taken[lane];
  interleaved_next(path, scene, level, lane);
}

#endif
