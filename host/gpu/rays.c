/* Makes rays of a set on a device. */
#include "gpu/gpu.h"
#include "gpu/program.h"

#define LAUNCH_MADE (1u << 19) /* 16 MB */

/* The set's tables on the device, and rays of a launch. */
typedef struct made_buffers {
  gpu_buffer *of_rows, *normals, *of_columns, *rays;
} made_buffers;

/* A table's buffer; NULL: the set has none. */
static slab_status upload(const device *d, const float *table, size_t floats, gpu_buffer **buffer) {
  const gpu_driver *driver = driver_of(d);
  const size_t size = floats * sizeof *table;
  if (table == NULL) return SLAB_OK;
  slab_status status = driver->create(d, GPU_READ, GPU_OWN, size, NULL, "a set of rays", buffer);
  if (status != SLAB_OK) return status;
  return driver->write(gpu_of(d)->queue, *buffer, 0, table, size, true, (gpu_order){0}, "a set of rays");
}

static slab_status upload_tables(const device *d, const set_rays *of, made_buffers *b) {
  const ray_set *s = &of->set;
  slab_status status = upload(d, of->of_rows, (size_t)s->rows * set_row_floats(s), &b->of_rows);
  if (status == SLAB_OK) status = upload(d, of->normals, (size_t)s->rows * 3, &b->normals);
  return status == SLAB_OK ? upload(d, of->of_columns, (size_t)s->columns * set_column_floats(s), &b->of_columns)
                           : status;
}

/* Makes `count` rays from ray `from` of these on, and waits. */
static slab_status make(device *d, const set_rays *of, const made_buffers *b, size_t from, uint32_t count) {
  const uint32_t row = set_row_of(of, from), column = set_column_of(of, from), each = 1;
  const gpu_argument list[] = {BUFFER_ARGUMENT(b->of_rows), BUFFER_ARGUMENT(b->normals), BUFFER_ARGUMENT(b->of_columns),
                               BUFFER_ARGUMENT(b->rays),    VALUE_ARGUMENT(of->set),     VALUE_ARGUMENT(row),
                               VALUE_ARGUMENT(column),      VALUE_ARGUMENT(count),       VALUE_ARGUMENT(each)};
  gpu_event *launched = NULL;
  bool unused = false;
  const kernel_run run = {.key = {.source = PROGRAM_RAYS},
                          .nth = KERNEL_MAIN,
                          .arguments = list,
                          .count = sizeof list / sizeof *list,
                          .items = count,
                          .group = WORK_GROUP,
                          .queue = gpu_of(d)->queue,
                          .order = {.done = &launched},
                          .what = "a set of rays"};
  slab_status status = program_run(d, &run, &unused);
  if (status != SLAB_OK) return status;
  status = driver_of(d)->wait(&launched, 1, "a set of rays");
  driver_of(d)->release_event(launched);
  return status;
}

slab_status gpu_make_rays(device *d, const set_rays *of, slab_ray *rays) {
  const gpu_driver *driver = driver_of(d);
  made_buffers b = {0};
  const uint32_t most = of->count < LAUNCH_MADE ? (uint32_t)of->count : LAUNCH_MADE;
  slab_status status = upload_tables(d, of, &b);
  if (status == SLAB_OK)
    status = driver->create(d, GPU_READ_WRITE, GPU_OWN, most * sizeof *rays, NULL, "a set of rays", &b.rays);
  for (size_t first = 0; status == SLAB_OK && first < of->count; first += most) {
    const uint32_t count = of->count - first < most ? (uint32_t)(of->count - first) : most;
    status = make(d, of, &b, first, count);
    if (status == SLAB_OK)
      status = driver->read(gpu_of(d)->queue, b.rays, 0, rays + first, count * sizeof *rays, true, (gpu_order){0},
                            "a set of rays");
  }
  gpu_release_buffer(d, &b.of_rows);
  gpu_release_buffer(d, &b.normals);
  gpu_release_buffer(d, &b.of_columns);
  gpu_release_buffer(d, &b.rays);
  return status;
}
