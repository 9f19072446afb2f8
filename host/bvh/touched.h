/* A wide BVH that is brought up to date in part: leaves that were touched, and the nodes above them. Its bounds are
 * then those of a refit of the whole, and its cost is known all along, up to rounding. Coordinates that are infinite
 * count there as the ends that the scene had when this was made. */
#ifndef SLABCAST_BVH_TOUCHED_H
#define SLABCAST_BVH_TOUCHED_H

#include "bvh/refit.h"

/* The place of a child: its node * BVH_WIDTH + its slot. */
typedef struct bvh_touched {
  uint32_t count;                              /* nodes */
  uint32_t *parents;                           /* of each node its place; BVH_NONE: it is a root */
  uint8_t *slots;                              /* of each node: bit k: slot k is touched. All are 0 between refits */
  double *costs;                               /* of each node: the expected cost of it and of all below, times area */
  double ends[2], faces, leaf_cost, flat_cost; /* as in a measure (parts.h); flat_cost: where the root has no area */
  uint32_t together;
} bvh_touched;

/* Of nodes that have no place yet, all of which lie behind their parents. Returns false when memory runs out. The
 * caller frees *out, whatever the result. */
bool bvh_touched_create(const bvh_node *nodes, uint32_t count, bvh_bounds, const bvh_leaves *, bvh_touched *out);
void bvh_touched_free(bvh_touched *);

static inline void bvh_touch(bvh_touched *t, uint32_t place) {
  t->slots[place / BVH_WIDTH] |= (uint8_t)(1u << place % BVH_WIDTH);
}

/* Refits the touched leaves. No leaf is touched afterwards. */
void bvh_refit_touched(bvh_touched *, bvh_node *nodes, bvh_leaf_refit *, void *argument);
/* Refits one leaf, and those of the nodes above it that change. */
void bvh_refit_path(bvh_touched *, bvh_node *nodes, uint32_t place, bvh_leaf_refit *, void *argument);

/* Whether a leaf takes one more primitive. */
typedef bool bvh_takes(const void *argument, uint32_t kind, uint32_t first, uint32_t count);
/* The place where one more primitive of these bounds adds the least expected cost. It is a leaf that `takes` accepts,
 * or a slot without a child, in which a leaf of one block may be opened. `instead` where none is found near it. */
uint32_t bvh_find_leaf(const bvh_touched *, const bvh_node *nodes, aabb, uint32_t instead, bool opens, bvh_takes *,
                       const void *argument);
/* The expected cost of all below the root of these nodes, as sah_cost. */
double bvh_touched_cost(const bvh_touched *, const bvh_node *nodes);

#endif
