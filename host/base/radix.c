#include "radix.h"

#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* The lowest digit is sorted first. Each pass is cut into pieces that threads share; a small array is one piece. */
#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)
#define PIECES 16
#define PIECE_LEAST 4096

/* One pass over the keys. Piece p begins at begins[p] and ends where the next begins. */
typedef struct pass {
  size_t pieces, begins[PIECES + 1];
  uint32_t (*counts)[DIGITS]; /* of each piece: first the number of keys with each digit, then the destination of the
                                 next such key */
  int threads;
} pass;

static void cut_in_pieces(pass *p, size_t n) {
  p->pieces = n < PIECES * PIECE_LEAST ? 1 : PIECES;
  for (size_t i = 0; i <= p->pieces; i++) p->begins[i] = n / p->pieces * i;
  p->begins[p->pieces] = n;
}

static uint32_t digit_of(const keyed *k, int shift) { return k->key >> shift & (DIGITS - 1); }

static void count_digits(const pass *p, const keyed *from, int shift) {
  memset(p->counts, 0, p->pieces * sizeof *p->counts);
#pragma omp parallel for schedule(static) num_threads(p->threads) if (p->pieces > 1)
  for (size_t k = 0; k < p->pieces; k++)
    for (size_t i = p->begins[k]; i < p->begins[k + 1]; i++) p->counts[k][digit_of(&from[i], shift)]++;
}

static void place_digits(const pass *p) {
  uint32_t place = 0;
  for (uint32_t d = 0; d < DIGITS; d++)
    for (size_t k = 0; k < p->pieces; k++) {
      const uint32_t count = p->counts[k][d];
      p->counts[k][d] = place;
      place += count;
    }
}

/* One stable pass by one digit. */
static void sort_by_digit(const pass *p, const keyed *from, keyed *to, int shift) {
  count_digits(p, from, shift);
  place_digits(p);
#pragma omp parallel for schedule(static) num_threads(p->threads) if (p->pieces > 1)
  for (size_t k = 0; k < p->pieces; k++)
    for (size_t i = p->begins[k]; i < p->begins[k + 1]; i++) to[p->counts[k][digit_of(&from[i], shift)]++] = from[i];
}

bool radix_sort(keyed **keys, keyed **others, size_t n, int bits, int threads) {
  pass p = {.threads = threads};
  cut_in_pieces(&p, n);
  p.counts = malloc(p.pieces * sizeof *p.counts);
  if (p.counts == NULL) return false;
#ifdef _OPENMP
  if (threads <= 0) p.threads = omp_get_max_threads();
#endif
  for (int shift = 0; shift < bits; shift += DIGIT_BITS) {
    keyed *sorted = *others;
    sort_by_digit(&p, *keys, sorted, shift);
    *others = *keys;
    *keys = sorted;
  }
  free(p.counts);
  return true;
}
