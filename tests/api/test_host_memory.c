/* Memory of the host for the devices of a context: it is as any other, to casts and to their callers. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "mixed_fates.h"
#include "sets/answers.h"

enum { N = 3000, THREADS = 4, LINE = 64 };

/* copy: as a device that cannot use the caller's memory in place. */
static slab_context *open_device(int copy) {
  const slab_context_options options = {.lane_width = harness_width(), .copy = copy, .launch_rays = copy ? 700 : 0};
  slab_context *context = NULL;
  assert_ok(slab_context_create(&options, &context));
  return context;
}

static void *take(slab_context *context, size_t size) {
  void *memory = NULL;
  assert_ok(slab_host_alloc(context, size, &memory));
  assert_non_null(memory);
  return memory;
}

/* Sizes on both sides of those where memory is taken another way. */
static void memory_of_any_size_is_the_callers(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 63, 4096, 100001, (2u << 20) - 1, 2u << 20, (2u << 20) + 1, 9u << 20};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  slab_context *context = open_device(1);
  unsigned char *memory[SIZES];
  for (int i = 0; i < SIZES; i++) {
    memory[i] = take(context, sizes[i]);
    assert_true((uintptr_t)memory[i] % LINE == 0);
    memset(memory[i], i, sizes[i]);
  }
  for (int i = 0; i < SIZES; i++) {
    for (size_t at = 0; at < sizes[i]; at++) assert_true(memory[i][at] == i);
    assert_ok(slab_host_free(context, memory[i]));
  }
  slab_context_destroy(context);
}

/* Results of a cast of rays from `first` on, by a query, in memory that begins in the middle of what was taken. */
static void assert_casts_the_same(slab_scene *scene, slab_context *context, const slab_ray *rays, slab_query query) {
  enum { FIRST = 5 };
  static const size_t sizes[ANSWER_QUERIES] = {[SLAB_CLOSEST] = sizeof(slab_hit),
                                               [SLAB_DISTANCE] = sizeof(float),
                                               [SLAB_ANY] = sizeof(uint8_t),
                                               [SLAB_COUNT] = sizeof(uint32_t),
                                               [SLAB_INTERVAL] = sizeof(slab_interval),
                                               [SLAB_NEAREST] = sizeof(slab_short_hit)};
  const size_t size = sizes[query];
  unsigned char *want = harness_space(N * size), *got = take(context, N * size);
  slab_ray *own = take(context, N * sizeof *own);
  slab_primitive_id *skip = take(context, N * sizeof *skip);
  memcpy(own, rays, N * sizeof *own);
  for (uint32_t i = 0; i < N; i++) skip[i] = (slab_primitive_id){.geometry = MIXED_FATES_MESH, .primitive = i % 40};
  uint64_t invalid[2] = {0};
  const size_t n = N - 2 * FIRST;
  slab_cast_options options = {.skip = skip + FIRST, .invalid = &invalid[0]};
  memset(got, 0x5A, N * size);
  assert_ok(cast_query(scene, query, rays + FIRST, n, want, &options));
  options.invalid = &invalid[1];
  assert_ok(cast_query(scene, query, own + FIRST, n, got + FIRST * size, &options));
  assert_same_bits(got + FIRST * size, want, n, size);
  assert_true(invalid[0] == invalid[1]);
  for (size_t i = 0; i < FIRST * size; i++) assert_true(got[i] == 0x5A && got[N * size - 1 - i] == 0x5A);
  assert_ok(slab_host_free(context, skip));
  assert_ok(slab_host_free(context, own));
  assert_ok(slab_host_free(context, got));
  free(want);
  harness_count(n);
}

static void casts_use_it_as_any_other(void **state) {
  (void)state;
  slab_ray *rays = mixed_rays(__func__, N);
  for (int way = 0; way < 4; way++) {
    const int tree = way % 2;
    slab_context *context = open_device(way / 2);
    slab_scene *scene = tree ? mixed_tree(context, 100) : mixed_fates_scene(context, 1);
    for (int q = 0; q < ANSWER_QUERIES; q++)
      if (q != SLAB_ALL) assert_casts_the_same(scene, context, rays, (slab_query)q);
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
  free(rays);
}

/* Its context stays until the last of it is given back. */
static void it_outlives_its_creators_reference(void **state) {
  (void)state;
  slab_context *context = open_device(1);
  char *first = take(context, 100), *second = take(context, 100);
  slab_context_destroy(context);
  memset(first, 1, 100);
  assert_ok(slab_host_free(context, second));
  memset(first, 2, 100);
  assert_ok(slab_host_free(context, first));
}

static void wrong_arguments_are_named(void **state) {
  (void)state;
  slab_context *context = open_device(1), *other = open_device(1);
  char own = 0, *memory = take(context, 100);
  void *none = &own;
  assert_status(slab_host_alloc(NULL, 100, &none), SLAB_INVALID_ARGUMENT);
  assert_mentions("context is NULL");
  assert_status(slab_host_alloc(context, 100, NULL), SLAB_INVALID_ARGUMENT);
  assert_mentions("memory is NULL");
  assert_status(slab_host_alloc(context, SIZE_MAX / 4, &none), SLAB_OUT_OF_MEMORY);
  assert_mentions("slab_host_alloc");
  assert_true(none == &own);
  assert_ok(slab_host_free(context, NULL));
  assert_ok(slab_host_free(NULL, NULL));
  assert_status(slab_host_free(NULL, memory), SLAB_INVALID_ARGUMENT);
  assert_mentions("context is NULL");
  assert_status(slab_host_free(context, &own), SLAB_INVALID_ARGUMENT);
  assert_mentions("is not memory that slab_host_alloc gave");
  assert_status(slab_host_free(other, memory), SLAB_INVALID_ARGUMENT);
  assert_status(slab_host_free(context, memory + 1), SLAB_INVALID_ARGUMENT);
  assert_ok(slab_host_free(context, memory));
  assert_status(slab_host_free(context, memory), SLAB_INVALID_ARGUMENT);
  slab_context_destroy(other);
  slab_context_destroy(context);
}

static void *take_and_give_back(void *argument) {
  slab_context *context = argument;
  for (int i = 0; i < 200; i++) {
    void *memory[3] = {NULL};
    for (int k = 0; k < 3; k++)
      if (slab_host_alloc(context, 1000 * (size_t)(i + k), &memory[k]) != SLAB_OK) return context;
    for (int k = 0; k < 3; k++)
      if (slab_host_free(context, memory[(k + i) % 3]) != SLAB_OK) return context;
  }
  return NULL;
}

static void threads_take_and_give_back(void **state) {
  (void)state;
  slab_context *context = open_device(1);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, take_and_give_back, context), 0);
  for (int i = 0; i < THREADS; i++) {
    void *failed = NULL;
    assert_int_equal(pthread_join(threads[i], &failed), 0);
    assert_null(failed);
  }
  slab_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_of_any_size_is_the_callers),  cmocka_unit_test(casts_use_it_as_any_other),
      cmocka_unit_test(it_outlives_its_creators_reference), cmocka_unit_test(wrong_arguments_are_named),
      cmocka_unit_test(threads_take_and_give_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
