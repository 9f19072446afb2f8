/* A scene, before and after its commit. */
#ifndef SLABCAST_SCENE_H
#define SLABCAST_SCENE_H

#include <stdbool.h>

#include "collect.h"
#include "device.h"
#include "slabcast.h"
#include "traversal_choice.h"
#include "types.h"

/* Fewer primitives are handled by one thread. */
#define PARALLEL_LEAST 4096u
/* Maximum primitives of a scene: global primitive ids must stay below SLAB_INVALID and SLAB_MISS. */
#define SCENE_PRIMITIVES 0xFFFFFFF0u

/* A committed scene on one device: what the backend uploaded, and what casts there have learned. */
typedef struct scene_state {
  void *uploaded;           /* the backend's own, from upload to release */
  void *kept[2];            /* host memory that is used in place; for a BVH it is kept with the first device */
  traversal_memory learned; /* guarded by the device's lock */
  hits_known hits;          /* guarded by the same lock */
} scene_state;

struct slab_scene {
  slab_context *context;
  bool committed;
  uint32_t kinds;        /* bit k: the scene has slab_shape k */
  uint64_t primitives;   /* total, which is the next global_id_base */
  geometry_entry *table; /* one entry per geometry; blocks of one lane, the CPU reference's layout */
  uint32_t geometries, table_capacity;
  float *blocks; /* blocks of one lane: the public structs as added, one geometry after the other */
  size_t block_floats, block_capacity;
  scene_state *states;           /* one per device of the context; NULL before commit */
  bool has_bvh;                  /* else all primitives are tested */
  slab_tree tree;                /* build quality as committed; SLAB_TREE_FLAT where SLAB_TREE_DEFAULT chose it */
  size_t tree_nodes, bvh_floats; /* size of a wide BVH: nodes, and floats of blocks */
  uint32_t stack;                /* stack entries that a traversal can need */
  cast_uniforms uniforms;        /* of a cast without options */
  slab_scene_stats stats;
};

/* Adds the next geometry to the table. The table must have room. The primitives are at block_floats, or will be stored
 * there. */
void scene_append(slab_scene *, uint32_t kind, uint32_t seen_by, uint32_t count);
typedef struct bvh_layout bvh_layout;
/* Lays the scene out and uploads it to every device. slab_scene_destroy frees what exists after a failure. */
slab_status scene_upload(slab_scene *, slab_tree);
/* Takes ownership of the layout's arrays, on success and on failure. */
slab_status scene_upload_tree(slab_scene *, bvh_layout *);
/* Measures the scene and marks it committed, after it was uploaded. begin: seconds_now() at the start of the
 * commit. */
void scene_finish(slab_scene *, double begin);

/* A committed scene on one device. */
typedef struct device_scene {
  const slab_scene *scene;
  device *device;
  scene_state *state;
} device_scene;

device_scene device_scene_of(const slab_scene *, uint32_t nth);
/* Whether the scene has a wide BVH, to which slab_traversal applies. */
bool has_traversals(const device_scene *);
/* Rays per packet; 0 where this query on this scene has no packets. */
uint32_t packet_rays(const device_scene *, slab_query);
/* The largest share of a launch's rays that its work-items can have in flight together. */
double in_flight_share(const device_scene *);

#endif
