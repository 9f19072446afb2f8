#include "device.h"

#include <stdio.h>

#include "cli.h"
#include "io/progress.h"
#include "options.h"

int device_open_with(const slab_context_options *options, slab_context **context) {
  progress line = progress_begin("opening", "devices", 0, 0);
  progress_await(&line,
                 options->device ? options->device : "OpenCL"); /* opening a device runs a kernel that probes it */
  const slab_status status = slab_context_create(options, context);
  progress_end(&line);
  if (status == SLAB_OK) return EXIT_DONE;
  char what[160] = "opening a device";
  if (options->device) snprintf(what, sizeof what, "--device %s", options->device);
  return complain_status(status, what);
}

int device_open(const char *selector, slab_context **context) {
  const slab_context_options options = {.device = selector};
  return device_open_with(&options, context);
}

void device_names(const slab_context *context, char *text, size_t size) {
  slab_device_info list[8];
  size_t count = 0, used = 0;
  if (slab_context_devices(context, list, COUNT_OF(list), &count) != SLAB_OK) return;
  for (size_t i = 0; i < count && i < COUNT_OF(list) && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : " + ", list[i].name);
}

const char *device_type_name(slab_device_type type) {
  return type == SLAB_DEVICE_CPU ? "CPU" : type == SLAB_DEVICE_GPU ? "GPU" : "other";
}
