#include "program/io/result_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/errors.h"
#include "program/io/npy.h"
#include "program/io/result_part.h"
#include "program/io/result_ply.h"
#include "program/io/result_row.h"
#include "program/io/rows.h"
#include "program/io/text.h"

enum { BLOCK_BYTES = 1 << 18 };

struct result_file {
  result_options options;
  result_row row;
  part rows, offsets; /* offsets: for SLAB_ALL in binary formats */
  uint64_t rays, put; /* rays and rows written, including resumed ones */
  uint64_t resumed;
  uint64_t infinite;       /* hits without a point, which PLY leaves out */
  size_t count_at;         /* where the header of PLY has the number of rows */
  char note[NPY_NOTE_MAX]; /* note in the headers */
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

/* Reads the row count in the npy header of an earlier run; 0 if there is none. */
static int count_there(const part *p, size_t size, uint64_t *rows) {
  char header[NPY_HEADER_MAX];
  npy_header parsed;
  const size_t front = 10; /* bytes before the dictionary */
  int found = 0;
  *rows = 0;
  if (part_read(p, 0, header, size, &found)) return -1;
  if (found && !npy_parse(header + front, size - front, &parsed)) *rows = parsed.shape[0];
  return 0;
}

/* Writes the header of an npy file (note: as npy_write_noted). rows ROWS_UNKNOWN: 0 for now; the count of an earlier
 * run is kept. */
static int put_npy_header(part *p, const char *descr, uint64_t rows, const char *note) {
  char header[NPY_HEADER_MAX];
  size_t size = npy_write_noted(header, descr, rows, note);
  if (rows == ROWS_UNKNOWN) {
    if (count_there(p, size, &rows)) return -1;
    size = npy_write_noted(header, descr, rows, note);
  }
  return part_put_header(p, header, size);
}

/* Writes the header of a PLY file. Its rows are counted at the end; the count of an earlier run is kept. */
static int put_ply_header(result_file *file) {
  const ply_header header =
      ply_header_of(&file->row, file->row.geometry_at > 0 ? file->options.labels : NULL, file->note);
  if (!header.text) {
    complain("cannot write %s: out of memory", file->options.path);
    return -1;
  }
  char *count = header.text + header.count_at;
  int found = 0;
  int failed = part_read(&file->rows, header.count_at, count, PLY_COUNT, &found);
  if (!failed) ply_count_write(count, found ? ply_count_read(count) : 0);
  if (!failed) failed = part_put_header(&file->rows, header.text, header.size);
  file->count_at = header.count_at;
  free(header.text);
  return failed;
}

static int write_header(result_file *file) {
  const result_options *options = &file->options;
  if (options->format == FORMAT_PLY) return put_ply_header(file);
  char descr[NPY_DESCR_MAX], names[RESULT_TEXT_MAX];
  result_descr(&file->row, descr, sizeof descr);
  if (options->format == FORMAT_NPY)
    return put_npy_header(&file->rows, descr, options->query == SLAB_ALL ? ROWS_UNKNOWN : options->rays, file->note);
  if (options->format != FORMAT_CSV) return 0;
  result_names(&file->row, names);
  return part_put_header(&file->rows, names, strlen(names));
}

/* Finds where an earlier run stopped. */
static int find_resumed(result_file *file) {
  const result_options *options = &file->options;
  int failed = 0;
  if (file->offsets.out)
    failed = part_resume_hits(&file->rows, &file->offsets, file->row.size, options->rays, &file->resumed, &file->put);
  else if (is_binary(options))
    failed = part_resume_rows(&file->rows, file->row.size, options->rays, &file->resumed);
  else if (options->format == FORMAT_PLY)
    failed = part_resume_numbered(&file->rows, file->row.size, options->first, options->rays, &file->resumed);
  else if (file->row.numbered)
    failed = part_resume_numbered(&file->rows, 0, options->first, options->rays, &file->resumed);
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
  if (put_npy_header(&file->offsets, "'<u8'", rays == ROWS_UNKNOWN ? rays : rays + 1, file->note)) return -1;
  return part_put(&file->offsets, &zero, sizeof zero);
}

static result_row row_of(const result_options *options) {
  if (options->row) return *options->row;
  const result_form form = {options->query, options->points, options->doubles, options->places};
  return options->format == FORMAT_PLY ? result_row_of_point(&form, options->beams > 0)
                                       : result_row_of(&form, options->query == SLAB_ALL && !is_binary(options));
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
  file->row = row_of(options);
  if (options->format == FORMAT_CSV && file->row.geometry_at > 0) file->row.labels = options->labels;
  file->rows.overlap = options->overlap;
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

int result_file_wants_rays(const result_file *file) {
  return file->options.format == FORMAT_PLY || file->row.form.points;
}

/* ---- rows ------------------------------------------------------------------ */

/* Misses have no point. nth: the hit's number among the ray's, counted from 0. */
static void put_point(result_file *file, uint64_t index, uint64_t nth, const result_rays *rays, size_t i,
                      const void *result) {
  unsigned char *place = (unsigned char *)file->block + file->filled;
  const uint64_t beams = file->options.beams;
  point_ids ids = {0};
  if (!result_is_hit(file->options.query, file->options.doubles, result)) return;
  if (beams) ids = (point_ids){(uint32_t)(index / beams), (uint32_t)(index % beams), (uint32_t)nth + 1};
  if (result_pack_point(&file->row, index, &ids, rays, i, result, place))
    file->filled += file->row.size;
  else
    file->infinite++;
}

/* The row of a result of ray i of these. */
static int put_row(result_file *file, uint64_t nth, const result_rays *rays, size_t i, const void *result) {
  const uint64_t index = file->options.first + file->rays + i;
  unsigned char packed[RESULT_ROW_MAX];
  const file_format format = file->options.format;
  if (file->filled + RESULT_TEXT_MAX > BLOCK_BYTES && flush_block(file)) return -1;
  char *place = file->block + file->filled;
  if (format == FORMAT_PLY) {
    put_point(file, index, nth, rays, i, result);
    return 0;
  }
  result_pack(&file->row, index, rays, i, result, packed);
  if (format == FORMAT_TEXT || format == FORMAT_CSV) {
    file->filled += result_print(&file->row, packed, format == FORMAT_CSV ? ',' : ' ', place);
  } else {
    memcpy(place, packed, file->row.size);
    file->filled += file->row.size;
  }
  return 0;
}

static int put_plain(result_file *file, const void *results, uint64_t count) {
  return part_put(&file->rows, results, (size_t)count * file->row.size);
}

static int put_rows(result_file *file, const result_rays *rays, const char *results, const uint64_t *offsets,
                    size_t n) {
  const size_t size = result_size(file->options.query, file->options.doubles);
  for (size_t i = 0; i < n; i++) {
    const uint64_t begin = offsets ? offsets[i] : i, end = offsets ? offsets[i + 1] : i + 1;
    for (uint64_t k = begin; k < end; k++)
      if (put_row(file, k - begin, rays, i, results + k * size)) return -1;
  }
  return flush_block(file);
}

/* Writes offsets. A batch's offsets begin at 0; in the file they continue from the rows before. */
static int put_offsets(result_file *file, const uint64_t *offsets, size_t n) {
  uint64_t block[4096];
  for (size_t i = 0; i < n;) {
    size_t filled = 0;
    for (; i < n && filled < COUNT_OF(block); i++) block[filled++] = file->put + offsets[i + 1];
    if (part_put(&file->offsets, block, filled * sizeof *block)) return -1;
  }
  return 0;
}

/* Takes note of rows that are written. */
static int count_put(result_file *file, uint64_t rows, size_t n) {
  file->rays += n;
  file->put += rows;
  output_keep(file->rows.out); /* a later --resume can go on from here */
  if (file->offsets.out) output_keep(file->offsets.out);
  return 0;
}

int result_file_put(result_file *file, const result_rays *rays, const void *results, const uint64_t *offsets,
                    size_t n) {
  const uint64_t count = offsets ? offsets[n] : n;
  if (is_binary(&file->options) && result_row_is_plain(&file->row) ? put_plain(file, results, count)
                                                                   : put_rows(file, rays, results, offsets, n))
    return -1;
  if (offsets && file->offsets.out && put_offsets(file, offsets, n)) return -1;
  return count_put(file, count, n);
}

static int print_packed(result_file *file, const unsigned char *packed, uint64_t rows) {
  const char separator = file->options.format == FORMAT_CSV ? ',' : ' ';
  for (uint64_t i = 0; i < rows; i++, packed += file->row.size) {
    if (file->filled + RESULT_TEXT_MAX > BLOCK_BYTES && flush_block(file)) return -1;
    file->filled += result_print(&file->row, packed, separator, file->block + file->filled);
  }
  return flush_block(file);
}

int result_file_put_packed(result_file *file, const void *packed, uint64_t rows, size_t n) {
  const int is_text = file->options.format == FORMAT_TEXT || file->options.format == FORMAT_CSV;
  const int failed = is_text ? print_packed(file, packed, rows) : part_put(&file->rows, packed, rows * file->row.size);
  return failed ? -1 : count_put(file, rows, n);
}

/* ---- the end --------------------------------------------------------------- */

static int patch_count(const result_file *file, part *p, const char *descr, uint64_t rows) {
  char header[NPY_HEADER_MAX];
  return part_patch(p, 0, header, npy_write_noted(header, descr, rows, file->note));
}

static int complete_ply(result_file *file) {
  char count[PLY_COUNT];
  const char *name = output_name(file->rows.out);
  if (file->infinite)
    complain("warning: %s leaves out %" PRIu64 " %s at infinity, where PLY has no points", name, file->infinite,
             plural(file->infinite, "hit", "hits"));
  ply_count_write(count, (file->rows.place - file->rows.start) / file->row.size);
  return part_patch(&file->rows, file->count_at, count, sizeof count);
}

/* Completes headers that were written before the rows were counted. */
static int complete_headers(result_file *file) {
  if (file->options.format == FORMAT_PLY) return complete_ply(file);
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
