#include "base/radix.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"

/* The lowest digit is sorted first. Each pass is cut into pieces that threads share; a small array is one piece. */
#define DIGITS (1u << RADIX_DIGIT_BITS)
#define PIECES 16
#define PIECE_LEAST 4096

/* One pass over the keys. Piece p begins at begins[p] and ends where the next begins. */
typedef struct pass {
  size_t pieces, begins[PIECES + 1];
  uint32_t (*counts)[DIGITS]; /* of each piece: first the number of keys with each digit, then the destination of the
                                 next such key */
  uint32_t threads;
  const keyed *from;
  keyed *to;
  int shift; /* of the pass's digit */
} pass;

static void cut_in_pieces(pass *p, size_t n) {
  p->pieces = n < PIECES * PIECE_LEAST ? 1 : PIECES;
  for (size_t i = 0; i <= p->pieces; i++) p->begins[i] = n / p->pieces * i;
  p->begins[p->pieces] = n;
}

static uint32_t digit_of(const keyed *k, int shift) { return k->key >> shift & (DIGITS - 1); }

static void count_piece(void *argument, size_t k) {
  const pass *p = argument;
  uint32_t *counts = p->counts[k];
  const int shift = p->shift;
  memset(counts, 0, sizeof *p->counts);
  for (size_t i = p->begins[k]; i < p->begins[k + 1]; i++) counts[digit_of(&p->from[i], shift)]++;
}

/* Row by row, so that memory is read in order. */
static void place_digits(const pass *p) {
  uint32_t places[DIGITS] = {0}, place = 0;
  for (size_t k = 0; k < p->pieces; k++)
    for (uint32_t d = 0; d < DIGITS; d++) places[d] += p->counts[k][d];
  for (uint32_t d = 0; d < DIGITS; d++) {
    const uint32_t count = places[d];
    places[d] = place;
    place += count;
  }
  for (size_t k = 0; k < p->pieces; k++)
    for (uint32_t d = 0; d < DIGITS; d++) {
      const uint32_t count = p->counts[k][d];
      p->counts[k][d] = places[d];
      places[d] += count;
    }
}

static void move_piece(void *argument, size_t k) {
  const pass *p = argument;
  uint32_t *places = p->counts[k];
  const keyed *from = p->from;
  keyed *to = p->to;
  const int shift = p->shift;
  for (size_t i = p->begins[k]; i < p->begins[k + 1]; i++) to[places[digit_of(&from[i], shift)]++] = from[i];
}

/* One stable pass by one digit. */
static void sort_by_digit(pass *p) {
  pool_run(p->threads, p->pieces, count_piece, p);
  place_digits(p);
  pool_run(p->threads, p->pieces, move_piece, p);
}

bool radix_sort(keyed **keys, keyed **others, size_t n, int bits, uint32_t threads) {
  pass p = {.threads = threads};
  cut_in_pieces(&p, n);
  p.counts = malloc(p.pieces * sizeof *p.counts);
  if (p.counts == NULL) return false;
  for (p.shift = 0; p.shift < bits; p.shift += RADIX_DIGIT_BITS) {
    p.from = *keys;
    p.to = *others;
    sort_by_digit(&p);
    *others = *keys;
    *keys = p.to;
  }
  free(p.counts);
  return true;
}
