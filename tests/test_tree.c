/* The tree's invariants on inputs that break builders: nothing lost, nothing twice, bounds exact, depth bounded, the
 * same tree whatever the threads. SLABCAST_TEST_LONG=1 adds ten million primitives. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "harness.h"
#include "wild.h"

/* ---- an independent look at a tree ---- */

typedef struct look {
  const tree_input *input;
  const tree *tree;
  uint8_t *seen_primitive, *seen_block, *seen_node;
  float z[2]; /* what infinite z counts as */
  bool flat;  /* no finite z at all */
  uint64_t used_slots;
  uint32_t depth;
  double cost; /* times the root's area */
  tree_leaves leaves;
} look;

static void bounds_empty(tree_bounds *b) {
  for (int k = 0; k < 3; k++) {
    b->lower[k] = INFINITY;
    b->upper[k] = -INFINITY;
  }
}

static void bounds_add(tree_bounds *to, const tree_bounds *b) {
  for (int k = 0; k < 3; k++) {
    if (b->lower[k] < to->lower[k]) to->lower[k] = b->lower[k];
    if (b->upper[k] > to->upper[k]) to->upper[k] = b->upper[k];
  }
}

static double within(double value, double least, double most) { return fmin(fmax(value, least), most); }

static double side(const look *l, const tree_bounds *b, int k) {
  const double least = k == 2 ? fmax(-0x1p125, (double)l->z[0]) : -0x1p125;
  const double most = k == 2 ? fmin(0x1p125, (double)l->z[1]) : 0x1p125;
  return within((double)b->upper[k], least, most) - within((double)b->lower[k], least, most);
}

static double area(const look *l, const tree_bounds *b) {
  const double x = side(l, b, 0), y = side(l, b, 1);
  if (l->flat) return b->lower[2] < b->upper[2] ? x + y : 0.0; /* else at infinity */
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

static uint32_t look_at_block(look *l, uint32_t block, uint32_t kind, tree_bounds *all) {
  const uint32_t *primitives = l->tree->blocks[block].primitives;
  uint32_t count = 0;
  assert_true(block < l->tree->block_count);
  assert_int_equal(l->seen_block[block]++, 0);
  assert_int_equal(l->tree->block_kinds[block], kind);
  for (uint32_t i = 0; i < TREE_WIDTH; i++) {
    const uint32_t id = primitives[i];
    if (id == TREE_NONE) continue;
    assert_int_equal(count++, i); /* no gaps */
    assert_true(id < l->input->count);
    assert_int_equal(l->seen_primitive[id]++, 0);
    assert_int_equal(l->input->kinds ? l->input->kinds[id] : 0, kind);
    if (i > 0) assert_true(id > primitives[i - 1]);
    bounds_add(all, &l->input->bounds[id]);
  }
  assert_true(count > 0);
  return count;
}

static void look_at_leaf(look *l, uint32_t first, uint32_t meta, tree_bounds *all) {
  const uint32_t blocks = TREE_LEAF_BLOCK_COUNT(meta);
  uint32_t primitives = 0;
  for (uint32_t i = 0; i < blocks; i++) {
    const uint32_t count = look_at_block(l, first + i, TREE_LEAF_KIND(meta), all);
    if (i + 1 < blocks) assert_int_equal(count, TREE_WIDTH);
    primitives += count;
  }
  const uint32_t met = (primitives + l->leaves.together - 1) / l->leaves.together;
  assert_in_range(met, 1, l->leaves.most);
  l->cost += (double)l->leaves.cost * met * area(l, all);
}

static tree_bounds slot_bounds(const tree_node *node, int slot) {
  tree_bounds b;
  for (int k = 0; k < 3; k++) {
    b.lower[k] = node->bounds[k][slot];
    b.upper[k] = node->bounds[k + 3][slot];
  }
  return b;
}

static bool same_bounds(const tree_bounds *a, const tree_bounds *b) {
  bool same = true;
  for (int k = 0; k < 3; k++) same = same && a->lower[k] == b->lower[k] && a->upper[k] == b->upper[k];
  return same;
}

static void look_at_node(look *l, uint32_t index, uint32_t depth, tree_bounds *all) {
  const tree_node *node = &l->tree->nodes[index];
  bool ended = false;
  assert_true(index < l->tree->node_count);
  assert_int_equal(l->seen_node[index]++, 0);
  if (depth > l->depth) l->depth = depth;
  for (int slot = 0; slot < TREE_WIDTH; slot++) {
    const tree_bounds stated = slot_bounds(node, slot);
    tree_bounds below;
    bounds_empty(&below);
    ended = ended || node->meta[slot] == 0;
    if (ended) {
      assert_int_equal(node->meta[slot], 0);
    } else if (TREE_IS_INNER(node->meta[slot])) {
      assert_true(node->child[slot] > index);
      look_at_node(l, node->child[slot], depth + 1, &below);
    } else {
      look_at_leaf(l, node->child[slot], node->meta[slot], &below);
    }
    l->used_slots += !ended;
    assert_true(same_bounds(&stated, &below));
    bounds_add(all, &below);
  }
  if (l->input->count > 0) l->cost += (double)TREE_COST_NODE * area(l, all);
}

static void assert_all_once(const uint8_t *seen, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) assert_int_equal(seen[i], 1);
}

static void assert_close(double got, double want) {
  if (!(fabs(got - want) <= 1e-9 * fabs(want))) fail_msg("%.17g is not %.17g", got, want);
}

static void assert_sound(const tree_input *input, const tree *t, tree_leaves leaves) {
  look l = {.input = input, .tree = t, .leaves = leaves};
  tree_bounds all;
  bounds_empty(&all);
  l.seen_primitive = calloc(input->count + (size_t)1, 1);
  l.seen_block = calloc(t->block_count + (size_t)1, 1);
  l.seen_node = calloc(t->node_count, 1);
  assert_true(l.seen_primitive && l.seen_block && l.seen_node);
  look_at_z(&l);
  look_at_node(&l, 0, 1, &all);
  assert_all_once(l.seen_primitive, input->count);
  assert_all_once(l.seen_block, t->block_count);
  assert_all_once(l.seen_node, t->node_count);
  assert_int_equal(l.depth, t->depth);
  assert_true(t->depth <= TREE_DEPTH_MAX);
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

static void assert_same_tree(const tree *a, const tree *b) {
  assert_int_equal(a->node_count, b->node_count);
  assert_int_equal(a->block_count, b->block_count);
  assert_same_bits(a->nodes, b->nodes, a->node_count, sizeof *a->nodes);
  if (a->block_count > 0) assert_memory_equal(a->blocks, b->blocks, a->block_count * sizeof *a->blocks);
  assert_same_bits(&a->sah_cost, &b->sah_cost, 1, sizeof a->sah_cost);
}

static const tree_leaves in_blocks = {TREE_WIDTH, TREE_LEAF_BLOCKS, TREE_COST_BLOCK};

/* Of more it tells nothing new, and takes long. */
#define MANY 20000

/* Where primitives are met one by one, leaves are small. */
static void check_one_by_one(const tree_input *input, tree_quality quality) {
  const tree_options options = {.quality = quality, .leaves = {1, 3, 0.3f}};
  tree t;
  assert_true(tree_build(input, &options, &t));
  assert_sound(input, &t, options.leaves);
  tree_free(&t);
}

/* Every quality, sound and the same for any number of threads. Returns the default tree's depth. */
static uint32_t check(const tree_input *input) {
  uint32_t depth = 0;
  for (int quality = TREE_FAST; quality <= TREE_HIGH; quality++) {
    tree first = {0};
    for (int threads = 1; threads <= 4; threads *= 2) {
      const tree_options options = {.quality = (tree_quality)quality, .threads = threads};
      tree t;
      assert_true(tree_build(input, &options, &t));
      if (threads == 1) {
        assert_sound(input, &t, in_blocks);
        first = t;
        continue;
      }
      assert_same_tree(&first, &t);
      tree_free(&t);
    }
    if (input->count <= MANY) check_one_by_one(input, (tree_quality)quality);
    if (quality == TREE_DEFAULT) depth = first.depth;
    tree_free(&first);
  }
  return depth;
}

/* ---- inputs ---- */

static tree_bounds *new_bounds(uint32_t count) {
  tree_bounds *b = malloc((count + (size_t)1) * sizeof *b);
  assert_non_null(b);
  return b;
}

/* A box around a point of the cube -1 .. 1. */
static void random_box(harness_random *random, float size, tree_bounds *b) {
  for (int k = 0; k < 3; k++) {
    const float center = harness_uniform(random, -1.0f, 1.0f), half = size * harness_uniform(random, 0.0f, 1.0f);
    b->lower[k] = center - half;
    b->upper[k] = center + half;
  }
}

static tree_bounds *random_boxes(harness_random *random, uint32_t count, float size) {
  tree_bounds *b = new_bounds(count);
  for (uint32_t i = 0; i < count; i++) random_box(random, size, &b[i]);
  return b;
}

static uint32_t check_bounds(tree_bounds *bounds, uint32_t count) {
  const tree_input input = {count, bounds, NULL};
  const uint32_t depth = check(&input);
  free(bounds);
  return depth;
}

/* ---- tests ---- */

static void any_small_count_works(void **state) {
  (void)state;
  harness_random random = harness_seeded(__func__);
  for (uint32_t count = 0; count < 140; count++) check_bounds(random_boxes(&random, count, 0.1f), count);
}

static void no_primitives_give_an_empty_root(void **state) {
  (void)state;
  const tree_input input = {0};
  const tree_options options = {0};
  tree t;
  assert_true(tree_build(&input, &options, &t));
  assert_int_equal(t.node_count, 1);
  assert_int_equal(t.block_count, 0);
  assert_int_equal(t.depth, 1);
  for (int slot = 0; slot < TREE_WIDTH; slot++) assert_int_equal(t.nodes->meta[slot], 0);
  tree_free(&t);
}

static void large_inputs_use_every_path(void **state) {
  (void)state;
  harness_random random = harness_seeded(__func__);
  check_bounds(random_boxes(&random, 300000, 0.01f), 300000);
}

static void equal_centers_are_halved(void **state) {
  (void)state;
  harness_random random = harness_seeded(__func__);
  const uint32_t count = 50000;
  tree_bounds *b = new_bounds(count);
  for (uint32_t i = 0; i < count; i++) {
    const float half = harness_uniform(&random, 0.0f, 1.0f);
    for (int k = 0; k < 3; k++) {
      b[i].lower[k] = -half;
      b[i].upper[k] = half;
    }
  }
  assert_true(check_bounds(b, count) <= 16); /* 2^13 blocks */
}

static void equal_boxes_are_halved(void **state) {
  (void)state;
  const uint32_t count = 50000;
  tree_bounds *b = new_bounds(count);
  for (uint32_t i = 0; i < count; i++) b[i] = (tree_bounds){{1, 2, 3}, {4, 5, 6}};
  check_bounds(b, count);
}

static void points_on_a_line_have_no_area(void **state) {
  (void)state;
  harness_random random = harness_seeded(__func__);
  const uint32_t count = 20000;
  tree_bounds *b = new_bounds(count);
  for (uint32_t i = 0; i < count; i++) {
    const float x = harness_uniform(&random, -5.0f, 5.0f);
    b[i] = (tree_bounds){{x, 1, 2}, {x, 1, 2}};
  }
  assert_true(check_bounds(b, count) <= 16);
}

static void sizes_from_tiny_to_huge_mix(void **state) {
  (void)state;
  harness_random random = harness_seeded(__func__);
  const uint32_t count = 30000;
  tree_bounds *b = new_bounds(count);
  for (uint32_t i = 0; i < count; i++) {
    const float scale = ldexpf(1.0f, (int)harness_below(&random, 101) - 40);
    random_box(&random, 0.5f, &b[i]);
    for (int k = 0; k < 3; k++) {
      b[i].lower[k] *= scale;
      b[i].upper[k] *= scale;
    }
  }
  check_bounds(b, count);
}

/* Each point is a little farther out than all before: binned cuts take off few at a time. */
static void growing_distances_do_not_grow_the_depth(void **state) {
  (void)state;
  const uint32_t count = 40000;
  tree_bounds *b = new_bounds(count);
  for (uint32_t i = 0; i < count; i++) {
    const float x = exp2f(-120.0f + 240.0f * (float)i / (float)count);
    b[i] = (tree_bounds){{x, x, x}, {x * 1.0001f, x * 1.0001f, x * 1.0001f}};
  }
  print_message("depth %u\n", check_bounds(b, count));
}

static void extreme_coordinates_survive(void **state) {
  (void)state;
  random_state random = harness_stream(__func__);
  const uint32_t count = 20000;
  tree_bounds *b = new_bounds(count);
  for (uint32_t i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) {
      const float x = wild_number(&random), y = wild_number(&random);
      b[i].lower[k] = x < y ? x : y;
      b[i].upper[k] = x < y ? y : x;
    }
  check_bounds(b, count);
}

static void the_largest_floats_survive(void **state) {
  (void)state;
  harness_random random = harness_seeded(__func__);
  const uint32_t count = 5000;
  tree_bounds *b = random_boxes(&random, count, 0.5f);
  for (uint32_t i = 0; i < count; i += 3)
    for (int k = 0; k < 3; k++) {
      b[i].lower[k] = -FLT_MAX;
      b[i].upper[k] = harness_uniform(&random, 0.5f, 1.0f) * FLT_MAX;
    }
  check_bounds(b, count);
}

static void slivers_survive(void **state) {
  (void)state;
  harness_random random = harness_seeded(__func__);
  const uint32_t count = 20000;
  tree_bounds *b = random_boxes(&random, count, 1e-6f);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t axis = harness_below(&random, 3);
    b[i].lower[axis] -= 1.0f;
    b[i].upper[axis] += 1.0f;
  }
  check_bounds(b, count);
}

/* all: none has a finite z; else some are unbounded below, above or both. */
static void check_unbounded_z(harness_random *random, bool all) {
  const uint32_t count = 100000;
  tree_bounds *b = random_boxes(random, count, 0.01f);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t which = all ? 3 : harness_below(random, 16);
    if (which == 1 || which == 3) b[i].lower[2] = -INFINITY;
    if (which == 2 || which == 3) b[i].upper[2] = INFINITY;
  }
  check_bounds(b, count);
}

static void scenes_in_2d_get_a_real_tree(void **state) {
  (void)state;
  harness_random random = harness_seeded(__func__);
  check_unbounded_z(&random, true);
}

static void unbounded_z_among_bounded(void **state) {
  (void)state;
  harness_random random = harness_seeded(__func__);
  check_unbounded_z(&random, false);
}

/* Both z at one infinity: a box that stands nowhere, but in the tree. */
static void boxes_at_infinity_survive(void **state) {
  (void)state;
  harness_random random = harness_seeded(__func__);
  for (uint32_t count = 1; count < 400; count = 3 * count / 2 + 1)
    for (uint32_t each = 1; each < 4; each++) {
      tree_bounds *b = random_boxes(&random, count, 0.5f);
      for (uint32_t i = 0; i < count; i += each) b[i].lower[2] = b[i].upper[2] = i % 2 ? INFINITY : -INFINITY;
      check_bounds(b, count);
    }
}

static void check_kinds(harness_random *random, uint32_t count, uint32_t kinds, float size) {
  tree_bounds *b = random_boxes(random, count, size);
  uint8_t *kind = malloc(count);
  assert_non_null(kind);
  for (uint32_t i = 0; i < count; i++) kind[i] = (uint8_t)harness_below(random, kinds);
  const tree_input input = {count, b, kind};
  check(&input);
  free(kind);
  free(b);
}

static void blocks_hold_one_kind(void **state) {
  (void)state;
  harness_random random = harness_seeded(__func__);
  check_kinds(&random, 60000, 5, 0.01f);
  check_kinds(&random, 20000, 256, 0.01f);
  check_kinds(&random, 5000, 7, 0.0f);
  for (uint32_t count = 1; count < 40; count++) check_kinds(&random, count, 3, 0.5f);
}

static void kinds_part_equal_boxes(void **state) {
  (void)state;
  enum { COUNT = 9000 };
  static tree_bounds bounds[COUNT];
  static uint8_t kinds[COUNT];
  for (uint32_t i = 0; i < COUNT; i++) kinds[i] = (uint8_t)(i % 11);
  const tree_input input = {COUNT, bounds, kinds};
  check(&input);
}

static void the_cost_is_that_of_a_good_tree(void **state) {
  (void)state;
  harness_random random = harness_seeded(__func__);
  const uint32_t count = 100000;
  tree_bounds *b = random_boxes(&random, count, 0.002f);
  const tree_input input = {count, b, NULL};
  double cost[3];
  for (int quality = TREE_FAST; quality <= TREE_HIGH; quality++) {
    const tree_options options = {.quality = (tree_quality)quality};
    tree t;
    assert_true(tree_build(&input, &options, &t));
    cost[quality] = t.sah_cost;
    assert_true(t.occupancy_blocks > (quality == TREE_HIGH ? 0.4 : 0.9));
    assert_true(t.occupancy_nodes > 0.7);
    tree_free(&t);
  }
  free(b);
  print_message("cost: fast %.2f, default %.2f, high %.2f\n", cost[TREE_FAST], cost[TREE_DEFAULT], cost[TREE_HIGH]);
  assert_true(cost[TREE_DEFAULT] <= 1.02 * cost[TREE_FAST]);
  assert_true(cost[TREE_HIGH] <= 1.005 * cost[TREE_DEFAULT]);
}

static void ten_million_primitives(void **state) {
  (void)state;
  harness_random random = harness_seeded(__func__);
  const uint32_t count = 10000000;
  if (getenv("SLABCAST_TEST_LONG") == NULL) skip();
  tree_bounds *b = random_boxes(&random, count, 0.003f);
  const tree_input input = {count, b, NULL};
  const tree_options options = {.quality = TREE_DEFAULT};
  tree t;
  assert_true(tree_build(&input, &options, &t));
  assert_sound(&input, &t, in_blocks);
  print_message("%.2f s, depth %u, cost %.1f\n", t.seconds, t.depth, t.sah_cost);
  tree_free(&t);
  free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_small_count_works),
      cmocka_unit_test(no_primitives_give_an_empty_root),
      cmocka_unit_test(large_inputs_use_every_path),
      cmocka_unit_test(equal_centers_are_halved),
      cmocka_unit_test(equal_boxes_are_halved),
      cmocka_unit_test(points_on_a_line_have_no_area),
      cmocka_unit_test(sizes_from_tiny_to_huge_mix),
      cmocka_unit_test(growing_distances_do_not_grow_the_depth),
      cmocka_unit_test(extreme_coordinates_survive),
      cmocka_unit_test(the_largest_floats_survive),
      cmocka_unit_test(slivers_survive),
      cmocka_unit_test(scenes_in_2d_get_a_real_tree),
      cmocka_unit_test(unbounded_z_among_bounded),
      cmocka_unit_test(boxes_at_infinity_survive),
      cmocka_unit_test(blocks_hold_one_kind),
      cmocka_unit_test(kinds_part_equal_boxes),
      cmocka_unit_test(the_cost_is_that_of_a_good_tree),
      cmocka_unit_test(ten_million_primitives),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
