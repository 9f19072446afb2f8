#include "device.h"

#include <stdio.h>

#include "cli.h"

int device_open_with(const slab_context_options *options, slab_context **context) {
  const slab_status status = slab_context_create(options, context);
  if (status == SLAB_OK) return EXIT_DONE;
  char what[160] = "opening a device";
  if (options->device) snprintf(what, sizeof what, "--device %s", options->device);
  return complain_status(status, what);
}

int device_open(const char *selector, slab_context **context) {
  const slab_context_options options = {.device = selector};
  return device_open_with(&options, context);
}

const char *device_type_name(slab_device_type type) {
  return type == SLAB_DEVICE_CPU ? "CPU" : type == SLAB_DEVICE_GPU ? "GPU" : "other";
}
