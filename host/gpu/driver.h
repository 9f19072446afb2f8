/* The seam between casts on any GPU and the API that reaches one. gpu/ calls only this table. A driver of another API
 * than OpenCL is one such table, its handles and its text of the kernels.
 *
 * Handles are the driver's own types: here they have names alone. One that was created is released once, on a device
 * that this process opened (is_inherited is called before). A function that fails has set the message, with its call
 * and `what`, the purpose. Where `what` is NULL it leaves the message, since the caller goes on. It has then created
 * nothing and enqueued nothing. SLAB_OUT_OF_MEMORY: memory of host or device; else SLAB_DEVICE_FAILED, of builds
 * SLAB_BUILD_FAILED.
 *
 * Threads call at once, but with one kernel only the one that holds the device's lock. */
#ifndef SLABCAST_GPU_DRIVER_H
#define SLABCAST_GPU_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/ray_set.h"
#include "data/ray_sums.h"
#include "data/types.h"
#include "device/found.h"
#include "gpu/program_key.h"
#include "record/device.h"
#include "slabcast.h"

typedef struct gpu_buffer gpu_buffer;
typedef struct gpu_queue gpu_queue;
typedef struct gpu_event gpu_event;
typedef struct gpu_program gpu_program;
typedef struct gpu_kernel gpu_kernel;

/* How kernels use a buffer, or the host a mapping. */
typedef enum gpu_access { GPU_READ, GPU_WRITE, GPU_READ_WRITE } gpu_access;

/* Where a buffer's memory is, and what is in it. */
typedef enum gpu_memory {
  GPU_OWN,   /* the device's, with anything in it */
  GPU_COPY,  /* the device's, with a copy of the given bytes */
  GPU_GIVEN, /* the given bytes themselves, which outlive the buffer */
  GPU_PINNED /* the host's, where copies to and from it are fastest. A driver may refuse it: casts go on without */
} gpu_memory;

/* The largest values that a kernel takes. */
typedef union gpu_value {
  cast_uniforms cast;
  ray_set set;
  ray_sums sums;
} gpu_value;

/* A kernel's argument. size 0: a buffer, or none where that is NULL; else a value of so many bytes. */
typedef struct gpu_argument {
  gpu_buffer *buffer;
  size_t size;
  const void *value;
} gpu_argument;

/* When a command begins, and the event of its end. All zero: after those before it on its queue, and no event. A
 * failure while it runs is reported by its event alone. */
typedef struct gpu_order {
  uint32_t count; /* events that it waits for, besides those commands */
  gpu_event *const *after;
  gpu_event **done; /* NULL, or where its event goes, which the caller releases */
} gpu_order;

/* Rows of bytes in a buffer: the first at `at`, each `stride` after the one before. */
typedef struct gpu_rows {
  gpu_buffer *buffer;
  size_t at, stride;
} gpu_rows;

typedef struct gpu_driver {
  /* ---- devices: see backend.h ---- */
  slab_status (*list)(const backend *, device_list *);
  /* gpu_device is there, but for `own`, `queue` and the driver's other facts of the device; these are set here. After a
   * failure close is called. */
  slab_status (*open)(device *, const found_device *);
  /* Closes a device, also one that open failed on. Of an inherited device it frees host memory alone. */
  void (*close)(device *);

  /* ---- buffers ---- */
  /* size: not 0. bytes: NULL for memory that has none given. */
  slab_status (*create)(const device *, gpu_access, gpu_memory, size_t size, void *bytes, const char *what,
                        gpu_buffer **);
  slab_status (*retain)(gpu_buffer *, const char *what);
  /* Commands that use the buffer may be in flight: its memory stays until they have ended. */
  void (*release)(gpu_buffer *);
  /* Copy between host and buffer. wait: until the bytes are copied; else the bytes stay as they are, and where they
   * are, until the command has ended. */
  slab_status (*write)(gpu_queue *, gpu_buffer *, size_t at, const void *bytes, size_t size, bool wait, gpu_order,
                       const char *what);
  slab_status (*read)(gpu_queue *, gpu_buffer *, size_t at, void *bytes, size_t size, bool wait, gpu_order,
                      const char *what);
  /* Copy within the device: `count` rows of `size` bytes each. Strides are not below size. */
  slab_status (*copy)(gpu_queue *, gpu_rows from, gpu_rows to, size_t size, size_t count, gpu_order, const char *what);
  /* Makes part of a buffer, of GPU_GIVEN or GPU_PINNED, visible to the host at *mapped: GPU_GIVEN at its own bytes. */
  slab_status (*map)(gpu_queue *, gpu_buffer *, gpu_access, size_t at, size_t size, bool wait, gpu_order,
                     const char *what, void **mapped);
  slab_status (*unmap)(gpu_queue *, gpu_buffer *, void *mapped, const char *what);
  /* Whether memory of the host is pinned, whoever did that: copies to and from it are as fast as of GPU_PINNED. NULL:
   * the API does not say. */
  bool (*is_pinned)(const device *, const void *bytes, size_t size);

  /* ---- kernels ---- */
  /* Whether a build of this program for `other`, whose GPU is an equal one, can serve this device. */
  bool (*alike)(const device *, const device *other, const program_key *);
  /* Without the device's lock: it may take seconds. like: NULL, or the same program of a device that is alike. */
  slab_status (*build)(const device *, const program_key *, gpu_program *like, gpu_program **);
  /* A program of the user's kernels, with the functions of slabcast_device.h of some queries: a bit for each. */
  slab_status (*build_traced)(const device *, const program_key *, uint32_t queries, const char *source,
                              const char *options, gpu_program **);
  void (*release_program)(gpu_program *);
  /* The nth kernel of the program, and the most work-items that a group of it can have. */
  slab_status (*kernel)(const device *, gpu_program *, const program_key *, uint32_t nth, gpu_kernel **, size_t *group);
  void (*release_kernel)(gpu_kernel *);
  slab_status (*set)(gpu_kernel *, uint32_t nth, const gpu_argument *, const char *what);
  /* Runs `items` work-items in groups of `group`, of which it is a multiple, with the arguments as set. */
  slab_status (*launch)(gpu_queue *, gpu_kernel *, size_t items, size_t group, gpu_order, const char *what);

  /* ---- order ---- */
  /* A queue beside the device's own; its commands run one after the other. */
  slab_status (*create_queue)(const device *, gpu_queue **);
  /* All its commands have ended. */
  void (*release_queue)(const device *, gpu_queue *);
  /* A command that does nothing. */
  slab_status (*mark)(gpu_queue *, gpu_order, const char *what);
  /* Begins all commands so far, without waiting for any. So do finish, wait, and calls with `wait`, on the queues of
   * the commands that they wait for. Commands on other queues that those wait for were flushed before. */
  slab_status (*flush)(gpu_queue *, const char *what);
  slab_status (*finish)(gpu_queue *, const char *what);
  /* Waits for all that the device's context has in flight, on queues of anybody. NULL: the API cannot. */
  slab_status (*idle)(const device *, const char *what);
  /* Waits until all have ended, also where one has failed. A failed one is the call's failure. */
  slab_status (*wait)(gpu_event *const *, uint32_t count, const char *what);
  void (*release_event)(gpu_event *);
} gpu_driver;

#endif
