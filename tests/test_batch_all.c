/* slab_all: offsets, capacities, and lists of many hits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "ladder.h"

#define UNTOUCHED 0xA5

enum { N = 1000 };

typedef struct world {
  slab_context *context;
  slab_scene *scene;
  slab_ray *rays;
  uint64_t offsets[N + 2], required, total;
  slab_hit *hits; /* room for total + 1 */
} world;

static uint64_t first_hit_of(size_t ray) {
  uint64_t first = 0;
  for (size_t i = 0; i < ray; i++) first += ladder_count(i);
  return first;
}

static int open_world(void **state) {
  world *w = calloc(1, sizeof *w);
  assert_non_null(w);
  w->context = harness_context();
  w->scene = ladder_scene(w->context);
  w->rays = ladder_rays(N);
  w->total = first_hit_of(N);
  w->hits = malloc((w->total + 1) * sizeof *w->hits);
  assert_non_null(w->hits);
  memset(w->hits, UNTOUCHED, (w->total + 1) * sizeof *w->hits);
  memset(w->offsets, UNTOUCHED, sizeof w->offsets);
  memset(&w->required, UNTOUCHED, sizeof w->required);
  *state = w;
  return 0;
}

static int close_world(void **state) {
  world *w = *state;
  free(w->hits);
  free(w->rays);
  slab_scene_destroy(w->scene);
  slab_context_destroy(w->context);
  free(w);
  return 0;
}

static void assert_untouched(const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) assert_int_equal(((const unsigned char *)bytes)[i], UNTOUCHED);
}

static void assert_offsets_complete(const world *w) {
  uint64_t at = 0;
  for (size_t i = 0; i < N; at += ladder_count(i++)) assert_true(w->offsets[i] == at);
  assert_true(w->offsets[N] == w->total);
  assert_untouched(&w->offsets[N + 1], sizeof *w->offsets);
}

static void assert_hits_complete(const world *w) {
  for (size_t i = 0, at = 0; i < N; i++)
    for (uint32_t j = 0; j < ladder_count(i); j++, at++) {
      const slab_hit want = ladder_hit(i, j);
      assert_same_bits(&w->hits[at], &want, 1, sizeof want);
    }
  assert_untouched(&w->hits[w->total], sizeof *w->hits);
}

/* ---- capacity ---- */

static void capacity_zero_asks_for_offsets_and_size(void **state) {
  world *w = *state;
  assert_ok(slab_all(w->scene, w->rays, N, w->offsets, NULL, 0, &w->required, NULL));
  assert_offsets_complete(w);
  assert_true(w->required == w->total);
}

static void capacity_zero_leaves_hits_alone(void **state) {
  world *w = *state;
  assert_ok(slab_all(w->scene, w->rays, N, w->offsets, w->hits, 0, NULL, NULL));
  assert_offsets_complete(w);
  assert_untouched(w->hits, (w->total + 1) * sizeof *w->hits);
}

static void capacity_too_small_still_gives_offsets(void **state) {
  world *w = *state;
  const uint64_t capacities[] = {1, w->total / 2, w->total - 1};
  for (int i = 0; i < 3; i++) {
    memset(w->offsets, UNTOUCHED, sizeof w->offsets);
    w->required = 0;
    assert_status(slab_all(w->scene, w->rays, N, w->offsets, w->hits, capacities[i], &w->required, NULL),
                  SLAB_CAPACITY);
    assert_offsets_complete(w);
    assert_true(w->required == w->total);
    assert_untouched(w->hits, (w->total + 1) * sizeof *w->hits);
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)w->total);
    assert_non_null(strstr(slab_message(), number));
  }
}

static void exact_capacity_is_filled(void **state) {
  world *w = *state;
  assert_ok(slab_all(w->scene, w->rays, N, w->offsets, w->hits, w->total, &w->required, NULL));
  assert_offsets_complete(w);
  assert_hits_complete(w);
  assert_true(w->required == w->total);
}

static void larger_capacity_is_not_touched_beyond_the_hits(void **state) {
  world *w = *state;
  assert_ok(slab_all(w->scene, w->rays, N, w->offsets, w->hits, w->total + 1, NULL, NULL));
  assert_offsets_complete(w);
  assert_hits_complete(w);
}

static void rays_without_hits_have_empty_lists(void **state) {
  world *w = *state;
  slab_ray strays[40];
  for (size_t i = 0; i < 40; i++) strays[i] = ladder_ray(LADDER_COLUMNS + i * (LADDER_COLUMNS + 1));
  assert_ok(slab_all(w->scene, strays, 40, w->offsets, w->hits, 5, &w->required, NULL));
  for (size_t i = 0; i <= 40; i++) assert_true(w->offsets[i] == 0);
  assert_true(w->required == 0);
  assert_untouched(w->hits, 5 * sizeof *w->hits);
}

/* ---- order and number ---- */

/* Spheres, boxes, planes and triangles that a ray meets at a few common times, in an order of adding that is not
 * theirs: lists are by (t, geometry, primitive). */
static void ties_are_listed_by_geometry_and_primitive(void **state) {
  world *w = *state;
  slab_box boxes[30];
  slab_sphere spheres[30];
  slab_plane planes[30];
  for (int i = 0; i < 30; i++) {
    const float top = (float)(i % 3);
    boxes[i] = (slab_box){{-1, -1, -9}, {1, 1, top}};
    spheres[i] = (slab_sphere){{0, 0, top - 1.0f}, 1.0f};
    planes[i] = (slab_plane){{0, 0, 1}, top};
  }
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(w->context, &scene));
  assert_ok(slab_scene_add_spheres(scene, spheres, 30, NULL, NULL));
  assert_ok(slab_scene_add_boxes(scene, boxes, 30, NULL, NULL));
  assert_ok(slab_scene_add_planes(scene, planes, 30, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  const slab_ray ray = {{0, 0, 4}, 0, {0, 0, -1}, INFINITY};
  assert_ok(slab_all(scene, &ray, 1, w->offsets, w->hits, w->total, NULL, NULL));
  assert_true(w->offsets[1] == 90);
  for (uint32_t i = 0; i < 90; i++) { /* tops at t = 2, 3, 4 hold primitives 2, 1, 0 modulo 3, ten of each kind */
    assert_true(w->hits[i].t == 2.0f + (float)(i / 30));
    assert_int_equal(w->hits[i].geometry, i % 30 / 10);
    assert_int_equal(w->hits[i].primitive, 3 * (i % 10) + (2 - i / 30));
  }
  slab_scene_destroy(scene);
}

/* A ray through thousands of planes, in launches that split the batch. */
static void ray_may_have_very_many_hits(void **state) {
  world *w = *state;
  enum { PLANES = 5000, RAYS = 5 };
  slab_plane *planes = malloc(PLANES * sizeof *planes);
  slab_hit *hits = malloc((RAYS * PLANES + 1) * sizeof *hits);
  assert_true(planes != NULL && hits != NULL);
  for (uint32_t i = 0; i < PLANES; i++) /* 1999 is coprime to 5000: every offset once, well shuffled */
    planes[i] = (slab_plane){{0, 0, 1}, (float)(i * 1999u % PLANES)};
  const slab_context_options launches = {.lane_width = harness_width(), .launch_rays = 2};
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  assert_ok(slab_context_create(&launches, &context));
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_planes(scene, planes, PLANES, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  slab_ray rays[RAYS];
  for (int i = 0; i < RAYS; i++) rays[i] = (slab_ray){{0, 0, (float)i}, -INFINITY, {0, 0, 1}, INFINITY};
  assert_ok(slab_all(scene, rays, RAYS, w->offsets, hits, RAYS * PLANES, &w->required, NULL));
  assert_true(w->required == RAYS * PLANES);
  for (uint32_t i = 0; i < RAYS * PLANES; i++) {
    const float offset = (float)(i % PLANES);
    assert_true(hits[i].t == offset - (float)(i / PLANES));
    assert_true(planes[hits[i].primitive].offset == offset);
  }
  free(planes);
  free(hits);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

int main(void) {
#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)
  const struct CMUnitTest tests[] = {
      IN_A_WORLD(capacity_zero_asks_for_offsets_and_size),        IN_A_WORLD(capacity_zero_leaves_hits_alone),
      IN_A_WORLD(capacity_too_small_still_gives_offsets),         IN_A_WORLD(exact_capacity_is_filled),
      IN_A_WORLD(larger_capacity_is_not_touched_beyond_the_hits), IN_A_WORLD(rays_without_hits_have_empty_lists),
      IN_A_WORLD(ties_are_listed_by_geometry_and_primitive),      IN_A_WORLD(ray_may_have_very_many_hits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
