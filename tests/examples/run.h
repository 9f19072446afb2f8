/* An example run within a test: its source is included with another name for main. */
#ifndef EXAMPLE_RUN_H
#define EXAMPLE_RUN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

/* Runs main with these arguments, the first of which is the name; it has to return `status`. The stream has the text
 * that it printed; the caller closes it. */
static inline FILE *run_example(int (*main)(int, char **), int status, char **arguments) {
  FILE *printed = tmpfile();
  int n = 0;
  while (arguments[n]) n++;
  fflush(stdout);
  const int kept = dup(STDOUT_FILENO);
  assert_true(printed && kept >= 0 && dup2(fileno(printed), STDOUT_FILENO) >= 0);
  const int got = main(n, arguments);
  fflush(stdout);
  assert_true(dup2(kept, STDOUT_FILENO) >= 0 && !close(kept));
  assert_int_equal(got, status);
  rewind(printed);
  return printed;
}

/* Makes a file that is empty; `name` ends with XXXXXX, which are replaced. */
static inline char *empty_file(char *name) {
  const int file = mkstemp(name);
  assert_true(file >= 0 && !close(file));
  return name;
}

/* The pixels of a picture of this size, which the caller frees. */
static inline uint8_t *read_picture(const char *path, int width, int height) {
  FILE *file = fopen(path, "rb");
  int got[2] = {0, 0};
  uint8_t *pixels = harness_space(3 * (size_t)width * (size_t)height);
  assert_non_null(file);
  assert_int_equal(fscanf(file, "P6 %d %d 255", &got[0], &got[1]), 2);
  assert_true(got[0] == width && got[1] == height && fgetc(file) == '\n');
  assert_int_equal(fread(pixels, 3, (size_t)width * (size_t)height, file), (size_t)width * (size_t)height);
  assert_int_equal(fgetc(file), EOF);
  fclose(file);
  return pixels;
}

#endif
