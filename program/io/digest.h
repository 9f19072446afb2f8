/* A digest of data: 64 bits, by which casts of different inputs are told apart. It is no protection against those who
 * want two inputs to have the same one. */
#ifndef SLABCAST_PROGRAM_IO_DIGEST_H
#define SLABCAST_PROGRAM_IO_DIGEST_H

#include <stddef.h>
#include <stdint.h>

typedef struct digest {
  uint64_t state;
} digest;

/* The same pieces in the same order have the same digest on every machine. {0} is a digest of nothing. NULL: nobody
 * asks, and nothing is computed. */
void digest_add(digest *, const void *bytes, size_t size);
void digest_add_text(digest *, const char *text);
/* Never 0, which stands for no digest. */
uint64_t digest_value(const digest *);

#endif
