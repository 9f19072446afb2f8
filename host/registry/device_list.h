/* Lists the devices of every backend, and finds those that a selector names. */
#ifndef SLABCAST_REGISTRY_DEVICE_LIST_H
#define SLABCAST_REGISTRY_DEVICE_LIST_H

#include "device/found.h"

/* The devices that a selector names. *chosen is malloc'ed, and NULL on failure. */
slab_status device_list_choose(const char *selector, found_device **chosen, size_t *n);

#endif
