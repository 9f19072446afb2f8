/* Memory of the host that devices of a context reach directly (slab_host_alloc). */
#ifndef SLABCAST_DEVICE_HOST_MEMORY_H
#define SLABCAST_DEVICE_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "os/thread.h"
#include "record/device.h"

/* The memory that a context has given out; the lock guards the list. All zero, but for the lock: nothing. */
typedef struct host_memories {
  os_mutex lock;
  struct host_memory *first;
} host_memories;

/* Whether all these bytes are pinned memory of this device. */
bool host_memories_have(host_memories *, const device *, const void *bytes, size_t size);

#endif
