/* Opens the devices of a driver, and closes them. */
#include "gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "gpu/program.h"
#include "gpu/staging.h"

/* PoCL compiles a kernel a second time for launches of at least this many work-items. */
#define SMALL_GRID 65536u

slab_status gpu_list(const backend *own, device_list *list) { return own->driver->list(own, list); }

/* Whether two devices are GPUs of one model and driver, which can run each other's binaries. */
static bool are_equal_gpus(const device *a, const device *b) {
  const slab_device_info *x = &a->info, *y = &b->info;
  if (a->backend != b->backend) return false;
  return x->type == SLAB_DEVICE_GPU && y->type == SLAB_DEVICE_GPU && gpu_of(a)->platform == gpu_of(b)->platform &&
         strcmp(x->name, y->name) == 0 && strcmp(x->vendor, y->vendor) == 0 && strcmp(x->driver, y->driver) == 0 &&
         strcmp(x->version, y->version) == 0;
}

slab_status gpu_prepare(slab_context *context, device *d, const found_device *found) {
  gpu_device *o = calloc(1, sizeof *o);
  if (o == NULL) return fail_memory(sizeof *o, "a device");
  d->opened = o;
  d->launch_items = SMALL_GRID - 1;
  o->driver = d->backend->driver;
  o->platform = found->platform;
  o->builder = d;
  os_condition_init(&o->built);
  for (uint32_t i = d->nth; i-- > 0;)
    if (are_equal_gpus(&context->devices[i], d)) o->builder = &context->devices[i];
  return SLAB_OK;
}

slab_status gpu_open(slab_context *context, device *d, const found_device *found) {
  const slab_status status = gpu_prepare(context, d, found);
  if (status != SLAB_OK) return status;
  gpu_of(d)->scene_in_place = d->in_place;
  return driver_of(d)->open(d, found);
}

/* In a forked process the driver's objects are not released: that may wait for threads that do not exist in this
 * process. The condition is not destroyed either, since such a thread may wait for it. */
void gpu_close(device *d) {
  gpu_device *o = gpu_of(d);
  if (o == NULL) return;
  staging_buffers_free_all(d, o->idle_buffers);
  programs_free(d, o->programs);
  driver_of(d)->close(d);
  if (!is_inherited(d)) os_condition_destroy(&o->built);
  free(o);
  d->opened = NULL;
}
