/* A file or pipe read from front to back through one buffer; no part of it is mapped. */
#ifndef SLABCAST_CLI_INPUT_H
#define SLABCAST_CLI_INPUT_H

#include <stddef.h>
#include <stdint.h>

#define INPUT_UNKNOWN UINT64_MAX
#ifndef INPUT_BUFFER_BYTES /* fuzzing asks for few, so that small inputs meet the buffer's end */
#define INPUT_BUFFER_BYTES (1 << 18)
#endif
enum { INPUT_BUFFER = INPUT_BUFFER_BYTES };

typedef struct input {
  int fd;
  const char *name;  /* for messages; the path must outlive the input */
  char *buffer;      /* INPUT_BUFFER bytes and one more */
  size_t begin, end; /* what is buffered and not yet taken */
  uint64_t place;    /* of buffer[begin], counted from where reading began */
  uint64_t size;     /* of the whole data, INPUT_UNKNOWN for pipes */
  uint64_t held;     /* bytes read that the page cache may still hold */
} input;

/* "-" is stdin. All return 0, or -1 with the error printed. */
int input_open(input *in, const char *path);
void input_close(input *in);
/* Buffers `wanted` bytes, at most INPUT_BUFFER; fewer only at the end of the data. */
int input_fill(input *in, size_t wanted);
/* *got < size only at the end of the data. */
int input_read(input *in, void *bytes, size_t size, size_t *got);
/* Passes over `size` bytes; fewer when the end comes before. */
int input_skip(input *in, uint64_t size);

#endif
