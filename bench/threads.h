/* One function on several threads at once. */
#ifndef SLABCAST_BENCH_THREADS_H
#define SLABCAST_BENCH_THREADS_H

#include <stdint.h>

enum { THREADS_MAX = 1024 };

/* Calls it `count` times, the caller's thread among them, and waits for all; fewer where the system refuses threads:
 * then false, though all work that is handed out by the function itself was done. */
int threads_run(uint32_t count, void (*function)(void *), void *argument);

#endif
