/* How the program is interrupted, and its pipes and threads. */
#ifndef PROGRAM_OS_INTERRUPT_H
#define PROGRAM_OS_INTERRUPT_H

#include <stdbool.h>

#include "os/thread.h"

/* ---- interruptions and broken pipes ---- */

/* Calls `act` when a user or the system ends the program, and then lets it end. `act` runs in the handler, where it may
 * call only os_say, os_remove and os_sleep, and not in a child process. Interruptions that were ignored at the start
 * stay so. */
void os_on_interruption(void (*act)(void));
/* From now on writing beyond a limit of the size of files is an error of the call. */
void os_fail_beyond_limits(void);
/* The same for writing to a pipe that has no reader any more. */
void os_fail_without_readers(void);
/* Whether errno is of such a pipe, and os_fail_without_readers has changed something: then the program is to end as
 * others do, without a message. */
bool os_lacks_reader(void);
/* Ends the program that way, once the calling thread takes signals. */
void os_end_without_reader(void);

/* ---- a thread that may be interrupted where it waits for bytes ---- */

/* The calling thread is one, from its begin on. */
void os_reader_begin(void);
/* Ends it where it is in os_read, or when it gets there. It is joined as any other. */
void os_reader_interrupt(os_thread);

#endif
