/* Nodes of 80 bytes: the bounds that a kernel decodes contain the exact bounds, for any bounds, and its test of them
 * loses none that the slab test accepts. Nor does its test of a flat scene's boxes in local memory. */
#include "maths/quantised.h"

#include <string.h>

#include "bvh/compressed.h"
#include "device/tuning.h"
#include "harness.h"
#include "maths/primitive.h"
#include "walk/local_boxes.h"

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
static float number(random_state *random, float near) {
  const uint32_t fate = random_below(random, 8);
  float any = near;
  for (uint32_t i = random_below(random, 3); fate == 0 && i < 3; i++) any = nextafterf(any, INFINITY);
  if (fate == 1) any = (float)random_below(random, 9) - 4.0f;
  if (fate == 2) any = ldexpf(random_between(random, -2, 2), (int)random_below(random, 101) - 40);
  if (fate == 3) do {
      const uint32_t bits = (uint32_t)random_bits(random);
      memcpy(&any, &bits, sizeof any);
    } while (!isfinite(any));
  return fate > 3 ? near + ldexpf(random_between(random, -1, 1), (int)random_below(random, 60) - 40) : any;
}

/* Returns the number of its children. */
static int random_node(random_state *random, bvh_node *node) {
  clear(node);
  const int children = 1 + (int)random_below(random, BVH_WIDTH);
  const uint32_t extremes = random_below(random, 3); /* 0: none, so that the numbers of a node are of one magnitude */
  for (int axis = 0; axis < 3; axis++) {
    const float near = extremes ? number(random, 0) : random_between(random, -100, 100);
    const bool unbounded = random_below(random, 20) == 0;
    for (int k = 0; k < children; k++) {
      const float a = extremes ? number(random, near) : near + random_between(random, -1, 1);
      const float b = extremes ? number(random, a) : a + random_between(random, -0.1f, 0.1f);
      node->bounds[axis][k] = unbounded && random_below(random, 2) ? -INFINITY : fminf(a, b);
      node->bounds[axis + 3][k] = unbounded && random_below(random, 2) ? INFINITY : fmaxf(a, b);
      node->meta[k] = BVH_LEAF(SLAB_BOX, 1);
    }
  }
  return children;
}

/* Children of sizes up to `most`, whose lower bounds are spread over a cube of 2. */
static void spread_node(random_state *random, float most, bvh_node *node) {
  clear(node);
  for (int k = 0; k < BVH_WIDTH; k++) {
    for (int axis = 0; axis < 3; axis++) {
      node->bounds[axis][k] = random_between(random, -1, 1);
      node->bounds[axis + 3][k] = node->bounds[axis][k] + random_between(random, 0, most);
    }
    node->meta[k] = BVH_LEAF(SLAB_BOX, 1);
  }
}

static void decoded_bounds_hold_the_exact_ones(void **state) {
  (void)state;
  random_state random = harness_seeded("decoded_bounds_hold_the_exact_ones");
  for (int i = 0; i < NODES; i++) {
    bvh_node node;
    random_node(&random, &node);
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

/* ---- rays against quantised nodes ---- */

/* A direction whose components may be 0, tiny, or of very different sizes. */
static float component(random_state *random) {
  const uint32_t fate = random_below(random, 8);
  if (fate == 0) return 0.0f;
  if (fate == 1) return ldexpf(random_between(random, -1, 1), -(int)random_below(random, 150));
  return random_between(random, -1, 1);
}

/* A ray towards some point in or near the bounds of child k, often in their planes, from at most 2^farthest away. */
static prepared_ray ray_towards(random_state *random, const bvh_node *node, int k, int farthest) {
  slab_ray ray = {.t_max = INFINITY};
  const uint32_t fate = random_below(random, 4);
  const float away = ldexpf(1.0f, farthest - (int)random_below(random, 60));
  ray.t_min = fate == 0 ? -INFINITY : fate == 1 ? random_between(random, -2, 2) : 0.0f;
  for (int axis = 0; axis < 3; axis++) {
    const float part = random_between(random, -0.25f, 1.25f), lower = node->bounds[axis][k];
    const float upper = node->bounds[axis + 3][k];
    float at = part < 0 ? lower : part > 1 ? upper : (1 - part) * lower + part * upper;
    if (!(fabsf(at) <= COORDINATE_MAX)) at = 0;
    ray.direction[axis] = component(random);
    ray.origin[axis] = fmaf(-away, ray.direction[axis], at);
    if (!(fabsf(ray.origin[axis]) <= COORDINATE_MAX)) ray.origin[axis] = at;
  }
  if (ray.direction[0] == 0 && ray.direction[1] == 0) ray.direction[2] = 1;
  return ray_prepare(&ray);
}

static void exact_planes(const prepared_ray *ray, const bvh_node *node, int k, float near[3], float far[3]) {
  for (int axis = 0; axis < 3; axis++) {
    const bool dir_is_negative = ray->dir_is_negative[axis] != 0;
    near[axis] = node->bounds[dir_is_negative ? axis + 3 : axis][k];
    far[axis] = node->bounds[dir_is_negative ? axis : axis + 3][k];
  }
}

/* Whether the slab test accepts the exact bounds, and the t where they are entered. */
static bool overlaps_exactly(const prepared_ray *ray, const bvh_node *node, int k, float limit, float *enter) {
  float near[3], far[3], leave, hi;
  exact_planes(ray, node, k, near, far);
  box_interval(ray, near, far, enter, &leave, &hi);
  return slab_overlaps(*enter, leave, ray->t_min, limit) != 0;
}

/* The places that the kernel's test accepts, as bits. */
static uint32_t found_places(const compressed_node *n, const prepared_ray *ray, float limit) {
  quantised_axis axis[3];
  float found = COMPRESSED_BIAS;
  for (int i = 0; i < 3; i++)
    axis[i] = quantised_axis_of(ray, i, compressed_step(compressed_byte(n->scales, (uint32_t)i)), n->origin[i]);
  for (int last = 0; last < 2; last++) {
    const uint32_t lower[3] = {n->planes[0][last], n->planes[1][last], n->planes[2][last]};
    const uint32_t upper[3] = {n->planes[3][last], n->planes[4][last], n->planes[5][last]};
    found = quantised_children(quantised_oblique(ray), ray, axis, lower, upper, last ? 4 : 0, limit, found);
  }
  return scalar_bits(found) & 0xFF;
}

typedef struct ray_counts {
  uint64_t oblique, others; /* children that the slab test accepts */
  uint64_t missed, found;   /* children that it rejects, of oblique rays, and those that the kernel's test accepts */
} ray_counts;

/* As a kernel finds it that fetches the children as local boxes. */
static float largest_bound(const bvh_node *node, int children) {
  float largest = 0;
  for (int row = 0; row < 6; row++)
    for (int k = 0; k < children; k++)
      if (isfinite(node->bounds[row][k])) largest = fmaxf(largest, fabsf(node->bounds[row][k]));
  return largest;
}

/* Counts the result of a test of a child. */
static void judge(const prepared_ray *ray, const bvh_node *node, int k, float limit, bool oblique, bool is_found,
                  ray_counts *counts) {
  float enter;
  if (!overlaps_exactly(ray, node, k, limit, &enter)) {
    counts->missed += oblique;
    counts->found += oblique && is_found;
    return;
  }
  if (!is_found)
    fail_msg("child %d is lost: ray {%a, %a, %a} {%a, %a, %a} [%a, %a]", k, (double)ray->origin[0],
             (double)ray->origin[1], (double)ray->origin[2], (double)ray->direction[0], (double)ray->direction[1],
             (double)ray->direction[2], (double)ray->t_min, (double)limit);
  *(oblique ? &counts->oblique : &counts->others) += 1;
}

/* Casts a ray at the children: as a quantised node, or as local boxes. */
static void cast_at(random_state *random, const bvh_node *node, int children, int farthest, bool local,
                    ray_counts *counts) {
  const prepared_ray ray = ray_towards(random, node, (int)random_below(random, (uint32_t)children), farthest);
  float limit = random_below(random, 2) ? ray.t_max : ldexpf(1, (int)random_below(random, 40) - 20), enter;
  if (ray.state != RAY_LIVE) return;
  /* Often the t where a child is entered: closest hits bring that about. */
  if (random_below(random, 3) == 0 && overlaps_exactly(&ray, node, 0, ray.t_max, &enter)) limit = enter;
  if (local) {
    const float largest = largest_bound(node, children);
    const bool oblique = local_ray_is_oblique(&ray, largest);
    const local_ray seen = local_ray_of(&ray, oblique, largest);
    for (int k = 0; k < children; k++) {
      float near[3], far[3];
      exact_planes(&ray, node, k, near, far);
      judge(&ray, node, k, limit, oblique, local_may_overlap(oblique, &seen, near, far, limit), counts);
    }
    return;
  }
  const compressed_slots slots = compressed_arrange(node);
  compressed_node n;
  compressed_bounds(node, &slots, &n);
  const uint32_t found = found_places(&n, &ray, limit);
  for (int p = 0; p < BVH_WIDTH; p++)
    if (slots.child[p] >= 0)
      judge(&ray, node, slots.child[p], limit, quantised_oblique(&ray), (found >> p & 1) != 0, counts);
}

/* No child is lost whose exact bounds the slab test accepts: not of any bounds, nor of any ray. */
static void find_all(const char *name, bool local) {
  random_state random = harness_seeded(name);
  ray_counts counts = {0};
  for (int i = 0; i < 10 * NODES; i++) {
    bvh_node node;
    const int children = random_node(&random, &node);
    for (int k = 0; k < 5; k++) cast_at(&random, &node, children, 30, local, &counts);
  }
  assert_true(counts.oblique > 10 * NODES && counts.others > 10 * NODES);
}

/* Of children of sizes like that of their node, which have some hundred steps, hardly any is found that the slab test
 * rejects. */
static void find_few(const char *name, bool local) {
  random_state random = harness_seeded(name);
  ray_counts counts = {0};
  for (int i = 0; i < NODES; i++) {
    bvh_node node;
    spread_node(&random, 0.5f, &node);
    for (int k = 0; k < 5; k++) cast_at(&random, &node, BVH_WIDTH, 6, local, &counts);
  }
  assert_true(counts.missed > NODES && counts.found * 100 < counts.missed);
}

static void rays_find_all_that_the_slab_test_accepts(void **state) {
  (void)state;
  find_all("rays_find_all_that_the_slab_test_accepts", false);
}

static void rays_find_few_that_the_slab_test_rejects(void **state) {
  (void)state;
  find_few("rays_find_few_that_the_slab_test_rejects", false);
}

static void rays_find_all_of_local_boxes(void **state) {
  (void)state;
  find_all("rays_find_all_of_local_boxes", true);
}

static void rays_find_few_of_local_boxes_besides(void **state) {
  (void)state;
  find_few("rays_find_few_of_local_boxes_besides", true);
}

/* Decoded bounds are within one step of the exact ones. Bounds that hold everything would pass the tests above too. */
static void decoded_bounds_are_tight(void **state) {
  (void)state;
  random_state random = harness_seeded("decoded_bounds_are_tight");
  for (int i = 0; i < NODES / 10; i++) {
    bvh_node node;
    compressed_node n;
    spread_node(&random, 1, &node);
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
  for (uint32_t kind = SLAB_SPHERE; kind < SLAB_SHAPE_COUNT; kind++) {
    assert_true((BVH_WIDTH - 1) * COMPRESSED_LEAF_MOST * compressed_primitive_units(kind) <= 255); /* leaf_place */
    for (uint32_t count = 1; count <= COMPRESSED_LEAF_MOST; count++) {
      const uint32_t meta = COMPRESSED_LEAF(kind, count);
      assert_true(meta <= 255 && compressed_leaf_kind(meta) == kind && COMPRESSED_LEAF_COUNT(meta) == count);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decoded_bounds_hold_the_exact_ones),
      cmocka_unit_test(bounds_at_the_ends_of_floats_are_held),
      cmocka_unit_test(rays_find_all_that_the_slab_test_accepts),
      cmocka_unit_test(rays_find_few_that_the_slab_test_rejects),
      cmocka_unit_test(rays_find_all_of_local_boxes),
      cmocka_unit_test(rays_find_few_of_local_boxes_besides),
      cmocka_unit_test(decoded_bounds_are_tight),
      cmocka_unit_test(children_stand_at_their_corners),
      cmocka_unit_test(a_node_is_80_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
