/* Declarations shared by the builder's files. */
#ifndef SLABCAST_BVH_PARTS_H
#define SLABCAST_BVH_PARTS_H

#include <math.h>
#include <stddef.h>

#include "base/pool.h"
#include "base/radix.h"
#include "bvh/bvh.h"
#include "bvh/float4.h"
#include "bvh/memory.h"
#include "os/memory.h"
#include "os/thread.h"

/* A subtree with fewer primitives is built by one thread. */
#define TASK_MIN 4096u
/* As many or more references are binned and parted by all threads at once. */
#define PARALLEL_MIN 65536u
#define TIP_MOST 8

typedef bvh_reference reference;
#define REFERENCE_CLAMPED 0x100u /* in the tag: bounds differ from the input's */

/* Twice the centre of a reference; 0 in lane 3. */
static inline float4 reference_center(const reference *r) {
  const int4 xyz = {-1, -1, -1, 0};
  return (float4)((int4)(r->side[0] + r->side[1]) & xyz);
}

/* Cuts go by these keys: twice the centre of a reference, and in lane 3 its size, the sum of its sides. That is finite,
 * since coordinates are at most 2^125. */
static inline float4 reference_keys(const reference *r) {
  const int4 size = {0, 0, 0, -1};
  const float4 sides = r->side[1] - r->side[0];
  return float4_select(size, float4_all(sides[0]) + float4_all(sides[1]) + float4_all(sides[2]),
                       r->side[0] + r->side[1]);
}

/* A node of the binary BVH: 64 bytes. The root is node 0. Children are the adjacent nodes 2 * pair and 2 * pair + 1. */
typedef struct build_node {
  float lower[3];
  uint32_t link; /* inner node: pair of its children; binary leaf: index of its first entry in `order` */
  float upper[3];
  uint32_t count; /* number of primitives below */
  union {
    float cost[BVH_WIDTH - 1];      /* cost[i]: of the subtree as at most i + 1 children of a wide node (collapse.c) */
    uint32_t others[BVH_WIDTH - 1]; /* of a wide node, once chosen: its children but the first, which is in
                                       link; then 0 (wide.c) */
  };
  uint32_t tag; /* kind, BUILD_NODE_BOTTOM, BUILD_NODE_MIXED, BUILD_NODE_LEAF, and the cover */
} build_node;

#define BUILD_NODE_KIND 0xFFu
#define BUILD_NODE_BOTTOM 0x100u /* has no children: a leaf of the binary BVH */
#define BUILD_NODE_MIXED 0x200u  /* contains several kinds */
#define BUILD_NODE_LEAF 0x400u   /* becomes a leaf when it is a child of a wide node */
#define BUILD_NODE_COVER (~0x7FFu)

/* The cover of a build node is the area of all primitives below, each by its bounds: a float without its last bits. */
static inline uint32_t cover_tag(float cover) {
  const union {
    float number;
    uint32_t bits;
  } as = {cover};
  return as.bits & BUILD_NODE_COVER;
}

static inline float cover_of(const build_node *b) {
  const union {
    uint32_t bits;
    float number;
  } as = {b->tag & BUILD_NODE_COVER};
  return as.number;
}

/* How areas and leaf costs are measured in this scene. */
typedef struct measure {
  float4 least, most; /* bounds are clamped to these */
  float faces;        /* 1; 0 for 2D scenes: faces across z have no area, which leaves half the perimeter */
  float scale;        /* a power of two that keeps areas within the range of float */
  uint32_t together;  /* binary logarithm of the number of primitives that a ray tests at once (a block) */
  uint32_t leaf_most; /* most blocks of a leaf */
  float leaf_cost;    /* cost of a block */
} measure;

/* Number of blocks of a leaf with `count` primitives. */
static inline uint32_t measured_blocks(const measure *m, uint32_t count) {
  return (count + (1u << m->together) - 1) >> m->together;
}

/* Extent of the clamped bounds: 0 where the bounds lie outside, as for a box with both z at infinity. */
static inline float4 measured_extent(const measure *m, aabb s) {
  return float4_max(float4_min(s.upper, m->most), m->least) - float4_min(float4_max(s.lower, m->least), m->most);
}

/* Half the surface of the clamped bounds, scaled. */
static inline float measured_area(const measure *m, aabb s) {
  const float4 extent = measured_extent(m, s) * m->scale;
  return extent[0] * extent[1] * m->faces + (extent[0] + extent[1]) * extent[2];
}

/* Number of wide nodes and blocks in the subtree of a wide node, without the node itself. */
typedef struct footprint {
  uint32_t nodes, blocks;
} footprint;

typedef struct bin_slot bin_slot;
typedef struct build_range build_range;

/* Maps a key to its cell. */
typedef struct curve_grid {
  float4 lower, scale; /* scale: 0 where it is not known */
} curve_grid;

typedef struct builder {
  const bvh_input *input;
  reference *references[2]; /* a range's references are in one of the two arrays, at the same indices in both, or
                             * ON_CURVE */
  uint32_t *order;          /* indices of the primitives, in the order of the binary leaves */
  build_node *build_nodes;  /* 2 * count nodes */
  footprint *footprints;    /* one for each build node */
  bin_slot *slots;          /* for ranges that are binned in parallel */
  keyed *curve;             /* BVH_FAST: the primitives in their order along the curve; NULL else */
  curve_grid grid;          /* BVH_FAST: cells along the curve */
  atomic_uint next_pair;
  bool mixed; /* the scene contains several kinds */
  bool sorts; /* BVH_FAST: divides along the curve */
  int bins;
  uint32_t threads;
  uint32_t tip_most; /* most primitives of a binary leaf, at most TIP_MOST; all of them have one kind */
  measure measure;
  pool_job growing;    /* piece i builds the subtree of ranges[i] */
  build_range *ranges; /* one for each TASK_MIN references, and one more */
  os_mutex lists;      /* a range is written and its piece added under this lock */
} builder;

static inline void build_node_bound(build_node *to, aabb bounds) {
  for (int axis = 0; axis < 3; axis++) {
    to->lower[axis] = bounds.lower[axis];
    to->upper[axis] = bounds.upper[axis];
  }
}

#define SWEEP_MAX 32u /* this many references or fewer are sorted, not binned */

/* A build node that is still to be divided. */
struct build_range {
  aabb keys; /* holds the keys of its references, centres but for a bin of its parent; not valid where count <=
                SWEEP_MAX */
  uint32_t build_node, first, count;
  uint32_t side;  /* index of the array that holds the references, or ON_CURVE */
  uint32_t depth; /* 0 for the root */
};

/* The references of a range are in no array: its primitives are in that part of the curve. Most ranges are divided
 * along the curve until they are binary leaves, so that only references of a task's next primitives are needed. */
#define ON_CURVE 2u

/* The ranges left and right of a cut. The caller fills in their keys, for example by range_keys. */
static inline void range_parts(const build_range *whole, uint32_t left, uint32_t side, build_range parts[2]) {
  for (int i = 0; i < 2; i++) {
    parts[i].first = whole->first + (i ? left : 0);
    parts[i].count = i ? whole->count - left : left;
    parts[i].side = side;
    parts[i].depth = whole->depth + 1;
  }
}

static inline aabb range_keys(const builder *b, const build_range *s) {
  const reference *r = b->references[s->side] + s->first;
  aabb keys = aabb_empty();
  for (uint32_t i = 0; i < s->count; i++) keys = aabb_add(keys, reference_keys(&r[i]));
  return keys;
}

/* ---- build.c ---- */

#define COORDINATE_MOST 0x1p125f /* the sum and the difference of two coordinates stay finite */
/* bounds: of the finite coordinates of all primitives. In a scene without a finite z, the depth in z is the larger side
 * in x and y, and faces across z have no area. */
measure bvh_measure(aabb bounds, const bvh_leaves *);
/* Fills references of some primitives, at most BVH_FILL_MOST. Bounds that are not finite, or too large, are replaced by
 * the ends of the scene's bounds, as far as these are known. */
void references_take(const builder *, const uint32_t *primitives, uint32_t count, reference *to);
/* The same of primitives that follow each other. */
void references_take_run(const builder *, uint32_t first, uint32_t count, reference *to);

/* ---- split.c ---- */

/* Divides the references of `whole`, 2 or more, into two ranges. Neither is empty. */
void split_range(const builder *, const build_range *whole, build_range parts[2]);
size_t split_slot_count(uint32_t count);
size_t split_slot_size(void);

/* ---- curve.c ---- */

/* The cells of a scene with these bounds. */
curve_grid curve_grid_of(float4 lower, float4 upper);
/* Notes where on the curve the primitives from `first` on are. */
void curve_note(const builder *, uint32_t first, const reference *, uint32_t count);
/* Sorts the primitives, all of which are noted. Returns false when memory runs out. */
bool curve_sort(builder *);
/* Fills references of a part of the curve, at most BVH_FILL_MOST. */
void curve_take(const builder *, uint32_t first, uint32_t count, reference *to);
/* Divides `whole` between two cells. Returns false where all primitives are in one cell. */
bool curve_divide(const builder *, const build_range *whole, build_range parts[2]);
/* The same range, its references in an array. */
build_range curve_leave(const builder *, const build_range *whole);

/* ---- collapse.c ---- */

double collapse_area(const measure *, const float lower[3], const float upper[3]);
/* Fills cost and BUILD_NODE_LEAF of a build node whose bounds, count, link, kind and children are known. */
void collapse_tip(const measure *, build_node *);
/* Computes bounds, count, kind and costs of an inner build node from its children. */
void collapse_finish(const builder *, uint32_t at, uint32_t pair);
/* Lists the children of the wide node that a build node becomes, in the order of their slots. Returns their number. */
int collapse_children(const build_node *build_nodes, uint32_t at, uint32_t children[BVH_WIDTH]);

/* ---- reinsert.c ---- */

/* Improves the BVH and keeps its binary leaves. The result may be deeper. Returns false when memory runs out. */
bool reinsert(builder *);

/* ---- wide.c ---- */

/* Writes nodes and blocks from the build nodes. Returns false when memory runs out; *out is then empty. */
bool wide_emit(builder *, bvh *out);
void wide_node_clear(bvh_node *);

#endif
