#include "devices.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_processor(const slab_device_info *device) {
  return strcmp(device->platform, SLAB_PROCESSOR_PLATFORM) == 0;
}

enum { LISTED = 16 };

/* The first devices; returns how many, 0 where they cannot be listed. */
static size_t devices_list(slab_device_info list[LISTED]) {
  size_t count = 0;
  if (slab_devices(list, LISTED, &count) != SLAB_OK) return 0;
  return count < LISTED ? count : LISTED;
}

int devices_default(char selectors[DEVICES_DEFAULT][DEVICE_SELECTOR]) {
  slab_device_info list[LISTED];
  size_t processors = 0, opencl = 0;
  const size_t count = devices_list(list);
  snprintf(selectors[0], DEVICE_SELECTOR, "cpu");
  for (size_t i = 0; i < count; i++) processors += is_processor(&list[i]);
  while (opencl < count && (is_processor(&list[opencl]) || list[opencl].type != SLAB_DEVICE_CPU)) opencl++;
  if (processors == 0 || opencl == count) return 1;
  snprintf(selectors[1], DEVICE_SELECTOR, "%zu", opencl);
  return 2;
}

uint32_t devices_threads(const slab_device_info *device) {
  slab_device_info list[LISTED];
  if (device->type == SLAB_DEVICE_CPU) return device->compute_units;
  const size_t count = devices_list(list);
  for (size_t i = 0; i < count; i++)
    if (list[i].type == SLAB_DEVICE_CPU) return list[i].compute_units;
  return 1;
}
