/* Makes rays of a set on a device. */
#include "gpu/gpu.h"
#include "gpu/program.h"

#define LAUNCH_MADE (1u << 19) /* 16 MB */

slab_status gpu_enqueue_rays(device *d, const set_rays *of, const void *tables, gpu_buffer *rays, gpu_queue *queue,
                             gpu_order order, bool *first_use) {
  const call_tables *t = tables;
  const uint32_t row = set_row_of(of), column = set_column_of(of), count = (uint32_t)of->count, each = 1;
  const gpu_argument list[] = {BUFFER_ARGUMENT(t->of_rows), BUFFER_ARGUMENT(t->normals), BUFFER_ARGUMENT(t->of_columns),
                               BUFFER_ARGUMENT(rays),       VALUE_ARGUMENT(of->set),     VALUE_ARGUMENT(row),
                               VALUE_ARGUMENT(column),      VALUE_ARGUMENT(count),       VALUE_ARGUMENT(each)};
  const kernel_run run = {.key = {.source = PROGRAM_RAYS},
                          .nth = KERNEL_MAIN,
                          .arguments = list,
                          .count = sizeof list / sizeof *list,
                          .items = count,
                          .group = WORK_GROUP,
                          .queue = queue,
                          .order = order,
                          .what = "a set of rays"};
  return program_run(d, &run, first_use);
}

/* Makes these rays and reads them: only its event reports that a kernel has failed while it ran. */
static slab_status make(device *d, const set_rays *of, const void *tables, gpu_buffer *made, slab_ray *rays) {
  const gpu_driver *driver = driver_of(d);
  gpu_event *launched = NULL;
  bool unused = false;
  slab_status status = gpu_enqueue_rays(d, of, tables, made, gpu_of(d)->queue, (gpu_order){.done = &launched}, &unused);
  if (status != SLAB_OK) return status;
  status = driver->wait(&launched, 1, "a set of rays");
  driver->release_event(launched);
  if (status != SLAB_OK) return status;
  return driver->read(gpu_of(d)->queue, made, 0, rays, of->count * sizeof *rays, true, (gpu_order){0}, "a set of rays");
}

slab_status gpu_make_rays(device *d, const set_rays *of, slab_ray *rays) {
  gpu_buffer *made = NULL;
  void *tables = NULL;
  set_rays some = *of;
  const size_t most = of->count < LAUNCH_MADE ? of->count : LAUNCH_MADE;
  slab_status status = gpu_open_tables(d, of, NULL, NULL, &tables);
  if (status == SLAB_OK)
    status = driver_of(d)->create(d, GPU_READ_WRITE, GPU_OWN, most * sizeof *rays, NULL, "a set of rays", &made);
  for (size_t done = 0; status == SLAB_OK && done < of->count; done += some.count) {
    some = set_part(of, done, of->count - done < most ? of->count - done : most);
    status = make(d, &some, tables, made, rays + done);
  }
  gpu_close_tables(d, tables);
  gpu_release_buffer(d, &made);
  return status;
}
