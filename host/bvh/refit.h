/* New bounds for the nodes of a BVH whose primitives have changed: bottom up, children before parents. The nodes keep
 * their children, so the BVH is as good as the primitives still lie like those that it was built for. */
#ifndef SLABCAST_BVH_REFIT_H
#define SLABCAST_BVH_REFIT_H

#include "bvh/bvh.h"
#include "bvh/float4.h"

/* Brings `count` blocks of a leaf up to date, the first of them at `first` as the nodes say it. Writes the union of the
 * bounds of their primitives, which is inverted where there are none. Returns how many primitives there are. Threads
 * call it for several leaves at once. */
typedef uint32_t bvh_leaf_refit(void *argument, uint32_t kind, uint32_t first, uint32_t count, aabb *);

typedef struct bvh_refit_input {
  bool compressed;   /* nodes are compressed_node, else bvh_node */
  const void *nodes; /* as the host wrote them for the device; all below the root */
  uint32_t root;     /* where it begins */
  void *refitted;    /* receives as many nodes; may be these */
  bvh_bounds bounds; /* of the finite coordinates of all primitives, for sah_cost */
  bvh_leaves leaves; /* as in bvh_options; not zero */
  uint32_t threads;  /* as pool_run takes it. Nothing depends on it */
  bvh_leaf_refit *leaf;
  void *argument;
} bvh_refit_input;

typedef struct bvh_refit_outcome {
  uint64_t primitives; /* of all leaves */
  double sah_cost;
} bvh_refit_outcome;

/* Goes through the leaves of n nodes, each with the arguments that bvh_leaf_refit gets. place: its node * BVH_WIDTH +
 * its slot, modulo 2^32. */
typedef void bvh_leaf_visit(void *argument, uint32_t kind, uint32_t first, uint32_t count, uint32_t place);
void bvh_each_leaf(bool compressed, const void *nodes, size_t n, bvh_leaf_visit *, void *argument);

/* Returns false when memory runs out. */
bool bvh_refit(const bvh_refit_input *, bvh_refit_outcome *);

#endif
