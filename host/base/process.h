/* Detects forked processes. fork() copies no threads. In the child, what OpenCL drivers had begun waits for missing
 * threads for ever. The pool starts its own again (pool.h). */
#ifndef SLABCAST_PROCESS_H
#define SLABCAST_PROCESS_H

#include <stdbool.h>

#include "slabcast.h"

/* Whether this process was forked from one that had used OpenCL through the library. */
bool process_is_forked(void);
/* Returns SLAB_INVALID_STATE in such a process. Called before anything that uses a driver. */
slab_status process_check(const char *function);
/* The same, and records that this process uses OpenCL from now on. Called before its first call to a driver. */
slab_status process_begin(const char *function);

#endif
