/* The device that is measured: our OpenCL objects on it, its known widths, its ceilings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../opencl/embedded.h"
#include "bench.h"
#include "clock_rate.h"
#include "io/errors.h"
#include "timing.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

/* ---- OpenCL objects --------------------------------------------------------- */

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
  const char *text = embedded_ceiling;
  cl_int code;
  snprintf(options, sizeof options, "-cl-std=CL1.2 -DLANES=%u -DCHAINS=%u%s", d->lanes, d->chains,
           info->type == SLAB_DEVICE_GPU ? " -DSLAB_FMAX" : "");
  d->program = clCreateProgramWithSource(d->context, 1, &text, &embedded_ceiling_length, &code);
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
  if (!d->queue) return failed("clCreateCommandQueue", code);
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
  return *buffer ? EXIT_DONE : failed("clCreateBuffer", code);
}

int bench_write(bench_device *d, cl_mem buffer, const void *bytes, size_t size) {
  const cl_int code = clEnqueueWriteBuffer(d->queue, buffer, CL_TRUE, 0, size, bytes, 0, NULL, NULL);
  return code == CL_SUCCESS ? EXIT_DONE : failed("clEnqueueWriteBuffer", code);
}

int bench_read(bench_device *d, cl_mem buffer, void *bytes, size_t size) {
  const cl_int code = clEnqueueReadBuffer(d->queue, buffer, CL_TRUE, 0, size, bytes, 0, NULL, NULL);
  return code == CL_SUCCESS ? EXIT_DONE : failed("clEnqueueReadBuffer", code);
}

static int argument(bench_device *d, bench_kernel kernel, cl_uint at, size_t size, const void *value) {
  const cl_int code = clSetKernelArg(d->kernels[kernel], at, size, value);
  return code == CL_SUCCESS ? EXIT_DONE : failed("clSetKernelArg", code);
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
  return code == CL_SUCCESS ? EXIT_DONE : failed(call, code);
}

/* Launches a kernel over the whole device, or as one work-item if `alone`, and waits. *seconds: as
 * bench_event_seconds. */
static int launch(bench_device *d, bench_kernel kernel, int alone, double *seconds) {
  const size_t local = alone ? 1 : d->local, global = alone ? 1 : d->local * d->groups;
  const double begin = timing_now(1);
  cl_event event = NULL;
  const cl_int code = clEnqueueNDRangeKernel(d->queue, d->kernels[kernel], 1, NULL, &global, &local, 0, NULL, &event);
  if (code != CL_SUCCESS) return failed("clEnqueueNDRangeKernel", code);
  return bench_event_seconds(d, event, begin, seconds);
}

/* ---- known operations per clock, against which the measured ceilings are checked --- */

/* Operations per clock and compute unit. */
typedef struct width {
  double add_mul, min_max, slab;
} width;

/* ---- processors ---- */

/* Zen 5: two 512-bit ports multiply. Two others add and take minima; 12 of the 19 operations of a slab test run on
 * them. Measured on an EPYC of this family, in vectors per clock: 3.8 for additions mixed with multiplications or
 * minima mixed with multiplications, 1.9 for any other two, 2.95 for the slab test. Which ports compare is not known,
 * so comparisons are not counted. */
static const width zen5 = {4 * 16, 2 * 16, 2 * 16 * SLAB_OPERATIONS / 12.0};

/* Whether two compute units may share a core. Linux reports it; elsewhere it is not known. */
static bool cores_are_shared(void) {
  FILE *file = fopen("/sys/devices/system/cpu/smt/active", "r");
  const int active = file ? fgetc(file) : EOF;
  if (file) fclose(file);
  return active != '0';
}

/* Family 0x1A with full-width registers: servers and desktops. Notebook parts have half the width. */
static bool is_wide_zen5(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx) return false;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
  const unsigned family = (a >> 8 & 15) + (a >> 20 & 255), model = (a >> 4 & 15) | (a >> 12 & 240);
  return family == 0x1A && (model < 0x20 || (model >= 0x40 && model < 0x50));
#else
  return false;
#endif
}

/* ---- GPUs ---- */

#define COMPUTE_CAPABILITY_MAJOR_NV 0x4000
#define COMPUTE_CAPABILITY_MINOR_NV 0x4001

/* From the CUDA C++ Programming Guide, "Throughput of native arithmetic instructions": results per clock and
 * multiprocessor, for fp32 additions or multiplications, and for minima and maxima. The first number is also the limit
 * of instructions issued per clock, which bounds a slab test. */
static const struct {
  unsigned capability;
  double add_mul, min_max;
} nvidia[] = {{70, 64, 64}, {75, 64, 64}, {80, 64, 64}, {86, 128, 64}, {89, 128, 64}, {90, 128, 64}};

static bool nvidia_width(cl_device_id id, width *w) {
  cl_uint major = 0, minor = 0;
  if (clGetDeviceInfo(id, COMPUTE_CAPABILITY_MAJOR_NV, sizeof major, &major, NULL) != CL_SUCCESS) return false;
  if (clGetDeviceInfo(id, COMPUTE_CAPABILITY_MINOR_NV, sizeof minor, &minor, NULL) != CL_SUCCESS) return false;
  for (size_t i = 0; i < sizeof nvidia / sizeof *nvidia; i++)
    if (nvidia[i].capability == 10 * major + minor) {
      *w = (width){nvidia[i].add_mul, nvidia[i].min_max, nvidia[i].add_mul};
      return true;
    }
  return false;
}

/* Operations per clock and compute unit; 0: not known. */
static double bench_width(const bench_run *run, ceiling_kind kind) {
  width w = {0};
  if (run->device.type == SLAB_DEVICE_CPU && run->cl.lanes == 16 && is_wide_zen5() && !cores_are_shared())
    w = zen5;
  else if (run->device.type != SLAB_DEVICE_GPU || !nvidia_width(run->cl.id, &w))
    return 0;
  return kind == CEILING_ADD_MUL ? w.add_mul : kind == CEILING_MIN_MAX ? w.min_max : kind == CEILING_SLAB ? w.slab : 0;
}

/* ---- ceilings --------------------------------------------------------------- */

#define FIRST_ROUNDS 4096u
#define ROUNDS_STEP 8u /* unroll factor of the kernels */

const ceiling_name ceiling_names[CEILINGS] = {
    [CEILING_ADD_MUL] = {"add-mul", "additions and multiplications", "Gop/s", 1e-9},
    [CEILING_MIN_MAX] = {"min-max", "minima and maxima", "Gop/s", 1e-9},
    [CEILING_SLAB] = {"slab-test", "12 add/mul, 6 min/max, 1 compare", "Gop/s", 1e-9},
    [CEILING_READ] = {"memory-read", "device memory, read", "GB/s", 1e-9},
    [CEILING_COPY] = {"memory-copy", "device memory, read and written", "GB/s", 1e-9},
    [CEILING_UPLOAD] = {"upload", "from host memory", "GB/s", 1e-9},
    [CEILING_DOWNLOAD] = {"download", "to host memory", "GB/s", 1e-9},
    [CEILING_LAUNCH] = {"launch", "an empty kernel, waited for", "k/s", 1e-3},
};

double ceiling_best(const bench_run *run, ceiling_kind kind) {
  const bench_ceiling *c = &run->ceilings[kind];
  return rate_of(c->work, timing_summarise(&c->times).best);
}

double ceiling_share(const bench_run *run, ceiling_kind kind) {
  return rate_of(ceiling_best(run, kind), run->ceilings[kind].known);
}

/* Adds a time. When `t` is full, the slowest is replaced. */
static void note(timing *t, double seconds) {
  int at = 0;
  if (t->rounds < ROUNDS_MAX) {
    t->seconds[t->rounds++] = seconds;
    return;
  }
  for (int i = 1; i < t->rounds; i++)
    if (t->seconds[i] > t->seconds[at]) at = i;
  t->seconds[at] = seconds;
}

/* ---- arithmetic ---- */

static const bench_kernel kernel_of[] = {
    [CEILING_ADD_MUL] = KERNEL_ADD_MUL, [CEILING_MIN_MAX] = KERNEL_MIN_MAX, [CEILING_SLAB] = KERNEL_SLAB_MIX};

static int set_rounds(bench_run *run, ceiling_kind kind, uint32_t rounds) {
  bench_device *d = &run->cl;
  const double operations = kind == CEILING_SLAB ? 2.0 * SLAB_OPERATIONS : 2.0 * d->chains;
  run->ceilings[kind].work = operations * d->lanes * (double)(d->groups * d->local) * rounds;
  return argument(d, kernel_of[kind], 1, sizeof rounds, &rounds);
}

/* Chooses the number of rounds so that a launch lasts about one burst. */
static int size_burst(bench_run *run, ceiling_kind kind, cl_mem out) {
  static const float values[3] = {0.5f, 1.0f, 0.5f};
  double seconds = 0;
  int code = argument(&run->cl, kernel_of[kind], 0, sizeof out, &out);
  for (cl_uint i = 0; code == EXIT_DONE && i < 3; i++)
    code = argument(&run->cl, kernel_of[kind], 2 + i, sizeof *values, &values[i]);
  if (code == EXIT_DONE) code = set_rounds(run, kind, FIRST_ROUNDS);
  for (int i = 0; code == EXIT_DONE && i < 2; i++) code = launch(&run->cl, kernel_of[kind], 0, &seconds);
  if (code != EXIT_DONE) return code;
  const double rounds = FIRST_ROUNDS * rate_of(run->effort.burst_seconds, seconds);
  return set_rounds(run, kind, rounds > 1e9 ? 1000000000u : ((uint32_t)rounds / ROUNDS_STEP + 1) * ROUNDS_STEP);
}

static void look_at_clock(bench_run *run) {
  const double now = run->device.type == SLAB_DEVICE_CPU ? clock_rate() : 1e6 * run->device.clock_mhz;
  if (now > run->clock) run->clock = now;
}

int bench_arithmetic(bench_run *run) {
  cl_mem out = NULL;
  int code = bench_buffer(&run->cl, 64, CL_MEM_WRITE_ONLY, &out);
  look_at_clock(run);
  for (ceiling_kind kind = CEILING_ADD_MUL; code == EXIT_DONE && kind <= CEILING_SLAB; kind++) {
    bench_ceiling *c = &run->ceilings[kind];
    if (c->work == 0)
      code = size_burst(run, kind, out);
    else
      code = argument(&run->cl, kernel_of[kind], 0, sizeof out, &out);
    for (int i = 0; code == EXIT_DONE && i < run->effort.bursts; i++) {
      double seconds = 0;
      code = launch(&run->cl, kernel_of[kind], 0, &seconds);
      if (code == EXIT_DONE) note(&c->times, seconds);
    }
  }
  look_at_clock(run);
  for (ceiling_kind kind = CEILING_ADD_MUL; kind <= CEILING_SLAB; kind++)
    run->ceilings[kind].known = bench_width(run, kind) * run->clock * run->device.compute_units;
  if (out) clReleaseMemObject(out);
  return code;
}

/* ---- memory ---- */

/* Buffers of the transfer measurements: host memory as close to the device as possible, and two device buffers. */
typedef struct passage {
  size_t bytes;
  cl_mem staging, from, to;
  uint32_t *host; /* staging buffer, mapped */
} passage;

static int open_passage(bench_run *run, size_t bytes, passage *p) {
  cl_int failure = CL_SUCCESS;
  p->bytes = bytes;
  int code = bench_buffer(&run->cl, bytes, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, &p->staging);
  if (code == EXIT_DONE) code = bench_buffer(&run->cl, bytes, CL_MEM_READ_WRITE, &p->from);
  if (code == EXIT_DONE) code = bench_buffer(&run->cl, bytes, CL_MEM_READ_WRITE, &p->to);
  if (code != EXIT_DONE) return code;
  p->host = clEnqueueMapBuffer(run->cl.queue, p->staging, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL,
                               &failure);
  return p->host ? EXIT_DONE : failed("clEnqueueMapBuffer", failure);
}

static int close_passage(bench_run *run, passage *p) {
  const cl_mem buffers[] = {p->staging, p->from, p->to};
  cl_int code = CL_SUCCESS;
  if (p->host) code = clEnqueueUnmapMemObject(run->cl.queue, p->staging, p->host, 0, NULL, NULL);
  if (code == CL_SUCCESS) code = clFinish(run->cl.queue);
  for (int i = 0; i < 3; i++)
    if (buffers[i]) clReleaseMemObject(buffers[i]);
  return code == CL_SUCCESS ? EXIT_DONE : failed("clEnqueueUnmapMemObject or clFinish", code);
}

/* Never 0: memory_read searches for 0. */
static uint32_t pattern(size_t i) { return (uint32_t)i * 2654435761u | 1u; }

/* The first round is a warm-up, because untouched pages are not backed by memory. Transfers use one processor at a
 * time. */
static int time_transfers(bench_run *run, passage *p, ceiling_kind kind) {
  bench_ceiling *c = &run->ceilings[kind];
  int code = EXIT_DONE;
  c->work = (double)p->bytes;
  for (int i = 0; code == EXIT_DONE && i <= run->effort.passes; i++) {
    const double begin = timing_now(run->processor_time);
    code = kind == CEILING_UPLOAD ? bench_write(&run->cl, p->from, p->host, p->bytes)
                                  : bench_read(&run->cl, p->to, p->host, p->bytes);
    if (i > 0) note(&c->times, timing_now(run->processor_time) - begin);
  }
  return code;
}

static int time_passes(bench_run *run, passage *p, bench_kernel kernel, ceiling_kind kind) {
  bench_device *d = &run->cl;
  bench_ceiling *c = &run->ceilings[kind];
  const size_t piece = (d->lanes == 1 ? 4 : 16) * sizeof(uint32_t);
  const cl_uint n = (cl_uint)(p->bytes / piece), marker = 0;
  int code = argument(d, kernel, 0, sizeof p->from, &p->from);
  if (code == EXIT_DONE) code = argument(d, kernel, 1, sizeof p->to, &p->to);
  if (code == EXIT_DONE) code = argument(d, kernel, 2, sizeof n, &n);
  if (code == EXIT_DONE) code = argument(d, kernel, 3, sizeof marker, &marker);
  c->work = (double)p->bytes * (kind == CEILING_COPY ? 2 : 1);
  for (int i = 0; code == EXIT_DONE && i <= run->effort.passes; i++) {
    double seconds = 0;
    code = launch(d, kernel, 0, &seconds);
    if (code == EXIT_DONE && i > 0) note(&c->times, seconds);
  }
  return code;
}

/* The data that was uploaded, copied and downloaded must be unchanged, or the times are void. */
static int time_memory(bench_run *run, passage *p) {
  const size_t words = p->bytes / sizeof *p->host;
  for (size_t i = 0; i < words; i++) p->host[i] = pattern(i);
  int code = time_transfers(run, p, CEILING_UPLOAD);
  if (code == EXIT_DONE) code = time_passes(run, p, KERNEL_READ, CEILING_READ);
  if (code == EXIT_DONE) code = time_passes(run, p, KERNEL_COPY, CEILING_COPY);
  memset(p->host, 0, p->bytes);
  if (code == EXIT_DONE) code = time_transfers(run, p, CEILING_DOWNLOAD);
  for (size_t i = 0; code == EXIT_DONE && i < words; i++)
    if (p->host[i] != pattern(i)) {
      complain("bench: memory: word %zu went to the device as 0x%x and came back as 0x%x", i, pattern(i), p->host[i]);
      code = EXIT_MISMATCH;
    }
  return code;
}

/* ---- launches ---- */

/* Wall-clock time, because waiting for a launch uses no processor time. */
static int time_launches(bench_run *run, cl_mem any) {
  const cl_uint rounds = 0;
  bench_ceiling *c = &run->ceilings[CEILING_LAUNCH];
  int code = argument(&run->cl, KERNEL_NOTHING, 0, sizeof any, &any);
  if (code == EXIT_DONE) code = argument(&run->cl, KERNEL_NOTHING, 1, sizeof rounds, &rounds);
  c->work = 1;
  for (int i = 0; code == EXIT_DONE && i <= run->effort.launches; i++) {
    double unused = 0;
    const double begin = timing_now(0);
    code = launch(&run->cl, KERNEL_NOTHING, 1, &unused);
    if (i > 0) note(&c->times, timing_now(0) - begin);
  }
  return code;
}

int bench_ceilings(bench_run *run) {
  passage p = {0};
  const uint64_t most = run->device.allocation_bytes / 64 * 64;
  if (run->effort.memory > most) run->effort.memory = (size_t)most;
  int code = open_passage(run, run->effort.memory, &p);
  if (code == EXIT_DONE) code = bench_arithmetic(run);
  if (code == EXIT_DONE) code = time_memory(run, &p);
  if (code == EXIT_DONE) code = time_launches(run, p.to);
  const int closed = close_passage(run, &p);
  return code == EXIT_DONE ? closed : code;
}
