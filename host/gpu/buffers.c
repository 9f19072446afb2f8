/* Buffers of a scene's arrays on a device: one per array, or several where one allocation is too small. */
#include "gpu/buffers.h"

#include <stdlib.h>

#include "gpu/gpu.h"
#include "layout/layout.h"

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
 * since drivers have no empty buffers. */
static slab_status upload(const device *d, const void *bytes, size_t size, bool in_place, const char *what,
                          gpu_buffer **buffer) {
  static const char nothing[BLOCK_UNIT];
  union {
    const void *in;
    void *out;
  } host = {.in = size == 0 ? nothing : bytes};
  return driver_of(d)->create(d, GPU_READ, in_place ? GPU_GIVEN : GPU_COPY, size == 0 ? sizeof nothing : size, host.out,
                              what, buffer);
}

static slab_status upload_whole(const device *d, const scene_array *a, bool in_place, gpu_buffer **buffer) {
  if (!array_fits(d, a))
    return fail(SLAB_OUT_OF_MEMORY, "%s takes %zu bytes, and \"%s\" allocates at most %llu at once", a->what, a->size,
                d->info.name, (unsigned long long)d->info.allocation_bytes);
  return upload(d, a->bytes, a->size, in_place, a->what, buffer);
}

slab_status buffers_upload_table(const device *d, const geometry_entry *table, uint32_t entries, bool in_place,
                                 gpu_buffer **buffer) {
  const scene_array a = {.what = "the geometry table", .bytes = table, .size = entries * sizeof *table};
  return upload_whole(d, &a, in_place, buffer);
}

/* The buffers are copies: buffers in place must not overlap, and these overlap by their tails. */
static slab_status upload_cut(const device *d, const scene_array *a, gpu_buffer *buffers[SCENE_BUFFERS]) {
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
static slab_status upload_array(const device *d, const scene_array *a, bool cut, gpu_buffer *buffers[SCENE_BUFFERS]) {
  return cut ? upload_cut(d, a, buffers) : upload_whole(d, a, gpu_of(d)->scene_in_place, buffers);
}

slab_status gpu_upload(const device *d, const scene_arrays *from, scene_state *state, bool *in_place) {
  const bool tree = from->nodes != NULL;
  const scene_array blocks =
      array_of_blocks(d, tree ? "the tree's blocks" : "the scene's geometry", from->blocks, from->floats);
  const scene_array nodes = array_of_nodes(d, from->layout, from->nodes, from->node_bytes);
  gpu_scene *to = state->uploaded = calloc(1, sizeof *to);
  if (to == NULL) return fail_memory(sizeof *to, "a scene's buffers");
  to->cut = !array_fits(d, &blocks) || (tree && !array_fits(d, &nodes));
  *in_place = gpu_of(d)->scene_in_place && !to->cut;
  /* the table of a BVH is the scene's own, which stays */
  slab_status status =
      buffers_upload_table(d, from->table, from->geometries, tree ? gpu_of(d)->scene_in_place : *in_place, &to->table);
  if (status == SLAB_OK) status = upload_array(d, &blocks, to->cut, to->blocks);
  return status == SLAB_OK && tree ? upload_array(d, &nodes, to->cut, to->nodes) : status;
}

slab_status gpu_rewrite(const device *d, const scene_arrays *from, const blocks_part *parts, uint32_t count,
                        scene_state *state, bool *done) {
  const gpu_driver *driver = driver_of(d);
  gpu_queue *queue = gpu_of(d)->queue;
  gpu_scene *to = state->uploaded;
  slab_status status = SLAB_OK;
  const bool lent = atomic_load(&to->lent);
  *done = !to->cut && !gpu_of(d)->scene_in_place && (!lent || driver->idle != NULL);
  if (!*done) return SLAB_OK;
  if (lent) status = driver->idle(d, "a scene's blocks");
  if (status == SLAB_OK) atomic_store(&to->lent, false);
  for (uint32_t i = 0; status == SLAB_OK && i < count; i++)
    status = driver->write(queue, to->blocks[0], parts[i].first * sizeof *from->blocks, from->blocks + parts[i].first,
                           parts[i].count * sizeof *from->blocks, false, (gpu_order){0}, "a scene's blocks");
  const slab_status ended = driver->finish(queue, status == SLAB_OK ? "a scene's blocks" : NULL);
  return status == SLAB_OK ? ended : status;
}

void gpu_release(const device *d, scene_state *state) {
  gpu_scene *b = state->uploaded;
  if (b != NULL && !is_inherited(d)) {
    gpu_release_buffer(d, &b->table);
    gpu_release_buffer(d, &b->plan.order);
    gpu_release_buffer(d, &b->plan.places);
    for (int k = 0; k < SCENE_BUFFERS; k++) {
      gpu_release_buffer(d, &b->blocks[k]);
      gpu_release_buffer(d, &b->nodes[k]);
    }
  }
  free(b);
  state->uploaded = NULL;
}

/* ---- from the device ---- */

static slab_status read_array(const device *d, const scene_array *a, bool cut, gpu_buffer *const buffers[SCENE_BUFFERS],
                              void *bytes) {
  const size_t most = cut ? a->own : a->size;
  slab_status status = SLAB_OK;
  for (size_t k = 0; status == SLAB_OK && k * most < a->size; k++) {
    const size_t from = k * most, left = a->size - from;
    status = driver_of(d)->read(gpu_of(d)->queue, buffers[k], 0, (char *)bytes + from, left < most ? left : most, true,
                                (gpu_order){0}, a->what);
  }
  return status;
}

slab_status gpu_fetch(const device *d, const scene_state *state, slab_layout layout, size_t node_bytes, size_t floats,
                      void *nodes, void *blocks) {
  const gpu_scene *from = state->uploaded;
  const scene_array node_array = array_of_nodes(d, layout, NULL, node_bytes);
  const scene_array block_array = array_of_blocks(d, "the tree's blocks", NULL, floats);
  const slab_status status = read_array(d, &node_array, from->cut, from->nodes, nodes);
  return status == SLAB_OK ? read_array(d, &block_array, from->cut, from->blocks, blocks) : status;
}
