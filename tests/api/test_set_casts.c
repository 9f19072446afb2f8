/* slab_cast: rays of a set get the bits of the same rays from an array, of every query, with every option. */
#include <stdlib.h>
#include <string.h>

#include "mixed_fates.h"

enum { ROWS = 60, COLUMNS = 96, N = ROWS * COLUMNS, MOST = 24, SETS = 7 };

typedef struct fixture {
  slab_context *context;
  slab_scene *scenes[2];
  float points[3 * ROWS], normals[3 * ROWS], poses[12 * ROWS], beams[6 * COLUMNS], directions[3 * COLUMNS];
  slab_rays sets[SETS];
  slab_ray *rays[SETS];
  slab_primitive_id *skips;
  uint32_t *masks;
  slab_short_hit *after;
} fixture;

static void tables_of(fixture *f, random_state *random) {
  for (int i = 0; i < 3 * ROWS; i++) f->points[i] = random_between(random, -6.0f, 6.0f);
  for (int i = 0; i < 3 * ROWS; i++) f->normals[i] = i % 3 == 2 ? 1.0f : 0.0f;
  for (int i = 0; i < 12 * ROWS; i++) f->poses[i] = random_between(random, -2.0f, 2.0f);
  for (int i = 0; i < 6 * COLUMNS; i++) f->beams[i] = random_between(random, -2.0f, 2.0f);
  for (int i = 0; i < 3 * COLUMNS; i++) f->directions[i] = random_between(random, -8.0f, 8.0f);
  memset(f->directions, 0, 3 * sizeof *f->directions); /* rays that are invalid */
}

static void sets_of(fixture *f) {
  const float from[3] = {14.0f, -9.0f, 6.0f}, to[3] = {0}, up[3] = {0.0f, 0.0f, 1.0f};
  const slab_camera camera = slab_camera_look_at(from, to, up, 60.0f, (float)COLUMNS / ROWS);
  slab_camera wide = camera;
  for (int k = 0; k < 3; k++) wide.right[k] *= 12.0f, wide.up[k] *= 12.0f;
  f->sets[0] = slab_rays_pinhole(&camera, COLUMNS, ROWS);
  f->sets[1] = slab_rays_orthographic(&wide, COLUMNS, ROWS);
  f->sets[2] = slab_rays_fisheye(&camera, COLUMNS, ROWS, 170.0f);
  f->sets[3] = slab_rays_beams(f->poses, ROWS, f->beams, COLUMNS);
  f->sets[4] = slab_rays_directions(f->points, ROWS, f->directions, COLUMNS);
  f->sets[5] = f->sets[4];
  f->sets[5].normals = f->normals;
  f->sets[6] = slab_rays_pairs(f->points, ROWS, f->directions, COLUMNS);
}

static int setup(void **state) {
  random_state random = harness_seeded("test_set_casts");
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  *state = f;
  f->context = harness_context();
  f->scenes[0] = mixed_fates_scene(f->context, 3);
  f->scenes[1] = mixed_tree(f->context, 400);
  tables_of(f, &random);
  sets_of(f);
  f->skips = harness_space(N * sizeof *f->skips);
  f->masks = harness_space(N * sizeof *f->masks);
  f->after = harness_space(N * sizeof *f->after);
  for (int i = 0; i < N; i++) {
    f->skips[i] = (slab_primitive_id){random_below(&random, 3), random_below(&random, 5)};
    f->masks[i] = random_below(&random, 64);
    f->after[i] = (slab_short_hit){random_between(&random, -1.0f, 3.0f), 0, 0};
  }
  for (int s = 0; s < SETS; s++) {
    f->rays[s] = harness_space(N * sizeof *f->rays[s]);
    assert_ok(slab_rays_write(f->context, &f->sets[s], 0, N, f->rays[s]));
  }
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  for (int s = 0; s < SETS; s++) free(f->rays[s]);
  for (int s = 0; s < 2; s++) slab_scene_destroy(f->scenes[s]);
  slab_context_destroy(f->context);
  free(f->skips);
  free(f->masks);
  free(f->after);
  free(f);
  return 0;
}

/* ---- comparing ---- */

/* Of each call as many bytes as its results have: memory, and of SLAB_ALL offsets too. */
typedef struct answer {
  slab_hit hits[N * MOST];
  uint64_t offsets[N + 1];
  uint64_t invalid;
  slab_results results;
} answer;

static void ask(slab_scene *scene, slab_query query, const slab_source *source, const slab_cast_options *options,
                answer *to) {
  slab_cast_options o = *options;
  memset(to->hits, 0xA5, sizeof to->hits);
  memset(to->offsets, 0xA5, sizeof to->offsets);
  o.invalid = &to->invalid;
  o.max_hits = query == SLAB_ALL ? MOST : 0;
  to->results = (slab_results){.memory = to->hits, .offsets = to->offsets, .capacity = N * MOST};
  assert_ok(slab_cast(scene, query, source, &to->results, &o));
}

static void verify(slab_scene *scene, slab_query query, const slab_source *set, const slab_ray *rays,
                   const slab_cast_options *options, answer *of) {
  const slab_source array = {.rays = rays, .n = set->n};
  ask(scene, query, set, options, &of[0]);
  ask(scene, query, &array, options, &of[1]);
  assert_memory_equal(of[0].hits, of[1].hits, sizeof of[0].hits);
  assert_memory_equal(of[0].offsets, of[1].offsets, sizeof of[0].offsets);
  assert_int_equal(of[0].invalid, of[1].invalid);
  assert_int_equal(of[0].results.required, of[1].results.required);
  harness_count(set->n);
}

static void every_query_of_every_set_is_that_of_an_array(void **state) {
  const fixture *f = *state;
  const slab_cast_options plain = {0};
  answer *of = harness_space(2 * sizeof *of);
  for (int scene = 0; scene < 2; scene++)
    for (int s = 0; s < SETS; s++)
      for (int query = 0; query < SLAB_QUERY_COUNT; query++) {
        const slab_source whole = {.set = &f->sets[s], .n = N};
        verify(f->scenes[scene], (slab_query)query, &whole, f->rays[s], &plain, of);
      }
  free(of);
}

static void options_are_of_the_calls_rays(void **state) {
  const fixture *f = *state;
  answer *of = harness_space(2 * sizeof *of);
  const slab_cast_options options[] = {{.skip = f->skips, .mask = 0x3B},
                                       {.cull = SLAB_CULL_FRONT, .face_forward = 1},
                                       {.edges = SLAB_EDGES_CLOSED},
                                       {.masks = f->masks},
                                       {.after = f->after}};
  for (int s = 0; s < SETS; s += 3)
    for (size_t o = 0; o < sizeof options / sizeof *options; o++)
      for (int query = 0; query < SLAB_QUERY_COUNT; query++) {
        const slab_source whole = {.set = &f->sets[s], .n = N};
        if (query == SLAB_INTERVAL && o == 4) continue; /* which after is refused with */
        verify(f->scenes[1], (slab_query)query, &whole, f->rays[s], &options[o], of);
      }
  free(of);
}

static void a_part_of_a_set_has_its_own_rays(void **state) {
  const fixture *f = *state;
  const slab_cast_options plain = {0};
  random_state random = harness_seeded(__func__);
  answer *of = harness_space(2 * sizeof *of);
  for (int round = 0; round < 20; round++) {
    const int s = round % SETS;
    const uint32_t first = round % 3 == 0 ? COLUMNS * random_below(&random, ROWS) : random_below(&random, N);
    const uint32_t n = round % 5 == 0 ? 1 : 1 + random_below(&random, N - first);
    const slab_source some = {.set = &f->sets[s], .first = first, .n = n};
    verify(f->scenes[1], round % 2 == 0 ? SLAB_CLOSEST : SLAB_ALL, &some, f->rays[s] + first, &plain, of);
  }
  free(of);
}

/* More rays than a chunk makes, in rows, by each traversal. */
static void chunks_of_a_set_follow_each_other(void **state) {
  enum { WIDTH = 1100, HEIGHT = 700, ALL = WIDTH * HEIGHT };
  const fixture *f = *state;
  const slab_rays set = slab_rays_pinhole(&f->sets[0].camera, WIDTH, HEIGHT);
  slab_ray *rays = harness_space(ALL * sizeof *rays);
  slab_short_hit *got = harness_space(ALL * sizeof *got), *want = harness_space(ALL * sizeof *want);
  assert_ok(slab_rays_write(f->context, &set, 0, ALL, rays));
  assert_ok(slab_nearest(f->scenes[1], rays, ALL, want, NULL));
  for (int traversal = SLAB_TRAVERSAL_AUTO; traversal <= SLAB_TRAVERSAL_SORTED; traversal++) {
    const slab_context_options options = {.lane_width = harness_width(), .traversal = (slab_traversal)traversal};
    slab_context *context = NULL;
    if (slab_context_create(&options, &context) != SLAB_OK) continue; /* of one lane it is the only one */
    slab_scene *scene = mixed_tree(context, 400);
    slab_results results = {.memory = got};
    memset(got, 0, ALL * sizeof *got);
    assert_ok(slab_cast(scene, SLAB_NEAREST, &(slab_source){.set = &set, .n = ALL}, &results, NULL));
    assert_memory_equal(got, want, ALL * sizeof *got);
    harness_count(ALL);
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
  free(rays);
  free(got);
  free(want);
}

/* The hits of the first chunks are collected; the rays after them are counted anew. */
static void lists_that_do_not_fit_are_counted_to_the_end(void **state) {
  const fixture *f = *state;
  const slab_context_options options = {.lane_width = harness_width(), .launch_rays = 500};
  slab_context *context = NULL;
  assert_ok(slab_context_create(&options, &context));
  slab_scene *scene = mixed_tree(context, 400);
  answer *of = harness_space(2 * sizeof *of);
  for (int k = 0; k < 2; k++) {
    const slab_source source = {.set = k == 0 ? &f->sets[6] : NULL, .rays = k == 0 ? NULL : f->rays[6], .n = N};
    of[k].results = (slab_results){.memory = of[k].hits, .offsets = of[k].offsets, .capacity = 10};
    assert_int_equal(slab_cast(scene, SLAB_ALL, &source, &of[k].results, NULL), SLAB_CAPACITY);
  }
  assert_memory_equal(of[0].offsets, of[1].offsets, sizeof of[0].offsets);
  assert_int_equal(of[0].results.required, of[1].results.required);
  assert_true(of[0].results.required > 10);
  harness_count(N);
  free(of);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

/* ---- bad input ---- */

static void assert_refused(slab_scene *scene, slab_query query, const slab_source *source, slab_results *results,
                           const char *part) {
  assert_int_equal(slab_cast(scene, query, source, results, NULL), SLAB_INVALID_ARGUMENT);
  if (strstr(slab_message(), part) == NULL) fail_msg("\"%s\" does not say \"%s\"", slab_message(), part);
}

static void sources_that_cannot_be_are_refused(void **state) {
  const fixture *f = *state;
  slab_hit hits[4];
  slab_results results = {.memory = hits}, none = {0};
  slab_rays set = f->sets[4];
  slab_source good = {.set = &set, .n = 4}, both = good, beyond = good, nothing = {.n = 4};
  both.rays = f->rays[0];
  beyond.first = N - 3;
  assert_refused(NULL, SLAB_CLOSEST, &good, &results, "scene is NULL");
  assert_refused(f->scenes[0], (slab_query)7, &good, &results, "query is 7");
  assert_refused(f->scenes[0], SLAB_CLOSEST, NULL, &results, "source is NULL");
  assert_refused(f->scenes[0], SLAB_CLOSEST, &good, NULL, "results is NULL");
  assert_refused(f->scenes[0], SLAB_CLOSEST, &good, &none, "results array is NULL");
  assert_refused(f->scenes[0], SLAB_ALL, &good, &results, "offsets is NULL");
  assert_refused(f->scenes[0], SLAB_CLOSEST, &both, &results, "rays and a set");
  assert_refused(f->scenes[0], SLAB_CLOSEST, &beyond, &results, "4 rays from 5757 on");
  assert_refused(f->scenes[0], SLAB_CLOSEST, &nothing, &results, "rays is NULL");
  set.t_min = NAN;
  assert_refused(f->scenes[0], SLAB_CLOSEST, &good, &results, "t_min is NaN");
  assert_ok(slab_cast(f->scenes[0], SLAB_CLOSEST, &(slab_source){0}, &none, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_query_of_every_set_is_that_of_an_array),
      cmocka_unit_test(options_are_of_the_calls_rays),
      cmocka_unit_test(a_part_of_a_set_has_its_own_rays),
      cmocka_unit_test(chunks_of_a_set_follow_each_other),
      cmocka_unit_test(lists_that_do_not_fit_are_counted_to_the_end),
      cmocka_unit_test(sources_that_cannot_be_are_refused),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
