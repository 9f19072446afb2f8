/* A context: its devices, and who holds it. */
#ifndef SLABCAST_CONTEXT_H
#define SLABCAST_CONTEXT_H

#include <stdatomic.h>

#include "device.h"
#include "slabcast.h"

struct slab_context {
  atomic_uint references; /* held by its creator and its scenes */
  slab_layout layout;     /* layout of BVHs, never SLAB_LAYOUT_DEFAULT */
  uint32_t device_count;
  device devices[]; /* at least one */
};

void context_retain(slab_context *);
/* Drops one reference; the last one frees. */
void context_release(slab_context *);

#endif
