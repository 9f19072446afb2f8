/* slab_enqueue: gives the results of slabcast.h, in the caller's buffers, when the caller's event completes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "counting_scene.h"
#include "job.h"
#include "mixed_fates.h"
#include "sets/nested.h"

enum { N = 500, QUERIES = SLAB_QUERY_COUNT };

/* The caller's objects, the library's objects created on them, and rays at the scene. */
typedef struct fixture {
  cl_device_id device;
  cl_context context;
  cl_command_queue in_order, out_of_order, beside; /* beside: for reading results while the others are held back */
  slab_scene *scene;
  slab_ray *rays;
  slab_primitive_id met[N]; /* the closest hit of each ray, for skips */
} fixture;

static void meet(fixture *f) {
  slab_hit hits[N];
  assert_ok(slab_closest(f->scene, f->rays, N, hits, NULL));
  for (int i = 0; i < N; i++) f->met[i] = (slab_primitive_id){hits[i].primitive, hits[i].geometry};
}

static int setup(void **state) {
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->device = opencl_device();
  f->context = opencl_context(&f->device, 1);
  f->in_order = opencl_queue(f->context, f->device, 0);
  f->out_of_order = opencl_queue(f->context, f->device, OUT_OF_ORDER);
  f->beside = opencl_queue(f->context, f->device, 0);
  slab_context *slab = opencl_slab(f->context, f->device, f->beside);
  f->scene = mixed_fates_scene(slab, 11);
  slab_context_destroy(slab);
  f->rays = mixed_rays("test_enqueue", N);
  meet(f);
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  slab_scene_destroy(f->scene);
  assert_cl(clReleaseCommandQueue(f->in_order));
  assert_cl(clReleaseCommandQueue(f->out_of_order));
  assert_cl(clReleaseCommandQueue(f->beside));
  assert_cl(clReleaseContext(f->context));
  free(f->rays);
  free(f);
  return 0;
}

static job job_of(const fixture *f, slab_query query, size_t n, const slab_cast_options *options) {
  return job_create(f->context, f->scene, query, f->rays, n, options);
}

/* Enqueues the batch, and waits for its end. */
static void run_job(const fixture *f, const job *j, cl_command_queue queue) {
  cl_event done = NULL;
  assert_ok(slab_enqueue(f->scene, &j->batch, queue, 0, NULL, &done));
  assert_cl(clWaitForEvents(1, &done));
  assert_true(opencl_is_complete(done));
  assert_cl(clReleaseEvent(done));
}

/* ---- results ---- */

static void every_query_and_option_gives_the_bits_of_the_call(void **state) {
  const fixture *f = *state;
  const slab_cast_options rows[] = {
      {0},
      {.mask = MIXED_FATES_MASK(MIXED_FATES_SPHERES) | MIXED_FATES_MASK(MIXED_FATES_MESH)},
      {.skip = f->met},
      {.cull = SLAB_CULL_BACK},
      {.cull = SLAB_CULL_FRONT, .face_forward = 1},
      {.edges = SLAB_EDGES_CLOSED},
      {.max_hits = 1},
      {.max_hits = 3, .skip = f->met, .edges = SLAB_EDGES_CLOSED},
      {.mask = ~MIXED_FATES_MASK(MIXED_FATES_OBBS), .skip = f->met, .cull = SLAB_CULL_BACK, .face_forward = 1},
  };
  for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
    for (int query = 0; query < QUERIES; query++) {
      job j = job_of(f, (slab_query)query, N, &rows[row]);
      assert_true(j.invalid > 0);
      run_job(f, &j, f->in_order);
      job_verify(&j, f->in_order, 1);
      job_destroy(&j);
    }
}

/* Of one query: they have programs of their own. */
static void masks_and_hits_of_rays_give_the_bits_of_the_call(void **state) {
  const fixture *f = *state;
  static uint32_t masks[N];
  static slab_short_hit after[N];
  random_state random = harness_seeded("masks_and_hits");
  for (size_t i = 0; i < N; i++) masks[i] = random_next(&random);
  assert_ok(slab_nearest(f->scene, f->rays, N, after, &(slab_cast_options){.masks = masks}));
  const slab_cast_options options = {.masks = masks, .after = after, .skip = f->met};
  job j = job_of(f, SLAB_NEAREST, N, &options);
  run_job(f, &j, f->in_order);
  job_verify(&j, f->in_order, 1);
  job_destroy(&j);
}

/* In the caller's memory nobody refuses it. Every seventh ray has such a t; for the call with the expected results it
 * follows a miss. */
static void a_t_that_is_no_number_makes_the_ray_invalid(void **state) {
  const fixture *f = *state;
  static slab_short_hit after[N];
  assert_ok(slab_nearest(f->scene, f->rays, N, after, NULL));
  for (size_t i = 0; i < N; i += 7) after[i] = (slab_short_hit){INFINITY, SLAB_MISS, SLAB_MISS};
  job j = job_of(f, SLAB_NEAREST, N, &(slab_cast_options){.after = after});
  slab_short_hit *want = (void *)j.want, *given = (void *)(j.before + j.batch.after.offset);
  for (size_t i = 0; i < N; i += 7) {
    j.invalid += want[i].geometry != SLAB_INVALID;
    want[i] = (slab_short_hit){INFINITY, SLAB_INVALID, SLAB_INVALID};
    given[i].t = NAN;
  }
  assert_cl(clEnqueueWriteBuffer(f->in_order, j.buffer, CL_TRUE, 0, j.size, j.before, 0, NULL, NULL));
  run_job(f, &j, f->in_order);
  job_verify(&j, f->in_order, 1);
  job_destroy(&j);
}

/* Nested scenes have kernels of their own. */
static void instances_give_the_bits_of_the_call(void **state) {
  const fixture *f = *state;
  random_state random = harness_seeded(__func__);
  slab_context *context = opencl_slab(f->context, f->device, f->beside);
  nested n;
  slab_ray rays[N];
  assert_ok(nested_begin(&n, context, random_next(&random), ADVERSARIAL_ALL_KINDS));
  nested_rays(&n, N, rays);
  const fixture at = {.scene = n.scenes[NESTED_TOP]};
  const slab_cast_options options = {.mask = 6, .face_forward = 1};
  for (int query = 0; query < QUERIES; query++) {
    job j = job_create(f->context, at.scene, (slab_query)query, rays, N, query % 2 == 0 ? NULL : &options);
    run_job(&at, &j, f->in_order);
    job_verify(&j, f->in_order, 1);
    job_destroy(&j);
  }
  nested_end(&n);
  slab_context_destroy(context);
}

/* Otherwise the rows above would test the same. */
static void every_option_changes_an_answer(void **state) {
  const fixture *f = *state;
  const slab_cast_options rows[] = {{.mask = MIXED_FATES_MASK(MIXED_FATES_SPHERES)},
                                    {.skip = f->met},
                                    {.cull = SLAB_CULL_BACK},
                                    {.cull = SLAB_CULL_FRONT},
                                    {.face_forward = 1}};
  job plain = job_of(f, SLAB_CLOSEST, N, NULL);
  for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
    job j = job_of(f, SLAB_CLOSEST, N, &rows[row]);
    assert_true(memcmp(j.want, plain.want, j.want_size) != 0);
    job_destroy(&j);
  }
  job_destroy(&plain);
  job all = job_of(f, SLAB_ALL, N, NULL);
  for (uint32_t most = 1; most <= 3; most += 2) { /* lists of more hits are there, so these are cut */
    job j = job_of(f, SLAB_ALL, N, &(slab_cast_options){.max_hits = most});
    assert_true(j.want_size > 0 && j.want_size < all.want_size);
    job_destroy(&j);
  }
  job_destroy(&all);
}

/* Rays at the corners and edges of a triangle, all of which hit it where its edges are closed. */
static void closed_edges_are_closed_here_too(void **state) {
  const fixture *f = *state;
  enum { AIMED = 6 };
  static const float at[AIMED][2] = {{0, 0}, {4, 0}, {0, 4}, {2, 0}, {0, 2}, {2, 2}};
  const slab_mesh mesh = {
      .vertices = (const float[]){0, 0, 0, 4, 0, 0, 0, 4, 0}, .vertex_count = 3, .triangle_count = 1};
  slab_context *context = opencl_slab(f->context, f->device, f->beside);
  slab_ray rays[AIMED];
  slab_scene *scene;
  for (int i = 0; i < AIMED; i++) rays[i] = (slab_ray){{at[i][0], at[i][1], -1}, 0, {0, 0, 1}, INFINITY};
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_mesh(scene, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  const fixture aimed = {.scene = scene};
  for (int edges = SLAB_EDGES_HALF_OPEN; edges <= SLAB_EDGES_CLOSED; edges++) {
    const slab_cast_options options = {.edges = (slab_edges)edges};
    job j = job_create(f->context, scene, SLAB_ANY, rays, AIMED, &options);
    const bool all = memchr(j.want, 0, AIMED) == NULL;
    assert_true(all == (edges == SLAB_EDGES_CLOSED));
    run_job(&aimed, &j, f->in_order);
    job_verify(&j, f->in_order, 1);
    job_destroy(&j);
  }
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

static void counts_beside_multiples_of_the_work_group(void **state) {
  const fixture *f = *state;
  static const size_t counts[] = {1, 2, 63, 64, 65, 127, 129};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (int query = 0; query < QUERIES; query++) {
      job j = job_of(f, (slab_query)query, counts[i], NULL);
      run_job(f, &j, f->out_of_order);
      job_verify(&j, f->out_of_order, 1);
      job_destroy(&j);
    }
}

static void spans_of_a_part_of_a_buffer_count_from_its_begin(void **state) {
  const fixture *f = *state;
  cl_uint bits = 0;
  assert_cl(clGetDeviceInfo(f->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL));
  job j = job_of(f, SLAB_ANY, N, NULL);
  const cl_buffer_region region = {bits / 8, j.size};
  cl_mem whole = opencl_buffer(f->context, NULL, region.origin + region.size);
  cl_int code;
  cl_mem part = clCreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  assert_cl(code);
  assert_cl(clEnqueueWriteBuffer(f->in_order, part, CL_TRUE, 0, j.size, j.before, 0, NULL, NULL));
  assert_cl(clReleaseMemObject(j.buffer));
  j.buffer = j.batch.rays.buffer = j.batch.results.buffer = j.batch.invalid.buffer = part;
  run_job(f, &j, f->in_order);
  job_verify(&j, f->in_order, 1);
  job_destroy(&j);
  assert_cl(clReleaseMemObject(whole));
}

static void invalid_rays_are_added_up_over_casts(void **state) {
  const fixture *f = *state;
  job j = job_of(f, SLAB_DISTANCE, N, NULL);
  for (uint32_t casts = 1; casts <= 3; casts++) {
    run_job(f, &j, f->in_order);
    job_verify(&j, f->in_order, casts);
  }
  job_destroy(&j);
}

static void invalid_rays_need_no_counter(void **state) {
  const fixture *f = *state;
  job j = job_of(f, SLAB_CLOSEST, N, NULL);
  j.batch.invalid.buffer = NULL;
  run_job(f, &j, f->in_order);
  j.invalid = 0; /* the counter must keep its initial value */
  job_verify(&j, f->in_order, 1);
  job_destroy(&j);
}

/* ---- events ---- */

static void assert_held_back(const fixture *f, const job *j, cl_event done) {
  opencl_pause();
  assert_false(opencl_is_complete(done));
  job_verify(j, f->beside, 0);
}

static void nothing_happens_before_every_event_of_the_wait_list(void **state) {
  const fixture *f = *state;
  const cl_command_queue queues[] = {f->in_order, f->out_of_order};
  for (int q = 0; q < 2; q++) {
    job j = job_of(f, SLAB_CLOSEST, N, NULL);
    const cl_event gates[] = {opencl_gate(f->context), opencl_gate(f->context)};
    cl_event done = NULL;
    assert_ok(slab_enqueue(f->scene, &j.batch, queues[q], 2, gates, &done));
    assert_cl(clFlush(queues[q]));
    assert_held_back(f, &j, done);
    opencl_open_gate(gates[1]);
    assert_held_back(f, &j, done);
    opencl_open_gate(gates[0]);
    assert_cl(clWaitForEvents(1, &done));
    assert_true(opencl_is_complete(done));
    job_verify(&j, f->beside, 1);
    for (int i = 0; i < 2; i++) assert_cl(clReleaseEvent(gates[i]));
    assert_cl(clReleaseEvent(done));
    job_destroy(&j);
  }
}

static void wait_list_that_fails_fails_the_cast(void **state) {
  const fixture *f = *state;
  job j = job_of(f, SLAB_CLOSEST, N, NULL);
  cl_event gate = opencl_gate(f->context), done = NULL;
  cl_int status = CL_QUEUED;
  assert_ok(slab_enqueue(f->scene, &j.batch, f->out_of_order, 1, &gate, &done));
  assert_cl(clFlush(f->out_of_order));
  assert_cl(clSetUserEventStatus(gate, -1));
  assert_int_not_equal(clWaitForEvents(1, &done), CL_SUCCESS);
  assert_cl(clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
  assert_true(status < 0);
  job_verify(&j, f->beside, 0);
  assert_cl(clReleaseEvent(gate));
  assert_cl(clReleaseEvent(done));
  job_destroy(&j);
}

static void done_is_optional(void **state) {
  const fixture *f = *state;
  job j = job_of(f, SLAB_COUNT, N, NULL);
  const cl_event gate = opencl_gate(f->context);
  assert_ok(slab_enqueue(f->scene, &j.batch, f->in_order, 1, &gate, NULL));
  assert_cl(clFlush(f->in_order));
  opencl_open_gate(gate);
  assert_cl(clFinish(f->in_order));
  job_verify(&j, f->beside, 1);
  assert_cl(clReleaseEvent(gate));
  job_destroy(&j);
}

static void batch_of_no_rays_ends_after_its_wait_list(void **state) {
  const fixture *f = *state;
  const cl_command_queue queues[] = {f->in_order, f->out_of_order};
  for (int q = 0; q < 2; q++)
    for (int query = 0; query < QUERIES; query++) {
      const slab_batch nothing = {.query = (slab_query)query};
      const cl_event gate = opencl_gate(f->context);
      cl_event done = NULL;
      assert_ok(slab_enqueue(f->scene, &nothing, queues[q], 1, &gate, &done));
      assert_cl(clFlush(queues[q]));
      opencl_pause();
      assert_false(opencl_is_complete(done));
      opencl_open_gate(gate);
      assert_cl(clWaitForEvents(1, &done));
      assert_true(opencl_is_complete(done));
      assert_cl(clReleaseEvent(done));
      assert_cl(clReleaseEvent(gate));
    }
  const slab_batch nothing = {0};
  cl_event done = NULL;
  assert_ok(slab_enqueue(f->scene, &nothing, f->in_order, 0, NULL, NULL));
  assert_ok(slab_enqueue(f->scene, &nothing, f->in_order, 0, NULL, &done));
  assert_cl(clWaitForEvents(1, &done));
  assert_cl(clReleaseEvent(done));
}

/* ---- chains: a second cast skips the hits of the first ---- */

typedef struct chain {
  cl_mem rays, hits, skips, beyond;
  slab_batch first, second;
} chain;

static chain chain_create(const fixture *f) {
  chain c = {.rays = opencl_buffer(f->context, f->rays, N * sizeof *f->rays),
             .hits = opencl_buffer(f->context, NULL, N * sizeof(slab_hit)),
             .skips = opencl_buffer(f->context, NULL, N * sizeof(slab_primitive_id)),
             .beyond = opencl_buffer(f->context, NULL, N * sizeof(slab_hit))};
  c.first = (slab_batch){.query = SLAB_CLOSEST, .count = N, .rays = {c.rays, 0}, .results = {c.hits, 0}};
  c.second = c.first;
  c.second.results.buffer = c.beyond;
  c.second.skip.buffer = c.skips;
  return c;
}

static void chain_destroy(chain *c) {
  assert_cl(clReleaseMemObject(c->rays));
  assert_cl(clReleaseMemObject(c->hits));
  assert_cl(clReleaseMemObject(c->skips));
  assert_cl(clReleaseMemObject(c->beyond));
}

/* Copies the ids out of the hits. */
static void enqueue_ids(const chain *c, cl_command_queue queue, cl_uint waits, const cl_event *wait, cl_event *done) {
  const size_t from[] = {offsetof(slab_hit, primitive), 0, 0}, to[] = {0, 0, 0};
  const size_t region[] = {sizeof(slab_primitive_id), N, 1};
  assert_cl(clEnqueueCopyBufferRect(queue, c->hits, c->skips, from, to, region, sizeof(slab_hit), 0,
                                    sizeof(slab_primitive_id), 0, waits, wait, done));
}

static void chain_verify(const fixture *f, const chain *c) {
  slab_hit got[N], want[N];
  const slab_cast_options options = {.skip = f->met};
  assert_cl(clEnqueueReadBuffer(f->beside, c->beyond, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
  assert_ok(slab_closest(f->scene, f->rays, N, want, &options));
  assert_same_bits(got, want, N, sizeof *got);
}

static void casts_on_an_in_order_queue_follow_each_other(void **state) {
  const fixture *f = *state;
  chain c = chain_create(f);
  const cl_event gate = opencl_gate(f->context);
  assert_ok(slab_enqueue(f->scene, &c.first, f->in_order, 1, &gate, NULL));
  enqueue_ids(&c, f->in_order, 0, NULL, NULL);
  assert_ok(slab_enqueue(f->scene, &c.second, f->in_order, 0, NULL, NULL));
  opencl_open_gate(gate);
  assert_cl(clFinish(f->in_order));
  chain_verify(f, &c);
  assert_cl(clReleaseEvent(gate));
  chain_destroy(&c);
}

static void casts_on_an_out_of_order_queue_follow_their_events(void **state) {
  const fixture *f = *state;
  chain c = chain_create(f);
  const cl_event gate = opencl_gate(f->context);
  cl_event cast = NULL, copied = NULL, done = NULL;
  assert_ok(slab_enqueue(f->scene, &c.first, f->out_of_order, 1, &gate, &cast));
  enqueue_ids(&c, f->out_of_order, 1, &cast, &copied);
  assert_ok(slab_enqueue(f->scene, &c.second, f->out_of_order, 1, &copied, &done));
  opencl_open_gate(gate);
  assert_cl(clWaitForEvents(1, &done));
  chain_verify(f, &c);
  const cl_event events[] = {gate, cast, copied, done};
  for (int i = 0; i < 4; i++) assert_cl(clReleaseEvent(events[i]));
  chain_destroy(&c);
}

/* The caller computes the offsets: the counts are read back, their sums are written to the device, and the hits
 * follow. */
static void counts_give_the_offsets_of_all(void **state) {
  const fixture *f = *state;
  job counted = job_of(f, SLAB_COUNT, N, NULL), all = job_of(f, SLAB_ALL, N, NULL);
  cl_uint offsets[N + 1] = {0};
  run_job(f, &counted, f->in_order);
  assert_cl(clEnqueueReadBuffer(f->in_order, counted.buffer, CL_TRUE, counted.batch.results.offset, N * sizeof *offsets,
                                offsets + 1, 0, NULL, NULL));
  for (int i = 0; i < N; i++) offsets[i + 1] += offsets[i];
  cl_mem sums = opencl_buffer(f->context, offsets, sizeof offsets);
  all.batch.offsets = (slab_span){sums, 0};
  run_job(f, &all, f->in_order);
  job_verify(&all, f->in_order, 1);
  assert_cl(clReleaseMemObject(sums));
  job_destroy(&counted);
  job_destroy(&all);
}

/* ---- several queues, several threads ---- */

static void queues_of_one_context_share_a_scene(void **state) {
  const fixture *f = *state;
  cl_command_queue queues[QUERIES];
  job jobs[QUERIES];
  cl_event done[QUERIES];
  const cl_event gate = opencl_gate(f->context);
  for (int i = 0; i < QUERIES; i++) {
    queues[i] = opencl_queue(f->context, f->device, i % 2 == 0 ? 0 : OUT_OF_ORDER);
    jobs[i] = job_of(f, (slab_query)i, N, NULL);
    assert_ok(slab_enqueue(f->scene, &jobs[i].batch, queues[i], 1, &gate, &done[i]));
    assert_cl(clFlush(queues[i]));
  }
  opencl_open_gate(gate);
  assert_cl(clWaitForEvents(QUERIES, done));
  for (int i = 0; i < QUERIES; i++) {
    job_verify(&jobs[i], f->beside, 1);
    job_destroy(&jobs[i]);
    assert_cl(clReleaseEvent(done[i]));
    assert_cl(clReleaseCommandQueue(queues[i]));
  }
  assert_cl(clReleaseEvent(gate));
}

enum { THREADS = 8, ROUNDS = 60 };

typedef struct worker {
  pthread_t thread;
  pthread_barrier_t *start;
  slab_scene *scene;
  cl_command_queue queue;
  job jobs[QUERIES];
  slab_status status;
  cl_int code;
} worker;

/* Threads return a status, because cmocka's asserts work only in the main thread. */
static void *enqueue_rounds(void *argument) {
  worker *w = argument;
  pthread_barrier_wait(w->start);
  for (int i = 0; w->status == SLAB_OK && i < ROUNDS * QUERIES; i++)
    w->status = slab_enqueue(w->scene, &w->jobs[i % QUERIES].batch, w->queue, 0, NULL, NULL);
  w->code = clFinish(w->queue);
  return NULL;
}

/* In-order queues, each shared by two threads. The scene has its own context, so that the threads need programs that
 * are not built yet. */
static void threads_enqueue_on_one_scene(void **state) {
  const fixture *f = *state;
  slab_context *slab = opencl_slab(f->context, f->device, NULL);
  slab_scene *scene = mixed_fates_scene(slab, 11);
  cl_command_queue queues[THREADS / 2];
  pthread_barrier_t start;
  worker *workers = calloc(THREADS, sizeof *workers);
  assert_non_null(workers);
  assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
  for (int i = 0; i < THREADS / 2; i++) queues[i] = opencl_queue(f->context, f->device, 0);
  for (int i = 0; i < THREADS; i++) {
    worker *w = &workers[i];
    *w = (worker){.start = &start, .scene = scene, .queue = queues[i / 2]};
    for (int q = 0; q < QUERIES; q++) w->jobs[q] = job_of(f, (slab_query)q, N - (size_t)i, NULL);
  }
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&workers[i].thread, NULL, enqueue_rounds, &workers[i]), 0);
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(workers[i].status, SLAB_OK);
    assert_cl(workers[i].code);
    for (int q = 0; q < QUERIES; q++) {
      job_verify(&workers[i].jobs[q], f->beside, ROUNDS);
      job_destroy(&workers[i].jobs[q]);
    }
  }
  for (int i = 0; i < THREADS / 2; i++) assert_cl(clReleaseCommandQueue(queues[i]));
  pthread_barrier_destroy(&start);
  free(workers);
  slab_scene_destroy(scene);
  slab_context_destroy(slab);
}

/* The library's own OpenCL objects can be used as a caller's. The objects of a caller's context are returned
 * unchanged. */
static void objects_of_a_context_serve_for_enqueueing(void **state) {
  const fixture *f = *state;
  slab_context *theirs = opencl_slab(f->context, f->device, NULL), *ours = NULL;
  cl_context context = NULL;
  cl_device_id device = NULL;
  assert_ok(slab_context_objects(theirs, &context, &device));
  assert_ptr_equal(context, f->context);
  assert_ptr_equal(device, f->device);
  assert_status(slab_context_objects(NULL, &context, &device), SLAB_INVALID_ARGUMENT);
  assert_ok(slab_context_create(NULL, &ours));
  assert_ok(slab_context_objects(ours, &context, NULL));
  assert_ok(slab_context_objects(ours, NULL, &device));
  slab_scene *scene = mixed_fates_scene(ours, 11);
  cl_command_queue queue = opencl_queue(context, device, 0);
  job j = job_create(context, scene, SLAB_CLOSEST, f->rays, N, NULL);
  assert_ok(slab_enqueue(scene, &j.batch, queue, 0, NULL, NULL));
  assert_cl(clFinish(queue));
  job_verify(&j, queue, 1);
  job_destroy(&j);
  assert_cl(clReleaseCommandQueue(queue));
  slab_scene_destroy(scene);
  slab_context_destroy(theirs);
  slab_context_destroy(ours);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_query_and_option_gives_the_bits_of_the_call),
      cmocka_unit_test(masks_and_hits_of_rays_give_the_bits_of_the_call),
      cmocka_unit_test(a_t_that_is_no_number_makes_the_ray_invalid),
      cmocka_unit_test(instances_give_the_bits_of_the_call),
      cmocka_unit_test(every_option_changes_an_answer),
      cmocka_unit_test(closed_edges_are_closed_here_too),
      cmocka_unit_test(counts_beside_multiples_of_the_work_group),
      cmocka_unit_test(spans_of_a_part_of_a_buffer_count_from_its_begin),
      cmocka_unit_test(invalid_rays_are_added_up_over_casts),
      cmocka_unit_test(invalid_rays_need_no_counter),
      cmocka_unit_test(nothing_happens_before_every_event_of_the_wait_list),
      cmocka_unit_test(wait_list_that_fails_fails_the_cast),
      cmocka_unit_test(done_is_optional),
      cmocka_unit_test(batch_of_no_rays_ends_after_its_wait_list),
      cmocka_unit_test(casts_on_an_in_order_queue_follow_each_other),
      cmocka_unit_test(casts_on_an_out_of_order_queue_follow_their_events),
      cmocka_unit_test(counts_give_the_offsets_of_all),
      cmocka_unit_test(queues_of_one_context_share_a_scene),
      cmocka_unit_test(threads_enqueue_on_one_scene),
      cmocka_unit_test(objects_of_a_context_serve_for_enqueueing),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
