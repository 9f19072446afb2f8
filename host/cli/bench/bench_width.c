/* Known operations per clock of some devices, against which the measured ceilings are checked. */
#include <stdio.h>

#include "bench.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

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

double bench_width(const bench_run *run, ceiling_kind kind) {
  width w = {0};
  if (run->device.type == SLAB_DEVICE_CPU && run->cl.lanes == 16 && is_wide_zen5() && !cores_are_shared())
    w = zen5;
  else if (run->device.type != SLAB_DEVICE_GPU || !nvidia_width(run->cl.id, &w))
    return 0;
  return kind == CEILING_ADD_MUL ? w.add_mul : kind == CEILING_MIN_MAX ? w.min_max : kind == CEILING_SLAB ? w.slab : 0;
}
