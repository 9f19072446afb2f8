#include "program/io/result_part.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/errors.h"
#include "program/io/result_row.h"
#include "program/io/rows.h"

/* ---- data ------------------------------------------------------------------- */

/* After an interrupted run, this many rays are cast again and compared; of numbered rows, this many bytes. */
enum { OVERLAP = 1 << 16, OVERLAP_BYTES = 1 << 20 };

static const char *const other_header = "by another query, with other fields or from another number of rays";
static const char *const other_rows = "from other rays, another scene or other options";

static int refuse(const part *p, const char *how) {
  complain("%s holds other results: it was made %s; run without --resume to start anew", output_part(p->out), how);
  return -1;
}

/* Compares bytes with those of an earlier run. `how` explains a difference in the error message. */
static int compare(const part *p, uint64_t place, const char *bytes, size_t size, const char *how) {
  char there[4096];
  for (size_t at = 0; at < size;) {
    const size_t left = size - at, piece = left < sizeof there ? left : sizeof there;
    if (output_read_back(p->out, place + at, there, piece)) return -1;
    if (memcmp(there, bytes + at, piece) != 0) return refuse(p, how);
    at += piece;
  }
  return 0;
}

/* Compares the bytes with those of an earlier run, or appends them. */
static int put(part *p, const void *bytes, size_t size, const char *how) {
  const uint64_t left = p->place < output_size(p->out) ? output_size(p->out) - p->place : 0;
  const size_t old = size < left ? size : (size_t)left;
  if (compare(p, p->place, bytes, old, how)) return -1;
  if (size > old && output_is_finished(p->out)) return refuse(p, other_rows);
  if (size > old && output_write(p->out, (const char *)bytes + old, size - old)) return -1;
  p->place += size;
  return 0;
}

int part_put(part *p, const void *bytes, size_t size) { return put(p, bytes, size, other_rows); }

int part_put_at(const part *p, uint64_t place, const void *bytes, size_t size, size_t old) {
  if (compare(p, place, bytes, old, other_rows)) return -1;
  if (size > old && output_is_finished(p->out)) return refuse(p, other_rows);
  return size > old ? output_patch(p->out, place + old, (const char *)bytes + old, size - old) : 0;
}

int part_put_header(part *p, const void *bytes, size_t size) {
  if (put(p, bytes, size, other_header)) return -1;
  p->start = p->place;
  return 0;
}

int part_read(const part *p, uint64_t place, void *bytes, size_t size, int *found) {
  *found = output_size(p->out) >= place + size;
  return *found ? output_read_back(p->out, place, bytes, size) : 0;
}

int part_patch(part *p, uint64_t place, const void *bytes, size_t size) {
  if (!output_is_finished(p->out)) return output_patch(p->out, place, bytes, size);
  p->place = place;
  return put(p, bytes, size, other_rows);
}

int part_check_end(const part *p) { return p->place < output_size(p->out) ? refuse(p, other_rows) : 0; }

/* ---- going on from an earlier run -------------------------------------------- */

/* Bytes of rows in the part file; the last row may be incomplete. */
static uint64_t bytes_there(const part *p) {
  return output_size(p->out) > p->start ? output_size(p->out) - p->start : 0;
}

static int check_limit(const part *p, uint64_t rows, uint64_t limit) {
  if (rows <= limit) return 0;
  complain("%s holds %" PRIu64 " %s, more than there are rays (%" PRIu64 ")", output_part(p->out), rows,
           plural(rows, "row", "rows"), limit);
  return -1;
}

uint64_t part_without_overlap(const part *p, uint64_t rays) {
  const uint64_t overlap = p->overlap ? p->overlap : OVERLAP;
  return rays > overlap ? rays - overlap : 0;
}

/* The same of numbered rows, in bytes. Lines have no size of their own. */
static uint64_t overlap_bytes(const part *p, size_t size) {
  return p->overlap && size ? p->overlap * size : OVERLAP_BYTES;
}

int part_resume_rows(part *p, size_t size, uint64_t limit, uint64_t *rays) {
  const uint64_t rows = bytes_there(p) / size;
  if (check_limit(p, rows, limit)) return -1;
  *rays = part_without_overlap(p, rows);
  if (*rays) p->place = p->start + *rays * size;
  return 0;
}

/* Skips up to `lines` lines from `place`; *found is the number skipped. */
static int skip_lines(const part *p, uint64_t lines, uint64_t *place, uint64_t *found) {
  char block[1 << 16];
  uint64_t at = *place;
  for (*found = 0; *found < lines && at < output_size(p->out);) {
    const uint64_t left = output_size(p->out) - at;
    const size_t size = left < sizeof block ? (size_t)left : sizeof block;
    if (output_read_back(p->out, at, block, size)) return -1;
    const char *next = block, *end;
    while (*found < lines && (end = memchr(next, '\n', (size_t)(block + size - next)))) {
      next = end + 1;
      ++*found;
      *place = at + (uint64_t)(next - block);
    }
    at += size;
  }
  return 0;
}

int part_resume_lines(part *p, uint64_t limit, uint64_t *rays) {
  uint64_t lines = 0, end = p->start;
  *rays = 0;
  if (bytes_there(p) == 0) return 0;
  if (skip_lines(p, UINT64_MAX, &end, &lines) || check_limit(p, lines, limit)) return -1;
  p->place = p->start;
  return skip_lines(p, part_without_overlap(p, lines), &p->place, rays);
}

/* Reads the number at the start of the line at `place`, and the line's length; 0: there is no complete line. */
static int read_line(const part *p, uint64_t place, uint64_t *number, size_t *length) {
  char text[RESULT_TEXT_MAX + 1], *digits_end;
  const uint64_t left = output_size(p->out) - place;
  const size_t size = left < RESULT_TEXT_MAX ? (size_t)left : RESULT_TEXT_MAX;
  *length = 0;
  if (output_read_back(p->out, place, text, size)) return -1;
  text[size] = '\0';
  const char *end = memchr(text, '\n', size);
  if (!end) return size < RESULT_TEXT_MAX ? 0 : refuse(p, other_rows);
  *length = (size_t)(end - text) + 1;
  *number = strtoull(text, &digits_end, 10);
  return 0;
}

/* The same for a row of `size` bytes that ends with the number as a double; size 0: for a line. */
static int read_numbered(const part *p, uint64_t place, size_t size, uint64_t *number, size_t *length) {
  double index = 0;
  if (size == 0) return read_line(p, place, number, length);
  *length = output_size(p->out) - place < size ? 0 : size;
  if (*length == 0) return 0;
  if (output_read_back(p->out, place + size - sizeof index, &index, sizeof index)) return -1;
  if (!(index >= 0 && index < 0x1p63)) return refuse(p, other_rows);
  *number = (uint64_t)index;
  return 0;
}

/* Finds the first row after `from` whose ray differs from that of the row before. *number: that ray, or ROWS_UNKNOWN
 * if there is none. */
static int find_next_ray(const part *p, uint64_t from, size_t size, uint64_t *place, uint64_t *number) {
  uint64_t before = 0;
  size_t length = 0;
  *number = ROWS_UNKNOWN;
  *place = from;
  if (from > p->start) { /* `from` may be inside a line */
    if (read_numbered(p, from, size, &before, &length)) return -1;
    *place += length;
  }
  if (read_numbered(p, *place, size, &before, &length)) return -1;
  while (length > 0) {
    uint64_t ray = 0;
    *place += length;
    if (read_numbered(p, *place, size, &ray, &length)) return -1;
    if (length > 0 && ray != before) {
      *number = ray;
      return 0;
    }
  }
  return 0;
}

int part_resume_numbered(part *p, size_t size, uint64_t first, uint64_t limit, uint64_t *rays) {
  const uint64_t unit = size ? size : 1, there = bytes_there(p) / unit * unit;
  uint64_t place = p->start, number = ROWS_UNKNOWN;
  *rays = 0;
  for (uint64_t back = overlap_bytes(p, size) / unit * unit; there > back && number == ROWS_UNKNOWN; back *= 2)
    if (find_next_ray(p, p->start + there - back, size, &place, &number)) return -1;
  if (number == ROWS_UNKNOWN) return 0; /* there are too few bytes, or all belong to one ray */
  if (number < first || number - first >= limit) {
    complain("%s holds hits of ray %" PRIu64 ", which is none of those to be cast", output_part(p->out), number);
    return -1;
  }
  *rays = number - first;
  p->place = place;
  return 0;
}

/* Reads entry i of the offsets. */
static int read_offset(const part *offsets, uint64_t i, uint64_t *offset) {
  return output_read_back(offsets->out, offsets->start + i * sizeof *offset, offset, sizeof *offset);
}

/* Reduces *whole to the most rays whose hits are all among the first `rows` rows. Hits are written before their
 * offsets, but after a power failure only the offsets may be on the disk. */
static int find_covered(const part *offsets, uint64_t rows, uint64_t *whole) {
  uint64_t low = 0, high = *whole;
  while (low < high) {
    const uint64_t middle = high - (high - low) / 2;
    uint64_t offset = 0;
    if (read_offset(offsets, middle, &offset)) return -1;
    if (offset <= rows)
      low = middle;
    else
      high = middle - 1;
  }
  *whole = low;
  return 0;
}

int part_resume_hits(part *p, part *offsets, size_t size, uint64_t limit, uint64_t *rays, uint64_t *rows) {
  const uint64_t entries = bytes_there(offsets) / sizeof(uint64_t), hits = bytes_there(p) / size;
  uint64_t whole = entries ? entries - 1 : 0;
  *rays = *rows = 0;
  if (check_limit(offsets, whole, limit) || find_covered(offsets, hits, &whole)) return -1;
  *rays = part_without_overlap(p, whole);
  if (*rays == 0) return 0;
  if (read_offset(offsets, *rays, rows)) return -1;
  if (*rows > hits) return refuse(offsets, other_rows);
  p->place = p->start + *rows * size;
  offsets->place = offsets->start + (*rays + 1) * sizeof(uint64_t);
  return 0;
}
