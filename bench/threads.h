/* Runs one function on several threads at once. */
#ifndef SLABCAST_BENCH_THREADS_H
#define SLABCAST_BENCH_THREADS_H

#include <stdint.h>

enum { THREADS_MAX = 1024 };

/* Calls the function `count` times, once on the caller's thread, and waits for all. Where the system refuses threads,
 * makes fewer calls and returns false. If the function itself distributes its work, all work is done also then. */
int threads_run(uint32_t count, void (*function)(void *), void *argument);

#endif
