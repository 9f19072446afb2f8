/* The calling thread's message, and failures that record one. */
#ifndef SLABCAST_BASE_STATUS_H
#define SLABCAST_BASE_STATUS_H

#include "base/formatted.h"
#include "slabcast.h"

void status_record(const char *format, ...) FORMATTED(1, 2);
/* Records the message. The value is the status, which is visible to compilers and analysers. */
#define fail(status, ...) (status_record(__VA_ARGS__), (slab_status)(status))
/* fail for host memory. */
#define fail_memory(bytes, purpose) \
  fail(SLAB_OUT_OF_MEMORY, "no %zu bytes of host memory for %s", (size_t)(bytes), purpose)

#endif
