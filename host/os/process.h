/* The machine, and what this process may use of it. */
#ifndef SLABCAST_OS_PROCESS_H
#define SLABCAST_OS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Processors that the calling thread may run on; those of the machine where the system knows no such thing. On macOS
 * only the fast ones count: a job waits for its slowest piece. */
long os_processors(void);
/* How many processors' time this process may use, where the system limits processes and not groups of them; infinite:
 * all. */
double os_quota(void);
/* Bytes of the machine's memory; 0: not known. */
uint64_t os_memory(void);
/* The system's name of the machine's kind of processor, such as aarch64; empty: not known. */
void os_machine(char *name, size_t size);
/* Whether there is a file, or a device, by this name. */
bool os_has_file(const char *name);
/* A text file, to be read; no process that is started inherits it. NULL: it is not there. */
FILE *os_open_text(const char *name);

#endif
