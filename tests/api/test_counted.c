/* slab_batch.counted: a number in a buffer is the number of rays of a cast. Each result is that of a cast with so many
 * rays, and nothing else is written. Right answers are those of the processor's own kernels. */
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "mixed_fates.h"
#include "sets/nested.h"

enum { N = 500, BOXES = 400, TIMES = 3 };

/* The kinds of scenes, which have kernels of their own. */
typedef enum place { FLAT, TREE, INSTANCES, PLACES } place;

/* Scenes on one device. */
typedef struct world {
  slab_context *context;
  slab_scene *boxes[2]; /* FLAT and TREE */
  nested nested;
} world;

typedef struct fixture {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_mem number; /* the third of these words is the number of rays */
  world right, layouts[2];
  slab_ray *rays, nested_rays[N];
  slab_primitive_id met[N]; /* the closest box of each ray, for skips */
} fixture;

static slab_scene *boxes_made(slab_context *context, slab_tree tree) {
  random_state random = harness_seeded("boxes");
  slab_box boxes[BOXES];
  for (int i = 0; i < BOXES; i++)
    for (int k = 0; k < 3; k++) {
      boxes[i].lower[k] = random_between(&random, -8.0f, 8.0f);
      boxes[i].upper[k] = boxes[i].lower[k] + random_between(&random, 0.0f, 1.5f);
    }
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_boxes(scene, boxes, BOXES, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = tree}));
  return scene;
}

static void world_begin(world *w, slab_context *context) {
  random_state random = harness_seeded("nested");
  w->context = context;
  w->boxes[FLAT] = boxes_made(context, SLAB_TREE_FLAT);
  w->boxes[TREE] = boxes_made(context, SLAB_TREE_HIGH);
  assert_ok(nested_begin(&w->nested, context, random_next(&random), ADVERSARIAL_ALL_KINDS));
}

static void world_end(world *w) {
  slab_scene_destroy(w->boxes[FLAT]);
  slab_scene_destroy(w->boxes[TREE]);
  nested_end(&w->nested);
  slab_context_destroy(w->context);
}

static slab_scene *scene_of(const world *w, place at) {
  return at == INSTANCES ? w->nested.scenes[NESTED_TOP] : w->boxes[at];
}

static const slab_ray *rays_of(const fixture *f, place at) { return at == INSTANCES ? f->nested_rays : f->rays; }

static int setup(void **state) {
  static const slab_layout layouts[] = {SLAB_LAYOUT_WIDE, SLAB_LAYOUT_COMPRESSED};
  fixture *f = calloc(1, sizeof *f);
  slab_hit hits[N];
  slab_context *made = NULL;
  assert_non_null(f);
  f->device = opencl_device();
  f->context = opencl_context(&f->device, 1);
  f->queue = opencl_queue(f->context, f->device, 0);
  f->number = opencl_buffer(f->context, NULL, 4 * sizeof(cl_uint));
  f->rays = mixed_rays("test_counted", N);
  assert_ok(slab_context_create(&(slab_context_options){.device = "cpu"}, &made));
  world_begin(&f->right, made);
  nested_rays(&f->right.nested, N, f->nested_rays);
  for (int i = 0; i < 2; i++) {
    const slab_context_options options = {.layout = layouts[i], .lane_width = harness_width()};
    assert_ok(slab_context_create_cl(f->context, f->device, NULL, &options, &made));
    world_begin(&f->layouts[i], made);
  }
  assert_ok(slab_closest(f->right.boxes[TREE], f->rays, N, hits, NULL));
  for (int i = 0; i < N; i++) f->met[i] = (slab_primitive_id){hits[i].primitive, hits[i].geometry};
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  world_end(&f->right);
  for (int i = 0; i < 2; i++) world_end(&f->layouts[i]);
  assert_cl(clReleaseMemObject(f->number));
  assert_cl(clReleaseCommandQueue(f->queue));
  assert_cl(clReleaseContext(f->context));
  free(f->rays);
  free(f);
  return 0;
}

static void write_number(const fixture *f, cl_uint number) {
  const cl_uint words[] = {N, N, number, N};
  assert_cl(clEnqueueWriteBuffer(f->queue, f->number, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL));
}

/* Makes the rays from the nth on, their skips and their offsets nonsense. As rays these bytes are invalid. */
static void spoil(const fixture *f, const job *j, size_t n) {
  const struct {
    const slab_span *span;
    size_t size, kept;
  } parts[] = {{&j->batch.rays, sizeof(slab_ray), n},
               {&j->batch.skip, sizeof(slab_primitive_id), n},
               {&j->batch.offsets, sizeof(cl_uint), n + 1}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const size_t all = N + (parts[i].span == &j->batch.offsets);
    if (parts[i].span->buffer != NULL && parts[i].kept < all)
      memset(j->before + parts[i].span->offset + parts[i].kept * parts[i].size, 0xFF,
             (all - parts[i].kept) * parts[i].size);
  }
  assert_cl(clEnqueueWriteBuffer(f->queue, j->buffer, CL_TRUE, 0, j->size, j->before, 0, NULL, NULL));
}

/* A cast of a scene in a layout. */
typedef struct asked {
  const world *on;
  place at;
  slab_query query;
  slab_cast_options options;
} asked;

/* Casts with this number in the buffer. */
static void ask(const fixture *f, const asked *a, cl_uint number) {
  slab_scene *right = scene_of(&f->right, a->at);
  const slab_ray *rays = rays_of(f, a->at);
  const size_t n = number < N ? number : N;
  job j = job_create(f->context, right, a->query, rays, N, &a->options);
  job_expect(&j, right, rays, n, &a->options);
  spoil(f, &j, n);
  j.batch.counted = (slab_span){f->number, 2 * sizeof(cl_uint)};
  write_number(f, number);
  assert_ok(slab_enqueue(scene_of(a->on, a->at), &j.batch, f->queue, 0, NULL, NULL));
  assert_cl(clFinish(f->queue));
  job_verify(&j, f->queue, 1);
  job_destroy(&j);
}

/* Numbers beside multiples of lanes, of groups and of a work-item's rays; none, all, more than all, and some by
 * chance. */
static void ask_each(const fixture *f, const asked *a, random_state *random) {
  static const cl_uint edges[] = {0, 1, 7, 63, 64, 65, 129, N - 1, N, N + 1, UINT32_MAX};
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) ask(f, a, edges[i]);
  for (int i = 0; i < TIMES; i++) ask(f, a, random_below(random, N));
}

/* ---- results ---- */

static void every_query_gives_the_bits_of_a_cast_of_so_many_rays(void **state) {
  const fixture *f = *state;
  random_state random = harness_seeded(__func__);
  for (int query = 0; query < SLAB_QUERY_COUNT; query++) {
    const asked a = {&f->layouts[0], TREE, (slab_query)query, {0}};
    ask_each(f, &a, &random);
  }
}

/* A card's stand-in casts all queries of these (tests/cuda/test_counted.c), since it has their kernels. PoCL needs up
 * to 6 s for each. */
static void every_kernel_gives_the_bits_of_a_cast_of_so_many_rays(void **state) {
  const fixture *f = *state;
  random_state random = harness_seeded(__func__);
  const asked all[] = {
      {&f->layouts[0], FLAT, SLAB_DISTANCE, {0}}, {&f->layouts[0], FLAT, SLAB_ALL, {0}},
      {&f->layouts[1], TREE, SLAB_DISTANCE, {0}}, {&f->layouts[1], TREE, SLAB_ALL, {0}},
      {&f->layouts[0], INSTANCES, SLAB_ANY, {0}}, {&f->layouts[1], INSTANCES, SLAB_COUNT, {0}},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ask_each(f, &all[i], &random);
}

static void options_go_with_a_number_in_a_buffer(void **state) {
  const fixture *f = *state;
  random_state random = harness_seeded(__func__);
  const slab_cast_options options[] = {{.skip = f->met}, {.max_hits = 2, .skip = f->met}};
  for (int layout = 0; layout < 2; layout++)
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
      for (int at = FLAT; at <= TREE; at++) {
        const asked a = {&f->layouts[layout], (place)at, i == 1 ? SLAB_ALL : SLAB_DISTANCE, options[i]};
        ask_each(f, &a, &random);
      }
}

/* The same program and kernel serve both, and neither leaves anything to the other. */
static void casts_with_and_without_a_number_take_turns(void **state) {
  const fixture *f = *state;
  const asked a = {&f->layouts[0], TREE, SLAB_DISTANCE, {0}};
  for (cl_uint number = 3; number < N; number += 99) {
    ask(f, &a, number);
    job j = job_create(f->context, f->right.boxes[TREE], a.query, f->rays, N, NULL);
    assert_ok(slab_enqueue(a.on->boxes[TREE], &j.batch, f->queue, 0, NULL, NULL));
    assert_cl(clFinish(f->queue));
    job_verify(&j, f->queue, 1);
    job_destroy(&j);
  }
}

static void batch_of_no_rays_needs_no_number(void **state) {
  const fixture *f = *state;
  const slab_batch nothing = {.query = SLAB_ANY, .counted = {f->number, 1}};
  assert_ok(slab_enqueue(f->layouts[0].boxes[TREE], &nothing, f->queue, 0, NULL, NULL));
  assert_cl(clFinish(f->queue));
}

/* ---- a kernel of the caller's decides ---- */

/* Rays whose first hit is not beyond t go on from there, in their order, and are counted. */
static const char *const keeping =
    "kernel void keep(global const float8 *rays, global const float *t, uint n, float most, global float8 *next,\n"
    "                 global uint *number) {\n"
    "  uint kept = 0;\n"
    "  for (uint i = 0; i < n; i++) {\n"
    "    if (!(t[i] <= most)) continue;\n"
    "    float8 ray = rays[i];\n"
    "    ray.s3 = t[i];\n" /* t_min */
    "    next[kept++] = ray;\n"
    "  }\n"
    "  *number = kept;\n"
    "}\n";

/* The kernel's work, in C. */
static uint32_t keep(const slab_ray *rays, const float *t, float most, slab_ray *next) {
  uint32_t kept = 0;
  for (int i = 0; i < N; i++)
    if (t[i] <= most) {
      next[kept] = rays[i];
      next[kept++].t_min = t[i];
    }
  return kept;
}

static cl_kernel keeper(const fixture *f, cl_program *program) {
  cl_int code;
  const char *text = keeping;
  *program = clCreateProgramWithSource(f->context, 1, &text, NULL, &code);
  assert_cl(code);
  assert_cl(clBuildProgram(*program, 1, &f->device, "", NULL, NULL));
  cl_kernel kernel = clCreateKernel(*program, "keep", &code);
  assert_cl(code);
  return kernel;
}

typedef struct chain {
  cl_program program;
  cl_kernel keep;
  cl_mem rays, t, next, further, number;
} chain;

static chain chain_create(const fixture *f) {
  const cl_uint nonsense = UINT32_MAX;
  float untouched[N];
  memset(untouched, 0xEE, sizeof untouched);
  chain c = {.rays = opencl_buffer(f->context, f->rays, N * sizeof *f->rays),
             .t = opencl_buffer(f->context, NULL, sizeof untouched),
             .next = opencl_buffer(f->context, NULL, N * sizeof *f->rays),
             .further = opencl_buffer(f->context, untouched, sizeof untouched),
             .number = opencl_buffer(f->context, &nonsense, sizeof nonsense)};
  c.keep = keeper(f, &c.program);
  const cl_mem arguments[] = {c.rays, c.t, NULL, NULL, c.next, c.number};
  for (cl_uint i = 0; i < 6; i++)
    if (arguments[i] != NULL) assert_cl(clSetKernelArg(c.keep, i, sizeof(cl_mem), &arguments[i]));
  return c;
}

static void chain_destroy(chain *c) {
  const cl_mem buffers[] = {c->rays, c->t, c->next, c->further, c->number};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) assert_cl(clReleaseMemObject(buffers[i]));
  assert_cl(clReleaseKernel(c->keep));
  assert_cl(clReleaseProgram(c->program));
}

/* Enqueues it all behind a gate, and only then opens that: the host decides nothing in between. */
static uint32_t bounce(const fixture *f, const world *on, float most) {
  chain c = chain_create(f);
  const cl_uint n = N;
  const size_t one = 1;
  const cl_event gate = opencl_gate(f->context);
  const slab_batch first = {.query = SLAB_DISTANCE, .count = N, .rays = {c.rays, 0}, .results = {c.t, 0}};
  slab_batch second = first;
  second.rays.buffer = c.next, second.results.buffer = c.further, second.counted.buffer = c.number;
  assert_cl(clSetKernelArg(c.keep, 2, sizeof n, &n));
  assert_cl(clSetKernelArg(c.keep, 3, sizeof most, &most));
  assert_ok(slab_enqueue(on->boxes[TREE], &first, f->queue, 1, &gate, NULL));
  assert_cl(clEnqueueNDRangeKernel(f->queue, c.keep, 1, NULL, &one, &one, 0, NULL, NULL));
  assert_ok(slab_enqueue(on->boxes[TREE], &second, f->queue, 0, NULL, NULL));
  opencl_open_gate(gate);
  assert_cl(clFinish(f->queue));
  float t[N], want[N], got[N];
  slab_ray next[N];
  memset(want, 0xEE, sizeof want);
  assert_ok(slab_distance(f->right.boxes[TREE], f->rays, N, t, NULL));
  const uint32_t kept = keep(f->rays, t, most, next);
  assert_ok(slab_distance(f->right.boxes[TREE], next, kept, want, NULL));
  assert_cl(clEnqueueReadBuffer(f->queue, c.further, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
  assert_same_bits(got, want, N, sizeof *got);
  assert_cl(clReleaseEvent(gate));
  chain_destroy(&c);
  return kept;
}

static void a_kernel_on_the_same_queue_decides_how_many_rays_follow(void **state) {
  const fixture *f = *state;
  static const float most[] = {-1.0f, 0.2f, 2.0f, 1e9f};
  uint32_t last = 0;
  for (size_t i = 0; i < sizeof most / sizeof *most; i++)
    for (int layout = 0; layout < 2; layout++) {
      const uint32_t kept = bounce(f, &f->layouts[layout], most[i]);
      assert_true(i == 0 ? kept == 0 : kept >= last && kept > 0 && kept < N);
      last = kept;
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_query_gives_the_bits_of_a_cast_of_so_many_rays),
      cmocka_unit_test(every_kernel_gives_the_bits_of_a_cast_of_so_many_rays),
      cmocka_unit_test(options_go_with_a_number_in_a_buffer),
      cmocka_unit_test(casts_with_and_without_a_number_take_turns),
      cmocka_unit_test(batch_of_no_rays_needs_no_number),
      cmocka_unit_test(a_kernel_on_the_same_queue_decides_how_many_rays_follow),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
