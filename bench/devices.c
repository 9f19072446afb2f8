#include "devices.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_processor(const slab_device_info *device) {
  return strcmp(device->platform, SLAB_PROCESSOR_PLATFORM) == 0;
}

int devices_default(char selectors[DEVICES_DEFAULT][DEVICE_SELECTOR]) {
  slab_device_info list[16];
  size_t count = 0, processors = 0, opencl = 0;
  snprintf(selectors[0], DEVICE_SELECTOR, "cpu");
  if (slab_devices(list, sizeof list / sizeof *list, &count) != SLAB_OK) return 1;
  if (count > sizeof list / sizeof *list) count = sizeof list / sizeof *list;
  for (size_t i = 0; i < count; i++) processors += is_processor(&list[i]);
  while (opencl < count && (is_processor(&list[opencl]) || list[opencl].type != SLAB_DEVICE_CPU)) opencl++;
  if (processors == 0 || opencl == count) return 1;
  snprintf(selectors[1], DEVICE_SELECTOR, "%zu", opencl);
  return 2;
}

uint32_t devices_threads(const slab_device_info *device) {
  slab_device_info list[16];
  size_t count = 0;
  if (device->type == SLAB_DEVICE_CPU || slab_devices(list, sizeof list / sizeof *list, &count) != SLAB_OK)
    return device->compute_units;
  for (size_t i = 0; i < count && i < sizeof list / sizeof *list; i++)
    if (list[i].type == SLAB_DEVICE_CPU) return list[i].compute_units;
  return 1;
}
