/* The choice of the traversal, on a simulated device where the test sets the time of a ray. */
#include <math.h>
#include <stdlib.h>

#include "harness.h"
#include "schedule/traversal_choice.h"

enum { RAYS = 1 << 20, STRETCH = 300000 };
static const float lower[3] = {0, 0, 0}, upper[3] = {1, 1, 1};

/* Nanoseconds per ray at index `at` by a traversal, on a device with two compute units. */
typedef double pace_of(slab_traversal, size_t at);

typedef struct outcome {
  size_t rays[TRAVERSALS]; /* by traversal, trials included */
  unsigned trials;
} outcome;

/* The request: closest hits, unless set otherwise. */
typedef struct wish {
  slab_query query;
  slab_traversal traversal;
  bool no_packets, ready, mixes;
  flat_choice flat;
  bool unlikely; /* brute force, to be the faster */
} wish;

/* The next chunk where so many rays are left. */
static chunk_choice chunk_at(traversal_choice *t, size_t left) {
  const chunk_plan plan = {(uint32_t)(left < STRETCH ? left : STRETCH), (uint32_t)left, left, 0};
  return traversal_choice_next(t, &plan);
}

static outcome cast_again(traversal_memory *memory, wish w, const slab_ray *rays, size_t n, pace_of *pace) {
  outcome o = {0};
  const uint32_t packets = w.no_packets ? 0u : 1u << SLAB_TRAVERSAL_PACKETS;
  const traversal_task task = {.query = w.query,
                               .wanted = w.traversal,
                               .traversals = packets | 1u << SLAB_TRAVERSAL_INTERLEAVED | 1u << SLAB_TRAVERSAL_SINGLE,
                               .rays = rays,
                               .n = n,
                               .lower = lower,
                               .upper = upper,
                               .compute_units = 2,
                               .ready = w.ready,
                               .mixes = w.mixes,
                               .flat = w.flat,
                               .flat_likely = !w.unlikely};
  traversal_choice t = traversal_choice_begin(&task, memory);
  for (size_t at = 0; at < n;) {
    const chunk_choice c = chunk_at(&t, n - at);
    o.trials += c.trial;
    assert_in_range(c.count, 1, n - at);
    o.rays[c.traversal] += c.count;
    traversal_choice_learn(&t, &c, c.count, 1e-5 + 1e-9 * c.count * pace(c.traversal, at), /* 1e-5: of a launch */
                           (sampled_times[CHUNK_SAMPLES]){0});
    at += c.count;
  }
  traversal_choice_end(&t, w.query, memory);
  return o;
}

/* The same where the backend mixes traversals: rays that others than the chunk's cast are its samples. */
static outcome cast_mixed_in(flat_choice flat, traversal_memory *memory, const slab_ray *rays, size_t n,
                             pace_of *pace) {
  enum { PIECE = 128 };
  outcome o = {0};
  const traversal_task task = {.query = SLAB_CLOSEST,
                               .wanted = SLAB_TRAVERSAL_AUTO,
                               .traversals = 0xFu,
                               .rays = rays,
                               .n = n,
                               .lower = lower,
                               .upper = upper,
                               .compute_units = 2,
                               .ready = true,
                               .mixes = true,
                               .flat = flat,
                               .flat_likely = true};
  traversal_choice t = traversal_choice_begin(&task, memory);
  for (size_t at = 0; at < n;) {
    sampled_times sampled[CHUNK_SAMPLES] = {0};
    const chunk_choice c = chunk_at(&t, n - at);
    const chunk_sample *samples = c.samples;
    const slab_traversal traversal = c.traversal;
    assert_false(c.trial);
    assert_int_equal(choice_is_alone(&t), t.mixes);
    o.rays[traversal] += c.count;
    for (int i = 0; i < CHUNK_SAMPLES && samples[i].each != 0; i++)
      for (size_t piece = samples[i].at; (piece + 2) * PIECE <= c.count; piece += samples[i].each) {
        const double own = pace(samples[i].traversal, at + piece * PIECE), beside = pace(traversal, at + piece * PIECE);
        sampled[i].rays += PIECE;
        sampled[i].beside += PIECE;
        sampled[i].seconds += 1e-9 * PIECE * own;
        sampled[i].beside_seconds += 1e-9 * PIECE * beside;
        o.rays[traversal] -= PIECE;
        o.rays[samples[i].traversal] += PIECE;
      }
    traversal_choice_learn(&t, &c, c.count, 1e-9 * c.count * pace(traversal, at), sampled);
    at += c.count;
  }
  traversal_choice_end(&t, SLAB_CLOSEST, memory);
  return o;
}

static outcome cast_mixed(traversal_memory *memory, const slab_ray *rays, size_t n, pace_of *pace) {
  return cast_mixed_in(FLAT_NEVER, memory, rays, n, pace);
}

static outcome cast(wish w, const slab_ray *rays, size_t n, pace_of *pace) {
  traversal_memory memory = {0};
  return cast_again(&memory, w, rays, n, pace);
}

/* ---- rays ---- */

typedef enum set { CAMERA, LIGHT, ANY_WAY, ANYWHERE } set;

/* Released with free. By another seed ANY_WAY may be taken for scattered: of some one in twelve. */
static slab_ray *rays_of(set which) {
  random_state random = harness_seeded("traversal_choice");
  slab_ray *rays = harness_space(RAYS * sizeof *rays);
  for (size_t i = 0; i < RAYS; i++) {
    const float x = (float)(i % 1024) / 1024, y = (float)(i / 1024) / 1024; /* NOLINT(bugprone-integer-division) */
    float o[3] = {x, y, 0}, d[3] = {x - 0.5f, y - 0.5f, 3};
    for (int k = 0; k < 3; k++) {
      if (which == CAMERA) o[k] = 0.5f;
      if (which == LIGHT) d[k] = 3 - o[k];
      if (which == ANYWHERE) o[k] = random_between(&random, 0, 1);
      if (which >= ANY_WAY) d[k] = random_between(&random, -1, 1);
    }
    rays[i] = (slab_ray){{o[0], o[1], o[2]}, 0, {d[0], d[1], d[2]}, INFINITY};
  }
  return rays;
}

static outcome cast_set(set which, pace_of *pace) {
  slab_ray *rays = rays_of(which);
  const outcome o = cast((wish){0}, rays, RAYS, pace);
  free(rays);
  return o;
}

/* For rays of a traversal that is not named: 120 ns. */
static double packets_lead(slab_traversal k, size_t at) { return (void)at, k == SLAB_TRAVERSAL_PACKETS ? 100 : 120; }
static double packets_lag(slab_traversal k, size_t at) {
  return (void)at, k == SLAB_TRAVERSAL_PACKETS ? 400 : k == SLAB_TRAVERSAL_SINGLE || k == TRAVERSAL_FLAT ? 200 : 120;
}
static double packets_win(slab_traversal k, size_t at) { return (void)at, k == SLAB_TRAVERSAL_PACKETS ? 50 : 120; }
static double packets_lead_first(slab_traversal k, size_t at) {
  return at < RAYS / 2                 ? packets_lead(k, at)
         : k == SLAB_TRAVERSAL_PACKETS ? 150
         : k == SLAB_TRAVERSAL_SINGLE  ? 130
                                       : 120;
}
static double one_by_one_leads(slab_traversal k, size_t at) { return (void)at, k == SLAB_TRAVERSAL_SINGLE ? 100 : 120; }
static double brute_force_leads(slab_traversal k, size_t at) { return (void)at, k == TRAVERSAL_FLAT ? 100 : 120; }
static double rays_meet_nothing(slab_traversal k, size_t at) { return (void)at, k == SLAB_TRAVERSAL_PACKETS ? 3 : 2; }

/* ---- */

static void rays_of_a_camera_go_in_packets_untried(void **state) {
  (void)state;
  const outcome o = cast_set(CAMERA, packets_lag);
  assert_int_equal(o.rays[SLAB_TRAVERSAL_PACKETS], RAYS);
  assert_int_equal(o.trials, 0);
}

static void rays_that_go_one_way_go_as_trials_say(void **state) {
  (void)state;
  outcome o = cast_set(LIGHT, packets_lead);
  assert_in_range(o.rays[SLAB_TRAVERSAL_PACKETS], RAYS / 16 * 14, RAYS - 1);
  assert_int_equal(o.trials, 18); /* six at each of three places */
  o = cast_set(LIGHT, packets_lag);
  assert_in_range(o.rays[SLAB_TRAVERSAL_INTERLEAVED], RAYS / 16 * 14, RAYS - 1);
  assert_int_equal(o.trials, 6); /* a clear loser is recognised early, and tried once more */
  o = cast_set(LIGHT, one_by_one_leads);
  assert_in_range(o.rays[SLAB_TRAVERSAL_SINGLE], RAYS / 16 * 13, RAYS - 1); /* after the first twentieth */
}

/* Trials at 0.05, 0.33, 0.65 and 0.96 of the rays. */
static void change_on_the_way_is_noticed(void **state) {
  (void)state;
  const outcome o = cast_set(LIGHT, packets_lead_first);
  assert_in_range(o.rays[SLAB_TRAVERSAL_PACKETS], RAYS / 2, RAYS / 16 * 11);
  assert_in_range(o.rays[SLAB_TRAVERSAL_INTERLEAVED], RAYS / 4, RAYS / 2);
}

/* Packets are fast in one row of four. */
static double packets_vary(slab_traversal k, size_t at) {
  return k == SLAB_TRAVERSAL_SINGLE ? 160 : k == SLAB_TRAVERSAL_INTERLEAVED ? 120 : at / 1024 % 4 == 0 ? 50 : 300;
}

/* Samples see all of a chunk, so the traversal is right from the second one on, and they cost little. */
static void samples_choose_what_is_faster_over_all(void **state) {
  (void)state;
  slab_ray *rays = rays_of(LIGHT);
  traversal_memory memory = {0};
  outcome o = cast_mixed(&memory, rays, RAYS, packets_vary);
  assert_in_range(o.rays[SLAB_TRAVERSAL_INTERLEAVED], RAYS / 16 * 11, RAYS); /* three chunks of four */
  o = cast_mixed(&memory, rays, RAYS, packets_vary);
  assert_in_range(o.rays[SLAB_TRAVERSAL_INTERLEAVED], RAYS / 16 * 15, RAYS - RAYS / 256);
  assert_in_range(o.rays[SLAB_TRAVERSAL_PACKETS], RAYS / 512, RAYS / 32);
  free(rays);
}

static void scattered_rays_of_small_scenes_begin_by_brute_force(void **state) {
  (void)state;
  slab_ray *rays = rays_of(ANYWHERE);
  traversal_memory memory = {0};
  const outcome o = cast_mixed_in(FLAT_BY_RESULTS, &memory, rays, RAYS, brute_force_leads);
  assert_in_range(o.rays[TRAVERSAL_FLAT], RAYS / 16 * 15, RAYS - RAYS / 256);
  assert_int_equal(o.rays[SLAB_TRAVERSAL_PACKETS], 0);
  const outcome unlearned = cast_mixed_in(FLAT_BY_ORDER, &memory, rays, RAYS, packets_lag);
  assert_int_equal(unlearned.rays[TRAVERSAL_FLAT], RAYS);
  free(rays);
}

/* Through the BVH, beside brute force and interleaved rays. */
static void single_rays_of_small_scenes_are_found(void **state) {
  (void)state;
  static const set sets[] = {ANY_WAY, ANYWHERE};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    slab_ray *rays = rays_of(sets[i]);
    traversal_memory memory = {0};
    cast_mixed_in(FLAT_BY_RESULTS, &memory, rays, RAYS, one_by_one_leads);
    const outcome o = cast_mixed_in(FLAT_BY_RESULTS, &memory, rays, RAYS, one_by_one_leads);
    assert_in_range(o.rays[SLAB_TRAVERSAL_SINGLE], RAYS / 16 * 14, RAYS);
    free(rays);
  }
}

/* Too few to see their order. */
static void a_few_rays_of_small_scenes_test_all_primitives(void **state) {
  (void)state;
  slab_ray *rays = rays_of(ANYWHERE);
  traversal_memory memory = {0};
  assert_int_equal(cast_mixed_in(FLAT_BY_RESULTS, &memory, rays, 64, packets_lag).rays[TRAVERSAL_FLAT], 64);
  assert_int_equal(cast_mixed(&memory, rays, 64, packets_lag).rays[SLAB_TRAVERSAL_SINGLE], 64);
  free(rays);
}

/* Those that miss the bounds end at the root of the BVH. */
static void brute_force_that_lags_is_left(void **state) {
  (void)state;
  slab_ray *rays = rays_of(ANYWHERE);
  traversal_memory memory = {0};
  cast_mixed_in(FLAT_BY_RESULTS, &memory, rays, RAYS, packets_lag);
  const outcome o = cast_mixed_in(FLAT_BY_RESULTS, &memory, rays, RAYS, packets_lag);
  assert_in_range(o.rays[SLAB_TRAVERSAL_INTERLEAVED], RAYS / 16 * 15, RAYS);
  free(rays);
}

static void cameras_of_small_scenes_begin_in_packets(void **state) {
  (void)state;
  slab_ray *rays = rays_of(CAMERA);
  traversal_memory memory = {0};
  const outcome o = cast_mixed_in(FLAT_BY_RESULTS, &memory, rays, RAYS, packets_lead);
  assert_in_range(o.rays[SLAB_TRAVERSAL_PACKETS], RAYS / 16 * 15, RAYS - RAYS / 256);
  assert_int_equal(o.rays[SLAB_TRAVERSAL_INTERLEAVED], 0);
  const outcome unlearned = cast_mixed_in(FLAT_BY_ORDER, &memory, rays, RAYS, packets_lag);
  assert_int_equal(unlearned.rays[SLAB_TRAVERSAL_PACKETS], RAYS);
  free(rays);
}

/* Other rays in the same order: the choice learned from the first changes within a cast. */
static void samples_of_other_rays_are_forgotten(void **state) {
  (void)state;
  slab_ray *rays = rays_of(LIGHT);
  traversal_memory memory = {0};
  for (int k = 0; k < 20; k++) cast_mixed(&memory, rays, RAYS, packets_win);
  const outcome first = cast_mixed(&memory, rays, RAYS, packets_win);
  assert_in_range(first.rays[SLAB_TRAVERSAL_PACKETS], RAYS / 16 * 15, RAYS - RAYS / 256);
  const outcome next = cast_mixed(&memory, rays, RAYS, packets_lag);
  assert_in_range(next.rays[SLAB_TRAVERSAL_INTERLEAVED], RAYS / 16 * 8, RAYS); /* after two chunks of four */
  const outcome later = cast_mixed(&memory, rays, RAYS, packets_lag);
  assert_in_range(later.rays[SLAB_TRAVERSAL_INTERLEAVED], RAYS / 16 * 15, RAYS);
  free(rays);
}

/* A traversal that takes 3.3 times as long gets pieces in one of eight chunks. One that takes 1.7 times as long gets as
 * many in each. */
static void samples_of_what_is_lost_are_rare(void **state) {
  (void)state;
  slab_ray *rays = rays_of(LIGHT);
  traversal_memory memory = {0};
  uint64_t lost = 0, behind = 0;
  cast_mixed(&memory, rays, RAYS, packets_lag);
  for (int k = 0; k < 4; k++) {
    const outcome o = cast_mixed(&memory, rays, RAYS, packets_lag);
    lost += o.rays[SLAB_TRAVERSAL_PACKETS];
    behind += o.rays[SLAB_TRAVERSAL_SINGLE];
  }
  assert_in_range(behind, 4 * RAYS / 512, 4 * RAYS / 256);
  assert_in_range(lost, 1, behind / 4);
  free(rays);
}

/* Calls of 64 pieces: a traversal that takes 1.2 times as long has a sample in every second of them. */
static void small_calls_notice_other_rays_too(void **state) {
  (void)state;
  enum { CALL = 64 * 128 };
  slab_ray *rays = rays_of(LIGHT);
  traversal_memory memory = {0};
  for (int k = 0; k < 20; k++) cast_mixed(&memory, rays, CALL, packets_lead);
  assert_in_range(cast_mixed(&memory, rays, CALL, packets_lead).rays[SLAB_TRAVERSAL_PACKETS], CALL / 8 * 7, CALL);
  for (int k = 0; k < 20; k++) cast_mixed(&memory, rays, CALL, packets_lag);
  assert_in_range(cast_mixed(&memory, rays, CALL, packets_lag).rays[SLAB_TRAVERSAL_INTERLEAVED], CALL / 8 * 7, CALL);
  free(rays);
}

/* ---- lists in small scenes ---- */

static outcome cast_lists(bool unlikely, traversal_memory *memory, const slab_ray *rays, size_t n, pace_of *pace) {
  const wish w = {.query = SLAB_ALL, .ready = true, .mixes = true, .flat = FLAT_BY_RESULTS, .unlikely = unlikely};
  return cast_again(memory, w, rays, n, pace);
}

/* Brute force and the BVH are not mixed, and calls are not cut. So whole calls take turns, from the second on. */
static void lists_of_small_scenes_take_turns(void **state) {
  (void)state;
  enum { CALL = 16384, CALLS = 1000 };
  static const struct {
    set rays;
    bool unlikely;
    slab_traversal first;
  } cases[] = {{CAMERA, false, SLAB_TRAVERSAL_PACKETS},
               {ANYWHERE, false, TRAVERSAL_FLAT},
               {ANYWHERE, true, SLAB_TRAVERSAL_INTERLEAVED}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    slab_ray *rays = rays_of(cases[i].rays);
    traversal_memory memory = {0};
    outcome o = cast_lists(cases[i].unlikely, &memory, rays, CALL - 1, brute_force_leads);
    assert_int_equal(o.rays[cases[i].first], CALL - 1);
    for (int k = 0; k < 6; k++) cast_lists(cases[i].unlikely, &memory, rays, CALL, brute_force_leads);
    unsigned best = 0;
    for (int k = 0; k < CALLS; k++) {
      o = cast_lists(cases[i].unlikely, &memory, rays, CALL, brute_force_leads);
      best += o.rays[TRAVERSAL_FLAT] == CALL;
      assert_int_equal(o.trials, 0);
    }
    assert_in_range(best, CALLS / 100 * 92, CALLS - 1);
    for (int k = 0; k < 600; k++) cast_lists(cases[i].unlikely, &memory, rays, CALL, packets_lag); /* other rays */
    o = cast_lists(cases[i].unlikely, &memory, rays, CALL, packets_lag);
    assert_int_equal(o.rays[cases[i].rays == CAMERA ? TRAVERSAL_FLAT : SLAB_TRAVERSAL_INTERLEAVED], CALL);
    free(rays);
  }
}

static unsigned packet_turns;
static double first_turns_mislead(slab_traversal k, size_t at) {
  (void)at;
  if (k == TRAVERSAL_FLAT) return 120;
  packet_turns++;
  return packet_turns == 1 ? 50 : packet_turns == 2 ? 200 : 100;
}

/* A short chunk and one that needs memory, on average slower than brute force. */
static void first_two_turns_do_not_decide(void **state) {
  (void)state;
  enum { CALL = 16384 };
  slab_ray *rays = rays_of(CAMERA);
  traversal_memory memory = {0};
  packet_turns = 0;
  for (int k = 0; k < 9; k++) cast_lists(false, &memory, rays, CALL, first_turns_mislead);
  assert_int_equal(cast_lists(false, &memory, rays, CALL, first_turns_mislead).rays[SLAB_TRAVERSAL_PACKETS], CALL);
  free(rays);
}

/* ---- few rays ---- */

/* Calls of a thread in turns on some small scenes, each of a pace of its own. */
enum { SCENES_IN_TURN = 64, FEW_CALLS = 1280000 };

typedef struct few_outcome {
  unsigned flat, timed;
} few_outcome;

static few_outcome cast_few_rays(few_choice *f, bool likely, double flat, double tree) {
  few_outcome o = {0, 0};
  for (int call = 0; call < FEW_CALLS; call++) {
    const few_turn turn = few_choice_next(f, likely);
    o.flat += turn.flat;
    o.timed += turn.timed;
    if (turn.timed) few_choice_learn(f, turn.flat, turn.flat ? flat : tree);
  }
  return o;
}

static void few_rays_are_cast_by_what_was_faster(void **state) {
  (void)state;
  for (int likely = 0; likely <= 1; likely++) {
    few_choice f = {.tree.calls = 0};
    cast_few_rays(&f, likely, 1.0e-7, 1.2e-7);
    few_outcome o = cast_few_rays(&f, likely, 1.0e-7, 1.2e-7);
    assert_in_range(o.flat, FEW_CALLS / 100 * 98, FEW_CALLS - 1);
    assert_in_range(o.timed, 1, FEW_CALLS / 50);
    cast_few_rays(&f, likely, 3.0e-7, 1.2e-7); /* other rays */
    o = cast_few_rays(&f, likely, 3.0e-7, 1.2e-7);
    assert_in_range(o.flat, 1, FEW_CALLS / 500);
    assert_in_range(o.timed, 1, FEW_CALLS / 500);
  }
}

/* The time of a thread that was disturbed for a second counts little. */
static void one_slow_call_of_few_rays_does_not_decide(void **state) {
  (void)state;
  few_choice f = {.tree.calls = 0};
  cast_few_rays(&f, true, 1.0e-7, 1.5e-7);
  few_choice_learn(&f, true, 1.0);
  assert_in_range(cast_few_rays(&f, true, 1.0e-7, 1.5e-7).flat, FEW_CALLS / 100 * 98, FEW_CALLS - 1);
}

/* As many scenes in turns as calls between two streaks: each has results, and none is always cast the other way. */
static void scenes_in_turn_all_learn(void **state) {
  (void)state;
  few_choice f[SCENES_IN_TURN] = {{.tree.calls = 0}};
  unsigned flat[SCENES_IN_TURN] = {0};
  for (int call = 0; call < FEW_CALLS; call++)
    for (int i = 0; i < SCENES_IN_TURN; i++) {
      const few_turn turn = few_choice_next(&f[i], false);
      flat[i] += call >= FEW_CALLS / 2 && turn.flat;
      if (turn.timed) few_choice_learn(&f[i], turn.flat, turn.flat ? 1.0e-7 : 1.4e-7);
    }
  for (int i = 0; i < SCENES_IN_TURN; i++) assert_in_range(flat[i], FEW_CALLS / 2 / 100 * 95, FEW_CALLS / 2);
}

/* Rays whose order decides, and few rays, have no samples. */
static void samples_are_taken_where_trials_would_be(void **state) {
  (void)state;
  slab_ray *camera = rays_of(CAMERA), *light = rays_of(LIGHT);
  traversal_memory memory = {0};
  const outcome all = cast_mixed(&memory, camera, RAYS, packets_lag),
                few = cast_mixed(&memory, light, 4000, packets_lag);
  assert_int_equal(all.rays[SLAB_TRAVERSAL_PACKETS], RAYS);
  assert_int_equal(few.rays[SLAB_TRAVERSAL_PACKETS], 4000);
  free(camera);
  free(light);
}

/* Launch overhead would make the traversals look equal. */
static void trials_of_hardly_any_time_need_a_clear_win(void **state) {
  (void)state;
  const outcome o = cast_set(LIGHT, rays_meet_nothing);
  assert_in_range(o.rays[SLAB_TRAVERSAL_PACKETS], RAYS / 16 * 14, RAYS - 1);
}

static void rays_that_go_any_way_go_in_turns_unless_packets_win(void **state) {
  (void)state;
  outcome o = cast_set(ANY_WAY, packets_lag);
  assert_in_range(o.rays[SLAB_TRAVERSAL_INTERLEAVED], RAYS - RAYS / 64, RAYS - 1);
  o = cast_set(ANY_WAY, packets_win);
  assert_in_range(o.rays[SLAB_TRAVERSAL_PACKETS], RAYS - RAYS / 16, RAYS - 1);
}

static double near_lead(slab_traversal k, size_t at) { return (void)at, k == SLAB_TRAVERSAL_INTERLEAVED ? 120 : 116; }

/* The lead is smaller than the error of a trial. */
static void small_lead_over_turns_is_not_believed(void **state) {
  (void)state;
  outcome o = cast_set(ANY_WAY, near_lead);
  assert_in_range(o.rays[SLAB_TRAVERSAL_INTERLEAVED], RAYS / 16 * 15, RAYS - 1);
  o = cast_set(ANY_WAY, one_by_one_leads);
  assert_in_range(o.rays[SLAB_TRAVERSAL_SINGLE], RAYS / 16 * 14, RAYS - 1);
}

static double slow(slab_traversal k, size_t at) { return (void)at, k == SLAB_TRAVERSAL_SORTED ? 300 : 400; }
static double slow_for_nothing(slab_traversal k, size_t at) { return (void)at, k == SLAB_TRAVERSAL_SORTED ? 500 : 400; }

/* Rays are sorted from 500 ns of one compute unit per ray. There are two units, so from 250 ns per ray. */
static void scattered_rays_are_sorted_where_they_are_slow(void **state) {
  (void)state;
  outcome o = cast_set(ANYWHERE, packets_lead);
  assert_int_equal(o.rays[SLAB_TRAVERSAL_INTERLEAVED], RAYS);
  assert_int_equal(o.trials, 1);
  o = cast_set(ANYWHERE, slow);
  assert_in_range(o.rays[SLAB_TRAVERSAL_SORTED], RAYS - RAYS / 32, RAYS - 1);
  assert_int_equal(o.trials, 1);
}

static void sorting_ends_where_it_does_not_help(void **state) {
  (void)state;
  enum { MANY = 3 * RAYS };
  slab_ray *rays = rays_of(ANYWHERE), *many = harness_space(MANY * sizeof *many);
  for (size_t i = 0; i < MANY; i++) many[i] = rays[i % RAYS];
  const outcome o = cast((wish){0}, many, MANY, slow_for_nothing);
  assert_int_equal(o.rays[SLAB_TRAVERSAL_SORTED], RAYS); /* once */
  assert_int_equal(o.rays[SLAB_TRAVERSAL_INTERLEAVED], MANY - RAYS);
  free(many);
  free(rays);
}

static unsigned disturbed; /* number of slow chunks to come */
static double disturbed_pace(double pace) { return disturbed == 0 ? pace : (disturbed--, 10 * pace); }
static double sorting_is_slow(slab_traversal k, size_t at) {
  return (void)at, disturbed_pace(k == SLAB_TRAVERSAL_SORTED ? 150 : 50);
}
static double turns_are_slow(slab_traversal k, size_t at) {
  return (void)at, disturbed_pace(k == SLAB_TRAVERSAL_PACKETS ? 50 : k == SLAB_TRAVERSAL_INTERLEAVED ? 150 : 400);
}

/* The rays of twelve casts that used `wrong`. The first trial of all is the nth chunk. It and the chunks before it
 * take ten times as long as usual. */
static size_t wrong_after_one_slow_trial(set which, unsigned first_trial, pace_of *pace, slab_traversal wrong) {
  traversal_memory memory = {0};
  slab_ray *rays = rays_of(which);
  size_t sum = 0;
  disturbed = first_trial;
  for (int k = 0; k < 12; k++) sum += cast_again(&memory, (wish){0}, rays, RAYS, pace).rays[wrong];
  free(rays);
  return sum;
}

/* It may decide until the next trials, but not forever. */
static void one_slow_trial_does_not_decide_for_ever(void **state) {
  (void)state;
  assert_in_range(wrong_after_one_slow_trial(ANYWHERE, 1, sorting_is_slow, SLAB_TRAVERSAL_SORTED), 1, 2 * RAYS);
  assert_in_range(wrong_after_one_slow_trial(LIGHT, 2, turns_are_slow, SLAB_TRAVERSAL_INTERLEAVED), 1, RAYS / 2);
}

static void few_rays_are_not_tried(void **state) {
  (void)state;
  static const size_t few[] = {1, 63, 4095, 4096, 131071};
  static const slab_traversal usual[] = {[CAMERA] = SLAB_TRAVERSAL_PACKETS,
                                         [LIGHT] = SLAB_TRAVERSAL_PACKETS,
                                         [ANY_WAY] = SLAB_TRAVERSAL_SINGLE,
                                         [ANYWHERE] = SLAB_TRAVERSAL_SINGLE};
  for (set which = CAMERA; which <= ANYWHERE; which++) {
    slab_ray *rays = rays_of(which);
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
      const outcome o = cast((wish){0}, rays, few[i], packets_lag);
      assert_int_equal(o.rays[few[i] < 4096 ? SLAB_TRAVERSAL_SINGLE : usual[which]], few[i]);
      assert_int_equal(o.trials, 0);
    }
    free(rays);
  }
}

/* Where no kernel has to be loaded. */
static void few_rays_go_like_many_where_kernels_are_ready(void **state) {
  (void)state;
  static const size_t few[] = {1, 64, 65, 300, 4095, 131071};
  static const slab_traversal usual[] = {[CAMERA] = SLAB_TRAVERSAL_PACKETS,
                                         [LIGHT] = SLAB_TRAVERSAL_PACKETS,
                                         [ANY_WAY] = SLAB_TRAVERSAL_INTERLEAVED,
                                         [ANYWHERE] = SLAB_TRAVERSAL_INTERLEAVED};
  for (set which = CAMERA; which <= ANYWHERE; which++) {
    slab_ray *rays = rays_of(which);
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
      const outcome o = cast((wish){.ready = true}, rays, few[i], packets_lag);
      assert_int_equal(o.rays[few[i] < 65 ? SLAB_TRAVERSAL_SINGLE : usual[which]], few[i]);
      assert_int_equal(o.trials, 0);
    }
    free(rays);
  }
}

static void queries_without_packets_have_none(void **state) {
  (void)state;
  for (set which = CAMERA; which <= ANYWHERE; which++) {
    slab_ray *rays = rays_of(which);
    const outcome many = cast((wish){.no_packets = true}, rays, RAYS, packets_lead);
    const outcome few = cast((wish){.no_packets = true}, rays, 200000, packets_lead);
    assert_int_equal(many.rays[SLAB_TRAVERSAL_PACKETS], 0);
    assert_int_equal(few.rays[SLAB_TRAVERSAL_SINGLE], 200000);
    free(rays);
  }
}

static void tactic_that_is_wanted_is_kept(void **state) {
  (void)state;
  slab_ray *rays = rays_of(LIGHT);
  for (slab_traversal k = SLAB_TRAVERSAL_PACKETS; k <= SLAB_TRAVERSAL_SORTED; k++) {
    const outcome o = cast((wish){.traversal = k}, rays, RAYS, packets_lag);
    assert_int_equal(o.rays[k], RAYS);
    assert_int_equal(o.trials, 0);
  }
  free(rays);
}

/* ---- from cast to cast ---- */

static void later_casts_know_what_earlier_ones_found(void **state) {
  (void)state;
  traversal_memory memory = {0};
  slab_ray *rays = rays_of(LIGHT), *others = rays_of(ANY_WAY);
  unsigned trials = 0;
  assert_int_not_equal(cast_again(&memory, (wish){0}, rays, RAYS, one_by_one_leads).trials, 0);
  for (int k = 0; k < 16; k++) {
    const outcome o = cast_again(&memory, (wish){0}, rays, RAYS, one_by_one_leads);
    assert_in_range(o.rays[SLAB_TRAVERSAL_SINGLE], RAYS / 32 * 30, RAYS);
    trials += o.trials;
  }
  assert_in_range(trials, 6, 48); /* trials are repeated, less and less often */
  /* Other queries, and rays in another order, are tried separately. */
  assert_in_range(cast_again(&memory, (wish){.query = SLAB_ANY}, rays, RAYS, packets_lead).trials, 6, 24);
  assert_int_equal(cast_again(&memory, (wish){0}, others, RAYS, packets_lag).trials, 3);
  free(rays);
  free(others);
}

static void change_between_casts_is_noticed(void **state) {
  (void)state;
  traversal_memory memory = {0};
  slab_ray *rays = rays_of(LIGHT);
  outcome o = {0};
  for (int k = 0; k < 8; k++) o = cast_again(&memory, (wish){0}, rays, RAYS, packets_lead);
  assert_in_range(o.rays[SLAB_TRAVERSAL_PACKETS], RAYS / 32 * 31, RAYS);
  for (int k = 0; k < 8; k++) o = cast_again(&memory, (wish){0}, rays, RAYS, packets_lag);
  assert_in_range(o.rays[SLAB_TRAVERSAL_INTERLEAVED], RAYS / 32 * 31, RAYS);
  free(rays);
}

/* A trial needs a minimum number of rays. They may come from several casts. */
static void small_casts_are_tried_once_there_were_many(void **state) {
  (void)state;
  enum { SMALL = 10000 };
  traversal_memory memory = {0};
  slab_ray *rays = rays_of(LIGHT);
  unsigned trials = 0;
  outcome o = {0};
  for (int k = 0; k < 200; k++) {
    o = cast_again(&memory, (wish){0}, rays, SMALL, packets_lag);
    trials += o.trials;
    assert_true(k > 12 || trials == 0);
  }
  assert_in_range(trials, 3, 12);
  assert_int_equal(o.rays[SLAB_TRAVERSAL_INTERLEAVED], SMALL);
  free(rays);
}

static void slow_rays_are_sorted_from_the_first_on_next_time(void **state) {
  (void)state;
  traversal_memory memory = {0};
  slab_ray *rays = rays_of(ANYWHERE);
  cast_again(&memory, (wish){0}, rays, RAYS, slow);
  const outcome o = cast_again(&memory, (wish){0}, rays, RAYS, slow);
  assert_int_equal(o.rays[SLAB_TRAVERSAL_SORTED], RAYS);
  assert_int_equal(o.trials, 0);
  free(rays);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rays_of_a_camera_go_in_packets_untried),
      cmocka_unit_test(rays_that_go_one_way_go_as_trials_say),
      cmocka_unit_test(change_on_the_way_is_noticed),
      cmocka_unit_test(trials_of_hardly_any_time_need_a_clear_win),
      cmocka_unit_test(rays_that_go_any_way_go_in_turns_unless_packets_win),
      cmocka_unit_test(small_lead_over_turns_is_not_believed),
      cmocka_unit_test(scattered_rays_are_sorted_where_they_are_slow),
      cmocka_unit_test(sorting_ends_where_it_does_not_help),
      cmocka_unit_test(one_slow_trial_does_not_decide_for_ever),
      cmocka_unit_test(few_rays_are_not_tried),
      cmocka_unit_test(few_rays_go_like_many_where_kernels_are_ready),
      cmocka_unit_test(samples_choose_what_is_faster_over_all),
      cmocka_unit_test(samples_of_other_rays_are_forgotten),
      cmocka_unit_test(small_calls_notice_other_rays_too),
      cmocka_unit_test(lists_of_small_scenes_take_turns),
      cmocka_unit_test(first_two_turns_do_not_decide),
      cmocka_unit_test(few_rays_are_cast_by_what_was_faster),
      cmocka_unit_test(one_slow_call_of_few_rays_does_not_decide),
      cmocka_unit_test(scenes_in_turn_all_learn),
      cmocka_unit_test(samples_of_what_is_lost_are_rare),
      cmocka_unit_test(samples_are_taken_where_trials_would_be),
      cmocka_unit_test(queries_without_packets_have_none),
      cmocka_unit_test(tactic_that_is_wanted_is_kept),
      cmocka_unit_test(later_casts_know_what_earlier_ones_found),
      cmocka_unit_test(change_between_casts_is_noticed),
      cmocka_unit_test(small_casts_are_tried_once_there_were_many),
      cmocka_unit_test(scattered_rays_of_small_scenes_begin_by_brute_force),
      cmocka_unit_test(single_rays_of_small_scenes_are_found),
      cmocka_unit_test(a_few_rays_of_small_scenes_test_all_primitives),
      cmocka_unit_test(brute_force_that_lags_is_left),
      cmocka_unit_test(cameras_of_small_scenes_begin_in_packets),
      cmocka_unit_test(slow_rays_are_sorted_from_the_first_on_next_time),
  };
  return cmocka_run_group_tests_name("trials", tests, NULL, NULL);
}
