/* Nodes lie behind their parents, so one pass from the last node to the first finds each after all below it. */
#include "bvh/touched.h"

#include <stdlib.h>
#include <string.h>

#include "bvh/parts.h"

/* ---- cost ---- */

/* In double, which no product of two sides overflows: no scale is needed. */
static double area_of(const bvh_touched *t, aabb b) {
  if (!(b.lower[0] <= b.upper[0])) return 0.0; /* nothing below */
  const double x = (double)b.upper[0] - (double)b.lower[0], y = (double)b.upper[1] - (double)b.lower[1];
  const double low = isfinite(b.lower[2]) ? (double)b.lower[2] : t->ends[0];
  const double high = isfinite(b.upper[2]) ? (double)b.upper[2] : t->ends[1];
  const double z = high > low ? high - low : 0.0;
  return x * y * t->faces + (x + y) * z;
}

static aabb slot_bounds(const bvh_node *node, int slot) {
  aabb b = aabb_empty();
  for (int i = 0; i < 3; i++) {
    b.lower[i] = node->bounds[i][slot];
    b.upper[i] = node->bounds[i + 3][slot];
  }
  return b;
}

static aabb node_bounds(const bvh_node *node) {
  float4 l[4], u[4];
  for (int i = 0; i < 3; i++) {
    l[i] = float4_min(float4_load(node->bounds[i]), float4_load(node->bounds[i] + 4));
    u[i] = float4_max(float4_load(node->bounds[i + 3]), float4_load(node->bounds[i + 3] + 4));
  }
  l[3] = l[2];
  u[3] = u[2];
  float4_transpose(&l[0], &l[1], &l[2], &l[3]);
  float4_transpose(&u[0], &u[1], &u[2], &u[3]);
  return (aabb){float4_min(float4_min(l[0], l[1]), float4_min(l[2], l[3])),
                float4_max(float4_max(u[0], u[1]), float4_max(u[2], u[3]))};
}

static double leaf_cost(const bvh_touched *t, uint32_t meta) {
  const uint32_t count = BVH_LEAF_BLOCK_COUNT(meta) * BVH_WIDTH;
  return t->leaf_cost * ((count + (1u << t->together) - 1) >> t->together);
}

static double node_cost(const bvh_touched *t, const bvh_node *node, aabb bounds) {
  double cost = (double)BVH_COST_NODE * area_of(t, bounds);
  for (int k = 0; k < BVH_WIDTH && node->meta[k] != 0; k++)
    cost += BVH_IS_INNER(node->meta[k]) ? t->costs[node->child[k]]
                                        : leaf_cost(t, node->meta[k]) * area_of(t, slot_bounds(node, k));
  return cost;
}

double bvh_touched_cost(const bvh_touched *t, const bvh_node *nodes) {
  const double area = area_of(t, node_bounds(nodes));
  return area > 0.0 ? t->costs[0] / area : t->flat_cost;
}

/* ---- making ---- */

static void sum_costs(bvh_touched *t, const bvh_node *nodes) {
  for (uint32_t n = t->count; n-- > 0;) t->costs[n] = node_cost(t, &nodes[n], node_bounds(&nodes[n]));
}

/* The cost below the first node, as if every area were 1. */
static double flat_cost(const bvh_touched *t, const bvh_node *nodes, uint32_t end) {
  double cost = 0.0;
  for (uint32_t n = 0; n < end; n++) {
    cost += (double)BVH_COST_NODE;
    for (int k = 0; k < BVH_WIDTH && nodes[n].meta[k] != 0; k++)
      if (!BVH_IS_INNER(nodes[n].meta[k])) cost += leaf_cost(t, nodes[n].meta[k]);
  }
  return cost;
}

bool bvh_touched_create(const bvh_node *nodes, uint32_t count, bvh_bounds bounds, const bvh_leaves *leaves,
                        bvh_touched *out) {
  const measure m = bvh_measure((aabb){float4_xyz(bounds.lower), float4_xyz(bounds.upper)}, leaves);
  uint32_t own = count; /* nodes before the second root */
  *out = (bvh_touched){.count = count,
                       .parents = malloc(count * sizeof *out->parents),
                       .slots = calloc(count + sizeof(uint64_t), 1),
                       .costs = malloc(count * sizeof *out->costs),
                       .ends = {(double)m.least[2], (double)m.most[2]},
                       .faces = (double)m.faces,
                       .leaf_cost = (double)m.leaf_cost,
                       .together = m.together};
  if (out->parents == NULL || out->slots == NULL || out->costs == NULL) return false;
  for (uint32_t n = 0; n < count; n++) out->parents[n] = BVH_NONE;
  for (uint32_t n = 0; n < count; n++) {
    if (n > 0 && out->parents[n] == BVH_NONE && own == count) own = n;
    for (int k = 0; k < BVH_WIDTH && nodes[n].meta[k] != 0; k++)
      if (BVH_IS_INNER(nodes[n].meta[k])) out->parents[nodes[n].child[k]] = n * BVH_WIDTH + (uint32_t)k;
  }
  sum_costs(out, nodes);
  out->flat_cost = flat_cost(out, nodes, own);
  return true;
}

void bvh_touched_free(bvh_touched *t) {
  free(t->parents);
  free(t->slots);
  free(t->costs);
}

/* ---- refitting ---- */

/* Returns whether the bounds were others. */
static bool put_bounds(bvh_node *node, uint32_t slot, aabb b) {
  bool others = false;
  for (int i = 0; i < 3; i++) {
    others |= (node->bounds[i][slot] != b.lower[i]) | (node->bounds[i + 3][slot] != b.upper[i]);
    node->bounds[i][slot] = b.lower[i];
    node->bounds[i + 3][slot] = b.upper[i];
  }
  return others;
}

/* The slots of inner children have their bounds from these. */
static void refit_node(bvh_touched *t, bvh_node *nodes, uint32_t n, bvh_leaf_refit *leaf, void *argument) {
  bvh_node *node = &nodes[n];
  for (uint32_t left = t->slots[n]; left != 0; left &= left - 1) {
    const uint32_t k = (uint32_t)__builtin_ctz(left), meta = node->meta[k];
    aabb bounds;
    if (BVH_IS_INNER(meta)) continue;
    leaf(argument, BVH_LEAF_KIND(meta), node->child[k], BVH_LEAF_BLOCK_COUNT(meta), &bounds);
    put_bounds(node, k, bounds);
  }
  t->slots[n] = 0;
  const aabb bounds = node_bounds(node);
  const double before = t->costs[n];
  t->costs[n] = node_cost(t, node, bounds);
  if (t->parents[n] == BVH_NONE) return;
  const uint32_t parent = t->parents[n] / BVH_WIDTH;
  if (put_bounds(&nodes[parent], t->parents[n] % BVH_WIDTH, bounds) || t->costs[n] != before)
    bvh_touch(t, t->parents[n]);
}

void bvh_refit_touched(bvh_touched *t, bvh_node *nodes, bvh_leaf_refit *leaf, void *argument) {
  for (uint32_t end = (t->count + 7) / 8 * 8; end > 0; end -= 8) {
    uint64_t some;
    memcpy(&some, t->slots + end - 8, sizeof some);
    if (some == 0) continue;
    for (uint32_t n = end; n-- > end - 8;)
      if (t->slots[n] != 0) refit_node(t, nodes, n, leaf, argument);
  }
}

void bvh_refit_path(bvh_touched *t, bvh_node *nodes, uint32_t place, bvh_leaf_refit *leaf, void *argument) {
  bvh_touch(t, place);
  for (uint32_t n = place / BVH_WIDTH; t->slots[n] != 0; n = t->parents[n] / BVH_WIDTH) {
    refit_node(t, nodes, n, leaf, argument);
    if (t->parents[n] == BVH_NONE) return;
  }
}

/* ---- finding a leaf ---- */

/* Nodes that a search enters, and how many can wait to be entered. */
enum { SEARCH_MOST = 48, WAITING_MOST = SEARCH_MOST * BVH_WIDTH };

typedef struct waiting {
  double added; /* cost, so far */
  uint32_t node;
} waiting;

typedef struct leaf_search {
  const bvh_touched *tree;
  const bvh_node *nodes;
  aabb bounds;
  bvh_takes *takes;
  const void *argument;
  double opened; /* cost of a leaf that is opened; infinite where none may be */
  double best;   /* least cost that was found, of `place` */
  uint32_t place, count;
  waiting list[WAITING_MOST]; /* the least last, among those of each node */
} leaf_search;

static void insert_waiting(leaf_search *s, uint32_t from, waiting w) {
  uint32_t at = s->count++;
  for (; at > from && s->list[at - 1].added < w.added; at--) s->list[at] = s->list[at - 1];
  s->list[at] = w;
}

static void search_node(leaf_search *s, const waiting *at) {
  const bvh_node *node = &s->nodes[at->node];
  const uint32_t from = s->count;
  uint32_t k = 0;
  for (; k < BVH_WIDTH && node->meta[k] != 0; k++) {
    const uint32_t meta = node->meta[k];
    const bool inner = BVH_IS_INNER(meta);
    const aabb there = slot_bounds(node, (int)k);
    const double grown = area_of(s->tree, aabb_join(there, s->bounds)) - area_of(s->tree, there);
    const double added = at->added + grown * (inner ? (double)BVH_COST_NODE : leaf_cost(s->tree, meta));
    if (added >= s->best) continue;
    if (inner) {
      insert_waiting(s, from, (waiting){added, node->child[k]});
    } else if (s->takes(s->argument, BVH_LEAF_KIND(meta), node->child[k], BVH_LEAF_BLOCK_COUNT(meta))) {
      s->best = added;
      s->place = at->node * BVH_WIDTH + k;
    }
  }
  if (k == BVH_WIDTH || at->added + s->opened >= s->best) return;
  s->best = at->added + s->opened;
  s->place = at->node * BVH_WIDTH + k;
}

uint32_t bvh_find_leaf(const bvh_touched *t, const bvh_node *nodes, aabb bounds, uint32_t instead, bool opens,
                       bvh_takes *takes, const void *argument) {
  leaf_search s = {.tree = t,
                   .nodes = nodes,
                   .bounds = bounds,
                   .takes = takes,
                   .argument = argument,
                   .opened = opens ? leaf_cost(t, 1) * area_of(t, bounds) : (double)INFINITY,
                   .best = (double)INFINITY,
                   .place = instead,
                   .count = 1,
                   .list = {{0.0, 0}}};
  for (int entered = 0; s.count > 0 && entered < SEARCH_MOST; entered++) {
    const waiting next = s.list[--s.count];
    if (next.added < s.best) search_node(&s, &next);
  }
  return s.place;
}
