#include "gpu/update.h"

#include "device/context.h"

slab_status update_read(const device *d, gpu_queue *queue, gpu_buffer *from, size_t at, void *bytes, size_t size,
                        gpu_order order, const char *what) {
  return driver_of(d)->read(queue, from, at, bytes, size, true, order, what);
}

/* Bounds that a device makes must hold subnormal numbers, too. */
bool update_stays_there(const slab_context *context) {
  return context->device_count == 1 && context->layout == SLAB_LAYOUT_COMPRESSED && context->devices[0].info.denormals;
}

void update_drop_copy(const device *d, void *copy) {
  gpu_buffer *buffer = copy;
  if (!is_inherited(d)) gpu_release_buffer(d, &buffer);
}

/* Copies rows, and waits: only the wait reports a failure while they run. */
static slab_status copy_rows(const device *d, gpu_queue *queue, gpu_rows from, gpu_rows to, size_t size, size_t count) {
  const gpu_driver *driver = driver_of(d);
  gpu_event *copied = NULL;
  slab_status status = driver->copy(queue, from, to, size, count, (gpu_order){.done = &copied}, "vertices");
  if (status != SLAB_OK) return status;
  status = driver->wait(&copied, 1, "vertices");
  driver->release_event(copied);
  return status;
}

slab_status update_keep_vertices(const device *d, gpu_queue *queue, gpu_rows from, uint32_t count, device_copy *copy) {
  const size_t each = 3 * sizeof(float);
  gpu_buffer *buffer = NULL;
  slab_status status = driver_of(d)->create(d, GPU_READ_WRITE, GPU_OWN, count * each, NULL, "vertices", &buffer);
  if (status != SLAB_OK) return status;
  status = copy_rows(d, queue, from, (gpu_rows){buffer, 0, each}, each, count);
  if (status == SLAB_OK)
    *copy = (device_copy){d, buffer, update_drop_copy};
  else
    gpu_release_buffer(d, &buffer);
  return status;
}
