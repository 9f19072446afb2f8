/* The replay of rays in step (bench/warp.h), on rays whose steps are known. */
#include "warp.h"

#include <stdlib.h>

#include "harness.h"
#include "sets/random.h"

/* A ray of `count` visits of nodes `first` and on, with so many primitives each. */
static warp_lane lane_of(uint32_t first, uint32_t count, const uint32_t primitives[]) {
  warp_lane l = {0};
  for (uint32_t i = 0; i < count; i++) {
    assert_true(warp_tell(&l, STEP_visit, first + i));
    for (uint32_t k = 0; k < primitives[i]; k++) assert_true(warp_tell(&l, STEP_blocks, 1));
  }
  return l;
}

static warp_sums replay(warp_lane *lanes, uint32_t count) {
  warp_sums sums = {0};
  warp_replay(lanes, count, &sums);
  for (uint32_t i = 0; i < count; i++) free(lanes[i].visits);
  return sums;
}

static void equal_rays_keep_all_lanes_at_work(void **state) {
  (void)state;
  const uint32_t primitives[] = {0, 2, 1};
  warp_lane lanes[32];
  for (int i = 0; i < 32; i++) lanes[i] = lane_of(5, 3, primitives);
  const warp_sums sums = replay(lanes, 32);
  assert_int_equal(sums.rounds, 4); /* the second primitive of the second node takes a round of its own */
  assert_int_equal(sums.node_steps, 3);
  assert_int_equal(sums.node_lanes, 3 * 32);
  assert_int_equal(sums.primitive_steps, 3);
  assert_int_equal(sums.primitive_lanes, 3 * 32);
  assert_int_equal(sums.nodes_apart, 3);
}

/* Round 1: both visit, the first tests. 2: the first tests, the second visits. 3: the first visits, the second has
 * ended. */
static void a_lane_that_tests_waits_for_no_visit(void **state) {
  (void)state;
  const uint32_t first[] = {2, 0}, second[] = {0, 1};
  warp_lane lanes[2] = {lane_of(0, 2, first), lane_of(7, 2, second)};
  const warp_sums sums = replay(lanes, 2);
  assert_int_equal(sums.rounds, 3);
  assert_int_equal(sums.node_steps, 3);
  assert_int_equal(sums.node_lanes, 4);
  assert_int_equal(sums.nodes_apart, 4);
  assert_int_equal(sums.primitive_steps, 2);
  assert_int_equal(sums.primitive_lanes, 3);
}

/* The first of two primitives is left by its short test, and another lane's only one, in the same step. */
static void primitives_that_are_left_take_steps_of_their_own(void **state) {
  (void)state;
  const step steps[] = {STEP_visit, STEP_blocks, STEP_exact, STEP_blocks};
  warp_lane lanes[2] = {{0}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    assert_true(warp_tell(&lanes[0], steps[i], 1));
    if (i < 3) assert_true(warp_tell(&lanes[1], steps[i], 1));
  }
  const warp_sums sums = replay(lanes, 2);
  assert_int_equal(sums.primitive_steps, 2);
  assert_int_equal(sums.primitive_lanes, 3);
  assert_int_equal(sums.exact_steps, 1);
  assert_int_equal(sums.exact_lanes, 2);
}

static void the_stack_is_told_as_it_was(void **state) {
  (void)state;
  warp_lane lane = {0};
  const struct {
    step what;
    uint32_t n;
  } steps[] = {{STEP_visit, 0}, {STEP_push, 1},  {STEP_visit, 1}, {STEP_push, 2},  {STEP_visit, 2},
               {STEP_pop, 2},   {STEP_visit, 3}, {STEP_pop, 1},   {STEP_visit, 4}, {STEP_push, 1}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) assert_true(warp_tell(&lane, steps[i].what, steps[i].n));
  assert_int_equal(lane.visits[3].depth, 1);
  const warp_sums sums = replay(&lane, 1);
  assert_int_equal(sums.push_steps, 3);
  assert_int_equal(sums.pop_lanes, 2);
  assert_int_equal(sums.depth, 2);
}

/* Every visit and test of a ray is a lane's; a warp takes no fewer steps than its longest ray, and no more than all. */
static void no_step_is_lost_or_made(void **state) {
  (void)state;
  random_state random = random_seed(20261125);
  for (int round = 0; round < 500; round++) {
    const uint32_t count = 1 + random_below(&random, WARP_MOST);
    warp_lane lanes[WARP_MOST];
    uint64_t visits = 0, tests = 0, longest = 0;
    for (uint32_t i = 0; i < count; i++) {
      uint32_t primitives[20], own = 0;
      const uint32_t length = random_below(&random, 20);
      for (uint32_t k = 0; k < length; k++) own += primitives[k] = random_below(&random, 4);
      lanes[i] = lane_of(random_below(&random, 9), length, primitives);
      visits += length;
      tests += own;
      longest = length > longest ? length : longest;
    }
    const warp_sums sums = replay(lanes, count);
    assert_int_equal(sums.node_lanes, visits);
    assert_int_equal(sums.primitive_lanes, tests);
    assert_in_range(sums.node_steps, longest, visits);
    assert_in_range(sums.primitive_steps, tests / count, tests);
    assert_true(sums.rounds >= sums.node_steps && sums.rounds <= sums.node_steps + sums.primitive_steps);
    assert_in_range(sums.nodes_apart, sums.node_steps, sums.node_lanes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_rays_keep_all_lanes_at_work),
      cmocka_unit_test(a_lane_that_tests_waits_for_no_visit),
      cmocka_unit_test(primitives_that_are_left_take_steps_of_their_own),
      cmocka_unit_test(the_stack_is_told_as_it_was),
      cmocka_unit_test(no_step_is_lost_or_made),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
