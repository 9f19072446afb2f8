/* Buffers of a scene's arrays on a device: one per array, or several where one allocation is too small. */
#include "buffers.h"
#include "device.h"
#include "scene.h"
#include "status.h"

/* ---- how arrays are split ---- */

static uint32_t part_of(uint64_t bytes, size_t unit) {
  return bytes / unit < UINT32_MAX ? (uint32_t)(bytes / unit) : UINT32_MAX;
}

uint32_t part_units(const device *d) {
  const size_t tail = BLOCK_TAIL * sizeof(float);
  return d->info.allocation_bytes < tail ? 0 : part_of(d->info.allocation_bytes - tail, BLOCK_UNIT * sizeof(float));
}

static size_t node_size(slab_layout layout) {
  return layout == SLAB_LAYOUT_COMPRESSED ? sizeof(compressed_node) : sizeof(bvh_node);
}

uint32_t part_nodes(const device *d, slab_layout layout) {
  return part_of(d->info.allocation_bytes, node_size(layout));
}

scene_array array_of_blocks(const device *d, const char *what, const float *blocks, size_t floats) {
  return (scene_array){.what = what,
                       .bytes = blocks,
                       .size = floats * sizeof *blocks,
                       .own = (size_t)part_units(d) * BLOCK_UNIT * sizeof *blocks,
                       .tail = BLOCK_TAIL * sizeof *blocks};
}

scene_array array_of_nodes(const device *d, slab_layout layout, const void *nodes, size_t size) {
  return (scene_array){
      .what = "the tree's nodes", .bytes = nodes, .size = size, .own = part_nodes(d, layout) * node_size(layout)};
}

bool array_fits(const device *d, const scene_array *a) { return a->size <= d->info.allocation_bytes; }

/* ---- to the device ---- */

/* Creates a buffer with these bytes. In place, the bytes must outlive the buffer. An empty array gets a small buffer,
 * since OpenCL has no empty buffers. */
static slab_status upload(const device *d, const void *bytes, size_t size, bool in_place, const char *what,
                          cl_mem *buffer) {
  static const char nothing[BLOCK_UNIT];
  union {
    const void *in;
    void *out;
  } host = {.in = size == 0 ? nothing : bytes};
  const cl_mem_flags flags = CL_MEM_READ_ONLY | (in_place ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR);
  return create_buffer(d, flags, size == 0 ? sizeof nothing : size, host.out, what, buffer);
}

slab_status array_upload(const device *d, const scene_array *a, bool in_place, cl_mem *buffer) {
  if (!array_fits(d, a))
    return fail(SLAB_OUT_OF_MEMORY, "%s takes %zu bytes, and \"%s\" allocates at most %llu at once", a->what, a->size,
                d->info.name, (unsigned long long)d->info.allocation_bytes);
  return upload(d, a->bytes, a->size, in_place, a->what, buffer);
}

/* The buffers are copies: buffers in place must not overlap, and these overlap by their tails. */
slab_status array_upload_cut(const device *d, const scene_array *a, cl_mem buffers[SCENE_BUFFERS]) {
  if (a->size > SCENE_BUFFERS * (uint64_t)a->own)
    return fail(SLAB_OUT_OF_MEMORY,
                "%s takes %zu bytes, and \"%s\" allocates at most %llu at once, of which %d hold %llu", a->what,
                a->size, d->info.name, (unsigned long long)d->info.allocation_bytes, SCENE_BUFFERS,
                SCENE_BUFFERS * (unsigned long long)a->own);
  slab_status status = SLAB_OK;
  for (size_t k = 0; status == SLAB_OK && (k == 0 || k * a->own < a->size); k++) {
    const size_t from = k * a->own, left = a->size - from, most = a->own + a->tail;
    status = upload(d, (const char *)a->bytes + from, left < most ? left : most, false, a->what, &buffers[k]);
  }
  return status;
}

/* ---- from the device ---- */

slab_status array_read(const device *d, const scene_array *a, bool cut, const cl_mem buffers[SCENE_BUFFERS],
                       void *bytes) {
  const size_t most = cut ? a->own : a->size;
  cl_int code = CL_SUCCESS;
  for (size_t k = 0; code == CL_SUCCESS && k * most < a->size; k++) {
    const size_t from = k * most, left = a->size - from;
    code = clEnqueueReadBuffer(d->queue, buffers[k], CL_TRUE, 0, left < most ? left : most, (char *)bytes + from, 0,
                               NULL, NULL);
  }
  return code == CL_SUCCESS ? SLAB_OK : fail_cl(code, "clEnqueueReadBuffer", a->what);
}
