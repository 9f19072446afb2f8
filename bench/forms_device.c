#include "forms_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sets/timing.h"
#include "slabcast_cl.h"

extern const char *const embedded_forms[];
extern const unsigned embedded_forms_count;

enum { WORK_GROUP_SIZE = 64, PLATFORMS_MOST = 16, DEVICES_MOST = 64 };

static bool failed(const char *call, cl_int code) {
  fprintf(stderr, "bench_forms: %s failed with %d\n", call, (int)code);
  return false;
}

#define TRY(call)                                               \
  do {                                                          \
    const cl_int try_code = (call);                             \
    if (try_code != CL_SUCCESS) return failed(#call, try_code); \
  } while (0)

/* ---- the device ---- */

static cl_uint all_devices(cl_device_id devices[DEVICES_MOST]) {
  cl_platform_id platforms[PLATFORMS_MOST];
  cl_uint platform_count = 0, count = 0;
  if (clGetPlatformIDs(PLATFORMS_MOST, platforms, &platform_count) != CL_SUCCESS) return 0;
  for (cl_uint p = 0; p < platform_count && p < PLATFORMS_MOST; p++) {
    cl_uint more = 0;
    const cl_uint space = DEVICES_MOST - count;
    if (space > 0 && clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, space, devices + count, &more) == CL_SUCCESS)
      count += more < space ? more : space;
  }
  return count;
}

static bool is_selected(cl_device_id id, cl_uint index, const char *select) {
  char name[256] = "";
  cl_device_type type = 0;
  char *end;
  const unsigned long number = strtoul(select, &end, 10);
  if (end != select && *end == 0) return number == index;
  clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
  clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
  if (strcmp(select, "cpu") == 0) return (type & CL_DEVICE_TYPE_CPU) != 0;
  if (strcmp(select, "gpu") == 0) return (type & CL_DEVICE_TYPE_GPU) != 0;
  return strstr(name, select) != NULL;
}

static bool has_double(cl_device_id id) {
  cl_device_fp_config config = 0;
  return clGetDeviceInfo(id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof config, &config, NULL) == CL_SUCCESS && config != 0;
}

/* The library chooses the lane width and the division that suit the device. */
static bool ask_library(forms_device *d) {
  slab_context *library = NULL;
  const bool known = slab_context_create_cl(d->context, d->id, d->queue, NULL, &library) == SLAB_OK &&
                     slab_context_device(library, &d->info) == SLAB_OK;
  if (!known) fprintf(stderr, "bench_forms: device: %s\n", slab_message());
  slab_context_destroy(library);
  return known;
}

bool forms_open(const char *select, forms_device *d) {
  cl_device_id devices[DEVICES_MOST];
  cl_int code;
  const cl_uint count = all_devices(devices);
  *d = (forms_device){.id = NULL};
  for (cl_uint i = 0; i < count && d->id == NULL; i++)
    if (is_selected(devices[i], i, select)) d->id = devices[i];
  if (d->id == NULL) {
    fprintf(stderr, "bench_forms: none of %u OpenCL devices is \"%s\"\n", count, select);
    return false;
  }
  d->context = clCreateContext(NULL, 1, &d->id, NULL, NULL, &code);
  if (d->context == NULL) return failed("clCreateContext", code);
  d->queue = clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &code);
  if (d->queue == NULL) return failed("clCreateCommandQueue", code);
  d->has_double = has_double(d->id);
  return ask_library(d);
}

void forms_close(forms_device *d) {
  if (d->queue != NULL) clReleaseCommandQueue(d->queue);
  if (d->context != NULL) clReleaseContext(d->context);
  *d = (forms_device){.id = NULL};
}

/* ---- programs ---- */

static void build_options(const forms_device *d, const form *f, unsigned lanes, char *text, size_t size) {
  const char *division = d->info.exact_divide ? "-cl-fp32-correctly-rounded-divide-sqrt"
                         : d->has_double      ? "-DSLAB_DIVIDE_THROUGH_DOUBLE"
                                              : "-DSLAB_DIVIDE_BY_INTEGERS";
  snprintf(text, size, "-cl-std=CL1.2 -DLANES=%u -DSLAB_KINDS=%u -DFORM=%s -DFORM_ROWS=%u %s%s%s", lanes,
           1u << f->shape, f->function, form_rows(f->layout), division,
           d->info.type == SLAB_DEVICE_GPU ? " -DSLAB_FMAX" : "",
           strcmp(f->function, "form_ours_box") == 0 ? " -DFORM_REJECT=form_ours_box_reject" : "");
}

static bool failed_build(const forms_device *d, const forms_program *p, const char *options, cl_int code) {
  char log[8192] = "(no log)";
  clGetProgramBuildInfo(p->program, d->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  fprintf(stderr, "bench_forms: clBuildProgram failed with %d under %s:\n%s\n", (int)code, options, log);
  return false;
}

bool forms_build(const forms_device *d, const form *f, unsigned lanes, forms_program *p) {
  char options[512];
  cl_int code;
  *p = (forms_program){.form = f, .lanes = lanes};
  build_options(d, f, lanes, options, sizeof options);
  p->program = clCreateProgramWithSource(d->context, embedded_forms_count, (const char **)embedded_forms, NULL, &code);
  if (p->program == NULL) return failed("clCreateProgramWithSource", code);
  code = clBuildProgram(p->program, 1, &d->id, options, NULL, NULL);
  if (code != CL_SUCCESS) return failed_build(d, p, options, code);
  p->casts = clCreateKernel(p->program, "casts", &code);
  if (p->casts == NULL) return failed("clCreateKernel(casts)", code);
  p->verdicts = clCreateKernel(p->program, "verdicts", &code);
  return p->verdicts != NULL ? true : failed("clCreateKernel(verdicts)", code);
}

void forms_program_free(forms_program *p) {
  if (p->casts != NULL) clReleaseKernel(p->casts);
  if (p->verdicts != NULL) clReleaseKernel(p->verdicts);
  if (p->program != NULL) clReleaseProgram(p->program);
  *p = (forms_program){.form = NULL};
}

/* ---- memory ---- */

void forms_release(cl_mem *buffer) {
  if (*buffer != NULL) clReleaseMemObject(*buffer);
  *buffer = NULL;
}

/* A buffer initialised with these bytes, or uninitialised where `bytes` is NULL. */
static bool make_buffer(const forms_device *d, const void *bytes, size_t size, cl_mem *buffer) {
  cl_int code;
  *buffer = clCreateBuffer(d->context, CL_MEM_READ_WRITE, size, NULL, &code);
  if (*buffer == NULL) return failed("clCreateBuffer", code);
  if (bytes != NULL) TRY(clEnqueueWriteBuffer(d->queue, *buffer, CL_TRUE, 0, size, bytes, 0, NULL, NULL));
  return true;
}

static bool make_blocks(const forms_device *d, const form *f, unsigned lanes, const float *shapes, size_t count,
                        cl_mem *buffer) {
  const size_t size = count * form_rows(f->layout) * sizeof(float);
  float *blocks = malloc(size);
  if (blocks == NULL) {
    fprintf(stderr, "bench_forms: no memory for %zu primitives\n", count);
    return false;
  }
  form_pack(f->layout, lanes, shapes, count, blocks);
  const bool made = make_buffer(d, blocks, size, buffer);
  free(blocks);
  return made;
}

/* ---- verdicts ---- */

static size_t whole_groups(size_t n) { return (n + WORK_GROUP_SIZE - 1) / WORK_GROUP_SIZE * WORK_GROUP_SIZE; }

static bool run_verdicts(const forms_device *d, const forms_program *p, cl_mem rays, cl_mem blocks, cl_mem found,
                         size_t n, uint32_t *bits) {
  const cl_uint count = (cl_uint)n, each = FORMS_RAYS_PER_GROUP;
  const size_t global = whole_groups(n), local = WORK_GROUP_SIZE;
  TRY(clSetKernelArg(p->verdicts, 0, sizeof(cl_mem), &rays));
  TRY(clSetKernelArg(p->verdicts, 1, sizeof(cl_mem), &blocks));
  TRY(clSetKernelArg(p->verdicts, 2, sizeof count, &count));
  TRY(clSetKernelArg(p->verdicts, 3, sizeof each, &each));
  TRY(clSetKernelArg(p->verdicts, 4, sizeof(cl_mem), &found));
  TRY(clEnqueueNDRangeKernel(d->queue, p->verdicts, 1, NULL, &global, &local, 0, NULL, NULL));
  TRY(clEnqueueReadBuffer(d->queue, found, CL_TRUE, 0, n * sizeof *bits, bits, 0, NULL, NULL));
  return true;
}

bool forms_verdicts(const forms_device *d, const forms_program *p, const forms_set *set, uint32_t *bits) {
  cl_mem rays = NULL, blocks = NULL, found = NULL;
  const bool done = make_buffer(d, set->ray, set->rays * sizeof *set->ray, &rays) &&
                    make_blocks(d, p->form, p->lanes, set->shapes, set->groups * FORMS_GROUP, &blocks) &&
                    make_buffer(d, NULL, set->rays * sizeof *bits, &found) &&
                    run_verdicts(d, p, rays, blocks, found, set->rays, bits);
  forms_release(&rays);
  forms_release(&blocks);
  forms_release(&found);
  return done;
}

/* ---- speed ---- */

bool forms_batch_make(const forms_device *d, const slab_ray *rays, cl_uint count, forms_batch *b) {
  *b = (forms_batch){.count = count};
  return make_buffer(d, rays, count * sizeof *rays, &b->rays) && make_buffer(d, NULL, count * sizeof(float), &b->sums);
}

void forms_batch_free(forms_batch *b) {
  forms_release(&b->rays);
  forms_release(&b->sums);
}

bool forms_load(const forms_device *d, const forms_program *p, const forms_batch *b, const float *shapes, size_t count,
                cl_mem *blocks) {
  const cl_uint block_count = (cl_uint)(count / p->lanes), passes = FORMS_PASSES;
  if (!make_blocks(d, p->form, p->lanes, shapes, count, blocks)) return false;
  TRY(clSetKernelArg(p->casts, 0, sizeof(cl_mem), &b->rays));
  TRY(clSetKernelArg(p->casts, 1, sizeof(cl_mem), blocks));
  TRY(clSetKernelArg(p->casts, 2, sizeof block_count, &block_count));
  TRY(clSetKernelArg(p->casts, 4, sizeof passes, &passes));
  TRY(clSetKernelArg(p->casts, 5, sizeof(cl_mem), &b->sums));
  return true;
}

static bool event_seconds(cl_event event, double *seconds) {
  cl_ulong begin = 0, end = 0;
  TRY(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL));
  TRY(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
  *seconds = 1e-9 * (double)(end - begin);
  return true;
}

bool forms_run(const forms_device *d, const forms_program *p, cl_uint count, int processor_time, double *seconds) {
  const size_t global = whole_groups(count), local = WORK_GROUP_SIZE;
  cl_event event = NULL;
  TRY(clSetKernelArg(p->casts, 3, sizeof count, &count));
  const double begin = timing_now(1);
  TRY(clEnqueueNDRangeKernel(d->queue, p->casts, 1, NULL, &global, &local, 0, NULL, &event));
  const cl_int code = clWaitForEvents(1, &event);
  const double processor = (timing_now(1) - begin) / d->info.compute_units;
  const bool done = code == CL_SUCCESS ? event_seconds(event, seconds) : failed("clWaitForEvents", code);
  if (processor_time) *seconds = processor;
  clReleaseEvent(event);
  return done;
}

bool forms_sums(const forms_device *d, const forms_batch *b, cl_uint count, float *sums) {
  TRY(clEnqueueReadBuffer(d->queue, b->sums, CL_TRUE, 0, count * sizeof *sums, sums, 0, NULL, NULL));
  return true;
}
