/* Updates of a scene from the caller's device memory: the code that slabcast_cl.h and slabcast_cuda.h share. */
#ifndef SLABCAST_INTEROP_UPDATE_H
#define SLABCAST_INTEROP_UPDATE_H

#include "gpu/gpu.h"
#include "scene/scene.h"

/* A call: the queue that its memory is read on, and the events before it. */
typedef struct update_call {
  const char *function;
  const device *device;
  gpu_queue *queue;
  gpu_order order;
} update_call;

/* Part of the caller's memory, which is there as far as it is read. buffer NULL: not given. */
typedef struct update_part {
  gpu_buffer *buffer;
  size_t at;
} update_part;

/* A mesh in such memory. vertex_stride: as in slab_mesh. */
typedef struct update_mesh {
  update_part vertices, indices;
  size_t vertex_stride;
  uint32_t vertex_count, triangle_count;
} update_mesh;

/* Bytes from the first vertex to the end of the last one. SIZE_MAX: more than there can be. */
size_t update_vertices_size(size_t vertex_stride, uint32_t vertex_count);
static inline size_t update_indices_size(uint32_t triangle_count) {
  return 3 * (size_t)triangle_count * sizeof(uint32_t);
}
static inline size_t update_transforms_size(uint32_t n) { return n * (size_t)12 * sizeof(float); }
static inline size_t update_places_size(uint32_t n) { return n * sizeof(uint32_t); }

/* Each reads, waits for the reads, and takes the values as the call of slabcast.h does. The addition lacks its
 * values. */
slab_status update_shapes(slab_scene *, uint32_t geometry, const update_call *, update_part, size_t size, addition *);
slab_status update_triangles(slab_scene *, uint32_t geometry, const update_call *, const update_mesh *);
slab_status update_transforms(slab_scene *, uint32_t geometry, const update_call *, update_part, uint32_t n);
/* indices: those of the n instances of the geometry that are moved. */
slab_status update_some_transforms(slab_scene *, uint32_t geometry, const update_call *, update_part indices,
                                   update_part transforms, uint32_t n);
/* Of all instances of many geometries, which the host's memory has. */
slab_status update_all_transforms(slab_scene *, const uint32_t *geometries, uint32_t count, const update_call *,
                                  update_part, uint32_t n);

#endif
