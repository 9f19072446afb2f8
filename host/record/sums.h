/* Sums over rows of rays, of one call: of parts of rows, in 32-bit words that rows share evenly. */
#ifndef SLABCAST_RECORD_SUMS_H
#define SLABCAST_RECORD_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "data/ray_sums.h"

typedef struct row_sums {
  ray_sums told;
  uint64_t *weights; /* of columns, in units of 2^-32; NULL: none */
  uint32_t *words;   /* told.row for each row of the call */
} row_sums;

static inline size_t sums_parts_a_row(const row_sums *s) { return (s->told.columns - 1) / SUM_PART + 1; }

/* The number of a ray's part in its row. */
static inline uint32_t sums_part_of_row(const row_sums *s, size_t ray) {
  return (uint32_t)(ray % s->told.columns / SUM_PART);
}

/* The parts of a chunk, which has whole ones. */
static inline uint32_t sums_parts_of(const row_sums *s, size_t first, uint32_t count) {
  const size_t last = first + count - 1, rows = last / s->told.columns - first / s->told.columns;
  return (uint32_t)(rows * sums_parts_a_row(s) + sums_part_of_row(s, last) + 1 - sums_part_of_row(s, first));
}

/* The last ray at which a part begins, up to this one. */
static inline size_t sums_part_begin(const row_sums *s, size_t ray) { return ray - ray % s->told.columns % SUM_PART; }

/* Where the part that begins with a ray ends. */
static inline size_t sums_part_end(const row_sums *s, size_t ray) {
  const size_t rest = s->told.columns - ray % s->told.columns;
  return ray + (rest < SUM_PART ? rest : SUM_PART);
}

/* The place of the part that begins with a ray, among the words; of the ray after the last the end of all. */
static inline size_t sums_word_at(const row_sums *s, size_t ray) {
  return ray / s->told.columns * s->told.row + sums_part_of_row(s, ray) * s->told.words;
}

#endif
