#include "result_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "npy.h"
#include "options.h"
#include "result_row.h"

enum { BLOCK_BYTES = 1 << 18 };
/* Rows of an interrupted run that are cast again and compared. */
enum { OVERLAP = 1 << 16 };

struct result_file {
  result_options options;
  result_row row;
  output *out, *offsets; /* offsets: of SLAB_ALL in binary formats */
  uint64_t rays, rows;   /* put so far, resumed ones included */
  uint64_t resumed;
  uint64_t place; /* in `out`; below its size while rows of an earlier run are compared */
  size_t header;  /* bytes before the first row */
  char *block;    /* BLOCK_BYTES on their way out */
  size_t filled;
};

char *offsets_name(const char *path) {
  static const char ending[] = ".offsets.npy";
  char *name = malloc(strlen(path) + sizeof ending);
  if (name) strcat(strcpy(name, path), ending);
  return name;
}

/* ---- bytes ----------------------------------------------------------------- */

/* Compares with what an earlier run left, or appends. */
static int emit(result_file *file, const char *bytes, size_t size) {
  char there[4096];
  while (size && file->place < output_size(file->out)) {
    const uint64_t left = output_size(file->out) - file->place;
    size_t piece = size < sizeof there ? size : sizeof there;
    if (piece > left) piece = (size_t)left;
    if (output_read_back(file->out, file->place, there, piece)) return -1;
    if (memcmp(there, bytes, piece)) {
      complain(
          "%s.part holds other results: it was made from other rays, another scene or other options; "
          "run without --resume to start anew",
          output_name(file->out));
      return -1;
    }
    file->place += piece;
    bytes += piece;
    size -= piece;
  }
  if (size && output_write(file->out, bytes, size)) return -1;
  file->place += size;
  return 0;
}

static int flush_block(result_file *file) {
  const size_t size = file->filled;
  file->filled = 0;
  return emit(file, file->block, size);
}

/* ---- opening --------------------------------------------------------------- */

static int write_start(result_file *file, output *out, const char *descr, uint64_t rows) {
  char header[NPY_HEADER_MAX];
  const size_t size = npy_write(header, descr, rows == ROWS_UNKNOWN ? 0 : rows, 0);
  if (out == file->out) file->header = size;
  return out == file->out ? emit(file, header, size) : output_write(out, header, size);
}

static int write_header(result_file *file) {
  char descr[NPY_DESCR_MAX], names[RESULT_TEXT_MAX];
  result_descr(&file->row, descr, sizeof descr);
  if (file->options.format == FORMAT_NPY)
    return write_start(file, file->out, descr, file->options.query == SLAB_ALL ? ROWS_UNKNOWN : file->options.rays);
  if (file->options.format != FORMAT_CSV) return 0;
  result_names(&file->row, names);
  return emit(file, names, strlen(names));
}

/* Finds where an earlier run stopped; a row cut in two is cut off. */
static int find_resumed(result_file *file) {
  const uint64_t size = output_size(file->out);
  if (size <= file->header) return 0;
  const uint64_t rows = (size - file->header) / file->row.size;
  if (rows > file->options.rays) {
    complain("%s.part holds %" PRIu64 " rows, more than there are rays (%" PRIu64 ")", output_name(file->out), rows,
             file->options.rays);
    return -1;
  }
  file->resumed = file->rays = file->rows = rows > OVERLAP ? rows - OVERLAP : 0;
  file->place = file->header + file->resumed * file->row.size;
  return output_truncate(file->out, file->header + rows * file->row.size);
}

static int open_offsets(result_file *file) {
  const uint64_t zero = 0, rays = file->options.rays;
  char *name = offsets_name(file->options.path);
  if (!name) complain("cannot write %s: out of memory", file->options.path);
  if (name) file->offsets = output_open(name, OUTPUT_NEW);
  free(name);
  if (!file->offsets || write_start(file, file->offsets, "'<u8'", rays == ROWS_UNKNOWN ? rays : rays + 1)) return -1;
  return output_write(file->offsets, &zero, sizeof zero);
}

int result_file_open(const result_options *options, result_file **opened) {
  const int binary = options->format == FORMAT_NPY || options->format == FORMAT_RAW;
  result_file *file = calloc(1, sizeof *file);
  *opened = NULL;
  if (!file || !(file->block = malloc(BLOCK_BYTES))) {
    complain("cannot write %s: out of memory", options->path);
    goto failed;
  }
  file->options = *options;
  file->row = result_row_of(options->query, options->points, options->query == SLAB_ALL && !binary);
  file->out = output_open(options->path, options->resume ? OUTPUT_RESUME : OUTPUT_NEW);
  if (!file->out || write_header(file)) goto failed;
  if (options->resume && find_resumed(file)) goto failed;
  if (options->query == SLAB_ALL && binary && open_offsets(file)) goto failed;
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

/* Binary rows that are the result itself go out as they are. */
static int put_plain(result_file *file, const void *results, uint64_t count) {
  return emit(file, results, (size_t)count * result_size(file->options.query));
}

static int put_rows(result_file *file, const slab_ray *rays, const char *results, const uint64_t *offsets, size_t n) {
  const size_t size = result_size(file->options.query);
  for (size_t i = 0; i < n; i++) {
    const uint64_t begin = offsets ? offsets[i] : i, end = offsets ? offsets[i + 1] : i + 1;
    for (uint64_t k = begin; k < end; k++)
      if (put_row(file, file->options.first + file->rays + i, &rays[i], results + k * size)) return -1;
  }
  return flush_block(file);
}

/* Offsets of a batch begin with 0; in the file they go on from the rows before. */
static int put_offsets(result_file *file, const uint64_t *offsets, size_t n) {
  uint64_t block[512];
  for (size_t i = 0; i < n;) {
    size_t filled = 0;
    for (; i < n && filled < COUNT_OF(block); i++) block[filled++] = file->rows + offsets[i + 1];
    if (output_write(file->offsets, block, filled * sizeof *block)) return -1;
  }
  return 0;
}

int result_file_put(result_file *file, const slab_ray *rays, const void *results, const uint64_t *offsets, size_t n) {
  const int binary = file->options.format == FORMAT_NPY || file->options.format == FORMAT_RAW;
  const uint64_t count = offsets ? offsets[n] : n;
  if (binary && !file->row.points ? put_plain(file, results, count) : put_rows(file, rays, results, offsets, n))
    return -1;
  if (file->offsets && put_offsets(file, offsets, n)) return -1;
  file->rays += n;
  file->rows += count;
  if (!offsets && binary) output_keep(file->out); /* a later --resume can go on from here */
  return 0;
}

/* ---- the end --------------------------------------------------------------- */

static int patch_count(output *out, const char *descr, uint64_t rows) {
  char header[NPY_HEADER_MAX];
  const size_t size = npy_write(header, descr, rows, 0);
  return output_patch(out, 0, header, size);
}

/* Headers that were written before the rows were counted. */
static int complete_headers(result_file *file) {
  char descr[NPY_DESCR_MAX];
  const int unknown = file->options.rays == ROWS_UNKNOWN;
  result_descr(&file->row, descr, sizeof descr);
  if (file->options.format == FORMAT_NPY && (unknown || file->options.query == SLAB_ALL) &&
      patch_count(file->out, descr, file->rows))
    return -1;
  return file->offsets && unknown ? patch_count(file->offsets, "'<u8'", file->rays + 1) : 0;
}

int result_file_commit(result_file *file) {
  if (complete_headers(file)) {
    result_file_discard(file);
    return -1;
  }
  /* Offsets last: where they are, the hits are whole. */
  int failed = output_commit(file->out);
  file->out = NULL;
  if (!failed) {
    failed = output_commit(file->offsets);
    file->offsets = NULL;
  }
  result_file_discard(file);
  return failed;
}

void result_file_discard(result_file *file) {
  if (!file) return;
  output_discard(file->out);
  output_discard(file->offsets);
  free(file->block);
  free(file);
}
