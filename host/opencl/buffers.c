/* Buffers of a scene's arrays on a device: one per array, or several where one allocation is too small. */
#include "opencl/buffers.h"

#include <stdlib.h>

#include "layout/layout.h"
#include "opencl/opencl.h"

typedef struct scene_array {
  const char *what;
  const void *bytes;
  size_t size, own, tail; /* bytes; where it is split, a buffer has `own` bytes and repeats the first `tail` bytes of
                             the next one */
} scene_array;

/* ---- how arrays are split ---- */

static uint32_t part_of(uint64_t bytes, size_t unit) {
  return bytes / unit < UINT32_MAX ? (uint32_t)(bytes / unit) : UINT32_MAX;
}

uint32_t buffers_part_units(const device *d) {
  const size_t tail = BLOCK_TAIL * sizeof(float);
  return d->info.allocation_bytes < tail ? 0 : part_of(d->info.allocation_bytes - tail, BLOCK_UNIT * sizeof(float));
}

uint32_t buffers_part_nodes(const device *d, slab_layout layout) {
  return part_of(d->info.allocation_bytes, layout_node_size(layout));
}

static scene_array array_of_blocks(const device *d, const char *what, const float *blocks, size_t floats) {
  return (scene_array){.what = what,
                       .bytes = blocks,
                       .size = floats * sizeof *blocks,
                       .own = (size_t)buffers_part_units(d) * BLOCK_UNIT * sizeof *blocks,
                       .tail = BLOCK_TAIL * sizeof *blocks};
}

static scene_array array_of_nodes(const device *d, slab_layout layout, const void *nodes, size_t size) {
  return (scene_array){.what = "the tree's nodes",
                       .bytes = nodes,
                       .size = size,
                       .own = buffers_part_nodes(d, layout) * layout_node_size(layout)};
}

static bool array_fits(const device *d, const scene_array *a) { return a->size <= d->info.allocation_bytes; }

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
  return objects_create_buffer(d, flags, size == 0 ? sizeof nothing : size, host.out, what, buffer);
}

static slab_status upload_whole(const device *d, const scene_array *a, bool in_place, cl_mem *buffer) {
  if (!array_fits(d, a))
    return fail(SLAB_OUT_OF_MEMORY, "%s takes %zu bytes, and \"%s\" allocates at most %llu at once", a->what, a->size,
                d->info.name, (unsigned long long)d->info.allocation_bytes);
  return upload(d, a->bytes, a->size, in_place, a->what, buffer);
}

slab_status buffers_upload_table(const device *d, const geometry_entry *table, uint32_t entries, bool in_place,
                                 cl_mem *buffer) {
  const scene_array a = {.what = "the geometry table", .bytes = table, .size = entries * sizeof *table};
  return upload_whole(d, &a, in_place, buffer);
}

/* The buffers are copies: buffers in place must not overlap, and these overlap by their tails. */
static slab_status upload_cut(const device *d, const scene_array *a, cl_mem buffers[SCENE_BUFFERS]) {
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

/* If one array of a scene is split, all are, except the table. */
static slab_status upload_array(const device *d, const scene_array *a, bool cut, cl_mem buffers[SCENE_BUFFERS]) {
  return cut ? upload_cut(d, a, buffers) : upload_whole(d, a, cl_of(d)->scene_in_place, buffers);
}

slab_status opencl_upload(const device *d, const scene_arrays *from, scene_state *state, bool *in_place) {
  const bool tree = from->nodes != NULL;
  const scene_array blocks =
      array_of_blocks(d, tree ? "the tree's blocks" : "the scene's geometry", from->blocks, from->floats);
  const scene_array nodes = array_of_nodes(d, from->layout, from->nodes, from->node_bytes);
  opencl_scene *to = state->uploaded = calloc(1, sizeof *to);
  if (to == NULL) return fail_memory(sizeof *to, "a scene's buffers");
  to->cut = !array_fits(d, &blocks) || (tree && !array_fits(d, &nodes));
  *in_place = cl_of(d)->scene_in_place && !to->cut;
  /* the table of a BVH is the scene's own, which stays */
  slab_status status =
      buffers_upload_table(d, from->table, from->geometries, tree ? cl_of(d)->scene_in_place : *in_place, &to->table);
  if (status == SLAB_OK) status = upload_array(d, &blocks, to->cut, to->blocks);
  return status == SLAB_OK && tree ? upload_array(d, &nodes, to->cut, to->nodes) : status;
}

void opencl_release(const device *d, scene_state *state) {
  opencl_scene *b = state->uploaded;
  if (b != NULL && !is_inherited(d)) {
    objects_release_buffer(&b->table);
    objects_release_buffer(&b->plan.order);
    objects_release_buffer(&b->plan.places);
    for (int k = 0; k < SCENE_BUFFERS; k++) {
      objects_release_buffer(&b->blocks[k]);
      objects_release_buffer(&b->nodes[k]);
    }
  }
  free(b);
  state->uploaded = NULL;
}

/* ---- from the device ---- */

static slab_status read_array(const device *d, const scene_array *a, bool cut, const cl_mem buffers[SCENE_BUFFERS],
                              void *bytes) {
  const size_t most = cut ? a->own : a->size;
  cl_int code = CL_SUCCESS;
  for (size_t k = 0; code == CL_SUCCESS && k * most < a->size; k++) {
    const size_t from = k * most, left = a->size - from;
    code = clEnqueueReadBuffer(cl_of(d)->queue, buffers[k], CL_TRUE, 0, left < most ? left : most, (char *)bytes + from,
                               0, NULL, NULL);
  }
  return code == CL_SUCCESS ? SLAB_OK : fail_cl(code, "clEnqueueReadBuffer", a->what);
}

slab_status opencl_fetch(const device *d, const scene_state *state, slab_layout layout, size_t node_bytes,
                         size_t floats, void *nodes, void *blocks) {
  const opencl_scene *from = state->uploaded;
  const scene_array node_array = array_of_nodes(d, layout, NULL, node_bytes);
  const scene_array block_array = array_of_blocks(d, "the tree's blocks", NULL, floats);
  const slab_status status = read_array(d, &node_array, from->cut, from->nodes, nodes);
  return status == SLAB_OK ? read_array(d, &block_array, from->cut, from->blocks, blocks) : status;
}
