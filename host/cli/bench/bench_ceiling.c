/* Measures the device's ceilings: the kernels of kernels/ceiling.cl, and transfers. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock_rate.h"

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
  return bench_argument(d, kernel_of[kind], 1, sizeof rounds, &rounds);
}

/* Chooses the number of rounds so that a launch lasts about one burst. */
static int size_burst(bench_run *run, ceiling_kind kind, cl_mem out) {
  static const float values[3] = {0.5f, 1.0f, 0.5f};
  double seconds = 0;
  int code = bench_argument(&run->cl, kernel_of[kind], 0, sizeof out, &out);
  for (cl_uint i = 0; code == EXIT_DONE && i < 3; i++)
    code = bench_argument(&run->cl, kernel_of[kind], 2 + i, sizeof *values, &values[i]);
  if (code == EXIT_DONE) code = set_rounds(run, kind, FIRST_ROUNDS);
  for (int i = 0; code == EXIT_DONE && i < 2; i++) code = bench_launch(&run->cl, kernel_of[kind], 0, &seconds);
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
      code = bench_argument(&run->cl, kernel_of[kind], 0, sizeof out, &out);
    for (int i = 0; code == EXIT_DONE && i < run->effort.bursts; i++) {
      double seconds = 0;
      code = bench_launch(&run->cl, kernel_of[kind], 0, &seconds);
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
  return p->host ? EXIT_DONE : bench_failed("clEnqueueMapBuffer", failure);
}

static int close_passage(bench_run *run, passage *p) {
  const cl_mem buffers[] = {p->staging, p->from, p->to};
  cl_int code = CL_SUCCESS;
  if (p->host) code = clEnqueueUnmapMemObject(run->cl.queue, p->staging, p->host, 0, NULL, NULL);
  if (code == CL_SUCCESS) code = clFinish(run->cl.queue);
  for (int i = 0; i < 3; i++)
    if (buffers[i]) clReleaseMemObject(buffers[i]);
  return code == CL_SUCCESS ? EXIT_DONE : bench_failed("clEnqueueUnmapMemObject or clFinish", code);
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
  int code = bench_argument(d, kernel, 0, sizeof p->from, &p->from);
  if (code == EXIT_DONE) code = bench_argument(d, kernel, 1, sizeof p->to, &p->to);
  if (code == EXIT_DONE) code = bench_argument(d, kernel, 2, sizeof n, &n);
  if (code == EXIT_DONE) code = bench_argument(d, kernel, 3, sizeof marker, &marker);
  c->work = (double)p->bytes * (kind == CEILING_COPY ? 2 : 1);
  for (int i = 0; code == EXIT_DONE && i <= run->effort.passes; i++) {
    double seconds = 0;
    code = bench_launch(d, kernel, 0, &seconds);
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
  int code = bench_argument(&run->cl, KERNEL_NOTHING, 0, sizeof any, &any);
  if (code == EXIT_DONE) code = bench_argument(&run->cl, KERNEL_NOTHING, 1, sizeof rounds, &rounds);
  c->work = 1;
  for (int i = 0; code == EXIT_DONE && i <= run->effort.launches; i++) {
    double unused = 0;
    const double begin = timing_now(0);
    code = bench_launch(&run->cl, KERNEL_NOTHING, 1, &unused);
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
