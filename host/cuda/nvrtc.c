#include "cuda/nvrtc.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"
#include "os/library.h"
#include "os/thread.h"

#ifdef _WIN32
#define NVRTC_NAME(windows, posix) windows
#else
#define NVRTC_NAME(windows, posix) posix
#endif

/* ---- loading ---- */

/* By CUDA's number, the newest first. */
static const struct {
  int version;
  const char *name;
} libraries[] = {{13000, NVRTC_NAME("nvrtc64_130_0.dll", "libnvrtc.so.13")},
                 {12000, NVRTC_NAME("nvrtc64_120_0.dll", "libnvrtc.so.12")},
                 {11020, NVRTC_NAME("nvrtc64_112_0.dll", "libnvrtc.so.11.2")}};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

static nvrtc_functions nvrtc; /* complete where `missing` is "" */
static os_once once = OS_ONCE;
static char missing[256]; /* why there is none */

static void take(void *library, const char *of) {
#define TAKE(name, parameters)                                                           \
  {                                                                                      \
    void *const found = os_library_symbol(library, #name);                               \
    if (found == NULL) snprintf(missing, sizeof missing, "%s lacks " #name, of);         \
    memcpy(&nvrtc.name, &found, sizeof found); /* a function's address fits a pointer */ \
  }
  NVRTC_FUNCTIONS(TAKE)
#undef TAKE
}

/* A driver may not take the code of a later CUDA: the newest that is not later is tried first, then those later. */
static void load(void) {
  int driver = 0;
  void *library = NULL;
  if (cuda_call.cuDriverGetVersion(&driver) != CUDA_SUCCESS) driver = 0;
  for (int later = 0; later < 2; later++)
    for (int i = 0; library == NULL && i < LIBRARIES; i++)
      if ((libraries[i].version > driver) == later && (library = os_library_open(libraries[i].name)) != NULL)
        take(library, libraries[i].name);
  if (library == NULL) snprintf(missing, sizeof missing, "%s cannot be loaded", libraries[1].name);
}

/* ---- compiling ---- */

static slab_status fail_nvrtc(nvrtcResult code, const char *call) {
  return fail(code == NVRTC_ERROR_OUT_OF_MEMORY ? SLAB_OUT_OF_MEMORY : SLAB_BUILD_FAILED, "%s failed (%d)", call, code);
}

#define NVRTC_FAILURE(name, arguments) \
  (code = nvrtc.name arguments) == NVRTC_SUCCESS ? SLAB_OK : fail_nvrtc(code, #name)

/* The highest architecture that the compiler knows and the card has. */
static slab_status find_architecture(int capability, int *best) {
  nvrtcResult code;
  int count = 0;
  *best = 0;
  slab_status status = NVRTC_FAILURE(nvrtcGetNumSupportedArchs, (&count));
  if (status != SLAB_OK) return status;
  int *known = malloc((size_t)count * sizeof *known + 1);
  if (known == NULL) return fail_memory((size_t)count * sizeof *known, "the compiler's architectures");
  status = NVRTC_FAILURE(nvrtcGetSupportedArchs, (known));
  for (int i = 0; status == SLAB_OK && i < count; i++)
    if (known[i] <= capability && known[i] > *best) *best = known[i];
  free(known);
  if (status == SLAB_OK && *best == 0)
    return fail(SLAB_UNSUPPORTED, "NVRTC makes no code for compute capability %d.%d", capability / 10, capability % 10);
  return status;
}

/* Splits options at blanks, in place, and adds ours. */
static int split(char *options, const char **list, const char *architecture) {
  int n = 0;
  for (char *at = options; *(at += strspn(at, " ")) != 0;) {
    list[n++] = at;
    at += strcspn(at, " ");
    if (*at != 0) *at++ = 0;
  }
  list[n++] = architecture;
  list[n++] = "--fmad=false";
  return n;
}

static slab_status fail_with_log(nvrtcProgram of, nvrtcResult code, const char *card, const char *options) {
  size_t size = 0;
  const bool has_log = nvrtc.nvrtcGetProgramLogSize(of, &size) == NVRTC_SUCCESS && size > 0;
  char *log = has_log ? calloc(1, size + 1) : NULL;
  if (log != NULL) nvrtc.nvrtcGetProgramLog(of, log);
  const slab_status status = fail(code == NVRTC_ERROR_OUT_OF_MEMORY ? SLAB_OUT_OF_MEMORY : SLAB_BUILD_FAILED,
                                  "nvrtcCompileProgram failed (%d) for \"%s\" with \"%s\":\n%s", code, card, options,
                                  log != NULL ? log : "(no log)");
  free(log);
  return status;
}

static slab_status take_image(nvrtcProgram of, bool is_code, char **image) {
  nvrtcResult code;
  size_t size = 0;
  slab_status status =
      is_code ? NVRTC_FAILURE(nvrtcGetCUBINSize, (of, &size)) : NVRTC_FAILURE(nvrtcGetPTXSize, (of, &size));
  if (status != SLAB_OK) return status;
  char *made = malloc(size + 1);
  if (made == NULL) return fail_memory(size, "a program");
  status = is_code ? NVRTC_FAILURE(nvrtcGetCUBIN, (of, made)) : NVRTC_FAILURE(nvrtcGetPTX, (of, made));
  if (status == SLAB_OK)
    *image = made;
  else
    free(made);
  return status;
}

/* Machine code where the compiler knows the card's generation, since a driver may be older than the compiler's PTX. */
static slab_status compile(nvrtcProgram of, const nvrtc_source *given, const slab_device_info *card, char **image) {
  unsigned major = 0, minor = 0;
  int best;
  char architecture[64];
  sscanf(card->version, "compute capability %u.%u", &major, &minor);
  slab_status status = find_architecture((int)(10 * major + minor), &best);
  if (status != SLAB_OK) return status;
  const bool is_code = best / 10 == (int)major;
  snprintf(architecture, sizeof architecture, "--gpu-architecture=%s_%d", is_code ? "sm" : "compute", best);
  const size_t length = strlen(given->options);
  char *options = malloc(length + 1);
  const char **list = malloc((length / 2 + 3) * sizeof *list);
  if (options != NULL && list != NULL) {
    memcpy(options, given->options, length + 1);
    const nvrtcResult code = nvrtc.nvrtcCompileProgram(of, split(options, list, architecture), list);
    status =
        code == NVRTC_SUCCESS ? take_image(of, is_code, image) : fail_with_log(of, code, card->name, given->options);
  } else {
    status = fail_memory(length, "a program's options");
  }
  free(options);
  free((void *)list);
  return status;
}

slab_status nvrtc_compile(const nvrtc_source *given, const slab_device_info *card, char **image) {
  nvrtcResult code;
  nvrtcProgram of = NULL;
  os_once_run(&once, load);
  if (missing[0] != 0)
    return fail(
        SLAB_UNSUPPORTED,
        "kernels of your own in CUDA C++ need NVIDIA's compiler NVRTC, and %s (pip install nvidia-cuda-nvrtc-cu12, "
        "or a CUDA toolkit)",
        missing);
  slab_status status =
      NVRTC_FAILURE(nvrtcCreateProgram, (&of, given->text, "kernels.cu", given->headers, given->texts, given->names));
  if (status != SLAB_OK) return status;
  status = compile(of, given, card, image);
  nvrtc.nvrtcDestroyProgram(&of);
  return status;
}
