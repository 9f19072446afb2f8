/* A commit makes a snapshot of a scene: its geometry as it then was, the BVH over it, and the part that each device
 * holds of both. Casts read the snapshot alone. It does not change, but for the results that casts learn from. It stays
 * until the last cast has left that began on it. */
#ifndef SLABCAST_RECORD_SNAPSHOT_H
#define SLABCAST_RECORD_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "data/types.h"
#include "record/device.h"
#include "record/hits.h"
#include "record/traversals.h"
#include "slabcast.h"

typedef struct geometry_values geometry_values;
struct tree_places;
struct world_lists;
struct world_state;

/* A scene's BVH in the device's layout: nodes, and blocks with the primitives' values and global primitive ids. */
typedef struct bvh_layout {
  void *nodes; /* bvh_nodes or compressed_nodes, the root first */
  size_t node_bytes;
  float *blocks;
  size_t floats, space; /* space: of floats those at the end, zero, that no block has */
  bvh_outside outside[OUTSIDE_LISTS];
  uint32_t collapsed_root; /* of the BVH over collapsed triangles, which points alone find; 0: there are none */
  uint32_t depth, stack;   /* of the deeper BVH; stack: entries that a traversal can need */
  double sah_cost, node_occupancy, block_occupancy; /* as in slab_scene_stats */
  uint64_t build;     /* the snapshot's that has their nodes' children and their blocks' ids */
  bool lacks_some;    /* its build left out triangles whose vertices may move so that they can be hit */
  uint64_t model_set; /* the snapshot's whose models lie behind the scene's own nodes and blocks; 0: of none */
} bvh_layout;

/* A part of the blocks, in floats. */
typedef struct blocks_part {
  size_t first, count;
} blocks_part;

/* A snapshot on one device: the backend's upload, and the results that casts there learn from. */
typedef struct scene_state {
  void *uploaded;           /* the backend's own, from upload to release */
  void *beside;             /* the same for brute force, where a small scene has that beside a BVH; else NULL */
  void *kept[2];            /* of brute force: host memory that is used in place */
  traversal_memory learned; /* guarded by the device's lock */
  hits_known hits;          /* guarded by the same lock */
  few_memory few;
} scene_state;

typedef struct snapshot {
  slab_context *context;    /* the scene's, which retains it */
  uint32_t kinds;           /* bit k: the scene has slab_shape k */
  uint64_t primitives;      /* global primitive ids are below this */
  uint64_t shown;           /* the most that a ray can hit: primitives count in each instance */
  geometry_entry *table;    /* one entry per geometry. mask 0: disabled or removed; `first` has no meaning here */
  geometry_values **values; /* of each geometry; NULL: removed */
  uint32_t geometries;
  /* Of scenes with instances (models.h); in others entries is geometries, and models, depths are 1. */
  uint32_t ids;                                  /* of geometries that were given */
  uint32_t entries, instance_count, model_count; /* entries: of the table: the geometries', then those of models */
  uint32_t depths;                               /* of models in each other, and the scene's own */
  uint32_t worlds;                               /* declared. Of a scene with some has_instances is true */
  uint64_t model_set;                            /* a number, the last snapshot's where all models are */
  size_t own_nodes, own_units;                   /* of the BVH: nodes and units of blocks before the models' */
  bool has_instances;                            /* or had: ids are not the indices of entries */
  uint32_t skewed;                               /* the first geometry of an instance that is not rigid but for a scale,
                                                    or has such a one in its model; SLAB_MISS: there is none */
  struct world_lists *lists;                     /* of a scene with worlds (scene/worlds.h); else NULL */
  struct world_state *world_states;              /* of each world, from 0 on; or NULL */
  uint64_t frame;                                /* the number of the commit whose moves its worlds have */
  struct held_model *models;                     /* of each geometry */
  struct instance_group **groups;                /* of each geometry; NULL: primitives */
  atomic_uint held;                              /* by snapshots that have this one as a model */
  scene_state *states;                           /* one per device of the context */
  bool moves;             /* the host keeps the BVH for the next refit, although no device uses it in place */
  uint64_t build;         /* a number, the last snapshot's where this one is a refit of it */
  bool has_bvh;           /* else all primitives are tested */
  uint64_t beside_work;   /* of brute force where devices have it beside a BVH, by beside_work of tuning.h */
  slab_tree tree;         /* build quality as committed; SLAB_TREE_FLAT where SLAB_TREE_DEFAULT chose it */
  bvh_layout bvh;         /* nodes and blocks are NULL where devices have copies and the host has none */
  double built_cost;      /* sah_cost after the last build, which refits are held against */
  cast_uniforms uniforms; /* of a cast without options */
  slab_scene_stats stats;
  bool unbounded; /* the bounds of some primitives are infinite: not all is within those of stats. As these without
                     what is hidden */
  struct tree_places *places; /* of the thread that commits: where primitives lie (layout/places.h); NULL: not made
                                 yet */
  _Atomic(struct boundary *) boundary; /* NULL: not made yet (scene/boundary.h) */
  struct snapshot *older;              /* of those that were replaced and may still be read */
  uint32_t crowd;                      /* readers without a place of their own (scene.h) */
} snapshot;

static inline bool is_hidden(const snapshot *scene, uint32_t geometry) { return scene->table[geometry].mask == 0; }

/* Whether it has primitives that were others in the last snapshot. */
static inline bool has_moved(const snapshot *scene, const snapshot *last, uint32_t geometry) {
  return !is_hidden(scene, geometry) && scene->table[geometry].count > 0 &&
         scene->values[geometry] != last->values[geometry];
}

#endif
