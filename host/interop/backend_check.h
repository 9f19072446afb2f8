/* Whether a context is on the API whose objects a call takes. */
#ifndef SLABCAST_INTEROP_BACKEND_CHECK_H
#define SLABCAST_INTEROP_BACKEND_CHECK_H

#include "base/status.h"
#include "device/backend.h"
#include "device/context.h"

/* SLAB_UNSUPPORTED where the context's first device is of another backend: OpenCL's or CUDA's is wanted. */
static inline slab_status check_backend(const char *function, const slab_context *context, const backend *wanted) {
  const device *d = &context->devices[0];
  if (d->backend == wanted) return SLAB_OK;
  return fail(SLAB_UNSUPPORTED, "%s: \"%s\" is not %s", function, d->info.name,
              wanted == &opencl_backend ? "an OpenCL device" : "a card by CUDA");
}

#endif
