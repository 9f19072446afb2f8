#define _GNU_SOURCE /* sync_file_range */
#include "page_cache.h"

#include <fcntl.h>
#include <unistd.h>

#ifdef __linux__

/* Bytes sent at a time, and how many such windows are in flight before the first is waited for. */
enum { WINDOW = 1 << 25, AHEAD = 4 };

void page_cache_write(int fd, uint64_t size, uint64_t *sent) {
  const unsigned wait = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  for (; size >= *sent + WINDOW; *sent += WINDOW) {
    sync_file_range(fd, (off_t)*sent, WINDOW, SYNC_FILE_RANGE_WRITE);
    if (*sent < (uint64_t)AHEAD * WINDOW) continue;
    const off_t behind = (off_t)(*sent - (uint64_t)AHEAD * WINDOW);
    if (sync_file_range(fd, behind, WINDOW, wait) == 0) posix_fadvise(fd, behind, WINDOW, POSIX_FADV_DONTNEED);
  }
}

static int is_large(uint64_t size) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 && size / (uint64_t)page > (uint64_t)pages / 4;
}

void page_cache_read(int fd, uint64_t size, size_t got, uint64_t *held) {
  *held += got;
  if (*held < WINDOW || !is_large(size)) return;
  const off_t here = lseek(fd, 0, SEEK_CUR);
  if (here >= (off_t)*held) posix_fadvise(fd, here - (off_t)*held, (off_t)*held, POSIX_FADV_DONTNEED);
  *held = 0;
}

#else

void page_cache_write(int fd, uint64_t size, uint64_t *sent) {
  (void)fd;
  *sent = size;
}

void page_cache_read(int fd, uint64_t size, size_t got, uint64_t *held) {
  (void)fd;
  (void)size;
  *held += got;
}

#endif
