/* Writes wide nodes and blocks in memory order. The inner children of a node are adjacent, and so are the blocks of its
 * leaves. Then follows the subtree of the first inner child, then that of the second, and so on.
 *
 * The top of the BVH is counted and filled by one thread. The largest subtrees of wide nodes with fewer than TASK_MIN
 * primitives, here small subtrees, are shared out. */
#include <stdlib.h>

#include "bvh/parts.h"

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
  if (!(collapse_area(&b->measure, root->lower, root->upper) > 0.0)) return 1.0;
  return collapse_area(&b->measure, of->lower, of->upper);
}

/* ---- children ---- */

/* Lists the children of a wide node, and keeps them for chosen_children in the place of its costs, since the choice
 * takes time. The costs of a node are needed until those above it are chosen for. */
static int choose_children(const builder *b, uint32_t at, uint32_t children[BVH_WIDTH]) {
  build_node *node = &b->build_nodes[at];
  const int count = collapse_children(b->build_nodes, at, children);
  if (node->tag & BUILD_NODE_LEAF) return count; /* the root alone */
  node->link = children[0];
  for (int i = 1; i < BVH_WIDTH; i++) node->others[i - 1] = i < count ? children[i] : 0;
  return count;
}

static int chosen_children(const builder *b, uint32_t at, uint32_t children[BVH_WIDTH]) {
  const build_node *node = &b->build_nodes[at];
  int count = 1;
  children[0] = node->tag & BUILD_NODE_LEAF ? at : node->link;
  if (node->tag & BUILD_NODE_LEAF) return count;
  while (count < BVH_WIDTH && node->others[count - 1] != 0) {
    children[count] = node->others[count - 1];
    count++;
  }
  return count;
}

/* ---- small subtrees ---- */

typedef struct small_subtree {
  subtree_size size;
  footprint next;     /* its nodes and blocks follow from here on */
  uint32_t at, index; /* its root among the build nodes, and among the nodes */
} small_subtree;

typedef struct small_subtrees {
  const builder *b;
  bvh *out;
  small_subtree *list; /* in the order in which the top is traversed */
  uint32_t count;
} small_subtrees;

/* Lists the small subtrees below a build node, or only counts them while there is no list. */
static void list_small(small_subtrees *s, uint32_t at) {
  uint32_t children[BVH_WIDTH];
  const build_node *build_nodes = s->b->build_nodes;
  if (build_nodes[at].count < TASK_MIN) {
    if (s->list != NULL) s->list[s->count].at = at;
    s->count++;
    return;
  }
  const int count = s->list == NULL ? choose_children(s->b, at, children) : chosen_children(s->b, at, children);
  for (int i = 0; i < count; i++)
    if (!(build_nodes[children[i]].tag & BUILD_NODE_LEAF)) list_small(s, children[i]);
}

static bool find_small(small_subtrees *s) {
  list_small(s, 0);
  s->list = bvh_allocate(s->count, sizeof *s->list);
  s->count = 0;
  if (s->list != NULL) list_small(s, 0);
  return s->list != NULL;
}

/* ---- counting ---- */

/* Fills the footprints. The sizes of small subtrees are known, and taken one after the other, unless known is NULL. */
static subtree_size count_below(const builder *b, uint32_t at, const small_subtree **known) {
  uint32_t children[BVH_WIDTH];
  if (known != NULL && b->build_nodes[at].count < TASK_MIN) return (*known)++->size;
  const int count = known == NULL ? choose_children(b, at, children) : chosen_children(b, at, children);
  subtree_size below[BVH_WIDTH], all = {0};
  for (int i = 0; i < count; i++)
    if (!(b->build_nodes[children[i]].tag & BUILD_NODE_LEAF)) below[i] = count_below(b, children[i], known);
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

static void count_small(void *argument, size_t piece) {
  const small_subtrees *s = argument;
  s->list[piece].size = count_below(s->b, s->list[piece].at, NULL);
}

static subtree_size count_all(small_subtrees *s) {
  const small_subtree *known = s->list;
  pool_run(s->b->threads, s->count, count_small, s);
  return count_below(s->b, 0, &known);
}

/* ---- filling ---- */

void wide_node_clear(bvh_node *node) {
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

static inline void put_in_order(uint32_t *list, int a, int b) {
  const uint32_t least = list[a] < list[b] ? list[a] : list[b], most = list[a] < list[b] ? list[b] : list[a];
  list[a] = least;
  list[b] = most;
}

/* A sorting network: the order is unpredictable, so no branch depends on it. */
static void sort_block(const uint32_t from[BVH_WIDTH], uint32_t to[BVH_WIDTH]) {
  uint32_t list[BVH_WIDTH]; /* in registers */
  for (int i = 0; i < BVH_WIDTH; i++) list[i] = from[i];
  for (int i = 0; i < 8; i += 2) put_in_order(list, i, i + 1);
  for (int i = 0; i < 8; i += i % 2 == 0 ? 1 : 3) put_in_order(list, i, i + 2);
  for (int i = 0; i < 4; i++) put_in_order(list, i, i + 4);
  put_in_order(list, 1, 2), put_in_order(list, 5, 6);
  put_in_order(list, 2, 4), put_in_order(list, 3, 5);
  put_in_order(list, 1, 2), put_in_order(list, 3, 4), put_in_order(list, 5, 6);
  for (int i = 0; i < BVH_WIDTH; i++) to[i] = list[i];
}

static void fill_leaf(const builder *b, const build_node *leaf, uint32_t first, bvh *out) {
  uint32_t list[BVH_LEAF_BLOCKS * BVH_WIDTH], *end = list;
  gather(b, leaf, &end);
  for (uint32_t block = 0; block < build_node_blocks(leaf); block++) {
    uint32_t *from = list + block * BVH_WIDTH;
    const uint32_t rest = leaf->count - block * BVH_WIDTH;
    for (uint32_t i = rest; i < BVH_WIDTH; i++) from[i] = BVH_NONE;
    sort_block(from, out->blocks[first + block].primitives);
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

/* Writes node `index`. Its subtree follows from `next` on. Small subtrees only get their places, one after the other,
 * unless later is NULL. */
static void fill_below(const builder *b, uint32_t at, uint32_t index, footprint next, bvh *out, small_subtree **later) {
  uint32_t children[BVH_WIDTH];
  if (later != NULL && b->build_nodes[at].count < TASK_MIN) {
    (*later)->index = index;
    (*later)++->next = next;
    return;
  }
  const int count = chosen_children(b, at, children);
  bvh_node *node = &out->nodes[index];
  wide_node_clear(node);
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
    fill_below(b, child, node->child[i], next, out, later);
    next.nodes += b->footprints[child].nodes;
    next.blocks += b->footprints[child].blocks;
  }
}

static void fill_small(void *argument, size_t piece) {
  const small_subtrees *s = argument;
  const small_subtree *subtree = &s->list[piece];
  fill_below(s->b, subtree->at, subtree->index, subtree->next, s->out, NULL);
}

static void fill_all(small_subtrees *s) {
  small_subtree *later = s->list;
  fill_below(s->b, 0, 0, (footprint){1, 0}, s->out, &later);
  pool_run(s->b->threads, s->count, fill_small, s);
}

/* The references are not needed any more. */
static bool allocate(builder *b, const subtree_size *all, bvh *out) {
  out->node_count = all->nodes + 1;
  out->block_count = all->blocks;
  out->nodes =
      bvh_reuse(b->references[0], b->input->count * sizeof *b->references[0], out->node_count, sizeof *out->nodes);
  b->references[0] = NULL;
  out->blocks = bvh_allocate(out->block_count, sizeof *out->blocks);
  out->block_kinds = bvh_allocate(out->block_count, sizeof *out->block_kinds);
  return out->nodes && out->blocks && out->block_kinds;
}

bool wide_emit(builder *b, bvh *out) {
  const double root = weight(b, &b->build_nodes[0]);
  small_subtrees small = {.b = b, .out = out};
  subtree_size all = {0};
  bool found = find_small(&small);
  if (found) all = count_all(&small);
  found = found && allocate(b, &all, out);
  if (found) fill_all(&small);
  os_free(small.list);
  if (!found) {
    bvh_free(out);
    return false;
  }
  out->depth = all.depth;
  out->sah_cost = all.cost / root;
  out->occupancy_nodes = (double)all.used / ((double)out->node_count * BVH_WIDTH);
  out->occupancy_blocks = (double)b->input->count / ((double)out->block_count * BVH_WIDTH);
  return true;
}

void bvh_free(bvh *t) {
  os_free(t->nodes);
  os_free(t->blocks);
  os_free(t->block_kinds);
  os_free(t->spare);
  *t = (bvh){0};
}
