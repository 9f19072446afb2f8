#include "base/processors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "os/process.h"

/* ---- control groups ---- */

enum { PATH_SIZE = 4096, LINE_SIZE = 2048 };

/* Reads up to two numbers from a file of a group. Returns how many it has. */
static int read_numbers(const char *directory, const char *name, double numbers[2]) {
  char path[PATH_SIZE];
  if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path) return 0;
  FILE *file = os_open_text(path);
  if (file == NULL) return 0;
  const int count = fscanf(file, "%lf %lf", &numbers[0], &numbers[1]);
  fclose(file);
  return count;
}

/* The quota of one group: microseconds of processor time in each period. Version 2 has both in one file, with "max"
 * for no quota; version 1 has a file for each, with -1 for no quota. */
static double quota_of(const char *directory, bool version2) {
  double numbers[2] = {0.0, 0.0}, period[2] = {0.0, 0.0};
  if (version2) {
    if (read_numbers(directory, "cpu.max", numbers) < 2) return INFINITY;
  } else {
    if (read_numbers(directory, "cpu.cfs_quota_us", numbers) < 1) return INFINITY;
    if (read_numbers(directory, "cpu.cfs_period_us", period) < 1) return INFINITY;
    numbers[1] = period[0];
  }
  return numbers[0] > 0.0 && numbers[1] > 0.0 ? numbers[0] / numbers[1] : INFINITY;
}

/* The least quota of the group `path` below `root` and of the groups above it. In a container the path may be the one
 * outside, which does not exist; then the groups above it are found. */
static double quota_up(const char *root, const char *path, bool version2) {
  char directory[PATH_SIZE];
  const size_t top = strlen(root);
  double least = INFINITY;
  if (snprintf(directory, sizeof directory, "%s%s", root, path) >= (int)sizeof directory) return INFINITY;
  for (;;) {
    least = fmin(least, quota_of(directory, version2));
    char *last = strrchr(directory + top, '/');
    if (last == NULL) return least;
    *last = '\0';
  }
}

static bool lists_cpu(const char *controllers) {
  const size_t length = strcspn(controllers, ",:");
  if (length == 3 && strncmp(controllers, "cpu", 3) == 0) return true;
  return controllers[length] == ',' && lists_cpu(controllers + length + 1);
}

/* A line is "0::/path" in version 2 and "number:controllers:/path" in version 1. */
static double quota_of_line(const char *line, const char *mount) {
  char root[PATH_SIZE];
  const char *controllers = strchr(line, ':');
  const char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
  if (path == NULL) return INFINITY;
  if (path == controllers + 1) return quota_up(mount, path + 1, true);
  if (!lists_cpu(controllers + 1)) return INFINITY;
  if (snprintf(root, sizeof root, "%s/cpu", mount) >= (int)sizeof root) return INFINITY;
  return quota_up(root, path + 1, false);
}

double processors_quota(const char *groups, const char *mount) {
  char line[LINE_SIZE];
  double least = INFINITY;
  FILE *file = os_open_text(groups);
  if (file == NULL) return least;
  while (fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    least = fmin(least, quota_of_line(line, mount));
  }
  fclose(file);
  return least;
}

/* ---- the whole ---- */

uint32_t processors_allowed(void) {
  const double affinity = (double)os_processors();
  const double quota = fmin(os_quota(), processors_quota("/proc/self/cgroup", "/sys/fs/cgroup"));
  const double allowed = fmin(affinity, ceil(quota));
  return allowed > 1.0 ? (uint32_t)allowed : 1;
}

/* ---- levels of x86-64 ---- */

#ifdef __x86_64__

static bool has(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

/* Not by __builtin_cpu_supports: it lacks some of a level's instructions, and the functions that it calls are not in
 * the libraries of every compiler. */
int x86_level(void) {
  enum { MOVBE_FMA_F16C_AVX_OSXSAVE = 1 << 22 | 1 << 12 | 1 << 29 | 1 << 28 | 1 << 27, LZCNT = 1 << 5 };
  enum { BMI1_AVX2_BMI2 = 1 << 3 | 1 << 5 | 1 << 8, AVX512_F_DQ_CD_BW = 1 << 16 | 1 << 17 | 1 << 28 | 1 << 30 };
  enum { YMM = 6, ZMM = 0xE0 };
  const uint32_t AVX512_VL = 1u << 31;
  uint32_t a, b, c, d, more, saved, high;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !has(c, MOVBE_FMA_F16C_AVX_OSXSAVE)) return 0;
  if (!__get_cpuid(0x80000001u, &a, &b, &c, &d) || !has(c, LZCNT)) return 0;
  if (!__get_cpuid_count(7, 0, &a, &more, &c, &d) || !has(more, BMI1_AVX2_BMI2)) return 0;
  __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  if (!has(saved, YMM)) return 0;
#ifdef __APPLE__
  saved |= ZMM; /* macOS begins to save them when a process first uses them */
#endif
  return has(more, AVX512_F_DQ_CD_BW | AVX512_VL) && has(saved, ZMM) ? 4 : 3;
}

bool x86_has_fma;

/* When the library is loaded, so that a function per primitive reads it and does no more. */
__attribute__((constructor)) static void look_for_fma(void) { x86_has_fma = x86_level() >= 3; }

#endif
