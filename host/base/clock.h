/* The clock of library and program. */
#ifndef SLABCAST_BASE_CLOCK_H
#define SLABCAST_BASE_CLOCK_H

#include <time.h>

/* Seconds of the monotonic clock. */
static inline double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
