#include "bvh/memory.h"

#include <stdint.h>

#include "os/memory.h"

#define LARGE_PAGE ((size_t)1 << 21)
#define LARGE_LEAST (LARGE_PAGE / 2)

/* Requests huge pages. The memory is written once, so its cost is mostly page faults: with small pages a quarter of the
 * whole build time (measured). Smaller arrays begin a cache line, so that no row of a block is in two. With malloc
 * every second array had rows of 32 bytes in two lines. Casts at few primitives then took 1.15 to 1.2 times as long. */
void *bvh_allocate(size_t count, size_t size) {
  if (count > SIZE_MAX / 2 / size) return NULL;
  const size_t bytes = count * size, pages = (bytes + LARGE_PAGE - 1) / LARGE_PAGE;
  if (bytes < LARGE_LEAST) return os_allocate_lines(bytes > 0 ? bytes : 1);
  return os_allocate_pages(LARGE_PAGE, pages);
}

void *bvh_reuse(void *used, size_t bytes, size_t count, size_t size) {
  if (used == NULL || count > bytes / size) {
    os_free(used);
    return bvh_allocate(count, size);
  }
  void *less = os_shrink(used, count > 0 ? count * size : 1);
  if (less == NULL) os_free(used);
  return less;
}
