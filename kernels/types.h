/* What the host hands a kernel besides rays: how a committed scene lies in memory, and the options of a cast. */
#ifndef TYPES_H
#define TYPES_H

#include "slabcast_types.h"

/* Floats a primitive takes, in the member order of its public struct. A block holds LANES primitives by
 * component: row r of a block is LANES floats, component r of each. One lane is the struct itself. */
#define PLANE_ROWS 4
#define SPHERE_ROWS 4
#define BOX_ROWS 6
#define OBB_ROWS 15
#define TRIANGLE_ROWS 9

/* Bit k: the scene holds slab_shape k. */
#ifndef SLAB_KINDS
#define SLAB_KINDS 31
#endif

/* Where a geometry begins is counted in units of 16 floats, so that 32 bits reach 256 GiB. */
#define BLOCK_UNIT 16

/* Floats that a buffer repeats of the next one's where a scene lies in several: as many as the longest block has, of
 * oriented boxes and their orders in the most lanes there are, so that a block is in the buffer in which it begins. */
#define BLOCK_TAIL ((OBB_ROWS + 1) * 16)

/* `order` of a primitive is global_id_base + its index: ascending in (geometry, primitive) over the scene. */
typedef struct geometry_entry {
  uint32_t kind;           /* slab_shape */
  uint32_t mask;           /* seen by rays with a common bit */
  uint32_t count;          /* primitives; the last block is padded with primitives that are never hit */
  uint32_t global_id_base; /* order of primitive 0 */
  uint32_t first;          /* of its first block, in BLOCK_UNITs */
} geometry_entry;

/* ---- BVHs ---- */

#define BVH_WIDTH 8

/* Eight children, their bounds by component (lower x, y, z, upper x, y, z), the exact union of what lies below. Used
 * slots come first; the bounds of the others are +inf to -inf, which no ray hits. */
typedef struct bvh_node {
  float bounds[6][BVH_WIDTH];
  uint32_t child[BVH_WIDTH]; /* index of a node, or of a leaf's first block: on the device its place in BLOCK_UNITs */
  uint32_t meta[BVH_WIDTH];  /* 0: unused; BVH_INNER and up: a node; else a leaf */
} bvh_node;

#define BVH_INNER 0x80000000u /* + the binary logarithm of how many primitives are below */
#define BVH_IS_INNER(meta) (((meta)&BVH_INNER) != 0)
#define BVH_LEAF(kind, blocks) ((uint32_t)(kind) << 16 | (uint32_t)(blocks)) /* blocks >= 1 */
#define BVH_LEAF_KIND(meta) ((meta) >> 16 & 0xFFu)
#define BVH_LEAF_BLOCK_COUNT(meta) ((meta)&0xFFFFu)

/* A block of a BVH: the rows of BVH_WIDTH primitives of one kind, then their orders, padded to a BLOCK_UNIT. Lanes
 * without a primitive hold one that is never hit. */
#define BVH_BLOCK_UNITS(rows) BLOCK_UNITS(rows, BVH_WIDTH, BLOCK_UNIT)
/* The same of any number of lanes and any unit. */
#define BLOCK_UNITS(rows, lanes, unit) ((((rows) + 1) * (lanes) + (unit)-1) / (unit))

/* The same BVH for devices whose work-items take a ray each (Ylitie, Karras, Laine 2017): nodes of 80 bytes, which are
 * five rows of four words. Bounds are bytes that count steps from an origin, and hold the exact ones: quantised.h.
 * Child k is met before child j by rays whose directions fall along the axes in `way` (a bit each) where k ^ way <
 * j ^ way. Blocks hold one primitive: its rows, then its order, padded to COMPRESSED_UNIT. */
typedef struct compressed_node {
  float origin[3];
  uint32_t scales;       /* bytes 0 to 2: the step along each axis, as a float's exponent; byte 3: which children are
                            nodes, as bits */
  uint32_t child;        /* index of the first child that is a node; the others follow */
  uint32_t leaf;         /* place of the first child that is a leaf, in COMPRESSED_UNITs; the others follow */
  uint32_t meta[2];      /* a byte a child: 0 unused, COMPRESSED_INNER a node, else COMPRESSED_LEAF */
  uint32_t planes[6][2]; /* as bvh_node's bounds, a byte a child */
} compressed_node;

#define COMPRESSED_UNIT 4
#define COMPRESSED_INNER 0x40u
#define COMPRESSED_LEAF(kind, count) (((uint32_t)(kind)-SLAB_SPHERE) << 6 | (uint32_t)(count)) /* 1 to 63 */
/* By comparisons: Oclgrind 21.10 goes astray in a switch over two bits, which compilers make of a shift. */
#define COMPRESSED_LEAF_KIND(meta)                             \
  ((meta) >= COMPRESSED_LEAF(SLAB_TRIANGLE, 0) ? SLAB_TRIANGLE \
   : (meta) >= COMPRESSED_LEAF(SLAB_OBB, 0)    ? SLAB_OBB      \
   : (meta) >= COMPRESSED_LEAF(SLAB_BOX, 0)    ? SLAB_BOX      \
                                               : SLAB_SPHERE)
#define COMPRESSED_LEAF_COUNT(meta) ((meta)&0x3Fu) /* 0 of what is no leaf */

/* Primitives that no box holds stand outside the BVH, in blocks of their own: planes, and boxes infinite in x or y. */
typedef struct bvh_outside {
  uint32_t first; /* of the first block, in BLOCK_UNITs */
  uint32_t blocks;
} bvh_outside;

/* SLAB_ALL where it is not known yet where hits go. Its results begin with TAKEN_NUMBERS, and a hit_list a ray. From
 * AT_RESULTS on there is room for hits: of lists that have ended, which lie in any order and apart; of those that
 * work-items are at; and of those again once they outgrow that. */
typedef struct hit_room {
  uint32_t hits;   /* of lists that have ended; 0: the offsets are given */
  uint32_t walks;  /* lists that work-items are at, all together */
  uint32_t walk;   /* hits of one of those */
  uint32_t larger; /* hits of those that have outgrown it */
} hit_room;

enum { TAKEN_HITS, TAKEN_LARGER, TAKEN_NUMBERS }; /* what is taken of the room */

/* A ray's hits: where they begin among those that have ended, LIST_LOST where there was no room, and, in either case,
 * how many there are. */
typedef struct hit_list {
  uint32_t begin, count;
} hit_list;

#define LIST_LOST 0xFFFFFFFFu

/* Hits that a work-item takes at once for short lists to come, but no more than it has rays: cores wait for each other
 * where each list counts up a number that all of them share. */
#define HIT_SHARE 64u

enum { AT_RAYS, AT_RESULTS, AT_OFFSETS, AT_SKIPS, AT_INVALID };

typedef struct cast_uniforms {
  uint32_t rays;         /* of this launch */
  uint32_t rays_each;    /* of them a work-item takes so many, one after the other; of flat scenes SLAB_RAYS at most */
  uint32_t geometries;   /* entries in the table */
  uint32_t mask;         /* the cast's */
  uint32_t cull;         /* slab_cull */
  uint32_t face_forward; /* 0 or 1 */
  uint32_t skip;         /* 1: the skip array holds an entry for each ray */
  uint32_t invalid;      /* 1: count invalid rays */
  uint32_t at[5];        /* where in its buffer an argument begins: AT_RAYS .. AT_INVALID, in units of 4 bytes;
                            AT_RESULTS of SLAB_ANY in bytes */
  uint32_t packet;       /* BVHs: rays of a packet where some have been cast in packets, else 0 */
  uint32_t masked;       /* BVHs: 1 where the mask hides some geometry from this cast */
  uint32_t units;        /* wide BVHs: BLOCK_UNITs of all blocks */
  hit_room room;         /* SLAB_ALL */
  bvh_outside planes, boxes;
} cast_uniforms;

#endif
