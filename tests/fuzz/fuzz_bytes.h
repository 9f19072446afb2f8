/* How targets that call the library read their input: bytes that choose calls, numbers, rays; and the contexts. */
#ifndef FUZZ_BYTES_H
#define FUZZ_BYTES_H

#include "slabcast.h"

typedef struct fuzz_bytes {
  const uint8_t *at, *end;
} fuzz_bytes;

/* 0 past the end. */
uint32_t fuzz_byte(fuzz_bytes *);
/* Mostly small multiples of 1/8, so that edges coincide; otherwise extremes, or any bits. */
float fuzz_number(fuzz_bytes *);
void fuzz_numbers(fuzz_bytes *, float *values, size_t n);
slab_ray fuzz_ray(fuzz_bytes *);

/* One of a few contexts, whatever the number. They are kept for all inputs, because opening a device and building
 * kernels takes a second. */
slab_context *fuzz_context(size_t choice);

#endif
