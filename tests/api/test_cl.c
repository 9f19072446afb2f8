/* Contexts on the caller's OpenCL objects: which queue is used, which object retains which, and refusals. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "counting_scene.h"
#include "job.h"
#include "mixed_fates.h"
#include "sets/adversarial.h"
#include "shapes.def"

enum { N = 300 };

/* The caller's device and context, and two of its queues. */
typedef struct caller {
  cl_device_id device;
  cl_context context;
  cl_command_queue in_order, out_of_order;
} caller;

static caller caller_on(cl_device_id device) {
  caller c = {.device = device, .context = opencl_context(&device, 1)};
  c.in_order = opencl_queue(c.context, device, 0);
  c.out_of_order = opencl_queue(c.context, device, OUT_OF_ORDER);
  return c;
}

static void caller_release(const caller *c) {
  assert_cl(clReleaseCommandQueue(c->in_order));
  assert_cl(clReleaseCommandQueue(c->out_of_order));
  assert_cl(clReleaseContext(c->context));
}

static int setup(void **state) {
  caller *c = malloc(sizeof *c);
  assert_non_null(c);
  *c = caller_on(opencl_device());
  *state = c;
  return 0;
}

static int teardown(void **state) {
  caller_release(*state);
  free(*state);
  return 0;
}

static void cast_and_verify(slab_scene *scene) {
  slab_ray *rays = counting_rays(N);
  slab_hit hits[N];
  uint64_t invalid = 0;
  const slab_cast_options options = {.invalid = &invalid};
  assert_ok(slab_closest(scene, rays, N, hits, &options));
  counting_verify(SLAB_CLOSEST, 0, N, hits);
  assert_true(invalid == counting_invalid(N));
  free(rays);
}

/* ---- which queue is used ---- */

static void every_call_works_on_the_callers_context(void **state) {
  const caller *c = *state;
  const cl_command_queue queues[] = {c->in_order, c->out_of_order, NULL};
  const slab_box box = {{-1, -1, -1}, {1, 1, 1}};
  const slab_ray ray = {{0, 0, 9}, 0, {0, 0, -1}, INFINITY};
  for (int q = 0; q < 3; q++) {
    slab_context *slab = opencl_slab(c->context, c->device, queues[q]);
    slab_scene *scene = counting_scene(slab);
    slab_device_info info = {0};
    slab_interval interval = {0};
    char name[sizeof info.name] = "";
    cast_and_verify(scene);
    assert_ok(slab_pairs(slab, SLAB_BOX, &ray, &box, 1, &interval));
    assert_true(interval.enter == 8.0f && interval.leave == 10.0f);
    assert_ok(slab_context_device(slab, &info));
    assert_cl(clGetDeviceInfo(c->device, CL_DEVICE_NAME, sizeof name, name, NULL));
    assert_string_equal(info.name, name);
    slab_context_destroy(slab);
    slab_scene_destroy(scene);
  }
}

static void device_of_the_options_is_ignored(void **state) {
  const caller *c = *state;
  const slab_context_options options = {.device = "a device that is not there"};
  slab_context *slab = NULL;
  assert_ok(slab_context_create_cl(c->context, c->device, NULL, &options, &slab));
  slab_context_destroy(slab);
}

/* Work enqueued afterwards waits for the gate. */
static void hold_back(cl_command_queue queue, cl_event gate) {
  assert_cl(clEnqueueBarrierWithWaitList(queue, 1, &gate, NULL));
}

typedef struct caster {
  slab_scene *scene;
  slab_ray *rays;
  slab_hit hits[N];
  slab_status status;
  pthread_mutex_t lock;
  bool ended;
} caster;

static void *cast_in_thread(void *argument) {
  caster *c = argument;
  c->status = slab_closest(c->scene, c->rays, N, c->hits, NULL);
  pthread_mutex_lock(&c->lock);
  c->ended = true;
  pthread_mutex_unlock(&c->lock);
  return NULL;
}

static bool has_ended(caster *c) {
  pthread_mutex_lock(&c->lock);
  const bool ended = c->ended;
  pthread_mutex_unlock(&c->lock);
  return ended;
}

static void calls_wait_for_the_callers_work_on_its_in_order_queue(void **state) {
  const caller *c = *state;
  slab_context *slab = opencl_slab(c->context, c->device, c->in_order);
  caster cast = {.scene = counting_scene(slab), .rays = counting_rays(N), .lock = PTHREAD_MUTEX_INITIALIZER};
  const cl_event gate = opencl_gate(c->context);
  pthread_t thread;
  hold_back(c->in_order, gate);
  assert_int_equal(pthread_create(&thread, NULL, cast_in_thread, &cast), 0);
  for (int i = 0; i < 5; i++) opencl_pause();
  assert_false(has_ended(&cast));
  opencl_open_gate(gate);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(cast.status, SLAB_OK);
  counting_verify(SLAB_CLOSEST, 0, N, cast.hits);
  free(cast.rays);
  assert_cl(clReleaseEvent(gate));
  slab_scene_destroy(cast.scene);
  slab_context_destroy(slab);
}

/* Hangs if the library uses the caller's queue, because its gate is opened last. */
static void calls_leave_the_callers_out_of_order_queue_alone(void **state) {
  const caller *c = *state;
  slab_context *slab = opencl_slab(c->context, c->device, c->out_of_order);
  slab_scene *scene = counting_scene(slab);
  const cl_event gate = opencl_gate(c->context);
  hold_back(c->out_of_order, gate);
  cast_and_verify(scene);
  opencl_open_gate(gate);
  assert_cl(clFinish(c->out_of_order));
  assert_cl(clReleaseEvent(gate));
  slab_scene_destroy(scene);
  slab_context_destroy(slab);
}

/* ---- which object retains which ---- */

/* Creates contexts on each kind of queue, and releases everything first, including a sub-device. */
static void outlives_its_caller(cl_device_id device, bool part) {
  for (int q = 0; q < 3; q++) {
    const caller c = caller_on(device);
    slab_context *slab = opencl_slab(c.context, device, q == 0 ? c.in_order : q == 1 ? c.out_of_order : NULL);
    caller_release(&c);
    if (part && q == 2) assert_cl(clReleaseDevice(device));
    slab_scene *scene = counting_scene(slab);
    slab_context_destroy(slab);
    cast_and_verify(scene);
    slab_scene_destroy(scene);
  }
}

static void caller_may_release_its_objects_after_creating(void **state) {
  (void)state;
  outlives_its_caller(opencl_device(), false);
}

static void caller_may_release_its_device_after_creating(void **state) {
  (void)state;
  cl_device_id part = opencl_part();
  if (part != NULL) outlives_its_caller(part, true);
}

/* Objects that can be released while a cast is held back. */
enum { SCENE, SLAB, BUFFER, QUEUE, CONTEXT, DONE, OBJECTS };

typedef struct flight {
  caller caller;
  slab_context *slab;
  slab_scene *scene;
  job job;
  cl_event done;
  cl_event read; /* completes when the buffer's bytes have been read */
  unsigned char *bytes;
} flight;

static void release_one(flight *f, int object) {
  switch (object) {
    case SCENE:
      slab_scene_destroy(f->scene);
      break;
    case SLAB:
      slab_context_destroy(f->slab);
      break;
    case BUFFER:
      assert_cl(clReleaseMemObject(f->job.buffer));
      f->job.buffer = NULL;
      break;
    case QUEUE:
      assert_cl(clReleaseCommandQueue(f->caller.in_order));
      assert_cl(clReleaseCommandQueue(f->caller.out_of_order));
      break;
    case CONTEXT:
      assert_cl(clReleaseContext(f->caller.context));
      break;
    default:
      assert_cl(clReleaseEvent(f->done));
  }
}

static flight take_off(slab_query query, cl_event *gate) {
  flight f = {.caller = caller_on(opencl_device())};
  const caller *c = &f.caller;
  slab_ray *rays = mixed_rays("test_cl", N);
  f.slab = opencl_slab(c->context, c->device, query % 2 == 0 ? c->in_order : NULL);
  f.scene = mixed_fates_scene(f.slab, 12);
  f.job = job_create(c->context, f.scene, query, rays, N, NULL);
  f.bytes = malloc(f.job.size);
  assert_non_null(f.bytes);
  *gate = opencl_gate(c->context);
  assert_ok(slab_enqueue(f.scene, &f.job.batch, c->in_order, 1, gate, &f.done));
  assert_cl(clEnqueueReadBuffer(c->out_of_order, f.job.buffer, CL_FALSE, 0, f.job.size, f.bytes, 1, &f.done, &f.read));
  assert_cl(clFlush(c->in_order));
  assert_cl(clFlush(c->out_of_order));
  free(rays);
  return f;
}

static void everything_may_go_with_work_in_flight_in_any_order(void **state) {
  (void)state;
  static const int orders[][OBJECTS] = {
      {SCENE, SLAB, BUFFER, QUEUE, CONTEXT, DONE}, {DONE, CONTEXT, QUEUE, BUFFER, SLAB, SCENE},
      {SLAB, SCENE, CONTEXT, DONE, BUFFER, QUEUE}, {BUFFER, SCENE, QUEUE, SLAB, DONE, CONTEXT},
      {QUEUE, BUFFER, SLAB, DONE, CONTEXT, SCENE}, {CONTEXT, SLAB, DONE, SCENE, QUEUE, BUFFER}};
  for (int o = 0; o < (int)(sizeof orders / sizeof *orders); o++) {
    cl_event gate = NULL;
    flight f = take_off((slab_query)(o % SLAB_QUERY_COUNT), &gate);
    for (int i = 0; i < OBJECTS; i++) release_one(&f, orders[o][i]);
    opencl_pause();
    opencl_open_gate(gate);
    assert_cl(clReleaseEvent(gate));
    assert_cl(clWaitForEvents(1, &f.read));
    assert_cl(clReleaseEvent(f.read));
    job_verify_bytes(&f.job, f.bytes, 1);
    job_destroy(&f.job);
    free(f.bytes);
  }
}

/* ---- refusals of slab_context_create_cl ---- */

static void refuse_context(cl_context context, cl_device_id device, cl_command_queue queue,
                           const slab_context_options *options, const char *says) {
  slab_context *const untouched = (slab_context *)&(char){0};
  slab_context *slab = untouched;
  assert_status(slab_context_create_cl(context, device, queue, options, &slab), SLAB_INVALID_ARGUMENT);
  assert_ptr_equal(slab, untouched);
  if (strstr(slab_message(), says) == NULL) fail_msg("\"%s\" does not say \"%s\"", slab_message(), says);
}

static void contexts_on_what_is_not_there_are_refused(void **state) {
  const caller *c = *state;
  const caller other = caller_on(c->device);
  const slab_context_options odd = {.lane_width = 3}, tactless = {.traversal = (slab_traversal)77};
  refuse_context(NULL, c->device, c->in_order, NULL, "context is NULL");
  refuse_context(c->context, NULL, c->in_order, NULL, "device is NULL");
  refuse_context(c->context, c->device, c->in_order, &odd, "lane_width is 3");
  refuse_context(c->context, c->device, c->in_order, &tactless, "traversal is 77");
  refuse_context(c->context, c->device, other.in_order, NULL, "queue is of another context");
  refuse_context(c->context, c->device, other.out_of_order, NULL, "queue is of another context");
  assert_status(slab_context_create_cl(c->context, c->device, NULL, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "context is NULL"));
  caller_release(&other);
}

static void devices_of_another_context_are_refused(void **state) {
  const caller *c = *state;
  cl_device_id devices[2];
  if (!opencl_two_devices(devices)) return;
  cl_context both = opencl_context(devices, 2);
  cl_command_queue queues[] = {opencl_queue(both, devices[0], 0), opencl_queue(both, devices[1], 0)};
  refuse_context(c->context, devices[1], NULL, NULL, "device is not one of the context's");
  refuse_context(both, devices[0], queues[1], NULL, "queue is of another device");

  slab_context *slab = opencl_slab(both, devices[0], NULL);
  slab_scene *scene = counting_scene(slab);
  const slab_batch nothing = {0};
  assert_ok(slab_enqueue(scene, &nothing, queues[0], 0, NULL, NULL));
  assert_status(slab_enqueue(scene, &nothing, queues[1], 0, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "another device"));
  cast_and_verify(scene);
  slab_scene_destroy(scene);
  slab_context_destroy(slab);
  for (int i = 0; i < 2; i++) assert_cl(clReleaseCommandQueue(queues[i]));
  assert_cl(clReleaseContext(both));
}

/* ---- refusals of slab_enqueue ---- */

/* A batch that is accepted, of which each test replaces a part. */
typedef struct bench {
  const caller *caller;
  slab_scene *scene;
  job job;
  cl_event untouched;
} bench;

static bench bench_create(const caller *c, slab_query query) {
  slab_ray *rays = counting_rays(N);
  slab_primitive_id skip[N] = {{0}};
  const slab_cast_options options = {.skip = skip};
  slab_context *slab = opencl_slab(c->context, c->device, NULL);
  bench b = {.caller = c, .scene = counting_scene(slab), .untouched = opencl_gate(c->context)};
  b.job = job_create(c->context, b.scene, query, rays, N, &options);
  slab_context_destroy(slab);
  free(rays);
  return b;
}

/* Checks that the refused batches wrote nothing, and that the accepted batch still runs. */
static void bench_destroy(bench *b) {
  job_verify(&b->job, b->caller->in_order, 0);
  assert_ok(slab_enqueue(b->scene, &b->job.batch, b->caller->in_order, 0, NULL, NULL));
  job_verify(&b->job, b->caller->in_order, 1);
  job_destroy(&b->job);
  opencl_open_gate(b->untouched); /* a driver may wait for it when the context goes */
  assert_cl(clReleaseEvent(b->untouched));
  slab_scene_destroy(b->scene);
}

static void refuse(const bench *b, const slab_batch *batch, const char *says) {
  cl_event done = b->untouched;
  assert_status(slab_enqueue(b->scene, batch, b->caller->in_order, 0, NULL, &done), SLAB_INVALID_ARGUMENT);
  assert_ptr_equal(done, b->untouched);
  if (strstr(slab_message(), says) == NULL) fail_msg("\"%s\" does not say \"%s\"", slab_message(), says);
}

/* The accepted batch with one member changed is refused. */
#define REFUSE(bench, change, says)                \
  do {                                             \
    slab_batch batch_changed = (bench)->job.batch; \
    batch_changed.change;                          \
    refuse((bench), &batch_changed, (says));       \
  } while (0)

static void arguments_that_are_missing_are_refused(void **state) {
  bench b = bench_create(*state, SLAB_CLOSEST);
  const slab_batch *batch = &b.job.batch;
  const cl_command_queue queue = b.caller->in_order;
  cl_event done = b.untouched;
  assert_status(slab_enqueue(NULL, batch, queue, 0, NULL, &done), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "scene is NULL"));
  assert_status(slab_enqueue(b.scene, NULL, queue, 0, NULL, &done), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "batch is NULL"));
  assert_status(slab_enqueue(b.scene, batch, NULL, 0, NULL, &done), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "queue is NULL"));
  assert_status(slab_enqueue(b.scene, batch, queue, 2, NULL, &done), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "wait is NULL"));
  assert_ptr_equal(done, b.untouched);
  REFUSE(&b, rays.buffer = NULL, "rays: buffer is NULL");
  REFUSE(&b, results.buffer = NULL, "results: buffer is NULL");
  bench_destroy(&b);
  b = bench_create(*state, SLAB_ALL);
  REFUSE(&b, offsets.buffer = NULL, "offsets: buffer is NULL");
  bench_destroy(&b);
}

static void scene_that_is_not_committed_is_refused(void **state) {
  bench b = bench_create(*state, SLAB_CLOSEST);
  slab_context *slab = opencl_slab(b.caller->context, b.caller->device, NULL);
  slab_scene *scene = NULL;
  cl_event done = b.untouched;
  assert_ok(slab_scene_create(slab, &scene));
  assert_status(slab_enqueue(scene, &b.job.batch, b.caller->in_order, 0, NULL, &done), SLAB_INVALID_STATE);
  assert_non_null(strstr(slab_message(), "not committed"));
  assert_ptr_equal(done, b.untouched);
  slab_scene_destroy(scene);
  slab_context_destroy(slab);
  bench_destroy(&b);
}

static void values_out_of_range_are_refused(void **state) {
  bench b = bench_create(*state, SLAB_CLOSEST);
  REFUSE(&b, query = (slab_query)SLAB_QUERY_COUNT, "query is 7");
  REFUSE(&b, query = (slab_query)-1, "query is -1");
  REFUSE(&b, cull = (slab_cull)(SLAB_CULL_FRONT + 1), "cull is 3");
  REFUSE(&b, cull = (slab_cull)-1, "cull is -1");
  REFUSE(&b, edges = (slab_edges)2, "edges is 2");
  REFUSE(&b, count = 0xFFFFFFC0u, "4294967232 rays");
  REFUSE(&b, count = 0xFFFFFFBFu, "rays: 137438951392 bytes"); /* the largest count that would be accepted */
  bench_destroy(&b);
}

static void offsets_that_are_not_aligned_are_refused(void **state) {
  bench b = bench_create(*state, SLAB_ALL);
  REFUSE(&b, rays.offset += 2, "rays: offset 22 is no multiple of 4");
  REFUSE(&b, results.offset += 1, "results: offset");
  REFUSE(&b, offsets.offset -= 1, "offsets: offset");
  REFUSE(&b, skip.offset += 3, "skip: offset");
  REFUSE(&b, invalid.offset += 1, "invalid: offset");
  REFUSE(&b, counted = ((slab_span){b.job.buffer, 6}), "counted: offset 6 is no multiple of 4");
  REFUSE(&b, rays.offset = (size_t)1 << 34, "rays: offset 17179869184 is too large");
  bench_destroy(&b);
  b = bench_create(*state, SLAB_ANY);
  REFUSE(&b, rays.offset += 1, "rays: offset 21 is no multiple of 4");
  REFUSE(&b, results.offset = (size_t)1 << 34, "results: offset 17179869184 is too large");
  bench_destroy(&b);
}

/* The batch runs with one span in a buffer of its own of exactly the needed size, and its output elsewhere. */
static void accept_exact(bench *b, slab_span *span, size_t bytes) {
  const slab_batch kept = b->job.batch;
  cl_mem exact = opencl_buffer(b->caller->context, b->job.before + span->offset, bytes);
  cl_mem elsewhere = opencl_buffer(b->caller->context, b->job.before, b->job.size);
  b->job.batch.results.buffer = b->job.batch.invalid.buffer = elsewhere;
  *span = (slab_span){exact, 0};
  assert_ok(slab_enqueue(b->scene, &b->job.batch, b->caller->in_order, 0, NULL, NULL));
  assert_cl(clFinish(b->caller->in_order));
  b->job.batch = kept;
  assert_cl(clReleaseMemObject(exact));
  assert_cl(clReleaseMemObject(elsewhere));
}

static void refuse_small(bench *b, slab_span *span, size_t bytes, const char *says) {
  const slab_span whole = *span;
  const slab_span spans[] = {
      {opencl_buffer(b->caller->context, NULL, bytes - 1), 0},
      {opencl_buffer(b->caller->context, NULL, bytes + 3), 4},
      {opencl_buffer(b->caller->context, NULL, 64), 128}}; /* begins past the end of its buffer */
  for (int i = 0; i < 3; i++) {
    *span = spans[i];
    refuse(b, &b->job.batch, says);
    assert_cl(clReleaseMemObject(spans[i].buffer));
  }
  *span = whole;
  accept_exact(b, span, bytes);
}

static void buffers_that_are_a_byte_too_small_are_refused(void **state) {
  for (int query = 0; query < SLAB_QUERY_COUNT; query++) {
    bench b = bench_create(*state, (slab_query)query);
    slab_batch *batch = &b.job.batch;
    refuse_small(&b, &batch->rays, N * sizeof(slab_ray), "rays: 9600 bytes at");
    if (query == SLAB_ALL)
      refuse_small(&b, &batch->offsets, (N + 1) * sizeof(cl_uint), "offsets: 1204 bytes at");
    else
      refuse_small(&b, &batch->results, N * slab_result_size(batch->query), "results: ");
    refuse_small(&b, &batch->skip, N * sizeof(slab_primitive_id), "skip: 2400 bytes at");
    refuse_small(&b, &batch->invalid, sizeof(cl_uint), "invalid: 4 bytes at");
    if (query == SLAB_CLOSEST) refuse_small(&b, &batch->counted, sizeof(cl_uint), "counted: 4 bytes at");
    bench_destroy(&b);
  }
}

static void objects_of_another_context_are_refused(void **state) {
  bench b = bench_create(*state, SLAB_CLOSEST);
  const caller other = caller_on(b.caller->device);
  cl_event done = b.untouched;
  assert_status(slab_enqueue(b.scene, &b.job.batch, other.in_order, 0, NULL, &done), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "queue is of another context"));
  assert_ptr_equal(done, b.untouched);
  cl_mem foreign = opencl_buffer(other.context, NULL, b.job.size);
  REFUSE(&b, rays.buffer = foreign, "rays: the buffer is of another context");
  REFUSE(&b, results.buffer = foreign, "results: the buffer is of another context");
  REFUSE(&b, skip.buffer = foreign, "skip: the buffer is of another context");
  REFUSE(&b, invalid.buffer = foreign, "invalid: the buffer is of another context");
  REFUSE(&b, counted.buffer = foreign, "counted: the buffer is of another context");
  assert_cl(clReleaseMemObject(foreign));
  caller_release(&other);
  bench_destroy(&b);
}

/* ---- updates from buffers ---- */

enum { SHAPES_EACH = 40 };

static slab_status update_cl(slab_scene *scene, uint32_t geometry, slab_shape kind, const slab_span *at, uint32_t n,
                             cl_uint wait_count, const cl_event *wait) {
  const slab_mesh_spans soup = {.vertices = *at, .vertex_count = 3 * n, .triangle_count = n};
  switch (kind) {
#define UPDATE_ARRAY(names) slab_scene_update_##names##_cl(scene, geometry, at, n, wait_count, wait)
#define UPDATE_MESH(names) slab_scene_update_mesh_cl(scene, geometry, &soup, wait_count, wait)
#define UPDATE(shape, name, names, noun, floats, form, place, source) \
  case shape:                                                         \
    return UPDATE_##source(names);
    SHAPES(UPDATE)
#undef UPDATE
  }
  return SLAB_INVALID_ARGUMENT;
}

/* Shapes of two scenes, each a geometry of each kind. */
static void fill_shapes(random_state *random, float shapes[SHAPE_KINDS][SHAPES_EACH * SHAPE_FLOATS_MOST]) {
  const adversarial points = adversarial_begin(random, 0);
  for (int kind = 0; kind < SHAPE_KINDS; kind++)
    for (size_t i = 0; i < SHAPES_EACH; i++) {
      float shape[SHAPE_FLOATS_MOST] = {0};
      adversarial_shape(random, (slab_shape)kind, &points, shape);
      memcpy(shapes[kind] + i * shape_floats((slab_shape)kind), shape, shape_floats((slab_shape)kind) * sizeof *shape);
    }
}

static slab_scene *scene_of_shapes(slab_context *context, float shapes[SHAPE_KINDS][SHAPES_EACH * SHAPE_FLOATS_MOST]) {
  slab_scene *scene = NULL;
  const slab_geometry_options drop = {.skip_invalid = 1};
  assert_ok(slab_scene_create(context, &scene));
  for (int kind = 0; kind < SHAPE_KINDS; kind++)
    assert_ok(shape_add(scene, (slab_shape)kind, shapes[kind], SHAPES_EACH, &drop));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_FAST}));
  return scene;
}

/* Each span begins at an odd multiple of 4 bytes, and is read after the event of the write that fills it. */
static void geometries_are_updated_from_buffers(void **state) {
  const caller *c = *state;
  static float before[SHAPE_KINDS][SHAPES_EACH * SHAPE_FLOATS_MOST],
      after[SHAPE_KINDS][SHAPES_EACH * SHAPE_FLOATS_MOST];
  random_state random = harness_seeded(__func__);
  slab_context *slab = opencl_slab(c->context, c->device, NULL);
  fill_shapes(&random, before);
  fill_shapes(&random, after);
  slab_scene *moved = scene_of_shapes(slab, before), *anew = scene_of_shapes(slab, after);
  for (int kind = 0; kind < SHAPE_KINDS; kind++) {
    const size_t size = SHAPES_EACH * shape_floats((slab_shape)kind) * sizeof(float);
    const slab_span at = {opencl_buffer(c->context, NULL, size + 20), 20};
    cl_event written = NULL;
    assert_cl(clEnqueueWriteBuffer(c->out_of_order, at.buffer, CL_FALSE, 20, size, after[kind], 0, NULL, &written));
    assert_ok(update_cl(moved, (uint32_t)kind, (slab_shape)kind, &at, SHAPES_EACH, 1, &written));
    assert_cl(clReleaseEvent(written));
    assert_cl(clReleaseMemObject(at.buffer));
  }
  slab_ray *rays = mixed_rays(__func__, N);
  slab_hit got[N], want[N];
  assert_ok(slab_scene_commit(moved, &(slab_build_options){.tree = SLAB_TREE_FAST}));
  assert_ok(slab_closest(moved, rays, N, got, NULL));
  assert_ok(slab_closest(anew, rays, N, want, NULL));
  assert_same_bits(got, want, N, sizeof *got);
  harness_count(N);
  free(rays);
  slab_scene_destroy(moved);
  slab_scene_destroy(anew);
  slab_context_destroy(slab);
}

/* Held back until the scene has been changed and committed three times, so that arrays would have been used again. */
static void an_enqueued_cast_answers_the_commit_before_it(void **state) {
  const caller *c = *state;
  slab_context *slab = opencl_slab(c->context, c->device, c->in_order);
  slab_scene *scene = mixed_tree(slab, 2000);
  slab_ray *rays = mixed_rays(__func__, N);
  job j = job_create(c->context, scene, SLAB_CLOSEST, rays, N, NULL);
  const cl_event gate = opencl_gate(c->context);
  assert_ok(slab_enqueue(scene, &j.batch, c->out_of_order, 1, &gate, NULL));
  assert_cl(clFlush(c->out_of_order));
  for (uint32_t geometry = 1; geometry <= 3; geometry++) {
    assert_ok(slab_scene_enable(scene, geometry, 0));
    assert_ok(slab_scene_commit(scene, &(slab_build_options){.update = SLAB_UPDATE_REFIT}));
  }
  job_verify(&j, c->in_order, 0);
  opencl_open_gate(gate);
  assert_cl(clFinish(c->out_of_order));
  job_verify(&j, c->in_order, 1);
  job_destroy(&j);
  assert_cl(clReleaseEvent(gate));
  free(rays);
  slab_scene_destroy(scene);
  slab_context_destroy(slab);
}

static void meshes_in_buffers_keep_their_indices_or_bring_others(void **state) {
  const caller *c = *state;
  const float square[4][3] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}},
              lifted[4][3] = {{-1, -1, 2}, {1, -1, 2}, {1, 1, 2}, {-1, 1, 2}};
  const uint32_t indices[] = {0, 1, 2, 0, 2, 3}, others[] = {0, 1, 3, 9, 1, 2};
  const slab_mesh mesh = {square[0], 0, 4, indices, 2, NULL};
  const slab_ray ray = {{0.25f, 0, 9}, 0, {0, 0, -1}, INFINITY};
  slab_context *slab = opencl_slab(c->context, c->device, NULL);
  slab_scene *scene = NULL;
  float t = 0;
  cl_mem vertices = opencl_buffer(c->context, lifted, sizeof lifted),
         words = opencl_buffer(c->context, others, sizeof others);
  slab_mesh_spans spans = {.vertices = {vertices, 0}, .vertex_count = 4, .triangle_count = 2};
  assert_ok(slab_scene_create(slab, &scene));
  assert_ok(slab_scene_add_mesh(scene, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_ok(slab_scene_update_mesh_cl(scene, 0, &spans, 0, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_ok(slab_distance(scene, &ray, 1, &t, NULL));
  assert_true(t == 7.0f);
  spans.indices.buffer = words;
  assert_status(slab_scene_update_mesh_cl(scene, 0, &spans, 0, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "slab_scene_update_mesh_cl: triangle 1: index 9 is out of range"));
  assert_status(slab_scene_update_mesh_cl(scene, 0, NULL, 0, NULL), SLAB_INVALID_ARGUMENT);
  spans.vertex_count = 5;
  assert_status(slab_scene_update_mesh_cl(scene, 0, &spans, 0, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "vertices: 60 bytes at 0, more than the buffer's 48"));
  spans.vertex_count = 4;
  spans.vertex_stride = (size_t)1 << 62; /* four of which are 0 bytes, were they not counted with care */
  assert_status(slab_scene_update_mesh_cl(scene, 0, &spans, 0, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "more than the buffer's 48"));
  spans.vertex_count = 5;
  assert_status(slab_scene_update_mesh_cl(scene, 0, &spans, 0, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "more than the buffer's 48"));
  spans.vertex_count = 4;
  spans.vertex_stride = 0;
  spans.indices.offset = 4;
  assert_status(slab_scene_update_mesh_cl(scene, 0, &spans, 0, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "indices: 24 bytes at 4, more than the buffer's 24"));
  assert_cl(clReleaseMemObject(vertices));
  assert_cl(clReleaseMemObject(words));
  slab_scene_destroy(scene);
  slab_context_destroy(slab);
}

static void updates_from_what_is_no_buffer_of_theirs_are_refused(void **state) {
  const caller *c = *state;
  const caller other = caller_on(c->device);
  slab_context *slab = opencl_slab(c->context, c->device, NULL);
  slab_scene *scene = counting_scene(slab);
  const slab_span none = {NULL, 0}, foreign = {opencl_buffer(other.context, NULL, 4096), 0};
  assert_status(slab_scene_update_boxes_cl(NULL, 1, &none, COUNTING_BOXES, 0, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "slab_scene_update_boxes_cl: scene is NULL"));
  assert_status(slab_scene_update_boxes_cl(scene, 1, NULL, COUNTING_BOXES, 0, NULL), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_update_boxes_cl(scene, 1, &none, COUNTING_BOXES, 0, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "shapes: buffer is NULL"));
  assert_status(slab_scene_update_boxes_cl(scene, 1, &foreign, COUNTING_BOXES, 0, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "of another context"));
  assert_status(slab_scene_update_boxes_cl(scene, 1, &foreign, COUNTING_BOXES, 2, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "wait is NULL and wait_count 2"));
  cast_and_verify(scene);
  assert_cl(clReleaseMemObject(foreign.buffer));
  caller_release(&other);
  slab_scene_destroy(scene);
  slab_context_destroy(slab);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_call_works_on_the_callers_context),
      cmocka_unit_test(device_of_the_options_is_ignored),
      cmocka_unit_test(calls_wait_for_the_callers_work_on_its_in_order_queue),
      cmocka_unit_test(calls_leave_the_callers_out_of_order_queue_alone),
      cmocka_unit_test(caller_may_release_its_objects_after_creating),
      cmocka_unit_test(caller_may_release_its_device_after_creating),
      cmocka_unit_test(everything_may_go_with_work_in_flight_in_any_order),
      cmocka_unit_test(contexts_on_what_is_not_there_are_refused),
      cmocka_unit_test(devices_of_another_context_are_refused),
      cmocka_unit_test(arguments_that_are_missing_are_refused),
      cmocka_unit_test(scene_that_is_not_committed_is_refused),
      cmocka_unit_test(values_out_of_range_are_refused),
      cmocka_unit_test(offsets_that_are_not_aligned_are_refused),
      cmocka_unit_test(buffers_that_are_a_byte_too_small_are_refused),
      cmocka_unit_test(objects_of_another_context_are_refused),
      cmocka_unit_test(geometries_are_updated_from_buffers),
      cmocka_unit_test(an_enqueued_cast_answers_the_commit_before_it),
      cmocka_unit_test(meshes_in_buffers_keep_their_indices_or_bring_others),
      cmocka_unit_test(updates_from_what_is_no_buffer_of_theirs_are_refused),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
