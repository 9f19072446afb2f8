/* The processor's cache. */
#ifndef SLABCAST_BASE_CACHE_H
#define SLABCAST_BASE_CACHE_H

#include <stddef.h>

#include "os/memory.h"

/* Requests memory that will be written. The address may be beyond an array. */
static inline void cache_request(const void *at, size_t bytes) {
  for (size_t i = 0; i < bytes; i += OS_CACHE_LINE) __builtin_prefetch((const char *)at + i, 1);
}

#endif
