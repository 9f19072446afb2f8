/* Large memory of the builder. Written once from end to end, it costs mostly page faults: a quarter of the whole build
 * with small pages (measured), so the system is asked for large ones. */
#define _DEFAULT_SOURCE /* madvise */
#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "parts.h"

#define LARGE_PAGE ((size_t)1 << 21)

void *tree_allocate(size_t count, size_t size) {
  if (count > SIZE_MAX / 2 / size) return NULL;
  const size_t bytes = count * size;
  if (bytes < 2 * LARGE_PAGE) return malloc(bytes > 0 ? bytes : 1);
  void *memory = aligned_alloc(LARGE_PAGE, (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
#ifdef MADV_HUGEPAGE
  if (memory) madvise(memory, bytes, MADV_HUGEPAGE); /* a hint: nothing depends on it */
#endif
  return memory;
}
