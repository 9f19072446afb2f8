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

/* Where a geometry begins is counted in units of 16 floats, so that 32 bits reach 256 GiB. */
#define BLOCK_UNIT 16

/* `order` of a primitive is order_base + its index: ascending in (geometry, primitive) over the scene. */
typedef struct geometry_entry {
  uint32_t kind;       /* slab_shape */
  uint32_t mask;       /* seen by rays with a common bit */
  uint32_t count;      /* primitives; the last block is padded with primitives that are never hit */
  uint32_t order_base; /* order of primitive 0 */
  uint32_t first;      /* of its first block, in BLOCK_UNITs */
} geometry_entry;

enum { AT_RAYS, AT_RESULTS, AT_OFFSETS, AT_SKIPS, AT_INVALID };

typedef struct cast_uniforms {
  uint32_t rays;         /* of this launch */
  uint32_t geometries;   /* entries in the table */
  uint32_t mask;         /* the cast's */
  uint32_t cull;         /* slab_cull */
  uint32_t face_forward; /* 0 or 1 */
  uint32_t skip;         /* 1: the skip array holds an entry for each ray */
  uint32_t invalid;      /* 1: count invalid rays */
  uint32_t at[5];        /* where in its buffer an argument begins: AT_RAYS .. AT_INVALID, in units of 4 bytes;
                            AT_RESULTS of SLAB_ANY in bytes */
} cast_uniforms;

#endif
