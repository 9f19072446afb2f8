/* What the builder's files share. */
#ifndef SLABCAST_TREE_PARTS_H
#define SLABCAST_TREE_PARTS_H

#include <math.h>
#include <stddef.h>

#include "../arithmetic.h"
#include "../radix.h"
#include "build.h"
#include "float4.h"
#include "memory.h"

#ifdef _OPENMP
#include <omp.h>
#define OMP(directive) _Pragma(#directive)
#else
#define OMP(directive)
#endif

/* Below this many primitives a subtree is one thread's work. */
#define TASK_MIN 4096u

/* A primitive while the BVH is built: its bounds travel with its index, so that memory is read in order. */
typedef union reference {
  struct {
    float lower[3];
    uint32_t index;
    float upper[3];
    uint32_t tag; /* its kind, and REFERENCE_CLAMPED */
  };
  float4 side[2]; /* lower, upper; lane 3 is not a number */
} reference;

#define REFERENCE_CLAMPED 0x100u /* bounds differ from the input's */

typedef struct aabb {
  float4 lower, upper;
} aabb;

static inline aabb aabb_empty(void) { return (aabb){float4_all(INFINITY), float4_all(-INFINITY)}; }
static inline aabb aabb_join(aabb a, aabb b) {
  return (aabb){float4_min(a.lower, b.lower), float4_max(a.upper, b.upper)};
}
static inline aabb aabb_add(aabb a, float4 point) {
  return (aabb){float4_min(a.lower, point), float4_max(a.upper, point)};
}

/* Twice the centre of a reference; 0 in lane 3. */
static inline float4 reference_center(const reference *r) {
  const int4 xyz = {-1, -1, -1, 0};
  return (float4)((int4)(r->side[0] + r->side[1]) & xyz);
}

/* A node of the binary BVH: 64 bytes. The root is 0, children are the neighbours 2 * pair and 2 * pair + 1. */
typedef struct build_node {
  float lower[3];
  uint32_t link; /* its children's pair; of a tip the first of its entries in `order` */
  float upper[3];
  uint32_t count;            /* primitives below */
  float cost[BVH_WIDTH - 1]; /* cost[i]: of the subtree as at most i + 1 children of a wide node (collapse.c) */
  uint32_t tag;              /* kind, BUILD_NODE_BOTTOM, BUILD_NODE_MIXED, BUILD_NODE_LEAF */
} build_node;

#define BUILD_NODE_KIND 0xFFu
#define BUILD_NODE_BOTTOM 0x100u /* has no children */
#define BUILD_NODE_MIXED 0x200u  /* holds several kinds */
#define BUILD_NODE_LEAF 0x400u   /* becomes a leaf when it is a child of a wide node */

/* How surfaces and leaves are measured in this scene. */
typedef struct measure {
  float4 least, most; /* bounds count as at most these */
  float faces;        /* 1; 0 for 2D scenes: no faces across z, so that half the perimeter is left */
  float scale;        /* a power of two that keeps areas within float */
  uint32_t together;  /* the binary logarithm of how many primitives a ray meets at once; */
  uint32_t leaf_most; /* so many times that are in a leaf at the most, */
  float leaf_cost;    /* and each time costs this */
} measure;

/* How many times a ray has to meet some of the primitives of a leaf. */
static inline uint32_t measured_blocks(const measure *m, uint32_t count) {
  return (count + (1u << m->together) - 1) >> m->together;
}

/* How large bounds count as: 0 where they lie beyond, a box with both z at infinity for one. */
static inline float4 measured_extent(const measure *m, aabb s) {
  return float4_max(float4_min(s.upper, m->most), m->least) - float4_min(float4_max(s.lower, m->least), m->most);
}

/* How many wide nodes and blocks the subtree of a wide node takes, itself not counted. */
typedef struct footprint {
  uint32_t nodes, blocks;
} footprint;

typedef struct bin_slot bin_slot;

typedef struct builder {
  const bvh_input *input;
  reference *references[2]; /* a node's are in one of them, in both in the same place */
  uint32_t *order;          /* the tips' primitives */
  build_node *build_nodes;  /* 2 * count */
  footprint *footprints;    /* by branch */
  bin_slot *slots;          /* for what is binned in parallel */
  keyed *curve;             /* BVH_FAST: what the references are sorted by; those of one cell may leave their order */
  uint32_t next_pair;       /* atomic */
  bool mixed;               /* several kinds in the scene */
  int bins, threads;
  uint32_t tip_most; /* no tip holds more primitives, of which there may be none of another kind */
  measure measure;
} builder;

/* ---- build.c ---- */

/* Bounds, count, kind and costs of an inner branch from its children. */
void build_node_finish(const builder *, uint32_t at, uint32_t pair);

/* ---- split.c ---- */

/* A node that is still to be divided. */
typedef struct build_range {
  aabb centers; /* of its references; meaningless when they are few */
  uint32_t build_node, first, count;
  uint32_t side;  /* which array of references */
  uint32_t depth; /* of the root: 0 */
} build_range;

#define SWEEP_MAX 32u /* so few are sorted, not binned */

/* Those left of a cut, and those right of it. Their centers are the caller's to fill in, by range_centers for one. */
void range_parts(const build_range *whole, uint32_t left, uint32_t side, build_range parts[2]);
aabb range_centers(const builder *, const build_range *);
/* Parts the references of `whole`, 2 or more, into those of two stems, none of them empty. */
void range_divide(const builder *, const build_range *whole, build_range parts[2]);
size_t bin_slot_count(uint32_t count);
size_t bin_slot_size(void);

/* ---- curve.c ---- */

/* Brings all references into the order of the curve; false when memory runs out. */
bool curve_sort(builder *, build_range *root);
/* Parts those of `whole` between two cells; false where there is no curve, or where all are in one cell. */
bool curve_divide(const builder *, const build_range *whole, build_range parts[2]);

/* ---- collapse.c ---- */

double bounds_area(const measure *, const float lower[3], const float upper[3]);
/* Fills cost and BUILD_NODE_LEAF of a branch whose bounds, count, link, kind and children are known. */
void collapse_tip(const measure *, build_node *);
void collapse_inner(const measure *, build_node *, const build_node children[2]);
/* The children of the wide node that a branch becomes; returns how many. */
int collapse_children(const build_node *build_nodes, uint32_t at, uint32_t children[BVH_WIDTH]);

/* ---- reinsert.c ---- */

/* A better BVH of the same tips, perhaps a deeper one; false when memory runs out. */
bool reinsert(builder *);

/* ---- wide.c ---- */

/* Nodes and blocks from the branches; false, and nothing in *out, when memory runs out. */
bool wide_emit(const builder *, bvh *out);
void node_clear(bvh_node *);

#endif
