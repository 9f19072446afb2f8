/* Checks of the caller's OpenCL objects that the calls of slabcast_cl.h share. */
#ifndef SLABCAST_INTEROP_SPANS_H
#define SLABCAST_INTEROP_SPANS_H

#include "interop/batch.h"
#include "opencl/opencl.h"
#include "slabcast_cl.h"

/* SLAB_UNSUPPORTED where the context's first device is not one of OpenCL. */
slab_status slabcast_cl_check(const char *function, const slab_context *);
/* Checks a span that has `bytes` bytes. name: in messages. *at: its offset in units of `unit` bytes. */
slab_status slabcast_cl_span(const char *function, cl_context, const char *name, const slab_span *, size_t bytes,
                             size_t unit, uint32_t *at);

#endif
