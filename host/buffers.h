/* A scene's arrays on a device. */
#ifndef SLABCAST_BUFFERS_H
#define SLABCAST_BUFFERS_H

#include <stdbool.h>

#include "device.h"
#include "scene.h"
#include "slabcast.h"

/* For an array that is split: BLOCK_UNITs of blocks and nodes that each buffer has of its own. */
uint32_t part_units(const device *);
uint32_t part_nodes(const device *, slab_layout);

typedef struct scene_array {
  const char *what;
  const void *bytes;
  size_t size, own, tail; /* bytes; where it is split, a buffer has `own` bytes and repeats the first `tail` bytes of
                             the next one */
} scene_array;

scene_array array_of_blocks(const device *, const char *what, const float *blocks, size_t floats);
scene_array array_of_nodes(const device *, slab_layout, const void *nodes, size_t size);
/* Whether the array fits one allocation of the device. */
bool array_fits(const device *, const scene_array *);
/* Upload an array as one buffer, or as several, which are copies. in_place: the buffer uses the array's memory, which
 * must then outlive it. Buffers made before a failure belong to the caller too. */
slab_status array_upload(const device *, const scene_array *, bool in_place, cl_mem *buffer);
slab_status array_upload_cut(const device *, const scene_array *, cl_mem buffers[SCENE_BUFFERS]);
/* Reads an uploaded array back. array.bytes is not used. */
slab_status array_read(const device *, const scene_array *, bool cut, const cl_mem buffers[SCENE_BUFFERS], void *bytes);

#endif
