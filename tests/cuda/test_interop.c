/* slabcast_cuda.h on the stand-in: the caller's context, streams and memory give the bits of slabcast.h, nothing is
 * waited for, and errors are refused by name. */
#include <math.h>
#include <stdlib.h>

#include "caller.h"
#include "mixed_fates.h"

enum { N = 2000, OTHERS = 3 };

typedef struct bench {
  caller caller;
  slab_scene *scene;
  slab_ray *rays;
} bench;

static int setup(void **state) {
  bench *c = calloc(1, sizeof *c);
  *state = c;
  c->caller = caller_begin();
  c->scene = mixed_tree(c->caller.slab, 300);
  c->rays = mixed_rays("interop", N);
  return 0;
}

static int teardown(void **state) {
  bench *c = *state;
  slab_scene_destroy(c->scene);
  caller_end(&c->caller);
  free(c->rays);
  free(c);
  return 0;
}

/* Enqueues a query of one result per ray, and compares with the call of slabcast.h. */
static void ask(const bench *c, slab_query query, const slab_cast_options *options, CUstream stream) {
  const size_t size = N * slab_result_size(query);
  uint64_t invalid = 0;
  slab_cast_options counted = *options;
  counted.invalid = &invalid;
  unsigned char *want = harness_space(size), *got = harness_space(size);
  const uint32_t none = 0;
  uint32_t found = 0;
  switch (query) {
    case SLAB_CLOSEST:
      assert_ok(slab_closest(c->scene, c->rays, N, (slab_hit *)(void *)want, &counted));
      break;
    case SLAB_DISTANCE:
      assert_ok(slab_distance(c->scene, c->rays, N, (float *)(void *)want, &counted));
      break;
    case SLAB_ANY:
      assert_ok(slab_any(c->scene, c->rays, N, want, &counted));
      break;
    case SLAB_COUNT:
      assert_ok(slab_count(c->scene, c->rays, N, (uint32_t *)(void *)want, &counted));
      break;
    case SLAB_NEAREST:
      assert_ok(slab_nearest(c->scene, c->rays, N, (slab_short_hit *)(void *)want, &counted));
      break;
    default:
      assert_ok(slab_interval_of(c->scene, c->rays, N, (slab_interval *)(void *)want, &counted));
      break;
  }
  const CUdeviceptr rays = caller_upload(&c->caller, c->rays, N * sizeof *c->rays),
                    results = caller_upload(&c->caller, NULL, size),
                    counter = caller_upload(&c->caller, &none, sizeof none);
  const slab_cuda_batch batch = {.query = query,
                                 .count = N,
                                 .rays = caller_pointer(rays),
                                 .results = caller_pointer(results),
                                 .invalid = caller_pointer(counter),
                                 .mask = options->mask,
                                 .cull = options->cull,
                                 .edges = options->edges,
                                 .face_forward = options->face_forward};
  assert_ok(slab_enqueue_cuda(c->scene, &batch, stream));
  assert_cu(cuMemcpyDtoHAsync(got, results, size, stream));
  assert_cu(cuMemcpyDtoHAsync(&found, counter, sizeof found, stream));
  assert_cu(cuStreamSynchronize(stream));
  assert_same_bits(got, want, N, slab_result_size(query));
  assert_true(found == invalid);
  harness_count(N);
  assert_cu(cuMemFree(rays));
  assert_cu(cuMemFree(results));
  assert_cu(cuMemFree(counter));
  free(want);
  free(got);
}

static void batches_give_the_bits_of_arrays(void **state) {
  static const slab_cast_options options[] = {
      {0}, {.mask = 5}, {.cull = SLAB_CULL_BACK, .face_forward = 1}, {.edges = SLAB_EDGES_CLOSED}};
  static const slab_query queries[] = {SLAB_CLOSEST, SLAB_DISTANCE, SLAB_ANY, SLAB_COUNT, SLAB_INTERVAL, SLAB_NEAREST};
  const bench *c = *state;
  CUstream other;
  assert_cu(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  for (size_t q = 0; q < sizeof queries / sizeof *queries; q++)
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
      ask(c, queries[q], &options[o], c->caller.stream);
      ask(c, queries[q], &options[o], other);
      ask(c, queries[q], &options[o], NULL); /* CUDA's default stream */
    }
  assert_cu(cuStreamDestroy(other));
}

/* Masks and hits to begin after, of which every seventh has no t: NaN. */
static void own_of(const bench *c, uint32_t *masks, slab_short_hit *after) {
  random_state random = harness_seeded("own");
  const slab_cast_options options = {.masks = masks};
  for (size_t i = 0; i < N; i++) masks[i] = random_next(&random);
  assert_ok(slab_nearest(c->scene, c->rays, N, after, &options));
  for (size_t i = 0; i < N; i += 7) after[i] = (slab_short_hit){INFINITY, SLAB_MISS, SLAB_MISS};
}

/* In device memory nobody refuses a NaN: that ray is invalid, and all others have the bits of the call. */
static void own_masks_and_hits_without_a_t(void **state) {
  const bench *c = *state;
  static uint32_t masks[N];
  static slab_short_hit after[N], want[N], got[N];
  own_of(c, masks, after);
  uint64_t invalid = 0;
  const slab_cast_options options = {.masks = masks, .after = after, .invalid = &invalid};
  assert_ok(slab_nearest(c->scene, c->rays, N, want, &options));
  for (size_t i = 0; i < N; i += 7) {
    invalid += want[i].geometry != SLAB_INVALID;
    want[i] = (slab_short_hit){INFINITY, SLAB_INVALID, SLAB_INVALID};
    after[i].t = NAN;
  }
  const uint32_t none = 0;
  uint32_t found = 0;
  const CUdeviceptr at[] = {caller_upload(&c->caller, c->rays, N * sizeof *c->rays),
                            caller_upload(&c->caller, NULL, sizeof got), caller_upload(&c->caller, masks, sizeof masks),
                            caller_upload(&c->caller, after, sizeof after),
                            caller_upload(&c->caller, &none, sizeof none)};
  slab_cuda_batch batch = {.query = SLAB_NEAREST,
                           .count = N,
                           .rays = caller_pointer(at[0]),
                           .results = caller_pointer(at[1]),
                           .masks = caller_pointer(at[2]),
                           .after = caller_pointer(at[3]),
                           .invalid = caller_pointer(at[4])};
  assert_ok(slab_enqueue_cuda(c->scene, &batch, c->caller.stream));
  assert_cu(cuMemcpyDtoHAsync(got, at[1], sizeof got, c->caller.stream));
  assert_cu(cuMemcpyDtoHAsync(&found, at[4], sizeof found, c->caller.stream));
  assert_cu(cuStreamSynchronize(c->caller.stream));
  assert_same_bits(got, want, N, sizeof *got);
  assert_true(found == invalid);
  harness_count(N);
  batch.mask = 1;
  assert_status(slab_enqueue_cuda(c->scene, &batch, c->caller.stream), SLAB_INVALID_ARGUMENT);
  assert_mentions("mask is 0x1");
  batch.mask = 0, batch.query = SLAB_INTERVAL;
  assert_status(slab_enqueue_cuda(c->scene, &batch, c->caller.stream), SLAB_INVALID_ARGUMENT);
  assert_mentions("after is given");
  batch.query = SLAB_ANY, batch.masks = caller_pointer(at[2] + 2);
  assert_status(slab_enqueue_cuda(c->scene, &batch, c->caller.stream), SLAB_INVALID_ARGUMENT);
  assert_mentions("masks: 0x");
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) assert_cu(cuMemFree(at[i]));
}

/* Refused: the batch, by this part of the message. */
static void refuse(const bench *c, const slab_cuda_batch *batch, const char *part) {
  assert_status(slab_enqueue_cuda(c->scene, batch, c->caller.stream), SLAB_INVALID_ARGUMENT);
  assert_mentions(part);
}

static void what_is_wrong_is_refused_by_name(void **state) {
  const bench *c = *state;
  const CUdeviceptr at = caller_upload(&c->caller, NULL, N * sizeof(slab_ray));
  const slab_cuda_batch right = {.count = 10, .rays = caller_pointer(at), .results = caller_pointer(at)};
  slab_cuda_batch wrong = right;
  wrong.rays = NULL;
  refuse(c, &wrong, "rays is NULL");
  wrong = right, wrong.results = NULL;
  refuse(c, &wrong, "results is NULL");
  wrong = right, wrong.rays = caller_pointer(at + 2);
  refuse(c, &wrong, "rays: 0x");
  wrong = right, wrong.rays = c->rays; /* of the host */
  refuse(c, &wrong, "not memory that a card reaches");
  wrong = right, wrong.count = N + 1;
  refuse(c, &wrong, "rays: 64032 bytes at 0x");
  wrong = right, wrong.skip = caller_pointer(at + N * sizeof(slab_ray) - 4);
  refuse(c, &wrong, "skip: 80 bytes at 0x");
  wrong = right, wrong.query = SLAB_ALL;
  refuse(c, &wrong, "offsets is NULL");
  wrong = right, wrong.query = (slab_query)99;
  refuse(c, &wrong, "not a slab_query");
  wrong = right, wrong.cull = (slab_cull)9;
  refuse(c, &wrong, "not a slab_cull");
  wrong = right, wrong.count = UINT32_MAX;
  refuse(c, &wrong, "in one launch");
  assert_status(slab_enqueue_cuda(c->scene, NULL, c->caller.stream), SLAB_INVALID_ARGUMENT);
  assert_status(slab_enqueue_cuda(NULL, &right, c->caller.stream), SLAB_INVALID_ARGUMENT);
  slab_scene *empty = harness_scene(c->caller.slab);
  assert_status(slab_enqueue_cuda(empty, &right, c->caller.stream), SLAB_INVALID_STATE);
  slab_scene_destroy(empty);
  slab_context *none = NULL;
  assert_status(
      slab_context_create_cuda(c->caller.context, NULL, &(slab_context_options){.layout = SLAB_LAYOUT_WIDE}, &none),
      SLAB_UNSUPPORTED);
  assert_status(slab_context_create_cuda(c->caller.context, NULL, &(slab_context_options){.lane_width = 8}, &none),
                SLAB_UNSUPPORTED);
  assert_null(none);
  assert_cu(cuMemFree(at));
}

/* On the primary context, and a stream of the library's own; several beside each other. */
static void contexts_are_the_cards_own_where_none_is_given(void **state) {
  const bench *c = *state;
  slab_context *others[OTHERS];
  slab_hit want[100], got[100];
  assert_ok(slab_closest(c->scene, c->rays, 100, want, NULL));
  for (int i = 0; i < OTHERS; i++) assert_ok(slab_context_create_cuda(NULL, NULL, NULL, &others[i]));
  for (int i = 0; i < OTHERS; i++) {
    slab_scene *scene = mixed_tree(others[i], 300);
    assert_ok(slab_closest(scene, c->rays, 100, got, NULL));
    assert_same_bits(got, want, 100, sizeof *want);
    slab_scene_destroy(scene);
    slab_context_destroy(others[i]);
  }
  harness_count(100 * OTHERS);
}

static void a_context_tells_its_card(void **state) {
  const caller *c = &((const bench *)*state)->caller;
  CUcontext context = NULL;
  int card = -1;
  assert_ok(slab_context_card(c->slab, &context, &card));
  assert_ptr_equal(context, c->context);
  assert_int_equal(card, 0);
  assert_ok(slab_context_card(c->slab, NULL, NULL));
  assert_status(slab_context_card(NULL, &context, &card), SLAB_INVALID_ARGUMENT);
}

typedef struct job {
  const bench *bench;
  slab_cuda_batch batch;
} job;

/* The work of a program that has rays on the card: it makes a context and a scene, casts, and takes all down. */
static slab_status whole_job(void *user) {
  static const slab_box box = {.lower = {-1, -1, -1}, .upper = {1, 1, 1}};
  const job *j = user;
  const caller *c = &j->bench->caller;
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  slab_status status = slab_context_create_cuda(c->context, c->stream, NULL, &context);
  if (status == SLAB_OK) status = slab_context_card(context, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_create(context, &scene);
  if (status == SLAB_OK) status = slab_scene_add_boxes(scene, &box, 1, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_commit(scene, NULL);
  if (status == SLAB_OK) status = slab_enqueue_cuda(scene, &j->batch, c->stream);
  cuStreamSynchronize(c->stream);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  return status;
}

/* Each call of the interface fails once that slab_context_create_cuda(, slab_enqueue_cuda( or a call between them
 * makes. At the end the stand-in reports objects that were not released. */
static void each_call_that_fails_is_told(void **state) {
  const bench *c = *state;
  const CUdeviceptr rays = caller_upload(&c->caller, c->rays, N * sizeof *c->rays),
                    results = caller_upload(&c->caller, NULL, N * sizeof(slab_hit));
  job j = {
      c,
      {.count = N, .rays = caller_pointer(rays), .results = caller_pointer(results), .counted = caller_pointer(rays)}};
  unsigned told = 0;
  const unsigned calls = caller_strike(whole_job, &j, &told);
  print_message("%u calls, %u failures told\n", calls, told);
  assert_true(calls > 20);
  assert_true(told > calls / 2);
  assert_cu(cuMemFree(rays));
  assert_cu(cuMemFree(results));
}

static void an_empty_batch_needs_no_memory(void **state) {
  const bench *c = *state;
  assert_ok(slab_enqueue_cuda(c->scene, &(slab_cuda_batch){.query = SLAB_ANY}, c->caller.stream));
  assert_cu(cuStreamSynchronize(c->caller.stream));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(batches_give_the_bits_of_arrays, setup, teardown),
      cmocka_unit_test_setup_teardown(own_masks_and_hits_without_a_t, setup, teardown),
      cmocka_unit_test_setup_teardown(what_is_wrong_is_refused_by_name, setup, teardown),
      cmocka_unit_test_setup_teardown(contexts_are_the_cards_own_where_none_is_given, setup, teardown),
      cmocka_unit_test_setup_teardown(a_context_tells_its_card, setup, teardown),
      cmocka_unit_test_setup_teardown(each_call_that_fails_is_told, setup, teardown),
      cmocka_unit_test_setup_teardown(an_empty_batch_needs_no_memory, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
