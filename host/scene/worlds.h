/* The worlds of a scene: what belongs to each, and where it lies behind what belongs to all. */
#ifndef SLABCAST_SCENE_WORLDS_H
#define SLABCAST_SCENE_WORLDS_H

#include "data/types.h"
#include "layout/layout.h"
#include "record/snapshot.h"

/* A world of so many instances has blocks of their gates and no nodes: rays test them all. A world of more has them in
 * a BVH. */
#define WORLD_LISTED 32u

/* What belongs to one world, built: its primitives, and more instances than are listed. */
typedef struct world_part {
  uint32_t world;
  slab_status status; /* of its build */
  bvh_layout tree;
} world_part;

/* How far something reaches, as slab_scene_stats and snapshot.skewed have it: what a world lists, or a sum of these. */
typedef struct world_state {
  float lower[3];
  uint32_t skewed;
  float upper[3];
  uint32_t stale; /* of a sum over WORLDS_SUMMED: 1 where one of them was written since */
} world_state;

/* So many worlds in a row have a sum, behind the states of all. One thread writes them. */
#define WORLDS_SUMMED 64u

/* Where the listed instances of worlds lie in the arrays of a scene. Snapshots that differ in how these stand alone
 * share it, one thread at a time. */
typedef struct world_lists {
  uint32_t references;
  uint32_t unit;    /* of the first block of their gates */
  uint32_t *lanes;  /* their global primitive ids, SLAB_MISS in lanes without one */
  uint32_t *begin;  /* the first lane of each world, up to the end of the last; it begins a block. Of world 0 none */
  world_state rest; /* of all that is not listed */
} world_lists;

/* What belongs to each world of a scene, that of all (0) first. Primitives are in the order of their ids. */
typedef struct world_content {
  layout_run *runs; /* of the BVHs, and where those of each world begin, up to the end of the last */
  uint32_t *begin;
  world_lists *lists;
  world_part *parts; /* of worlds that have a BVH */
  uint32_t count;
} world_content;

/* Lists what belongs to each world. The caller frees it, whatever the status. */
slab_status worlds_list(const snapshot *, world_content *);
/* What belongs to all. */
layout_part worlds_common(const snapshot *, const world_content *);
/* Builds the BVHs of worlds. */
slab_status worlds_build(const snapshot *, slab_tree, world_content *);
void worlds_free(world_content *);

/* Writes instances and gates of a world's list into a snapshot's arrays, as the scene's groups have them now, and how
 * they stand. */
void worlds_write(snapshot *, uint32_t world);
/* Where worlds_write writes: parts of the blocks, at most WORLD_PARTS. Their number. */
#define WORLD_PARTS (WORLD_LISTED + 1u)
uint32_t worlds_parts(const snapshot *, uint32_t world, blocks_part *);
/* The same of all worlds: two parts. */
uint32_t worlds_all_parts(const snapshot *, blocks_part *);
/* Gives a snapshot, whose arrays are complete, groups of its own. */
slab_status worlds_take_groups(snapshot *);
/* Measures the worlds of a snapshot whose arrays are complete, and gives it groups of its own. */
slab_status worlds_settle(snapshot *);
/* Room for the states of a snapshot's worlds, in bytes. */
size_t worlds_states_size(uint32_t worlds);
/* Whether a world's instances are listed. */
static inline bool world_is_listed(const world_lists *l, uint32_t world) {
  return l->begin[world + 1] > l->begin[world];
}
/* Sums bounds and `skewed` up. */
void worlds_sum_up(snapshot *);
/* The last snapshot, with what has moved since: in the arrays of one that rests, or in a copy. */
slab_status frames_make(struct slab_scene *, snapshot **);
void frames_finish(snapshot *, double begin);
world_lists *worlds_retain(world_lists *);
/* Accepts NULL. */
void worlds_release(world_lists *);

#endif
