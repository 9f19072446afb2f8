/* slab_cuda_batch.counted on the stand-in: a number in device memory, which an earlier command of the stream writes, is
 * the number of rays of a cast. Each result is that of a cast of slabcast.h with so many rays, and nothing else is
 * written. */
#include <stdlib.h>
#include <string.h>

#include "caller.h"
#include "mixed_fates.h"
#include "sets/answers.h"
#include "sets/nested.h"

enum { N = 700, BOXES = 48, PLACES = 4, TIMES = 4 };

/* Scenes that have kernels of their own: flat of every kind, of boxes alone, with a BVH, and with instances. */
typedef struct bench {
  caller caller;
  slab_scene *scenes[PLACES];
  nested nested;
  slab_ray *rays, nested_rays[N];
  CUdeviceptr numbers; /* of these words the second is the number of rays */
} bench;

static slab_scene *flat_boxes(slab_context *context) {
  random_state random = harness_seeded("boxes");
  slab_box boxes[BOXES];
  for (int i = 0; i < BOXES; i++)
    for (int k = 0; k < 3; k++) {
      boxes[i].lower[k] = random_between(&random, -8.0f, 8.0f);
      boxes[i].upper[k] = boxes[i].lower[k] + random_between(&random, 0.0f, 4.0f);
    }
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_boxes(scene, boxes, BOXES, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_FLAT}));
  return scene;
}

static int setup(void **state) {
  random_state random = harness_seeded("nested");
  bench *c = calloc(1, sizeof *c);
  *state = c;
  c->caller = caller_begin();
  c->scenes[0] = mixed_fates_scene(c->caller.slab, 5);
  c->scenes[1] = flat_boxes(c->caller.slab);
  c->scenes[2] = mixed_tree(c->caller.slab, 300);
  assert_ok(nested_begin(&c->nested, c->caller.slab, random_next(&random), ADVERSARIAL_ALL_KINDS));
  c->scenes[3] = c->nested.scenes[NESTED_TOP];
  c->rays = mixed_rays("counted", N);
  nested_rays(&c->nested, N, c->nested_rays);
  c->numbers = caller_upload(&c->caller, NULL, 2 * sizeof(uint32_t));
  return 0;
}

static int teardown(void **state) {
  bench *c = *state;
  for (int i = 0; i < PLACES - 1; i++) slab_scene_destroy(c->scenes[i]);
  nested_end(&c->nested);
  assert_cu(cuMemFree(c->numbers));
  caller_end(&c->caller);
  free(c->rays);
  free(c);
  return 0;
}

/* A batch of N rays, the memory that it writes, and the contents expected afterwards. */
typedef struct job {
  slab_cuda_batch batch;
  CUdeviceptr rays, results, offsets, invalid;
  size_t size; /* of all results */
  unsigned char *want;
  uint64_t wants_invalid;
} job;

static CUdeviceptr filled(const bench *c, size_t size) {
  unsigned char *bytes = harness_space(size + 1);
  memset(bytes, 0xEE, size);
  const CUdeviceptr at = caller_upload(&c->caller, bytes, size + 1);
  free(bytes);
  return at;
}

/* The results of the first n rays, before bytes that nobody writes. Of SLAB_ALL the offsets beyond are nonsense. */
static void expect(const bench *c, job *j, int place, const slab_ray *rays, size_t n) {
  const slab_query query = j->batch.query;
  const slab_cast_options options = {.invalid = &j->wants_invalid};
  uint64_t offsets[N + 1], hits = 0;
  uint32_t given[N + 1];
  j->size = N * slab_result_size(query);
  if (query == SLAB_ALL) {
    assert_ok(slab_all(c->scenes[place], rays, N, offsets, NULL, 0, &hits, NULL));
    memset(given, 0xFF, sizeof given);
    for (size_t i = 0; i <= n; i++) given[i] = (uint32_t)offsets[i];
    j->offsets = caller_upload(&c->caller, given, sizeof given);
    j->size = hits * sizeof(slab_hit);
  }
  j->want = harness_space(j->size + 1);
  memset(j->want, 0xEE, j->size);
  if (query == SLAB_ALL)
    assert_ok(slab_all(c->scenes[place], rays, n, offsets, (slab_hit *)(void *)j->want, hits, NULL, &options));
  else
    assert_ok(cast_query(c->scenes[place], query, rays, n, j->want, &options));
}

static job job_begin(const bench *c, int place, slab_query query, size_t n) {
  const slab_ray *rays = place == PLACES - 1 ? c->nested_rays : c->rays;
  const uint32_t none = 0;
  job j = {.batch = {.query = query, .count = N}};
  expect(c, &j, place, rays, n);
  slab_ray spoilt[N]; /* beyond the number are invalid rays */
  memset(spoilt, 0xFF, sizeof spoilt);
  memcpy(spoilt, rays, n * sizeof *rays);
  j.rays = caller_upload(&c->caller, spoilt, sizeof spoilt);
  j.results = filled(c, j.size);
  j.invalid = caller_upload(&c->caller, &none, sizeof none);
  j.batch.rays = caller_pointer(j.rays), j.batch.results = caller_pointer(j.results);
  j.batch.offsets = caller_pointer(j.offsets), j.batch.invalid = caller_pointer(j.invalid);
  j.batch.counted = (const uint32_t *)caller_pointer(c->numbers) + 1;
  return j;
}

static void job_end(const bench *c, job *j) {
  unsigned char *got = harness_space(j->size + 1);
  uint32_t invalid = 0;
  assert_cu(cuMemcpyDtoHAsync(got, j->results, j->size + 1, c->caller.stream));
  assert_cu(cuMemcpyDtoHAsync(&invalid, j->invalid, sizeof invalid, c->caller.stream));
  assert_cu(cuStreamSynchronize(c->caller.stream));
  assert_same_bits(got, j->want, j->size, 1);
  assert_true(invalid == j->wants_invalid);
  const CUdeviceptr all[] = {j->rays, j->results, j->invalid, j->offsets};
  for (int i = 0; i < 3 + (j->offsets != 0); i++) assert_cu(cuMemFree(all[i]));
  free(got);
  free(j->want);
}

/* The number comes from elsewhere on the card, on the same stream as the cast: the host cannot have looked. */
static void ask(const bench *c, int place, slab_query query, uint32_t number) {
  const uint32_t nonsense[2] = {number / 2, number / 3};
  job j = job_begin(c, place, query, number < N ? number : N);
  const CUdeviceptr from = caller_upload(&c->caller, &number, sizeof number);
  assert_cu(cuMemcpyHtoDAsync(c->numbers, nonsense, sizeof nonsense, c->caller.stream));
  assert_cu(cuStreamSynchronize(c->caller.stream));
  standin_hold(c->caller.stream, 1);
  assert_cu(cuMemcpyDtoDAsync(c->numbers + sizeof number, from, sizeof number, c->caller.stream));
  assert_ok(slab_enqueue_cuda(c->scenes[place], &j.batch, c->caller.stream));
  standin_hold(c->caller.stream, 0);
  job_end(c, &j);
  assert_cu(cuMemFree(from));
}

static void each_query_casts_as_many_rays_as_a_stream_says(void **state) {
  static const uint32_t edges[] = {0, 1, 3, 63, 64, 65, N - 1, N, N + 1, UINT32_MAX};
  const bench *c = *state;
  random_state random = harness_seeded(__func__);
  for (int place = 0; place < PLACES; place++)
    for (int query = 0; query < SLAB_QUERY_COUNT; query++) {
      for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) ask(c, place, (slab_query)query, edges[i]);
      for (int i = 0; i < TIMES; i++) ask(c, place, (slab_query)query, random_below(&random, N));
    }
}

/* Two numbers at one address, one after the other: each cast has the one that is there when it runs. */
static void a_number_is_read_when_its_cast_runs(void **state) {
  const bench *c = *state;
  static const uint32_t numbers[] = {17, 480};
  const CUdeviceptr from = caller_upload(&c->caller, numbers, sizeof numbers);
  job jobs[] = {job_begin(c, 2, SLAB_CLOSEST, numbers[0]), job_begin(c, 2, SLAB_CLOSEST, numbers[1])};
  standin_hold(c->caller.stream, 1);
  for (size_t i = 0; i < 2; i++) {
    assert_cu(
        cuMemcpyDtoDAsync(c->numbers + sizeof *numbers, from + i * sizeof *numbers, sizeof *numbers, c->caller.stream));
    assert_ok(slab_enqueue_cuda(c->scenes[2], &jobs[i].batch, c->caller.stream));
  }
  standin_hold(c->caller.stream, 0);
  for (int i = 0; i < 2; i++) job_end(c, &jobs[i]);
  assert_cu(cuMemFree(from));
}

static void what_is_no_number_is_refused_by_name(void **state) {
  const bench *c = *state;
  const CUdeviceptr last = c->numbers + 2 * sizeof(uint32_t);
  const struct {
    const void *at;
    const char *says;
  } wrong[] = {{caller_pointer(c->numbers + 2), "counted: 0x"},
               {caller_pointer(c->numbers + 5), "is no multiple of 4"},
               {caller_pointer(last), "counted: 0x"},
               {c->rays, "not memory that a card reaches"}};
  job j = job_begin(c, 2, SLAB_CLOSEST, 0);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    slab_cuda_batch batch = j.batch;
    batch.counted = wrong[i].at;
    assert_status(slab_enqueue_cuda(c->scenes[2], &batch, c->caller.stream), SLAB_INVALID_ARGUMENT);
    assert_mentions(wrong[i].says);
  }
  job_end(c, &j);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(each_query_casts_as_many_rays_as_a_stream_says, setup, teardown),
      cmocka_unit_test_setup_teardown(a_number_is_read_when_its_cast_runs, setup, teardown),
      cmocka_unit_test_setup_teardown(what_is_no_number_is_refused_by_name, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
