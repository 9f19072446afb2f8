/* Opens the devices that a command uses. */
#ifndef SLABCAST_PROGRAM_COMMON_DEVICE_H
#define SLABCAST_PROGRAM_COMMON_DEVICE_H

#include <stdbool.h>

#include "slabcast.h"

/* Opens the devices that --device names (NULL: the library's choice). Returns an exit code, errors printed. */
int device_open(const char *selector, uint64_t threads, slab_context **context);
/* The same with all options of a context. */
int device_open_with(const slab_context_options *options, slab_context **context);

/* The names of all devices of a context, separated by " + ", cut at `size`. */
void device_names(const slab_context *context, char *text, size_t size);

/* Whether it is a card by NVIDIA's own driver. */
bool device_is_cudas(const slab_device_info *);

/* "CPU", "GPU" or "other". */
const char *device_type_name(slab_device_type type);

#endif
