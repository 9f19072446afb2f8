/* Slabcast on the caller's own OpenCL objects: context, device, queue, buffers and events.
 *
 * This header needs the OpenCL headers (Debian: opencl-c-headers), and who makes such objects links the loader,
 * OpenCL::OpenCL in CMake; slabcast.h alone needs neither.
 * Everything of slabcast.h applies. The caller's objects are retained where they are kept, and may be released in any
 * order, with work in flight. */
#ifndef SLABCAST_CL_H
#define SLABCAST_CL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include "slabcast.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A slab_context on the caller's context and device. queue: where the calls of slabcast.h run, in order; NULL, or a
 * queue that runs out of order: a queue of the library's own in that context. `device` of the options is ignored.
 * SLAB_INVALID_ARGUMENT: the device is not one of the context's, the queue is of another context or device.
 * SLAB_UNSUPPORTED: the device does not round to nearest, or is seen to compute otherwise than it must. It is asked on
 * a queue of the library's own, so that commands which wait on the caller's do not matter. */
SLAB_API slab_status slab_context_create_cl(cl_context, cl_device_id, cl_command_queue, const slab_context_options *,
                                            slab_context **context);

/* The OpenCL context and device that a slab_context stands on, for making buffers and queues for slab_enqueue; either
 * pointer may be NULL. They stay the slab_context's: retain what is to outlive it. SLAB_INVALID_ARGUMENT. */
SLAB_API slab_status slab_context_objects(const slab_context *, cl_context *, cl_device_id *);

/* Part of a buffer: it begins `offset` bytes in, a multiple of 4 (of 1 for the results of SLAB_ANY) and below 16 GiB.
 */
typedef struct slab_span {
  cl_mem buffer;
  size_t offset;
} slab_span;

/* One cast over buffers of the scene's OpenCL context. */
typedef struct slab_batch {
  slab_query query;
  size_t count;      /* rays, below 2^32 - 64 */
  slab_span rays;    /* count slab_ray */
  slab_span results; /* count of the query's type; for SLAB_ALL the hits of all rays */
  slab_span offsets; /* SLAB_ALL alone: count + 1 cl_uint, the exclusive sum of the counts that SLAB_COUNT gives */
  slab_span skip;    /* count slab_primitive_id; buffer NULL: none */
  slab_span invalid; /* one cl_uint, to which the number of invalid rays is added; buffer NULL: not wanted */
  uint32_t mask;     /* 0: all bits */
  slab_cull cull;
  int face_forward;
} slab_batch;

/* Enqueues the cast on a queue of the scene's context and device, after `wait_count` events of `wait`; *done (NULL: not
 * wanted) is the caller's to release. Does not block, but for building a kernel that was not used before. One launch:
 * bound `count` where a display watchdog is to be feared. The results are those of the call of slabcast.h, bit for bit.
 * SLAB_INVALID_STATE before commit; SLAB_INVALID_ARGUMENT where a buffer is too small, an offset is not aligned, or the
 * queue is not of the scene's context and device; SLAB_BUILD_FAILED. */
SLAB_API slab_status slab_enqueue(slab_scene *, const slab_batch *, cl_command_queue, cl_uint wait_count,
                                  const cl_event *wait, cl_event *done);

#ifdef __cplusplus
}
#endif
#endif
