/* Whether a context stands on OpenCL, for the calls that need its objects. */
#ifndef SLABCAST_INTEROP_ON_OPENCL_H
#define SLABCAST_INTEROP_ON_OPENCL_H

#include "base/status.h"
#include "device/backend.h"
#include "device/context.h"

/* SLAB_UNSUPPORTED where the context's first device is not one of OpenCL. */
static inline slab_status check_on_opencl(const char *function, const slab_context *context) {
  const device *d = &context->devices[0];
  if (d->backend == &opencl_backend) return SLAB_OK;
  return fail(SLAB_UNSUPPORTED, "%s: \"%s\" is not an OpenCL device", function, d->info.name);
}

#endif
