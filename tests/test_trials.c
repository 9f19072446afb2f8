/* Which tactic is chosen: on a device that is made up, where a ray takes as long as the test says. */
#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "tactics.h"

enum { RAYS = 1 << 20, STRETCH = 300000 };
static const float lower[3] = {0, 0, 0}, upper[3] = {1, 1, 1};

/* Nanoseconds of a ray `at` by a tactic, those of a device with two compute units. */
typedef double pace_of(slab_tactic, size_t at);

typedef struct outcome {
  size_t rays[TACTICS]; /* by each tactic, trials included */
  unsigned trials;
} outcome;

static outcome cast_in_lanes(uint32_t lanes, slab_tactic wanted, bool packets, const slab_ray *rays, size_t n,
                             pace_of *pace) {
  outcome o = {0};
  const slab_device_info device = {.compute_units = 2, .lane_width = lanes, .exact_divide = 1};
  tactics t = tactics_begin(wanted, packets, &device, rays, n, lower, upper);
  for (size_t at = 0; at < n;) {
    uint32_t count = (uint32_t)(n - at < STRETCH ? n - at : STRETCH);
    const bool trial = tactics_trying(&t);
    o.trials += trial;
    const slab_tactic tactic = tactics_next(&t, (uint32_t)(n - at), &count);
    assert_in_range(count, 1, n - at);
    o.rays[tactic] += count;
    tactics_note(&t, trial, tactic, count, 1e-5 + 1e-9 * count * pace(tactic, at)); /* and launching */
    at += count;
  }
  return o;
}

static outcome cast(slab_tactic wanted, bool packets, const slab_ray *rays, size_t n, pace_of *pace) {
  return cast_in_lanes(16, wanted, packets, rays, n, pace);
}

/* ---- rays ---- */

typedef enum set { CAMERA, LIGHT, ANY_WAY, ANYWHERE } set;

/* Released with free. */
static slab_ray *rays_of(set which) {
  harness_random random = harness_seeded("rays_of");
  slab_ray *rays = harness_room(RAYS * sizeof *rays);
  for (size_t i = 0; i < RAYS; i++) {
    const float x = (float)(i % 1024) / 1024, y = (float)(i / 1024) / 1024; /* NOLINT(bugprone-integer-division) */
    float o[3] = {x, y, 0}, d[3] = {x - 0.5f, y - 0.5f, 3};
    for (int k = 0; k < 3; k++) {
      if (which == CAMERA) o[k] = 0.5f;
      if (which == LIGHT) d[k] = 3 - o[k];
      if (which == ANYWHERE) o[k] = harness_uniform(&random, 0, 1);
      if (which >= ANY_WAY) d[k] = harness_uniform(&random, -1, 1);
    }
    rays[i] = (slab_ray){{o[0], o[1], o[2]}, 0, {d[0], d[1], d[2]}, INFINITY};
  }
  return rays;
}

static outcome cast_set(set which, pace_of *pace) {
  slab_ray *rays = rays_of(which);
  const outcome o = cast(SLAB_TACTIC_MEASURED, true, rays, RAYS, pace);
  free(rays);
  return o;
}

static double packets_lead(slab_tactic k, size_t at) { return (void)at, k == SLAB_TACTIC_PACKETS ? 100 : 120; }
static double packets_lag(slab_tactic k, size_t at) { return (void)at, k == SLAB_TACTIC_PACKETS ? 400 : 120; }
static double packets_win(slab_tactic k, size_t at) { return (void)at, k == SLAB_TACTIC_PACKETS ? 50 : 120; }
static double packets_lead_first(slab_tactic k, size_t at) {
  return at < RAYS / 2 ? packets_lead(k, at) : k == SLAB_TACTIC_PACKETS ? 150 : 120;
}
static double rays_meet_nothing(slab_tactic k, size_t at) { return (void)at, k == SLAB_TACTIC_PACKETS ? 3 : 2; }

/* ---- */

static void rays_of_a_camera_go_in_packets_untried(void **state) {
  (void)state;
  const outcome o = cast_set(CAMERA, packets_lag);
  assert_int_equal(o.rays[SLAB_TACTIC_PACKETS], RAYS);
  assert_int_equal(o.trials, 0);
}

static void rays_that_go_one_way_go_as_trials_say(void **state) {
  (void)state;
  outcome o = cast_set(LIGHT, packets_lead);
  assert_in_range(o.rays[SLAB_TACTIC_PACKETS], RAYS - RAYS / 16, RAYS - 1);
  assert_int_equal(o.trials, 16); /* four at each of four places */
  o = cast_set(LIGHT, packets_lag);
  assert_in_range(o.rays[SLAB_TACTIC_TURNS], RAYS - RAYS / 16, RAYS - 1);
  assert_int_equal(o.trials, 2); /* what is far behind is seen soon, and not asked again */
}

/* Trials at 0.05, 0.33, 0.6 and 0.88 of the rays. */
static void change_on_the_way_is_noticed(void **state) {
  (void)state;
  const outcome o = cast_set(LIGHT, packets_lead_first);
  assert_in_range(o.rays[SLAB_TACTIC_PACKETS], RAYS / 2, RAYS / 8 * 5);
  assert_in_range(o.rays[SLAB_TACTIC_TURNS], RAYS / 8 * 3, RAYS / 2);
}

/* What launching takes would say that they are equals. */
static void trials_of_hardly_any_time_need_a_clear_win(void **state) {
  (void)state;
  const outcome o = cast_set(LIGHT, rays_meet_nothing);
  assert_in_range(o.rays[SLAB_TACTIC_PACKETS], RAYS - RAYS / 16, RAYS - 1);
}

static void rays_that_go_any_way_go_in_turns_unless_packets_win(void **state) {
  (void)state;
  outcome o = cast_set(ANY_WAY, packets_lag);
  assert_in_range(o.rays[SLAB_TACTIC_TURNS], RAYS - RAYS / 64, RAYS - 1);
  o = cast_set(ANY_WAY, packets_win);
  assert_in_range(o.rays[SLAB_TACTIC_PACKETS], RAYS - RAYS / 16, RAYS - 1);
}

static double near_lead(slab_tactic k, size_t at) { return (void)at, k == SLAB_TACTIC_PACKETS ? 110 : 120; }

/* By less than a trial may be wrong by. */
static void small_lead_of_packets_is_not_believed(void **state) {
  (void)state;
  const outcome o = cast_set(ANY_WAY, near_lead);
  assert_in_range(o.rays[SLAB_TACTIC_TURNS], RAYS - RAYS / 32, RAYS - 1);
}

static double one_by_one_lead(slab_tactic k, size_t at) { return (void)at, k == SLAB_TACTIC_SINGLE ? 110 : 120; }
static double one_by_one_lag(slab_tactic k, size_t at) { return (void)at, k == SLAB_TACTIC_SINGLE ? 130 : 120; }

/* Where turns meet triangles one ray at a time, they may be the slower ones. */
static void narrow_devices_try_one_by_one(void **state) {
  (void)state;
  slab_ray *rays = rays_of(ANY_WAY);
  outcome o = cast_in_lanes(8, SLAB_TACTIC_MEASURED, true, rays, RAYS, one_by_one_lead);
  assert_in_range(o.rays[SLAB_TACTIC_SINGLE], RAYS / 16 * 15, RAYS - 1);
  o = cast_in_lanes(8, SLAB_TACTIC_MEASURED, true, rays, RAYS, one_by_one_lag);
  assert_in_range(o.rays[SLAB_TACTIC_TURNS], RAYS / 16 * 15, RAYS - 1);
  assert_int_equal(o.rays[SLAB_TACTIC_PACKETS], 0);
  free(rays);
}

static double slow(slab_tactic k, size_t at) { return (void)at, k == SLAB_TACTIC_SORTED ? 300 : 400; }
static double slow_for_nothing(slab_tactic k, size_t at) { return (void)at, k == SLAB_TACTIC_SORTED ? 500 : 400; }

/* 500 ns of a compute unit, of which there are two. */
static void scattered_rays_are_sorted_where_they_are_slow(void **state) {
  (void)state;
  outcome o = cast_set(ANYWHERE, packets_lead);
  assert_int_equal(o.rays[SLAB_TACTIC_TURNS], RAYS);
  assert_int_equal(o.trials, 1);
  o = cast_set(ANYWHERE, slow);
  assert_in_range(o.rays[SLAB_TACTIC_SORTED], RAYS - RAYS / 32, RAYS - 1);
  assert_int_equal(o.trials, 1);
}

static void sorting_ends_where_it_does_not_help(void **state) {
  (void)state;
  enum { MANY = 3 * RAYS };
  slab_ray *rays = rays_of(ANYWHERE), *many = harness_room(MANY * sizeof *many);
  for (size_t i = 0; i < MANY; i++) many[i] = rays[i % RAYS];
  const outcome o = cast(SLAB_TACTIC_MEASURED, true, many, MANY, slow_for_nothing);
  assert_int_equal(o.rays[SLAB_TACTIC_SORTED], RAYS); /* once */
  assert_int_equal(o.rays[SLAB_TACTIC_TURNS], MANY - RAYS);
  free(many);
  free(rays);
}

static void few_rays_are_not_tried(void **state) {
  (void)state;
  static const size_t few[] = {1, 63, 4095, 4096, 131071};
  slab_ray *rays = rays_of(ANY_WAY);
  for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
    const outcome o = cast(SLAB_TACTIC_MEASURED, true, rays, few[i], packets_lag);
    assert_int_equal(o.rays[few[i] < 4096 ? SLAB_TACTIC_SINGLE : SLAB_TACTIC_PACKETS], few[i]);
    assert_int_equal(o.trials, 0);
  }
  free(rays);
}

static void queries_without_packets_have_none(void **state) {
  (void)state;
  for (set which = CAMERA; which <= ANYWHERE; which++) {
    slab_ray *rays = rays_of(which);
    const outcome many = cast(SLAB_TACTIC_MEASURED, false, rays, RAYS, packets_lead);
    const outcome few = cast(SLAB_TACTIC_MEASURED, false, rays, 200000, packets_lead);
    assert_int_equal(many.rays[SLAB_TACTIC_PACKETS], 0);
    assert_int_equal(few.rays[SLAB_TACTIC_SINGLE], 200000);
    free(rays);
  }
}

static void tactic_that_is_wanted_is_kept(void **state) {
  (void)state;
  slab_ray *rays = rays_of(LIGHT);
  for (slab_tactic k = SLAB_TACTIC_PACKETS; k <= SLAB_TACTIC_SORTED; k++) {
    const outcome o = cast(k, true, rays, RAYS, packets_lag);
    assert_int_equal(o.rays[k], RAYS);
    assert_int_equal(o.trials, 0);
  }
  free(rays);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rays_of_a_camera_go_in_packets_untried),
      cmocka_unit_test(rays_that_go_one_way_go_as_trials_say),
      cmocka_unit_test(change_on_the_way_is_noticed),
      cmocka_unit_test(trials_of_hardly_any_time_need_a_clear_win),
      cmocka_unit_test(rays_that_go_any_way_go_in_turns_unless_packets_win),
      cmocka_unit_test(small_lead_of_packets_is_not_believed),
      cmocka_unit_test(narrow_devices_try_one_by_one),
      cmocka_unit_test(scattered_rays_are_sorted_where_they_are_slow),
      cmocka_unit_test(sorting_ends_where_it_does_not_help),
      cmocka_unit_test(few_rays_are_not_tried),
      cmocka_unit_test(queries_without_packets_have_none),
      cmocka_unit_test(tactic_that_is_wanted_is_kept),
  };
  return cmocka_run_group_tests_name("trials", tests, NULL, NULL);
}
