/* Memory that begins where caches and pages do. os_free() releases it, and free() does not. */
#ifndef SLABCAST_OS_MEMORY_H
#define SLABCAST_OS_MEMORY_H

#include <stddef.h>

enum { OS_CACHE_LINE = 64 };

/* At the begin of a cache line. NULL: memory is short. */
void *os_allocate_lines(size_t bytes);
/* `count` pieces of `page` bytes, a power of two, at an address that is a multiple of it; in pages of that size where
 * the system has some. NULL: memory is short. */
void *os_allocate_pages(size_t page, size_t count);
/* Gives back all but the first `bytes`, where the system can. NULL: memory is short, and nothing is released. */
void *os_shrink(void *memory, size_t bytes);
void os_free(void *memory);

#endif
