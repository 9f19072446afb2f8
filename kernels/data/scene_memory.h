/* The memory of a scene: its blocks, and the nodes of its BVH. Each of the two arrays is one buffer. Where the device
 * cannot allocate that much at once an array is several buffers (SLAB_BUFFERS: 1 or 4). The host cuts it (scene.c), and
 * kernels choose the buffer by the position of what they read. A scene in one buffer compiles to plain pointers.
 *
 * With several, each buffer has BLOCK_PART floats or NODE_PART nodes of its own. After its floats a buffer repeats the
 * next BLOCK_TAIL floats. So a block that begins in a buffer is read from it, even where the cut goes through the
 * block. */
#ifndef DATA_SCENE_MEMORY_H
#define DATA_SCENE_MEMORY_H

#include "data/types.h"
#include "lanes/lanes.h"

#ifndef SLAB_BUFFERS
#define SLAB_BUFFERS 1
#endif

#ifndef SCENE_NODE
#define SCENE_NODE bvh_node /* of the layout that is traversed */
#endif

#if SLAB_BUFFERS == 1

typedef GLOBAL const float *scene_blocks;
typedef GLOBAL const SCENE_NODE *scene_nodes;

/* A kernel's parameters, and the values that it makes from them. */
#define BLOCKS_PARAMETERS GLOBAL const float *blocks_0
#define NODES_PARAMETERS GLOBAL const SCENE_NODE *nodes_0
#define BLOCKS_GIVEN blocks_0
#define NODES_GIVEN nodes_0

#define block_at(blocks, at) ((blocks) + (at)) /* the block that begins `at` floats from the first */
#define node_at(nodes, at) ((nodes) + (at))

/* The blocks of one geometry of a flat scene, and the block that begins `at` floats from its first. */
typedef scene_blocks geometry_blocks;
#define geometry_begin(blocks, entry) ((blocks) + (size_t)(entry)->first * BLOCK_UNIT)
#define geometry_block(geometry, at) ((geometry) + (at))
/* The number of consecutive blocks of `step` floats in one buffer, from `at` on: all. */
#define geometry_held(geometry, at, step) ((void)(geometry), (void)(at), (void)(step), 0xFFFFFFFFu)

#elif SLAB_BUFFERS == 4

/* SLAB_PART_UNITS and SLAB_PART_NODES come from the host. */
#define BLOCK_PART ((size_t)(SLAB_PART_UNITS)*BLOCK_UNIT)
#define NODE_PART ((size_t)(SLAB_PART_NODES))

typedef struct scene_blocks {
  GLOBAL const float *part[SLAB_BUFFERS];
} scene_blocks;

typedef struct scene_nodes {
  GLOBAL const SCENE_NODE *part[SLAB_BUFFERS];
} scene_nodes;

#define BLOCKS_PARAMETERS \
  GLOBAL const float *blocks_0, GLOBAL const float *blocks_1, GLOBAL const float *blocks_2, GLOBAL const float *blocks_3
#define NODES_PARAMETERS                                                                                \
  GLOBAL const SCENE_NODE *nodes_0, GLOBAL const SCENE_NODE *nodes_1, GLOBAL const SCENE_NODE *nodes_2, \
      GLOBAL const SCENE_NODE *nodes_3
#define BLOCKS_GIVEN                           \
  {                                            \
    { blocks_0, blocks_1, blocks_2, blocks_3 } \
  }
#define NODES_GIVEN                        \
  {                                        \
    { nodes_0, nodes_1, nodes_2, nodes_3 } \
  }

/* Uses comparisons: an array that is indexed by a variable would lie in a GPU's slow memory. */
INLINE GLOBAL const float *block_at(scene_blocks blocks, size_t at) {
  return at < BLOCK_PART       ? blocks.part[0] + at
         : at < 2 * BLOCK_PART ? blocks.part[1] + (at - BLOCK_PART)
         : at < 3 * BLOCK_PART ? blocks.part[2] + (at - 2 * BLOCK_PART)
                               : blocks.part[3] + (at - 3 * BLOCK_PART);
}

INLINE GLOBAL const SCENE_NODE *node_at(scene_nodes nodes, size_t at) {
  return at < NODE_PART       ? nodes.part[0] + at
         : at < 2 * NODE_PART ? nodes.part[1] + (at - NODE_PART)
         : at < 3 * NODE_PART ? nodes.part[2] + (at - 2 * NODE_PART)
                              : nodes.part[3] + (at - 3 * NODE_PART);
}

typedef struct geometry_blocks {
  scene_blocks blocks;
  size_t first;
} geometry_blocks;

INLINE geometry_blocks geometry_begin(scene_blocks blocks, const geometry_entry *entry) {
  const geometry_blocks geometry = {blocks, (size_t)entry->first * BLOCK_UNIT};
  return geometry;
}

INLINE GLOBAL const float *geometry_block(geometry_blocks geometry, size_t at) {
  return block_at(geometry.blocks, geometry.first + at);
}

/* The number of blocks that begin in the same buffer. The last may end in its tail. */
INLINE uint geometry_held(geometry_blocks geometry, size_t at, uint step) {
  const size_t left = BLOCK_PART - (geometry.first + at) % BLOCK_PART, held = (left + step - 1) / step;
  return held < 0xFFFFFFFFu ? (uint)held : 0xFFFFFFFFu;
}

#else
#error "a scene lies in 1 or 4 buffers"
#endif

/* The parts of the scene that a cast reads, and its options. Arguments of kernels are flat, since OpenCL C 1.2 forbids
 * pointers in argument structs. So each kernel makes these two structs at its start. */
typedef struct scene_view {
  GLOBAL const geometry_entry *table;
  scene_blocks blocks;
  scene_nodes nodes; /* of a BVH */
  const cast_uniforms *cast;
  bool unordered; /* interleaved rays visit children in the order of their slots */
} scene_view;

/* The arrays with an entry for each ray; NULL: there is none. They are parameters, arguments and members of kernels
 * with SLAB_OWN alone. So others stay as they are. */
#if SLAB_OWN
typedef struct own_arrays {
  GLOBAL const uint *masks;           /* sees a geometry where the two have a common bit */
  GLOBAL const slab_short_hit *after; /* gets the hits that follow */
  GLOBAL const uint *worlds;          /* sees this one, and geometries that all worlds share */
} own_arrays;
#define OWN_PARAMETERS , const global uint *masks, const global slab_short_hit *after, const global uint *worlds
#define OWN_GIVEN \
  , { masks, after, worlds }
#define OWN_ARRAYS own_arrays own;
#else
#define OWN_PARAMETERS
#define OWN_GIVEN
#define OWN_ARRAYS
#endif

/* The arrays that a cast reads and writes for each ray. */
typedef struct cast_arrays {
  GLOBAL const slab_ray *rays;
  GLOBAL void *results;                  /* of the query's type */
  GLOBAL const uint *offsets;            /* SLAB_ALL: where the hits of each ray begin */
  GLOBAL const slab_primitive_id *skips; /* where cast.skip is 1 */
  volatile GLOBAL uint *invalid;         /* one counter, where cast.invalid is 1 */
  GLOBAL const uint *sorted;             /* the ray numbers in casting order; NULL: the order of the array */
  OWN_ARRAYS
#ifdef SLAB_NATIVE
  struct deferred_hit *held; /* SLAB_ALL: where the work-item's lists begin, see listing.h */
  size_t first_walk;         /* the number of the first of them */
#endif
} cast_arrays;

/* A hit whose attributes are computed later. It waits in the place of its slab_hit. A ray without a hit has its
 * slab_hit at once, so global_id lies where a slab_hit has the primitive, SLAB_MISS or SLAB_INVALID. */
typedef struct deferred_hit {
  float t; /* in the prepared ray's units */
  uint32_t unused_normal[3];
  uint32_t lane;     /* in its block; set where the attributes are deferred */
  uint32_t geometry; /* its geometry, where the scene has instances */
  uint32_t global_id;
  uint32_t where; /* its block in a BVH, as in query_state */
} deferred_hit;

/* Numbers of its words. */
enum { DEFERRED_T = 0, DEFERRED_LANE = 4, DEFERRED_GEOMETRY = 5, DEFERRED_GLOBAL_ID = 6, DEFERRED_WHERE = 7 };

/* The place of both. */
typedef union hit_entry {
  slab_hit hit;
  deferred_hit deferred;
} hit_entry;

#ifdef SLAB_QUERY
/* Where the results begin. */
INLINE GLOBAL void *results_begin(const cast_arrays *arrays, const cast_uniforms *cast) {
  const size_t at = cast->at[AT_RESULTS];
  return QUERY_OF(cast) == SLAB_ANY ? (GLOBAL void *)((GLOBAL uchar *)arrays->results + at)
                                    : (GLOBAL void *)((GLOBAL uint *)arrays->results + at);
}
#endif

#endif
