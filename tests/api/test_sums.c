/* slab_cast with results of other types: sums over rows of rays are those of each ray's results, in the contract's
 * order, from sets and arrays, whatever their chunks are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mixed_fates.h"
#include "sets/sums.h"

enum { MOST = 6000, BINS = 7, UNWRITTEN = 0xA5 };

typedef struct shape {
  uint32_t rows, columns;
} shape;

/* Parts have 1,024 rays, blocks 256, words 32. */
static const shape shapes[] = {{40, 145}, {3, 1024}, {5, 1025}, {2, 2900}, {1500, 1}, {60, 33}, {17, 300}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef struct fixture {
  slab_context *context;
  slab_scene *scene;
  slab_ray *rays;
  float points[3 * MOST], directions[3 * MOST], weights[MOST];
} fixture;

static int setup(void **state) {
  random_state random = harness_seeded("test_sums");
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  *state = f;
  f->context = harness_context();
  f->scene = mixed_tree(f->context, 400);
  f->rays = mixed_rays("test_sums", MOST);
  for (int i = 0; i < 3 * MOST; i++) f->points[i] = random_between(&random, -6.0f, 6.0f);
  for (int i = 0; i < 3 * MOST; i++) f->directions[i] = i / 3 % 11 == 5 ? 0.0f : random_between(&random, -8.0f, 8.0f);
  for (int i = 0; i < MOST; i++) f->weights[i] = i % 5 == 0 ? 0.0f : random_between(&random, 0.0f, 40.0f);
  f->weights[1] = 0x1p-30f;
  f->weights[2] = 0x1.8p-33f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  slab_scene_destroy(f->scene);
  slab_context_destroy(f->context);
  free(f->rays);
  free(f);
  return 0;
}

/* ---- comparing ---- */

typedef struct answers {
  uint8_t any[MOST];
  float t[MOST];
} answers;

static void cast_each(slab_scene *scene, const slab_ray *rays, uint32_t n, answers *to) {
  assert_ok(slab_any(scene, rays, n, to->any, NULL));
  assert_ok(slab_distance(scene, rays, n, to->t, NULL));
}

/* The results of a query, from the ray `first` on. */
static const void *results_of(const answers *each, slab_query query, size_t first) {
  return query == SLAB_ANY ? (const void *)(each->any + first) : (const void *)(each->t + first);
}

/* Rows are adjacent, or apart by a stride; nothing is written between them. */
static void verify_type(slab_scene *scene, const slab_source *source, const slab_ray *rays, const answers *each,
                        slab_query query, slab_results wanted, shape s) {
  enum { APART = 24 };
  const size_t size = sums_size(&wanted, s.columns);
  unsigned char *want = harness_space(size);
  for (size_t apart = 0; apart <= APART; apart += APART) {
    const size_t stride = size + apart;
    unsigned char *space = harness_space(s.rows * stride + 1), *got = space + (s.rows % 2 != 0 ? 1 : 0);
    memset(got, UNWRITTEN, s.rows * stride);
    wanted.memory = got; /* at any byte */
    wanted.columns = s.columns;
    wanted.stride = apart != 0 ? stride : 0;
    assert_ok(slab_cast(scene, query, source, &wanted, NULL));
    for (uint32_t row = 0; row < s.rows; row++) {
      const size_t first = (size_t)row * s.columns;
      sums_of(&wanted, query, rays + first, s.columns, results_of(each, query, first), want);
      if (!sums_same(&wanted, s.columns, want, got + row * stride))
        fail_msg("row %u of %u rays: another sum of type %d", row, s.columns, (int)wanted.type);
      for (size_t i = size; i < stride; i++) assert_int_equal(got[row * stride + i], UNWRITTEN);
    }
    free(space);
  }
  free(want);
}

static void verify(const fixture *f, slab_scene *scene, const slab_source *source, const slab_ray *rays, shape s) {
  answers *each = harness_space(sizeof *each);
  cast_each(f->scene, rays, s.rows * s.columns, each);
  const slab_results shares = {.type = SLAB_RESULT_SUMS}, bits = {.type = SLAB_RESULT_BITS},
                     weighted = {.type = SLAB_RESULT_SUMS, .weights = f->weights},
                     bins = {.type = SLAB_RESULT_HISTOGRAM, .bins = BINS, .t_from = -0.25f, .t_to = 1.3f};
  verify_type(scene, source, rays, each, SLAB_ANY, shares, s);
  verify_type(scene, source, rays, each, SLAB_ANY, weighted, s);
  verify_type(scene, source, rays, each, SLAB_DISTANCE, weighted, s);
  verify_type(scene, source, rays, each, SLAB_DISTANCE, bins, s);
  verify_type(scene, source, rays, each, SLAB_ANY, bits, s);
  harness_count((size_t)5 * s.rows * s.columns);
  free(each);
}

static void sums_of_an_array_are_those_of_its_results(void **state) {
  const fixture *f = *state;
  for (int i = 0; i < SHAPES; i++) {
    const slab_source source = {.rays = f->rays, .n = (size_t)shapes[i].rows * shapes[i].columns};
    verify(f, f->scene, &source, f->rays, shapes[i]);
  }
}

static void sums_of_a_set_are_those_of_its_rays(void **state) {
  const fixture *f = *state;
  slab_ray *rays = harness_space(MOST * sizeof *rays);
  for (int i = 0; i < SHAPES; i++) {
    const shape s = shapes[i];
    const size_t n = (size_t)s.rows * s.columns;
    const slab_rays sets[] = {slab_rays_directions(f->points, s.rows, f->directions, s.columns),
                              slab_rays_pairs(f->points, s.rows, f->points, s.columns)};
    for (int k = 0; k < 2; k++) {
      const slab_source source = {.set = &sets[k], .n = n};
      assert_ok(slab_rays_write(f->context, &sets[k], 0, n, rays));
      verify(f, f->scene, &source, rays, s);
    }
  }
  free(rays);
}

/* Rows of some of a set, from one on. */
static void rows_of_a_set_may_be_some(void **state) {
  const fixture *f = *state;
  const shape s = {4, 1500}, some = {2, 1500};
  const slab_rays set = slab_rays_directions(f->points, s.rows, f->directions, s.columns);
  const slab_source source = {.set = &set, .first = s.columns, .n = (size_t)some.rows * s.columns};
  slab_ray *rays = harness_space(source.n * sizeof *rays);
  assert_ok(slab_rays_write(f->context, &set, source.first, source.n, rays));
  verify(f, f->scene, &source, rays, some);
  free(rays);
}

/* Launches of 100 rays: chunks are whole parts all the same. */
static void parts_are_whole_in_every_chunk(void **state) {
  const fixture *f = *state;
  const slab_context_options options = {.lane_width = harness_width(), .launch_rays = 100};
  slab_context *context = NULL;
  assert_ok(slab_context_create(&options, &context));
  slab_scene *scene = mixed_tree(context, 400);
  for (int i = 2; i < SHAPES; i++) {
    const slab_source source = {.rays = f->rays, .n = (size_t)shapes[i].rows * shapes[i].columns};
    verify(f, scene, &source, f->rays, shapes[i]);
  }
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

/* More rays than a chunk has, by each traversal: pictures are cast in tiles, arrays sorted. */
static void traversals_sum_alike(void **state) {
  enum { WIDTH = 1300, HEIGHT = 220, ALL = WIDTH * HEIGHT };
  const fixture *f = *state;
  const float from[3] = {14.0f, -9.0f, 6.0f}, to[3] = {0}, up[3] = {0.0f, 0.0f, 1.0f};
  const slab_camera camera = slab_camera_look_at(from, to, up, 60.0f, (float)WIDTH / HEIGHT);
  const slab_rays set = slab_rays_pinhole(&camera, WIDTH, HEIGHT);
  slab_ray *rays = harness_space(ALL * sizeof *rays);
  float *t = harness_space(ALL * sizeof *t);
  slab_sum *sums = harness_space(HEIGHT * sizeof *sums);
  assert_ok(slab_rays_write(f->context, &set, 0, ALL, rays));
  assert_ok(slab_distance(f->scene, rays, ALL, t, NULL));
  for (int traversal = SLAB_TRAVERSAL_AUTO; traversal <= SLAB_TRAVERSAL_SORTED; traversal++) {
    const slab_context_options options = {.lane_width = harness_width(), .traversal = (slab_traversal)traversal};
    slab_context *context = NULL;
    if (slab_context_create(&options, &context) != SLAB_OK) continue; /* of one lane it is the only one */
    slab_scene *scene = mixed_tree(context, 400);
    const slab_source sources[] = {{.set = &set, .n = ALL}, {.rays = rays, .n = ALL}};
    for (int k = 0; k < 2; k++) {
      uint64_t invalid = 1;
      const slab_cast_options counting = {.invalid = &invalid};
      slab_results results = {.type = SLAB_RESULT_SUMS, .memory = sums, .columns = WIDTH};
      assert_ok(slab_cast(scene, SLAB_DISTANCE, &sources[k], &results, &counting));
      assert_int_equal(invalid, 0);
      for (uint32_t row = 0; row < HEIGHT; row++) {
        slab_sum want;
        sums_of(&results, SLAB_DISTANCE, rays + row * WIDTH, WIDTH, t + row * WIDTH, &want);
        assert_true(sums_same(&results, WIDTH, &want, &sums[row]));
      }
      harness_count(ALL);
    }
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
  free(rays);
  free(t);
  free(sums);
}

/* ---- results of rays that stand apart ---- */

static void results_may_stand_apart(void **state) {
  const fixture *f = *state;
  for (int query = 0; query < SLAB_QUERY_COUNT; query++) {
    if (query == SLAB_ALL) continue;
    const size_t size = slab_result_size((slab_query)query), stride = size + 5;
    unsigned char *apart = harness_space(MOST * stride), *tight = harness_space(MOST * size);
    const slab_source source = {.rays = f->rays, .n = MOST};
    slab_results results = {.memory = apart, .stride = stride}, close = {.memory = tight, .stride = size};
    slab_cast_options options = {.mask = 0x3B};
    memset(apart, 0xA5, MOST * stride);
    assert_ok(slab_cast(f->scene, (slab_query)query, &source, &results, &options));
    assert_ok(slab_cast(f->scene, (slab_query)query, &source, &close, &options));
    for (size_t i = 0; i < MOST; i++) {
      assert_memory_equal(apart + i * stride, tight + i * size, size);
      assert_memory_equal(apart + i * stride + size, "\xA5\xA5\xA5\xA5\xA5", 5);
    }
    harness_count(MOST);
    free(apart);
    free(tight);
  }
}

/* ---- bad input ---- */

typedef struct refusal {
  const char *part;
  slab_query query;
  const slab_source *source;
  slab_results results;
} refusal;

static void assert_refused(slab_scene *scene, const refusal *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    slab_results results = list[i].results;
    assert_status(slab_cast(scene, list[i].query, list[i].source, &results, NULL), SLAB_INVALID_ARGUMENT);
    assert_mentions(list[i].part);
  }
}

static void sources_that_cannot_be_are_refused(void **state) {
  const fixture *f = *state;
  slab_sum sums[4];
  const slab_rays set = slab_rays_directions(f->points, 2, f->directions, 4);
  const slab_source odd = {.rays = f->rays, .n = 7}, whole = {.set = &set, .n = 8};
  const slab_source late = {.set = &set, .first = 2, .n = 4}, kept = {.rays = f->rays, .n = 8, .reserved = sums};
  const slab_results good = {.type = SLAB_RESULT_SUMS, .memory = sums, .columns = 4};
  const refusal list[] = {
      {"no whole rows of 4", SLAB_ANY, &odd, good},
      {"from 2 on are no whole rows", SLAB_ANY, &late, good},
      {"columns is 2, and the set has 4", SLAB_ANY, &whole, {.type = SLAB_RESULT_SUMS, .memory = sums, .columns = 2}},
      {"reserved", SLAB_ANY, &kept, good},
  };
  assert_refused(f->scene, list, sizeof list / sizeof *list);
  slab_results results = good;
  assert_ok(slab_cast(f->scene, SLAB_ANY, &(slab_source){0}, &results, NULL));
}

static void results_that_cannot_be_are_refused(void **state) {
  const fixture *f = *state;
  slab_sum sums[4];
  float weights[4] = {1.0f, 1.0f, -1.0f, 1.0f}, heavy[2] = {0x1p31f, 1.0f};
  const slab_source array = {.rays = f->rays, .n = 8};
  const slab_results good = {.type = SLAB_RESULT_SUMS, .memory = sums, .columns = 4};
  const refusal list[] = {
      {"type is 4", SLAB_ANY, &array, {.type = (slab_result_type)4, .memory = sums}},
      {"query 0 has no sums", SLAB_CLOSEST, &array, good},
      {"query 2 has no histograms", SLAB_ANY, &array, {.type = SLAB_RESULT_HISTOGRAM, .memory = sums}},
      {"query 1 has no bits", SLAB_DISTANCE, &array, {.type = SLAB_RESULT_BITS, .memory = sums}},
      {"columns is 0", SLAB_ANY, &array, {.type = SLAB_RESULT_SUMS, .memory = sums}},
      {"columns is 2147483649",
       SLAB_ANY,
       &array,
       {.type = SLAB_RESULT_SUMS, .memory = sums, .columns = (1u << 31) + 1}},
      {"weights[2] is -1",
       SLAB_ANY,
       &array,
       {.type = SLAB_RESULT_SUMS, .memory = sums, .columns = 4, .weights = weights}},
      {"2^31 is the most",
       SLAB_ANY,
       &array,
       {.type = SLAB_RESULT_SUMS, .memory = sums, .columns = 2, .weights = heavy}},
      {"weights is set",
       SLAB_ANY,
       &array,
       {.type = SLAB_RESULT_BITS, .memory = sums, .columns = 4, .weights = weights}},
      {"bins is set", SLAB_ANY, &array, {.type = SLAB_RESULT_SUMS, .memory = sums, .columns = 4, .bins = 3}},
      {"columns is set", SLAB_ANY, &array, {.memory = sums, .columns = 4}},
      {"bins is 0", SLAB_DISTANCE, &array, {.type = SLAB_RESULT_HISTOGRAM, .memory = sums, .columns = 4}},
      {"bins is 4097",
       SLAB_DISTANCE,
       &array,
       {.type = SLAB_RESULT_HISTOGRAM, .memory = sums, .columns = 4, .bins = 4097, .t_to = 1.0f}},
      {"t_from 1 to t_to 1",
       SLAB_DISTANCE,
       &array,
       {.type = SLAB_RESULT_HISTOGRAM, .memory = sums, .columns = 4, .bins = 2, .t_from = 1.0f, .t_to = 1.0f}},
      {"stride is 31", SLAB_ANY, &array, {.type = SLAB_RESULT_SUMS, .memory = sums, .columns = 4, .stride = 31}},
      {"stride is set", SLAB_ALL, &array, {.memory = sums, .stride = 64}},
      {"stride is 3", SLAB_DISTANCE, &array, {.memory = sums, .stride = 3}},
      {"results array is NULL", SLAB_ANY, &array, {.type = SLAB_RESULT_SUMS, .columns = 4}},
  };
  assert_refused(f->scene, list, sizeof list / sizeof *list);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_of_an_array_are_those_of_its_results),
      cmocka_unit_test(sums_of_a_set_are_those_of_its_rays),
      cmocka_unit_test(rows_of_a_set_may_be_some),
      cmocka_unit_test(parts_are_whole_in_every_chunk),
      cmocka_unit_test(traversals_sum_alike),
      cmocka_unit_test(results_may_stand_apart),
      cmocka_unit_test(sources_that_cannot_be_are_refused),
      cmocka_unit_test(results_that_cannot_be_are_refused),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
