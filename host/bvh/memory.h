/* Large allocations of the builder. Most are written once from end to end. */
#ifndef SLABCAST_TREE_MEMORY_H
#define SLABCAST_TREE_MEMORY_H

#include <stddef.h>

/* Uninitialised memory; NULL when it cannot be allocated. The caller calls free(). */
void *bvh_allocate(size_t count, size_t size);

#endif
