/* Quantised nodes: bounds as bytes, children in the order in which rays visit them, leaves with the number of their
 * primitives. The inner children of a node are adjacent in the BVH, and so are the blocks of its leaves. Compression
 * keeps them adjacent. */
#include "bvh/compressed.h"

#include <math.h>
#include <stdlib.h>

#include "base/pool.h"
#include "maths/primitive.h"
#include "maths/quantise.h"

uint32_t compressed_primitive_units(uint32_t kind) { return BLOCK_UNITS(primitive_floats(kind), 1, COMPRESSED_UNIT); }

uint32_t bvh_block_count(const bvh *t, uint32_t b) {
  uint32_t count = 0;
  while (count < BVH_WIDTH && t->blocks[b].primitives[count] != BVH_NONE) count++;
  return count;
}

/* ---- slots ---- */

/* The centre of each child along each axis, relative to the mean of all centres; 0 where a child has none. */
static void middles_of(const bvh_node *node, double middle[BVH_WIDTH][3]) {
  for (int axis = 0; axis < 3; axis++) {
    double sum = 0.0;
    int count = 0;
    for (int k = 0; k < BVH_WIDTH; k++) {
      middle[k][axis] = node->meta[k] == 0 ? NAN : 0.5 * node->bounds[axis][k] + 0.5 * node->bounds[axis + 3][k];
      if (!isfinite(middle[k][axis])) continue;
      sum += middle[k][axis];
      count++;
    }
    for (int k = 0; k < BVH_WIDTH; k++)
      middle[k][axis] = isfinite(middle[k][axis]) ? middle[k][axis] - sum / count : 0.0;
  }
}

/* How far a child lies towards the corner of a slot. Bit `axis` of the slot is set where the corner is the upper
 * one. */
static double fitness(const double middle[3], int place) {
  double sum = 0.0;
  for (int axis = 0; axis < 3; axis++) sum += place >> axis & 1 ? middle[axis] : -middle[axis];
  return sum;
}

/* Greedy assignment: repeatedly takes the child and the free slot with the largest fitness. */
compressed_slots compressed_arrange(const bvh_node *node) {
  compressed_slots slots;
  double middle[BVH_WIDTH][3];
  bool left[BVH_WIDTH];
  int count = 0;
  middles_of(node, middle);
  for (int k = 0; k < BVH_WIDTH; k++) {
    slots.child[k] = -1;
    left[k] = node->meta[k] != 0;
    count += left[k];
  }
  for (; count > 0; count--) {
    int best = 0, place = 0;
    double most = -INFINITY; /* fitness is finite */
    for (int k = 0; k < BVH_WIDTH; k++)
      for (int p = 0; left[k] && p < BVH_WIDTH; p++) {
        const double fit = fitness(middle[k], p);
        if (slots.child[p] >= 0 || !(fit > most)) continue;
        best = k;
        place = p;
        most = fit;
      }
    slots.child[place] = best;
    left[best] = false;
  }
  return slots;
}

/* ---- bounds ---- */

static void put_byte(uint32_t words[2], int k, uint32_t byte) { words[k / 4] |= byte << (8 * (k % 4)); }

void compressed_bounds(const bvh_node *node, const compressed_slots *slots, compressed_node *out) {
  bvh_node arranged;
  for (int p = 0; p < BVH_WIDTH; p++) {
    const int k = slots->child[p];
    for (int i = 0; i < 6; i++) arranged.bounds[i][p] = k >= 0 ? node->bounds[i][k] : i < 3 ? INFINITY : -INFINITY;
  }
  *out = (compressed_node){0};
  quantise_bounds(&arranged, out);
}

void compressed_open(compressed_node *nodes, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (int axis = 0; axis < 3; axis++) {
      nodes[i].origin[axis] = 0.0f;
      nodes[i].scales |= COMPRESSED_UNBOUNDED << (8 * axis);
      nodes[i].planes[axis][0] = nodes[i].planes[axis][1] = 0; /* any other number of steps is +inf to points */
    }
}

/* ---- the whole ---- */

static uint32_t leaf_count(const bvh *t, uint32_t first, uint32_t meta) {
  const uint32_t blocks = BVH_LEAF_BLOCK_COUNT(meta);
  return (blocks - 1) * BVH_WIDTH + bvh_block_count(t, first + blocks - 1);
}

static uint32_t leaf_units(const bvh *t, uint32_t first, uint32_t meta) {
  return leaf_count(t, first, meta) * compressed_primitive_units(BVH_LEAF_KIND(meta));
}

/* Places the children that are inner nodes, and the primitives of those that are leaves. */
static void place_children(const bvh *t, uint32_t n, uint32_t *index, uint32_t *places) {
  const bvh_node *node = &t->nodes[n];
  const compressed_slots slots = compressed_arrange(node);
  uint32_t next = UINT32_MAX, unit = UINT32_MAX;
  for (int k = 0; k < BVH_WIDTH; k++) {
    if (node->meta[k] == 0) continue;
    if (BVH_IS_INNER(node->meta[k]))
      next = node->child[k] < next ? node->child[k] : next;
    else
      unit = places[node->child[k]] < unit ? places[node->child[k]] : unit;
  }
  for (int p = 0; p < BVH_WIDTH; p++) {
    const int k = slots.child[p];
    if (k < 0) continue;
    const uint32_t child = node->child[k], meta = node->meta[k];
    if (BVH_IS_INNER(meta)) {
      index[child] = next++;
      continue;
    }
    for (uint32_t b = 0; b < BVH_LEAF_BLOCK_COUNT(meta); b++)
      places[child + b] = unit + b * BVH_WIDTH * compressed_primitive_units(BVH_LEAF_KIND(meta));
    unit += leaf_units(t, child, meta);
  }
}

static void write_node(const bvh *t, uint32_t n, const uint32_t *index, const uint32_t *places, compressed_node *out) {
  const bvh_node *node = &t->nodes[n];
  const compressed_slots slots = compressed_arrange(node);
  bool inner = false, leaf = false;
  compressed_bounds(node, &slots, out);
  for (int p = 0; p < BVH_WIDTH; p++) {
    const int k = slots.child[p];
    if (k < 0) continue;
    const uint32_t child = node->child[k], meta = node->meta[k];
    if (BVH_IS_INNER(meta)) {
      if (!inner) out->child = index[child];
      inner = true;
      out->scales |= 1u << (24 + p);
      put_byte(out->meta, p, COMPRESSED_INNER);
    } else {
      if (!leaf) out->leaf = places[child];
      leaf = true;
      put_byte(out->meta, p, COMPRESSED_LEAF(BVH_LEAF_KIND(meta), leaf_count(t, child, meta)));
    }
  }
}

enum { NODES_A_PIECE = 512 };

typedef struct compression {
  const bvh *from;
  uint32_t *index, *places;
  compressed_node *nodes;
} compression;

static void place_some(void *argument, size_t first, size_t end) {
  const compression *c = argument;
  for (size_t n = first; n < end; n++) place_children(c->from, (uint32_t)n, c->index, c->places);
}

static void write_some(void *argument, size_t first, size_t end) {
  const compression *c = argument;
  for (size_t n = first; n < end; n++) write_node(c->from, (uint32_t)n, c->index, c->places, &c->nodes[c->index[n]]);
}

bool compressed_emit(const bvh *t, uint32_t *places, compressed_node *nodes, uint32_t threads) {
  uint32_t *index = malloc(t->node_count * sizeof *index);
  if (index == NULL) return false;
  index[0] = 0;
  compression c = {t, index, places, nodes};
  pool_loop(threads, t->node_count, NODES_A_PIECE, place_some, &c);
  pool_loop(threads, t->node_count, NODES_A_PIECE, write_some, &c);
  free(index);
  return true;
}
