/* Sequential buffered reader of a file or pipe. It maps no part of the file. */
#ifndef SLABCAST_PROGRAM_IO_INPUT_H
#define SLABCAST_PROGRAM_IO_INPUT_H

#include <stddef.h>
#include <stdint.h>

#define INPUT_UNKNOWN UINT64_MAX
#ifndef INPUT_BUFFER_BYTES /* fuzzing defines a small buffer, so that small inputs reach its end */
#define INPUT_BUFFER_BYTES (1 << 18)
#endif
enum { INPUT_BUFFER = INPUT_BUFFER_BYTES };

typedef struct input {
  int fd;
  const char *name;  /* for messages; the path must outlive the input */
  char *buffer;      /* INPUT_BUFFER bytes plus one */
  size_t begin, end; /* range of buffered bytes that are not yet consumed */
  uint64_t place;    /* offset of buffer[begin] from where reading began */
  uint64_t size;     /* size of the whole data; INPUT_UNKNOWN for pipes */
  uint64_t held;     /* bytes read that the page cache may still hold */
} input;

/* path "-" is stdin. All functions return 0, or -1 with the error printed. */
int input_open(input *in, const char *path);
void input_close(input *in);
/* Buffers at least `wanted` bytes (at most INPUT_BUFFER); fewer only at the end of the data. */
int input_fill(input *in, size_t wanted);
/* *got < size only at the end of the data. */
int input_read(input *in, void *bytes, size_t size, size_t *got);
/* Skips `size` bytes, or fewer if the data ends before. */
int input_skip(input *in, uint64_t size);

#endif
