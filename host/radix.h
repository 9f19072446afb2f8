/* Sorting by keys that are whole numbers, digit by digit. */
#ifndef SLABCAST_RADIX_H
#define SLABCAST_RADIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct keyed {
  uint32_t key, number;
} keyed;

/* Sorts n by the lowest `bits` of their keys, those of the same in their order, by so many threads (0: all). *keys and
 * *others, which is as large, may change places. False where memory is short. */
bool radix_sort(keyed **keys, keyed **others, size_t n, int bits, int threads);

/* Two zeros before each of the lowest ten bits. */
static inline uint32_t bits_apart(uint32_t v) {
  v = (v | v << 16) & 0x030000FFu;
  v = (v | v << 8) & 0x0300F00Fu;
  v = (v | v << 4) & 0x030C30C3u;
  return (v | v << 2) & 0x09249249u;
}

#endif
