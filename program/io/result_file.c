#include "program/io/result_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/errors.h"
#include "program/io/npy.h"
#include "program/io/result_row.h"
#include "program/io/rows.h"
#include "program/io/text.h"

/* ---- going on from an earlier run ------------------------------------------ */

/* An output that continues the FILE.part of an earlier run, or is compared with what that has finished. New data is
 * first compared with the existing data, then appended. The part file itself shows how far the earlier run came. Its
 * last rays are cast again, so that a part of other rays, another scene or other options is detected.
 *
 * The functions part_resume_... find where to continue; they are called after the header was written. *rays of at most
 * `limit` rays need not be cast again, and `place` is set behind their rows. All functions return 0, or -1 with the
 * error printed. */
typedef struct part {
  output *out;
  uint64_t place; /* offset of the next byte; below the output's size while there is data to compare */
  uint64_t start; /* offset of the first row, after the header if any */
} part;

/* After an interrupted run, this many rays are cast again and compared; for numbered lines, this many bytes. */
enum { OVERLAP = 1 << 16, OVERLAP_BYTES = 1 << 20 };

static const char *const other_header = "by another query, with other fields or from another number of rays";
static const char *const other_rows = "from other rays, another scene or other options";

static int refuse(const part *p, const char *how) {
  complain("%s holds other results: it was made %s; run without --resume to start anew", output_part(p->out), how);
  return -1;
}

/* Compares the bytes with those of an earlier run, or appends them. `how` explains a difference in the error
 * message. */
static int put(part *p, const void *bytes, size_t size, const char *how) {
  const char *next = bytes;
  char there[4096];
  while (size && p->place < output_size(p->out)) {
    const uint64_t left = output_size(p->out) - p->place;
    size_t piece = size < sizeof there ? size : sizeof there;
    if (piece > left) piece = (size_t)left;
    if (output_read_back(p->out, p->place, there, piece)) return -1;
    if (memcmp(there, next, piece) != 0) return refuse(p, how);
    p->place += piece;
    next += piece;
    size -= piece;
  }
  if (size && output_is_finished(p->out)) return refuse(p, other_rows);
  if (size && output_write(p->out, next, size)) return -1;
  p->place += size;
  return 0;
}

static int part_put(part *p, const void *bytes, size_t size) { return put(p, bytes, size, other_rows); }

/* Writes the column names; `line` includes the newline. */
static int part_put_names(part *p, const char *line) {
  if (put(p, line, strlen(line), other_header)) return -1;
  p->start = p->place;
  return 0;
}

/* Reads the row count in the header of an earlier run; 0 if there is none. */
static int count_there(const part *p, size_t size, uint64_t *rows) {
  char header[NPY_HEADER_MAX];
  npy_header parsed;
  const size_t front = 10; /* bytes before the dictionary */
  *rows = 0;
  if (output_size(p->out) < size) return 0;
  if (output_read_back(p->out, 0, header, size)) return -1;
  if (!npy_parse(header + front, size - front, &parsed)) *rows = parsed.shape[0];
  return 0;
}

/* Writes the header of an npy file (note: as npy_write_noted). rows ROWS_UNKNOWN: 0 for now; the count of an earlier
 * run is kept. */
static int part_put_header(part *p, const char *descr, uint64_t rows, const char *note) {
  char header[NPY_HEADER_MAX];
  size_t size = npy_write_noted(header, descr, rows, note);
  if (rows == ROWS_UNKNOWN) {
    if (count_there(p, size, &rows)) return -1;
    size = npy_write_noted(header, descr, rows, note);
  }
  if (put(p, header, size, other_header)) return -1;
  p->start = p->place;
  return 0;
}

/* Call after all results were written: checks that the file has no other data. */
static int part_check_end(const part *p) { return p->place < output_size(p->out) ? refuse(p, other_rows) : 0; }

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

static uint64_t without_overlap(uint64_t rays) { return rays > OVERLAP ? rays - OVERLAP : 0; }

/* One row of `size` bytes per ray. */
static int part_resume_rows(part *p, size_t size, uint64_t limit, uint64_t *rays) {
  const uint64_t rows = bytes_there(p) / size;
  if (check_limit(p, rows, limit)) return -1;
  *rays = without_overlap(rows);
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

/* One line per ray. */
static int part_resume_lines(part *p, uint64_t limit, uint64_t *rays) {
  uint64_t lines = 0, end = p->start;
  *rays = 0;
  if (bytes_there(p) == 0) return 0;
  if (skip_lines(p, UINT64_MAX, &end, &lines) || check_limit(p, lines, limit)) return -1;
  p->place = p->start;
  return skip_lines(p, without_overlap(lines), &p->place, rays);
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

/* Finds the first line after `from` whose ray differs from that of the line before. *number: that ray, or ROWS_UNKNOWN
 * if there is none. */
static int find_next_ray(const part *p, uint64_t from, uint64_t *place, uint64_t *number) {
  uint64_t before = 0;
  size_t length = 0;
  *number = ROWS_UNKNOWN;
  *place = from;
  if (from > p->start) { /* `from` may be inside a line */
    if (read_line(p, from, &before, &length)) return -1;
    *place += length;
  }
  if (read_line(p, *place, &before, &length)) return -1;
  while (length > 0) {
    uint64_t ray = 0;
    *place += length;
    if (read_line(p, *place, &ray, &length)) return -1;
    if (length > 0 && ray != before) {
      *number = ray;
      return 0;
    }
  }
  return 0;
}

/* Lines that begin with the index of their ray; the first ray has index `first`. */
static int part_resume_numbered(part *p, uint64_t first, uint64_t limit, uint64_t *rays) {
  const uint64_t there = bytes_there(p);
  uint64_t place = p->start, number = ROWS_UNKNOWN;
  *rays = 0;
  for (uint64_t back = OVERLAP_BYTES; there > back && number == ROWS_UNKNOWN; back *= 2)
    if (find_next_ray(p, p->start + there - back, &place, &number)) return -1;
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

/* Rows of `size` bytes, of which *rows belong to those rays according to `offsets`. */
static int part_resume_hits(part *p, part *offsets, size_t size, uint64_t limit, uint64_t *rays, uint64_t *rows) {
  const uint64_t entries = bytes_there(offsets) / sizeof(uint64_t), hits = bytes_there(p) / size;
  uint64_t whole = entries ? entries - 1 : 0;
  *rays = *rows = 0;
  if (check_limit(offsets, whole, limit) || find_covered(offsets, hits, &whole)) return -1;
  *rays = without_overlap(whole);
  if (*rays == 0) return 0;
  if (read_offset(offsets, *rays, rows)) return -1;
  if (*rows > hits) return refuse(offsets, other_rows);
  p->place = p->start + *rows * size;
  offsets->place = offsets->start + (*rays + 1) * sizeof(uint64_t);
  return 0;
}

/* ---- results ---------------------------------------------------------------- */

enum { BLOCK_BYTES = 1 << 18 };

struct result_file {
  result_options options;
  result_row row;
  part rows, offsets; /* offsets: for SLAB_ALL in binary formats */
  uint64_t rays, put; /* rays and rows written, including resumed ones */
  uint64_t resumed;
  char note[NPY_NOTE_MAX]; /* note in the npy headers */
  char *block;             /* output buffer of BLOCK_BYTES */
  size_t filled;
};

char *offsets_name(const char *path) {
  static const char ending[] = ".offsets.npy";
  char *name = malloc(strlen(path) + sizeof ending);
  if (name) strcat(strcpy(name, path), ending);
  return name;
}

static int is_binary(const result_options *options) {
  return options->format == FORMAT_NPY || options->format == FORMAT_RAW;
}

static int flush_block(result_file *file) {
  const size_t size = file->filled;
  file->filled = 0;
  return part_put(&file->rows, file->block, size);
}

/* ---- opening --------------------------------------------------------------- */

static int write_header(result_file *file) {
  const result_options *options = &file->options;
  char descr[NPY_DESCR_MAX], names[RESULT_TEXT_MAX];
  result_descr(&file->row, descr, sizeof descr);
  if (options->format == FORMAT_NPY)
    return part_put_header(&file->rows, descr, options->query == SLAB_ALL ? ROWS_UNKNOWN : options->rays, file->note);
  if (options->format != FORMAT_CSV) return 0;
  result_names(&file->row, names);
  return part_put_names(&file->rows, names);
}

/* Finds where an earlier run stopped. */
static int find_resumed(result_file *file) {
  const result_options *options = &file->options;
  int failed = 0;
  if (file->offsets.out)
    failed = part_resume_hits(&file->rows, &file->offsets, file->row.size, options->rays, &file->resumed, &file->put);
  else if (is_binary(options))
    failed = part_resume_rows(&file->rows, file->row.size, options->rays, &file->resumed);
  else if (file->row.numbered)
    failed = part_resume_numbered(&file->rows, options->first, options->rays, &file->resumed);
  else
    failed = part_resume_lines(&file->rows, options->rays, &file->resumed);
  file->rays = file->resumed;
  if (options->query != SLAB_ALL) file->put = file->resumed;
  return failed;
}

/* Finished offsets belong to finished rows alone. */
static output_mode offsets_mode(const result_file *file) {
  if (!file->options.resume) return OUTPUT_NEW;
  return output_is_finished(file->rows.out) ? OUTPUT_FINISH : OUTPUT_RESUME;
}

static int open_offsets(result_file *file) {
  const uint64_t zero = 0, rays = file->options.rays;
  char *name = offsets_name(file->options.path);
  if (!name) complain("cannot write %s: out of memory", file->options.path);
  if (name) file->offsets.out = output_open(name, offsets_mode(file));
  free(name);
  if (!file->offsets.out) return -1;
  if (part_put_header(&file->offsets, "'<u8'", rays == ROWS_UNKNOWN ? rays : rays + 1, file->note)) return -1;
  return part_put(&file->offsets, &zero, sizeof zero);
}

int result_file_open(const result_options *options, result_file **opened) {
  const int hits = options->query == SLAB_ALL;
  result_file *file = calloc(1, sizeof *file);
  *opened = NULL;
  if (!file || !(file->block = malloc(BLOCK_BYTES))) {
    complain("cannot write %s: out of memory", options->path);
    goto failed;
  }
  file->options = *options;
  if (options->shard.count) shard_label_write(&options->shard, file->note);
  file->row = result_row_of(options->query, options->points, hits && !is_binary(options));
  if (options->format == FORMAT_CSV && file->row.geometry_at > 0) file->row.labels = options->labels;
  file->rows.out = output_open(options->path, options->resume ? OUTPUT_FINISH : OUTPUT_NEW);
  if (!file->rows.out || write_header(file)) goto failed;
  if (hits && is_binary(options) && open_offsets(file)) goto failed;
  if (options->resume && find_resumed(file)) goto failed;
  *opened = file;
  return 0;
failed:
  result_file_discard(file);
  return -1;
}

uint64_t result_file_resumed(const result_file *file) { return file->resumed; }

/* ---- rows ------------------------------------------------------------------ */

static int put_row(result_file *file, uint64_t index, const slab_ray *ray, const void *result) {
  unsigned char packed[RESULT_ROW_MAX];
  const file_format format = file->options.format;
  if (file->filled + RESULT_TEXT_MAX > BLOCK_BYTES && flush_block(file)) return -1;
  char *place = file->block + file->filled;
  result_pack(&file->row, index, ray, result, packed);
  if (format == FORMAT_TEXT || format == FORMAT_CSV) {
    file->filled += result_print(&file->row, packed, format == FORMAT_CSV ? ',' : ' ', place);
  } else {
    memcpy(place, packed, file->row.size);
    file->filled += file->row.size;
  }
  return 0;
}

/* Writes binary rows that are equal to the results. */
static int put_plain(result_file *file, const void *results, uint64_t count) {
  return part_put(&file->rows, results, (size_t)count * slab_result_size(file->options.query));
}

static int put_rows(result_file *file, const slab_ray *rays, const char *results, const uint64_t *offsets, size_t n) {
  const size_t size = slab_result_size(file->options.query);
  for (size_t i = 0; i < n; i++) {
    const uint64_t begin = offsets ? offsets[i] : i, end = offsets ? offsets[i + 1] : i + 1;
    for (uint64_t k = begin; k < end; k++)
      if (put_row(file, file->options.first + file->rays + i, &rays[i], results + k * size)) return -1;
  }
  return flush_block(file);
}

/* Writes offsets. Those of a batch begin at 0; in the file they continue from the rows before. */
static int put_offsets(result_file *file, const uint64_t *offsets, size_t n) {
  uint64_t block[4096];
  for (size_t i = 0; i < n;) {
    size_t filled = 0;
    for (; i < n && filled < COUNT_OF(block); i++) block[filled++] = file->put + offsets[i + 1];
    if (part_put(&file->offsets, block, filled * sizeof *block)) return -1;
  }
  return 0;
}

int result_file_put(result_file *file, const slab_ray *rays, const void *results, const uint64_t *offsets, size_t n) {
  const uint64_t count = offsets ? offsets[n] : n;
  if (is_binary(&file->options) && !file->row.points ? put_plain(file, results, count)
                                                     : put_rows(file, rays, results, offsets, n))
    return -1;
  if (offsets && file->offsets.out && put_offsets(file, offsets, n)) return -1;
  file->rays += n;
  file->put += count;
  output_keep(file->rows.out); /* a later --resume can go on from here */
  if (file->offsets.out) output_keep(file->offsets.out);
  return 0;
}

/* ---- the end --------------------------------------------------------------- */

/* Writes the header with the number of rows, which a finished file has already. */
static int patch_count(const result_file *file, part *p, const char *descr, uint64_t rows) {
  char header[NPY_HEADER_MAX];
  const size_t size = npy_write_noted(header, descr, rows, file->note);
  if (!output_is_finished(p->out)) return output_patch(p->out, 0, header, size);
  p->place = 0;
  return put(p, header, size, other_rows);
}

/* Completes headers that were written before the rows were counted. */
static int complete_headers(result_file *file) {
  char descr[NPY_DESCR_MAX];
  const int unknown = file->options.rays == ROWS_UNKNOWN;
  result_descr(&file->row, descr, sizeof descr);
  if (file->options.format == FORMAT_NPY && (unknown || file->options.query == SLAB_ALL) &&
      patch_count(file, &file->rows, descr, file->put))
    return -1;
  return file->offsets.out && unknown ? patch_count(file, &file->offsets, "'<u8'", file->rays + 1) : 0;
}

int result_file_commit(result_file *file) {
  int failed =
      part_check_end(&file->rows) || (file->offsets.out && part_check_end(&file->offsets)) || complete_headers(file);
  if (!failed) {
    failed = output_commit_pair(file->rows.out, file->offsets.out);
    file->rows.out = file->offsets.out = NULL;
  }
  result_file_discard(file);
  return failed ? -1 : 0;
}

void result_file_discard(result_file *file) {
  if (!file) return;
  output_discard(file->rows.out);
  output_discard(file->offsets.out);
  free(file->block);
  free(file);
}
