/* Copies to and from a device go through pinned memory; also what happens without it. It runs under the layer that
 * pretends to be a GPU and watches every copy. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/layers.h"
#include "harness.h"
#include "mixed_fates.h"
#include "opencl.h"
#include "sets/answers.h"

enum { N = 3000, SHAPES = 500, THREADS = 4, ROUNDS = 2 };

static layers under;

static slab_context *open_device(uint32_t launch_rays, int copy, slab_traversal traversal) {
  const slab_context_options options = {.launch_rays = launch_rays, .copy = copy, .traversal = traversal};
  slab_context *context = NULL;
  assert_ok(slab_context_create(&options, &context));
  return context;
}

static slab_scene *scene_of(slab_context *context, int tree) {
  return tree ? mixed_tree(context, SHAPES) : mixed_fates_scene(context, 1);
}

/* Each ray skips one primitive. */
static slab_primitive_id *skips(size_t n) {
  slab_primitive_id *list = harness_space(n * sizeof *list);
  for (size_t i = 0; i < n; i++)
    list[i] = (slab_primitive_id){.geometry = MIXED_FATES_MESH, .primitive = (uint32_t)(i % 40)};
  return list;
}

static void assert_same_answers(const answers *got, const answers *want) {
  size_t first;
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    assert_true(answers_differ(got, want, (slab_query)q, &first) == 0);
    assert_true(got->invalid[q] == want->invalid[q]);
  }
}

static void assert_checked(slab_scene *scene, const answers *a, const slab_ray *rays,
                           const slab_cast_options *options) {
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    slab_check_report report = {0};
    slab_cast_options checked = *options;
    uint64_t invalid = a->invalid[q];
    checked.invalid = &invalid;
    assert_ok(slab_check(scene, (slab_query)q, rays, a->n, answers_of(a, (slab_query)q),
                         q == SLAB_ALL ? a->offsets : NULL, &checked, &report));
    if (report.mismatches > 0) fail_msg("%s: %s", answer_name((slab_query)q), report.text);
  }
}

/* No pinned memory is left, and none was released while mapped. */
static void assert_gone(void) {
  const pinned_report left = under.pinned_now();
  assert_int_equal(left.mappings, 0);
  assert_int_equal(left.buffers, 0);
  assert_int_equal(left.lost, 0);
}

/* The results of one cast of each query where arrays are used in place, as CPUs do. */
static void answer_in_place(int tree, const slab_ray *rays, const slab_cast_options *options, answers *want) {
  under.pinned(0, PINNED_GIVEN);
  slab_context *context = open_device(0, 0, SLAB_TRAVERSAL_AUTO);
  slab_scene *scene = scene_of(context, tree);
  slab_device_info device;
  assert_ok(slab_context_device(context, &device));
  assert_ok(answers_cast_all(want, scene, rays, N, options));
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  const pinned_report seen = under.pinned_now();
  if (device.type == SLAB_DEVICE_CPU) assert_true(seen.staged == 0 && seen.direct == 0); /* and nothing is copied */
}

/* ---- every copy ---- */

/* A way to cast on a device that copies. */
typedef struct way {
  int gpu, copy;
  slab_traversal traversal;
  uint32_t launch_rays;
} way;

/* A GPU copies whatever the options say. Sorted rays also copy their order. */
static const way ways[] = {{1, 0, SLAB_TRAVERSAL_AUTO, 0},
                           {1, 0, SLAB_TRAVERSAL_AUTO, 7 * 64},
                           {0, 1, SLAB_TRAVERSAL_AUTO, 7 * 64},
                           {0, 1, SLAB_TRAVERSAL_SORTED, 1024}};
enum { WAYS = sizeof ways / sizeof *ways };

static void cast_staged(const way *w, int tree, const slab_ray *rays, const slab_cast_options *options,
                        const answers *want) {
  answers got = {0};
  under.pinned(w->gpu, PINNED_GIVEN);
  slab_context *context = open_device(w->launch_rays, w->copy, w->traversal);
  slab_scene *scene = scene_of(context, tree);
  assert_ok(answers_cast_all(&got, scene, rays, N, options));
  const pinned_report seen = under.pinned_now();
  if (seen.direct > 0) fail_msg("%llu copies of %llu are direct", seen.direct, seen.staged + seen.direct);
  assert_true(seen.staged >= 2 * ANSWER_QUERIES); /* at least rays and results */
  assert_true(seen.mappings > 0 && seen.mappings == seen.buffers);
  assert_same_answers(&got, want);
  assert_checked(scene, &got, rays, options);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  assert_gone();
  answers_free(&got);
}

static void every_copy_goes_through_pinned_memory(void **state) {
  (void)state;
  slab_ray *rays = mixed_rays(__func__, N);
  slab_primitive_id *skip = skips(N);
  const slab_cast_options options = {.skip = skip};
  for (int tree = 0; tree < 2; tree++) {
    answers want = {0};
    answer_in_place(tree, rays, &options, &want);
    for (int w = 0; w < WAYS; w++) cast_staged(&ways[w], tree, rays, &options, &want);
    answers_free(&want);
  }
  free(skip);
  free(rays);
}

/* Memory of slab_host_alloc is pinned, and copied from and to as it is. Copies of other memory are staged. */
static void pinned_memory_of_the_callers_is_not_staged(void **state) {
  (void)state;
  slab_ray *rays = mixed_rays(__func__, N);
  slab_hit *want = harness_space(N * sizeof *want);
  void *own_rays = NULL, *own_hits = NULL;
  under.pinned(1, PINNED_GIVEN);
  slab_context *context = open_device(500, 0, SLAB_TRAVERSAL_AUTO);
  slab_scene *scene = mixed_tree(context, SHAPES);
  assert_ok(slab_host_alloc(context, N * sizeof *rays, &own_rays));
  assert_ok(slab_host_alloc(context, N * sizeof *want, &own_hits));
  memcpy(own_rays, rays, N * sizeof *rays);
  assert_ok(slab_closest(scene, own_rays, N, own_hits, NULL));
  const pinned_report seen = under.pinned_now();
  assert_true(seen.buffers == 2 && seen.mappings == 2); /* the caller's alone */
  assert_true(seen.direct == 0 && seen.staged > 0);     /* to the layer copies of any pinned memory are staged */
  assert_ok(slab_closest(scene, rays, N, want, NULL));
  assert_true(under.pinned_now().buffers > 2);
  assert_same_bits((slab_hit *)own_hits, want, N, sizeof *want);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  assert_true(under.pinned_now().buffers > 0);
  assert_ok(slab_host_free(context, own_rays));
  assert_ok(slab_host_free(context, own_hits));
  assert_gone();
  free(rays);
  free(want);
}

/* ---- bytes ---- */

/* Bytes per ray to the device and back; docs/gpu_tuning.md has the same table. */
static const struct {
  slab_query query;
  unsigned up, down;
} bytes_a_ray[] = {
    {SLAB_CLOSEST, 32, 32}, {SLAB_DISTANCE, 32, 4},  {SLAB_ANY, 32, 1},
    {SLAB_COUNT, 32, 4},    {SLAB_INTERVAL, 32, 16}, {SLAB_NEAREST, 32, 12},
};

static void assert_bytes(const char *query, unsigned long long up, unsigned long long down) {
  const pinned_report seen = under.pinned_now();
  if (seen.up != up || seen.down != down)
    fail_msg("%s: %llu bytes up and %llu down, not %llu and %llu", query, seen.up, seen.down, up, down);
}

/* Of a chunk's lists two numbers go up, which count its hits; 8 bytes per ray and 32 per hit come back. */
static void assert_bytes_of_lists(slab_scene *scene, const slab_ray *rays) {
  answers a = {0};
  assert_ok(answers_cast(&a, SLAB_ALL, scene, rays, N, NULL));
  under.pinned(1, PINNED_GIVEN);
  uint64_t required = 0;
  assert_ok(slab_all(scene, rays, N, a.offsets, a.all, a.offsets[N], &required, NULL));
  assert_bytes(answer_name(SLAB_ALL), N * sizeof *rays + 8, 8 * N + required * sizeof(slab_hit));
  answers_free(&a);
}

/* Of a set its tables go up, of sums their weights and a number that counts invalid rays: no ray, and no result of one
 * comes back. */
static void assert_bytes_of_sets(slab_scene *scene, const slab_ray *rays) {
  enum { ROWS = 40, COLUMNS = 75, CAST = ROWS * COLUMNS };
  const float *floats = (const float *)(const void *)rays;
  const slab_rays set = slab_rays_directions(floats, ROWS, floats + 5, COLUMNS);
  const slab_source source = {.set = &set, .n = CAST};
  const unsigned long long tables = (ROWS + COLUMNS) * 3 * sizeof(float);
  uint8_t any[CAST];
  float weights[COLUMNS] = {1.0f};
  slab_sum sums[ROWS];
  slab_results each = {.memory = any};
  slab_results summed = {.memory = sums, .type = SLAB_RESULT_SUMS, .weights = weights};
  under.pinned(1, PINNED_GIVEN);
  assert_ok(slab_cast(scene, SLAB_ANY, &source, &each, NULL));
  assert_bytes("any of a set", tables, CAST);
  under.pinned(1, PINNED_GIVEN);
  assert_ok(slab_cast(scene, SLAB_ANY, &source, &summed, NULL));
  assert_bytes("sums of a set", tables + COLUMNS * sizeof(uint64_t) + sizeof(cl_uint), sizeof sums + sizeof(cl_uint));
}

/* Nothing is copied that a query does not need: no skips where there are none, no count of invalid rays where nobody
 * wants it. */
static void no_byte_is_copied_in_vain(void **state) {
  (void)state;
  slab_ray *rays = mixed_rays(__func__, N);
  slab_primitive_id *skip = skips(N);
  slab_hit *results = harness_space(N * sizeof *results);
  uint64_t invalid = 0;
  const slab_cast_options more = {.skip = skip, .invalid = &invalid};
  under.pinned(1, PINNED_GIVEN);
  slab_context *context = open_device(0, 0, SLAB_TRAVERSAL_AUTO);
  slab_scene *scene = scene_of(context, 1);
  for (size_t q = 0; q < sizeof bytes_a_ray / sizeof *bytes_a_ray; q++) {
    const unsigned long long up = N * bytes_a_ray[q].up, down = N * bytes_a_ray[q].down;
    const slab_query query = bytes_a_ray[q].query;
    under.pinned(1, PINNED_GIVEN);
    assert_ok(cast_query(scene, query, rays, N, results, NULL));
    assert_bytes(answer_name(query), up, down);
    under.pinned(1, PINNED_GIVEN);
    assert_ok(cast_query(scene, query, rays, N, results, &more));
    assert_bytes(answer_name(query), up + N * sizeof *skip + sizeof(cl_uint), down + sizeof(cl_uint));
  }
  assert_bytes_of_lists(scene, rays);
  assert_bytes_of_sets(scene, rays);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  assert_gone();
  free(results);
  free(skip);
  free(rays);
}

/* ---- casts of growing size ---- */

/* Memory of one size is kept from cast to cast, and grows when needed. A result array that is shorter than that of
 * the cast before is not written past its end. */
static void pinned_memory_grows_and_is_kept(void **state) {
  (void)state;
  static const size_t counts[] = {1, 2, 100, 100, 2000, 17, N, N, 1};
  slab_ray *rays = mixed_rays(__func__, N);
  slab_hit *want = harness_space(N * sizeof *want), *got = harness_space((N + 1) * sizeof *got);
  under.pinned(1, PINNED_GIVEN);
  slab_context *context = open_device(0, 0, SLAB_TRAVERSAL_AUTO);
  slab_scene *scene = mixed_fates_scene(context, 1);
  assert_ok(slab_closest(scene, rays, N, want, NULL));
  slab_context_destroy(context);
  slab_scene_destroy(scene);
  assert_gone();
  context = open_device(0, 0, SLAB_TRAVERSAL_AUTO);
  scene = mixed_fates_scene(context, 1);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    memset(got, 0x5A, (N + 1) * sizeof *got);
    assert_ok(slab_closest(scene, rays, counts[i], got, NULL));
    assert_same_bits(got, want, counts[i], sizeof *got);
    assert_true(((unsigned char *)&got[counts[i]])[0] == 0x5A);
    assert_true(under.pinned_now().buffers == 2); /* one of rays and one of results, whatever the number of casts */
  }
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  assert_gone();
  free(rays);
  free(want);
  free(got);
}

/* ---- without pinned memory ---- */

static void casts_go_on_without_pinned_memory(void **state) {
  (void)state;
  static const pinned_refusal refusals[] = {PINNED_NOT_CREATED, PINNED_NOT_MAPPED};
  slab_ray *rays = mixed_rays(__func__, N);
  slab_primitive_id *skip = skips(N);
  const slab_cast_options options = {.skip = skip};
  answers want = {0};
  answer_in_place(0, rays, &options, &want);
  for (int r = 0; r < 2; r++) {
    answers got = {0};
    under.pinned(1, refusals[r]);
    slab_context *context = open_device(500, 0, SLAB_TRAVERSAL_AUTO);
    slab_scene *scene = mixed_fates_scene(context, 1);
    assert_ok(answers_cast_all(&got, scene, rays, N, &options));
    const pinned_report seen = under.pinned_now();
    assert_true(seen.staged == 0 && seen.direct > 0 && seen.buffers == 0);
    assert_same_answers(&got, &want);
    under.pinned(1, PINNED_GIVEN); /* memory allocated from here on is pinned */
    slab_scene_destroy(scene);
    slab_context_destroy(context);
    assert_gone();
    answers_free(&got);
  }
  answers_free(&want);
  free(skip);
  free(rays);
}

/* ---- threads ---- */

typedef struct worker {
  pthread_t thread;
  slab_scene *scene;
  slab_ray *rays;
  answers want, got;
  slab_status status;
} worker;

static void *work(void *argument) {
  worker *w = argument;
  for (int round = 0; w->status == SLAB_OK && round < ROUNDS; round++)
    w->status = answers_cast_all(&w->got, w->scene, w->rays, N, NULL);
  return NULL;
}

/* Each thread has its own rays, so that results written to the wrong place are noticed. */
static void threads_share_no_pinned_memory(void **state) {
  (void)state;
  worker workers[THREADS] = {{0}};
  for (int i = 0; i < THREADS; i++) {
    char name[32];
    snprintf(name, sizeof name, "%s %d", "thread", i);
    workers[i].rays = mixed_rays(name, N);
    answer_in_place(0, workers[i].rays, NULL, &workers[i].want);
  }
  under.pinned(1, PINNED_GIVEN);
  slab_context *context = open_device(500, 0, SLAB_TRAVERSAL_AUTO);
  slab_scene *scene = mixed_fates_scene(context, 1);
  for (int i = 0; i < THREADS; i++) {
    workers[i].scene = scene;
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
  assert_true(under.pinned_now().direct == 0);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(workers[i].status, SLAB_OK);
    assert_same_answers(&workers[i].got, &workers[i].want);
    answers_free(&workers[i].got);
    answers_free(&workers[i].want);
    free(workers[i].rays);
  }
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  assert_gone();
}

/* ---- cancelled casts ---- */

static int stop_at(void *user, uint64_t done, uint64_t total) {
  (void)total;
  return done >= *(const uint64_t *)user;
}

/* A cancel waits for copies in progress. They must not reach the next cast, nor the caller's memory later. */
static void cancelled_casts_leave_nothing_on_its_way(void **state) {
  (void)state;
  slab_ray *rays = mixed_rays(__func__, 2 * N);
  slab_hit *want = harness_space(2 * N * sizeof *want), *got = harness_space(N * sizeof *got);
  under.pinned(1, PINNED_GIVEN);
  slab_context *context = open_device(200, 0, SLAB_TRAVERSAL_AUTO);
  slab_scene *scene = mixed_fates_scene(context, 1);
  assert_ok(slab_closest(scene, rays, 2 * N, want, NULL));
  for (uint64_t at = 1; at < N; at += 777) {
    const slab_cast_options cancelled = {.progress = stop_at, .user = &at};
    memset(got, 0x5A, N * sizeof *got);
    assert_status(slab_closest(scene, rays, N, got, &cancelled), SLAB_CANCELLED);
    memset(got, 0x5A, N * sizeof *got);
    opencl_pause();
    for (size_t i = 0; i < N * sizeof *got; i++) assert_true(((unsigned char *)got)[i] == 0x5A);
    assert_ok(slab_closest(scene, rays + N, N, got, NULL));
    assert_same_bits(got, want + N, N, sizeof *got);
  }
  assert_true(under.pinned_now().direct == 0);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  assert_gone();
  free(rays);
  free(want);
  free(got);
}

/* ---- the caller's queue ---- */

/* Copies run on it. It may hold work that waits for the caller when the context is destroyed. */
static void callers_queue_is_not_waited_for(void **state) {
  (void)state;
  const slab_context_options options = {.launch_rays = 500};
  slab_ray *rays = mixed_rays(__func__, N);
  slab_hit *want = harness_space(N * sizeof *want), *got = harness_space(N * sizeof *got);
  slab_context *context = NULL;
  under.pinned(1, PINNED_GIVEN);
  const cl_device_id device = opencl_device();
  cl_context cl = opencl_context(&device, 1);
  cl_command_queue queue = opencl_queue(cl, device, 0);
  assert_ok(slab_context_create_cl(cl, device, NULL, &options, &context));
  slab_scene *scene = mixed_fates_scene(context, 1);
  assert_ok(slab_closest(scene, rays, N, want, NULL));
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  assert_ok(slab_context_create_cl(cl, device, queue, &options, &context));
  scene = mixed_fates_scene(context, 1);
  assert_ok(slab_closest(scene, rays, N, got, NULL));
  assert_same_bits(got, want, N, sizeof *got);
  assert_true(under.pinned_now().direct == 0 && under.pinned_now().mappings > 0);
  cl_event gate = opencl_gate(cl), passed = NULL;
  assert_cl(clEnqueueMarkerWithWaitList(queue, 1, &gate, &passed));
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  assert_gone();
  opencl_open_gate(gate);
  assert_cl(clFinish(queue));
  assert_true(opencl_is_complete(passed));
  assert_cl(clReleaseEvent(passed));
  assert_cl(clReleaseEvent(gate));
  assert_cl(clReleaseCommandQueue(queue));
  assert_cl(clReleaseContext(cl));
  free(rays);
  free(want);
  free(got);
}

/* A sub-device is freed with its last reference, whatever its queues still do. */
static void parts_of_a_device_take_pinned_memory(void **state) {
  (void)state;
  const slab_context_options options = {.launch_rays = 500, .copy = 1};
  slab_ray *rays = mixed_rays(__func__, N);
  float want[N], got[N];
  under.pinned(0, PINNED_GIVEN);
  slab_context *context = open_device(0, 0, SLAB_TRAVERSAL_AUTO);
  slab_scene *scene = mixed_fates_scene(context, 1);
  assert_ok(slab_distance(scene, rays, N, want, NULL));
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  for (int i = 0; i < 20; i++) {
    const cl_device_id part = opencl_part();
    if (part == NULL) break;
    cl_context cl = opencl_context(&part, 1);
    assert_ok(slab_context_create_cl(cl, part, NULL, &options, &context));
    scene = mixed_fates_scene(context, 1);
    assert_ok(slab_distance(scene, rays, N, got, NULL));
    assert_same_bits(got, want, N, sizeof *got);
    slab_scene_destroy(scene);
    assert_cl(clReleaseContext(cl));
    assert_cl(clReleaseDevice(part));
    slab_context_destroy(context);
    assert_gone();
  }
  free(rays);
}

/* The probe of a new device reads without staging. It runs here, before copies are counted. */
static int ask_the_devices(void **state) {
  (void)state;
  for (int gpu = 0; gpu < 2; gpu++) {
    under.pinned(gpu, PINNED_GIVEN);
    slab_context_destroy(open_device(0, 0, SLAB_TRAVERSAL_AUTO));
  }
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_copy_goes_through_pinned_memory),
      cmocka_unit_test(pinned_memory_of_the_callers_is_not_staged),
      cmocka_unit_test(no_byte_is_copied_in_vain),
      cmocka_unit_test(pinned_memory_grows_and_is_kept),
      cmocka_unit_test(casts_go_on_without_pinned_memory),
      cmocka_unit_test(threads_share_no_pinned_memory),
      cmocka_unit_test(cancelled_casts_leave_nothing_on_its_way),
      cmocka_unit_test(callers_queue_is_not_waited_for),
      cmocka_unit_test(parts_of_a_device_take_pinned_memory),
  };
  under = layers_load();
  if (under.pinned == NULL || under.pinned_now == NULL) {
    fprintf(stderr, "test_pinned: the layer is not there: OPENCL_LAYERS names other files\n");
    return 1;
  }
  return cmocka_run_group_tests(tests, ask_the_devices, NULL);
}
