/* Clocks. */
#ifndef SLABCAST_OS_CLOCK_H
#define SLABCAST_OS_CLOCK_H

/* Seconds of the monotonic clock. */
double seconds_now(void);
/* Seconds of processor time: the calling thread's, and that of all threads of the process. 0: the system does not
 * report it. */
double seconds_of_thread(void);
double seconds_of_process(void);

/* Waits for so long, or longer. */
void os_sleep(double seconds);

#endif
