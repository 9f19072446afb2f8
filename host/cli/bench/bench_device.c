#include "bench_device.h"

#include <stdio.h>

#include "../../opencl/embedded.h"
#include "cli.h"
#include "timing.h"

static const char *const kernel_names[BENCH_KERNELS] = {"add_mul",     "min_max",     "slab_mix",
                                                        "memory_read", "memory_copy", "nothing"};

int bench_failed(const char *call, cl_int code) {
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
  const char *text = embedded_ceiling;
  cl_int code;
  snprintf(options, sizeof options, "-cl-std=CL1.2 -DLANES=%u -DCHAINS=%u%s", d->lanes, d->chains,
           info->type == SLAB_DEVICE_GPU ? " -DSLAB_FMAX" : "");
  d->program = clCreateProgramWithSource(d->context, 1, &text, &embedded_ceiling_length, &code);
  if (!d->program) return bench_failed("clCreateProgramWithSource", code);
  code = clBuildProgram(d->program, 1, &d->id, options, NULL, NULL);
  if (code != CL_SUCCESS) return fail_build(d, code);
  for (int k = 0; k < BENCH_KERNELS; k++) {
    d->kernels[k] = clCreateKernel(d->program, kernel_names[k], &code);
    if (!d->kernels[k]) return bench_failed("clCreateKernel", code);
  }
  return EXIT_DONE;
}

/* Chooses a work-group size that every kernel allows. */
static int fit_groups(bench_device *d) {
  for (int k = 0; k < BENCH_KERNELS; k++) {
    size_t most = 0;
    const cl_int code =
        clGetKernelWorkGroupInfo(d->kernels[k], d->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    if (code != CL_SUCCESS) return bench_failed("clGetKernelWorkGroupInfo", code);
    while (d->local > 1 && d->local > most) d->local /= 2;
  }
  return EXIT_DONE;
}

int bench_device_open(slab_context *context, int processor_time, bench_device *d) {
  slab_device_info info;
  cl_int code;
  slab_status status = slab_context_device(context, &info);
  if (status == SLAB_OK) status = slab_context_objects(context, &d->context, &d->id);
  if (status != SLAB_OK) return complain_status(status, "bench");
  d->lanes = info.lane_width;
  d->chains =
      d->lanes == 16 ? 24 : 12; /* 24 of 32 vector registers, or 12 of 16; a GPU also has other work-items to run */
  d->local = info.type == SLAB_DEVICE_GPU ? 256 : 1;
  d->groups = (size_t)16 * info.compute_units;
  d->sharers = processor_time ? info.compute_units : 0;
  d->queue = clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &code);
  if (!d->queue) return bench_failed("clCreateCommandQueue", code);
  const int built = build(d, &info);
  return built == EXIT_DONE ? fit_groups(d) : built;
}

void bench_device_close(bench_device *d) {
  for (int k = 0; k < BENCH_KERNELS; k++)
    if (d->kernels[k]) clReleaseKernel(d->kernels[k]);
  if (d->program) clReleaseProgram(d->program);
  if (d->queue) clReleaseCommandQueue(d->queue);
}

int bench_buffer(bench_device *d, size_t size, cl_mem_flags flags, cl_mem *buffer) {
  cl_int code;
  *buffer = clCreateBuffer(d->context, flags, size, NULL, &code);
  return *buffer ? EXIT_DONE : bench_failed("clCreateBuffer", code);
}

int bench_write(bench_device *d, cl_mem buffer, const void *bytes, size_t size) {
  const cl_int code = clEnqueueWriteBuffer(d->queue, buffer, CL_TRUE, 0, size, bytes, 0, NULL, NULL);
  return code == CL_SUCCESS ? EXIT_DONE : bench_failed("clEnqueueWriteBuffer", code);
}

int bench_read(bench_device *d, cl_mem buffer, void *bytes, size_t size) {
  const cl_int code = clEnqueueReadBuffer(d->queue, buffer, CL_TRUE, 0, size, bytes, 0, NULL, NULL);
  return code == CL_SUCCESS ? EXIT_DONE : bench_failed("clEnqueueReadBuffer", code);
}

int bench_argument(bench_device *d, bench_kernel kernel, cl_uint at, size_t size, const void *value) {
  const cl_int code = clSetKernelArg(d->kernels[kernel], at, size, value);
  return code == CL_SUCCESS ? EXIT_DONE : bench_failed("clSetKernelArg", code);
}

int bench_event_seconds(const bench_device *d, cl_event event, double begin, double *seconds) {
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
  return code == CL_SUCCESS ? EXIT_DONE : bench_failed(call, code);
}

int bench_launch(bench_device *d, bench_kernel kernel, int alone, double *seconds) {
  const size_t local = alone ? 1 : d->local, global = alone ? 1 : d->local * d->groups;
  const double begin = timing_now(1);
  cl_event event = NULL;
  const cl_int code = clEnqueueNDRangeKernel(d->queue, d->kernels[kernel], 1, NULL, &global, &local, 0, NULL, &event);
  if (code != CL_SUCCESS) return bench_failed("clEnqueueNDRangeKernel", code);
  return bench_event_seconds(d, event, begin, seconds);
}
