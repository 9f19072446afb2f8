#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#define OPENCL_BY_NAME
#include "opencl/loader.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/process.h"
#include "base/status.h"

opencl_functions opencl_call;

static const char *const libraries[] = {
#ifdef __APPLE__
    "/System/Library/Frameworks/OpenCL.framework/OpenCL",
#endif
    "libOpenCL.so.1", "libOpenCL.so"};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;
static char reason[256]; /* why it is not */

/* Takes every function from one library, so that no two loaders are mixed. */
static bool take_all(void *library) {
  opencl_functions found;
#define OPENCL_TAKE(name)                                                                                 \
  {                                                                                                       \
    void *const symbol = dlsym(library, #name);                                                           \
    if (symbol == NULL) return false;                                                                     \
    memcpy(&found.name, &symbol, sizeof symbol); /* POSIX: a function's address fits an object pointer */ \
  }
  OPENCL_FUNCTIONS(OPENCL_TAKE)
#undef OPENCL_TAKE
  opencl_call = found;
  return true;
}

/* The library stays open until the process ends: drivers have threads of their own. */
static void load(void) {
  is_loaded = take_all(RTLD_DEFAULT);
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !is_loaded; i++) {
    void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    is_loaded = library != NULL && take_all(library);
    if (is_loaded || reason[0] != 0) continue;
    const char *why = library == NULL ? dlerror() : NULL;
    snprintf(reason, sizeof reason, "%s", why != NULL ? why : "it lacks functions of OpenCL 1.2");
  }
}

slab_status opencl_load(void) {
  const slab_status status = process_check_drivers("OpenCL");
  if (status != SLAB_OK) return status;
  pthread_once(&once, load);
  if (is_loaded) {
    process_uses_drivers();
    return SLAB_OK;
  }
  return fail(SLAB_NO_DEVICE, "no OpenCL loader (%s): install one, on Debian ocl-icd-libopencl1, and a driver", reason);
}
