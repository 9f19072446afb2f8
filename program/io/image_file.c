#include "program/io/image_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/io/errors.h"
#include "program/io/result_part.h"

enum { HEADER_MAX = 4096, COLUMN_BYTES = 1 << 16 };
static const char trailer[] = "\n  </AppendedData>\n</VTKFile>\n";

struct image_file {
  part part;
  result_row row;
  uint64_t points, old, done;        /* old: of an earlier run, all of whose arrays have them */
  uint64_t start[RESULT_FIELDS_MAX]; /* where the values of each array begin */
  uint64_t end;                      /* where the last ends */
  char header[HEADER_MAX];
  size_t header_size;
  unsigned char column[COLUMN_BYTES]; /* values of one field */
};

/* ---- the header ------------------------------------------------------------- */

static void add(image_file *file, const char *format, ...) FORMATTED(2, 3);

static void add(image_file *file, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  file->header_size +=
      (size_t)vsnprintf(file->header + file->header_size, HEADER_MAX - file->header_size, format, arguments);
  va_end(arguments);
}

static const char *type_of(char kind) {
  return kind == 'f' ? "Float32" : kind == 'u' ? "UInt32" : kind == 'i' ? "Int32" : "UInt8";
}

/* Each array is preceded by the number of its bytes, 64 bits. */
static uint64_t array_bytes(const image_file *file, int field) {
  return file->points * result_field_size(&file->row.fields[field]);
}

static void add_arrays(image_file *file) {
  uint64_t offset = 0;
  for (int i = 0; i < file->row.field_count; i++) {
    const result_field *field = &file->row.fields[i];
    add(file,
        "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%u\" format=\"appended\" offset=\"%" PRIu64
        "\"/>\n",
        type_of(field->kind), field->name, field->count, offset);
    file->start[i] = offset + sizeof offset;
    offset = file->start[i] + array_bytes(file, i);
  }
  file->end = offset;
}

/* An extent has the first and the last index along each axis. */
static void add_extent(image_file *file, const char *name, const grid *g) {
  add(file, " %s=\"0 %" PRIu32 " 0 %" PRIu32 " 0 %" PRIu32 "\"", name, g->size[0] - 1, g->size[1] - 1, g->size[2] - 1);
}

static void make_header(image_file *file, const grid *g) {
  add(file,
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n  <ImageData");
  add_extent(file, "WholeExtent", g);
  add(file, " Origin=\"%.17g %.17g %.17g\"", g->origin[0], g->origin[1], g->origin[2]);
  add(file, " Spacing=\"%.17g %.17g %.17g\">\n    <Piece", g->spacing[0], g->spacing[1], g->spacing[2]);
  add_extent(file, "Extent", g);
  add(file, ">\n      <PointData Scalars=\"%s\">\n", file->row.fields[0].name);
  add_arrays(file);
  add(file,
      "      </PointData>\n      <CellData>\n      </CellData>\n    </Piece>\n  </ImageData>\n"
      "  <AppendedData encoding=\"raw\">\n   _");
  for (int i = 0; i < file->row.field_count; i++) file->start[i] += file->header_size;
  file->end += file->header_size;
}

/* ---- opening ---------------------------------------------------------------- */

/* Finds where an earlier run stopped. The values of the last array are written last, so that the file's size says how
 * far all arrays go. */
static int find_old(image_file *file) {
  const int last = file->row.field_count - 1;
  const uint64_t size = output_size(file->part.out), begin = file->start[last];
  file->old = size > begin ? (size - begin) / result_field_size(&file->row.fields[last]) : 0;
  if (file->old > file->points) file->old = file->points;
  file->done = part_without_overlap(&file->part, file->old);
  return size > file->end + strlen(trailer) ? part_check_end(&file->part) : 0;
}

static int put_header(image_file *file) {
  if (part_put_header(&file->part, file->header, file->header_size)) return -1;
  for (int i = 0; i < file->row.field_count; i++) {
    const uint64_t bytes = array_bytes(file, i), place = file->start[i] - sizeof bytes;
    const size_t old = output_size(file->part.out) >= file->start[file->row.field_count - 1] ? sizeof bytes : 0;
    if (part_put_at(&file->part, place, &bytes, sizeof bytes, old)) return -1;
  }
  return 0;
}

int image_file_open(const char *path, const grid *g, const result_row *row, int resume, image_file **opened) {
  image_file *file = *opened = calloc(1, sizeof *file);
  if (!file) {
    complain("cannot write %s: out of memory", path);
    return -1;
  }
  file->row = *row;
  file->points = grid_count(g->size);
  make_header(file, g);
  file->part.out = output_open(path, resume ? OUTPUT_FINISH : OUTPUT_NEW);
  if (file->part.out && !put_header(file) && !find_old(file)) return 0;
  image_file_discard(file);
  *opened = NULL;
  return -1;
}

uint64_t image_file_resumed(const image_file *file) { return file->done; }

/* ---- values ----------------------------------------------------------------- */

/* Puts one field of n rows; at: where it stands in a row. */
static int put_column(image_file *file, int field, size_t at, const unsigned char *packed, size_t n) {
  const size_t size = result_field_size(&file->row.fields[field]), most = COLUMN_BYTES / size;
  uint64_t row = file->done;
  for (size_t some; n > 0; n -= some, row += some, packed += some * file->row.size) {
    some = n < most ? n : most;
    for (size_t i = 0; i < some; i++) memcpy(file->column + i * size, packed + i * file->row.size + at, size);
    const uint64_t left = row < file->old ? file->old - row : 0;
    const size_t old = left < some ? (size_t)left : some;
    if (part_put_at(&file->part, file->start[field] + row * size, file->column, some * size, old * size)) return -1;
  }
  return 0;
}

int image_file_put(image_file *file, const void *packed, size_t n) {
  size_t at = 0;
  for (int i = 0; i < file->row.field_count; at += result_field_size(&file->row.fields[i++]))
    if (put_column(file, i, at, packed, n)) return -1;
  file->done += n;
  output_keep(file->part.out);
  return 0;
}

/* ---- the end ---------------------------------------------------------------- */

/* A finished file has no more than this. */
static int put_trailer(image_file *file) {
  part *p = &file->part;
  const size_t size = strlen(trailer), old = output_size(p->out) >= file->end + size ? size : 0;
  p->place = file->end + size;
  return part_put_at(p, file->end, trailer, size, old) || (old && part_check_end(p)) ? -1 : 0;
}

int image_file_commit(image_file *file) {
  int failed = put_trailer(file);
  if (!failed) {
    failed = output_commit(file->part.out);
    file->part.out = NULL;
  }
  image_file_discard(file);
  return failed ? -1 : 0;
}

void image_file_discard(image_file *file) {
  if (!file) return;
  output_discard(file->part.out);
  free(file);
}
