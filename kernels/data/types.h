/* The arguments of a kernel besides rays: the memory layout of a committed scene, and the options of a cast. */
#ifndef DATA_TYPES_H
#define DATA_TYPES_H

#include "slabcast_types.h"

#include "shapes.def"

/* Rows are floats per primitive, in the member order of its public struct. A block holds LANES primitives by component:
 * row r of a block is LANES floats, component r of each primitive. With one lane a block is the struct itself. */
typedef union shape_longest {
#define SHAPE_FLOATS(kind, name, names, noun, floats, form, place, source) float name[floats];
  SHAPES(SHAPE_FLOATS)
#undef SHAPE_FLOATS
} shape_longest;

/* Rows of the kind that has most. */
enum { FLOATS_MOST = sizeof(shape_longest) / sizeof(float) };

/* Bit k: the scene holds slab_shape k. */
#define SHAPES_ALL ((1u << SLAB_SHAPE_COUNT) - 1)
#ifndef SLAB_KINDS
#define SLAB_KINDS SHAPES_ALL
#endif
#define HAS_KIND(kind) ((SLAB_KINDS >> (kind)&1) != 0)

/* In a BVH instances are primitives of a kind of their own. Its floats are those of a box: the gate. */
#define SHAPE_INSTANCE SLAB_SHAPE_COUNT

#ifndef SLAB_INSTANCES
#define SLAB_INSTANCES 0 /* 1: the scene has instances */
#endif

#ifndef SLAB_OWN
#define SLAB_OWN 0 /* 1: rays have a mask or a hit to begin after of their own */
#endif

/* The start of a geometry is counted in units of 16 floats, so that 32 bits reach 256 GiB. */
#define BLOCK_UNIT 16

/* Number of floats after a buffer's own that repeat the first floats of the next buffer, where a scene is split over
 * several. It is the size of the longest block: the floats of a kind and its global primitive ids at the largest lane
 * count, 16. So every block can be read from the buffer in which it begins. */
#define BLOCK_TAIL ((FLOATS_MOST + 1) * 16)

/* The global primitive id is global_id_base + the primitive's index. It ascends in (geometry, primitive) over the
 * scene. */
typedef struct geometry_entry {
  uint32_t kind;           /* slab_shape or SHAPE_INSTANCE */
  uint32_t mask;           /* visible to rays with a common bit */
  uint32_t count;          /* primitives; the last block is padded with primitives that are never hit */
  uint32_t global_id_base; /* global primitive id of primitive 0 */
  uint32_t first;          /* start of its first block, in BLOCK_UNITs; of instances the index of the first */
  uint32_t id;             /* of the geometry; of instances that of the first geometry of the first */
} geometry_entry;

/* ---- BVHs ---- */

#define BVH_WIDTH 8

/* A node of eight children. Bounds are stored by component (lower x, y, z, upper x, y, z). Each is the exact union
 * of the bounds below that child. Used children come first. The bounds of unused ones are +inf to -inf, which no ray
 * hits. */
typedef struct bvh_node {
  float bounds[6][BVH_WIDTH];
  uint32_t child[BVH_WIDTH]; /* index of a node or a leaf's first block; on the device a block's start in BLOCK_UNITs */
  uint32_t meta[BVH_WIDTH];  /* 0: unused; BVH_INNER and up: a node; else a leaf */
} bvh_node;

#define BVH_INNER 0x80000000u /* + the binary logarithm of the number of primitives below */
#define BVH_IS_INNER(meta) (((meta)&BVH_INNER) != 0)
#define BVH_LEAF(kind, blocks) ((uint32_t)(kind) << 16 | (uint32_t)(blocks)) /* blocks >= 1 */
#define BVH_LEAF_KIND(meta) ((meta) >> 16 & 0xFFu)
#define BVH_LEAF_BLOCK_COUNT(meta) ((meta)&0xFFFFu)

/* The byte of a packet in `packets` says whether its rays are left to `wide`. For SLAB_ANY it also has the number of
 * its steps, with PACKET_STEPS_MOST for more. */
#define PACKET_LEFT 1u
#define PACKET_STEPS(told) ((told) >> 1)
#define PACKET_STEPS_MOST 127u

/* Whether packets that are compiled ahead, of so many rays, compute the attributes of their closest hits. These are the
 * packets of triangles on processors with AVX-512: camera rays take 0.94 of the time so. */
#define NATIVE_PACKETS_FINISH(rays) ((rays) == 32)

/* A block of a BVH: the floats of BVH_WIDTH primitives of one kind, then their global primitive ids, padded to a
 * BLOCK_UNIT. Lanes without a primitive hold a void one, which is never hit. */
#define BVH_BLOCK_UNITS(floats) BLOCK_UNITS(floats, BVH_WIDTH, BLOCK_UNIT)
/* The same for any number of lanes and any unit. */
#define BLOCK_UNITS(floats, lanes, unit) ((((floats) + 1) * (lanes) + (unit)-1) / (unit))

/* Whether a triangle is void, by any of its coordinates: those of others are at most 2^60. A void one is a finite edge,
 * to and fro. NaN would raise a floating-point flag in every block that is not full (host/base/arithmetic.h). */
#define TRIANGLE_IS_VOID(coordinate) ((coordinate) > 0x1p60f)

/* The compressed layout, for devices where each work-item casts one ray (Ylitie, Karras, Laine 2017). A node has 80
 * bytes, which are five rows of four words. Bounds are bytes that count steps from an origin. They contain the exact
 * bounds: see quantised.h. A ray visits child k before child j where k ^ octant < j ^ octant; bit i of octant is set
 * where component i of the direction is negative. A block holds one primitive: its floats, then its global primitive
 * id, padded to COMPRESSED_UNIT. */
typedef struct compressed_node {
  float origin[3];
  uint32_t scales;       /* bytes 0 to 2: the step along each axis, as a float's exponent;
                            byte 3: bit k is set where child k is a node */
  uint32_t child;        /* index of the first child that is a node; the others follow */
  uint32_t leaf;         /* start of the first child that is a leaf, in COMPRESSED_UNITs; the others follow */
  uint32_t meta[2];      /* one byte per child: 0 unused, COMPRESSED_INNER a node, else COMPRESSED_LEAF */
  uint32_t planes[6][2]; /* as bvh_node's bounds, one byte per child */
} compressed_node;

#define COMPRESSED_UNIT 4
#define COMPRESSED_TRIANGLE (BLOCK_UNITS(TRIANGLE_FLOATS, 1, COMPRESSED_UNIT) * COMPRESSED_UNIT) /* floats of one */
/* A byte of meta: three bits for the kind, counted from SLAB_SPHERE, and five for the number of primitives. A leaf
 * holds at most 9, so that the COMPRESSED_UNITs of seven leaves, at most 4 each, fit a byte too. The builder's limit
 * for this layout is 3 (host/device/tuning.c). A count of 0 is no leaf. */
#define COMPRESSED_LEAF_BITS 31u
#define COMPRESSED_LEAF_MOST 9u
#define COMPRESSED_INNER 0x20u
#define COMPRESSED_LEAF(kind, count) (((uint32_t)(kind)-SLAB_SPHERE) << 5 | (uint32_t)(count))
/* Uses comparisons: compilers turn a shift into a switch over few bits, which Oclgrind 21.10 executes wrongly. */
#define COMPRESSED_IS_OF_KIND(meta, kind) ((meta)-COMPRESSED_LEAF(kind, 0) <= COMPRESSED_LEAF_BITS) /* or wraps */
#define COMPRESSED_LEAF_COUNT(meta) ((meta)&COMPRESSED_LEAF_BITS) /* 0 where it is not a leaf */

/* The facts about a node in refit.cl: the bounds of all below, exactly, and its expected cost, times its area. */
typedef struct refitted_node {
  float lower[3], cost, upper[3], area;
} refitted_node;

/* Costs of a test, as the builder counts them. scale: of lengths, so that areas do not overflow. */
typedef struct refit_costs {
  float node, triangle, scale;
} refit_costs;

/* Primitives without finite bounds are stored outside the BVH, in blocks of their own, for each kind: planes, and boxes
 * infinite in x or y. */
typedef struct bvh_outside {
  uint32_t first; /* start of the first block, in BLOCK_UNITs */
  uint32_t blocks;
} bvh_outside;

/* OUTSIDE_##name is the index of a kind among those that may be outside. OUTSIDE_KINDS is their number. */
enum { OUTSIDE_plane, OUTSIDE_box, OUTSIDE_KINDS, OUTSIDE_INSTANCES = OUTSIDE_KINDS, OUTSIDE_LISTS };

/* ---- instances ---- */

/* A scene with instances has its models beside it: their entries are in its table, their nodes and blocks behind its
 * own. Model 0 is the scene itself. Instances and models are two arrays among the blocks, each element a BLOCK_UNIT.
 *
 * Worlds are entries of the second array, behind the models, with the scene's own table. A ray of a world begins there.
 * Then it visits model 0, which has the geometries that all worlds share. */
#define SCENE_DEPTHS 5 /* a scene, and models in each other */
#define ROOT_NONE 0xFFFFFFFFu

typedef struct instance_entry {
  float inverse[9]; /* B, row-major: o' = B (o - place), d' = B d */
  float place[3];
  uint32_t model;
  uint32_t geometry; /* id of its model's first geometry, in the scene that the instance is in */
  float scale;       /* where the transform is a rotation, mirrored or not, times this; else 0 */
  uint32_t world;    /* that it belongs to; 0: all. Kernels find it by where its gate is */
} instance_entry;

typedef struct model_entry {
  uint32_t table, entries; /* its part of the table */
  uint32_t geometries;     /* ids that it takes: more than entries where it has instances */
  uint32_t root;           /* its first node; of a world ROOT_NONE where it has no nodes */
  uint32_t collapsed_root; /* that of its collapsed triangles, which points alone find; 0: it has none */
  bvh_outside outside[OUTSIDE_LISTS];
  uint32_t unused[11 - 2 * OUTSIDE_LISTS];
} model_entry;

/* Space for the hits of SLAB_ALL where the offsets are not known yet. The results buffer begins with TAKEN_NUMBERS
 * counters, then one hit_list per ray. From AT_RESULTS on it has three regions of hits. The first holds finished lists,
 * in any order and with gaps. The second holds lists in progress, one for each walker. The third holds lists in
 * progress that outgrew their place in the second. */
typedef struct hit_space {
  uint32_t hits;   /* hits in the region of finished lists; 0: the offsets are given */
  uint32_t walks;  /* lists in progress at once, over all work-items */
  uint32_t walk;   /* hits that one list in progress can hold */
  uint32_t larger; /* hits in the region of lists that outgrew that */
} hit_space;

enum { TAKEN_HITS, TAKEN_LARGER, TAKEN_NUMBERS }; /* counters: hits reserved in the first and in the third region */

/* A ray's hits. begin: index of its first hit in the region of finished lists; LIST_LOST: there was no space. count:
 * the number of its hits, valid in both cases. */
typedef struct hit_list {
  uint32_t begin, count;
} hit_list;

#define LIST_LOST 0xFFFFFFFFu

/* Lists in progress that a work-item of a wide BVH has at most. Where kernels are compiled ahead the traversals of a
 * launch are mixed, so each work-item has places for so many in the second region, whichever traversal casts its rays.
 */
#define LISTS_MOST 24

/* Hits that a work-item reserves at once for its next short lists. It reserves at most as many as it has rays. Without
 * this, each list increments a counter that all work-items share, and cores wait for each other. */
#define HIT_SHARE 64u

/* A bit of cast_uniforms.rules beside those of slab_cull: slab_edges is SLAB_EDGES_CLOSED. */
#define RULE_CLOSED 4u

/* Queries below this number have programs of their own. */
#define PROGRAM_QUERIES 6
/* The query whose program answers a query. */
#define PROGRAM_QUERY(query) ((query) == SLAB_NEAREST ? SLAB_DISTANCE : (query))

/* The SLAB_QUERY of programs that answer every query: the cast's uniforms name it. Programs that are compiled ahead,
 * for rays with masks and hits of their own, do so: one takes the place of six. */
#define QUERY_TOLD PROGRAM_QUERIES
#define QUERY_OF(cast) (SLAB_QUERY == QUERY_TOLD ? (cast)->query : (uint32_t)SLAB_QUERY)

/* Whether the attributes of a launch's closest hits wait for attributes.cl, where it is used. Of one or two rays each
 * is computed at once: one takes 75 ns less on average, two 25 (kitten.obj), four or more take longer. */
#define ATTRIBUTES_WAIT(rays) ((rays) > 2)

enum { AT_RAYS, AT_RESULTS, AT_OFFSETS, AT_SKIPS, AT_INVALID };

typedef struct cast_uniforms {
  uint32_t rays;         /* of this launch */
  uint32_t rays_each;    /* rays per work-item, cast one after the other; at most SLAB_RAYS for flat scenes */
  uint32_t geometries;   /* entries in the table */
  uint32_t mask;         /* the cast's */
  uint32_t rules;        /* which crossings count: slab_cull and RULE_CLOSED */
  uint32_t face_forward; /* 0 or 1 */
  uint32_t skip;         /* 1: the skip array holds an entry for each ray */
  uint32_t invalid;      /* 1: count invalid rays */
  uint32_t ids;          /* 1: results of SLAB_DISTANCE are slab_short_hit, which is SLAB_NEAREST */
  uint32_t most;         /* SLAB_ALL: the first hits that are listed of a ray, at most; 0: all */
  uint32_t at[5];        /* where in its buffer an argument begins: AT_RAYS .. AT_INVALID, in units of 4 bytes;
                            AT_RESULTS of SLAB_ANY in bytes */
  uint32_t packet;       /* BVHs: rays per packet where some have been cast in packets, else 0 */
  uint32_t farthest;     /* packets, SLAB_ANY: 1: of the children that most rays may overlap the farthest comes first */
  uint32_t masked;       /* BVHs: 1 where the mask, or one of a ray, may hide some geometry from this cast */
  uint32_t units;        /* wide BVHs: BLOCK_UNITs of all blocks */
  uint32_t instances;    /* where the array of instances begins among the blocks, in BLOCK_UNITs */
  uint32_t models;       /* the same of the models */
  hit_space space;       /* SLAB_ALL */
  bvh_outside outside[OUTSIDE_KINDS];
  /* Programs with SLAB_OWN alone. */
  uint32_t query;       /* PROGRAM_QUERY, for those of QUERY_TOLD */
  uint32_t masks_begin; /* where in their buffers masks, after and worlds begin, in units of 4 bytes */
  uint32_t after_begin;
  uint32_t worlds_begin;
  /* Scenes with instances alone. */
  uint32_t worlds;       /* that the scene has */
  uint32_t world_models; /* where their entries are among the models: that of world k is so many + k */
  uint32_t world;        /* of the one ray, where a kernel of the user's traces it */
} cast_uniforms;

#endif
