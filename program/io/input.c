#include "program/io/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/process.h"
#include "program/io/errors.h"
#include "program/os/file.h"

/* Hints are given for this many bytes at a time. */
#define WINDOW ((size_t)1 << 25)

static int fail(const input *in, int failure) {
  complain("cannot read %s: %s", in->name, strerror(failure));
  return -1;
}

/* The number of bytes from the current position on, if it is known. */
static uint64_t size_of(int fd, const os_facts *file) {
  const int64_t here = os_place(fd);
  if (file->kind != OS_FILE || here < 0) return INPUT_UNKNOWN;
  return file->size > (uint64_t)here ? file->size - (uint64_t)here : 0;
}

int input_open(input *in, const char *path) {
  os_facts file;
  const int from_stdin = !strcmp(path, "-");
  *in = (input){.fd = -1, .name = from_stdin ? "standard input" : path};
  in->fd = from_stdin ? os_stream_file(OS_STDIN) : os_open_to_read(path);
  if (in->fd < 0 || os_facts_of_file(in->fd, &file)) {
    fail(in, errno);
    goto failed;
  }
  if (file.kind == OS_FOLDER) {
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
  if (in->fd >= 0) os_close(in->fd);
  free(in->buffer);
  in->fd = -1;
  in->buffer = NULL;
}

static int is_large(uint64_t size) {
  const uint64_t memory = os_memory();
  return memory > 0 && size > memory / 4;
}

/* Data that was read is dropped from memory if the whole file would take more than a quarter of it. Such a file could
 * not stay for another run, and would evict pages that are needed. */
static void forget(input *in, size_t got) {
  in->held += got;
  if (in->held < WINDOW || !is_large(in->size)) return;
  os_cache_forget(in->fd, in->held);
  in->held = 0;
}

/* Reads once; returns 0 at the end. The thread may be interrupted here, because the writer of a pipe may take any time.
 */
static int64_t read_some(input *in, void *bytes, size_t size) {
  const int64_t got = os_read(in->fd, bytes, size);
  if (got < 0) fail(in, errno);
  if (got > 0 && in->size != INPUT_UNKNOWN) forget(in, (size_t)got);
  return got;
}

int input_fill(input *in, size_t wanted) {
  if (in->end - in->begin >= wanted) return 0;
  memmove(in->buffer, in->buffer + in->begin, in->end - in->begin);
  in->end -= in->begin;
  in->begin = 0;
  while (in->end < wanted) {
    const int64_t got = read_some(in, in->buffer + in->end, INPUT_BUFFER - in->end);
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
    const int64_t more = read_some(in, (char *)bytes + done, size - done);
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
    if (os_skip(in->fd, size)) return fail(in, errno);
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
