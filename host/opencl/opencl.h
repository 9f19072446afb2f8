/* The OpenCL backend: what it keeps for a device and for a scene, and its queues, buffers and failures. */
#ifndef SLABCAST_OPENCL_OPENCL_H
#define SLABCAST_OPENCL_OPENCL_H

#include <stdbool.h>

#include "base/status.h"
#include "bvh/bvh.h"
#include "device/backend.h"
#include "opencl/loader.h"
#include "os/thread.h"
#include "record/device.h"
#include "record/snapshot.h"
#include "slabcast.h"

typedef struct program program;
typedef struct staging_buffers staging_buffers;

/* An open device. device.lock guards programs, a kernel from setting its arguments to its launch, and the staging
 * buffers. */
typedef struct opencl_device {
  cl_context context;
  cl_platform_id platform;
  cl_device_id id;
  cl_command_queue queue; /* in-order queue that runs every kernel */
  bool queue_is_callers;  /* the queue is the caller's; transfers then use it too */
  bool is_part;           /* a part (sub-device) of another device */
  bool has_double;        /* has double; kernels may divide through it where info.exact_divide is 0 */
  bool limits_registers;  /* its compiler takes NVIDIA's option that limits the registers of a work-item */
  bool scene_in_place;    /* scenes are used in place too; not in a caller's context, where a scene may be destroyed
                             before its casts end */
  size_t group_most;      /* maximum work-items per group, for any kernel */
  device *builder;        /* the first equal GPU of the context, often itself; its compiled programs are shared */
  program *programs;      /* programs built so far, and those being built */
  os_condition built;     /* signalled when a build ends */
  staging_buffers *idle_buffers; /* staging buffers that no cast uses */
} opencl_device;

static inline opencl_device *cl_of(const device *d) { return d->opened; }

/* Maximum buffers per array of a scene. In OpenCL 1.2 one allocation can have at least a quarter of a device's memory,
 * so four buffers can hold all of it. */
#define SCENE_BUFFERS 4

/* For refits on the device: where things are in a BVH. All refits of a build share the buffers. */
typedef struct refit_plan {
  cl_mem order;                         /* the nodes' indices, level by level; NULL: there is no plan yet */
  cl_mem places;                        /* the block of each global primitive id */
  uint32_t ends[BVH_DEPTH_MAX], levels; /* ends: of levels in `order` */
} refit_plan;

/* The buffers of a committed scene on one device. */
typedef struct opencl_scene {
  cl_mem table;
  cl_mem blocks[SCENE_BUFFERS];
  cl_mem nodes[SCENE_BUFFERS]; /* first entry NULL: no BVH */
  bool cut;                    /* split over several buffers, which are copies; else each array is in its first
                                  buffer */
  refit_plan plan;
} opencl_scene;

static inline const opencl_scene *uploaded(const device_scene *on) { return on->state->uploaded; }

/* The functions of the backend, see backend.h. */
slab_status opencl_list(const backend *, device_list *);
slab_status opencl_open(slab_context *, device *, const found_device *);
void opencl_close(device *);
slab_status opencl_upload(const device *, const scene_arrays *, scene_state *, bool *in_place);
void opencl_release(const device *, scene_state *);
slab_status opencl_fetch(const device *, const scene_state *, slab_layout, size_t node_bytes, size_t floats,
                         void *nodes, void *blocks);
slab_status opencl_refit(device *, const snapshot *scene, const snapshot *last, scene_state *, refit_outcome *);
uint32_t opencl_traversals(const device_scene *, slab_query);
slab_status opencl_begin(const cast *, const device_scene *, chunk *);
slab_status opencl_end(const cast *, const device_scene *, chunk *, chunk_outcome *);
void opencl_abandon(const device_scene *, chunk *);
slab_status opencl_settle(const device_scene *, chunk *);
slab_status opencl_pairs(device *, slab_shape, const slab_ray *, const float *shapes, size_t n, slab_interval *);

/* fail for an OpenCL call, with its name, the name of its code, and its purpose. */
slab_status fail_cl(cl_int code, const char *call, const char *purpose);
const char *objects_code_name(cl_int code);

/* Creates d->opened and asks the device; open.c. */
slab_status open_prepare(slab_context *, device *, const found_device *);
/* Creates an in-order queue of the library's own. */
slab_status objects_queue(const device *, cl_command_queue *queue);
/* Waits until the driver has finished with a queue whose commands have ended. Called before the queue is released. */
void objects_wait(const device *, cl_command_queue);
/* Checks that the context and device are not NULL and that the queue (NULL: none) belongs to them. */
slab_status objects_check_queue(const char *function, cl_context, cl_device_id, cl_command_queue);
/* Creates a buffer of `size` bytes. host: memory that the flags ask for, else NULL. what: its name in messages. */
slab_status objects_create_buffer(const device *, cl_mem_flags, size_t size, void *host, const char *what,
                                  cl_mem *buffer);
/* Of NULL nothing. *buffer becomes NULL. */
void objects_release_buffer(cl_mem *buffer);

#endif
