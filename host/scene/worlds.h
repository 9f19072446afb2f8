/* The worlds of a scene: the part of each, and where it lies behind the part that all share. */
#ifndef SLABCAST_SCENE_WORLDS_H
#define SLABCAST_SCENE_WORLDS_H

#include "data/types.h"
#include "layout/layout.h"
#include "record/snapshot.h"

/* A world of so many instances has blocks of their gates and no nodes: rays test them all. A world of more has them in
 * a BVH. */
#define WORLD_LISTED 32u

/* The BVH of one world, or of the part that all share (0): its primitives, and more instances than are listed. */
typedef struct world_part {
  uint32_t world;
  slab_status status;  /* of its build */
  uint32_t node, unit; /* where it lies in the arrays of the scene */
  bvh_layout tree;     /* without arrays once these are there */
} world_part;

/* The reach, as slab_scene_stats and snapshot.skewed have it, of a world's listed instances, or of several worlds'. */
typedef struct world_state {
  float lower[3];
  uint32_t skewed;
  float upper[3];
  uint32_t unbounded; /* 1: some bounds are infinite */
  uint32_t stale;     /* of a sum over WORLDS_SUMMED: 1 where one of them was written since */
} world_state;

/* So many worlds in a row have a sum, behind the states of all. One thread writes them. */
#define WORLDS_SUMMED 64u

/* The parts of each world of a scene, of all worlds (0) first, and their places in the scene's arrays. Primitives are
 * in the order of their ids. Snapshots that differ only in the places of listed instances share it, one thread at a
 * time. */
typedef struct world_lists {
  uint32_t references;
  layout_run *runs; /* of the BVHs, and where those of each world begin, up to the end of the last */
  uint32_t *runs_begin;
  world_part *parts; /* of all, then of worlds that have a BVH, in their order */
  uint32_t part_count;
  uint32_t unit;    /* of the first block of their gates */
  uint32_t *lanes;  /* their global primitive ids, SLAB_MISS in lanes without one */
  uint32_t *begin;  /* the first lane of each world, up to the end of the last; it begins a block. Of world 0 none */
  world_state rest; /* of all instances that are not listed */
} world_lists;

/* The last snapshot, from which a build may take parts. */
typedef struct worlds_before {
  const snapshot *last;     /* NULL: there is none */
  const uint64_t *moved_in; /* of each world the number of the commit that has its last move */
} worlds_before;

/* Lists the parts of each world. The caller releases the lists, whatever the status. */
slab_status worlds_list(const snapshot *, world_lists **);
/* Builds the BVHs of all parts, or takes them over where they hold the same in the last snapshot. */
slab_status worlds_build(const snapshot *, const worlds_before *, world_lists *);
/* Frees the arrays of the parts. */
void worlds_free_trees(world_lists *);

/* Writes instances and gates of a world's list into a snapshot's arrays, as the scene's groups have them now, and their
 * states. */
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
/* Space for the states of a snapshot's worlds, in bytes. */
size_t worlds_states_size(uint32_t worlds);
/* Whether a world's instances are listed. */
static inline bool world_is_listed(const world_lists *l, uint32_t world) {
  return l->begin[world + 1] > l->begin[world];
}
/* Sums bounds and `skewed` up. */
void worlds_sum_up(snapshot *);
/* The last snapshot, with the moves since: in the arrays of one that rests, or in a copy. */
slab_status frames_make(struct slab_scene *, snapshot **);
void frames_finish(snapshot *, double begin);
world_lists *worlds_retain(world_lists *);
/* Accepts NULL. */
void worlds_release(world_lists *);

#endif
