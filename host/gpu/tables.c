/* Tables that the chunks of a call share, on a device. */
#include <stdlib.h>

#include "gpu/gpu.h"

/* A table's buffer; NULL: there is none. */
static slab_status upload(const device *d, const void *table, size_t size, const char *what, gpu_buffer **buffer) {
  const gpu_driver *driver = driver_of(d);
  if (table == NULL) return SLAB_OK;
  const slab_status status = driver->create(d, GPU_READ, GPU_OWN, size, NULL, what, buffer);
  if (status != SLAB_OK) return status;
  return driver->write(gpu_of(d)->queue, *buffer, 0, table, size, true, (gpu_order){0}, what);
}

static slab_status upload_set(const device *d, const set_rays *of, call_tables *t) {
  const ray_set *s = &of->set;
  const size_t row = SET_ROW_FLOATS(s->kind) * sizeof(float), column = SET_COLUMN_FLOATS(s->kind) * sizeof(float);
  slab_status status = upload(d, of->of_rows, s->rows * row, "a set of rays", &t->of_rows);
  if (status == SLAB_OK) status = upload(d, of->normals, s->rows * 3 * sizeof(float), "a set of rays", &t->normals);
  if (status == SLAB_OK) status = upload(d, of->of_columns, s->columns * column, "a set of rays", &t->of_columns);
  return status;
}

static slab_status upload_weights(const device *d, const row_sums *of, call_tables *t) {
  return upload(d, of->weights, of->told.columns * sizeof *of->weights, "weights", &t->weights);
}

static slab_status upload_boundary(const device *d, const boundary *of, call_tables *t) {
  const slab_status status =
      upload(d, of->values, of->nodes * BOUNDARY_FLOATS * sizeof *of->values, "a boundary", &t->boundary);
  if (status != SLAB_OK) return status;
  return upload(d, of->of_trees, (of->trees + (size_t)1) * sizeof *of->of_trees, "a boundary", &t->trees);
}

void gpu_close_tables(const device *d, void *tables) {
  call_tables *t = tables;
  if (t == NULL) return;
  gpu_release_buffer(d, &t->of_rows);
  gpu_release_buffer(d, &t->normals);
  gpu_release_buffer(d, &t->of_columns);
  gpu_release_buffer(d, &t->weights);
  gpu_release_buffer(d, &t->boundary);
  gpu_release_buffer(d, &t->trees);
  free(t);
}

slab_status gpu_open_tables(device *d, const set_rays *set, const row_sums *sums, const boundary *edges,
                            void **tables) {
  call_tables *t = calloc(1, sizeof *t);
  if (t == NULL) return fail_memory(sizeof *t, "a cast");
  slab_status status = set != NULL ? upload_set(d, set, t) : SLAB_OK;
  if (status == SLAB_OK && sums != NULL) status = upload_weights(d, sums, t);
  if (status == SLAB_OK && edges != NULL) status = upload_boundary(d, edges, t);
  if (status == SLAB_OK)
    *tables = t;
  else
    gpu_close_tables(d, t);
  return status;
}
