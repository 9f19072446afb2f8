/* Updates by buffers of a device: how they read the buffers, and the copies that they keep there for its refits. */
#ifndef SLABCAST_GPU_UPDATE_H
#define SLABCAST_GPU_UPDATE_H

#include "gpu/gpu.h"
#include "shapes/values.h"

/* Reads part of a caller's buffer on this queue, after the events of `order`, and waits. */
slab_status update_read(const device *, gpu_queue *, gpu_buffer *, size_t at, void *bytes, size_t size, gpu_order,
                        const char *what);
/* Whether the context allows refits of its scenes on its device. */
bool update_stays_there(const slab_context *);
/* Copies `count` vertices, one or more, of 12 bytes each within the device on this queue, and waits. */
slab_status update_keep_vertices(const device *, gpu_queue *, gpu_rows from, uint32_t count, device_copy *);
/* Frees the copies that an update or a refit has kept there (device_copy). */
void update_drop_copy(const device *, void *copy);

#endif
