/* Traversal by packets: which child is visited next, and by which rays. Where hits lower limits the nearest is next, as
 * interleaved.h does for single rays. */
#ifndef WALK_PACKET_PATH_H
#define WALK_PACKET_PATH_H

#include "walk/bvh.h"
#include "walk/packet_hull.h"
#include "walk/ranks.h"

/* A hit lowers its ray's limit. */
#define PACKET_LIMITS (SLAB_QUERY == SLAB_CLOSEST || SLAB_QUERY == SLAB_DISTANCE)

/* Rays that may overlap the bounds of a child, as bits. place: as in bvh_visit. */
INLINE uint packet_overlaps(const packet *p, scene_nodes nodes, uint place) {
  real near[3], far[3], enter;
  box_planes(&p->ray, &node_at(nodes, place / BVH_WIDTH)->bounds[0][0] + place % BVH_WIDTH, near, far);
  return p->live & lanes_bits(box_may_overlap(&p->ray, near, far, p->limit, &enter));
}

/* ---- where hits lower limits: an entry for each node ---- */

/* Children of one node that are still to visit. */
typedef struct packet_children {
  ushort8 left; /* rank of each; RANK_NONE: not to visit */
  uint least;   /* of these, and its lane, as from rank_least */
  uint node;
} packet_children;

#define PACKET_ENTRIES (SLAB_STACK / (BVH_WIDTH - 1) + 1) /* an entry for each inner node of a path */

/* The stack is not part of it: see bvh_path. */
typedef struct packet_path {
  uint child, meta, place; /* of the next visit, as in bvh_visit */
  packet_children *top;    /* the first entry that is free */
  packet_children *stack;  /* PACKET_ENTRIES of them */
} packet_path;

INLINE void packet_path_begin(packet_path *path, packet_children *stack) {
  path->top = path->stack = stack;
  path->child = 0;
  path->meta = BVH_INNER;
}

/* The least of the children that are left of a node becomes the next. The entry keeps the others. Both that child and
 * the one after it are prefetched. */
INLINE void packet_path_take(packet_path *path, const scene_view *scene, packet_children *entry, uint node,
                             ushort8 left, uint least) {
  const global bvh_node *parent = node_at(scene->nodes, node);
  const uint lane = least >> 16;
  left |= rank_taken[lane];
  const uint after = rank_least(left), second = after >> 16;
  entry->left = left;
  entry->least = after;
  entry->node = node;
  path->top = entry + ((after & RANK_NONE) != RANK_NONE ? 1 : 0);
  path->child = parent->child[lane];
  path->meta = parent->meta[lane];
  path->place = node * BVH_WIDTH + lane;
  memory_fetch((size_t)bvh_at(scene, path->child, path->meta), sizeof(bvh_node));
  memory_fetch((size_t)bvh_at(scene, parent->child[second], parent->meta[second]), sizeof(bvh_node));
}

/* The nearest child of the deepest entry becomes the next, if by its rank it is entered at limit or before. Otherwise
 * the entry is dropped. False where there is none. */
INLINE bool packet_path_pop(packet_path *path, const scene_view *scene, float limit) {
  const uint last = rank_last(limit);
  packet_children *entry = path->top;
  do
    if (entry-- == path->stack) return false;
  while ((entry->least & RANK_NONE) > last);
  packet_path_take(path, scene, entry, entry->node, entry->left, entry->least);
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

/* ---- elsewhere, and with instances: the stack of bvh.h ---- */

/* Whether a packet visits child a before b, where the farthest one comes first: the one that more rays may overlap, or
 * the farther. */
INLINE bool packet_before(const bvh_visit *a, const bvh_visit *b) {
  const uint rays = popcount(a->place), other = popcount(b->place);
  return rays != other ? rays > other : a->enter > b->enter;
}

/* Visits the children of a node that the hull may overlap. Where hits lower limits the rays are tested
 * against a child when it is visited, since fewer may overlap it by then. Elsewhere they are tested at once. Then only
 * children that some ray may overlap are visited, and `place` of a visit is these rays, as bits. */
INLINE bool packet_down(const packet *p, const packet_hull *h, bvh_path *path, const scene_view *scene) {
  const uint node = path->next.child, base = path->top;
  float enter[BVH_WIDTH];
  hull_real entered;
  uint bits = eight_bits(hull_overlaps_boxes(h, &node_at(scene->nodes, node)->bounds[0][0], &entered)), count = 0;
  bvh_visit visits[BVH_WIDTH + 1];
  vstore8(entered, 0, enter);
  if (PACKET_LIMITS) return bvh_down(path, scene, node, bits, enter, h->limit);
  const bool farthest = SLAB_QUERY == SLAB_ANY && scene->cast->farthest != 0;
  for (; bits != 0; bits &= bits - 1) {
    bvh_visit v = bvh_child(scene, node, lowest_lane(bits), enter);
    v.place = packet_overlaps(p, scene->nodes, v.place);
    visits[count] = v;
    count += v.place != 0; /* branchless: the branch is unpredictable */
  }
  if (count == 0) return bvh_pop(path, h->limit);
  bvh_visit next = visits[0];
  for (uint k = 1; k < count; k++) {
    const bvh_visit *v = &visits[k];
    bvh_choose(path, base, &next, *v, farthest ? packet_before(v, &next) : bvh_before(v, &next));
  }
  path->next = next;
  return true;
}

/* The rays that visit a child. */
INLINE uint packet_visitors(const packet *p, const bvh_visit *v, const scene_view *scene) {
  return PACKET_LIMITS ? packet_overlaps(p, scene->nodes, v->place) : p->live & v->place;
}

#endif
