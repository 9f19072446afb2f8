/* The calling thread's message, and failures that record one. */
#ifndef SLABCAST_STATUS_H
#define SLABCAST_STATUS_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>

#include "slabcast.h"

void record_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Records the message. The value is the status, which is visible to compilers and analysers. */
#define fail(status, ...) (record_failure(__VA_ARGS__), (slab_status)(status))
/* fail for host memory. */
#define fail_memory(bytes, purpose) \
  fail(SLAB_OUT_OF_MEMORY, "no %zu bytes of host memory for %s", (size_t)(bytes), purpose)
/* fail for an OpenCL call, with its name, the name of its code, and its purpose. */
const char *cl_code_name(cl_int code);
static inline slab_status fail_cl(cl_int code, const char *call, const char *purpose) {
  bool memory =
      code == CL_OUT_OF_HOST_MEMORY || code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES;
  return fail(memory ? SLAB_OUT_OF_MEMORY : SLAB_DEVICE_FAILED, "%s failed with %s (%d) for %s", call,
              cl_code_name(code), code, purpose);
}
/* Ends the noun after a number: "1 ray", "2 rays". */
#define PLURAL(n) ((n) == 1 ? "" : "s")

#endif
