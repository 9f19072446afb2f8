/* Contexts: opening devices and closing them. */
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/process.h"
#include "base/status.h"
#include "device/backend.h"
#include "device/context.h"
#include "device/tuning.h"
#include "os/thread.h"
#include "record/device.h"

/* ---- opening ---- */

static bool is_lane_width(uint32_t lanes) { return lanes == 0 || lanes == 1 || lanes == 8 || lanes == 16; }

slab_status context_check(const slab_context_options *options, slab_context **context, const char *function) {
  if (context == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: context is NULL", function);
  if (!is_lane_width(options->lane_width))
    return fail(SLAB_INVALID_ARGUMENT, "%s: lane_width is %u, not 0, 1, 8 or 16", function, options->lane_width);
  if ((unsigned)options->traversal > SLAB_TRAVERSAL_SORTED)
    return fail(SLAB_INVALID_ARGUMENT, "%s: traversal is %d, not a slab_traversal", function, (int)options->traversal);
  if ((unsigned)options->layout > SLAB_LAYOUT_COMPRESSED)
    return fail(SLAB_INVALID_ARGUMENT, "%s: layout is %d, not a slab_layout", function, (int)options->layout);
  return SLAB_OK;
}

slab_status context_allocate(size_t devices, slab_context **context) {
  const size_t size = sizeof **context + devices * sizeof *(*context)->devices;
  *context = calloc(1, size);
  if (*context == NULL) return fail_memory(size, "a context");
  atomic_init(&(*context)->references, 1);
  os_mutex_init(&(*context)->memories.lock);
  return SLAB_OK;
}

static slab_status device_configure(device *d, const slab_context_options *options) {
  if (!d->info.rounds_to_nearest)
    return fail(SLAB_UNSUPPORTED, "device \"%s\" does not round to nearest, so its answers would differ", d->info.name);
  if (options->lane_width != 0) d->info.lane_width = options->lane_width;
  d->in_place = d->info.type == SLAB_DEVICE_CPU && options->copy == 0;
  d->launch_rays = options->launch_rays;
  d->traversal = options->traversal;
  d->tuning = tuning_of(options->layout == SLAB_LAYOUT_COMPRESSED ? SLAB_DEVICE_GPU : d->info.type);
  return SLAB_OK;
}

slab_status context_add(slab_context *context, const found_device *found, const slab_context_options *options) {
  device *d = &context->devices[context->device_count];
  d->nth = context->device_count++;
  d->process = process_number();
  d->backend = found->backend;
  d->info = found->info;
  os_mutex_init(&d->lock);
  return device_configure(d, options);
}

static void device_close(device *d) {
  d->backend->close(d);
  batch_keeper_end(&d->kept);
  if (!is_inherited(d)) os_mutex_destroy(&d->lock); /* else a thread that is not here may hold it */
}

void context_drop_last(slab_context *context) {
  device *last = &context->devices[--context->device_count];
  device_close(last);
  memset(last, 0, sizeof *last);
}

/* The layout is the same for all devices, since a BVH is built once. */
static slab_layout layout_for(const slab_context *context, const slab_context_options *options) {
  if (options->layout != SLAB_LAYOUT_DEFAULT) return options->layout;
  for (uint32_t i = 0; i < context->device_count; i++)
    if (context->devices[i].info.type == SLAB_DEVICE_CPU) return SLAB_LAYOUT_WIDE;
  return SLAB_LAYOUT_COMPRESSED;
}

slab_status context_finish(slab_status status, const slab_context_options *options, slab_context *created,
                           slab_context **context) {
  if (status == SLAB_OK) {
    created->layout = layout_for(created, options);
    created->threads = options->threads;
  }
  if (status == SLAB_OK)
    *context = created;
  else
    context_release(created);
  return status;
}

slab_status context_check_process(const slab_context *context, const char *function) {
  return process_check(function, context->devices[0].process);
}

void context_retain(slab_context *context) { atomic_fetch_add(&context->references, 1); }

void context_release(slab_context *context) {
  if (context == NULL || atomic_fetch_sub(&context->references, 1) != 1) return;
  for (uint32_t i = 0; i < context->device_count; i++) device_close(&context->devices[i]);
  os_mutex_destroy(&context->memories.lock);
  free(context);
}

void slab_context_destroy(slab_context *context) { context_release(context); }

slab_status slab_context_device(const slab_context *context, slab_device_info *info) {
  if (context == NULL || info == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_context_device: %s is NULL", context == NULL ? "context" : "info");
  *info = context->devices[0].info;
  return SLAB_OK;
}

slab_status slab_context_devices(const slab_context *context, slab_device_info *list, size_t capacity, size_t *count) {
  if (context == NULL || count == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_context_devices: %s is NULL", context == NULL ? "context" : "count");
  if (list == NULL && capacity > 0) return fail(SLAB_INVALID_ARGUMENT, "slab_context_devices: list is NULL");
  *count = context->device_count;
  for (size_t i = 0; i < capacity && i < *count; i++) list[i] = context->devices[i].info;
  return SLAB_OK;
}
