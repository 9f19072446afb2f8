/* The machine, and what this process may use of it. */
#ifndef SLABCAST_OS_PROCESS_H
#define SLABCAST_OS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Processors that the calling thread may run on; those of the machine where the system knows no such thing. */
long os_processors(void);
/* Bytes of the machine's memory; 0: not known. */
uint64_t os_memory(void);
/* The system's name of the machine's kind of processor, such as aarch64; empty: not known. */
void os_machine(char *name, size_t size);
/* Whether there is a file, or a device, by this name. */
bool os_has_file(const char *name);

#endif
