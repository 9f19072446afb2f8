/* Refits on a device, of vertices that are there. */
#ifndef SLABCAST_OPENCL_REFIT_H
#define SLABCAST_OPENCL_REFIT_H

#include "opencl/opencl.h"
#include "shapes/values.h"
#include "slabcast_cl.h"

/* Whether scenes of this context may be refitted on its device, by what they are. */
bool refit_is_there(const slab_context *);
/* Copies `count` vertices, one or more, within the device, and waits. */
slab_status refit_take_vertices(const device *, const slab_span *, size_t stride, uint32_t count, device_copy *);

#endif
