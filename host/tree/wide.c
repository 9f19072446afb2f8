/* Wide nodes and blocks in memory order: a node's inner children are neighbours, and so are the blocks of its leaves;
 * then follows what lies below the first inner child, below the second, and so on. */
#include "parts.h"

/* What lies below and including a wide node. */
typedef struct yield {
  uint32_t nodes, blocks; /* nodes: itself not counted */
  uint32_t depth;
  uint64_t used; /* slots */
  double cost;   /* times the root's area */
} yield;

static uint32_t branch_blocks(const branch *b) { return (b->count - 1) / TREE_WIDTH + 1; }

/* The area of a branch, 1 in scenes whose root has none. */
static double weight(const builder *b, const branch *of) {
  const branch *root = &b->branches[0];
  if (!(bounds_area(&b->measure, root->lower, root->upper) > 0.0)) return 1.0;
  return bounds_area(&b->measure, of->lower, of->upper);
}

/* ---- counting ---- */

static yield count_below(const builder *b, uint32_t at);

static void count_children(const builder *b, const uint32_t *children, int count, yield below[TREE_WIDTH]) {
  for (int i = 0; i < count; i++) {
    const branch *child = &b->branches[children[i]];
    if (child->tag & BRANCH_LEAF) continue;
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
static yield count_below(const builder *b, uint32_t at) {
  uint32_t children[TREE_WIDTH];
  const int count = collapse_children(b->branches, at, children);
  yield below[TREE_WIDTH], all = {0};
  count_children(b, children, count, below);
  all.used = (uint64_t)count;
  all.cost = (double)TREE_COST_NODE * weight(b, &b->branches[at]);
  for (int i = 0; i < count; i++) {
    const branch *child = &b->branches[children[i]];
    if (child->tag & BRANCH_LEAF) {
      all.blocks += branch_blocks(child);
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

void node_clear(tree_node *node) {
  for (int slot = 0; slot < TREE_WIDTH; slot++) {
    for (int row = 0; row < 6; row++) node->bounds[row][slot] = row < 3 ? INFINITY : -INFINITY;
    node->child[slot] = node->meta[slot] = 0;
  }
}

/* All primitives below a branch, from left to right. */
static void gather(const builder *b, const branch *from, uint32_t **to) {
  if (from->tag & BRANCH_TIP) {
    for (uint32_t i = 0; i < from->count; i++) *(*to)++ = b->order[from->link + i];
    return;
  }
  gather(b, &b->branches[2 * (size_t)from->link], to);
  gather(b, &b->branches[2 * (size_t)from->link + 1], to);
}

static void sort_ascending(uint32_t *list, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    const uint32_t moved = list[i];
    uint32_t k = i;
    for (; k > 0 && list[k - 1] > moved; k--) list[k] = list[k - 1];
    list[k] = moved;
  }
}

static void fill_leaf(const builder *b, const branch *leaf, uint32_t first, tree *out) {
  uint32_t list[TREE_LEAF_BLOCKS * TREE_WIDTH], *end = list;
  gather(b, leaf, &end);
  for (uint32_t block = 0; block < branch_blocks(leaf); block++) {
    uint32_t *from = list + block * TREE_WIDTH, *to = out->blocks[first + block].primitives;
    const uint32_t rest = leaf->count - block * TREE_WIDTH, count = rest < TREE_WIDTH ? rest : TREE_WIDTH;
    sort_ascending(from, count);
    for (uint32_t i = 0; i < TREE_WIDTH; i++) to[i] = i < count ? from[i] : TREE_NONE;
    out->block_kinds[first + block] = (uint8_t)(leaf->tag & BRANCH_KIND);
  }
}

static uint32_t logarithm(uint32_t count) {
  uint32_t log = 0;
  while (count >>= 1) log++;
  return log;
}

static void fill_slot(tree_node *node, int slot, const branch *child, uint32_t index, uint32_t meta) {
  for (int axis = 0; axis < 3; axis++) {
    node->bounds[axis][slot] = child->lower[axis];
    node->bounds[axis + 3][slot] = child->upper[axis];
  }
  node->child[slot] = index;
  node->meta[slot] = meta;
}

/* Node `index`, and what lies below it from `next` on. */
static void fill_below(const builder *b, uint32_t at, uint32_t index, footprint next, tree *out) {
  uint32_t children[TREE_WIDTH];
  const int count = collapse_children(b->branches, at, children);
  tree_node *node = &out->nodes[index];
  node_clear(node);
  for (int i = 0; i < count; i++) {
    const branch *child = &b->branches[children[i]];
    if (!(child->tag & BRANCH_LEAF)) {
      fill_slot(node, i, child, next.nodes++, TREE_INNER + logarithm(child->count));
      continue;
    }
    const uint32_t blocks = branch_blocks(child);
    fill_slot(node, i, child, next.blocks, TREE_LEAF(child->tag & BRANCH_KIND, blocks));
    fill_leaf(b, child, next.blocks, out);
    next.blocks += blocks;
  }
  for (int i = 0; i < count; i++) {
    const uint32_t child = children[i];
    if (b->branches[child].tag & BRANCH_LEAF) continue;
    if (b->branches[child].count >= TASK_MIN) {
      OMP(omp task default(none) firstprivate(b, child, node, i, next, out))
      fill_below(b, child, node->child[i], next, out);
    } else {
      fill_below(b, child, node->child[i], next, out);
    }
    next.nodes += b->footprints[child].nodes;
    next.blocks += b->footprints[child].blocks;
  }
}

static bool allocate(const yield *all, tree *out) {
  out->node_count = all->nodes + 1;
  out->block_count = all->blocks;
  out->nodes = tree_allocate(out->node_count, sizeof *out->nodes);
  out->blocks = tree_allocate(out->block_count, sizeof *out->blocks);
  out->block_kinds = tree_allocate(out->block_count, sizeof *out->block_kinds);
  return out->nodes && out->blocks && out->block_kinds;
}

bool wide_emit(const builder *b, tree *out) {
  const bool parallel = b->input->count >= TASK_MIN;
  const double root = weight(b, &b->branches[0]);
  yield all = {0};
  (void)parallel; /* where there is no OpenMP */
  OMP(omp parallel num_threads(b->threads) if (parallel)) {
    ARITHMETIC callers = arithmetic_begin();
    OMP(omp single)
    all = count_below(b, 0);
  }
  if (!allocate(&all, out)) {
    tree_free(out);
    return false;
  }
  OMP(omp parallel num_threads(b->threads) if (parallel)) {
    ARITHMETIC callers = arithmetic_begin();
    OMP(omp single)
    fill_below(b, 0, 0, (footprint){1, 0}, out);
  }
  out->depth = all.depth;
  out->sah_cost = all.cost / root;
  out->occupancy_nodes = (double)all.used / ((double)out->node_count * TREE_WIDTH);
  out->occupancy_blocks = (double)b->input->count / ((double)out->block_count * TREE_WIDTH);
  return true;
}
