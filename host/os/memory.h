/* Memory in large pages. */
#ifndef SLABCAST_OS_MEMORY_H
#define SLABCAST_OS_MEMORY_H

#include <stddef.h>

/* `count` pieces of `page` bytes, a power of two, at an address that is a multiple of it; in pages of that size where
 * the system has some. The caller calls free(). NULL: memory is short. */
void *os_allocate_pages(size_t page, size_t count);

#endif
