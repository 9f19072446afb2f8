/* Large memory of the builder, mostly written from end to end once. */
#ifndef SLABCAST_TREE_MEMORY_H
#define SLABCAST_TREE_MEMORY_H

#include <stddef.h>

/* Uninitialised; NULL when it cannot be had. For free(). */
void *bvh_allocate(size_t count, size_t size);

#endif
