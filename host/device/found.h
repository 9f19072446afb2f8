/* Devices that the backends have found. */
#ifndef SLABCAST_DEVICE_FOUND_H
#define SLABCAST_DEVICE_FOUND_H

#include "record/device.h"
#include "slabcast.h"

#define UUID_SIZE 16

typedef struct found_device {
  const backend *backend;
  void *platform, *id;           /* the backend's handles; NULL: it has none */
  int ordinal;                   /* the backend's number of it */
  unsigned char uuid[UUID_SIZE]; /* the same from every driver; all 0: not known */
  slab_device_info info;
} found_device;

/* The devices, in the order that selectors count them. A device that cannot be described is left out everywhere, so
 * that an index names the same device in every call. */
typedef struct device_list {
  found_device *devices; /* malloc'ed */
  size_t count;
  char refused[192]; /* why the last device was left out; "": none was */
} device_list;

/* Makes space for n more devices. */
slab_status device_list_reserve(device_list *, size_t n);

#endif
