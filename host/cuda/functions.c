/* The table of the interface's functions, where they are found, and failures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "cuda/cuda.h"
#include "cuda/ptx.h"
#include "os/library.h"
#include "os/thread.h"

cuda_functions cuda_call;

static os_once once = OS_ONCE;
static char missing[256]; /* why there is none; "": there is one */
static CUresult begun;    /* of cuInit */

/* The driver stays open until the process ends: it has threads of its own. */
static void find(void) {
  void *library = os_library_open(CUDA_LIBRARY);
  if (library == NULL) {
    const char *why = os_library_failure();
    snprintf(missing, sizeof missing, "%s", why != NULL ? why : CUDA_LIBRARY " cannot be loaded");
    return;
  }
#define TAKE(name, symbol, parameters)                                                                      \
  {                                                                                                         \
    void *const found = os_library_symbol(library, symbol);                                                 \
    if (found == NULL) {                                                                                    \
      snprintf(missing, sizeof missing, "%s lacks %s: the driver is too old", CUDA_LIBRARY, symbol);        \
      return;                                                                                               \
    }                                                                                                       \
    memcpy(&cuda_call.name, &found, sizeof found); /* POSIX: a function's address fits an object pointer */ \
  }
  CUDA_FUNCTIONS(TAKE)
#undef TAKE
}

/* Beginning the driver takes a tenth of a second, and is for nothing without kernels. */
static void load(void) {
  find();
  const char *lacks = missing[0] == 0 ? ptx_find() : NULL;
  if (lacks != NULL) snprintf(missing, sizeof missing, "%s", lacks);
  if (missing[0] == 0) begun = cuda_call.cuInit(0);
}

static slab_status fail_to_begin(void) {
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  if (begun == CUDA_ERROR_NOT_INITIALIZED) /* the caller's own CUDA, which the fork rule does not see */
    return fail(SLAB_NO_DEVICE,
                "this process was forked from one that had begun CUDA, so that it has no card: "
                "fork before, or call exec after fork");
  if (begun == CUDA_ERROR_NO_DEVICE && visible != NULL)
    return fail(SLAB_NO_DEVICE, "NVIDIA's driver finds no card: CUDA_VISIBLE_DEVICES is \"%.80s\"", visible);
  if (begun == CUDA_ERROR_NO_DEVICE) return fail(SLAB_NO_DEVICE, "NVIDIA's driver finds no card");
  cuda_ended(begun, "cuInit", "NVIDIA's driver");
  return SLAB_NO_DEVICE;
}

slab_status cuda_load(void) {
  const slab_status status = process_check_drivers("CUDA");
  if (status != SLAB_OK) return status;
  os_once_run(&once, load);
  if (missing[0] != 0) return fail(SLAB_NO_DEVICE, "no card of NVIDIA's by its own driver (%s)", missing);
  process_uses_drivers(); /* cuInit has been called, with any result */
  return begun == CUDA_SUCCESS ? SLAB_OK : fail_to_begin();
}

slab_status fail_cuda(CUresult code, const char *call, const char *purpose) {
  const bool memory = code == CUDA_ERROR_OUT_OF_MEMORY || code == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  const slab_status status = memory ? SLAB_OUT_OF_MEMORY : SLAB_DEVICE_FAILED;
  const char *name = "error";
  if (purpose == NULL) return status;
  if (cuda_call.cuGetErrorName(code, &name) != CUDA_SUCCESS || name == NULL) name = "error";
  return fail(status, "%s failed with %s (%d) for %s", call, name, code, purpose);
}
