/* Shared by all fuzz targets. */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "program/io/errors.h"

/* libFuzzer calls a function without a state argument, so the state is static. */
static struct {
  unsigned complaints;
  int pipe_end;
  char file[64], pipe[64];
  const uint8_t *input;
  size_t input_size;
} shared;

void fuzz_input(const uint8_t *data, size_t size) {
  shared.input = data;
  shared.input_size = size;
}

static void leave_input(const char *path) {
  FILE *file = path ? fopen(path, "wb") : NULL;
  if (!file) return;
  fwrite(shared.input, 1, shared.input_size, file);
  fclose(file);
}

void claim_failed(const char *what, const char *file, int line) {
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
  leave_input(getenv("FUZZ_FINDING"));
  abort();
}

const char *fuzz_file(const uint8_t *data, size_t size) {
  static int fd = -1;
  if (fd < 0) {
    fd = memfd_create("fuzz", MFD_CLOEXEC);
    claim(fd >= 0);
    snprintf(shared.file, sizeof shared.file, "/proc/self/fd/%d", fd);
  }
  /* in this order the file keeps its pages between inputs */
  claim(pwrite(fd, data, size, 0) == (ssize_t)size && ftruncate(fd, (off_t)size) == 0);
  return shared.file;
}

const char *fuzz_pipe(const uint8_t *data, size_t size) {
  int ends[2];
  if (shared.pipe_end > 0) close(shared.pipe_end);
  claim(size <= FUZZ_PIPE_MAX && pipe(ends) == 0);
  claim(write(ends[1], data, size) == (ssize_t)size);
  close(ends[1]);
  shared.pipe_end = ends[0];
  snprintf(shared.pipe, sizeof shared.pipe, "/proc/self/fd/%d", ends[0]);
  return shared.pipe;
}

unsigned fuzz_complaints(void) { return shared.complaints; }

/* Replaces the program's complain(): formats the text as that does, and prints nothing. */
void complain(const char *format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  claim(vsnprintf(text, sizeof text, format, arguments) > 0);
  va_end(arguments);
  shared.complaints++;
}
