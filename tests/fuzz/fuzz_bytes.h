/* How targets that call the library read their input: bytes that choose calls, numbers, rays; and the contexts. */
#ifndef FUZZ_BYTES_H
#define FUZZ_BYTES_H

#include <stdbool.h>

#include "sets/answers.h"
#include "slabcast.h"

typedef struct fuzz_bytes {
  const uint8_t *at, *end;
  bool owns; /* rays may have something of their own */
} fuzz_bytes;

fuzz_bytes fuzz_begin(const uint8_t *data, size_t size);

/* 0 past the end. */
uint32_t fuzz_byte(fuzz_bytes *);
/* Mostly small multiples of 1/8, so that edges coincide; otherwise extremes, or any bits. */
float fuzz_number(fuzz_bytes *);
void fuzz_numbers(fuzz_bytes *, float *values, size_t n);
slab_ray fuzz_ray(fuzz_bytes *);

/* A failure must leave a message; a success is counted in *done. Returns the status. */
slab_status fuzz_said(long *done, slab_status);
/* The scene packed and unpacked, which the caller destroys. */
slab_scene *fuzz_copy(long *done, slab_context *, const slab_scene *);
/* Answers must be the CPU reference's, and must not be wrong by the oracle. */
void fuzz_judge(slab_scene *, slab_query, const slab_ray *, const answers *, const slab_cast_options *);

/* The rays' own masks, and hits to begin after. */
enum { FUZZ_OWN_RAYS = 11 };
typedef struct fuzz_own {
  uint32_t masks[FUZZ_OWN_RAYS];
  slab_short_hit after[FUZZ_OWN_RAYS]; /* at or beside a hit of the ray, or anywhere; t may be NaN */
} fuzz_own;

/* Gives n rays masks, hits to begin after, both or neither. It is neither where the input does not end with the byte
 * 0xFF, so that inputs of the corpus stay the calls that they were. Returns whether the library has to take them
 * together with the other options. */
bool fuzz_own_read(fuzz_bytes *, fuzz_own *, slab_scene *, slab_query, const slab_ray *, size_t n, slab_cast_options *);

/* Runs every query of points on the scene, at the origins of up to FUZZ_OWN_RAYS rays. t_max is a radius of each, where
 * it is one. Answers must be the reference's, and those of the twin, and must not be wrong by the oracle, unless it is
 * not to judge. Scenes with instances that the queries refuse must say so, both of them. */
void fuzz_points(slab_scene *, slab_scene *twin, const slab_ray *, size_t n, uint32_t mask, bool judged);

/* One of a few contexts, whatever the number. They are kept for all inputs, because opening a device and building
 * kernels takes a second. */
slab_context *fuzz_context(size_t choice);

#endif
