/* What a device is known to be able to do in a clock: where the ceilings can be held against something. */
#include <stdio.h>

#include "bench.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

/* Operations a clock and compute unit. */
typedef struct width {
  double add_mul, min_max, slab;
} width;

/* ---- processors ---- */

/* Two ports of 512 bits multiply, two others add and take minima, on which 12 of the 19 operations of a slab test are.
 * Measured on an EPYC of the family: 3.8 vectors a clock of additions beside multiplications or of minima beside
 * multiplications, 1.9 of any other two; 2.95 of the slab test. Where it compares is not known and counts for nothing.
 */
static const width zen5 = {4 * 16, 2 * 16, 2 * 16 * SLAB_OPERATIONS / 12.0};

/* Whether two compute units may be one core's: Linux tells, and elsewhere it is not known. */
static bool cores_are_shared(void) {
  FILE *file = fopen("/sys/devices/system/cpu/smt/active", "r");
  const int active = file ? fgetc(file) : EOF;
  if (file) fclose(file);
  return active != '0';
}

/* Family 0x1A with registers of full width: servers and desktops. Those of notebooks are half as wide. */
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

/* CUDA C++ Programming Guide, "Throughput of native arithmetic instructions": results a clock and multiprocessor of
 * fp32 additions or multiplications, and of minima and maxima. As many instructions as of the first are issued at all,
 * which is what bounds a slab test. */
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
