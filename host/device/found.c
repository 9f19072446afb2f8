#include "device/found.h"

#include <stdlib.h>

#include "base/status.h"

slab_status device_list_reserve(device_list *list, size_t n) {
  const size_t size = (list->count + n) * sizeof *list->devices;
  found_device *grown = realloc(list->devices, size);
  if (grown == NULL) return fail_memory(size, "the device list");
  list->devices = grown;
  return SLAB_OK;
}
