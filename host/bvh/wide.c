/* Writes wide nodes and blocks in memory order. The inner children of a node are adjacent, and so are the blocks of its
 * leaves. Then follows the subtree of the first inner child, then that of the second, and so on. */
#include <stdlib.h>

#include "parts.h"

/* Size of the subtree of a wide node, with the node itself. */
typedef struct subtree_size {
  uint32_t nodes, blocks; /* nodes: without the node itself */
  uint32_t depth;
  uint64_t used; /* used slots */
  double cost;   /* in units of the root's area */
} subtree_size;

static uint32_t build_node_blocks(const build_node *b) { return (b->count - 1) / BVH_WIDTH + 1; }

/* The area of a build node; 1 in scenes whose root has no area. */
static double weight(const builder *b, const build_node *of) {
  const build_node *root = &b->build_nodes[0];
  if (!(bounds_area(&b->measure, root->lower, root->upper) > 0.0)) return 1.0;
  return bounds_area(&b->measure, of->lower, of->upper);
}

/* ---- counting ---- */

static subtree_size count_below(const builder *b, uint32_t at);

static void count_children(const builder *b, const uint32_t *children, int count, subtree_size below[BVH_WIDTH]) {
  for (int i = 0; i < count; i++) {
    const build_node *child = &b->build_nodes[children[i]];
    if (child->tag & BUILD_NODE_LEAF) continue;
    if (child->count >= TASK_MIN) {
      OMP(omp task default(none) firstprivate(i, b, children) shared(below))
      below[i] = count_below(b, children[i]);
    } else {
      below[i] = count_below(b, children[i]);
    }
  }
  OMP(omp taskwait)
}

/* Fills the footprints. */
static subtree_size count_below(const builder *b, uint32_t at) {
  uint32_t children[BVH_WIDTH];
  const int count = collapse_children(b->build_nodes, at, children);
  subtree_size below[BVH_WIDTH], all = {0};
  count_children(b, children, count, below);
  all.used = (uint64_t)count;
  all.cost = (double)BVH_COST_NODE * weight(b, &b->build_nodes[at]);
  for (int i = 0; i < count; i++) {
    const build_node *child = &b->build_nodes[children[i]];
    if (child->tag & BUILD_NODE_LEAF) {
      all.blocks += build_node_blocks(child);
      all.cost += (double)b->measure.leaf_cost * measured_blocks(&b->measure, child->count) * weight(b, child);
      continue;
    }
    all.nodes += below[i].nodes + 1;
    all.blocks += below[i].blocks;
    all.used += below[i].used;
    all.cost += below[i].cost;
    if (below[i].depth > all.depth) all.depth = below[i].depth;
  }
  all.depth++;
  b->footprints[at] = (footprint){all.nodes, all.blocks};
  return all;
}

/* ---- filling ---- */

void node_clear(bvh_node *node) {
  for (int slot = 0; slot < BVH_WIDTH; slot++) {
    for (int row = 0; row < 6; row++) node->bounds[row][slot] = row < 3 ? INFINITY : -INFINITY;
    node->child[slot] = node->meta[slot] = 0;
  }
}

/* Lists all primitives below a build node, from left to right. */
static void gather(const builder *b, const build_node *from, uint32_t **to) {
  if (from->tag & BUILD_NODE_BOTTOM) {
    for (uint32_t i = 0; i < from->count; i++) *(*to)++ = b->order[from->link + i];
    return;
  }
  gather(b, &b->build_nodes[2 * (size_t)from->link], to);
  gather(b, &b->build_nodes[2 * (size_t)from->link + 1], to);
}

static void sort_ascending(uint32_t *list, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    const uint32_t moved = list[i];
    uint32_t k = i;
    for (; k > 0 && list[k - 1] > moved; k--) list[k] = list[k - 1];
    list[k] = moved;
  }
}

static void fill_leaf(const builder *b, const build_node *leaf, uint32_t first, bvh *out) {
  uint32_t list[BVH_LEAF_BLOCKS * BVH_WIDTH], *end = list;
  gather(b, leaf, &end);
  for (uint32_t block = 0; block < build_node_blocks(leaf); block++) {
    uint32_t *from = list + block * BVH_WIDTH, *to = out->blocks[first + block].primitives;
    const uint32_t rest = leaf->count - block * BVH_WIDTH, count = rest < BVH_WIDTH ? rest : BVH_WIDTH;
    sort_ascending(from, count);
    for (uint32_t i = 0; i < BVH_WIDTH; i++) to[i] = i < count ? from[i] : BVH_NONE;
    out->block_kinds[first + block] = (uint8_t)(leaf->tag & BUILD_NODE_KIND);
  }
}

static uint32_t logarithm(uint32_t count) {
  uint32_t log = 0;
  while (count >>= 1) log++;
  return log;
}

static void fill_slot(bvh_node *node, int slot, const build_node *child, uint32_t index, uint32_t meta) {
  for (int axis = 0; axis < 3; axis++) {
    node->bounds[axis][slot] = child->lower[axis];
    node->bounds[axis + 3][slot] = child->upper[axis];
  }
  node->child[slot] = index;
  node->meta[slot] = meta;
}

/* Writes node `index`. Its subtree follows from `next` on. */
static void fill_below(const builder *b, uint32_t at, uint32_t index, footprint next, bvh *out) {
  uint32_t children[BVH_WIDTH];
  const int count = collapse_children(b->build_nodes, at, children);
  bvh_node *node = &out->nodes[index];
  node_clear(node);
  for (int i = 0; i < count; i++) {
    const build_node *child = &b->build_nodes[children[i]];
    if (!(child->tag & BUILD_NODE_LEAF)) {
      fill_slot(node, i, child, next.nodes++, BVH_INNER + logarithm(child->count));
      continue;
    }
    const uint32_t blocks = build_node_blocks(child);
    fill_slot(node, i, child, next.blocks, BVH_LEAF(child->tag & BUILD_NODE_KIND, blocks));
    fill_leaf(b, child, next.blocks, out);
    next.blocks += blocks;
  }
  for (int i = 0; i < count; i++) {
    const uint32_t child = children[i];
    if (b->build_nodes[child].tag & BUILD_NODE_LEAF) continue;
    if (b->build_nodes[child].count >= TASK_MIN) {
      OMP(omp task default(none) firstprivate(b, child, node, i, next, out))
      fill_below(b, child, node->child[i], next, out);
    } else {
      fill_below(b, child, node->child[i], next, out);
    }
    next.nodes += b->footprints[child].nodes;
    next.blocks += b->footprints[child].blocks;
  }
}

static bool allocate(const subtree_size *all, bvh *out) {
  out->node_count = all->nodes + 1;
  out->block_count = all->blocks;
  out->nodes = bvh_allocate(out->node_count, sizeof *out->nodes);
  out->blocks = bvh_allocate(out->block_count, sizeof *out->blocks);
  out->block_kinds = bvh_allocate(out->block_count, sizeof *out->block_kinds);
  return out->nodes && out->blocks && out->block_kinds;
}

bool wide_emit(const builder *b, bvh *out) {
  const bool parallel = b->input->count >= TASK_MIN;
  const double root = weight(b, &b->build_nodes[0]);
  subtree_size all = {0};
  (void)parallel; /* unused without OpenMP */
  OMP(omp parallel num_threads(b->threads) if (parallel)) {
    ARITHMETIC callers = arithmetic_begin();
    OMP(omp single)
    all = count_below(b, 0);
  }
  if (!allocate(&all, out)) {
    bvh_free(out);
    return false;
  }
  OMP(omp parallel num_threads(b->threads) if (parallel)) {
    ARITHMETIC callers = arithmetic_begin();
    OMP(omp single)
    fill_below(b, 0, 0, (footprint){1, 0}, out);
  }
  out->depth = all.depth;
  out->sah_cost = all.cost / root;
  out->occupancy_nodes = (double)all.used / ((double)out->node_count * BVH_WIDTH);
  out->occupancy_blocks = (double)b->input->count / ((double)out->block_count * BVH_WIDTH);
  return true;
}

void bvh_free(bvh *t) {
  free(t->nodes);
  free(t->blocks);
  free(t->block_kinds);
  *t = (bvh){0};
}
