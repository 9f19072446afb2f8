/* A context: its devices, and who holds it. */
#ifndef SLABCAST_DEVICE_CONTEXT_H
#define SLABCAST_DEVICE_CONTEXT_H

#include <stdatomic.h>

#include "device/found.h"
#include "device/host_memory.h"
#include "record/device.h"
#include "slabcast.h"

struct slab_context {
  atomic_uint references; /* held by its creator, its scenes and its memories */
  slab_layout layout;     /* layout of BVHs, never SLAB_LAYOUT_DEFAULT */
  uint32_t threads;       /* as pool_run takes it */
  host_memories memories; /* each holds the context */
  uint32_t device_count;
  device devices[]; /* at least one */
};

/* Making a context, in this order: context_check, context_allocate for n devices, context_add and opening for each,
 * context_finish. */
slab_status context_check(const slab_context_options *, slab_context **, const char *function);
slab_status context_allocate(size_t devices, slab_context **);
/* Adds a device that is not open yet, with its options. */
slab_status context_add(slab_context *, const found_device *, const slab_context_options *);
/* Closes the device that was added last, and takes it back. */
void context_drop_last(slab_context *);
/* Returns the context, or releases it on failure. */
slab_status context_finish(slab_status, const slab_context_options *, slab_context *created, slab_context **);

/* Returns SLAB_INVALID_STATE where the context was opened before this process was forked. */
slab_status context_check_process(const slab_context *, const char *function);

void context_retain(slab_context *);
/* Drops one reference; the last one frees. */
void context_release(slab_context *);

#endif
