/* Detects forked processes. fork() copies no threads. In the child, work that OpenCL drivers had begun waits for
 * missing threads for ever. So do contexts that were opened before the fork. */
#ifndef SLABCAST_BASE_PROCESS_H
#define SLABCAST_BASE_PROCESS_H

#include <stdint.h>

#include "slabcast.h"

/* Watches for forks from now on. Called before anything is opened. */
slab_status process_begin(const char *function);
/* The number of forks since, in this process and those that it descends from. Each context keeps the number at its
 * opening. */
uint32_t process_number(void);
/* Returns SLAB_INVALID_STATE where `opened`, the number that a context keeps, is another process's. */
slab_status process_check(const char *function, uint32_t opened);

/* This process uses OpenCL or CUDA from now on. */
void process_uses_drivers(void);
/* Returns SLAB_INVALID_STATE where a process that had used one of them forked this one. Called before a driver is. */
slab_status process_check_drivers(const char *function);

#endif
