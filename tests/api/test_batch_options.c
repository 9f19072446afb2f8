/* Effects of options on a batch: masks, skips, the invalid count, culling, progress and cancelling. */
#include <stdlib.h>
#include <string.h>

#include "counting_scene.h"
#include "harness.h"

typedef struct world {
  slab_context *context;
  slab_scene *scene;
} world;

/* Three sheets, one box and one plane above each other over (0, 0). Each is a geometry with its own mask. A ray down
 * from z = 9 hits them at t = 1 (sheet 0), 2 (sheet 1), 3 (sheet 2), 5 (box top), 7 (plane). Far away are one sphere
 * and one oriented box: with all kinds the scene shares the programs of other tests. */
enum { SHEETS, TOP_BOX, FLOOR };
#define SHEET_MASK 1u
#define BOX_MASK 0x80000000u
#define FLOOR_MASK 6u

static void add_sheets(slab_scene *scene) {
  float vertices[9][3];
  for (int i = 0; i < 3; i++) {
    const float z = 8.0f - (float)i;
    const float corners[3][3] = {{-4, -4, z}, {8, -4, z}, {-4, 8, z}};
    memcpy(vertices[3 * i], corners, sizeof corners);
  }
  const slab_mesh mesh = {vertices[0], 0, 9, NULL, 3, NULL};
  const slab_geometry_options options = {.mask = SHEET_MASK};
  assert_ok(slab_scene_add_mesh(scene, &mesh, &options, NULL));
}

static void add_far_away(slab_scene *scene) {
  const slab_sphere sphere = {{900, 900, 900}, 1};
  const slab_obb obb = {{-900, 900, 900}, {1, 1, 1}, {{0.6f, 0.8f, 0}, {-0.8f, 0.6f, 0}, {0, 0, 1}}};
  assert_ok(slab_scene_add_spheres(scene, &sphere, 1, NULL, NULL));
  assert_ok(slab_scene_add_obbs(scene, &obb, 1, NULL, NULL));
}

static int open_world(void **state) {
  world *w = calloc(1, sizeof *w);
  assert_non_null(w);
  const slab_box box = {{-1, -1, 3}, {1, 1, 4}};
  const slab_plane floor = {{0, 0, 1}, 2};
  const slab_geometry_options on_box = {.mask = BOX_MASK}, on_floor = {.mask = FLOOR_MASK};
  w->context = harness_context();
  assert_ok(slab_scene_create(w->context, &w->scene));
  add_sheets(w->scene);
  assert_ok(slab_scene_add_boxes(w->scene, &box, 1, &on_box, NULL));
  assert_ok(slab_scene_add_planes(w->scene, &floor, 1, &on_floor, NULL));
  add_far_away(w->scene);
  assert_ok(slab_scene_commit(w->scene, NULL));
  *state = w;
  return 0;
}

static int close_world(void **state) {
  world *w = *state;
  slab_scene_destroy(w->scene);
  slab_context_destroy(w->context);
  free(w);
  return 0;
}

static slab_ray down(void) { return (slab_ray){{0.25f, 0.25f, 9.0f}, 0.0f, {0, 0, -1}, INFINITY}; }

/* All queries of one ray down: the first hit is at t in this geometry, and there are `count` hits. */
static void assert_down(slab_scene *scene, const slab_cast_options *options, float t, uint32_t geometry,
                        uint32_t primitive, uint32_t count) {
  const slab_ray ray = down();
  slab_hit hit, hits[8];
  float distance;
  uint8_t any;
  uint32_t counted;
  slab_interval interval;
  uint64_t offsets[2];
  assert_ok(slab_closest(scene, &ray, 1, &hit, options));
  assert_ok(slab_distance(scene, &ray, 1, &distance, options));
  assert_ok(slab_any(scene, &ray, 1, &any, options));
  assert_ok(slab_count(scene, &ray, 1, &counted, options));
  assert_ok(slab_interval_of(scene, &ray, 1, &interval, options));
  assert_ok(slab_all(scene, &ray, 1, offsets, hits, 8, NULL, options));
  assert_true(hit.t == t && distance == t && interval.enter == t);
  assert_int_equal(hit.geometry, geometry);
  assert_int_equal(hit.primitive, primitive);
  assert_int_equal(interval.geometry, geometry);
  assert_int_equal(interval.primitive, primitive);
  assert_int_equal(any, count > 0);
  assert_int_equal(counted, count);
  assert_int_equal(offsets[1], count);
  if (count > 0) assert_same_bits(&hits[0], &hit, 1, sizeof hit);
}

/* ---- masks ---- */

static void geometry_is_seen_where_a_bit_is_common(void **state) {
  const world *w = *state;
  const struct {
    uint32_t mask;
    float t;
    uint32_t geometry, primitive, count;
  } cases[] = {
      {0, 1, SHEETS, 0, 5}, /* all bits */
      {UINT32_MAX, 1, SHEETS, 0, 5},
      {SHEET_MASK, 1, SHEETS, 0, 3},
      {BOX_MASK, 5, TOP_BOX, 0, 1},
      {2, 7, FLOOR, 0, 1},
      {4, 7, FLOOR, 0, 1},
      {12, 7, FLOOR, 0, 1},
      {BOX_MASK | 2, 5, TOP_BOX, 0, 2},
      {8, INFINITY, SLAB_MISS, SLAB_MISS, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const slab_cast_options options = {.mask = cases[i].mask};
    assert_down(w->scene, &options, cases[i].t, cases[i].geometry, cases[i].primitive, cases[i].count);
  }
  assert_down(w->scene, NULL, 1, SHEETS, 0, 5);
}

/* ---- skip ---- */

static void skipped_surface_is_not_seen(void **state) {
  const world *w = *state;
  const struct {
    slab_primitive_id skip;
    float t;
    uint32_t primitive, count;
  } cases[] = {
      {{0, SHEETS}, 2, 1, 4},
      {{1, SHEETS}, 1, 0, 4},
      {{2, SHEETS}, 1, 0, 4},
      {{0, FLOOR}, 1, 0, 4},
      {{0, TOP_BOX}, 1, 0, 5}, /* boxes are not skipped */
      {{3, SHEETS}, 1, 0, 5},  /* names no primitive, in particular not the first of the next geometry */
      {{4, SHEETS}, 1, 0, 5},
      {{0, 3}, 1, 0, 5},
      {{UINT32_MAX, 0}, 1, 0, 5},
      {{0, UINT32_MAX}, 1, 0, 5},
      {{SLAB_MISS, SLAB_MISS}, 1, 0, 5},
      {{SLAB_INVALID, SLAB_INVALID}, 1, 0, 5}, /* the id of an invalid ray, passed on */
      {{UINT32_MAX - 1, FLOOR}, 1, 0, 5},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const slab_cast_options options = {.skip = &cases[i].skip};
    assert_down(w->scene, &options, cases[i].t, SHEETS, cases[i].primitive, cases[i].count);
  }
}

static void each_ray_has_a_skip_of_its_own_in_every_launch(void **state) {
  (void)state;
  enum { N = 1000 };
  const slab_context_options narrow = {.lane_width = harness_width(), .launch_rays = 77};
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  assert_ok(slab_context_create(&narrow, &context));
  assert_ok(slab_scene_create(context, &scene));
  add_sheets(scene);
  assert_ok(slab_scene_commit(scene, NULL));
  slab_ray rays[N];
  slab_primitive_id skip[N];
  slab_hit hits[N];
  for (uint32_t i = 0; i < N; i++) {
    rays[i] = down();
    skip[i] = i % 4 == 3 ? (slab_primitive_id){SLAB_MISS, SLAB_MISS} : (slab_primitive_id){i % 4, 0};
  }
  const slab_cast_options options = {.skip = skip};
  assert_ok(slab_closest(scene, rays, N, hits, &options));
  for (uint32_t i = 0; i < N; i++) {
    assert_int_equal(hits[i].primitive, i % 4 == 0 ? 1 : 0);
    assert_true(hits[i].t == (i % 4 == 0 ? 2.0f : 1.0f));
  }
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

/* ---- the invalid count ---- */

static void invalid_rays_are_counted_once(void **state) {
  (void)state;
  enum { N = 10000 };
  const uint32_t launches[] = {0, 77};
  for (int l = 0; l < 2; l++) {
    const slab_context_options launch = {.lane_width = harness_width(), .launch_rays = launches[l]};
    slab_context *context = NULL;
    assert_ok(slab_context_create(&launch, &context));
    slab_scene *scene = counting_scene(context);
    slab_ray *rays = counting_rays(N);
    slab_hit *results = malloc(N * sizeof *results * COUNTING_COLUMNS);
    uint64_t invalid = 9, *offsets = malloc((N + 1) * sizeof *offsets);
    const slab_cast_options options = {.invalid = &invalid};
    assert_true(results != NULL && offsets != NULL);
    for (int q = 0; q < EACH_QUERY_COUNT; q++, invalid = 9) {
      assert_ok(cast_query(scene, each_query(q), rays, N, results, &options));
      assert_true(invalid == counting_invalid(N));
    }
    for (int pass = 0; pass < 2; pass++, invalid = 9) {
      assert_ok(slab_all(scene, rays, N, offsets, results, pass == 0 ? 0 : N * COUNTING_COLUMNS, NULL, &options));
      assert_true(invalid == counting_invalid(N));
    }
    free(offsets);
    free(results);
    free(rays);
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
}

static void every_way_of_being_invalid_counts(void **state) {
  const world *w = *state;
  const float far = 0x1.000002p60f;
  const slab_ray rays[] = {{{NAN, 0, 9}, 0, {0, 0, -1}, 1},
                           {{0, NAN, 9}, 0, {0, 0, -1}, 1},
                           {{0, 0, NAN}, 0, {0, 0, -1}, 1},
                           {{0, 0, 9}, NAN, {0, 0, -1}, 1},
                           {{0, 0, 9}, 0, {NAN, 0, -1}, 1},
                           {{0, 0, 9}, 0, {0, NAN, -1}, 1},
                           {{0, 0, 9}, 0, {0, 0, NAN}, 1},
                           {{0, 0, 9}, 0, {0, 0, -1}, NAN},
                           {{INFINITY, 0, 9}, 0, {0, 0, -1}, 1},
                           {{0, 0, -INFINITY}, 0, {0, 0, -1}, 1},
                           {{0, 0, 9}, 0, {0, INFINITY, -1}, 1},
                           {{0, 0, 9}, 0, {0, 0, -INFINITY}, 1},
                           {{0, 0, 9}, 0, {0, 0, 0}, 1},
                           {{0, 0, 9}, 0, {0, -0.0f, 0}, 1},
                           {{far, 0, 9}, 0, {0, 0, -1}, 1},
                           {{0, -far, 9}, 0, {0, 0, -1}, 1},
                           /* these are valid */
                           {{0, 0, 9}, 1, {0, 0, -1}, 0},
                           {{0, 0, 9}, -INFINITY, {0, 0, -1}, INFINITY},
                           {{0x1p60f, 0, 9}, 0, {0, 0, -1}, 1},
                           {{0, 0, 9}, 0, {0, 0, 0x1p-149f}, 1},
                           {{0, 0, 9}, 0, {0, 0, 0x1p127f}, 1}};
  enum { N = sizeof rays / sizeof *rays, INVALID_RAYS = 16 };
  slab_hit hits[N];
  slab_interval intervals[N];
  uint64_t invalid = 9;
  const slab_cast_options options = {.invalid = &invalid};
  assert_ok(slab_interval_of(w->scene, rays, N, intervals, &options));
  assert_true(invalid == INVALID_RAYS);
  assert_ok(slab_closest(w->scene, rays, N, hits, &options));
  assert_true(invalid == INVALID_RAYS);
  for (size_t i = 0; i < N; i++) {
    assert_int_equal(hits[i].primitive == SLAB_INVALID && hits[i].geometry == SLAB_INVALID, i < INVALID_RAYS);
    assert_int_equal(intervals[i].primitive == SLAB_INVALID, i < INVALID_RAYS);
  }
}

/* ---- culling and facing ---- */

static void culling_and_facing_reach_the_kernels(void **state) {
  const world *w = *state;
  const slab_cast_options back = {.mask = BOX_MASK, .cull = SLAB_CULL_BACK};
  const slab_cast_options front = {.mask = BOX_MASK, .cull = SLAB_CULL_FRONT};
  const slab_cast_options turned = {.mask = BOX_MASK, .cull = SLAB_CULL_FRONT, .face_forward = 1};
  const slab_ray ray = down();
  slab_hit hit;
  slab_interval interval;
  assert_ok(slab_closest(w->scene, &ray, 1, &hit, &back));
  assert_true(hit.t == 5.0f && hit.normal[2] == 1.0f && hit.u == 5.0f);
  assert_ok(slab_closest(w->scene, &ray, 1, &hit, &front));
  assert_true(hit.t == 6.0f && hit.normal[2] == -1.0f && hit.u == 4.0f);
  assert_ok(slab_closest(w->scene, &ray, 1, &hit, &turned));
  assert_true(hit.t == 6.0f && hit.normal[2] == 1.0f && hit.u == 4.0f);
  assert_ok(slab_interval_of(w->scene, &ray, 1, &interval, &front)); /* solids are not culled */
  assert_true(interval.enter == 5.0f && interval.leave == 6.0f);
}

/* ---- progress ---- */

typedef struct journal {
  uint64_t done, total, calls, cancel_at;
  int out_of_order;
} journal;

static int note(void *user, uint64_t done, uint64_t total) {
  journal *j = user;
  j->out_of_order |= done <= j->done || done > total || (j->calls > 0 && total != j->total);
  j->done = done;
  j->total = total;
  j->calls++;
  return j->calls == j->cancel_at;
}

static slab_scene *scene_with_launches_of_100(slab_context **context) {
  const slab_context_options options = {.lane_width = harness_width(), .launch_rays = 100};
  assert_ok(slab_context_create(&options, context));
  return counting_scene(*context);
}

static void progress_rises_to_the_total(void **state) {
  (void)state;
  enum { N = 1050 };
  slab_context *context = NULL;
  slab_scene *scene = scene_with_launches_of_100(&context);
  slab_ray *rays = counting_rays(N);
  slab_hit *results = malloc(N * COUNTING_COLUMNS * sizeof *results);
  uint64_t offsets[N + 1];
  assert_non_null(results);
  for (int q = 0; q < EACH_QUERY_COUNT; q++) {
    journal j = {0};
    const slab_cast_options options = {.progress = note, .user = &j};
    assert_ok(cast_query(scene, each_query(q), rays, N, results, &options));
    assert_false(j.out_of_order);
    assert_true(j.done == N && j.total == N && j.calls >= 11);
    counting_verify(each_query(q), 0, N, results);
  }
  for (int pass = 0; pass < 2; pass++) { /* how slab_all divides its progress between its passes is not specified */
    journal j = {0};
    const slab_cast_options options = {.progress = note, .user = &j};
    assert_ok(slab_all(scene, rays, N, offsets, results, pass == 0 ? 0 : N * COUNTING_COLUMNS, NULL, &options));
    assert_false(j.out_of_order);
    assert_true(j.done == j.total && j.calls >= 11);
  }
  free(results);
  free(rays);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

static void cancelling_ends_the_cast(void **state) {
  (void)state;
  enum { N = 1050 };
  slab_context *context = NULL;
  slab_scene *scene = scene_with_launches_of_100(&context);
  slab_ray *rays = counting_rays(N);
  slab_hit *results = malloc(N * COUNTING_COLUMNS * sizeof *results);
  uint64_t offsets[N + 1];
  assert_non_null(results);
  for (int q = 0; q <= EACH_QUERY_COUNT; q++) {
    journal j = {.cancel_at = 3};
    const slab_cast_options options = {.progress = note, .user = &j};
    if (q == EACH_QUERY_COUNT) {
      assert_status(slab_all(scene, rays, N, offsets, results, N * COUNTING_COLUMNS, NULL, &options), SLAB_CANCELLED);
    } else {
      assert_status(cast_query(scene, each_query(q), rays, N, results, &options), SLAB_CANCELLED);
      counting_verify(each_query(q), 0, (size_t)j.done, results); /* results written before the cancel remain */
    }
    assert_true(j.calls == 3 && j.done < N);
    assert_ok(slab_closest(scene, rays, N, results, NULL)); /* the scene can still be cast */
    counting_verify(SLAB_CLOSEST, 0, N, results);
  }
  free(results);
  free(rays);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

int main(void) {
#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)
  const struct CMUnitTest tests[] = {
      IN_A_WORLD(geometry_is_seen_where_a_bit_is_common),
      IN_A_WORLD(skipped_surface_is_not_seen),
      cmocka_unit_test(each_ray_has_a_skip_of_its_own_in_every_launch),
      cmocka_unit_test(invalid_rays_are_counted_once),
      IN_A_WORLD(every_way_of_being_invalid_counts),
      IN_A_WORLD(culling_and_facing_reach_the_kernels),
      cmocka_unit_test(progress_rises_to_the_total),
      cmocka_unit_test(cancelling_ends_the_cast),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
