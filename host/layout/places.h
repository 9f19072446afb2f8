/* Where each primitive lies in the wide BVH of a scene. So the leaves of the few that have changed are found. */
#ifndef SLABCAST_LAYOUT_PLACES_H
#define SLABCAST_LAYOUT_PLACES_H

#include "bvh/touched.h"
#include "record/snapshot.h"

/* In no leaf; and outside of the BVH, where every ray tests it. */
#define PLACE_NONE BVH_NONE
#define PLACE_OUTSIDE (BVH_NONE - 1)

/* Snapshots with the same leaves share it. One thread at a time, whoever builds the scene, reads and writes it. */
typedef struct tree_places {
  uint32_t references;
  bvh_touched tree;
  uint32_t *of;    /* of each primitive, by its global id: the leaf's place, or one of the above */
  uint32_t *moved; /* primitives that have moved since they were mended, the last one at the end */
  uint8_t *listed; /* of each primitive: 1: it is there */
  uint32_t moved_count, moved_space;
  size_t free;  /* BLOCK_UNITs before this one are of leaves */
  size_t units; /* all that snapshots have, some of them for new leaves */
  bool outside; /* something there is touched */
  bool overrun; /* more have moved than are listed */
  bool fails;   /* a refit was not ended: these places are of no snapshot */
} tree_places;

/* Of a snapshot whose BVH is at hand. *made is NULL where nodes are too many, for places have 32 bits. */
slab_status places_create(const snapshot *, tree_places **made);
/* NULL is accepted. */
void places_release(tree_places *);

/* Touches the leaf of primitive i of a geometry. Returns whether the BVH can hold the primitive as it is now. */
bool places_touch(tree_places *, const snapshot *, uint32_t geometry, uint32_t i);

/* Notes that a primitive has moved. Where many have, some are left out. */
void places_note(tree_places *, const snapshot *, uint32_t geometry, uint32_t i);

/* Takes a leaf from the last snapshot, with its primitives, and touches it. */
void places_follow(tree_places *, const snapshot *last, snapshot *, uint32_t leaf);

/* Primitives that are mended at once. */
enum { MENDED_MOST = 256 };
/* Puts those that moved last into the leaves of the snapshot where they now cost least, as far as these have free
 * lanes. Notes each leaf, two for a primitive, that has others then. */
typedef void places_changed(void *argument, uint32_t leaf);
void places_mend(tree_places *, snapshot *, places_changed *, void *argument);

/* Writes the touched leaves of the snapshot, in its own arrays, and the nodes above them. */
void places_refit(tree_places *, snapshot *);

#endif
