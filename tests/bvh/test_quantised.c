/* Nodes of 80 bytes: the bounds that a kernel decodes contain the exact bounds, for any bounds. */
#include "quantised.h"

#include <string.h>

#include "compressed.h"
#include "harness.h"
#include "primitive.h"
#include "tuning.h"

enum { NODES = 20000 };

static void clear(bvh_node *node) {
  *node = (bvh_node){0};
  for (int row = 0; row < 6; row++)
    for (int k = 0; k < BVH_WIDTH; k++) node->bounds[row][k] = row < 3 ? INFINITY : -INFINITY;
}

/* The bounds of the child at a place, as the kernel decodes them. NaN and infinite bounds constrain nothing. */
static void decode(const compressed_node *n, int place, float lower[3], float upper[3]) {
  for (int axis = 0; axis < 3; axis++) {
    const float step = compressed_step(compressed_byte(n->scales, (uint32_t)axis));
    const uint32_t k = (uint32_t)place % 4;
    lower[axis] = compressed_plane(compressed_byte(n->planes[axis][place / 4], k), step, n->origin[axis]);
    upper[axis] = compressed_plane(compressed_byte(n->planes[axis + 3][place / 4], k), step, n->origin[axis]);
    if (isnan(lower[axis])) lower[axis] = -INFINITY;
    if (isnan(upper[axis])) upper[axis] = INFINITY;
  }
}

/* Fails unless each child has exactly one place, and its decoded bounds contain the exact ones. */
static void check(const bvh_node *node) {
  const compressed_slots slots = compressed_arrange(node);
  compressed_node n;
  bool seen[BVH_WIDTH] = {false};
  compressed_bounds(node, &slots, &n);
  for (int p = 0; p < BVH_WIDTH; p++) {
    const int k = slots.child[p];
    float lower[3], upper[3];
    if (k < 0) continue;
    assert_true(!seen[k] && node->meta[k] != 0);
    seen[k] = true;
    decode(&n, p, lower, upper);
    for (int axis = 0; axis < 3; axis++)
      if (!(lower[axis] <= node->bounds[axis][k] && upper[axis] >= node->bounds[axis + 3][k]))
        fail_msg("axis %d: [%a, %a] does not hold [%a, %a]", axis, (double)lower[axis], (double)upper[axis],
                 (double)node->bounds[axis][k], (double)node->bounds[axis + 3][k]);
  }
  for (int k = 0; k < BVH_WIDTH; k++) assert_true(seen[k] == (node->meta[k] != 0));
}

/* Numbers of different kinds: any finite bits, small integers, and numbers a few units in the last place from
 * `near`. */
static float number(harness_random *random, float near) {
  const uint32_t fate = harness_below(random, 8);
  float any = near;
  for (uint32_t i = harness_below(random, 3); fate == 0 && i < 3; i++) any = nextafterf(any, INFINITY);
  if (fate == 1) any = (float)harness_below(random, 9) - 4.0f;
  if (fate == 2) any = ldexpf(harness_uniform(random, -2, 2), (int)harness_below(random, 101) - 40);
  if (fate == 3) do {
      const uint32_t bits = (uint32_t)harness_bits(random);
      memcpy(&any, &bits, sizeof any);
    } while (!isfinite(any));
  return fate > 3 ? near + ldexpf(harness_uniform(random, -1, 1), (int)harness_below(random, 60) - 40) : any;
}

static void decoded_bounds_hold_the_exact_ones(void **state) {
  (void)state;
  harness_random random = harness_seeded("decoded_bounds_hold_the_exact_ones");
  for (int i = 0; i < NODES; i++) {
    bvh_node node;
    clear(&node);
    const int children = 1 + (int)harness_below(&random, BVH_WIDTH);
    const uint32_t extremes =
        harness_below(&random, 3); /* 0: none, so that the numbers of a node are of one magnitude */
    for (int axis = 0; axis < 3; axis++) {
      const float near = extremes ? number(&random, 0) : harness_uniform(&random, -100, 100);
      const bool unbounded = harness_below(&random, 20) == 0;
      for (int k = 0; k < children; k++) {
        const float a = extremes ? number(&random, near) : near + harness_uniform(&random, -1, 1);
        const float b = extremes ? number(&random, a) : a + harness_uniform(&random, -0.1f, 0.1f);
        node.bounds[axis][k] = unbounded && harness_below(&random, 2) ? -INFINITY : fminf(a, b);
        node.bounds[axis + 3][k] = unbounded && harness_below(&random, 2) ? INFINITY : fmaxf(a, b);
        node.meta[k] = BVH_LEAF(SLAB_BOX, 1);
      }
    }
    check(&node);
  }
}

static void bounds_at_the_ends_of_floats_are_held(void **state) {
  (void)state;
  static const float ends[] = {-FLOAT_MAX, -0x1p60f,  -1,       -0x1p-40f, -0x1p-126f, -0x1p-149f, 0,
                               0x1p-149f,  0x1p-126f, 0x1p-40f, 1,         0x1p60f,    FLOAT_MAX};
  enum { ENDS = sizeof ends / sizeof *ends };
  for (int from = 0; from < ENDS; from++)
    for (int to = from; to < ENDS; to++)
      for (int middle = from; middle <= to; middle++) {
        bvh_node node;
        clear(&node);
        for (int axis = 0; axis < 3; axis++)
          for (int k = 0; k < 2; k++) {
            node.bounds[axis][k] = ends[k == 0 ? from : middle];
            node.bounds[axis + 3][k] = ends[k == 0 ? middle : to];
            node.meta[k] = BVH_LEAF(SLAB_BOX, 1);
          }
        check(&node);
      }
}

/* Decoded bounds are within one step of the exact ones. Bounds that hold everything would pass the tests above too. */
static void decoded_bounds_are_tight(void **state) {
  (void)state;
  harness_random random = harness_seeded("decoded_bounds_are_tight");
  for (int i = 0; i < NODES / 10; i++) {
    bvh_node node;
    compressed_node n;
    clear(&node);
    for (int k = 0; k < BVH_WIDTH; k++)
      for (int axis = 0; axis < 3; axis++) {
        node.bounds[axis][k] = harness_uniform(&random, -1, 1);
        node.bounds[axis + 3][k] = node.bounds[axis][k] + harness_uniform(&random, 0, 1);
        node.meta[k] = BVH_LEAF(SLAB_BOX, 1);
      }
    const compressed_slots slots = compressed_arrange(&node);
    compressed_bounds(&node, &slots, &n);
    for (int p = 0; p < BVH_WIDTH; p++) {
      float lower[3], upper[3];
      decode(&n, p, lower, upper);
      for (int axis = 0; axis < 3; axis++) {
        const float step = 3.0f / 128; /* more than the step, the smallest power of two of which 255 reach 3 */
        assert_true(lower[axis] > node.bounds[axis][slots.child[p]] - step);
        assert_true(upper[axis] < node.bounds[axis + 3][slots.child[p]] + step);
      }
    }
  }
}

/* Rays along +x, +y and +z must visit place 0 first, so it holds the child nearest to the lower corner. An unbounded
 * axis has no influence. */
static void children_stand_at_their_corners(void **state) {
  (void)state;
  for (int flat = 0; flat < 2; flat++) {
    bvh_node node;
    clear(&node);
    const int corners = flat ? 4 : 8;
    for (int k = 0; k < corners; k++) {
      const int corner = (k * 3 + 1) % corners;
      for (int axis = 0; axis < 3; axis++) {
        node.bounds[axis][k] = axis == 2 && flat ? -INFINITY : (float)(corner >> axis & 1);
        node.bounds[axis + 3][k] = axis == 2 && flat ? INFINITY : (float)(corner >> axis & 1) + 0.5f;
      }
      node.meta[k] = BVH_INNER;
    }
    const compressed_slots slots = compressed_arrange(&node);
    for (int p = 0; p < BVH_WIDTH; p++)
      if (slots.child[p] >= 0) assert_int_equal((slots.child[p] * 3 + 1) % corners, p % corners);
  }
}

static void a_node_is_80_bytes(void **state) {
  (void)state;
  assert_int_equal(sizeof(compressed_node), 80);
  assert_true(COMPRESSED_LEAF_COUNT(COMPRESSED_INNER) == 0);
  assert_true(tuning_of(SLAB_DEVICE_GPU)->leaves.most * tuning_of(SLAB_DEVICE_GPU)->leaves.together <=
              COMPRESSED_LEAF_MOST);
  for (uint32_t kind = SLAB_SPHERE; kind < SLAB_SHAPE_COUNT; kind++)
    for (uint32_t count = 1; count <= COMPRESSED_LEAF_MOST; count++) {
      const uint32_t meta = COMPRESSED_LEAF(kind, count);
      assert_true(meta <= 255 && compressed_leaf_kind(meta) == kind && COMPRESSED_LEAF_COUNT(meta) == count);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decoded_bounds_hold_the_exact_ones),
      cmocka_unit_test(bounds_at_the_ends_of_floats_are_held),
      cmocka_unit_test(decoded_bounds_are_tight),
      cmocka_unit_test(children_stand_at_their_corners),
      cmocka_unit_test(a_node_is_80_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
