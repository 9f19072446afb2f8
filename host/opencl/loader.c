#define OPENCL_BY_NAME
#include "opencl/loader.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/process.h"
#include "base/status.h"
#include "os/library.h"
#include "os/thread.h"

opencl_functions opencl_call;

static const char *const libraries[] = {
#ifdef __APPLE__
    "/System/Library/Frameworks/OpenCL.framework/OpenCL",
#endif
#ifdef _WIN32
    "OpenCL.dll"
#else
    "libOpenCL.so.1", "libOpenCL.so"
#endif
};

/* Who brings it. */
#if defined(_WIN32)
#define OPENCL_INSTALL "the device's driver, which brings one"
#elif defined(__APPLE__)
#define OPENCL_INSTALL "a driver"
#else
#define OPENCL_INSTALL "one, on Debian ocl-icd-libopencl1, and a driver"
#endif

static os_once once = OS_ONCE;
static bool is_loaded;
static char reason[256]; /* why it is not */

/* Takes every function from one library, so that no two loaders are mixed. */
static bool take_all(void *library) {
  opencl_functions found;
#define OPENCL_TAKE(name)                                                                                 \
  {                                                                                                       \
    void *const symbol = os_library_symbol(library, #name);                                               \
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
  is_loaded = take_all(os_library_of_program());
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !is_loaded; i++) {
    void *library = os_library_open(libraries[i]);
    is_loaded = library != NULL && take_all(library);
    if (is_loaded || reason[0] != 0) continue;
    const char *why = library == NULL ? os_library_failure() : NULL;
    snprintf(reason, sizeof reason, "%s", why != NULL ? why : "it lacks functions of OpenCL 1.2");
  }
}

slab_status opencl_load(void) {
  const slab_status status = process_check_drivers("OpenCL");
  if (status != SLAB_OK) return status;
  os_once_run(&once, load);
  if (is_loaded) {
    process_uses_drivers();
    return SLAB_OK;
  }
  return fail(SLAB_NO_DEVICE, "no OpenCL loader (%s): install " OPENCL_INSTALL, reason);
}
