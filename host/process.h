/* Forked processes: fork() copies no threads, and what OpenCL drivers and OpenMP had begun waits for theirs for ever.
 */
#ifndef SLABCAST_PROCESS_H
#define SLABCAST_PROCESS_H

#include <stdbool.h>

#include "slabcast.h"

/* Whether this process was forked from one that had used OpenCL through the library. */
bool process_is_forked(void);
/* SLAB_INVALID_STATE in such a process: before anything that asks a driver or starts OpenMP's threads. */
slab_status process_check(const char *function);
/* The same, and that this process uses OpenCL from now on: before its first question to a driver. */
slab_status process_begin(const char *function);

#endif
