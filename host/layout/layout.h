/* Builds the BVH of a scene in the device's layout, or refits the last one. */
#ifndef SLABCAST_LAYOUT_LAYOUT_H
#define SLABCAST_LAYOUT_LAYOUT_H

#include "bvh/bvh.h"
#include "data/types.h"
#include "layout/blocks.h"
#include "record/snapshot.h"

/* The union of the finite bounds of all geometries that are not hidden; inverted where there are none. */
bvh_bounds layout_bounds(const snapshot *);
/* Grows bounds by those of one geometry, unless it is hidden. */
void layout_grow_bounds(const snapshot *, uint32_t geometry, float lower[3], float upper[3]);
/* Whether a geometry has primitives with infinite bounds, and is not hidden. */
bool layout_is_unbounded(const snapshot *, uint32_t geometry);
void layout_free_arrays(bvh_layout *);
/* Looks for all primitives that are never hit, in geometries that are not hidden. */
void layout_look_through(const snapshot *);
/* The same in geometries of which some are known by their indices: there all are found by their corners. */
void layout_look_closer(const snapshot *);

/* Primitives of a geometry that follow each other. */
typedef struct layout_run {
  uint32_t geometry, first, count;
} layout_run;

/* Some of a scene's primitives, by their ids: those of one world, or those that all worlds share. */
typedef struct layout_part {
  const layout_run *runs;
  uint32_t count;
  uint32_t threads; /* as pool_run takes it */
} layout_part;

/* part: the primitives that the BVH holds; NULL: all of the scene's. The caller frees nodes and blocks, whatever the
 * status. */
slab_status bvh_layout_build(const snapshot *, const layout_part *part, slab_tree quality, slab_layout, bvh_layout *);

size_t layout_node_size(slab_layout);
/* Copies n nodes, whose children are `node` nodes and `unit` units further on then, modulo 2^32. */
void layout_copy_nodes(slab_layout, const void *from, size_t n, void *to, size_t node, size_t unit);
/* The nth node of an array. */
void *layout_node(slab_layout, const void *nodes, size_t nth);
/* Whether the primitives of the last snapshot's geometries have the ids that they had. */
bool layout_keeps_ids(const snapshot *, const snapshot *last);
/* A BVH of a part, copied to arrays of its own. In the arrays of the last snapshot it lies from a node and a unit on.
 * kept: the other facts about it. Its primitives have the ids that they had. The caller frees nodes and blocks,
 * whatever the status. */
slab_status bvh_layout_take(const snapshot *last, const bvh_layout *kept, size_t node, size_t unit, bvh_layout *out);
/* Gives the primitives of such a BVH the ids that they have in this snapshot. */
void bvh_layout_renumber(const snapshot *, const snapshot *last, bvh_layout *);
/* The kinds that may be outside the BVH, and the index of each there. */
extern const uint8_t layout_outside_kinds[OUTSIDE_LISTS];

/* Brings the BVH of the last snapshot up to date for the primitives of this one, which has its global primitive ids.
 * *holds: whether that BVH can hold them; else *out is not to be used. *out may come with arrays of the same size, to
 * be written again. The caller frees nodes and blocks, whatever the status. */
slab_status bvh_layout_refit(const snapshot *scene, const snapshot *last, bvh_layout *out, bool *holds);

/* The same on a device, which has the vertices of all changed geometries: *out has no arrays then, and the device has
 * the scene. Leaves *holds false where it cannot. */
slab_status bvh_layout_refit_there(snapshot *scene, const snapshot *last, bvh_layout *out, bool *holds);

/* Stack entries that a traversal of a BVH of this depth can need. */
uint32_t layout_stack(slab_layout, uint32_t depth);
/* Validates a wide layout of this scene that was not built here: no traversal may leave its buffers. Fills in depth and
 * stack. */
slab_status bvh_layout_trust(const snapshot *, bvh_layout *);

/* Lays a scene's geometries out for brute force by so many lanes: *table and *blocks are the caller's to free, *floats
 * is the length of blocks. */
slab_status pack_scene(const snapshot *, uint32_t lanes, geometry_entry **table, float **blocks, size_t *floats);

#endif
