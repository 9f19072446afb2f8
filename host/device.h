/* A device of a context, with what casts on it need. */
#ifndef SLABCAST_DEVICE_H
#define SLABCAST_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdbool.h>

#include "slabcast.h"
#include "tuning.h"

typedef struct program program;
typedef struct staging_buffers staging_buffers;

/* One device of a context, with the state for casts on it. */
typedef struct device {
  cl_context context;
  cl_platform_id platform;
  cl_device_id id;
  cl_command_queue queue; /* in-order queue that runs every kernel */
  bool queue_is_callers;  /* the queue is the caller's; transfers then use it too */
  uint32_t nth;           /* index in its context */
  struct device *builder; /* the first equal GPU of the context, often itself; its compiled programs are shared */
  slab_device_info info;
  bool is_part;             /* a part (sub-device) of another device */
  bool has_double;          /* has double; kernels may divide through it where info.exact_divide is 0 */
  bool in_place;            /* kernels use host arrays without a copy */
  bool scene_in_place;      /* scenes are used in place too; not in a caller's context, where a scene may be destroyed
                               before its casts end */
  size_t group_most;        /* maximum work-items per group, for any kernel */
  uint32_t launch_rays;     /* the caller's limit of rays per launch; 0: none */
  slab_traversal traversal; /* the caller's choice of traversal */
  const tuning *tuning;     /* tuning values of the device's class */
  pthread_mutex_t lock; /* guards programs, a kernel from setting its arguments to its launch, the staging buffers, and
                           the data that casts learn */
  program *programs;    /* programs built so far, and those being built */
  pthread_cond_t built; /* signalled when a build ends */
  staging_buffers *idle_buffers; /* staging buffers that no cast uses */
  double building;               /* seconds of the last chunk for which kernels had to be built; 0: none yet */
  double casting;                /* seconds of chunks cast since then */
} device;

/* Creates an in-order queue of the library's own. */
slab_status device_queue(const device *, cl_command_queue *queue);
/* Waits until the driver has finished with a queue whose commands have ended. Called before the queue is released. */
void wait_for_driver(const device *, cl_command_queue);
/* Checks that the context and device are not NULL and that the queue (NULL: none) belongs to them. */
slab_status check_queue(const char *function, cl_context, cl_device_id, cl_command_queue);
/* Creates a buffer of `size` bytes. host: memory that the flags ask for, else NULL. what: its name in messages. */
slab_status create_buffer(const device *, cl_mem_flags, size_t size, void *host, const char *what, cl_mem *buffer);

#endif
