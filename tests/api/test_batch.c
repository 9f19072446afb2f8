/* Batches: any number of rays, in any launch size, in memory of any alignment, copied or in place. */
#include <stdlib.h>
#include <string.h>

#include "counting_scene.h"
#include "harness.h"
#include "mixed_fates.h"
#include "os/memory.h"

#define GUARD 64
#define GUARD_BYTE 0xA5

static slab_context *context_with(uint32_t launch_rays, int copy) {
  const slab_context_options options = {.lane_width = harness_width(), .launch_rays = launch_rays, .copy = copy};
  slab_context *context = NULL;
  assert_ok(slab_context_create(&options, &context));
  return context;
}

/* ---- outputs between guard bytes ---- */

/* `bytes` bytes at `offset` past an aligned address, with guard bytes on both sides. */
typedef struct guarded {
  unsigned char *block, *bytes;
  size_t size, offset;
} guarded;

static guarded guarded_bytes(size_t size, size_t offset) {
  guarded g = {NULL, NULL, size, offset};
  void *block = os_allocate_pages(4096, (size + offset + 2 * GUARD) / 4096 + 1);
  assert_non_null(block);
  memset(block, GUARD_BYTE, size + offset + 2 * GUARD);
  g.block = block;
  g.bytes = g.block + GUARD + offset;
  return g;
}

static void assert_guards(const guarded *g) {
  for (const unsigned char *b = g->block; b < g->block + g->size + g->offset + 2 * GUARD; b++)
    if ((b < g->bytes || b >= g->bytes + g->size) && *b != GUARD_BYTE)
      fail_msg("byte %td of %zu was written", b - g->bytes, g->size);
}

/* Casts counting-scene rays `first` to first + n - 1, both arrays `offset` bytes past their alignment, and compares. */
static void cast_counting(slab_scene *scene, slab_query query, size_t first, size_t n, size_t ray_offset,
                          size_t result_offset) {
  guarded rays = guarded_bytes(n * sizeof(slab_ray), ray_offset);
  guarded results = guarded_bytes(n * slab_result_size(query), result_offset);
  for (size_t i = 0; i < n; i++) {
    const slab_ray ray = counting_ray(first + i);
    memcpy(rays.bytes + i * sizeof ray, &ray, sizeof ray);
  }
  assert_ok(cast_query(scene, query, (const slab_ray *)(void *)rays.bytes, n, results.bytes, NULL));
  counting_verify(query, first, n, results.bytes);
  assert_guards(&results);
  assert_guards(&rays);
  os_free(rays.block);
  os_free(results.block);
}

static void cast_counting_all(slab_scene *scene, size_t first, size_t n, size_t offset) {
  guarded offsets = guarded_bytes((n + 1) * sizeof(uint64_t), 0);
  slab_ray *rays = counting_rays(first + n);
  uint64_t total = 0, required = 0;
  for (size_t i = 0; i < n; i++) total += counting_count(first + i);
  guarded hits = guarded_bytes(total * sizeof(slab_hit), offset);
  uint64_t *begins = (uint64_t *)(void *)offsets.bytes;
  slab_hit *list = (slab_hit *)(void *)hits.bytes;
  assert_ok(slab_all(scene, rays + first, n, begins, list, total, &required, NULL));
  assert_true(required == total);
  uint64_t at = 0;
  for (size_t i = 0; i < n; i++) {
    assert_true(begins[i] == at);
    for (uint32_t j = 0; j < counting_count(first + i); j++, at++) {
      const slab_hit want = counting_hit(first + i, j);
      if (memcmp(&list[at], &want, sizeof want) != 0) assert_same_bits(&list[at], &want, 1, sizeof want);
    }
  }
  assert_true(begins[n] == total);
  assert_guards(&offsets);
  assert_guards(&hits);
  os_free(offsets.block);
  os_free(hits.block);
  free(rays);
}

/* ---- counts ---- */

static void any_number_of_rays_is_answered(void **state) {
  (void)state;
  static const size_t counts[] = {0, 1, 2, 63, 64, 65, 127, 1000, 4097};
  for (int copy = 0; copy < 2; copy++) {
    slab_context *context = context_with(0, copy);
    slab_scene *scene = counting_scene(context);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
      for (int q = 0; q < EACH_QUERY_COUNT; q++) cast_counting(scene, each_query(q), c, counts[c], 0, 0);
      cast_counting_all(scene, c, counts[c], 0);
    }
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
}

static void a_million_rays_and_one_are_answered(void **state) {
  (void)state;
  const size_t n = 1000001;
  slab_context *context = context_with(0, 0);
  slab_scene *scene = counting_scene(context);
  slab_ray *rays = counting_rays(n);
  slab_hit *results = malloc(n * sizeof *results);
  assert_non_null(results);
  for (int q = 0; q < EACH_QUERY_COUNT; q++) {
    memset(results, GUARD_BYTE, n * sizeof *results);
    assert_ok(cast_query(scene, each_query(q), rays, n, results, NULL));
    counting_verify(each_query(q), 0, n, results);
  }
  free(results);
  free(rays);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

static void lists_of_a_million_rays_and_one_are_complete(void **state) {
  (void)state;
  slab_context *context = context_with(0, 0);
  slab_scene *scene = counting_scene(context);
  cast_counting_all(scene, 0, 1000001, 0);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

static void no_rays_need_no_arrays(void **state) {
  (void)state;
  slab_context *context = harness_context();
  slab_scene *scene = counting_scene(context);
  uint64_t offsets[2] = {9, 9}, required = 9, invalid = 9;
  const slab_cast_options options = {.invalid = &invalid};
  for (int q = 0; q < EACH_QUERY_COUNT; q++) {
    invalid = 9;
    assert_ok(cast_query(scene, each_query(q), NULL, 0, NULL, &options));
    assert_true(invalid == 0);
  }
  assert_ok(slab_all(scene, NULL, 0, offsets, NULL, 0, &required, NULL));
  assert_true(offsets[0] == 0 && offsets[1] == 9 && required == 0);
  for (slab_shape kind = SLAB_PLANE; kind < SLAB_SHAPE_COUNT; kind++)
    assert_ok(slab_pairs(context, kind, NULL, NULL, 0, NULL));
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

/* ---- launches ---- */

static void launches_of_any_size_give_the_same_answers(void **state) {
  (void)state;
  static const uint32_t sizes[] = {1, 7, 63, 65, 333, 1000};
  for (int copy = 0; copy < 2; copy++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      slab_context *context = context_with(sizes[s], copy);
      slab_scene *scene = counting_scene(context);
      const size_t n = sizes[s] < 7 ? 50 : 1000; /* launches of one ray are slow */
      for (int q = 0; q < EACH_QUERY_COUNT; q++) cast_counting(scene, each_query(q), 0, n, 0, 0);
      cast_counting_all(scene, 0, n, 0);
      slab_scene_destroy(scene);
      slab_context_destroy(context);
    }
}

/* Checks that launch_rays bounds a launch: progress is called between launches, and never sees a longer step. */
static int longest_step(void *user, uint64_t done, uint64_t total) {
  uint64_t *seen = user; /* done so far, longest step */
  (void)total;
  if (done - seen[0] > seen[1]) seen[1] = done - seen[0];
  seen[0] = done;
  return 0;
}

static void no_launch_is_longer_than_asked_for(void **state) {
  (void)state;
  slab_context *context = context_with(100, 0);
  slab_scene *scene = counting_scene(context);
  uint64_t seen[2] = {0, 0};
  const slab_cast_options options = {.progress = longest_step, .user = seen};
  slab_ray *rays = counting_rays(1050);
  float t[1050];
  assert_ok(slab_distance(scene, rays, 1050, t, &options));
  assert_true(seen[0] == 1050 && seen[1] > 0 && seen[1] <= 100);
  free(rays);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

/* ---- memory ---- */

static void arrays_need_no_more_than_the_alignment_of_a_float(void **state) {
  (void)state;
  static const size_t offsets[] = {4, 8, 12, 20, 28, 60};
  for (int copy = 0; copy < 2; copy++)
    for (uint32_t launch = 0; launch < 200; launch += 77) {
      slab_context *context = context_with(launch, copy);
      slab_scene *scene = counting_scene(context);
      for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++) {
        for (int q = 0; q < EACH_QUERY_COUNT; q++)
          cast_counting(scene, each_query(q), o, 300, offsets[o], offsets[sizeof offsets / sizeof *offsets - 1 - o]);
        cast_counting_all(scene, o, 300, offsets[o]);
      }
      slab_scene_destroy(scene);
      slab_context_destroy(context);
    }
}

static void bytes_of_any_may_lie_anywhere(void **state) {
  (void)state;
  for (int copy = 0; copy < 2; copy++) {
    slab_context *context = context_with(copy == 0 ? 0 : 33, copy);
    slab_scene *scene = counting_scene(context);
    for (size_t offset = 1; offset < 16; offset += 2) cast_counting(scene, SLAB_ANY, 0, 101, 4, offset);
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
}

static void skips_need_no_more_than_the_alignment_of_an_integer(void **state) {
  (void)state;
  enum { N = 130 };
  uint32_t ids[2 * N + 3];
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) ids[i] = SLAB_MISS;
  for (int copy = 0; copy < 2; copy++) {
    slab_context *context = context_with(50, copy);
    slab_scene *scene = counting_scene(context);
    slab_ray *rays = counting_rays(N);
    slab_hit hits[N];
    for (size_t shift = 0; shift < 4; shift++) {
      const slab_cast_options options = {.skip = (const slab_primitive_id *)(void *)(ids + shift)};
      assert_ok(slab_closest(scene, rays, N, hits, &options));
      counting_verify(SLAB_CLOSEST, 0, N, hits);
    }
    free(rays);
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
}

/* ---- copied and in place compared ---- */

/* slab_all of n rays. *hits is malloc'ed. */
static void all_of(slab_scene *scene, const slab_ray *rays, size_t n, const slab_cast_options *options,
                   uint64_t *offsets, slab_hit **hits) {
  uint64_t required = 0;
  assert_ok(slab_all(scene, rays, n, offsets, NULL, 0, &required, options));
  *hits = malloc(required * sizeof **hits + 1);
  assert_non_null(*hits);
  if (required > 0) assert_ok(slab_all(scene, rays, n, offsets, *hits, required, NULL, options));
}

static void assert_same_casts(slab_scene *one, slab_scene *other, const slab_ray *rays, size_t n,
                              const slab_cast_options *options) {
  unsigned char *a = harness_space(n * sizeof(slab_hit)), *b = harness_space(n * sizeof(slab_hit));
  for (int q = 0; q < EACH_QUERY_COUNT; q++) {
    memset(a, 0x11, n * sizeof(slab_hit));
    memset(b, 0xEE, n * sizeof(slab_hit));
    assert_ok(cast_query(one, each_query(q), rays, n, a, options));
    assert_ok(cast_query(other, each_query(q), rays, n, b, options));
    assert_same_bits(a, b, n, slab_result_size(each_query(q)));
  }
  uint64_t *offsets_a = malloc((n + 1) * sizeof *offsets_a), *offsets_b = malloc((n + 1) * sizeof *offsets_b);
  slab_hit *hits_a = NULL, *hits_b = NULL;
  assert_true(offsets_a != NULL && offsets_b != NULL);
  all_of(one, rays, n, options, offsets_a, &hits_a);
  all_of(other, rays, n, options, offsets_b, &hits_b);
  assert_same_bits(offsets_a, offsets_b, n + 1, sizeof *offsets_a);
  assert_same_bits(hits_a, hits_b, offsets_a[n], sizeof *hits_a);
  free(a);
  free(b);
  free(offsets_a);
  free(offsets_b);
  free(hits_a);
  free(hits_b);
}

static void copied_arrays_give_the_bits_of_arrays_in_place(void **state) {
  (void)state;
  enum { N = 5000 };
  slab_context *in_place = context_with(0, 0), *copied = context_with(777, 1);
  slab_scene *one = mixed_fates_scene(in_place, 1), *other = mixed_fates_scene(copied, 1);
  slab_ray *rays = mixed_rays(__func__, N);
  slab_primitive_id *skip = malloc(N * sizeof *skip);
  assert_non_null(skip);
  for (uint32_t i = 0; i < N; i++)
    skip[i] = (slab_primitive_id){i % 40, i % 2 == 0 ? MIXED_FATES_MESH : MIXED_FATES_PLANES};
  const slab_cast_options options[] = {
      {0},
      {.mask = MIXED_FATES_MASK(MIXED_FATES_BOXES) | MIXED_FATES_MASK(MIXED_FATES_MESH), .skip = skip},
      {.cull = SLAB_CULL_BACK, .face_forward = 1},
      {.cull = SLAB_CULL_FRONT, .skip = skip},
  };
  for (size_t o = 0; o < sizeof options / sizeof *options; o++) assert_same_casts(one, other, rays, N, &options[o]);
  free(skip);
  free(rays);
  slab_scene_destroy(one);
  slab_scene_destroy(other);
  slab_context_destroy(in_place);
  slab_context_destroy(copied);
}

static void rays_are_never_written(void **state) {
  (void)state;
  enum { N = 500 };
  for (int copy = 0; copy < 2; copy++) {
    slab_context *context = context_with(0, copy);
    slab_scene *scene = mixed_fates_scene(context, 2);
    slab_ray *rays = mixed_rays(__func__, N), *before = malloc(N * sizeof *before);
    slab_hit hits[N];
    assert_non_null(before);
    memcpy(before, rays, N * sizeof *rays);
    for (int q = 0; q < EACH_QUERY_COUNT; q++) assert_ok(cast_query(scene, each_query(q), rays, N, hits, NULL));
    assert_same_bits(rays, before, N, sizeof *rays);
    free(before);
    free(rays);
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_number_of_rays_is_answered),
      cmocka_unit_test(a_million_rays_and_one_are_answered),
      cmocka_unit_test(lists_of_a_million_rays_and_one_are_complete),
      cmocka_unit_test(no_rays_need_no_arrays),
      cmocka_unit_test(launches_of_any_size_give_the_same_answers),
      cmocka_unit_test(no_launch_is_longer_than_asked_for),
      cmocka_unit_test(arrays_need_no_more_than_the_alignment_of_a_float),
      cmocka_unit_test(bytes_of_any_may_lie_anywhere),
      cmocka_unit_test(skips_need_no_more_than_the_alignment_of_an_integer),
      cmocka_unit_test(copied_arrays_give_the_bits_of_arrays_in_place),
      cmocka_unit_test(rays_are_never_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
