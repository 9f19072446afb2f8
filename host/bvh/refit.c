/* The top of the BVH, breadth first, is listed. The subtrees below it are shared out. One thread then refits the top,
 * from its last node to the root. */
#include "bvh/refit.h"

#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "bvh/compressed.h"
#include "bvh/parts.h"
#include "maths/quantise.h"

/* Enough subtrees that none is most of the work. In a BVH that is long and thin fewer are found. */
enum { SUBTREES = 512, TOP_MOST = 512, LISTED_MOST = 1 + TOP_MOST * BVH_WIDTH };

/* types.h has no use for this one: kernels compare a byte with each kind that the scene holds. */
#define COMPRESSED_LEAF_KIND(meta) (SLAB_SPHERE + ((meta) >> 5))

/* A child of a node that is being refitted. */
typedef struct child {
  int slot;
  bool inner;
  uint32_t at;          /* index of a node, or where the leaf's first block begins */
  uint32_t kind, count; /* of a leaf: blocks, which are primitives in the compressed layout */
} child;

/* The facts about a subtree that its parent needs. */
typedef struct refitted {
  aabb bounds;
  uint64_t primitives;
  double cost, flat_cost; /* times area; with every area 1 */
} refitted;

/* A node at the top, or the root of a subtree that is shared out. */
typedef struct listed {
  aabb below[BVH_WIDTH]; /* of the children, by slot */
  refitted sum;
  uint32_t node, parent; /* parent: in the list */
  int slot;              /* in the parent */
} listed;

typedef struct refit {
  const bvh_refit_input *input;
  measure measure;
  listed *list;
  uint32_t top, count; /* of the list: nodes at the top, and with subtrees */
} refit;

/* ---- the two layouts ---- */

static int wide_children(const bvh_node *node, child children[BVH_WIDTH]) {
  int count = 0;
  for (int k = 0; k < BVH_WIDTH; k++) {
    const uint32_t meta = node->meta[k];
    if (meta == 0) continue;
    children[count++] = (child){k, BVH_IS_INNER(meta), node->child[k], BVH_LEAF_KIND(meta), BVH_LEAF_BLOCK_COUNT(meta)};
  }
  return count;
}

static int compressed_children(const compressed_node *node, child children[BVH_WIDTH]) {
  uint32_t next = node->child, unit = node->leaf;
  int count = 0;
  for (int k = 0; k < BVH_WIDTH; k++) {
    const uint32_t meta = node->meta[k / 4] >> (8 * (k % 4)) & 0xFFu;
    if (meta == 0) continue;
    child *c = &children[count++];
    *c = (child){.slot = k, .inner = meta == COMPRESSED_INNER, .at = next};
    if (c->inner) {
      next++;
      continue;
    }
    c->at = unit;
    c->kind = COMPRESSED_LEAF_KIND(meta);
    c->count = COMPRESSED_LEAF_COUNT(meta);
    unit += c->count * compressed_primitive_units(c->kind);
  }
  return count;
}

static int children_in(bool compressed, const void *nodes, size_t node, child children[BVH_WIDTH]) {
  return compressed ? compressed_children((const compressed_node *)nodes + node, children)
                    : wide_children((const bvh_node *)nodes + node, children);
}

static int children_of(const refit *r, uint32_t node, child children[BVH_WIDTH]) {
  return children_in(r->input->compressed, r->input->nodes, node, children);
}

void bvh_each_leaf(bool compressed, const void *nodes, size_t n, bvh_leaf_visit *visit, void *argument) {
  for (size_t node = 0; node < n; node++) {
    child children[BVH_WIDTH];
    const int count = children_in(compressed, nodes, node, children);
    for (int i = 0; i < count; i++) {
      const child *c = &children[i];
      if (!c->inner) visit(argument, c->kind, c->at, c->count, (uint32_t)node * BVH_WIDTH + (uint32_t)c->slot);
    }
  }
}

/* Six rows of the bounds of children. Vectors all the way: memory that is stored in parts and then loaded whole waits
 * until the parts are in the cache, behind all stores before them. */
static void write_rows(const aabb below[BVH_WIDTH], float rows[6][BVH_WIDTH]) {
  for (int k = 0; k < BVH_WIDTH; k += 4) {
    float4 l[4], u[4];
    for (int i = 0; i < 4; i++) {
      l[i] = below[k + i].lower;
      u[i] = below[k + i].upper;
    }
    float4_transpose(&l[0], &l[1], &l[2], &l[3]);
    float4_transpose(&u[0], &u[1], &u[2], &u[3]);
    for (int axis = 0; axis < 3; axis++) {
      float4_store(l[axis], rows[axis] + k);
      float4_store(u[axis], rows[axis + 3] + k);
    }
  }
}

/* Writes a node with the bounds of its children; the rest is as it was. */
static void write_node(const refit *r, uint32_t node, const aabb below[BVH_WIDTH]) {
  if (r->input->compressed) {
    const compressed_node *from = (const compressed_node *)r->input->nodes + node;
    compressed_node *to = (compressed_node *)r->input->refitted + node;
    bvh_node exact;
    write_rows(below, exact.bounds);
    *to = *from;
    quantise_again(&exact, to);
    return;
  }
  const bvh_node *from = (const bvh_node *)r->input->nodes + node;
  bvh_node *to = (bvh_node *)r->input->refitted + node;
  write_rows(below, to->bounds);
  if (to == from) return;
  memcpy(to->child, from->child, sizeof to->child);
  memcpy(to->meta, from->meta, sizeof to->meta);
}

/* ---- nodes ---- */

/* In units of the measure's scale: the cost is a quotient of areas. */
static double area_of(const refit *r, aabb bounds) {
  if (!(bounds.lower[0] <= bounds.upper[0])) return 0.0; /* nothing below */
  return (double)measured_area(&r->measure, bounds);
}

static void add_cost(const refit *r, refitted *sum, aabb bounds, double cost) {
  sum->cost += cost * area_of(r, bounds);
  sum->flat_cost += cost;
}

static refitted refit_leaf(const refit *r, const child *leaf) {
  const bvh_refit_input *input = r->input;
  refitted of = {.cost = 0};
  of.primitives = input->leaf(input->argument, leaf->kind, leaf->at, leaf->count, &of.bounds);
  const uint32_t lanes = input->compressed ? 1 : BVH_WIDTH;
  add_cost(r, &of, of.bounds, (double)r->measure.leaf_cost * measured_blocks(&r->measure, leaf->count * lanes));
  return of;
}

static void put(aabb bounds[BVH_WIDTH], refitted *sum, int slot, const refitted *below) {
  bounds[slot] = below->bounds;
  sum->bounds = aabb_join(sum->bounds, below->bounds);
  sum->primitives += below->primitives;
  sum->cost += below->cost;
  sum->flat_cost += below->flat_cost;
}

static refitted nothing_yet(aabb below[BVH_WIDTH]) {
  for (int k = 0; k < BVH_WIDTH; k++) below[k] = aabb_empty();
  return (refitted){aabb_empty(), 0, 0, 0};
}

/* Requests the inner children of a wide node, which are written last but found first. */
static void request_nodes(const refit *r, const child children[BVH_WIDTH], int count) {
  if (r->input->compressed) return;
  for (int i = 0; i < count; i++)
    if (children[i].inner) cache_request((const bvh_node *)r->input->refitted + children[i].at, sizeof(bvh_node));
}

static refitted refit_below(const refit *r, uint32_t node) {
  child children[BVH_WIDTH];
  aabb bounds[BVH_WIDTH];
  const int count = children_of(r, node, children);
  refitted sum = nothing_yet(bounds);
  request_nodes(r, children, count);
  for (int i = 0; i < count; i++) {
    const child *c = &children[i];
    const refitted below = c->inner ? refit_below(r, c->at) : refit_leaf(r, c);
    put(bounds, &sum, c->slot, &below);
  }
  write_node(r, node, bounds);
  add_cost(r, &sum, sum.bounds, (double)BVH_COST_NODE);
  return sum;
}

/* ---- the top ---- */

static void list_node(refit *r, uint32_t node, uint32_t parent, int slot) {
  listed *l = &r->list[r->count++];
  *l = (listed){.node = node, .parent = parent, .slot = slot};
  l->sum = nothing_yet(l->below);
}

static void list_top(refit *r) {
  list_node(r, r->input->root, 0, 0);
  while (r->top < r->count && r->top < TOP_MOST && r->count - r->top < SUBTREES) {
    child children[BVH_WIDTH];
    const uint32_t at = r->top++;
    const int count = children_of(r, r->list[at].node, children);
    for (int i = 0; i < count; i++)
      if (children[i].inner) list_node(r, children[i].at, at, children[i].slot);
  }
}

static void refit_subtrees(void *argument, size_t first, size_t end) {
  const refit *r = argument;
  for (listed *l = &r->list[r->top + first]; l < &r->list[r->top + end]; l++) l->sum = refit_below(r, l->node);
}

/* Subtrees that follow each other are near each other in memory, so that each thread has some in a row. */
static void refit_all_subtrees(refit *r) {
  enum { RUNS_A_THREAD = 16 };
  const uint32_t threads = r->input->threads == 0 ? pool_threads() : r->input->threads, subtrees = r->count - r->top;
  const size_t run = subtrees / ((size_t)threads * RUNS_A_THREAD);
  pool_loop(threads, subtrees, run > 0 ? run : 1, refit_subtrees, r);
}

/* The inner children are done. */
static void refit_top_node(const refit *r, listed *l) {
  child children[BVH_WIDTH];
  const int count = children_of(r, l->node, children);
  for (int i = 0; i < count; i++) {
    if (children[i].inner) continue;
    const refitted below = refit_leaf(r, &children[i]);
    put(l->below, &l->sum, children[i].slot, &below);
  }
  write_node(r, l->node, l->below);
  add_cost(r, &l->sum, l->sum.bounds, (double)BVH_COST_NODE);
}

bool bvh_refit(const bvh_refit_input *input, bvh_refit_outcome *out) {
  const aabb bounds = {float4_xyz(input->bounds.lower), float4_xyz(input->bounds.upper)};
  refit r = {.input = input, .measure = bvh_measure(bounds, &input->leaves)};
  r.list = malloc(LISTED_MOST * sizeof *r.list);
  if (r.list == NULL) return false;
  list_top(&r);
  refit_all_subtrees(&r);
  for (uint32_t i = r.count; i-- > 0;) {
    listed *l = &r.list[i], *parent = &r.list[l->parent];
    if (i < r.top) refit_top_node(&r, l);
    if (i > 0) put(parent->below, &parent->sum, l->slot, &l->sum);
  }
  const refitted *root = &r.list[0].sum;
  const double area = area_of(&r, root->bounds);
  *out = (bvh_refit_outcome){root->primitives, area > 0.0 ? root->cost / area : root->flat_cost};
  free(r.list);
  return true;
}
