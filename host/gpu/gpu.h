/* The backend of GPUs, over any driver: its data of a device and of a scene. */
#ifndef SLABCAST_GPU_GPU_H
#define SLABCAST_GPU_GPU_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/status.h"
#include "bvh/bvh.h"
#include "device/backend.h"
#include "gpu/driver.h"
#include "os/thread.h"
#include "record/device.h"
#include "record/snapshot.h"
#include "slabcast.h"

typedef struct program program;
typedef struct staging_buffers staging_buffers;
typedef struct slab_program slab_program;

/* An open device. device.lock guards programs, the user's too, and the staging buffers. It guards a kernel from setting
 * its arguments to its launch. */
typedef struct gpu_device {
  const gpu_driver *driver;
  void *own;             /* the driver's, from open to close */
  const void *platform;  /* the driver's handle, as the device was found */
  gpu_queue *queue;      /* in-order queue that runs every kernel */
  bool queue_is_callers; /* the queue is the caller's; transfers then use it too */
  bool scene_in_place;   /* scenes are used in place too; not in a caller's context, where a scene may be destroyed
                            before its casts end */
  device *builder;       /* the first equal GPU of the context, often itself; its compiled programs are shared */
  program *programs;     /* programs built so far, and those being built */
  os_condition built;    /* signalled when a build ends */
  slab_program *traced;  /* programs of the user's kernels */
  staging_buffers *idle_buffers; /* staging buffers that no cast uses */
} gpu_device;

static inline gpu_device *gpu_of(const device *d) { return d->opened; }
static inline const gpu_driver *driver_of(const device *d) { return gpu_of(d)->driver; }

/* Of NULL nothing. *buffer becomes NULL. */
static inline void gpu_release_buffer(const device *d, gpu_buffer **buffer) {
  if (*buffer != NULL) driver_of(d)->release(*buffer);
  *buffer = NULL;
}

/* Maximum buffers per array of a scene. In OpenCL 1.2 one allocation can have at least a quarter of a device's memory,
 * so four buffers can hold all of it. */
#define SCENE_BUFFERS 4

/* For refits on the device: where things are in a BVH. All refits of a build share the buffers. */
typedef struct refit_plan {
  gpu_buffer *order;                    /* the nodes' indices, depth by depth; NULL: there is no plan yet */
  gpu_buffer *places;                   /* the block of each global primitive id */
  uint32_t ends[BVH_DEPTH_MAX], depths; /* ends: of depths in `order` */
} refit_plan;

/* The buffers of a committed scene on one device. */
typedef struct gpu_scene {
  gpu_buffer *table;
  gpu_buffer *blocks[SCENE_BUFFERS];
  gpu_buffer *nodes[SCENE_BUFFERS]; /* first entry NULL: no BVH */
  bool cut;                         /* split over several buffers, which are copies; else each array is in its first
                                       buffer */
  atomic_bool lent;                 /* commands of the caller's own queues may read it */
  refit_plan plan;
} gpu_scene;

static inline const gpu_scene *uploaded(const device_scene *on) { return on->state->uploaded; }
/* Before commands on a queue of the caller's read it, whose end nobody reports. */
static inline void gpu_lend(const device_scene *on) {
  gpu_scene *scene = on->state->uploaded;
  atomic_store(&scene->lent, true);
}

/* Tables that the chunks of a call share; NULL: there is no such table. */
typedef struct call_tables {
  gpu_buffer *of_rows, *normals, *of_columns; /* of a set of rays */
  gpu_buffer *weights;                        /* of sums */
  gpu_buffer *boundary, *trees;               /* of winding numbers */
} call_tables;

/* A chunk whose rays were cast and are summed. */
typedef struct summed_chunk {
  size_t first;
  uint32_t count;
  const void *tables;
  gpu_buffer *rays, *results, *invalid, *sums;
} summed_chunk;

/* The functions of the backend, see backend.h. */
slab_status gpu_list(const backend *, device_list *);
slab_status gpu_open(slab_context *, device *, const found_device *);
void gpu_close(device *);
bool gpu_pin(const device *, size_t size, void **own, void **bytes);
void gpu_unpin(const device *, void *own, void *bytes);
slab_status gpu_upload(const device *, const scene_arrays *, scene_state *, bool *in_place);
slab_status gpu_rewrite(const device *, const scene_arrays *, const blocks_part *, uint32_t parts, scene_state *,
                        bool *done);
void gpu_release(const device *, scene_state *);
slab_status gpu_fetch(const device *, const scene_state *, slab_layout, size_t node_bytes, size_t floats, void *nodes,
                      void *blocks);
slab_status gpu_refit(device *, const snapshot *scene, const snapshot *last, scene_state *, refit_outcome *);
offer gpu_offers(const device_scene *, slab_query);
slab_status gpu_begin(const cast *, const device_scene *, chunk *);
slab_status gpu_end(const cast *, const device_scene *, chunk *, chunk_outcome *);
void gpu_abandon(const device_scene *, chunk *);
slab_status gpu_settle(const device_scene *, chunk *);
slab_status gpu_open_tables(device *, const set_rays *, const row_sums *, const boundary *, void **tables);
void gpu_close_tables(const device *, void *tables);
/* Enqueues the kernel that writes these rays to a buffer. */
slab_status gpu_enqueue_rays(device *, const set_rays *, const void *tables, gpu_buffer *rays, gpu_queue *, gpu_order,
                             bool *first_use);
slab_status gpu_make_rays(device *, const set_rays *, slab_ray *);
/* Enqueues the kernel that sums a chunk's results. */
slab_status gpu_enqueue_sums(device *, const row_sums *, const summed_chunk *, gpu_queue *, gpu_order, bool *first_use);
slab_status gpu_pairs(device *, slab_shape, const slab_ray *, const float *shapes, size_t n, slab_interval *);

/* The backend over a driver. compressed: it has no kernels of the other layout. */
#define GPU_BACKEND(its_driver, compressed)                                                                       \
  {                                                                                                               \
    .driver = &(its_driver), .list = gpu_list, .open = gpu_open, .close = gpu_close, .pin = gpu_pin,              \
    .unpin = gpu_unpin, .upload = gpu_upload, .rewrite = gpu_rewrite, .release = gpu_release, .fetch = gpu_fetch, \
    .refit = gpu_refit, .offers = gpu_offers, .begin = gpu_begin, .end = gpu_end, .abandon = gpu_abandon,         \
    .settle = gpu_settle, .open_tables = gpu_open_tables, .close_tables = gpu_close_tables,                       \
    .make_rays = gpu_make_rays, .pairs = gpu_pairs, .compressed_alone = (compressed)                              \
  }

/* Creates d->opened, as far as it is any driver's. */
slab_status gpu_prepare(slab_context *, device *, const found_device *);

#endif
