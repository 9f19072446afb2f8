/* OpenCL's devices as `slabcast bench` measures them: the kernels of kernels/ceiling.cl, buffers, a profiling queue. */
#include <stdio.h>

#include "base/embedded.h"
#include "opencl/loader.h"
#include "program/bench/bench.h"

static const char *const kernel_names[BENCH_KERNELS] = {"add_mul",     "min_max",     "slab_mix",
                                                        "memory_read", "memory_copy", "nothing"};

static int failed(const char *call, cl_int code) {
  complain("bench: %s failed with code %d", call, code);
  return EXIT_FAILED;
}

static int fail_build(const bench_device *d, cl_int code) {
  char log[4096] = "(no log)";
  clGetProgramBuildInfo(d->program, d->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  complain("bench: clBuildProgram failed with code %d for the ceilings: %s", code, log);
  return EXIT_FAILED;
}

static int build(bench_device *d, const slab_device_info *info) {
  char options[128];
  cl_int code;
  snprintf(options, sizeof options, "-cl-std=CL1.2 -DLANES=%u -DCHAINS=%u%s", d->lanes, d->chains,
           info->type == SLAB_DEVICE_GPU ? " -DSLAB_FMAX" : "");
  d->program =
      clCreateProgramWithSource(d->context, embedded_ceiling_count, (const char **)embedded_ceiling, NULL, &code);
  if (!d->program) return failed("clCreateProgramWithSource", code);
  code = clBuildProgram(d->program, 1, &d->id, options, NULL, NULL);
  if (code != CL_SUCCESS) return fail_build(d, code);
  for (int k = 0; k < BENCH_KERNELS; k++) {
    d->kernels[k] = clCreateKernel(d->program, kernel_names[k], &code);
    if (!d->kernels[k]) return failed("clCreateKernel", code);
  }
  return EXIT_DONE;
}

/* Chooses a work-group size that every kernel allows. */
static int fit_groups(bench_device *d) {
  for (int k = 0; k < BENCH_KERNELS; k++) {
    size_t most = 0;
    const cl_int code =
        clGetKernelWorkGroupInfo(d->kernels[k], d->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    if (code != CL_SUCCESS) return failed("clGetKernelWorkGroupInfo", code);
    while (d->local > 1 && d->local > most) d->local /= 2;
  }
  return EXIT_DONE;
}

/* ---- GPUs: known operations per clock ---- */

#define COMPUTE_CAPABILITY_MAJOR_NV 0x4000
#define COMPUTE_CAPABILITY_MINOR_NV 0x4001

/* From the CUDA C++ Programming Guide, "Throughput of native arithmetic instructions": results per clock and
 * multiprocessor, for fp32 additions or multiplications, and for minima and maxima. The first number is also the limit
 * of instructions issued per clock, which bounds a slab test. */
static const struct {
  unsigned capability;
  double add_mul, min_max;
} nvidia[] = {{70, 64, 64}, {75, 64, 64}, {80, 64, 64}, {86, 128, 64}, {89, 128, 64}, {90, 128, 64}};

static bench_width nvidia_width(cl_device_id id) {
  cl_uint major = 0, minor = 0;
  if (clGetDeviceInfo(id, COMPUTE_CAPABILITY_MAJOR_NV, sizeof major, &major, NULL) != CL_SUCCESS)
    return (bench_width){0};
  if (clGetDeviceInfo(id, COMPUTE_CAPABILITY_MINOR_NV, sizeof minor, &minor, NULL) != CL_SUCCESS)
    return (bench_width){0};
  for (size_t i = 0; i < sizeof nvidia / sizeof *nvidia; i++)
    if (nvidia[i].capability == 10 * major + minor)
      return (bench_width){nvidia[i].add_mul, nvidia[i].min_max, nvidia[i].add_mul};
  return (bench_width){0};
}

/* ---- the backend's functions ---- */

static int opencl_open(slab_context *context, const slab_device_info *info, bench_device *d) {
  cl_int code;
  const char *missing = opencl_find();
  if (missing) {
    complain("bench: no OpenCL loader (%s)", missing);
    return EXIT_FAILED;
  }
  const slab_status status = slab_context_objects(context, &d->context, &d->id);
  if (status != SLAB_OK) return complain_status(status, "bench");
  d->lanes = info->lane_width;
  /* 24 of 32 vector registers, or 12 of 16; a GPU also has other work-items to run */
  d->chains = d->lanes == 16 ? 24 : 12;
  d->local = info->type == SLAB_DEVICE_GPU ? 256 : 1;
  if (info->type == SLAB_DEVICE_GPU) d->width = nvidia_width(d->id);
  d->queue = clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &code);
  if (!d->queue) return failed("clCreateCommandQueue", code);
  const int built = build(d, info);
  return built == EXIT_DONE ? fit_groups(d) : built;
}

static void opencl_close(bench_device *d) {
  for (int k = 0; k < BENCH_KERNELS; k++)
    if (d->kernels[k]) clReleaseKernel(d->kernels[k]);
  if (d->program) clReleaseProgram(d->program);
  if (d->queue) clReleaseCommandQueue(d->queue);
}

static int opencl_allocate(bench_device *d, size_t bytes, bool staging, bench_array *a) {
  const cl_mem_flags flags = CL_MEM_READ_WRITE | (staging ? CL_MEM_ALLOC_HOST_PTR : 0);
  cl_int code;
  a->bytes = bytes;
  a->buffer = clCreateBuffer(d->context, flags, bytes, NULL, &code);
  if (!a->buffer) return failed("clCreateBuffer", code);
  if (!staging) return EXIT_DONE;
  a->host =
      clEnqueueMapBuffer(d->queue, a->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &code);
  return a->host ? EXIT_DONE : failed("clEnqueueMapBuffer", code);
}

static int opencl_release(bench_device *d, bench_array *a) {
  cl_int code = CL_SUCCESS;
  if (a->host) code = clEnqueueUnmapMemObject(d->queue, a->buffer, a->host, 0, NULL, NULL);
  if (code == CL_SUCCESS && a->host) code = clFinish(d->queue);
  if (a->buffer) clReleaseMemObject(a->buffer);
  return code == CL_SUCCESS ? EXIT_DONE : failed("clEnqueueUnmapMemObject or clFinish", code);
}

static int opencl_write(bench_device *d, const bench_array *to, const void *from, size_t bytes) {
  const cl_int code = clEnqueueWriteBuffer(d->queue, to->buffer, CL_TRUE, 0, bytes, from, 0, NULL, NULL);
  return code == CL_SUCCESS ? EXIT_DONE : failed("clEnqueueWriteBuffer", code);
}

static int opencl_read(bench_device *d, const bench_array *from, void *to, size_t bytes) {
  const cl_int code = clEnqueueReadBuffer(d->queue, from->buffer, CL_TRUE, 0, bytes, to, 0, NULL, NULL);
  return code == CL_SUCCESS ? EXIT_DONE : failed("clEnqueueReadBuffer", code);
}

/* Waits for an event and releases it. begin: processor time before it was enqueued. */
static int event_seconds(const bench_device *d, cl_event event, double begin, double *seconds) {
  cl_ulong from = 0, to = 0;
  const char *call = "clWaitForEvents";
  cl_int code = clWaitForEvents(1, &event);
  if (d->sharers > 0) {
    *seconds = (timing_now(1) - begin) / d->sharers;
  } else if (code == CL_SUCCESS) {
    call = "clGetEventProfilingInfo";
    code = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL);
    if (code == CL_SUCCESS) code = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL);
    *seconds = 1e-9 * (double)(to - from);
  }
  clReleaseEvent(event);
  return code == CL_SUCCESS ? EXIT_DONE : failed(call, code);
}

static int set_arguments(const bench_launch *l, cl_kernel kernel) {
  static const cl_float values[] = BENCH_START;
  cl_int code = clSetKernelArg(kernel, 0, sizeof l->from->buffer, &l->from->buffer);
  if (code == CL_SUCCESS) code = clSetKernelArg(kernel, 1, sizeof l->to->buffer, &l->to->buffer);
  if (code == CL_SUCCESS) code = clSetKernelArg(kernel, 2, sizeof l->n, &l->n);
  for (cl_uint i = 0; code == CL_SUCCESS && i < 3; i++)
    code = clSetKernelArg(kernel, 3 + i, sizeof *values, &values[i]);
  return code == CL_SUCCESS ? EXIT_DONE : failed("clSetKernelArg", code);
}

static int opencl_launch(bench_device *d, const bench_launch *l, double *seconds) {
  const size_t local = l->alone ? 1 : d->local, global = l->alone ? 1 : d->local * d->groups;
  const cl_kernel kernel = d->kernels[l->kernel];
  cl_event event = NULL;
  if (set_arguments(l, kernel) != EXIT_DONE) return EXIT_FAILED;
  const double begin = timing_now(1);
  const cl_int code = clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &global, &local, 0, NULL, &event);
  return code == CL_SUCCESS ? event_seconds(d, event, begin, seconds) : failed("clEnqueueNDRangeKernel", code);
}

static int opencl_cast(bench_device *d, slab_scene *scene, slab_query query, size_t n, const bench_array *rays,
                       const bench_array *results, double *seconds) {
  const slab_batch batch = {.query = query, .count = n, .rays.buffer = rays->buffer, .results.buffer = results->buffer};
  cl_event done = NULL;
  const double begin = timing_now(1);
  const slab_status status = slab_enqueue(scene, &batch, d->queue, 0, NULL, &done);
  return status == SLAB_OK ? event_seconds(d, done, begin, seconds) : complain_status(status, "bench: kernel");
}

const bench_backend bench_opencl = {true,         opencl_open, opencl_close,  opencl_allocate, opencl_release,
                                    opencl_write, opencl_read, opencl_launch, opencl_cast};
