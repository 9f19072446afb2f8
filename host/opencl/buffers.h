/* How a scene's arrays are split where one allocation is too small for them. */
#ifndef SLABCAST_OPENCL_BUFFERS_H
#define SLABCAST_OPENCL_BUFFERS_H

#include "device.h"
#include "slabcast.h"

/* For an array that is split: BLOCK_UNITs of blocks and nodes that each buffer has of its own. */
uint32_t part_units(const device *);
uint32_t part_nodes(const device *, slab_layout);

#endif
