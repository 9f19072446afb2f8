/* BVH traversal for interleaved rays. It does what bvh.h does, without unpredictable branches: a misprediction also
 * discards the work already begun for the other rays. The children of a node that are still to visit stay together, in
 * the order of the children. The next of them is searched each time. Sorting them took 1.1 to 1.2 times as long (PoCL
 * 3.1, Zen 3). */
#ifndef WALK_INTERLEAVED_H
#define WALK_INTERLEAVED_H

#include "walk/bvh.h"
#include "walk/prepared_rays.h"
#include "walk/ranks.h"
#if SLAB_INSTANCES
#include "walk/interleaved_some.h"
#else
#include "walk/interleaved_none.h"
#endif

/* Bytes that are prefetched of the next child: a node, or a block of triangles, which is one cache line longer.
 * Without that line random rays take 1.03 to 1.34 times as long (PoCL 3.1, Zen 3). Rays cast one by one are as fast
 * without it. */
#define INTERLEAVED_FETCHED \
  ((SLAB_KINDS >> SLAB_TRIANGLE & 1) != 0 ? BLOCK_UNIT * BVH_BLOCK_UNITS(TRIANGLE_FLOATS) * 4 : (uint)sizeof(bvh_node))

INLINE void interleaved_begin(interleaved_path *path, const scene_view *scene) {
  path->top = path->stack;
  interleaved_push_visit(path, scene, 0, 0);
  interleaved_root(path, scene, 0);
}

/* Pushes the children of the next node whose bounds the ray overlaps; or of a block of gates, whose children are
 * instances. Such a block has planes and children where a node has them. */
INLINE void interleaved_push(interleaved_path *path, const scene_view *scene, real enter, mask overlapped) {
  const global bvh_node *owner = (const global bvh_node *)path->at;
  interleaved_entry *entry = path->top;
  entry->bits = lanes_bits(overlapped);
  if (!scene->unordered) entry->left = ranks_of(ranks_entered(enter), overlapped);
  entry->owner = owner;
  entry->of = interleaved_children(path->meta);
  path->top = entry + (entry->bits != 0 ? 1 : 0);
}

/* A child of an entry's owner becomes the next. */
INLINE void interleaved_next(interleaved_path *path, const scene_view *scene, interleaved_entry *entry, uint lane) {
  const global bvh_node *owner = entry->owner;
  const uint of = entry->of, child = owner->child[lane], meta = owner->meta[lane]; /* always read: no branches */
  const uint bits = entry->bits & ~(1u << lane);
  entry->bits = bits;
  path->top = entry + (bits != 0 ? 1 : 0);
  interleaved_take(path, scene, entry, lane, child, meta & of);
  memory_fetch((size_t)path->at, INTERLEAVED_FETCHED);
}

/* The child with the least rank on the deepest entry becomes the next, if by its rank it is entered at limit or before.
 * Otherwise the entry is dropped. Unordered it is the first child by its slot, which suits SLAB_ANY: see
 * sort_by_worth (host/bvh/collapse.c). The end has the least rank of all. */
INLINE void interleaved_pop(interleaved_path *path, const scene_view *scene, float limit) {
  interleaved_entry *entry = path->top;
  if (scene->unordered) {
    entry--;
    interleaved_next(path, scene, entry, lowest_lane(entry->bits));
    return;
  }
  const uint last = rank_last(limit);
  uint least;
  do least = rank_least((--entry)->left);
  while ((least & RANK_NONE) > last);
  const uint lane = least >> 16;
  entry->left = entry->left | rank_taken[lane];
  interleaved_next(path, scene, entry, lane);
}

#endif
