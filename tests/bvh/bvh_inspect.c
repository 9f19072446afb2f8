#include "bvh_inspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

typedef struct look {
  const boxes *input;
  const bvh *bvh;
  uint8_t *seen_primitive, *seen_block, *seen_node;
  float z[2]; /* the finite values that stand for infinite z */
  bool flat;  /* no finite z at all */
  uint64_t used_slots;
  uint32_t depth;
  double cost;  /* multiplied by the root's area */
  double cover; /* area of the primitives */
  double least; /* area that the builder does not lose beside that of the whole */
  bvh_leaves leaves;
} look;

static void fill_boxes(const void *argument, const uint32_t *primitives, uint32_t count, bvh_reference *to) {
  const boxes *from = argument;
  for (uint32_t i = 0; i < count; i++) {
    memcpy(to[i].lower, from->bounds[primitives[i]].lower, sizeof to[i].lower);
    memcpy(to[i].upper, from->bounds[primitives[i]].upper, sizeof to[i].upper);
    to[i].tag = from->kinds != NULL ? from->kinds[primitives[i]] : 0;
  }
}

bvh_input boxes_input(const boxes *b) { return (bvh_input){.count = b->count, .fill = fill_boxes, .argument = b}; }

static void bounds_empty(bvh_bounds *b) {
  for (int k = 0; k < 3; k++) {
    b->lower[k] = INFINITY;
    b->upper[k] = -INFINITY;
  }
}

static void bounds_add(bvh_bounds *to, const bvh_bounds *b) {
  for (int k = 0; k < 3; k++) {
    if (b->lower[k] < to->lower[k]) to->lower[k] = b->lower[k];
    if (b->upper[k] > to->upper[k]) to->upper[k] = b->upper[k];
  }
}

static double within(double value, double least, double most) { return fmin(fmax(value, least), most); }

static double side(const look *l, const bvh_bounds *b, int k) {
  const double least = k == 2 ? fmax(-0x1p125, (double)l->z[0]) : -0x1p125;
  const double most = k == 2 ? fmin(0x1p125, (double)l->z[1]) : 0x1p125;
  return within((double)b->upper[k], least, most) - within((double)b->lower[k], least, most);
}

static double area(const look *l, const bvh_bounds *b) {
  const double x = side(l, b, 0), y = side(l, b, 1);
  if (l->flat) return b->lower[2] < b->upper[2] ? x + y : 0.0; /* 0: at infinity */
  return x * y + (x + y) * side(l, b, 2);
}

/* The extent of all finite z. */
static void look_at_z(look *l) {
  l->z[0] = INFINITY;
  l->z[1] = -INFINITY;
  for (uint32_t i = 0; i < l->input->count; i++) {
    const float ends[2] = {l->input->bounds[i].lower[2], l->input->bounds[i].upper[2]};
    for (int k = 0; k < 2; k++) {
      if (isinf(ends[k])) continue;
      l->z[0] = fminf(l->z[0], ends[k]);
      l->z[1] = fmaxf(l->z[1], ends[k]);
    }
  }
  l->flat = l->z[0] > l->z[1];
}

static uint32_t look_at_block(look *l, uint32_t block, uint32_t kind, bvh_bounds *all) {
  const uint32_t *primitives = l->bvh->blocks[block].primitives;
  uint32_t count = 0;
  assert_true(block < l->bvh->block_count);
  assert_int_equal(l->seen_block[block]++, 0);
  assert_int_equal(l->bvh->block_kinds[block], kind);
  for (uint32_t i = 0; i < BVH_WIDTH; i++) {
    const uint32_t id = primitives[i];
    if (id == BVH_NONE) continue;
    assert_int_equal(count++, i); /* no gaps between primitives */
    assert_true(id < l->input->count);
    assert_int_equal(l->seen_primitive[id]++, 0);
    assert_int_equal(l->input->kinds ? l->input->kinds[id] : 0, kind);
    if (i > 0) assert_true(id > primitives[i - 1]);
    bounds_add(all, &l->input->bounds[id]);
    l->cover += area(l, &l->input->bounds[id]);
  }
  assert_true(count > 0);
  return count;
}

static void look_at_leaf(look *l, uint32_t first, uint32_t meta, bvh_bounds *all) {
  const uint32_t blocks = BVH_LEAF_BLOCK_COUNT(meta);
  uint32_t primitives = 0;
  for (uint32_t i = 0; i < blocks; i++) {
    const uint32_t count = look_at_block(l, first + i, BVH_LEAF_KIND(meta), all);
    if (i + 1 < blocks) assert_int_equal(count, BVH_WIDTH);
    primitives += count;
  }
  const uint32_t met = (primitives + l->leaves.together - 1) / l->leaves.together;
  assert_in_range(met, 1, l->leaves.most);
  l->cost += (double)l->leaves.cost * met * area(l, all);
}

static bvh_bounds slot_bounds(const bvh_node *node, int slot) {
  bvh_bounds b;
  for (int k = 0; k < 3; k++) {
    b.lower[k] = node->bounds[k][slot];
    b.upper[k] = node->bounds[k + 3][slot];
  }
  return b;
}

static bool same_bounds(const bvh_bounds *a, const bvh_bounds *b) {
  bool same = true;
  for (int k = 0; k < 3; k++) same = same && a->lower[k] == b->lower[k] && a->upper[k] == b->upper[k];
  return same;
}

/* Children come first whose primitives cover most for the cost of a visit. The builder drops some bits of a cover at
 * each depth. before: the cover and the cost that were added up before the child. worst: of the children before. */
static void check_worth(const look *l, const look *before, double *worst) {
  const double cover = l->cover - before->cover, cost = l->cost - before->cost;
  if (!(cover > fmax(l->least, 1e-6 * l->cover) && cost > fmax(l->least, 1e-6 * l->cost)))
    return; /* few bits are left */
  assert_true(cover <= 1.03 * *worst * cost);
  *worst = cover / cost;
}

static void look_at_node(look *l, uint32_t index, uint32_t depth, bvh_bounds *all) {
  const bvh_node *node = &l->bvh->nodes[index];
  double worst = INFINITY;
  bool ended = false;
  assert_true(index < l->bvh->node_count);
  assert_int_equal(l->seen_node[index]++, 0);
  if (depth > l->depth) l->depth = depth;
  for (int slot = 0; slot < BVH_WIDTH; slot++) {
    const bvh_bounds stated = slot_bounds(node, slot);
    const look before = *l;
    bvh_bounds below;
    bounds_empty(&below);
    ended = ended || node->meta[slot] == 0;
    if (ended) {
      assert_int_equal(node->meta[slot], 0);
    } else if (BVH_IS_INNER(node->meta[slot])) {
      assert_true(node->child[slot] > index);
      look_at_node(l, node->child[slot], depth + 1, &below);
    } else {
      look_at_leaf(l, node->child[slot], node->meta[slot], &below);
    }
    l->used_slots += !ended;
    check_worth(l, &before, &worst);
    assert_true(same_bounds(&stated, &below));
    bounds_add(all, &below);
  }
  if (l->input->count > 0) l->cost += (double)BVH_COST_NODE * area(l, all);
}

static void assert_all_once(const uint8_t *seen, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) assert_int_equal(seen[i], 1);
}

static void assert_close(double got, double want) {
  if (!(fabs(got - want) <= 1e-9 * fabs(want))) fail_msg("%.17g is not %.17g", got, want);
}

void assert_tree_sound(const boxes *input, const bvh *t, bvh_leaves leaves) {
  look l = {.input = input, .bvh = t, .leaves = leaves};
  bvh_bounds all;
  bounds_empty(&all);
  l.seen_primitive = calloc(input->count + (size_t)1, 1);
  l.seen_block = calloc(t->block_count + (size_t)1, 1);
  l.seen_node = calloc(t->node_count, 1);
  assert_true(l.seen_primitive && l.seen_block && l.seen_node);
  look_at_z(&l);
  for (uint32_t i = 0; i < input->count; i++) bounds_add(&all, &input->bounds[i]);
  l.least = input->count > 0 ? 1e-30 * area(&l, &all) : 0.0;
  bounds_empty(&all);
  look_at_node(&l, 0, 1, &all);
  assert_all_once(l.seen_primitive, input->count);
  assert_all_once(l.seen_block, t->block_count);
  assert_all_once(l.seen_node, t->node_count);
  assert_int_equal(l.depth, t->depth);
  assert_true(t->depth <= BVH_DEPTH_MAX);
  assert_close(t->occupancy_nodes, (double)l.used_slots / (8.0 * t->node_count));
  if (input->count == 0) {
    assert_close(t->sah_cost, 0.0);
  } else {
    assert_close(t->occupancy_blocks, input->count / (8.0 * t->block_count));
    if (area(&l, &all) > 0.0) assert_close(t->sah_cost, l.cost / area(&l, &all));
    assert_true(isfinite(t->sah_cost));
  }
  free(l.seen_primitive);
  free(l.seen_block);
  free(l.seen_node);
}

void assert_same_tree(const bvh *a, const bvh *b) {
  assert_int_equal(a->node_count, b->node_count);
  assert_int_equal(a->block_count, b->block_count);
  assert_same_bits(a->nodes, b->nodes, a->node_count, sizeof *a->nodes);
  if (a->block_count > 0) assert_memory_equal(a->blocks, b->blocks, a->block_count * sizeof *a->blocks);
  assert_same_bits(&a->sah_cost, &b->sah_cost, 1, sizeof a->sah_cost);
}
