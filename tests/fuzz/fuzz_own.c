/* The reader of each ray's own masks and hits. The first byte of an input says which, the others are the file, npy or
 * text. For any bytes, reading the file to its end, in pieces, in shards and through a pipe must give the same rows, or
 * one complaint each. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "program/io/own_file.h"
#include "program/io/rows.h"

enum { FUZZ_INPUT_MAX = 4096, FUZZ_ROWS = 4096 }; /* a row takes at least a byte */

typedef struct fuzz_rows {
  slab_short_hit row[FUZZ_ROWS];
  size_t count;
} fuzz_rows;

static own_options options_of(const char *path, int is_mask) {
  return is_mask ? (own_options){.masks = path} : (own_options){.after = path};
}

/* Reads n rows, or up to a failure. Returns -1 then. */
static int read_rows(own_source *source, int is_mask, uint64_t n, size_t step, fuzz_rows *rows) {
  uint32_t masks[FUZZ_ROWS];
  for (rows->count = 0; rows->count < n;) {
    const size_t left = (size_t)n - rows->count, wanted = left < step ? left : step;
    own_rows into = {.masks = masks, .after = rows->row + rows->count};
    if (own_source_read(source, wanted, &into)) return -1;
    for (size_t i = 0; is_mask && i < wanted; i++) rows->row[rows->count + i] = (slab_short_hit){0, masks[i], 0};
    rows->count += wanted;
  }
  return 0;
}

/* Reads the rows of these rays, one at a time where their number is not known. Returns 0, or -1 with one complaint. */
static int read_file(const char *path, int is_mask, shard_label rays, size_t step, fuzz_rows *rows) {
  const own_options options = options_of(path, is_mask);
  const unsigned before = fuzz_complaints();
  const uint64_t n = rays.rays == ROWS_UNKNOWN ? FUZZ_ROWS : rays.rays;
  own_source *source = NULL;
  rows->count = 0;
  int failed = own_source_open(&options, &rays, &source);
  if (!failed) failed = read_rows(source, is_mask, n, rays.rays == ROWS_UNKNOWN ? 1 : step, rows);
  if (!failed) failed = own_source_end(source);
  own_source_close(source);
  claim(fuzz_complaints() == before + (failed != 0));
  return failed ? -1 : 0;
}

static void claim_same(const fuzz_rows *rows, const fuzz_rows *wanted, uint64_t first) {
  claim(first + rows->count <= wanted->count);
  claim(memcmp(rows->row, wanted->row + first, rows->count * sizeof *rows->row) == 0);
}

/* A slice, which a shard reads after the rows before it. */
static void reads_slice(const char *path, int is_mask, size_t seed, const fuzz_rows *whole, fuzz_rows *rows) {
  const uint64_t n = whole->count, index = seed % 3;
  const shard_label slice = {
      .index = index, .count = 3, .first = n * index / 3, .rays = n * (index + 1) / 3 - n * index / 3, .total = n};
  claim(read_file(path, is_mask, slice, seed % 7 + 1, rows) == 0);
  claim(rows->count == slice.rays);
  claim_same(rows, whole, slice.first);
}

long fuzz_one(const uint8_t *data, size_t size) {
  const shard_label unknown = {.rays = ROWS_UNKNOWN, .total = ROWS_UNKNOWN};
  static fuzz_rows found, rows;
  if (size == 0 || size > FUZZ_INPUT_MAX) return FUZZ_REFUSED;
  const int is_mask = data[0] & 1;
  const char *path = fuzz_file(data + 1, size - 1);
  claim(read_file(path, is_mask, unknown, 1, &found) != 0); /* there are always more rays than that */
  const shard_label whole = {.rays = found.count, .total = found.count};
  const int failed = read_file(path, is_mask, whole, size % 7 + 1, &rows);
  claim_same(&rows, &found, 0);
  if (!failed && size % 2) reads_slice(path, is_mask, size / 2, &found, &rows);
  if (!failed && size % 2 == 0) {
    claim(read_file(fuzz_pipe(data + 1, size - 1), is_mask, whole, size % 5 + 1, &rows) == 0);
    claim(rows.count == found.count);
    claim_same(&rows, &found, 0);
  }
  return failed ? FUZZ_REFUSED : (long)found.count;
}
