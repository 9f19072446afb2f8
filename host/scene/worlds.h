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

/* What belongs to each world of a scene, that of all (0) first. Primitives are in the order of their ids. */
typedef struct world_content {
  layout_run *runs; /* of the BVHs, and where those of each world begin, up to the end of the last */
  uint32_t *begin;
  uint32_t *lanes;      /* global primitive ids of the instances that are listed, SLAB_MISS in lanes without one */
  uint32_t *lane_begin; /* the same of these; each begins with a block */
  world_part *parts;    /* of worlds that have a BVH */
  uint32_t count;
} world_content;

/* Lists what belongs to each world. The caller frees it, whatever the status. */
slab_status worlds_list(const snapshot *, world_content *);
/* What belongs to all. */
layout_part worlds_common(const snapshot *, const world_content *);
/* Builds the BVHs of worlds. */
slab_status worlds_build(const snapshot *, slab_tree, world_content *);
void worlds_free(world_content *);

#endif
