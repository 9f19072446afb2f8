/* Invariants of the BVH on difficult inputs: every primitive is present exactly once, bounds are exact, depth is
 * bounded, and the BVH does not depend on the number of threads. SLABCAST_TEST_LONG=1 adds ten million primitives. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "bvh/bvh.h"
#include "bvh_inspect.h"
#include "harness.h"
#include "sets/adversarial.h"

static const bvh_leaves in_blocks = {BVH_WIDTH, BVH_LEAF_BLOCKS, BVH_COST_BLOCK};

/* Larger inputs test nothing more, and take long. */
#define MANY 20000

static bvh build(const boxes *of, const bvh_options *options) {
  const bvh_input input = boxes_input(of);
  bvh t;
  assert_true(bvh_build(&input, options, &t));
  return t;
}

/* Where primitives are tested one by one, leaves are small. */
static void check_one_by_one(const boxes *input, bvh_quality quality) {
  const bvh_options options = {.quality = quality, .leaves = {1, 3, 0.3f}};
  bvh t = build(input, &options);
  assert_tree_sound(input, &t, options.leaves);
  bvh_free(&t);
}

/* Checks every quality: sound, and the same for any number of threads. Returns the depth of the default BVH. */
static uint32_t check(const boxes *input) {
  uint32_t depth = 0;
  for (int quality = BVH_FAST; quality <= BVH_HIGH; quality++) {
    bvh first = {0};
    for (uint32_t threads = 1; threads <= 4; threads *= 2) {
      const bvh_options options = {.quality = (bvh_quality)quality, .threads = threads};
      bvh t = build(input, &options);
      if (threads == 1) {
        assert_tree_sound(input, &t, in_blocks);
        first = t;
        continue;
      }
      assert_same_tree(&first, &t);
      bvh_free(&t);
    }
    if (input->count <= MANY) check_one_by_one(input, (bvh_quality)quality);
    if (quality == BVH_DEFAULT) depth = first.depth;
    bvh_free(&first);
  }
  return depth;
}

/* ---- inputs ---- */

static bvh_bounds *new_bounds(uint32_t count) {
  bvh_bounds *b = malloc((count + (size_t)1) * sizeof *b);
  assert_non_null(b);
  return b;
}

/* A box around a point of the cube -1 .. 1. */
static void random_box(random_state *random, float size, bvh_bounds *b) {
  for (int k = 0; k < 3; k++) {
    const float center = random_between(random, -1.0f, 1.0f), half = size * random_between(random, 0.0f, 1.0f);
    b->lower[k] = center - half;
    b->upper[k] = center + half;
  }
}

static bvh_bounds *random_boxes(random_state *random, uint32_t count, float size) {
  bvh_bounds *b = new_bounds(count);
  for (uint32_t i = 0; i < count; i++) random_box(random, size, &b[i]);
  return b;
}

static uint32_t check_bounds(bvh_bounds *bounds, uint32_t count) {
  const boxes input = {count, bounds, NULL};
  const uint32_t depth = check(&input);
  free(bounds);
  return depth;
}

/* ---- tests ---- */

static void any_small_count_works(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  for (uint32_t count = 0; count < 140; count++) check_bounds(random_boxes(&random, count, 0.1f), count);
}

static void no_primitives_give_an_empty_root(void **state) {
  (void)state;
  const bvh_input input = {0};
  const bvh_options options = {0};
  bvh t;
  assert_true(bvh_build(&input, &options, &t));
  assert_int_equal(t.node_count, 1);
  assert_int_equal(t.block_count, 0);
  assert_int_equal(t.depth, 1);
  for (int slot = 0; slot < BVH_WIDTH; slot++) assert_int_equal(t.nodes->meta[slot], 0);
  bvh_free(&t);
}

static void large_inputs_use_every_path(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  check_bounds(random_boxes(&random, 300000, 0.01f), 300000);
}

static void equal_centers_are_halved(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  const uint32_t count = 50000;
  bvh_bounds *b = new_bounds(count);
  for (uint32_t i = 0; i < count; i++) {
    const float half = random_between(&random, 0.0f, 1.0f);
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
  bvh_bounds *b = new_bounds(count);
  for (uint32_t i = 0; i < count; i++) b[i] = (bvh_bounds){{1, 2, 3}, {4, 5, 6}};
  check_bounds(b, count);
}

static void points_on_a_line_have_no_area(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  const uint32_t count = 20000;
  bvh_bounds *b = new_bounds(count);
  for (uint32_t i = 0; i < count; i++) {
    const float x = random_between(&random, -5.0f, 5.0f);
    b[i] = (bvh_bounds){{x, 1, 2}, {x, 1, 2}};
  }
  assert_true(check_bounds(b, count) <= 16);
}

static void sizes_from_tiny_to_huge_mix(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  const uint32_t count = 30000;
  bvh_bounds *b = new_bounds(count);
  for (uint32_t i = 0; i < count; i++) {
    const float scale = ldexpf(1.0f, (int)random_below(&random, 101) - 40);
    random_box(&random, 0.5f, &b[i]);
    for (int k = 0; k < 3; k++) {
      b[i].lower[k] *= scale;
      b[i].upper[k] *= scale;
    }
  }
  check_bounds(b, count);
}

/* Each point is a little farther out than all before, so that binned splits separate only a few at a time. */
static void growing_distances_do_not_grow_the_depth(void **state) {
  (void)state;
  const uint32_t count = 40000;
  bvh_bounds *b = new_bounds(count);
  for (uint32_t i = 0; i < count; i++) {
    const float x = exp2f(-120.0f + 240.0f * (float)i / (float)count);
    b[i] = (bvh_bounds){{x, x, x}, {x * 1.0001f, x * 1.0001f, x * 1.0001f}};
  }
  print_message("depth %u\n", check_bounds(b, count));
}

static void extreme_coordinates_survive(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  const uint32_t count = 20000;
  bvh_bounds *b = new_bounds(count);
  for (uint32_t i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) {
      const float x = adversarial_number(&random), y = adversarial_number(&random);
      b[i].lower[k] = x < y ? x : y;
      b[i].upper[k] = x < y ? y : x;
    }
  check_bounds(b, count);
}

static void the_largest_floats_survive(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  const uint32_t count = 5000;
  bvh_bounds *b = random_boxes(&random, count, 0.5f);
  for (uint32_t i = 0; i < count; i += 3)
    for (int k = 0; k < 3; k++) {
      b[i].lower[k] = -FLT_MAX;
      b[i].upper[k] = random_between(&random, 0.5f, 1.0f) * FLT_MAX;
    }
  check_bounds(b, count);
}

/* All primitives lie beyond the coordinates that areas are measured within, along some axes or each. */
static void all_beyond_every_measure_survive(void **state) {
  static const uint32_t counts[] = {1, 3, 90, 5000};
  (void)state;
  random_state random = harness_seeded(__func__);
  for (unsigned n = 0; n < 4 * 16; n++) {
    const uint32_t count = counts[n / 16], beyond = n % 8;
    const float sign = n % 16 < 8 ? 1.0f : -1.0f;
    bvh_bounds *b = random_boxes(&random, count, 0.1f);
    for (uint32_t i = 0; i < count; i++)
      for (uint32_t k = 0; k < 3; k++)
        if (beyond >> k & 1) b[i].lower[k] = b[i].upper[k] = sign * random_between(&random, 0.2f, 1.0f) * FLT_MAX;
    check_bounds(b, count);
  }
}

static void slivers_survive(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  const uint32_t count = 20000;
  bvh_bounds *b = random_boxes(&random, count, 1e-6f);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t axis = random_below(&random, 3);
    b[i].lower[axis] -= 1.0f;
    b[i].upper[axis] += 1.0f;
  }
  check_bounds(b, count);
}

/* all: none has a finite z. Otherwise some are unbounded below, above or both. */
static void check_unbounded_z(random_state *random, bool all) {
  const uint32_t count = 100000;
  bvh_bounds *b = random_boxes(random, count, 0.01f);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t which = all ? 3 : random_below(random, 16);
    if (which == 1 || which == 3) b[i].lower[2] = -INFINITY;
    if (which == 2 || which == 3) b[i].upper[2] = INFINITY;
  }
  check_bounds(b, count);
}

static void scenes_in_2d_get_a_real_tree(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  check_unbounded_z(&random, true);
}

static void unbounded_z_among_bounded(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  check_unbounded_z(&random, false);
}

/* Every primitive is in one block. Nobody can query the bounds of blocks. */
static void assert_all_there(const bvh *t, uint32_t count) {
  uint8_t *seen = calloc(count, 1);
  assert_non_null(seen);
  for (uint32_t block = 0; block < t->block_count; block++)
    for (int i = 0; i < BVH_WIDTH; i++) {
      const uint32_t id = t->blocks[block].primitives[i];
      if (id != BVH_NONE) assert_true(id < count && seen[id]++ == 0);
    }
  for (uint32_t i = 0; i < count; i++) assert_int_equal(seen[i], 1);
  free(seen);
}

/* Values that nobody refused may be NaN: those of scenes that are unpacked, and vertices from buffers. */
static void bounds_that_are_nan_lose_no_primitive(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  const uint32_t counts[] = {7, 90, 3000, 40000};
  for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
    bvh_bounds *b = random_boxes(&random, counts[n], 0.1f);
    for (uint32_t i = 0; i < counts[n]; i++) {
      const uint32_t which = random_below(&random, 64 * 4);
      for (int k = 0; k < 3 && which < 64; k++) {
        if ((which >> k & 1) != 0) b[i].lower[k] = NAN;
        if ((which >> 3 >> k & 1) != 0) b[i].upper[k] = NAN;
      }
    }
    const boxes input = {counts[n], b, NULL};
    for (int quality = BVH_FAST; quality <= BVH_HIGH; quality++) {
      const bvh_options options = {.quality = (bvh_quality)quality};
      bvh t = build(&input, &options);
      assert_all_there(&t, counts[n]);
      bvh_free(&t);
    }
    free(b);
  }
}

/* Both z at the same infinity: the box is nowhere in space, but must be in the BVH. */
static void boxes_at_infinity_survive(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  for (uint32_t count = 1; count < 400; count = 3 * count / 2 + 1)
    for (uint32_t each = 1; each < 4; each++) {
      bvh_bounds *b = random_boxes(&random, count, 0.5f);
      for (uint32_t i = 0; i < count; i += each) b[i].lower[2] = b[i].upper[2] = i % 2 ? INFINITY : -INFINITY;
      check_bounds(b, count);
    }
}

static void check_kinds(random_state *random, uint32_t count, uint32_t kinds, float size) {
  bvh_bounds *b = random_boxes(random, count, size);
  uint8_t *kind = malloc(count);
  assert_non_null(kind);
  for (uint32_t i = 0; i < count; i++) kind[i] = (uint8_t)random_below(random, kinds);
  const boxes input = {count, b, kind};
  check(&input);
  free(kind);
  free(b);
}

static void blocks_hold_one_kind(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  check_kinds(&random, 60000, 5, 0.01f);
  check_kinds(&random, 20000, 256, 0.01f);
  check_kinds(&random, 5000, 7, 0.0f);
  for (uint32_t count = 1; count < 40; count++) check_kinds(&random, count, 3, 0.5f);
}

static void kinds_part_equal_boxes(void **state) {
  (void)state;
  enum { COUNT = 9000 };
  static bvh_bounds bounds[COUNT];
  static uint8_t kinds[COUNT];
  for (uint32_t i = 0; i < COUNT; i++) kinds[i] = (uint8_t)(i % 11);
  const boxes input = {COUNT, bounds, kinds};
  check(&input);
}

static void the_cost_is_that_of_a_good_tree(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  const uint32_t count = 100000;
  bvh_bounds *b = random_boxes(&random, count, 0.002f);
  const boxes input = {count, b, NULL};
  static const double full[] = {[BVH_FAST] = 0.6, [BVH_DEFAULT] = 0.9, [BVH_HIGH] = 0.4};
  double cost[3];
  for (int quality = BVH_FAST; quality <= BVH_HIGH; quality++) {
    const bvh_options options = {.quality = (bvh_quality)quality};
    bvh t = build(&input, &options);
    cost[quality] = t.sah_cost;
    assert_true(t.occupancy_blocks > full[quality]);
    assert_true(t.occupancy_nodes > 0.7);
    bvh_free(&t);
  }
  free(b);
  print_message("cost: fast %.2f, default %.2f, high %.2f\n", cost[BVH_FAST], cost[BVH_DEFAULT], cost[BVH_HIGH]);
  assert_true(cost[BVH_FAST] <= 1.25 * cost[BVH_DEFAULT]);
  assert_true(cost[BVH_DEFAULT] <= 1.02 * cost[BVH_FAST]);
  assert_true(cost[BVH_HIGH] <= 1.005 * cost[BVH_DEFAULT]);
}

static double cost_of(const bvh_bounds *b, uint32_t count, bvh_quality quality) {
  const boxes input = {count, b, NULL};
  const bvh_options options = {.quality = quality};
  bvh t = build(&input, &options);
  const double cost = t.sah_cost;
  bvh_free(&t);
  return cost;
}

/* Large boxes among small ones: a BVH of all costs hardly more than one of the large and one of the small ones. */
static void large_ones_are_cut_off(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  const uint32_t large = 300, small = 100000;
  bvh_bounds *b = random_boxes(&random, large + small, 0.004f);
  for (uint32_t i = 0; i < large; i++) {
    random_box(&random, 0.6f, &b[i]);
    for (int k = 0; k < 3; k++) b[i].lower[k] /= 1.6f, b[i].upper[k] /= 1.6f;
  }
  for (int quality = BVH_DEFAULT; quality <= BVH_HIGH; quality++) {
    const double apart = cost_of(b, large, (bvh_quality)quality) + cost_of(b + large, small, (bvh_quality)quality),
                 all = cost_of(b, large + small, (bvh_quality)quality);
    print_message("%s: %.1f, apart %.1f\n", quality == BVH_HIGH ? "high" : "default", all, apart);
    assert_true(all <= 1.05 * apart);
  }
  check_bounds(b, large + small);
}

static void ten_million_primitives(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  const uint32_t count = 10000000;
  if (getenv("SLABCAST_TEST_LONG") == NULL) skip();
  bvh_bounds *b = random_boxes(&random, count, 0.003f);
  const boxes input = {count, b, NULL};
  for (int quality = BVH_FAST; quality <= BVH_HIGH; quality++) {
    const bvh_options options = {.quality = (bvh_quality)quality};
    bvh t = build(&input, &options);
    assert_tree_sound(&input, &t, in_blocks);
    print_message("%.2f s, depth %u, cost %.1f\n", t.seconds, t.depth, t.sah_cost);
    bvh_free(&t);
  }
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
      cmocka_unit_test(all_beyond_every_measure_survive),
      cmocka_unit_test(slivers_survive),
      cmocka_unit_test(scenes_in_2d_get_a_real_tree),
      cmocka_unit_test(unbounded_z_among_bounded),
      cmocka_unit_test(bounds_that_are_nan_lose_no_primitive),
      cmocka_unit_test(boxes_at_infinity_survive),
      cmocka_unit_test(blocks_hold_one_kind),
      cmocka_unit_test(kinds_part_equal_boxes),
      cmocka_unit_test(the_cost_is_that_of_a_good_tree),
      cmocka_unit_test(large_ones_are_cut_off),
      cmocka_unit_test(ten_million_primitives),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
