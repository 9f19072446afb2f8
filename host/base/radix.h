/* Radix sort by integer keys. */
#ifndef SLABCAST_BASE_RADIX_H
#define SLABCAST_BASE_RADIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct keyed {
  uint32_t key, number;
} keyed;

/* Sorts n elements by the lowest `bits` bits of their keys. The sort is stable. threads: as pool_run takes it. *others
 * has space for n elements too; *keys and *others are exchanged radix_passes times. Returns false where memory is
 * short.
 */
bool radix_sort(keyed **keys, keyed **others, size_t n, int bits, uint32_t threads);

#define RADIX_DIGIT_BITS 11

/* How often they are exchanged. */
static inline int radix_passes(int bits) { return (bits + RADIX_DIGIT_BITS - 1) / RADIX_DIGIT_BITS; }

/* Three numbers; the fourth lane means nothing. */
typedef uint32_t curve_cell __attribute__((vector_size(16)));

/* The position of a cell along a Morton curve: the lowest ten bits of its numbers in turns. Two zero bits are put
 * before each. */
static inline uint32_t curve_position(curve_cell v) {
  v = (v | v << 16) & 0x030000FFu;
  v = (v | v << 8) & 0x0300F00Fu;
  v = (v | v << 4) & 0x030C30C3u;
  v = (v | v << 2) & 0x09249249u;
  return v[0] | v[1] << 1 | v[2] << 2;
}

#endif
