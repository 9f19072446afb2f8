/* A cast's kernel alone: slab_enqueue on buffers that are there, timed by its event's profile. */
#ifndef SLABCAST_BENCH_KERNEL_ALONE_H
#define SLABCAST_BENCH_KERNEL_ALONE_H

#include <stdbool.h>

#include "slabcast_cl.h"

/* A queue of a slab_context, and the buffers of its casts. All zero before it is opened. */
typedef struct kernel_alone {
  const char *bench; /* the program's name, for messages on stderr */
  cl_context cl;
  cl_command_queue queue; /* NULL: the device has no kernels apart from calls */
  cl_mem rays, results, offsets;
  size_t n;
} kernel_alone;

/* Of a device that is not of OpenCL the queue stays NULL. False, with a message, where a call failed; so below. */
bool kernel_open(kernel_alone *, const slab_context *);
/* Copies n rays to the device, replaces what was there, and has space for `bytes` bytes of results, not 0. offsets: of
 * SLAB_ALL, n + 1; NULL: none. */
bool kernel_fill(kernel_alone *, const slab_ray *rays, size_t n, const cl_uint *offsets, size_t bytes);
/* Casts the rays. Adds the seconds of the kernel, and of the process meanwhile. */
bool kernel_time(const kernel_alone *, slab_scene *, slab_query, double *wall, double *processor);
bool kernel_read(const kernel_alone *, void *results, size_t bytes);
void kernel_close(kernel_alone *);

#endif
