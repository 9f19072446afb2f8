/* How a scene's arrays are split where one allocation is too small for them, and its table. */
#ifndef SLABCAST_GPU_BUFFERS_H
#define SLABCAST_GPU_BUFFERS_H

#include "gpu/gpu.h"
#include "record/device.h"
#include "slabcast.h"

/* For an array that is split: BLOCK_UNITs of blocks and nodes that each buffer has of its own. */
uint32_t buffers_part_units(const device *);
uint32_t buffers_part_nodes(const device *, slab_layout);
/* Creates the buffer of a scene's table. In place, the table must outlive it. */
slab_status buffers_upload_table(const device *, const geometry_entry *, uint32_t entries, bool in_place,
                                 gpu_buffer **buffer);

#endif
