/* Coordinates in double: to rays from within its bounds a scene far from 0 answers bit by bit as the same scene near 0,
 * with any contents, and after any changes. Rays from elsewhere hit within the accuracy of float for the scene's own
 * size. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "sets/answers.h"
#include "sets/far_scene.h"

enum { RAYS = 301, SHAPES = 10 };

/* ---- casting ---- */

/* The answers of all queries to rays of doubles. */
typedef struct far_answers {
  slab_hit64 closest[RAYS], *all;
  double distance[RAYS];
  uint8_t any[RAYS];
  uint32_t count[RAYS];
  uint64_t offsets[RAYS + 1];
  slab_interval64 interval[RAYS];
  slab_short_hit64 nearest[RAYS];
  uint64_t invalid;
} far_answers;

static void *memory_of(far_answers *a, slab_query query) {
  switch (query) {
    case SLAB_CLOSEST:
      return a->closest;
    case SLAB_DISTANCE:
      return a->distance;
    case SLAB_ANY:
      return a->any;
    case SLAB_COUNT:
      return a->count;
    case SLAB_INTERVAL:
      return a->interval;
    case SLAB_NEAREST:
      return a->nearest;
    case SLAB_ALL:
      return a->all;
  }
  return NULL;
}

static void cast64(far_answers *a, slab_query query, slab_scene *scene, const slab_ray64 *rays, size_t n) {
  const slab_source source = {.rays64 = rays, .n = n};
  const slab_cast_options options = {.invalid = &a->invalid};
  slab_results results = {.memory = memory_of(a, query), .offsets = query == SLAB_ALL ? a->offsets : NULL};
  assert_ok(slab_cast(scene, query, &source, &results, &options));
  harness_count(n);
  if (query != SLAB_ALL) return;
  a->all = harness_space((size_t)results.required * sizeof *a->all + 1);
  results.memory = a->all;
  results.capacity = results.required;
  if (results.required > 0) assert_ok(slab_cast(scene, query, &source, &results, &options));
}

static void cast_all64(far_answers *a, slab_scene *scene, const slab_ray64 *rays, size_t n) {
  for (int q = 0; q < SLAB_QUERY_COUNT; q++) cast64(a, (slab_query)q, scene, rays, n);
}

/* ---- comparing ---- */

/* The order is t by another power of two. */
static void same_order(float order, float t) {
  int exponent;
  const bool plain = t == 0.0f || isinf(t);
  if (plain ? order != t : frexpf(order / t, &exponent) != 0.5f)
    fail_msg("order is %g, and t %g", (double)order, (double)t);
}

static void same_hit(const slab_hit64 *far, const slab_hit *near) {
  const slab_hit64 want = {
      near->t,   {near->normal[0], near->normal[1], near->normal[2]}, near->u, near->v, near->primitive, near->geometry,
      far->order};
  assert_same_bits(far, &want, 1, sizeof want);
  same_order(far->order, near->t);
}

/* t is that of the near scene: nothing has moved where rays begin, and directions are scaled by powers of two. */
static void same_answers(const far_answers *far, const answers *near, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const slab_short_hit *s = &near->nearest[i];
    const slab_interval *v = &near->interval[i];
    const slab_short_hit64 nearest = {s->t, s->primitive, s->geometry, far->closest[i].order, 0};
    const slab_interval64 interval = {v->enter, v->leave, v->primitive, v->geometry};
    same_hit(&far->closest[i], &near->closest[i]);
    assert_same_bits(&far->nearest[i], &nearest, 1, sizeof nearest);
    assert_same_bits(&far->interval[i], &interval, 1, sizeof interval);
    assert_true(far->distance[i] == near->distance[i]);
    assert_int_equal(far->any[i], near->any[i]);
    assert_int_equal(far->count[i], near->count[i]);
    assert_int_equal(far->offsets[i + 1], near->offsets[i + 1]);
  }
  for (uint64_t k = 0; k < near->offsets[n]; k++) same_hit(&far->all[k], &near->all[k]);
  assert_int_equal(far->invalid, near->invalid[SLAB_CLOSEST]);
}

static void compare(far_scene *f) {
  slab_ray near[RAYS];
  slab_ray64 far[RAYS];
  far_answers *a = harness_space(sizeof *a);
  answers b = {0};
  assert_ok(far_scene_rays(f, RAYS, near, far));
  cast_all64(a, f->far, far, RAYS);
  assert_ok(answers_cast_all(&b, f->near, near, RAYS, NULL));
  same_answers(a, &b, RAYS);
  answers_free(&b);
  free(a->all);
  free(a);
}

static void open_pair(far_scene *f, slab_context *context, const char *test, bool given) {
  random_state random = harness_seeded(test);
  assert_ok(far_scene_open(f, context, random_bits(&random), given));
}

static void add_kinds(far_scene *f, uint32_t n) {
  for (int kind = SLAB_SPHERE; kind <= SLAB_TRIANGLE; kind++) assert_ok(far_scene_add(f, (slab_shape)kind, n, NULL));
}

static void the_far_scene_answers_as_the_near_one(void **state) {
  for (int k = 0; k < 2; k++)
    for (uint32_t n = SHAPES; n < SHAPES + 2; n++) {
      far_scene f;
      slab_context *context = harness_shared(k == 0 ? SLAB_LAYOUT_WIDE : SLAB_LAYOUT_COMPRESSED);
      open_pair(&f, context, "kinds", true);
      add_kinds(&f, n);
      assert_ok(far_scene_add(&f, SLAB_PLANE, 2, NULL));
      assert_ok(far_scene_commit(&f));
      compare(&f);
      far_scene_close(&f);
    }
  (void)state;
}

static void updates_are_of_the_world(void **state) {
  far_scene f;
  open_pair(&f, harness_shared(SLAB_LAYOUT_WIDE), "updates", true);
  assert_ok(far_scene_add(&f, SLAB_PLANE, SHAPES, NULL));
  add_kinds(&f, SHAPES);
  for (int round = 0; round < 3; round++) {
    for (uint32_t g = SLAB_PLANE; g <= SLAB_TRIANGLE; g++) {
      if (round != 1) assert_ok(far_scene_update(&f, g, (slab_shape)g, SHAPES));
      assert_ok(far_scene_update_some(&f, g, (slab_shape)g, 3, g == SLAB_PLANE ? 1 : 5));
    }
    assert_ok(far_scene_commit(&f));
    compare(&f);
  }
  far_scene_close(&f);
  (void)state;
}

static void instances_stand_where_doubles_say(void **state) {
  far_scene f;
  uint32_t geometry;
  slab_context *context = harness_shared(SLAB_LAYOUT_WIDE);
  open_pair(&f, context, "instances", true);
  add_kinds(&f, 3);
  assert_ok(far_scene_place(&f, context, 6, &geometry));
  assert_ok(far_scene_commit(&f));
  compare(&f);
  assert_ok(far_scene_move(&f, geometry, 6));
  assert_ok(far_scene_commit(&f));
  compare(&f);
  far_scene_close(&f);
  (void)state;
}

/* ---- the origin ---- */

static void origin_of(const slab_scene *scene, double origin[3]) {
  slab_scene_stats stats;
  assert_ok(slab_scene_info(scene, &stats));
  memcpy(origin, stats.origin, sizeof stats.origin);
}

static slab_scene *scene_of(slab_context *context, const slab_sphere64 *s, uint32_t n) {
  slab_scene *scene = harness_scene(context);
  for (uint32_t i = 0; i < n; i++) assert_ok(slab_scene_add_spheres64(scene, s + i, 1, NULL, NULL));
  return scene;
}

static slab_hit64 look_down(slab_scene *scene, double x, double y) {
  const slab_ray64 ray = {{x, y, 900.0}, 0.0, {0.0, 0.0, -1.0}, INFINITY};
  const slab_source source = {.rays64 = &ray, .n = 1};
  slab_hit64 hit;
  slab_results results = {.memory = &hit};
  assert_ok(slab_cast(scene, SLAB_CLOSEST, &source, &results, NULL));
  harness_count(1);
  return hit;
}

/* In any order of adding, and of either type. */
static void the_first_commit_takes_the_middle(void **state) {
  const slab_sphere64 s[3] = {{{5e6, 0.0, 0.0}, 1.0}, {{5e6 + 300.0, -40.0, 8.0}, 1.0}, {{5e6 + 100.0, 7.0, 8.0}, 1.0}};
  const slab_sphere64 turned[3] = {s[2], s[1], s[0]};
  const slab_sphere floats = {{5e6f + 50.0f, 3.0f, 4.0f}, 2.0f};
  const double want[3] = {5e6 + 150.0, -16.5, 4.0};
  slab_context *context = harness_context();
  for (int k = 0; k < 4; k++) {
    slab_scene *scene = harness_scene(context);
    double got[3];
    if (k == 2) assert_ok(slab_scene_add_spheres(scene, &floats, 1, NULL, NULL));
    for (int i = 0; i < 3; i++) assert_ok(slab_scene_add_spheres64(scene, (k == 1 ? turned : s) + i, 1, NULL, NULL));
    if (k == 3) assert_ok(slab_scene_add_spheres(scene, &floats, 1, NULL, NULL));
    assert_ok(slab_scene_commit(scene, NULL));
    origin_of(scene, got);
    assert_same_bits(got, want, 3, sizeof *want);
    const slab_hit64 hit = look_down(scene, 5e6 + 300.0, -40.0);
    assert_true(fabs(hit.t - 891.0) < 1e-4);
    if (k >= 2) assert_true(fabs(look_down(scene, 5e6 + 50.0, 3.0).t - 894.0) < 1e-4);
    assert_ok(slab_scene_add_spheres64(scene, &(slab_sphere64){{6e6, 0, 0}, 1}, 1, NULL, NULL));
    assert_ok(slab_scene_commit(scene, NULL));
    origin_of(scene, got);
    assert_same_bits(got, want, 3, sizeof *want);
    assert_status(slab_scene_origin(scene, want), SLAB_INVALID_STATE);
    assert_mentions("5000150");
    slab_scene_destroy(scene);
  }
  slab_context_destroy(context);
  (void)state;
}

/* Geometries added before slab_scene_origin, updated before the first commit, and taken as a mesh of either kind. */
static void what_waits_becomes_what_it_would_be(void **state) {
  for (int given_first = 0; given_first < 2; given_first++) {
    far_scene f;
    uint32_t instances;
    slab_context *context = harness_shared(SLAB_LAYOUT_WIDE);
    open_pair(&f, context, "waits", given_first != 0);
    assert_ok(far_scene_add(&f, SLAB_PLANE, SHAPES, NULL));
    add_kinds(&f, SHAPES);
    assert_ok(far_scene_add(&f, SLAB_TRIANGLE, SHAPES + 1, NULL));
    assert_ok(far_scene_place(&f, context, 3, &instances));
    for (uint32_t g = SLAB_PLANE; g <= SLAB_TRIANGLE; g++) {
      if (g % 2 == 0) assert_ok(far_scene_update(&f, g, (slab_shape)g, SHAPES));
      assert_ok(far_scene_update_some(&f, g, (slab_shape)g, 2, 4));
    }
    assert_ok(far_scene_move(&f, instances, 3));
    if (given_first == 0) assert_ok(slab_scene_origin(f.far, f.origin));
    assert_ok(far_scene_commit(&f));
    compare(&f);
    far_scene_close(&f);
  }
  (void)state;
}

/* Float rays around a place of a far scene, within 4 of it and within the bounds, against those of the same near 0. */
static void compare_floats(slab_scene *a, slab_scene *b, const double origin[3], const float around[3]) {
  answers far = {0}, want = {0};
  slab_ray rays[RAYS], moved[RAYS];
  random_state random = harness_seeded("floats");
  for (int i = 0; i < RAYS; i++) {
    rays[i] = (slab_ray){.t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      rays[i].origin[k] = around[k] + (float)random_below(&random, 64) * 0.125f - 4.0f;
      rays[i].direction[k] = (float)random_below(&random, 64) * 0.125f - 4.0f;
    }
    moved[i] = rays[i];
    for (int k = 0; k < 3; k++) moved[i].origin[k] += (float)origin[k];
  }
  assert_ok(answers_cast_all(&far, a, moved, RAYS, NULL));
  assert_ok(answers_cast_all(&want, b, rays, RAYS, NULL));
  for (int q = 0; q < SLAB_QUERY_COUNT; q++) {
    size_t first;
    if (answers_differ(&far, &want, (slab_query)q, &first) > 0)
      fail_msg("%s: ray %zu", answer_name((slab_query)q), first);
  }
  answers_free(&far);
  answers_free(&want);
}

/* Floats are of the world too, where they hold it. */
static void floats_are_of_the_world(void **state) {
  const double origin[3] = {4096.0, -8192.0, 1024.0};
  const slab_sphere world = {{4100.0f, -8190.0f, 1020.0f}, 5.0f}, near = {{4.0f, 2.0f, -4.0f}, 5.0f};
  const slab_plane floor = {{0.0f, 0.0f, 2.0f}, 2036.0f}, near_floor = {{0.0f, 0.0f, 2.0f}, -12.0f};
  slab_context *context = harness_context();
  slab_scene *a = harness_scene(context), *b = harness_scene(context);
  assert_ok(slab_scene_origin(a, origin));
  assert_ok(slab_scene_add_spheres(a, &world, 1, NULL, NULL));
  assert_ok(slab_scene_add_spheres(b, &near, 1, NULL, NULL));
  assert_ok(slab_scene_add_planes(a, &floor, 1, NULL, NULL));
  assert_ok(slab_scene_add_planes(b, &near_floor, 1, NULL, NULL));
  assert_ok(slab_scene_commit(a, NULL));
  assert_ok(slab_scene_commit(b, NULL));
  compare_floats(a, b, origin, near.center);
  slab_scene_destroy(a);
  slab_scene_destroy(b);
  slab_context_destroy(context);
  (void)state;
}

static slab_mesh square_of(const float vertices[12]) {
  static const uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
  return (slab_mesh){.vertices = vertices, .vertex_count = 4, .indices = indices, .triangle_count = 2};
}

/* A mesh with indices and instances, all in floats, before the origin is known. */
static void floats_that_were_added_before_count_from_the_origin(void **state) {
  const double origin[3] = {4096.0, -8192.0, 1024.0};
  const float v[12] = {0, 0, 0, 4, 0, 1, 0, 4, 0, 4, 4, 2}, around[3] = {2, 2, 2};
  const float place[12] = {1, 0, 0, 3, 0, 1, 0, -1, 0, 0, 1, 2};
  float far_v[12], far_place[12];
  slab_context *context = harness_context();
  slab_scene *a = harness_scene(context), *b = harness_scene(context), *model = harness_scene(context);
  for (int k = 0; k < 12; k++) {
    far_v[k] = v[k] + (float)origin[k % 3];
    far_place[k] = k % 4 == 3 ? place[k] + (float)origin[k / 4] : place[k];
  }
  const slab_mesh far = square_of(far_v), near = square_of(v);
  const slab_box box = {{-6, -6, -6}, {7, 8, 5}};
  assert_ok(slab_scene_add_boxes(model, &box, 1, NULL, NULL));
  assert_ok(slab_scene_commit(model, NULL));
  assert_ok(slab_scene_add_mesh(a, &far, NULL, NULL));
  assert_ok(slab_scene_add_mesh(b, &near, NULL, NULL));
  assert_ok(slab_scene_add_instances(a, model, far_place, 1, NULL, NULL));
  assert_ok(slab_scene_add_instances(b, model, place, 1, NULL, NULL));
  assert_ok(slab_scene_origin(a, origin));
  assert_ok(slab_scene_commit(a, NULL));
  assert_ok(slab_scene_commit(b, NULL));
  compare_floats(a, b, origin, around);
  slab_scene_destroy(a);
  slab_scene_destroy(b);
  slab_scene_destroy(model);
  slab_context_destroy(context);
  (void)state;
}

static void sets_and_points_are_of_the_world(void **state) {
  const double origin[3] = {4096.0, -8192.0, 1024.0};
  const slab_sphere world = {{4100.0f, -8190.0f, 1020.0f}, 2.0f};
  slab_context *context = harness_context();
  slab_scene *scene = harness_scene(context);
  assert_ok(slab_scene_origin(scene, origin));
  assert_ok(slab_scene_add_spheres(scene, &world, 1, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  const float pose[12] = {1, 0, 0, 4100.0f, 0, 1, 0, -8190.0f, 0, 0, 1, 1028.0f}, beam[6] = {0, 0, 0, 0, 0, -1};
  const float from[3] = {4100.0f, -8190.0f, 1028.0f}, down[3] = {0, 0, -1}, to[3] = {4100.0f, -8190.0f, 1012.0f};
  const slab_camera camera = {{4100.0f, -8190.0f, 1028.0f}, {0, 0, -1}, {1, 0, 0}, {0, 1, 0}};
  const slab_rays sets[] = {slab_rays_beams(pose, 1, beam, 1), slab_rays_directions(from, 1, down, 1),
                            slab_rays_pairs(from, 1, to, 1), slab_rays_pinhole(&camera, 1, 1)};
  const float t[] = {6.0f, 6.0f, 0.375f, 6.0f};
  for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
    const slab_source source = {.set = &sets[k], .n = 1};
    slab_hit hit;
    slab_results results = {.memory = &hit};
    assert_ok(slab_cast(scene, SLAB_CLOSEST, &source, &results, NULL));
    assert_true(hit.t == t[k]);
    harness_count(1);
  }
  /* the same sets at 0, with the place as their offset */
  const float pose0[12] = {1, 0, 0, 0.0625f, 0, 1, 0, 0, 0, 0, 1, 0}, from0[3] = {0.0625f, 0, 0},
              to0[3] = {0.0625f, 0, -16};
  const slab_camera camera0 = {{0.0625f, 0, 0}, {0, 0, -1}, {1, 0, 0}, {0, 1, 0}};
  slab_rays at_zero[] = {slab_rays_beams(pose0, 1, beam, 1), slab_rays_directions(from0, 1, down, 1),
                         slab_rays_pairs(from0, 1, to0, 1), slab_rays_pinhole(&camera0, 1, 1)};
  for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
    const double place[3] = {4099.9375, -8190.0, 1028.0};
    const slab_source source = {.set = &at_zero[k], .n = 1};
    slab_hit hit;
    slab_ray written;
    slab_check_report told;
    slab_results results = {.memory = &hit};
    memcpy(at_zero[k].offset, place, sizeof place);
    assert_ok(slab_cast(scene, SLAB_CLOSEST, &source, &results, NULL));
    assert_true(hit.t == t[k]);
    assert_ok(slab_check_cast(scene, SLAB_CLOSEST, &source, &results, NULL, &told));
    assert_true(told.mismatches == 0 && told.oracle_wrong == 0);
    assert_ok(slab_rays_write(context, &at_zero[k], 0, 1, &written));
    assert_true(written.origin[0] == 4100.0f && written.origin[1] == -8190.0f && written.origin[2] == 1028.0f);
    at_zero[k].offset[1] = NAN;
    assert_status(slab_cast(scene, SLAB_CLOSEST, &source, &results, NULL), SLAB_INVALID_ARGUMENT);
    assert_mentions("offset[1] is not finite");
    harness_count(2);
  }
  slab_closest_point found;
  float distance;
  int32_t winding;
  assert_ok(slab_closest_points(scene, from, 1, &found, NULL));
  assert_true(found.distance == 6.0f && found.point[2] == 1022.0f && found.point[0] == 4100.0f);
  assert_ok(slab_signed_distances(scene, world.center, 1, &distance, NULL));
  assert_true(distance == -2.0f);
  slab_check_report report;
  assert_ok(slab_check_points(scene, SLAB_CLOSEST_POINTS, from, 1, &found, NULL, &report));
  assert_true(report.mismatches == 0 && report.oracle_wrong == 0);
  found.point[1] = nextafterf(found.point[1], 0.0f);
  assert_ok(slab_check_points(scene, SLAB_CLOSEST_POINTS, from, 1, &found, NULL, &report));
  assert_int_equal(report.mismatches, 1);
  assert_ok(slab_winding(scene, world.center, 1, &winding, NULL));
  assert_int_equal(winding, 1);
  harness_count(3);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  (void)state;
}

/* Explained is the answer of the cast. */
static void rays_of_the_world_are_explained(void **state) {
  const double origin[3] = {4096.0, -8192.0, 1024.0};
  const slab_sphere world = {{4100.0f, -8190.0f, 1020.0f}, 2.0f};
  slab_context *context = harness_context();
  slab_scene *scene = harness_scene(context);
  assert_ok(slab_scene_origin(scene, origin));
  assert_ok(slab_scene_add_spheres(scene, &world, 1, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  const slab_ray rays[2] = {{{4100.5f, -8190.0f, 1028.0f}, 0, {0, 0.125f, -3}, INFINITY},
                            {{4100.5f, -8190.0f, 90000.0f}, 1, {0, 0, -3}, INFINITY}};
  for (int i = 0; i < 2; i++) {
    slab_hit hit;
    slab_interval interval;
    slab_explanation found;
    size_t steps;
    assert_ok(slab_closest(scene, &rays[i], 1, &hit, NULL));
    assert_ok(slab_interval_of(scene, &rays[i], 1, &interval, NULL));
    assert_ok(slab_explain(scene, &rays[i], (slab_primitive_id){0, 0}, NULL, &found, NULL, 0, &steps));
    assert_same_bits(&found.hit, &hit, 1, sizeof hit);
    assert_same_bits(&found.interval, &interval, 1, sizeof interval);
    assert_int_equal(hit.primitive, 0);
    harness_count(3);
  }
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  (void)state;
}

/* The same of rays in double, also near zero, and after a hit of their own. */
static void rays_in_double_are_explained(void **state) {
  slab_context *context = harness_context();
  for (int far = 0; far < 2; far++) {
    const double x = far ? 5403210.3 : 0.5;
    const slab_sphere64 world = {{x, 40.25, -7.1}, 2.5};
    const slab_sphere home = {{0.5f, 40.25f, -7.1f}, 2.5f};
    slab_scene *scene = harness_scene(context);
    assert_ok(far ? slab_scene_add_spheres64(scene, &world, 1, NULL, NULL)
                  : slab_scene_add_spheres(scene, &home, 1, NULL, NULL));
    assert_ok(slab_scene_commit(scene, NULL));
    const slab_ray64 rays[3] = {{{x + 0.3, 40.0, 12.7}, 0, {0, 0.02, -3}, (double)INFINITY},
                                {{x + 0.3, 40.0, 90000.1}, 1, {0, 0, -3e-9}, (double)INFINITY},
                                {{x + 9.0, 40.0, 1.1}, 0, {0, 0, 1}, (double)INFINITY}};
    for (int i = 0; i < 6; i++) {
      const slab_source source = {.rays64 = &rays[i % 3], .n = 1};
      slab_hit64 hit, first;
      slab_interval64 interval;
      slab_explanation64 found;
      size_t steps;
      assert_ok(slab_cast(scene, SLAB_CLOSEST, &source, &(slab_results){.memory = &first}, NULL));
      const slab_short_hit after = {first.order, first.primitive, first.geometry};
      const slab_cast_options later = {.after = &after}, *options = i < 3 ? NULL : &later;
      assert_ok(slab_cast(scene, SLAB_CLOSEST, &source, &(slab_results){.memory = &hit}, options));
      assert_ok(slab_cast(scene, SLAB_INTERVAL, &source, &(slab_results){.memory = &interval}, NULL));
      assert_ok(slab_explain64(scene, &rays[i % 3], (slab_primitive_id){0, 0}, options, &found, NULL, 0, &steps));
      assert_same_bits(&found.hit, &hit, 1, sizeof hit);
      if (i < 3) assert_same_bits(&found.interval, &interval, 1, sizeof interval);
      assert_true(i % 3 == 2 || first.primitive == 0);
      harness_count(3);
    }
    slab_scene_destroy(scene);
  }
  slab_context_destroy(context);
  (void)state;
}

/* Points of the far scene find what those near zero find, bit by bit but for places. */
static void points_in_double_are_those_near_zero(void **state) {
  far_scene f;
  enum { POINTS = 61 };
  float near[3 * POINTS], distance[2][POINTS], number[2][POINTS];
  double far[3 * POINTS];
  slab_closest_point want[POINTS];
  slab_closest_point64 got[POINTS];
  uint8_t within[2][POINTS];
  int32_t winding[2][POINTS];
  open_pair(&f, harness_shared(SLAB_LAYOUT_WIDE), "points", true);
  add_kinds(&f, SHAPES);
  assert_ok(far_scene_commit(&f));
  for (int i = 0; i < 3 * POINTS; i++) {
    near[i] = (float)random_below(&f.random, 8192) * 0x1p-6f - 64.0f;
    far[i] = near[i] + f.origin[i % 3];
  }
  far[3] = NAN, near[3] = NAN;
  far[6] = 0x1p62, near[6] = 0x1p62f;
  const slab_point_options some = {.radius = 9.0f};
  assert_ok(slab_closest_points(f.near, near, POINTS, want, &some));
  assert_ok(slab_closest_points64(f.far, far, POINTS, got, &some));
  for (int i = 0; i < POINTS; i++) {
    slab_closest_point64 w = {.distance = want[i].distance,
                              .u = want[i].u,
                              .v = want[i].v,
                              .feature = want[i].feature,
                              .primitive = want[i].primitive,
                              .geometry = want[i].geometry};
    for (int k = 0; k < 3 && w.primitive < SLAB_INVALID; k++) w.point[k] = want[i].point[k] + f.origin[k];
    assert_same_bits(&got[i], &w, 1, sizeof w);
  }
  assert_int_equal(got[1].primitive, SLAB_INVALID);
  assert_int_equal(got[2].primitive, SLAB_INVALID);
  assert_ok(slab_closest_distances(f.near, near, POINTS, distance[0], NULL));
  assert_ok(slab_closest_distances64(f.far, far, POINTS, distance[1], NULL));
  assert_same_bits(distance[1], distance[0], POINTS, sizeof(float));
  assert_ok(slab_signed_distances(f.near, near, POINTS, distance[0], NULL));
  assert_ok(slab_signed_distances64(f.far, far, POINTS, distance[1], NULL));
  assert_same_bits(distance[1], distance[0], POINTS, sizeof(float));
  assert_ok(slab_points_within(f.near, near, POINTS, within[0], &some));
  assert_ok(slab_points_within64(f.far, far, POINTS, within[1], &some));
  assert_same_bits(within[1], within[0], POINTS, 1);
  assert_ok(slab_winding(f.near, near, POINTS, winding[0], NULL));
  assert_ok(slab_winding64(f.far, far, POINTS, winding[1], NULL));
  assert_same_bits(winding[1], winding[0], POINTS, sizeof(int32_t));
  assert_ok(slab_winding_numbers(f.near, near, POINTS, number[0], NULL));
  assert_ok(slab_winding_numbers64(f.far, far, POINTS, number[1], NULL));
  assert_same_bits(number[1], number[0], POINTS, sizeof(float));
  slab_check_report report;
  const void *const answers_of[] = {got, distance[1], within[1], winding[1], distance[1], number[1]};
  assert_ok(slab_closest_distances64(f.far, far, POINTS, distance[0], NULL));
  for (int q = 0; q < SLAB_POINT_QUERY_COUNT; q++) {
    const bool bounded = q == SLAB_CLOSEST_POINTS || q == SLAB_POINTS_WITHIN;
    const void *results = q == SLAB_CLOSEST_DISTANCES ? distance[0] : answers_of[q];
    assert_ok(slab_check_points64(f.far, (slab_point_query)q, far, POINTS, results, bounded ? &some : NULL, &report));
    if (report.mismatches + report.oracle_wrong > 0) fail_msg("query %d: %s", q, report.text);
  }
  for (size_t at = 0; at < sizeof *got; at += 4) { /* a bit of each member */
    unsigned char *byte = (unsigned char *)&got[5] + at;
    *byte ^= 1;
    assert_ok(slab_check_points64(f.far, SLAB_CLOSEST_POINTS, far, POINTS, got, &some, &report));
    assert_true(report.mismatches == 1 && report.first == 5);
    *byte ^= 1;
  }
  assert_status(slab_winding64(f.far, NULL, 1, winding[0], NULL), SLAB_INVALID_ARGUMENT);
  assert_mentions("slab_winding64: points is NULL");
  harness_count(6 * POINTS);
  far_scene_close(&f);
  (void)state;
}

static void packed_scenes_keep_their_origin(void **state) {
  far_scene f;
  slab_context *context = harness_shared(SLAB_LAYOUT_WIDE);
  open_pair(&f, context, "packed", true);
  add_kinds(&f, SHAPES);
  assert_ok(far_scene_place(&f, context, 2, NULL));
  assert_ok(far_scene_commit(&f));
  size_t size;
  assert_ok(slab_scene_pack(f.far, NULL, 0, &size));
  void *bytes = harness_space(size);
  assert_ok(slab_scene_pack(f.far, bytes, size, &size));
  slab_scene_destroy(f.far);
  assert_ok(slab_scene_unpack(context, bytes, size, &f.far));
  free(bytes);
  compare(&f);
  assert_ok(far_scene_add(&f, SLAB_BOX, SHAPES, NULL));
  assert_ok(far_scene_commit(&f));
  compare(&f);
  far_scene_close(&f);
  (void)state;
}

/* ---- rays ---- */

static void rays_from_afar_hit_where_they_should(void **state) {
  const double at[3] = {1e7 + 0.125, -3e6, 50.0};
  slab_context *context = harness_context();
  slab_scene *scene = scene_of(context, &(slab_sphere64){{at[0], at[1], at[2]}, 100.0}, 1);
  assert_ok(slab_scene_commit(scene, NULL));
  random_state random = harness_seeded("afar");
  for (int i = 0; i < RAYS; i++) {
    double d[3], length = 0.0, way;
    for (int k = 0; k < 3; k++) {
      d[k] = random_between(&random, -1.0f, 1.0f);
      length += d[k] * d[k];
    }
    if ((length = sqrt(length)) < 0.1) continue;
    way = exp2(random_between(&random, -2.0f, 30.0f)) + 101.0;
    const double scale = exp2((double)random_below(&random, 1800) - 900.0);
    slab_ray64 ray = {.t_min = -INFINITY, .t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      ray.origin[k] = at[k] - way * d[k] / length;
      ray.direction[k] = d[k] / length * scale;
    }
    const slab_source source = {.rays64 = &ray, .n = 1};
    slab_hit64 hit;
    slab_results results = {.memory = &hit};
    assert_ok(slab_cast(scene, SLAB_CLOSEST, &source, &results, NULL));
    harness_count(1);
    const double off = hit.t * scale - (way - 100.0);
    if (hit.primitive != 0 || fabs(off) > 2e-4 + 1e-14 * way) fail_msg("ray %d from %g away: off by %g", i, way, off);
    ray.t_min = ray.t_max = hit.t; /* the range that is one hit holds it */
    assert_ok(slab_cast(scene, SLAB_CLOSEST, &source, &results, NULL));
    if (hit.primitive != 0 || hit.t != ray.t_min) fail_msg("ray %d: the range of its hit is empty", i);
    ray.t_max = nextafter(ray.t_min, -INFINITY);
    assert_ok(slab_cast(scene, SLAB_CLOSEST, &source, &results, NULL));
    assert_int_equal(hit.primitive, SLAB_MISS);
  }
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  (void)state;
}

/* ---- what the bounds leave out ---- */

/* The first hit of a ray that comes down at a slope of 1 from 1,000 above a place far away. */
static slab_hit64 come_down(slab_scene *scene, const uint32_t *world) {
  const slab_ray64 ray = {{1e6, -2e6, 1000.0}, 0.0, {1.0, 0.0, -1.0}, INFINITY};
  const slab_source source = {.rays64 = &ray, .n = 1};
  slab_hit64 hit;
  slab_results results = {.memory = &hit};
  assert_ok(slab_cast(scene, SLAB_CLOSEST, &source, &results, &(slab_cast_options){.worlds = world}));
  harness_count(1);
  return hit;
}

static void comes_down_to(slab_scene *scene, const uint32_t *world, uint32_t geometry, double t) {
  assert_ok(slab_scene_commit(scene, NULL));
  const slab_hit64 hit = come_down(scene, world);
  if (hit.geometry != geometry || (hit.t != t && !(fabs(hit.t - t) < 1e-3)))
    fail_msg("geometry %u at %.17g, not %u at %g", hit.geometry, hit.t, geometry, t);
}

/* A scene whose bounds are those of a ball, which the ray misses. */
static slab_scene *ball_scene(void) {
  slab_scene *scene = scene_of(harness_shared(SLAB_LAYOUT_WIDE), &(slab_sphere64){{1e6, -2e6, 0.0}, 1.0}, 1);
  comes_down_to(scene, NULL, SLAB_MISS, INFINITY);
  return scene;
}

static slab_box64 box_of(double x, double to_x, double half_y, double z, double to_z) {
  return (slab_box64){{1e6 + x, -2e6 - half_y, z}, {1e6 + to_x, -2e6 + half_y, to_z}};
}

/* Rays that come from outside begin at the bounds. What is infinite along some axis is hit before. */
static void the_unbounded_is_hit_before_the_bounds(void **state) {
  const slab_box64 boxes[] = {box_of(-INFINITY, INFINITY, INFINITY, 400.0, 500.0), /* t is 500 of all but the last */
                              box_of(-INFINITY, INFINITY, 1.0, 400.0, 500.0),
                              box_of(490.0, 510.0, INFINITY, 400.0, 500.0),
                              box_of(400.0, 500.0, 1.0, -INFINITY, INFINITY)};
  for (uint32_t b = 0; b < 4; b++) {
    slab_scene *scene = ball_scene();
    assert_ok(slab_scene_add_boxes64(scene, &boxes[b], 1, NULL, NULL));
    assert_ok(slab_scene_add_spheres64(scene, &(slab_sphere64){{1e6, -2e6, 0.0}, 1.0}, 1, NULL, NULL));
    comes_down_to(scene, NULL, 1, b < 3 ? 500.0 : 400.0);
    assert_ok(slab_scene_enable(scene, 1, 0));
    comes_down_to(scene, NULL, SLAB_MISS, INFINITY);
    assert_ok(slab_scene_enable(scene, 1, 1));
    comes_down_to(scene, NULL, 1, b < 3 ? 500.0 : 400.0);
    slab_scene_destroy(scene);
  }
  (void)state;
}

/* A box is made infinite, and finite again, by a change of some boxes of a large scene. */
static void boxes_become_unbounded(void **state) {
  enum { BOXES = 2000 };
  static slab_box64 boxes[BOXES];
  const slab_box64 tall = box_of(400.0, 500.0, 1.0, -INFINITY, INFINITY), flat = box_of(400.0, 500.0, 1.0, -1.0, 1.0);
  slab_scene *scene = ball_scene();
  for (int i = 0; i < BOXES; i++) {
    boxes[i] = box_of(i, i + 0.5, 1.0, -1.0, 1.0); /* beside where the ray comes down */
    boxes[i].lower[1] += 20.0;
    boxes[i].upper[1] += 20.0;
  }
  assert_ok(slab_scene_add_boxes64(scene, boxes, BOXES, NULL, NULL));
  comes_down_to(scene, NULL, SLAB_MISS, INFINITY);
  for (int round = 0; round < 2; round++) {
    assert_ok(slab_scene_update_some_boxes64(scene, 1, 7, &tall, 1));
    comes_down_to(scene, NULL, 1, 400.0);
    assert_ok(slab_scene_update_some_boxes64(scene, 1, 7, &flat, 1));
    comes_down_to(scene, NULL, SLAB_MISS, INFINITY);
  }
  slab_scene_destroy(scene);
  (void)state;
}

/* Models with a plane, in a scene with worlds or without. */
static void models_may_be_unbounded(void **state) {
  const double place[12] = {1, 0, 0, 1e6, 0, 1, 0, -2e6, 0, 0, 1, 700.0};
  const double lower[12] = {1, 0, 0, 1e6, 0, 1, 0, -2e6, 0, 0, 1, 650.0};
  const slab_plane floor = {{0.0f, 0.0f, 1.0f}, 0.0f};
  const uint32_t world = 2, which = 0;
  for (int worlds = 0; worlds < 2; worlds++) {
    slab_scene *scene = ball_scene(), *model = harness_scene(harness_shared(SLAB_LAYOUT_WIDE));
    const slab_geometry_options options = {.world = worlds ? world : 0};
    assert_ok(slab_scene_add_planes(model, &floor, 1, NULL, NULL));
    assert_ok(slab_scene_commit(model, NULL));
    if (worlds) assert_ok(slab_scene_set_worlds(scene, 3));
    assert_ok(slab_scene_add_instances64(scene, model, place, 1, &options, NULL));
    comes_down_to(scene, worlds ? &world : NULL, 1, 300.0);
    assert_ok(slab_scene_update_some_instances64(scene, 1, &which, lower, 1));
    comes_down_to(scene, worlds ? &world : NULL, 1, 350.0);
    assert_ok(slab_scene_remove(scene, 1));
    if (worlds) {
      const slab_plane64 shared = {{0.0, 0.0, 1.0}, 600.0};
      assert_ok(slab_scene_add_planes64(scene, &shared, 1, NULL, NULL));
      comes_down_to(scene, &world, 2, 400.0);
    }
    slab_scene_destroy(scene);
    slab_scene_destroy(model);
  }
  (void)state;
}

/* ---- the error of t ---- */

enum { CELLS = 48, SIDE = CELLS + 1, AIMED = 3000 };
#define EXTENT 16384.0

/* A terrain of EXTENT m a side in double, with steep slopes, and where it lies. */
typedef struct wide_land {
  double vertices[SIDE * SIDE][3];
  uint32_t indices[2 * CELLS * CELLS][3];
} wide_land;

static wide_land *land_at(random_state *random, const double at[3]) {
  wide_land *land = harness_space(sizeof *land);
  for (uint32_t i = 0; i < SIDE * SIDE; i++) {
    land->vertices[i][0] = at[0] + EXTENT / CELLS * (i % SIDE) + 1e-3 * random_between(random, -1000.0f, 1000.0f);
    land->vertices[i][1] = at[1] + EXTENT / CELLS * (double)(i / SIDE) + 1e-3 * random_between(random, 0.0f, 1000.0f);
    land->vertices[i][2] = at[2] + 0.1 * random_between(random, 0.0f, 4000.0f);
  }
  for (uint32_t c = 0; c < CELLS * CELLS; c++) {
    const uint32_t a = c / CELLS * SIDE + c % CELLS;
    const uint32_t two[2][3] = {{a, a + 1, a + SIDE + 1}, {a, a + SIDE + 1, a + SIDE}};
    memcpy(land->indices[2 * c], two, sizeof two);
  }
  return land;
}

/* Where the ray's line meets the plane of the triangle as it was given: t, and the cosine between both. */
static long double t_of_plane(const wide_land *land, uint32_t triangle, const slab_ray64 *ray, long double *cosine) {
  const uint32_t *at = land->indices[triangle];
  long double edge[2][3], normal[3], rise = 0, along = 0, size = 0, length = 0;
  for (int e = 0; e < 2; e++)
    for (int k = 0; k < 3; k++)
      edge[e][k] = (long double)land->vertices[at[e + 1]][k] - (long double)land->vertices[at[0]][k];
  for (int k = 0; k < 3; k++)
    normal[k] = edge[0][(k + 1) % 3] * edge[1][(k + 2) % 3] - edge[0][(k + 2) % 3] * edge[1][(k + 1) % 3];
  for (int k = 0; k < 3; k++) {
    rise += ((long double)land->vertices[at[0]][k] - (long double)ray->origin[k]) * normal[k];
    along += (long double)ray->direction[k] * normal[k];
    size += normal[k] * normal[k];
    length += (long double)ray->direction[k] * (long double)ray->direction[k];
  }
  *cosine = fabsl(along) / sqrtl(size * length);
  return rise / along;
}

/* A ray at the middle of the land's heights: from inside (`turn` 0), from as far as the land is wide, or from afar. */
static slab_ray64 ray_at_land(random_state *random, const double at[3], int turn) {
  static const double far[] = {900.0, EXTENT, 1e5, 1e9};
  const double away = far[turn];
  double aim[3], way[3], length = 0;
  slab_ray64 ray = {.t_max = INFINITY};
  for (int k = 0; k < 3; k++) {
    aim[k] = at[k] + (k == 2 ? 200.0 : 0.5 * EXTENT + 0.4 * EXTENT * random_between(random, -1.0f, 1.0f));
    way[k] = random_between(random, -1.0f, 1.0f);
  }
  way[2] = turn == 0 ? 0.5 * way[2] - 0.6 : fabs(way[2]) * -1.0 - 0.2;
  for (int k = 0; k < 3; k++) length += way[k] * way[k];
  for (int k = 0; k < 3; k++) {
    ray.direction[k] = way[k] / sqrt(length);
    ray.origin[k] = aim[k] - away * ray.direction[k];
  }
  return ray;
}

/* Holds t of a hit, and the point in double, to their bounds. Returns how far t is off across the plane. */
static double off_across(const wide_land *land, uint64_t triangle, const slab_ray64 *ray, double t,
                         const double point[3]) {
  long double cosine, off = 0;
  const long double right = t_of_plane(land, (uint32_t)triangle, ray, &cosine);
  if (cosine < 0.05L) return 0.0;
  for (int k = 0; k < 3; k++) {
    const long double apart =
        (long double)point[k] - (long double)ray->origin[k] - right * (long double)ray->direction[k];
    off += apart * apart;
  }
  const double here = (double)(fabsl((long double)t - right) * cosine), apart = (double)(sqrtl(off) * cosine);
  const double most = 2 * 0x1p-23 * EXTENT + 0x1p-51 * (double)fabsl(right);
  const double most_apart = 1e-6 + 0x1p-50 * (double)fabsl(right);
  if (here > most || apart > most_apart)
    fail_msg("t %.17g is off by %g of %g m, the point by %g of %g", t, here, most, apart, most_apart);
  return here;
}

/* t is within 2 ulp of the scene's extent, times the factor that the slope makes of an error across the plane.
 * slab_points_from_doubles gives the points within a micrometre. */
static void t_is_within_two_ulp_of_the_extent(void **state) {
  const double at[3] = {1e7 + 0.3, -3e6 + 0.7, 210.123};
  random_state random = harness_seeded("error of t");
  wide_land *land = land_at(&random, at);
  slab_context *context = harness_context();
  slab_scene *scene = harness_scene(context);
  const slab_mesh mesh = {.vertices64 = &land->vertices[0][0],
                          .vertex_count = SIDE * SIDE,
                          .indices = &land->indices[0][0],
                          .triangle_count = 2 * CELLS * CELLS};
  slab_ray64 *rays = harness_space(AIMED * sizeof *rays);
  slab_hit64 *hits = harness_space(AIMED * sizeof *hits);
  uint64_t *numbers = harness_space(2 * AIMED * sizeof *numbers), *triangles = numbers + AIMED;
  double *given = harness_space(9 * AIMED * sizeof *given), *points = given + 6 * AIMED, worst = 0.0;
  size_t met = 0;
  assert_ok(slab_scene_add_mesh(scene, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  for (int i = 0; i < AIMED; i++) rays[i] = ray_at_land(&random, at, i % 4);
  const slab_source source = {.rays64 = rays, .n = AIMED};
  slab_results results = {.memory = hits};
  assert_ok(slab_cast(scene, SLAB_CLOSEST, &source, &results, NULL));
  harness_count(AIMED);
  for (uint64_t i = 0; i < AIMED; i++) {
    memcpy(given + 3 * i, rays[i].origin, sizeof rays[i].origin);
    memcpy(given + 3 * (AIMED + i), rays[i].direction, sizeof rays[i].direction);
    if (hits[i].primitive >= SLAB_INVALID) continue;
    numbers[met] = i;
    triangles[met] = hits[i].primitive;
    hits[met++] = hits[i]; /* none behind i is lost */
  }
  assert_in_range(met, AIMED / 2, AIMED);
  const slab_double_hits located = {given,   given + 3 * AIMED, 1.0,  &land->vertices[0][0], &land->indices[0][0],
                                    numbers, triangles,         NULL, sizeof *hits,          &hits[0].t};
  assert_ok(slab_points_from_doubles(&located, met, points));
  for (size_t n = 0; n < met; n++)
    worst = fmax(worst, off_across(land, triangles[n], &rays[numbers[n]], hits[n].t, points + 3 * n));
  print_message("%zu hits: t is off by up to %.2f mm across the plane\n", met, 1e3 * worst);
  assert_true(worst > 1e-4); /* floats do round */
  free(given);
  free(numbers);
  free(hits);
  free(rays);
  free(land);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  (void)state;
}

static void invalid_rays_are_told(void **state) {
  static const double bad[] = {NAN, INFINITY, -INFINITY, 0x1.8p58};
  slab_context *context = harness_context();
  slab_scene *scene = scene_of(context, &(slab_sphere64){{1e6, 0, 0}, 1.0}, 1);
  assert_ok(slab_scene_commit(scene, NULL));
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
    for (int k = 0; k < 8; k++) {
      double r[8] = {1e6, 0, 5, 0, 0, 0, -1, INFINITY};
      if ((k == 3 || k == 7) && b != 0) continue; /* ranges may be infinite */
      if (k >= 4 && b == 3) continue;             /* directions may be long */
      r[k] = bad[b];
      const slab_source source = {.rays64 = (const slab_ray64 *)(const void *)r, .n = 1};
      slab_hit64 hit;
      slab_results results = {.memory = &hit};
      uint64_t invalid = 0;
      assert_ok(slab_cast(scene, SLAB_CLOSEST, &source, &results, &(slab_cast_options){.invalid = &invalid}));
      harness_count(1);
      assert_int_equal(hit.primitive, SLAB_INVALID);
      assert_true(hit.t == INFINITY && invalid == 1);
    }
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  (void)state;
}

/* Lengths of directions for which t can be given in double. */
static void lengths_of_directions_have_an_end(void **state) {
  static const double lengths[] = {0x1p-960, 0x1p960, 0x1.8p-961, 0x1.8p960};
  slab_context *context = harness_context();
  slab_scene *scene = scene_of(context, &(slab_sphere64){{1e6, 0, 0}, 1.0}, 1);
  assert_ok(slab_scene_commit(scene, NULL));
  for (int k = 0; k < 4; k++) {
    const slab_ray64 ray = {{1e6, 0, 5}, 0, {0, 0, -lengths[k]}, INFINITY};
    const slab_source source = {.rays64 = &ray, .n = 1};
    slab_hit64 hit;
    slab_results results = {.memory = &hit};
    assert_ok(slab_cast(scene, SLAB_CLOSEST, &source, &results, NULL));
    harness_count(1);
    if (k < 2)
      assert_true(fabs(hit.t * lengths[k] - 4.0) < 1e-6);
    else
      assert_int_equal(hit.primitive, SLAB_INVALID);
  }
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  (void)state;
}

/* The next hits after some, page by page, by the order that results report. */
static void after_takes_the_order(void **state) {
  far_scene f;
  slab_ray near[RAYS];
  slab_ray64 far[RAYS];
  open_pair(&f, harness_shared(SLAB_LAYOUT_WIDE), "after", true);
  add_kinds(&f, SHAPES);
  assert_ok(far_scene_commit(&f));
  assert_ok(far_scene_rays(&f, RAYS, near, far));
  far_answers *a = harness_space(sizeof *a);
  cast64(a, SLAB_ALL, f.far, far, RAYS);
  slab_short_hit after[RAYS];
  for (int i = 0; i < RAYS; i++) after[i] = (slab_short_hit){-INFINITY, SLAB_MISS, SLAB_MISS};
  const slab_source source = {.rays64 = far, .n = RAYS};
  slab_results results = {.memory = a->closest};
  for (uint64_t page = 0; page < 4; page++) {
    assert_ok(slab_cast(f.far, SLAB_CLOSEST, &source, &results, &(slab_cast_options){.after = after}));
    harness_count(RAYS);
    for (int i = 0; i < RAYS; i++) {
      const uint64_t at = a->offsets[i] + page;
      const slab_hit64 *h = &a->closest[i];
      if (at < a->offsets[i + 1])
        assert_same_bits(h, &a->all[at], 1, sizeof *h);
      else
        assert_true(h->primitive >= SLAB_INVALID);
      after[i] = (slab_short_hit){h->order, h->primitive, h->geometry};
    }
  }
  slab_hit *floats = harness_space(RAYS * sizeof *floats);
  assert_status(slab_closest(f.far, near, RAYS, floats, &(slab_cast_options){.after = after}), SLAB_UNSUPPORTED);
  free(floats);
  free(a->all);
  free(a);
  far_scene_close(&f);
  (void)state;
}

/* Rays of a picture are cast tile by tile, each piece of them with arrays of its own. Results, skips and masks are
 * those of the same rays near 0. So they are in each of several chunks, and where the last row is not whole. */
static void pictures_are_those_near_zero(void **state) {
  enum { ROW = 100, PICTURE = 67 * ROW - 3 };
  far_scene f;
  const slab_context_options launches = {.lane_width = harness_width(), .launch_rays = 2000};
  slab_context *context = NULL;
  assert_ok(slab_context_create(&launches, &context));
  open_pair(&f, context, "pictures", true);
  for (int k = 0; k < 8; k++) assert_ok(far_scene_add(&f, SLAB_TRIANGLE, 60, NULL));
  assert_ok(far_scene_commit(&f));
  slab_ray *near = harness_space(PICTURE * sizeof *near);
  slab_ray64 *far = harness_space(PICTURE * sizeof *far);
  slab_primitive_id *skip = harness_space(PICTURE * sizeof *skip);
  uint32_t *masks = harness_space(PICTURE * sizeof *masks);
  slab_hit *hits = harness_space(PICTURE * sizeof *hits);
  slab_hit64 *hits64 = harness_space(PICTURE * sizeof *hits64);
  for (uint32_t i = 0; i < PICTURE; i++) {
    const float x = (float)(i % ROW) / 50.0f - 1.0f, y = (float)i / ROW / 33.0f - 1.0f;
    near[i] = (slab_ray){{0.5f, 0.25f, 50.0f}, 0.0f, {x, y, -2.0f}, INFINITY};
    far[i] = (slab_ray64){{0}, 0.0, {x, y, -2.0}, INFINITY};
    for (int k = 0; k < 3; k++) far[i].origin[k] = near[i].origin[k] + f.origin[k];
    masks[i] = i % 3 == 0 ? 0 : UINT32_MAX;
  }
  const slab_source a = {.rays = near, .n = PICTURE}, b = {.rays64 = far, .n = PICTURE};
  slab_results to_near = {.memory = hits}, to_far = {.memory = hits64};
  for (int way = 0; way < 3; way++) {
    const slab_cast_options options = {.skip = way > 0 ? skip : NULL, .masks = way > 1 ? masks : NULL};
    assert_ok(slab_cast(f.near, SLAB_CLOSEST, &a, &to_near, &options));
    assert_ok(slab_cast(f.far, SLAB_CLOSEST, &b, &to_far, &options));
    harness_count(2 * PICTURE);
    uint32_t met = 0;
    for (uint32_t i = 0; i < PICTURE; i++) {
      same_hit(&hits64[i], &hits[i]);
      met += hits[i].primitive < SLAB_INVALID;
      skip[i] = (slab_primitive_id){hits[i].primitive, hits[i].geometry};
    }
    assert_in_range(met, 100, PICTURE - 1);
  }
  /* from outside: each ray begins elsewhere at the bounds */
  slab_check_report report;
  for (uint32_t i = 0; i < PICTURE; i++) far[i].origin[2] += 150.0;
  assert_ok(slab_cast(f.far, SLAB_CLOSEST, &b, &to_far, NULL));
  assert_ok(slab_check_cast(f.far, SLAB_CLOSEST, &b, &to_far, NULL, &report));
  harness_count(PICTURE);
  if (report.mismatches + report.oracle_wrong > 0) fail_msg("%s", report.text);
  free(near);
  free(far);
  free(skip);
  free(masks);
  free(hits);
  free(hits64);
  far_scene_close(&f);
  slab_context_destroy(context);
  (void)state;
}

/* ---- refusals ---- */

static void what_is_wrong_is_named(void **state) {
  slab_context *context = harness_context();
  slab_scene *scene = harness_scene(context);
  const double bad[3] = {1.0, NAN, 0.0}, beyond[3] = {0.0, 0.0, 0x1p59};
  const slab_sphere64 s[2] = {{{1e6, 0, 0}, 1.0}, {{1e6, 1e300, 0}, 1.0}};
  const double v64[9] = {0};
  const float v[9] = {0};
  assert_status(slab_scene_origin(scene, NULL), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_origin(scene, bad), SLAB_INVALID_ARGUMENT);
  assert_mentions("y is not finite");
  assert_status(slab_scene_origin(scene, beyond), SLAB_INVALID_ARGUMENT);
  assert_mentions("2^58");
  assert_status(slab_scene_add_spheres64(scene, s, 2, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_mentions("slab_scene_add_spheres64: sphere 1");
  assert_status(slab_scene_add_boxes64(scene, NULL, 2, NULL, NULL), SLAB_INVALID_ARGUMENT);
  const slab_mesh both = {.vertices = v, .vertices64 = v64, .vertex_count = 3, .triangle_count = 1};
  assert_status(slab_scene_add_mesh(scene, &both, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_mentions("both given");
  const slab_mesh close = {.vertices64 = v64, .vertex_stride = 12, .vertex_count = 3, .triangle_count = 1};
  assert_status(slab_scene_add_mesh(scene, &close, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_mentions("24 bytes");
  assert_ok(slab_scene_commit(scene, NULL));
  assert_status(slab_scene_origin(scene, v64), SLAB_INVALID_STATE);
  const slab_ray64 ray = {.direction = {1, 0, 0}, .t_max = 1};
  const slab_ray near = {.direction = {1, 0, 0}, .t_max = 1};
  slab_sum sum;
  slab_results sums = {.memory = &sum, .type = SLAB_RESULT_SUMS, .columns = 1};
  assert_status(slab_cast(scene, SLAB_DISTANCE, &(slab_source){.rays64 = &ray, .n = 1}, &sums, NULL), SLAB_UNSUPPORTED);
  assert_mentions("sums of t");
  assert_ok(slab_cast(scene, SLAB_ANY, &(slab_source){.rays64 = &ray, .n = 1}, &sums, NULL));
  assert_int_equal(sum.hits, 0);
  assert_status(slab_cast(scene, SLAB_ANY, &(slab_source){.rays64 = &ray, .rays = &near, .n = 1}, &sums, NULL),
                SLAB_INVALID_ARGUMENT);
  assert_mentions("rays and rays64");
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_far_scene_answers_as_the_near_one),
      cmocka_unit_test(updates_are_of_the_world),
      cmocka_unit_test(instances_stand_where_doubles_say),
      cmocka_unit_test(the_first_commit_takes_the_middle),
      cmocka_unit_test(what_waits_becomes_what_it_would_be),
      cmocka_unit_test(floats_are_of_the_world),
      cmocka_unit_test(floats_that_were_added_before_count_from_the_origin),
      cmocka_unit_test(sets_and_points_are_of_the_world),
      cmocka_unit_test(points_in_double_are_those_near_zero),
      cmocka_unit_test(rays_of_the_world_are_explained),
      cmocka_unit_test(rays_in_double_are_explained),
      cmocka_unit_test(packed_scenes_keep_their_origin),
      cmocka_unit_test(rays_from_afar_hit_where_they_should),
      cmocka_unit_test(the_unbounded_is_hit_before_the_bounds),
      cmocka_unit_test(boxes_become_unbounded),
      cmocka_unit_test(models_may_be_unbounded),
      cmocka_unit_test(t_is_within_two_ulp_of_the_extent),
      cmocka_unit_test(invalid_rays_are_told),
      cmocka_unit_test(lengths_of_directions_have_an_end),
      cmocka_unit_test(after_takes_the_order),
      cmocka_unit_test(pictures_are_those_near_zero),
      cmocka_unit_test(what_is_wrong_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, harness_close);
}
