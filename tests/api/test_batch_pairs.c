/* slab_pairs: ray i against shape i gives the result of a scene of that shape alone. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "refused.h"

#define UNTOUCHED 0xA5

static int open_context(void **state) {
  *state = harness_context();
  return 0;
}

static int close_context(void **state) {
  slab_context_destroy(*state);
  return 0;
}

static float number(random_state *random) { return random_between(random, -2.0f, 2.0f); }

/* A shape near the origin: large or small, sometimes degenerate. */
static any_shape shape_near(random_state *random, slab_shape kind) {
  any_shape shape = shape_accepted(kind);
  const size_t count = kind == SLAB_OBB ? 6 : shape_floats(kind); /* all but the axes */
  for (size_t i = 0; i < count; i++) {
    const float value = number(random);
    shape.floats[i] = (shape_sizes(kind) >> i & 1) != 0 ? fabsf(value) : kind == SLAB_TRIANGLE ? 3.0f * value : value;
  }
  for (int i = 0; kind == SLAB_BOX && i < 3; i++)
    shape.box.upper[i] = shape.box.lower[i] + random_between(random, -0.3f, 3.0f); /* some inverted */
  if (kind == SLAB_OBB) {
    shape.obb.axes[0][0] = shape.obb.axes[1][1] = 0.6f;
    shape.obb.axes[0][1] = 0.8f;
    shape.obb.axes[1][0] = -0.8f;
  }
  return shape;
}

static slab_ray ray_near(random_state *random) {
  slab_ray ray = {{0}, 0.0f, {0}, INFINITY};
  for (int i = 0; i < 3; i++) {
    ray.origin[i] = 2.0f * number(random);
    ray.direction[i] = 0.5f * number(random) - ray.origin[i];
  }
  const uint32_t fate = random_below(random, 12);
  if (fate == 0) ray.t_min = -INFINITY;
  if (fate == 1) ray.t_max = 1.0f;
  if (fate == 2) ray.direction[1] = 0.0f;
  if (fate == 3) ray.t_max = NAN;
  if (fate == 4) ray.t_max = -1.0f;
  return ray;
}

/* The interval from a scene of this shape alone, with the primitive id that slab_pairs returns. */
static slab_interval alone(slab_context *context, slab_shape kind, const any_shape *shape, const slab_ray *ray,
                           uint32_t i) {
  slab_scene *scene = NULL;
  slab_interval interval;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(shape_add_array(scene, kind, shape, 1, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_ok(slab_interval_of(scene, ray, 1, &interval, NULL));
  if (interval.geometry == 0) interval.primitive = i;
  slab_scene_destroy(scene);
  return interval;
}

static void pair_is_a_scene_of_one_shape(void **state) {
  enum { N = 400 };
  random_state random = harness_seeded(__func__);
  for (slab_shape kind = SLAB_PLANE; kind < SLAB_SHAPE_COUNT; kind++) {
    const size_t size = shape_size(kind);
    unsigned char *shapes = shapes_accepted(kind, N);
    slab_ray rays[N];
    slab_interval intervals[N];
    uint32_t hits = 0;
    for (size_t i = 0; i < N; i++) {
      const any_shape shape = shape_near(&random, kind);
      memcpy(shapes + i * size, &shape, size);
      rays[i] = ray_near(&random);
    }
    assert_ok(slab_pairs(*state, kind, rays, shapes, N, intervals));
    for (uint32_t i = 0; i < N; i++) {
      any_shape shape;
      memcpy(&shape, shapes + i * size, size);
      const slab_interval want = alone(*state, kind, &shape, &rays[i], i);
      assert_same_bits(&intervals[i], &want, 1, sizeof want);
      hits += intervals[i].geometry == 0;
    }
    assert_in_range(hits, N / 20, N - N / 20); /* both hits and misses occurred */
    free(shapes);
  }
}

/* Computed by hand: from z = 9 down to tops at z = 1. */
static void pairs_give_intervals_by_index(void **state) {
  enum { N = 67 };
  for (slab_shape kind = SLAB_PLANE; kind < SLAB_SHAPE_COUNT; kind++) {
    unsigned char *shapes = shapes_accepted(kind, N);
    slab_ray rays[N];
    slab_interval intervals[N + 1];
    memset(intervals, UNTOUCHED, sizeof intervals);
    for (uint32_t i = 0; i < N; i++) rays[i] = (slab_ray){{0, 0, 9}, 0, {0, 0, i % 2 == 0 ? -1.0f : 1.0f}, INFINITY};
    rays[3].direction[2] = 0.0f;
    assert_ok(slab_pairs(*state, kind, rays, shapes, N, intervals));
    for (uint32_t i = 0; i < N; i++) {
      const int is_surface = kind == SLAB_PLANE || kind == SLAB_TRIANGLE;
      const uint32_t reason = i == 3 ? SLAB_INVALID : SLAB_MISS;
      const slab_interval hit = {8, is_surface ? 8 : 10, i, 0}, miss = {INFINITY, -INFINITY, reason, reason};
      assert_same_bits(&intervals[i], i % 2 == 0 ? &hit : &miss, 1, sizeof hit);
    }
    assert_int_equal(intervals[N].primitive, 0xA5A5A5A5u);
    free(shapes);
  }
}

static void shape_that_a_scene_refuses_is_refused_by_index(void **state) {
  enum { N = 40, CULPRIT = 37 };
  for (size_t i = 0; i < refused_count(); i++) {
    const refused_case *c = refused_at(i);
    const any_shape bad = shape_refused(c);
    unsigned char *shapes = shapes_accepted(c->kind, N);
    slab_ray rays[N];
    slab_interval intervals[N];
    memcpy(shapes + CULPRIT * shape_size(c->kind), &bad, shape_size(c->kind));
    memset(intervals, UNTOUCHED, sizeof intervals);
    for (int k = 0; k < N; k++) rays[k] = (slab_ray){{0, 0, 9}, 0, {0, 0, -1}, INFINITY};
    assert_status(slab_pairs(*state, c->kind, rays, shapes, N, intervals), SLAB_INVALID_ARGUMENT);
    assert_non_null(strstr(slab_message(), "37"));
    assert_non_null(strstr(slab_message(), c->shown));
    for (int k = 0; k < N; k++) assert_int_equal(intervals[k].primitive, 0xA5A5A5A5u);
    free(shapes);
  }
}

/* More pairs than one launch takes, and an odd count: indices continue across launches. */
static void a_million_pairs_and_one_are_answered(void **state) {
  const uint32_t n = 1100001;
  slab_sphere *spheres = harness_space(n * sizeof *spheres);
  slab_ray *rays = harness_space(n * sizeof *rays);
  slab_interval *intervals = harness_space(n * sizeof *intervals);
  for (uint32_t i = 0; i < n; i++) {
    spheres[i] = (slab_sphere){{0, 0, 0}, 1.0f + (float)(i % 7)};
    rays[i] = (slab_ray){{0, 0, 9}, 0, {0, 0, -1}, INFINITY};
  }
  assert_ok(slab_pairs(*state, SLAB_SPHERE, rays, spheres, n, intervals));
  for (uint32_t i = 0; i < n; i++) {
    const slab_interval want = {8.0f - (float)(i % 7), 10.0f + (float)(i % 7), i, 0};
    if (memcmp(&intervals[i], &want, sizeof want) != 0) assert_same_bits(&intervals[i], &want, 1, sizeof want);
  }
  free(spheres);
  free(rays);
  free(intervals);
}

static void refusal_of_the_last_of_a_million_changes_nothing(void **state) {
  const uint32_t n = 1100001;
  slab_sphere *spheres = harness_space(n * sizeof *spheres);
  slab_ray *rays = harness_space(n * sizeof *rays);
  slab_interval *intervals = harness_space(n * sizeof *intervals);
  memset(spheres, 0, n * sizeof *spheres);
  memset(intervals, UNTOUCHED, n * sizeof *intervals);
  for (uint32_t i = 0; i < n; i++) rays[i] = (slab_ray){{0, 0, 9}, 0, {0, 0, -1}, INFINITY};
  spheres[n - 1].radius = -1.0f;
  const slab_status status = slab_pairs(*state, SLAB_SPHERE, rays, spheres, n, intervals);
  const uint32_t first = intervals[0].primitive;
  free(spheres);
  free(rays);
  free(intervals);
  assert_status(status, SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "1100000"));
  assert_int_equal(first, 0xA5A5A5A5u);
}

int main(void) {
#define ON_A_CONTEXT(test) cmocka_unit_test_setup_teardown(test, open_context, close_context)
  const struct CMUnitTest tests[] = {
      ON_A_CONTEXT(pair_is_a_scene_of_one_shape),
      ON_A_CONTEXT(pairs_give_intervals_by_index),
      ON_A_CONTEXT(shape_that_a_scene_refuses_is_refused_by_index),
      ON_A_CONTEXT(a_million_pairs_and_one_are_answered),
      ON_A_CONTEXT(refusal_of_the_last_of_a_million_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
