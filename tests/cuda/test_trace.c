/* slabcast_device.h in CUDA C++, on the stand-ins: kernels that trace rays themselves get the bits of a cast.
 * `test_trace_cuda without`: where there is no NVRTC. `test_trace_cuda compiled`: with NVIDIA's own, whose code the
 * stand-in does not run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caller.h"
#include "mixed_fates.h"
#include "sets/nested.h"
#include "traced.h"

enum { WALKED = 24, PLACES = 3 };

/* Flat, with a BVH, and with instances. */
typedef struct fixture {
  caller caller;
  slab_scene *scenes[PLACES];
  nested nested;
  slab_ray *rays, *nested_rays;
  size_t n;
  CUdeviceptr given[PLACES], results; /* rays on the card; space for n walks */
} fixture;

static const slab_ray *rays_of(const fixture *f, int place) { return place < 2 ? f->rays : f->nested_rays; }

static int setup(void **state) {
  random_state random = harness_seeded("nested");
  fixture *f = calloc(1, sizeof *f);
  *state = f;
  f->caller = caller_begin();
  f->scenes[0] = traced_flat_scene(f->caller.slab);
  f->scenes[1] = mixed_tree(f->caller.slab, 400);
  assert_ok(nested_begin(&f->nested, f->caller.slab, random_next(&random), ADVERSARIAL_ALL_KINDS));
  f->scenes[2] = f->nested.scenes[NESTED_TOP];
  f->n = traced_rays();
  f->rays = mixed_rays("test_trace", f->n);
  f->nested_rays = malloc(f->n * sizeof *f->nested_rays);
  assert_non_null(f->nested_rays);
  nested_rays(&f->nested, (uint32_t)f->n, f->nested_rays);
  for (int i = 0; i < PLACES; i++) f->given[i] = caller_upload(&f->caller, rays_of(f, i), f->n * sizeof(slab_ray));
  f->results = caller_upload(&f->caller, NULL, f->n * WALKED * sizeof(slab_short_hit));
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  for (int i = 0; i < PLACES; i++) assert_cu(cuMemFree(f->given[i]));
  assert_cu(cuMemFree(f->results));
  for (int i = 0; i < PLACES - 1; i++) slab_scene_destroy(f->scenes[i]);
  nested_end(&f->nested);
  caller_end(&f->caller);
  free(f->rays);
  free(f->nested_rays);
  free(f);
  return 0;
}

/* Launches a kernel on n rays, with the scene's parameters after the first and two of its own at the end. */
static void launch(const fixture *f, CUfunction kernel, CUdeviceptr rays, void **scene, unsigned count, void *third,
                   void *fourth, size_t size, void *results) {
  void *parameters[SLAB_SCENE_PARAMETERS_MOST + 4] = {&rays};
  CUdeviceptr to = f->results;
  memcpy(parameters + 1, scene, count * sizeof *scene);
  parameters[1 + count] = &to;
  parameters[2 + count] = third;
  parameters[3 + count] = fourth;
  assert_cu(cuLaunchKernel(kernel, (unsigned)(f->n / TRACED_GROUP), 1, 1, TRACED_GROUP, 1, 1, 0, f->caller.stream,
                           parameters, NULL));
  assert_cu(cuMemcpyDtoHAsync(results, to, size, f->caller.stream));
  assert_cu(cuStreamSynchronize(f->caller.stream));
}

static void run(const fixture *f, CUfunction kernel, CUdeviceptr rays, void **scene, unsigned count,
                const slab_trace_options *options, size_t size, void *results) {
  slab_trace_options given = options != NULL ? *options : (slab_trace_options){0};
  uint32_t plain = options == NULL;
  launch(f, kernel, rays, scene, count, &given, &plain, size, results);
}

static CUfunction kernel_of(slab_program *program, slab_query query) {
  char name[] = "trace_0";
  CUfunction kernel = NULL;
  name[sizeof name - 2] += (char)query;
  assert_ok(slab_program_function(program, name, &kernel));
  return kernel;
}

static void verify_query(const fixture *f, int place, slab_program *program, slab_query query) {
  unsigned char *got = malloc(f->n * sizeof(slab_hit)), *want = malloc(f->n * sizeof(slab_hit));
  void *scene[SLAB_SCENE_PARAMETERS_MOST];
  unsigned count = 0;
  const size_t size = f->n * slab_result_size(query);
  CUfunction kernel = kernel_of(program, query);
  assert_ok(slab_scene_bind_cuda(f->scenes[place], kernel, scene, &count));
  for (int row = -1; row < TRACED_ROWS; row++) {
    traced_cast(f->scenes[place], query, row, rays_of(f, place), f->n, want);
    run(f, kernel, f->given[place], scene, count, row < 0 ? NULL : &traced_rows[row].trace, size, got);
    assert_memory_equal(got, want, size);
  }
  free(got);
  free(want);
}

static slab_program *program_of(slab_scene *scene, uint32_t queries) {
  char text[4096];
  slab_program *program = NULL;
  traced_text(queries, text, sizeof text);
  assert_ok(slab_program_create(scene, text, "-DUNUSED=1  -std=c++17", queries, &program));
  return program;
}

static void every_query_has_the_bits_of_a_cast(void **state) {
  const fixture *f = *state;
  static const uint32_t share[PLACES] = {1u << SLAB_CLOSEST | 1u << SLAB_INTERVAL, TRACED_EVERY, 1u << SLAB_CLOSEST};
  for (int place = 0; place < PLACES; place++) {
    const uint32_t asked = traced_whole() ? TRACED_EVERY : share[place];
    slab_program *program = program_of(f->scenes[place], asked);
    for (int i = 0; i < TRACED_QUERIES; i++)
      if ((asked >> traced_queries[i] & 1) != 0) verify_query(f, place, program, traced_queries[i]);
    slab_program_destroy(program);
  }
}

static void a_walk_is_what_all_lists(void **state) {
  const fixture *f = *state;
  char text[4096];
  const size_t size = f->n * WALKED * sizeof(slab_short_hit);
  snprintf(text, sizeof text, "%s%s", traced_begin, traced_walk);
  for (int place = traced_whole() ? 0 : PLACES - 1; place < PLACES; place++) {
    slab_short_hit *want = traced_walks(f->scenes[place], rays_of(f, place), f->n, WALKED), *got = calloc(1, size);
    slab_program *program = NULL;
    CUfunction kernel = NULL;
    void *scene[SLAB_SCENE_PARAMETERS_MOST];
    unsigned count = 0;
    uint32_t most = WALKED;
    assert_ok(slab_program_create(f->scenes[place], text, NULL, 1u << SLAB_ALL, &program));
    assert_ok(slab_program_function(program, "walk", &kernel));
    assert_ok(slab_scene_bind_cuda(f->scenes[place], kernel, scene, &count));
    assert_cu(cuMemcpyHtoDAsync(f->results, got, size, f->caller.stream)); /* zeros */
    launch(f, kernel, f->given[place], scene, count, &most, NULL, size, got);
    assert_memory_equal(got, want, size);
    slab_program_destroy(program);
    free(want);
    free(got);
  }
}

/* ---- bindings of a kernel ---- */

static slab_scene *boxes_of(slab_context *slab, uint32_t n) {
  slab_scene *scene = NULL;
  slab_box boxes[100];
  assert_true(n <= 100);
  for (uint32_t i = 0; i < n; i++) {
    const float x = 2.0f * (float)i;
    boxes[i] = (slab_box){{x, 0.0f, 0.0f}, {x + 1.0f, 1.0f, 1.0f}};
  }
  assert_ok(slab_scene_create(slab, &scene));
  assert_ok(slab_scene_add_boxes(scene, boxes, n, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_FAST}));
  return scene;
}

/* The number of boxes that a ray along the row meets. */
static uint32_t count_along(const fixture *f, CUfunction kernel, void **scene, unsigned count) {
  uint32_t *counts = calloc(f->n, sizeof *counts);
  slab_ray *rays = calloc(f->n, sizeof *rays);
  assert_true(counts != NULL && rays != NULL);
  for (size_t i = 0; i < f->n; i++) rays[i] = (slab_ray){{-1.0f, 0.5f, 0.5f}, 0.0f, {1.0f, 0.0f, 0.0f}, INFINITY};
  CUdeviceptr given = caller_upload(&f->caller, rays, f->n * sizeof *rays);
  run(f, kernel, given, scene, count, NULL, f->n * sizeof *counts, counts);
  assert_cu(cuMemFree(given));
  for (size_t i = 1; i < f->n; i++) assert_int_equal(counts[i], counts[0]);
  const uint32_t first = counts[0];
  free(counts);
  free(rays);
  return first;
}

static void a_kernel_keeps_the_commit_that_it_is_bound_to(void **state) {
  const fixture *f = *state;
  const slab_box more[] = {{{-1.0f, 0.0f, 0.0f}, {0.5f, 1.0f, 1.0f}}};
  void *bound[SLAB_SCENE_PARAMETERS_MOST];
  unsigned count = 0;
  slab_scene *scene = boxes_of(f->caller.slab, 100), *other = boxes_of(f->caller.slab, 40);
  slab_program *program = program_of(scene, 1u << SLAB_COUNT);
  CUfunction kernel = kernel_of(program, SLAB_COUNT);
  assert_ok(slab_scene_bind_cuda(scene, kernel, bound, &count));
  assert_int_equal(count_along(f, kernel, bound, count), 100);
  for (uint32_t commit = 1; commit <= 3; commit++) {
    assert_ok(slab_scene_add_boxes(scene, more, 1, NULL, NULL));
    assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_FAST}));
    assert_int_equal(count_along(f, kernel, bound, count), 100 + commit - 1);
    assert_ok(slab_scene_bind_cuda(scene, kernel, bound, NULL));
    assert_int_equal(count_along(f, kernel, bound, count), 100 + commit);
  }
  assert_ok(slab_scene_bind_cuda(other, kernel, bound, NULL));
  slab_scene_destroy(scene);
  slab_scene_destroy(other);
  assert_int_equal(count_along(f, kernel, bound, count), 40);
  slab_program_destroy(program);
}

/* ---- bad input, and failures ---- */

/* A kernel that traces nothing compiles at once. */
static const char tiny[] = "extern \"C\" __global__ void trace_2(int) {}\n";

static slab_program *tiny_program(slab_scene *scene) {
  slab_program *program = NULL;
  assert_ok(slab_program_create(scene, tiny, NULL, 1u << SLAB_ANY, &program));
  return program;
}

static void assert_refused(slab_status got, slab_status want, const char *part) {
  if (got != want) fail_msg("%d and not %d, which says \"%s\"", (int)got, (int)want, part);
  if (strstr(slab_message(), part) == NULL) fail_msg("\"%s\" does not say \"%s\"", slab_message(), part);
}

static void programs_that_cannot_be_are_refused(void **state) {
  const fixture *f = *state;
  slab_scene *scene = f->scenes[1];
  slab_program *program = NULL;
  const uint32_t any = 1u << SLAB_ANY;
  static const char *const options[] = {"--use_fast_math", "-fmad=true", "-DX --ftz=true", "-prec-div=false",
                                        "--prec-sqrt=false"};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    assert_refused(slab_program_create(scene, "", options[i], any, &program), SLAB_INVALID_ARGUMENT,
                   "changes the arithmetic");
  assert_refused(slab_program_create(scene, "#include <slabcast_device.h>\n\nint x = nonsense;\n", NULL, any, &program),
                 SLAB_BUILD_FAILED, "kernels.cu(3)");
  assert_null(program);
}

static void kernels_that_cannot_be_bound_are_refused(void **state) {
  const fixture *f = *state;
  void *bound[SLAB_SCENE_PARAMETERS_MOST];
  slab_program *program = tiny_program(f->scenes[1]);
  CUfunction kernel = NULL, wrong = (CUfunction)f;
  slab_scene *fresh = NULL;
  assert_ok(slab_scene_create(f->caller.slab, &fresh));
  assert_refused(slab_program_function(program, "sky", &kernel), SLAB_INVALID_ARGUMENT, "no kernel \"sky\"");
  assert_refused(slab_program_function(program, NULL, &kernel), SLAB_INVALID_ARGUMENT, "name is NULL");
  assert_refused(slab_program_function(NULL, "sky", &kernel), SLAB_INVALID_ARGUMENT, "program is NULL");
  assert_refused(slab_program_function(program, "sky", NULL), SLAB_INVALID_ARGUMENT, "function is NULL");
  assert_null(kernel);
  kernel = kernel_of(program, SLAB_ANY);
  assert_refused(slab_scene_bind_cuda(f->scenes[1], kernel, NULL, NULL), SLAB_INVALID_ARGUMENT, "parameters is NULL");
  assert_refused(slab_scene_bind_cuda(f->scenes[1], NULL, bound, NULL), SLAB_INVALID_ARGUMENT, "kernel is NULL");
  assert_refused(slab_scene_bind_cuda(NULL, kernel, bound, NULL), SLAB_INVALID_ARGUMENT, "scene is NULL");
  assert_refused(slab_scene_bind_cuda(fresh, kernel, bound, NULL), SLAB_INVALID_STATE, "");
  assert_refused(slab_scene_bind_cuda(f->scenes[0], kernel, bound, NULL), SLAB_INVALID_ARGUMENT, "has no BVH now");
  assert_refused(slab_scene_bind_cuda(f->scenes[2], kernel, bound, NULL), SLAB_INVALID_ARGUMENT, "has instances");
  assert_refused(slab_scene_bind_cuda(f->scenes[1], wrong, bound, NULL), SLAB_INVALID_ARGUMENT, "of no program");
  slab_scene_destroy(fresh);
  slab_program_destroy(program);
}

/* A program, a kernel and a binding, of which each call of the interface fails once. */
static slab_status strike(void *user) {
  const fixture *f = user;
  slab_program *program = NULL;
  CUfunction kernel = NULL;
  void *bound[SLAB_SCENE_PARAMETERS_MOST];
  slab_status status = slab_program_create(f->scenes[0], tiny, NULL, 1u << SLAB_ANY, &program);
  if (status == SLAB_OK) status = slab_program_function(program, "trace_2", &kernel);
  if (status == SLAB_OK) status = slab_scene_bind_cuda(f->scenes[0], kernel, bound, NULL);
  slab_program_destroy(program);
  return status;
}

static void a_failing_call_is_told_and_loses_nothing(void **state) {
  unsigned told;
  const unsigned calls = caller_strike(strike, *state, &told);
  assert_true(calls >= 2);
  assert_int_equal(told, calls);
  /* Calls of the compiler: its stand-in counts from the begin of the process. */
  assert_int_equal(setenv("SLAB_NVRTC_STRIKE", "1", 1), 0);
  unsigned failures = 0;
  for (slab_status status = SLAB_OUT_OF_MEMORY; status != SLAB_OK; failures += status != SLAB_OK) {
    char later[16];
    snprintf(later, sizeof later, "%u", failures + 1);
    assert_int_equal(setenv("SLAB_NVRTC_STRIKE", later, 1), 0);
    status = strike(*state);
    if (status != SLAB_OK) assert_refused(status, SLAB_OUT_OF_MEMORY, "nvrtc");
  }
  assert_int_equal(failures, 6);
  assert_int_equal(unsetenv("SLAB_NVRTC_STRIKE"), 0);
}

static void without_a_compiler_it_is_refused(void **state) {
  const fixture *f = *state;
  slab_program *program = NULL;
  assert_refused(slab_program_create(f->scenes[0], "", NULL, 1u << SLAB_ANY, &program), SLAB_UNSUPPORTED, "NVRTC");
}

/* Every query of some places, and a walk. */
static void compile_all(const fixture *f, int place) {
  char text[8192];
  slab_program *program = NULL;
  void *bound[SLAB_SCENE_PARAMETERS_MOST];
  CUfunction walk = NULL;
  const uint32_t queries = traced_whole() ? TRACED_EVERY : 1u << SLAB_CLOSEST | 1u << SLAB_COUNT;
  traced_text(queries, text, sizeof text);
  strcat(text, traced_walk);
  assert_ok(slab_program_create(f->scenes[place], text, NULL, queries | 1u << SLAB_ALL, &program));
  for (int i = 0; i < TRACED_QUERIES; i++)
    if ((queries >> traced_queries[i] & 1) != 0)
      assert_ok(slab_scene_bind_cuda(f->scenes[place], kernel_of(program, traced_queries[i]), bound, NULL));
  assert_ok(slab_program_function(program, "walk", &walk));
  slab_program_destroy(program);
}

static void nvidias_compiler_takes_every_kernel(void **state) {
  const fixture *f = *state;
  for (int place = traced_whole() ? 0 : PLACES - 1; place < PLACES; place++) compile_all(f, place);
  slab_program *none = NULL;
  const char wrong[] = "#include <slabcast_device.h>\n\nint x = nonsense;\n";
  assert_refused(slab_program_create(f->scenes[0], wrong, NULL, 1u << SLAB_ANY, &none), SLAB_BUILD_FAILED,
                 "kernels.cu(3)");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_query_has_the_bits_of_a_cast),
                                     cmocka_unit_test(a_walk_is_what_all_lists),
                                     cmocka_unit_test(a_kernel_keeps_the_commit_that_it_is_bound_to),
                                     cmocka_unit_test(programs_that_cannot_be_are_refused),
                                     cmocka_unit_test(kernels_that_cannot_be_bound_are_refused),
                                     cmocka_unit_test(a_failing_call_is_told_and_loses_nothing)};
  const struct CMUnitTest without[] = {cmocka_unit_test(without_a_compiler_it_is_refused)};
  const struct CMUnitTest compiled[] = {cmocka_unit_test(nvidias_compiler_takes_every_kernel)};
  if (argc > 1 && strcmp(argv[1], "compiled") == 0) return cmocka_run_group_tests(compiled, setup, teardown);
  if (argc > 1 && strcmp(argv[1], "without") == 0) return cmocka_run_group_tests(without, setup, teardown);
  return cmocka_run_group_tests(tests, setup, teardown);
}
