/* The devices a command works on. */
#ifndef SLABCAST_CLI_DEVICE_H
#define SLABCAST_CLI_DEVICE_H

#include "slabcast.h"

/* Opens what --device names (NULL: the library's choice). Returns an exit code, errors printed. */
int device_open(const char *selector, slab_context **context);
/* The same with all that a context can be told. */
int device_open_with(const slab_context_options *options, slab_context **context);

/* The names of all devices of a context, " + " between them, cut where they do not fit. */
void device_names(const slab_context *context, char *text, size_t size);

/* "CPU", "GPU" or "other". */
const char *device_type_name(slab_device_type type);

#endif
