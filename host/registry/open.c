/* Opens a context on the devices that a selector names. */
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/process.h"
#include "base/status.h"
#include "device/backend.h"
#include "device/context.h"
#include "registry/device_list.h"

static slab_status context_open_one(slab_context *context, const found_device *found,
                                    const slab_context_options *options) {
  slab_status status = context_add(context, found, options);
  device *d = &context->devices[context->device_count - 1];
  return status == SLAB_OK ? d->backend->open(context, d, found) : status;
}

/* Opens the chosen devices. With "all", a device that cannot keep the contract is skipped unless no other one is left.
 */
static slab_status context_open(slab_context *context, const found_device *chosen, size_t count,
                                const slab_context_options *options) {
  const bool all = options->device != NULL && strcmp(options->device, "all") == 0;
  slab_status status = SLAB_OK;
  for (size_t i = 0; status == SLAB_OK && i < count; i++) {
    status = context_open_one(context, &chosen[i], options);
    if (status != SLAB_UNSUPPORTED || !all || (context->device_count == 1 && i + 1 == count)) continue;
    context_drop_last(context);
    status = SLAB_OK;
  }
  return status;
}

/* Where a device has kernels of the compressed layout alone, all have it. */
static slab_status settle_layout(const found_device *chosen, size_t count, slab_context_options *options) {
  for (size_t i = 0; i < count; i++) {
    if (!chosen[i].backend->compressed_alone) continue;
    if (options->layout == SLAB_LAYOUT_WIDE)
      return fail(SLAB_UNSUPPORTED, "\"%s\" has no kernels of SLAB_LAYOUT_WIDE by CUDA; by OpenCL it has",
                  chosen[i].info.name);
    options->layout = SLAB_LAYOUT_COMPRESSED;
  }
  return SLAB_OK;
}

slab_status slab_context_create(const slab_context_options *asked, slab_context **context) {
  slab_context_options settled = asked != NULL ? *asked : (slab_context_options){0};
  slab_context_options *options = &settled;
  slab_status status = context_check(options, context, "slab_context_create");
  if (status == SLAB_OK) status = process_begin("slab_context_create");
  if (status != SLAB_OK) return status;
  ARITHMETIC callers = arithmetic_begin(); /* threads that the driver starts inherit it */
  found_device *chosen = NULL;
  size_t count = 0;
  slab_context *created = NULL;
  status = device_list_choose(options->device, &chosen, &count);
  if (status == SLAB_OK) status = settle_layout(chosen, count, options);
  if (status == SLAB_OK) status = context_allocate(count, &created);
  if (status == SLAB_OK) status = context_open(created, chosen, count, options);
  free(chosen);
  return context_finish(status, options, created, context);
}
