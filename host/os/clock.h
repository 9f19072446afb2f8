/* Clocks. */
#ifndef SLABCAST_OS_CLOCK_H
#define SLABCAST_OS_CLOCK_H

#include <time.h>

/* Seconds of one of the system's clocks; 0 where it has none. */
static inline double os_seconds(clockid_t clock) {
  struct timespec now;
  return clock_gettime(clock, &now) == 0 ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec : 0.0;
}

/* Of the monotonic clock. */
static inline double seconds_now(void) { return os_seconds(CLOCK_MONOTONIC); }
/* Of processor time: the calling thread's, and that of all threads of the process. 0: the system does not tell. */
static inline double seconds_of_thread(void) { return os_seconds(CLOCK_THREAD_CPUTIME_ID); }
static inline double seconds_of_process(void) { return os_seconds(CLOCK_PROCESS_CPUTIME_ID); }

/* Waits for so long, or longer. */
void os_sleep(double seconds);

#endif
