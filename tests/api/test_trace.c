/* slabcast_device.h: kernels that trace rays themselves get the bits that a cast of the same rays has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "mixed_fates.h"
#include "opencl.h"
#include "sets/nested.h"
#include "slabcast_device.h"
#include "traced.h"

enum { WALKED = 24, COUNTED = 64 };

typedef struct fixture {
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  slab_ray *rays;
  size_t n;
} fixture;

static int setup(void **state) {
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->device = opencl_device();
  f->context = opencl_context(&f->device, 1);
  f->queue = opencl_queue(f->context, f->device, 0);
  f->n = traced_rays();
  f->rays = mixed_rays("test_trace", f->n);
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  assert_cl(clReleaseCommandQueue(f->queue));
  assert_cl(clReleaseContext(f->context));
  free(f->rays);
  free(f);
  return 0;
}

static slab_context *slab_of(const fixture *f, slab_layout layout) {
  const slab_context_options options = {.lane_width = harness_width(), .layout = layout};
  slab_context *slab = NULL;
  assert_ok(slab_context_create_cl(f->context, f->device, f->queue, &options, &slab));
  return slab;
}

/* ---- running a kernel ---- */

static cl_kernel kernel_of(const slab_program *program, slab_query query) {
  char name[] = "trace_0";
  cl_kernel kernel = NULL;
  name[sizeof name - 2] += (char)query;
  assert_ok(slab_program_kernel(program, name, &kernel));
  return kernel;
}

/* Runs a kernel that is bound. options NULL: without. results: n of the query's type. */
static void run_kernel(const fixture *f, cl_kernel kernel, cl_uint scene_arguments, slab_query query,
                       const slab_ray *rays, size_t n, const slab_trace_options *options, void *results) {
  const size_t size = n * slab_result_size(query), items = n;
  const slab_trace_options zero = {0};
  const cl_uint plain = options == NULL;
  cl_mem given = opencl_buffer(f->context, rays, n * sizeof *rays), got = opencl_buffer(f->context, NULL, size);
  assert_cl(clSetKernelArg(kernel, 0, sizeof(cl_mem), &given));
  assert_cl(clSetKernelArg(kernel, 1 + scene_arguments, sizeof(cl_mem), &got));
  assert_cl(clSetKernelArg(kernel, 2 + scene_arguments, sizeof zero, plain ? &zero : options));
  assert_cl(clSetKernelArg(kernel, 3 + scene_arguments, sizeof plain, &plain));
  assert_cl(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
  assert_cl(clEnqueueReadBuffer(f->queue, got, CL_TRUE, 0, size, results, 0, NULL, NULL));
  assert_cl(clReleaseMemObject(given));
  assert_cl(clReleaseMemObject(got));
}

static void verify_kernel(const fixture *f, slab_scene *scene, cl_kernel kernel, cl_uint arguments, slab_query query,
                          const slab_ray *rays) {
  unsigned char *got = malloc(f->n * sizeof(slab_hit)), *want = malloc(f->n * sizeof(slab_hit));
  assert_non_null(got);
  assert_non_null(want);
  for (int row = -1; row < TRACED_ROWS; row++) {
    traced_cast(scene, query, row, rays, f->n, want);
    run_kernel(f, kernel, arguments, query, rays, f->n, row < 0 ? NULL : &traced_rows[row].trace, got);
    assert_memory_equal(got, want, f->n * slab_result_size(query));
  }
  free(got);
  free(want);
}

/* A program with the kernels of some queries, a bit for each. */
static slab_program *program_of(slab_scene *scene, uint32_t of) {
  char text[4096];
  slab_program *program = NULL;
  traced_text(of, text, sizeof text);
  assert_ok(slab_program_create(scene, text, NULL, of, &program));
  return program;
}

static void verify_query(const fixture *f, slab_scene *scene, const slab_program *program, slab_query query,
                         const slab_ray *rays) {
  cl_kernel kernel = kernel_of(program, query);
  cl_uint arguments = 0;
  assert_ok(slab_scene_bind(scene, kernel, 1, &arguments));
  assert_true(arguments > 0);
  verify_kernel(f, scene, kernel, arguments, query, rays);
  assert_cl(clReleaseKernel(kernel));
}

/* One program per query, since drivers compile all of a program's functions for each of its kernels. That takes
 * seconds, so CI casts some queries of each kind of scene (a bit for each), and the long proof casts all. */
static void verify_scene(const fixture *f, slab_scene *scene, const slab_ray *rays, uint32_t asked) {
  if (traced_whole()) asked = TRACED_EVERY;
  if (harness_width() > 1) asked &= 1u << SLAB_CLOSEST | 1u << SLAB_INTERVAL;
  for (int i = 0; i < TRACED_QUERIES; i++) {
    if ((asked >> traced_queries[i] & 1) == 0) continue;
    slab_program *program = program_of(scene, 1u << traced_queries[i]);
    verify_query(f, scene, program, traced_queries[i], rays);
    slab_program_destroy(program);
  }
}

/* ---- tests ---- */

/* The compressed layout has one lane whatever the device has. */
static int last_layout(void) { return harness_width() > 1 ? SLAB_LAYOUT_WIDE : SLAB_LAYOUT_COMPRESSED; }

static void a_flat_scene_gives_the_bits_of_a_cast(void **state) {
  const fixture *f = *state;
  slab_context *slab = slab_of(f, SLAB_LAYOUT_DEFAULT);
  slab_scene *scene = traced_flat_scene(slab);
  verify_scene(f, scene, f->rays, 1u << SLAB_CLOSEST | 1u << SLAB_INTERVAL);
  slab_scene_destroy(scene);
  slab_context_destroy(slab);
}

static void a_bvh_gives_the_bits_of_a_cast(void **state) {
  const fixture *f = *state;
  for (int layout = SLAB_LAYOUT_WIDE; layout <= last_layout(); layout++) {
    slab_context *slab = slab_of(f, (slab_layout)layout);
    slab_scene *scene = mixed_tree(slab, 400);
    verify_scene(f, scene, f->rays, layout == SLAB_LAYOUT_WIDE ? 1u << SLAB_CLOSEST | 1u << SLAB_ANY : TRACED_EVERY);
    slab_scene_destroy(scene);
    slab_context_destroy(slab);
  }
}

static void instances_give_the_bits_of_a_cast(void **state) {
  const fixture *f = *state;
  random_state random = harness_seeded(__func__);
  for (int layout = SLAB_LAYOUT_WIDE; layout <= last_layout(); layout++) {
    slab_context *slab = slab_of(f, (slab_layout)layout);
    nested n;
    slab_ray *rays = malloc(f->n * sizeof *rays);
    assert_non_null(rays);
    assert_ok(nested_begin(&n, slab, random_next(&random), ADVERSARIAL_ALL_KINDS));
    nested_rays(&n, (uint32_t)f->n, rays);
    verify_scene(f, n.scenes[NESTED_TOP], rays, layout == SLAB_LAYOUT_WIDE ? 1u << SLAB_COUNT : 1u << SLAB_CLOSEST);
    nested_end(&n);
    free(rays);
    slab_context_destroy(slab);
  }
}

/* A scene of `n` boxes in a row, with a tree or without. */
static slab_scene *boxes_of(slab_context *slab, uint32_t n, slab_tree tree) {
  const slab_build_options options = {.tree = tree};
  slab_scene *scene = NULL;
  slab_box *boxes = calloc(n, sizeof *boxes);
  assert_non_null(boxes);
  for (uint32_t i = 0; i < n; i++) {
    const float x = 2.0f * (float)i;
    boxes[i] = (slab_box){{x, 0.0f, 0.0f}, {x + 1.0f, 1.0f, 1.0f}};
  }
  assert_ok(slab_scene_create(slab, &scene));
  assert_ok(slab_scene_add_boxes(scene, boxes, n, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &options));
  free(boxes);
  return scene;
}

static void one_program_has_several_queries(void **state) {
  const fixture *f = *state;
  slab_context *slab = slab_of(f, SLAB_LAYOUT_COMPRESSED);
  slab_scene *scene = boxes_of(slab, 100, SLAB_TREE_FAST);
  slab_program *program = program_of(scene, 1u << SLAB_COUNT | 1u << SLAB_NEAREST | 1u << SLAB_ANY);
  verify_query(f, scene, program, SLAB_COUNT, f->rays);
  verify_query(f, scene, program, SLAB_NEAREST, f->rays);
  slab_program_destroy(program);
  slab_scene_destroy(scene);
  slab_context_destroy(slab);
}

/* A walk of WALKED steps at most is what slab_all lists. */
static void verify_walk(const fixture *f, slab_scene *scene, const slab_ray *rays) {
  const size_t items = f->n, size = f->n * WALKED * sizeof(slab_short_hit);
  const cl_uint most = WALKED;
  char text[4096];
  slab_short_hit *want = traced_walks(scene, rays, f->n, WALKED), *got = calloc(f->n, WALKED * sizeof *got);
  slab_program *program = NULL;
  cl_kernel kernel = NULL;
  cl_uint arguments = 0;
  snprintf(text, sizeof text, "%s%s", traced_begin, traced_walk);
  assert_ok(slab_program_create(scene, text, NULL, 1u << SLAB_ALL, &program));
  assert_ok(slab_program_kernel(program, "walk", &kernel));
  assert_ok(slab_scene_bind(scene, kernel, 1, &arguments));
  cl_mem given = opencl_buffer(f->context, rays, f->n * sizeof *rays), hits = opencl_buffer(f->context, got, size);
  assert_cl(clSetKernelArg(kernel, 0, sizeof(cl_mem), &given));
  assert_cl(clSetKernelArg(kernel, 1 + arguments, sizeof(cl_mem), &hits));
  assert_cl(clSetKernelArg(kernel, 2 + arguments, sizeof most, &most));
  assert_cl(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
  assert_cl(clEnqueueReadBuffer(f->queue, hits, CL_TRUE, 0, size, got, 0, NULL, NULL));
  assert_memory_equal(got, want, size);
  assert_cl(clReleaseMemObject(given));
  assert_cl(clReleaseMemObject(hits));
  assert_cl(clReleaseKernel(kernel));
  slab_program_destroy(program);
  free(want);
  free(got);
}

static void a_walk_is_what_all_lists(void **state) {
  const fixture *f = *state;
  random_state random = harness_seeded(__func__);
  for (int layout = SLAB_LAYOUT_WIDE; layout <= last_layout(); layout++) {
    slab_context *slab = slab_of(f, (slab_layout)layout);
    if (layout == SLAB_LAYOUT_WIDE) {
      slab_scene *scene = mixed_tree(slab, 60);
      verify_walk(f, scene, f->rays);
      slab_scene_destroy(scene);
    } else {
      nested n;
      slab_ray *rays = malloc(f->n * sizeof *rays);
      assert_non_null(rays);
      assert_ok(nested_begin(&n, slab, random_next(&random), ADVERSARIAL_ALL_KINDS));
      nested_rays(&n, (uint32_t)f->n, rays);
      verify_walk(f, n.scenes[NESTED_TOP], rays);
      nested_end(&n);
      free(rays);
    }
    slab_context_destroy(slab);
  }
}

/* Every name of the kernels' text may be one of the user's, whatever text is before and after it. */
static void names_of_the_library_are_free(void **state) {
  const fixture *f = *state;
  static const char *const lists[] = {embedded_flat_names,  embedded_flat_macros,      embedded_wide_names,
                                      embedded_wide_macros, embedded_compressed_names, embedded_compressed_macros};
  slab_context *slab = slab_of(f, SLAB_LAYOUT_COMPRESSED);
  slab_scene *scene = boxes_of(slab, 100, SLAB_TREE_FAST);
  slab_program *program = NULL;
  const size_t size = 1 << 18;
  char *text = calloc(size, 1);
  assert_non_null(text);
  size_t used = (size_t)sprintf(text, "#include <slabcast_device.h>\nkernel void own(SLAB_SCENE_PARAMETERS) {\n");
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    for (const char *at = lists[i]; *at != 0;) {
      const int length = (int)strcspn(++at, " ");
      used +=
          (size_t)snprintf(text + used, size - used, "{ int %.*s = 1; int other = %.*s; }\n", length, at, length, at);
      at += length;
    }
  for (const char *at = embedded_compressed_names; *at != 0;) {
    const int length = (int)strcspn(++at, " ");
    used += (size_t)snprintf(text + used, size - used, "%sconstant int %.*s = 1;\n",
                             at == embedded_compressed_names + 1 ? "}\n" : "", length, at);
    at += length;
  }
  assert_true(used < size - 1);
  assert_ok(slab_program_create(scene, text, NULL, 1u << SLAB_ANY | 1u << SLAB_CLOSEST, &program));
  slab_program_destroy(program);
  free(text);
  slab_scene_destroy(scene);
  slab_context_destroy(slab);
}

/* The number of boxes that a ray along the row meets, by a kernel that is bound. */
static uint32_t count_along(const fixture *f, cl_kernel kernel, cl_uint arguments) {
  uint32_t counts[COUNTED];
  slab_ray rays[COUNTED];
  for (int i = 0; i < COUNTED; i++) rays[i] = (slab_ray){{-1.0f, 0.5f, 0.5f}, 0.0f, {1.0f, 0.0f, 0.0f}, INFINITY};
  run_kernel(f, kernel, arguments, SLAB_COUNT, rays, COUNTED, NULL, counts);
  for (int i = 1; i < COUNTED; i++) assert_int_equal(counts[i], counts[0]);
  return counts[0];
}

static void a_kernel_keeps_the_commit_that_it_is_bound_to(void **state) {
  const fixture *f = *state;
  slab_context *slab = slab_of(f, SLAB_LAYOUT_COMPRESSED);
  slab_scene *scene = boxes_of(slab, 100, SLAB_TREE_FAST);
  slab_program *program = program_of(scene, 1u << SLAB_COUNT);
  cl_kernel kernel = kernel_of(program, SLAB_COUNT);
  cl_uint arguments = 0;
  assert_ok(slab_scene_bind(scene, kernel, 1, &arguments));
  assert_int_equal(count_along(f, kernel, arguments), 100);
  const slab_box more[] = {{{-1.0f, 0.0f, 0.0f}, {0.5f, 1.0f, 1.0f}}};
  const slab_build_options options = {.tree = SLAB_TREE_FAST};
  for (uint32_t commit = 1; commit <= 3; commit++) {
    assert_ok(slab_scene_add_boxes(scene, more, 1, NULL, NULL));
    assert_ok(slab_scene_commit(scene, &options));
    assert_int_equal(count_along(f, kernel, arguments), 100 + commit - 1);
    assert_ok(slab_scene_bind(scene, kernel, 1, NULL));
    assert_int_equal(count_along(f, kernel, arguments), 100 + commit);
  }
  slab_scene *other = boxes_of(slab, 40, SLAB_TREE_FAST); /* a program serves every scene that is like its own */
  assert_ok(slab_scene_bind(other, kernel, 1, NULL));
  slab_scene_destroy(scene);
  slab_scene_destroy(other);
  slab_context_destroy(slab);
  assert_int_equal(count_along(f, kernel, arguments), 40);
  assert_cl(clReleaseKernel(kernel));
  slab_program_destroy(program);
}

/* ---- bad input ---- */

static void assert_refused(slab_status got, slab_status want, const char *part) {
  assert_int_equal(got, want);
  if (strstr(slab_message(), part) == NULL) fail_msg("\"%s\" does not say \"%s\"", slab_message(), part);
}

static void programs_that_cannot_be_are_refused(void **state) {
  const fixture *f = *state;
  slab_context *slab = slab_of(f, SLAB_LAYOUT_COMPRESSED);
  slab_scene *scene = boxes_of(slab, 100, SLAB_TREE_FAST), *fresh = NULL;
  slab_program *program = (slab_program *)scene;
  cl_kernel kernel = NULL;
  const uint32_t any = 1u << SLAB_ANY;
  assert_refused(slab_program_create(NULL, "", NULL, any, &program), SLAB_INVALID_ARGUMENT, "scene is NULL");
  assert_null(program);
  assert_refused(slab_program_create(scene, NULL, NULL, any, &program), SLAB_INVALID_ARGUMENT, "source is NULL");
  assert_refused(slab_program_create(scene, "", NULL, any, NULL), SLAB_INVALID_ARGUMENT, "program is NULL");
  assert_refused(slab_program_create(scene, "", NULL, 0, &program), SLAB_INVALID_ARGUMENT, "queries is 0");
  assert_refused(slab_program_create(scene, "", NULL, 0x80, &program), SLAB_INVALID_ARGUMENT, "0x80");
  assert_refused(slab_program_create(scene, "", "-DX -cl-fast-relaxed-math", any, &program), SLAB_INVALID_ARGUMENT,
                 "-cl-fast-relaxed-math");
  assert_ok(slab_scene_create(slab, &fresh));
  assert_refused(slab_program_create(fresh, "", NULL, any, &program), SLAB_INVALID_STATE, "not committed");
  slab_scene_destroy(fresh);
  assert_refused(slab_program_create(scene, "#include <slabcast_device.h>\n\nkernel void own() {\n  nothing;\n}\n",
                                     NULL, any, &program),
                 SLAB_BUILD_FAILED, "nothing");
  assert_non_null(strstr(slab_message(), ":4:")); /* the line of the user's text */
  assert_ok(slab_program_create(scene, "kernel void own(int a) {}", "-DX=1", any, &program));
  assert_refused(slab_program_kernel(program, "other", &kernel), SLAB_INVALID_ARGUMENT, "\"other\"");
  assert_ok(slab_program_kernel(program, "own", &kernel));
  assert_refused(slab_scene_bind(scene, kernel, 0, NULL), SLAB_INVALID_ARGUMENT, "1 parameter, ");
  assert_refused(slab_scene_bind(scene, NULL, 0, NULL), SLAB_INVALID_ARGUMENT, "kernel is NULL");
  assert_refused(slab_scene_bind(NULL, kernel, 0, NULL), SLAB_INVALID_ARGUMENT, "scene is NULL");
  assert_cl(clReleaseKernel(kernel));
  slab_program_destroy(program);
  slab_program_destroy(NULL);
  slab_scene_destroy(scene);
  slab_context_destroy(slab);
}

static void scenes_that_a_program_does_not_serve_are_refused(void **state) {
  const fixture *f = *state;
  slab_context *slab = slab_of(f, SLAB_LAYOUT_COMPRESSED), *theirs = NULL;
  slab_scene *scene = boxes_of(slab, 100, SLAB_TREE_FAST), *flat = boxes_of(slab, 100, SLAB_TREE_FLAT),
             *mixed = mixed_tree(slab, 20);
  slab_program *program = program_of(scene, 1u << SLAB_ANY);
  cl_kernel kernel = kernel_of(program, SLAB_ANY);
  assert_refused(slab_scene_bind(flat, kernel, 1, NULL), SLAB_INVALID_ARGUMENT, "has no BVH now");
  assert_refused(slab_scene_bind(mixed, kernel, 1, NULL), SLAB_INVALID_ARGUMENT, "primitives of another kind");
  assert_refused(slab_scene_bind(scene, kernel, 0, NULL), SLAB_INVALID_ARGUMENT, "\"rays\"");
  assert_refused(slab_scene_bind(scene, kernel, 9, NULL), SLAB_INVALID_ARGUMENT, "from 9 on");
  cl_context context = opencl_context(&f->device, 1);
  cl_command_queue queue = opencl_queue(context, f->device, 0);
  theirs = opencl_slab(context, f->device, queue);
  slab_scene *far = boxes_of(theirs, 100, SLAB_TREE_FAST);
  assert_refused(slab_scene_bind(far, kernel, 1, NULL), SLAB_INVALID_ARGUMENT, "another context");
  slab_scene_destroy(far);
  slab_context_destroy(theirs);
  assert_cl(clReleaseCommandQueue(queue));
  assert_cl(clReleaseContext(context));
  assert_ok(slab_scene_bind(scene, kernel, 1, NULL));
  assert_cl(clReleaseKernel(kernel));
  slab_program_destroy(program);
  slab_scene_destroy(scene);
  slab_scene_destroy(flat);
  slab_scene_destroy(mixed);
  slab_context_destroy(slab);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_flat_scene_gives_the_bits_of_a_cast),
      cmocka_unit_test(a_bvh_gives_the_bits_of_a_cast),
      cmocka_unit_test(instances_give_the_bits_of_a_cast),
      cmocka_unit_test(a_walk_is_what_all_lists),
      cmocka_unit_test(one_program_has_several_queries),
      cmocka_unit_test(names_of_the_library_are_free),
      cmocka_unit_test(a_kernel_keeps_the_commit_that_it_is_bound_to),
      cmocka_unit_test(programs_that_cannot_be_are_refused),
      cmocka_unit_test(scenes_that_a_program_does_not_serve_are_refused),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
