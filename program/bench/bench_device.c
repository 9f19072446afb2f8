/* The device that is measured: its known operations per clock, and its ceilings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/bench/bench.h"
#include "program/common/device.h"
#include "program/io/errors.h"
#include "sets/clock_rate.h"
#include "sets/timing.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

/* ---- processors: known operations per clock, against which the measured ceilings are checked ---- */

/* Zen 5: two 512-bit ports multiply. Two others add and take minima; 12 of the 19 operations of a slab test run on
 * them. Measured on an EPYC of this family, in vectors per clock: 3.8 for additions or minima mixed with
 * multiplications, 1.9 for any other two, 2.95 for the slab test. Which ports compare is not known, so comparisons are
 * not counted. */
static const bench_width zen5 = {4 * 16, 2 * 16, 2 * 16 * SLAB_OPERATIONS / 12.0};

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

/* ---- opening ---- */

int bench_device_open(bench_run *run, uint32_t threads) {
  bench_device *d = &run->on;
  slab_device_info *info = &run->device;
  const bool is_opencls = slab_context_objects(run->context, NULL, NULL) != SLAB_UNSUPPORTED;
  d->backend = is_opencls ? &bench_opencl : device_is_cudas(info) ? &bench_cuda : &bench_native;
  if (d->backend == &bench_native && threads != 0) info->compute_units = threads;
  d->local = 1;
  d->groups = (size_t)16 * info->compute_units;
  d->sharers = run->processor_time ? info->compute_units : 0;
  const int code = d->backend->open(run->context, info, d);
  if (info->type == SLAB_DEVICE_CPU && d->lanes == 16 && is_wide_zen5() && !cores_are_shared()) d->width = zen5;
  return code;
}

void bench_device_close(bench_device *d) {
  if (d->backend) d->backend->close(d);
}

static double width_of(const bench_run *run, ceiling_kind kind) {
  const bench_width *w = &run->on.width;
  return kind == CEILING_ADD_MUL ? w->add_mul : kind == CEILING_MIN_MAX ? w->min_max : w->slab;
}

/* ---- ceilings ---- */

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
    [CEILING_LAUNCH] = {"launch", "an empty kernel, to its end", "k/s", 1e-3},
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

static void set_rounds(bench_run *run, ceiling_kind kind, uint32_t rounds) {
  const bench_device *d = &run->on;
  const double operations = kind == CEILING_SLAB ? 2.0 * SLAB_OPERATIONS : 2.0 * d->chains;
  run->ceilings[kind].work = operations * d->lanes * (double)(d->groups * d->local) * rounds;
  run->ceilings[kind].n = rounds;
}

static int burst(bench_run *run, ceiling_kind kind, const bench_array *out, double *seconds) {
  const bench_launch launch = {kernel_of[kind], out, out, run->ceilings[kind].n, false};
  return run->on.backend->launch(&run->on, &launch, seconds);
}

/* Chooses the number of rounds so that a launch lasts about one burst. */
static int size_burst(bench_run *run, ceiling_kind kind, const bench_array *out) {
  double seconds = 0;
  int code = EXIT_DONE;
  set_rounds(run, kind, FIRST_ROUNDS);
  for (int i = 0; code == EXIT_DONE && i < 2; i++) code = burst(run, kind, out, &seconds);
  const double rounds = FIRST_ROUNDS * rate_of(run->effort.burst_seconds, seconds);
  set_rounds(run, kind, rounds > 1e9 ? 1000000000u : ((uint32_t)rounds / ROUNDS_STEP + 1) * ROUNDS_STEP);
  return code;
}

static void look_at_clock(bench_run *run) {
  const double now = run->device.type == SLAB_DEVICE_CPU ? clock_rate() : 1e6 * run->device.clock_mhz;
  if (now > run->clock) run->clock = now;
}

int bench_arithmetic(bench_run *run) {
  bench_device *d = &run->on;
  bench_array out = {0};
  look_at_clock(run);
  if (!d->backend->launch) return EXIT_DONE;
  int code = d->backend->allocate(d, 64, false, &out);
  for (ceiling_kind kind = CEILING_ADD_MUL; code == EXIT_DONE && kind <= CEILING_SLAB; kind++) {
    bench_ceiling *c = &run->ceilings[kind];
    if (c->work == 0) code = size_burst(run, kind, &out);
    for (int i = 0; code == EXIT_DONE && i < run->effort.bursts; i++) {
      double seconds = 0;
      code = burst(run, kind, &out, &seconds);
      if (code == EXIT_DONE) note(&c->times, seconds);
    }
  }
  look_at_clock(run);
  for (ceiling_kind kind = CEILING_ADD_MUL; kind <= CEILING_SLAB; kind++)
    run->ceilings[kind].known = width_of(run, kind) * run->clock * run->device.compute_units;
  const int released = d->backend->release(d, &out);
  return code == EXIT_DONE ? released : code;
}

/* ---- memory ---- */

/* Memory of the host, and two arrays of the device. */
typedef struct passage {
  bench_array staging, from, to;
} passage;

static int open_passage(bench_run *run, size_t bytes, passage *p) {
  bench_device *d = &run->on;
  int code = d->backend->allocate(d, bytes, true, &p->staging);
  if (code == EXIT_DONE) code = d->backend->allocate(d, bytes, false, &p->from);
  if (code == EXIT_DONE) code = d->backend->allocate(d, bytes, false, &p->to);
  return code;
}

static int close_passage(bench_run *run, passage *p) {
  bench_array *const arrays[] = {&p->staging, &p->from, &p->to};
  int code = EXIT_DONE;
  for (int i = 0; i < 3; i++)
    if (run->on.backend->release(&run->on, arrays[i]) != EXIT_DONE) code = EXIT_FAILED;
  return code;
}

/* Never 0: memory_read searches for 0. */
static uint32_t pattern(size_t i) { return (uint32_t)i * 2654435761u | 1u; }

/* The array that time_passes copies to, where it copies. */
static const bench_array *last_of(const bench_run *run, const passage *p) {
  return run->on.backend->launch ? &p->to : &p->from;
}

/* The first round is a warm-up, because untouched pages are not backed by memory. Transfers use one processor at a
 * time. Where none are needed, none are measured. */
static int time_transfers(bench_run *run, passage *p, ceiling_kind kind) {
  bench_device *d = &run->on;
  bench_ceiling *c = &run->ceilings[kind];
  const int passes = d->backend->copies ? run->effort.passes : 0;
  int code = EXIT_DONE;
  c->work = (double)p->staging.bytes;
  for (int i = 0; code == EXIT_DONE && i <= passes; i++) {
    const double begin = timing_now(run->processor_time);
    code = kind == CEILING_UPLOAD ? d->backend->write(d, &p->from, p->staging.host, p->staging.bytes)
                                  : d->backend->read(d, last_of(run, p), p->staging.host, p->staging.bytes);
    if (i > 0) note(&c->times, timing_now(run->processor_time) - begin);
  }
  return code;
}

/* Bytes that a work-item reads at once: the kernel's `piece`. */
static size_t piece_bytes(const bench_device *d) { return (d->lanes > 1 ? 16 : d->level ? 2 : 4) * sizeof(uint32_t); }

static int time_passes(bench_run *run, const passage *p, bench_kernel kernel, ceiling_kind kind) {
  bench_device *d = &run->on;
  if (!d->backend->launch) return EXIT_DONE;
  bench_ceiling *c = &run->ceilings[kind];
  c->n = (uint32_t)(p->from.bytes / (piece_bytes(d) * d->groups * d->local));
  const bench_launch launch = {kernel, &p->from, &p->to, c->n, false};
  int code = EXIT_DONE;
  c->work = (double)p->from.bytes * (kind == CEILING_COPY ? 2 : 1);
  for (int i = 0; code == EXIT_DONE && i <= run->effort.passes; i++) {
    double seconds = 0;
    code = d->backend->launch(d, &launch, &seconds);
    if (code == EXIT_DONE && i > 0) note(&c->times, seconds);
  }
  return code;
}

/* The data that was uploaded, copied and downloaded must be unchanged, or the times are void. */
static int time_memory(bench_run *run, passage *p) {
  const size_t words = p->staging.bytes / sizeof(uint32_t);
  uint32_t *host = p->staging.host;
  for (size_t i = 0; i < words; i++) host[i] = pattern(i);
  int code = time_transfers(run, p, CEILING_UPLOAD);
  if (code == EXIT_DONE) code = time_passes(run, p, KERNEL_READ, CEILING_READ);
  if (code == EXIT_DONE) code = time_passes(run, p, KERNEL_COPY, CEILING_COPY);
  memset(host, 0, p->staging.bytes);
  if (code == EXIT_DONE) code = time_transfers(run, p, CEILING_DOWNLOAD);
  for (size_t i = 0; code == EXIT_DONE && i < words; i++)
    if (host[i] != pattern(i)) {
      complain("bench: memory: word %zu went to the device as 0x%x and came back as 0x%x", i, pattern(i), host[i]);
      code = EXIT_MISMATCH;
    }
  return code;
}

/* ---- launches ---- */

/* Wall-clock time, because waiting for a launch uses no processor time. */
static int time_launches(bench_run *run, const bench_array *any) {
  const bench_launch launch = {KERNEL_NOTHING, any, any, 0, true};
  bench_ceiling *c = &run->ceilings[CEILING_LAUNCH];
  int code = EXIT_DONE;
  if (!run->on.backend->launch) return code;
  c->work = 1;
  for (int i = 0; code == EXIT_DONE && i <= run->effort.launches; i++) {
    double unused = 0;
    const double begin = timing_now(0);
    code = run->on.backend->launch(&run->on, &launch, &unused);
    if (i > 0) note(&c->times, timing_now(0) - begin);
  }
  return code;
}

int bench_ceilings(bench_run *run) {
  passage p = {0};
  const size_t each = piece_bytes(&run->on) * run->on.groups * run->on.local; /* a piece for each work-item */
  const uint64_t most = run->device.allocation_bytes;
  if (run->effort.memory > most) run->effort.memory = (size_t)most;
  int code = open_passage(run, run->effort.memory / each * each, &p);
  if (code == EXIT_DONE) code = bench_arithmetic(run);
  if (code == EXIT_DONE) code = time_memory(run, &p);
  if (code == EXIT_DONE) code = time_launches(run, &p.to);
  const int closed = close_passage(run, &p);
  return code == EXIT_DONE ? closed : code;
}
