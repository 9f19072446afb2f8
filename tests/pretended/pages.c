#define _DEFAULT_SOURCE
#include "pages.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "police.h"

/* The contents of memory in which nothing was written: as floats NaN, as indices far too large. */
enum { NOTHING = 0xFF, ALIGNED = 4 }; /* ALIGNED: bytes; kernels read words */

bool pages_take(pages *p, size_t size) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  *p = (pages){.size = (size + page - 1) / page * page};
  p->mapped = mmap(NULL, p->size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p->mapped == MAP_FAILED) return false;
  p->bytes = (unsigned char *)p->mapped + (p->size - (size + ALIGNED - 1) / ALIGNED * ALIGNED);
  POLICE(mprotect((char *)p->mapped + p->size, page, PROT_NONE) == 0, "a page cannot be protected");
  memset(p->mapped, NOTHING, p->size);
  return true;
}

void pages_give_back(pages *p) { munmap(p->mapped, p->size + (size_t)sysconf(_SC_PAGESIZE)); }

void pages_protect(pages *p, bool readonly) {
  if (p->readonly == readonly) return;
  p->readonly = readonly;
  POLICE(mprotect(p->mapped, p->size, readonly ? PROT_READ : PROT_READ | PROT_WRITE) == 0,
         "memory cannot be protected");
}
