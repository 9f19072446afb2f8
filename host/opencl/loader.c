#include "opencl/loader.h"

#include <stddef.h>

#include "base/process.h"
#include "base/status.h"
#include "os/thread.h"

/* The package that brings it. */
#if defined(_WIN32)
#define OPENCL_INSTALL "the device's driver, which brings one"
#elif defined(__APPLE__)
#define OPENCL_INSTALL "a driver"
#else
#define OPENCL_INSTALL "one, on Debian ocl-icd-libopencl1, and a driver"
#endif

static os_once once = OS_ONCE;
static const char *missing; /* why there is none */

static void load(void) { missing = opencl_find(); }

slab_status opencl_load(void) {
  const slab_status status = process_check_drivers("OpenCL");
  if (status != SLAB_OK) return status;
  os_once_run(&once, load);
  if (missing == NULL) {
    process_uses_drivers();
    return SLAB_OK;
  }
  return fail(SLAB_NO_DEVICE, "no OpenCL loader (%s): install " OPENCL_INSTALL, missing);
}
