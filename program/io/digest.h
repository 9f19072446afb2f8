/* A digest of data: 64 bits, by which casts of different inputs are told apart. It is no protection against those who
 * want two inputs to have the same one. */
#ifndef SLABCAST_PROGRAM_IO_DIGEST_H
#define SLABCAST_PROGRAM_IO_DIGEST_H

#include <stddef.h>
#include <stdint.h>

typedef struct digest {
  uint64_t state;
} digest;

/* The same pieces in the same order have the same digest on every machine. {0} is a digest of nothing. NULL: no digest
 * is wanted, and nothing is computed. */
void digest_add(digest *, const void *bytes, size_t size);
void digest_add_text(digest *, const char *text);
/* Never 0, which means that there is no digest. */
uint64_t digest_value(const digest *);

/* floor(count * index / parts), without overflow: where a part of `count` things begins. */
uint64_t part_begin(uint64_t count, uint64_t index, uint64_t parts);
/* The size of a sample of `total` things, for a digest of many. sample_place: the i-th thing of the sample. They are
 * evenly spaced, the first and the last among them. */
uint64_t sample_size(uint64_t total);
uint64_t sample_place(uint64_t total, uint64_t i);

#endif
