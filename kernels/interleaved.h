/* BVH traversal for interleaved rays. It does what bvh.h does, without unpredictable branches: a misprediction also
 * discards the work already begun for the other rays. The children of a node that are still to visit stay together, in
 * the order of the children. The next of them is searched each time: the least of eight numbers is one instruction on
 * x86. Sorting them took 1.1 to 1.2 times as long (PoCL 3.1, Zen 3). */
#ifndef INTERLEAVED_H
#define INTERLEAVED_H

#include "bvh.h"

#if LANES != BVH_WIDTH
#error "a node's children are told apart in the lanes of one vector"
#endif

#define INTERLEAVED_LEVELS (SLAB_STACK / (BVH_WIDTH - 1)) /* most levels of inner nodes */
#define INTERLEAVED_NONE 0xFFFFu
#define INTERLEAVED_ONE                                                                                   \
  ((ushort8)(0, INTERLEAVED_NONE, INTERLEAVED_NONE, INTERLEAVED_NONE, INTERLEAVED_NONE, INTERLEAVED_NONE, \
             INTERLEAVED_NONE, INTERLEAVED_NONE)) /* ranks of an only child */

/* Whether children are visited in any order: the ray wants all its hits. With a limit of hits the nearest come first.
 */
#define INTERLEAVED_UNORDERED(scene) (BVH_UNORDERED || (SLAB_QUERY == SLAB_ALL && (scene)->cast->most == 0))

/* The stack: children that are still to visit, one node per level. */
typedef struct interleaved_stack {
  uint bits[INTERLEAVED_LEVELS];    /* unordered: these children */
  ushort8 left[INTERLEAVED_LEVELS]; /* rank of each child; the least is visited first; INTERLEAVED_NONE: none */
  uint owner[INTERLEAVED_LEVELS];   /* the node */
#if SLAB_INSTANCES
  uint of[INTERLEAVED_LEVELS]; /* its meta. VISIT_INSTANCE: the owner is a block of gates, and its children are
                                  instances. Other leaves: gates to be tested later; the owner itself is visited. */
#endif
} interleaved_stack;

/* Bytes that are prefetched of the next child: a node, or a block of triangles, which is one cache line longer.
 * Without that line random rays take 1.03 to 1.34 times as long (PoCL 3.1, Zen 3). Rays cast one by one are as fast
 * without it. */
#define INTERLEAVED_FETCHED \
  ((SLAB_KINDS >> SLAB_TRIANGLE & 1) != 0 ? BLOCK_UNIT * BVH_BLOCK_UNITS(TRIANGLE_ROWS) * 4 : (uint)sizeof(bvh_node))

typedef struct interleaved_path {
  uint child, meta; /* the next child; meta 0: there is none */
  uint top;         /* levels that have a child to visit */
  interleaved_stack *stack;
#if SLAB_INSTANCES
  uint owner, lane;         /* of the next child */
  uint bottom;              /* levels that belong to what the model stands in that the ray is in */
  uint outer[SCENE_LEVELS]; /* the bottom there; by the number of the ray's level in the model */
  uint end;                 /* meta when no child is left: VISIT_END, of the scene 0 */
#endif
} interleaved_path;

/* Nothing is left to visit: the ray has ended, or has not begun. */
INLINE void interleaved_stop(interleaved_path *path) {
  path->top = 0;
#if SLAB_INSTANCES
  path->bottom = path->end = 0;
#endif
}

INLINE void interleaved_begin(interleaved_path *path, interleaved_stack *stack) {
  path->child = 0;
  path->meta = BVH_INNER;
  path->stack = stack;
  interleaved_stop(path);
}

/* interleaved_least: the least of eight numbers, and its index in bits 16 to 18. interleaved_some: whether one of them
 * is not INTERLEAVED_NONE. */
#if defined(__clang__) && defined(__SSE4_1__)
INLINE uint interleaved_least(ushort8 v) {
  typedef short eight __attribute__((vector_size(16)));
  return as_uint4(__builtin_ia32_phminposuw128((eight)as_short8(v))).x;
}

INLINE bool interleaved_some(ushort8 v) { return (interleaved_least(v) & 0xFFFFu) != INTERLEAVED_NONE; }
#else
INLINE uint interleaved_least(ushort8 v) {
  const uint8 all = convert_uint8(v) << 3 | (uint8)(0, 1, 2, 3, 4, 5, 6, 7);
  const uint4 four = min(all.lo, all.hi);
  const uint2 two = min(four.lo, four.hi);
  const uint least = min(two.x, two.y);
  return (least & 7) << 16 | least >> 3;
}

INLINE bool interleaved_some(ushort8 v) { return any(v != (ushort8)(INTERLEAVED_NONE)) != 0; }
#endif

/* Ranks of a node's children: the upper sixteen bits, without the sign, of the t where the ray enters a child. Floats
 * from 0 on have the order of their bits. A child that is entered below 0, in a range that begins below 0, counts as
 * entered at 0. For SLAB_ANY the size comes first, as in bvh_before. */
INLINE ushort8 interleaved_ranks(const global bvh_node *node, real enter, mask overlapped) {
  uint8 rank = as_uint8(max(as_int8(enter), 0)) >> 15;
  if (SLAB_QUERY == SLAB_ANY) {
    const int8 meta = as_int8(vload8(0, node->meta));
    const int8 size = min(meta < 0 ? meta & 0xFF : 3, 31);
    rank = as_uint8(size >> 1) << 12 | rank >> 4;
  }
  const int8 told = overlapped ? as_int8(rank) : INT_MAX; /* saturates to INTERLEAVED_NONE */
#if defined(__clang__) && defined(__SSE4_1__)
  typedef int four __attribute__((vector_size(16)));
  return as_ushort8(__builtin_ia32_packusdw128((four)told.lo, (four)told.hi));
#else
  return convert_ushort8_sat(told);
#endif
}

/* A node; or a block of gates, which has planes and children where a node has. The children are instances. */
INLINE const global bvh_node *interleaved_owner(const scene_view *scene, uint owner, uint meta) {
#if SLAB_INSTANCES
  if (!BVH_IS_INNER(meta)) return (const global bvh_node *)block_at(scene->blocks, (size_t)owner * BVH_UNIT);
#endif
  (void)meta;
  return node_at(scene->nodes, owner);
}

/* Pushes the children of a node whose bounds the ray overlaps. */
INLINE void interleaved_push(interleaved_path *path, const scene_view *scene, uint node, uint meta, real enter,
                             mask overlapped) {
  const uint top = path->top;
  if (INTERLEAVED_UNORDERED(scene))
    path->stack->bits[top] = lanes_bits(overlapped);
  else
    path->stack->left[top] = interleaved_ranks(interleaved_owner(scene, node, meta), enter, overlapped);
  path->stack->owner[top] = node;
#if SLAB_INSTANCES
  path->stack->of[top] = BVH_IS_INNER(meta) ? BVH_INNER : VISIT_INSTANCE;
#endif
  path->top = top + (lanes_any(overlapped) ? 1 : 0);
}

constant ushort8 interleaved_taken[BVH_WIDTH] = {
    (ushort8)(INTERLEAVED_NONE, 0, 0, 0, 0, 0, 0, 0), (ushort8)(0, INTERLEAVED_NONE, 0, 0, 0, 0, 0, 0),
    (ushort8)(0, 0, INTERLEAVED_NONE, 0, 0, 0, 0, 0), (ushort8)(0, 0, 0, INTERLEAVED_NONE, 0, 0, 0, 0),
    (ushort8)(0, 0, 0, 0, INTERLEAVED_NONE, 0, 0, 0), (ushort8)(0, 0, 0, 0, 0, INTERLEAVED_NONE, 0, 0),
    (ushort8)(0, 0, 0, 0, 0, 0, INTERLEAVED_NONE, 0), (ushort8)(0, 0, 0, 0, 0, 0, 0, INTERLEAVED_NONE)};

/* A child of a node becomes the next. again: the level has more children. */
INLINE void interleaved_next(interleaved_path *path, const scene_view *scene, uint level, uint lane, bool again) {
  const uint number = path->stack->owner[level];
  path->top = level + (again ? 1 : 0);
#if SLAB_INSTANCES
  const uint of = path->stack->of[level];
  const global bvh_node *owner = interleaved_owner(scene, number, of);
  const uint child = owner->child[lane], meta = owner->meta[lane]; /* always read: no branches */
  path->child = (BVH_IS_INNER(of) | (of == VISIT_INSTANCE)) != 0 ? child : number;
  path->meta = BVH_IS_INNER(of) ? meta : of;
  path->owner = number;
  path->lane = lane;
  /* of an instance what it needs is not known yet: fetches what is there */
  bvh_fetch(scene, of == VISIT_INSTANCE ? number : path->child, path->meta, INTERLEAVED_FETCHED);
#else
  const global bvh_node *owner = node_at(scene->nodes, number);
  path->child = owner->child[lane];
  path->meta = owner->meta[lane];
  bvh_fetch(scene, path->child, path->meta, INTERLEAVED_FETCHED);
#endif
}

INLINE uint interleaved_bottom(const interleaved_path *path) {
#if SLAB_INSTANCES
  return path->bottom;
#else
  (void)path;
  return 0;
#endif
}

/* No child is left, in the scene or in the model that the ray is in. */
INLINE void interleaved_none(interleaved_path *path) {
#if SLAB_INSTANCES
  path->top = path->bottom;
  path->meta = path->end;
#else
  path->meta = 0;
#endif
}

/* Some child on the deepest level becomes the next. */
INLINE void interleaved_pop_any(interleaved_path *path, const scene_view *scene) {
  if (path->top == interleaved_bottom(path)) {
    interleaved_none(path);
    return;
  }
  const uint level = path->top - 1, bits = path->stack->bits[level];
  path->stack->bits[level] = bits & (bits - 1);
  interleaved_next(path, scene, level, lowest_lane(bits), (bits & (bits - 1)) != 0);
}

/* The child with the least rank on the deepest level becomes the next, if by its rank it is entered at limit or before.
 * Otherwise the level is dropped. */
INLINE void interleaved_pop(interleaved_path *path, const scene_view *scene, float limit) {
  if (INTERLEAVED_UNORDERED(scene)) {
    interleaved_pop_any(path, scene);
    return;
  }
  const uint last =
      SLAB_QUERY == SLAB_ANY ? INTERLEAVED_NONE : as_uint(limit) >> 15; /* a limit below 0 drops no child */
  uint level = path->top, least;
  do {
    if (level == interleaved_bottom(path)) {
      interleaved_none(path);
      return;
    }
    least = interleaved_least(path->stack->left[--level]);
  } while ((least & 0xFFFFu) > last);
  const uint lane = least >> 16;
  const ushort8 left = path->stack->left[level] | interleaved_taken[lane];
  path->stack->left[level] = left;
  interleaved_next(path, scene, level, lane, interleaved_some(left));
}

#endif
