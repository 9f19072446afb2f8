#include "program/io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/io/errors.h"

static int fail(const input *in, int failure) {
  complain("cannot read %s: %s", in->name, strerror(failure));
  return -1;
}

/* The number of bytes from the current position on, if it is known. */
static uint64_t size_of(int fd, const struct stat *file) {
  const off_t here = lseek(fd, 0, SEEK_CUR);
  if (!S_ISREG(file->st_mode) || here < 0) return INPUT_UNKNOWN;
  return file->st_size > here ? (uint64_t)(file->st_size - here) : 0;
}

int input_open(input *in, const char *path) {
  struct stat file;
  const int from_stdin = !strcmp(path, "-");
  *in = (input){.fd = -1, .name = from_stdin ? "standard input" : path};
  in->fd = from_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
  if (in->fd < 0 || fstat(in->fd, &file)) {
    fail(in, errno);
    goto failed;
  }
  if (S_ISDIR(file.st_mode)) {
    fail(in, EISDIR);
    goto failed;
  }
  in->size = size_of(in->fd, &file);
  in->buffer = malloc(INPUT_BUFFER + 1);
  if (in->buffer) return 0;
  fail(in, ENOMEM);
failed:
  input_close(in);
  return -1;
}

void input_close(input *in) {
  if (in->fd >= 0) close(in->fd);
  free(in->buffer);
  in->fd = -1;
  in->buffer = NULL;
}

#ifdef __linux__
/* Hints are given for this many bytes at a time. */
enum { WINDOW = 1 << 25 };

static int is_large(uint64_t size) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 && size / (uint64_t)page > (uint64_t)pages / 4;
}
#endif

/* A page-cache hint, which changes no byte: call it after `got` bytes were read. Data that was read is dropped from
 * memory if the whole file would take more than a quarter of it. Such a file could not stay for another run, and would
 * evict pages that are needed. */
static void page_cache_read(input *in, size_t got) {
  in->held += got;
#ifdef __linux__
  if (in->held < WINDOW || !is_large(in->size)) return;
  const off_t here = lseek(in->fd, 0, SEEK_CUR);
  if (here >= (off_t)in->held) posix_fadvise(in->fd, here - (off_t)in->held, (off_t)in->held, POSIX_FADV_DONTNEED);
  in->held = 0;
#endif
}

/* Reads once; returns 0 at the end. Only here may a thread of the program be cancelled while it waits, because the
 * writer of a pipe may take any time. */
static ssize_t read_some(input *in, void *bytes, size_t size) {
  ssize_t got;
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);
  do got = read(in->fd, bytes, size);
  while (got < 0 && errno == EINTR);
  pthread_setcancelstate(cancel, NULL);
  if (got < 0) fail(in, errno);
  if (got > 0 && in->size != INPUT_UNKNOWN) page_cache_read(in, (size_t)got);
  return got;
}

int input_fill(input *in, size_t wanted) {
  if (in->end - in->begin >= wanted) return 0;
  memmove(in->buffer, in->buffer + in->begin, in->end - in->begin);
  in->end -= in->begin;
  in->begin = 0;
  while (in->end < wanted) {
    const ssize_t got = read_some(in, in->buffer + in->end, INPUT_BUFFER - in->end);
    if (got < 0) return -1;
    if (got == 0) return 0;
    in->end += (size_t)got;
  }
  return 0;
}

static size_t take_buffered(input *in, void *bytes, size_t size) {
  const size_t held = in->end - in->begin, taken = held < size ? held : size;
  if (bytes && taken) memcpy(bytes, in->buffer + in->begin, taken);
  in->begin += taken;
  in->place += taken;
  return taken;
}

int input_read(input *in, void *bytes, size_t size, size_t *got) {
  size_t done = take_buffered(in, bytes, size);
  while (done < size) {
    const ssize_t more = read_some(in, (char *)bytes + done, size - done);
    if (more < 0) return -1;
    if (more == 0) break;
    done += (size_t)more;
    in->place += (uint64_t)more;
  }
  *got = done;
  return 0;
}

int input_skip(input *in, uint64_t size) {
  size -= take_buffered(in, NULL, size < INPUT_BUFFER ? (size_t)size : INPUT_BUFFER);
  if (size && in->size != INPUT_UNKNOWN && size <= INT64_MAX) {
    if (lseek(in->fd, (off_t)size, SEEK_CUR) < 0) return fail(in, errno);
    in->place += size;
    return 0;
  }
  while (size) {
    if (input_fill(in, 1)) return -1;
    if (in->end == in->begin) return 0;
    size -= take_buffered(in, NULL, size < INPUT_BUFFER ? (size_t)size : INPUT_BUFFER);
  }
  return 0;
}
