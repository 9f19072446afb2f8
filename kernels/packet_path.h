/* Traversal by packets whose hits lower limits: which child is visited next, the nearest first. As interleaved.h does
 * for single rays. */
#ifndef PACKET_PATH_H
#define PACKET_PATH_H

#include "bvh.h"
#include "ranks.h"

/* Children of one node that are still to visit. */
typedef struct packet_children {
  ushort8 left; /* rank of each; RANK_NONE: not to visit */
  uint least;   /* of these, and its lane, as from rank_least */
  uint node;
} packet_children;

#define PACKET_LEVELS (SLAB_STACK / (BVH_WIDTH - 1) + 1) /* most levels of inner nodes */

/* The stack is not part of it: see bvh_path. */
typedef struct packet_path {
  uint child, meta, place; /* of the next visit, as in bvh_visit */
  packet_children *top;    /* the first level that is free */
  packet_children *stack;  /* PACKET_LEVELS of them */
} packet_path;

INLINE void packet_path_begin(packet_path *path, packet_children *stack) {
  path->top = path->stack = stack;
  path->child = 0;
  path->meta = BVH_INNER;
}

/* The least of the children that are left of a node becomes the next. The level keeps the others. Both that child and
 * the one after it are prefetched. */
INLINE void packet_path_take(packet_path *path, const scene_view *scene, packet_children *level, uint node,
                             ushort8 left, uint least) {
  const global bvh_node *parent = node_at(scene->nodes, node);
  const uint lane = least >> 16;
  left |= rank_taken[lane];
  const uint after = rank_least(left), second = after >> 16;
  level->left = left;
  level->least = after;
  level->node = node;
  path->top = level + ((after & RANK_NONE) != RANK_NONE ? 1 : 0);
  path->child = parent->child[lane];
  path->meta = parent->meta[lane];
  path->place = node * BVH_WIDTH + lane;
  memory_fetch((size_t)bvh_at(scene, path->child, path->meta), sizeof(bvh_node));
  memory_fetch((size_t)bvh_at(scene, parent->child[second], parent->meta[second]), sizeof(bvh_node));
}

/* The nearest child of the deepest level becomes the next, if by its rank it is entered at limit or before. Otherwise
 * the level is dropped. False where there is none. */
INLINE bool packet_path_pop(packet_path *path, const scene_view *scene, float limit) {
  const uint last = rank_last(limit);
  packet_children *level = path->top;
  do
    if (level-- == path->stack) return false;
  while ((level->least & RANK_NONE) > last);
  packet_path_take(path, scene, level, level->node, level->left, level->least);
  return true;
}

/* The nearest child of the next node becomes the next. False where none is overlapped. */
INLINE bool packet_path_down(packet_path *path, const scene_view *scene, float8 enter, int8 overlapped) {
  const ushort8 left = ranks_of(ranks_entered(enter), overlapped);
  const uint least = rank_least(left);
  if ((least & RANK_NONE) == RANK_NONE) return false;
  packet_path_take(path, scene, path->top, path->child, left, least);
  return true;
}

#endif
