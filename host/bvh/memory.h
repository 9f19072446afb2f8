/* Large allocations of the builder. Most are written once from end to end. */
#ifndef SLABCAST_BVH_MEMORY_H
#define SLABCAST_BVH_MEMORY_H

#include <stddef.h>

/* Uninitialised memory; NULL when it cannot be allocated. The caller calls os_free() (os/memory.h). */
void *bvh_allocate(size_t count, size_t size);

/* The same from `bytes` of memory that are not needed any more, where these are enough: pages that were written need
 * not be cleared again. Memory beyond the need is given back. Takes over `used`, which may be NULL. */
void *bvh_reuse(void *used, size_t bytes, size_t count, size_t size);

#endif
