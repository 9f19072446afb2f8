#include "program/io/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/errors.h"
#include "program/io/rows.h"

static int check_columns(const row_source *source, size_t min_cols, size_t max_cols) {
  const size_t columns = rows_columns(source);
  const char *numbers = plural(columns, "number", "numbers");
  if (columns == 0 || (columns >= min_cols && columns <= max_cols)) return 0;
  if (min_cols == max_cols)
    complain("%s: rows of %zu %s, %zu are wanted", rows_name(source), columns, numbers, min_cols);
  else
    complain("%s: rows of %zu %s, %zu to %zu are wanted", rows_name(source), columns, numbers, min_cols, max_cols);
  return -1;
}

/* Enlarges an array to so many numbers of so many bytes. Returns 0, or -1 where memory is out. */
static int enlarge(void *array, size_t numbers, size_t bytes) {
  void *old;
  memcpy(&old, array, sizeof old);
  void *grown = numbers <= SIZE_MAX / bytes ? realloc(old, numbers * bytes) : NULL;
  if (!grown) return -1;
  memcpy(array, &grown, sizeof grown);
  return 0;
}

/* Makes space for at least one more row. */
static int grow(table *out, size_t *capacity, uint64_t count, int wide) {
  size_t wanted = *capacity ? *capacity * 2 : 1024;
  if (count != ROWS_UNKNOWN) wanted = (size_t)count;
  if (wanted > SIZE_MAX / sizeof(double) / out->columns) return -1;
  if (enlarge(&out->values, wanted * out->columns, sizeof *out->values)) return -1;
  if (wide && enlarge(&out->wide, wanted * out->columns, sizeof *out->wide)) return -1;
  *capacity = wanted;
  return 0;
}

/* Where the next row goes. */
static row_numbers next_row(const table *out) {
  const size_t place = out->rows * out->columns;
  return (row_numbers){out->values + place, out->wide ? out->wide + place : NULL};
}

static int read_all(row_source *source, table *out) {
  size_t capacity = 0, got = 1;
  while (got > 0 && out->rows != rows_count(source)) {
    if (out->rows == capacity && grow(out, &capacity, rows_count(source), rows_are_wide(source))) {
      const uint64_t rows = rows_count(source) == ROWS_UNKNOWN ? out->rows + 1 : rows_count(source);
      complain("%s: out of memory for %" PRIu64 " %s", rows_name(source), rows, plural(rows, "row", "rows"));
      return -1;
    }
    if (rows_read(source, capacity - out->rows, next_row(out), &got)) return -1;
    out->rows += got;
  }
  return 0;
}

/* columns: of a text without numbers. */
static int read_whole(row_source *source, size_t columns, table *out) {
  out->columns = rows_columns(source) ? rows_columns(source) : columns;
  return rows_columns(source) ? read_all(source, out) : 0;
}

static int close_whole(row_source *source, int failed, table *out) {
  rows_close(source);
  if (failed) table_free(out);
  return failed ? -1 : 0;
}

int read_table(const char *path, const column_names *known, size_t min_cols, size_t max_cols, table *out) {
  row_source *source = NULL;
  *out = (table){0};
  const int failed = rows_open(path, FORMAT_AUTO, max_cols, known, &source) ||
                     check_columns(source, min_cols, max_cols) || read_whole(source, min_cols, out);
  if (!failed) out->worst_rounding = rows_worst_rounding(source, 0, rows_columns(source));
  return close_whole(source, failed, out);
}

enum { TRANSFORM = 12, SQUARE = 16 }; /* numbers of a matrix of 3 x 4, of 4 x 4 */

/* A text has no shape. */
static int check_transforms(const row_source *source) {
  const size_t columns = rows_columns(source);
  if (columns == 0 || columns == TRANSFORM || columns == SQUARE) return 0;
  complain("%s: rows of %zu %s; transforms have %d or %d", rows_name(source), columns,
           plural(columns, "number", "numbers"), TRANSFORM, SQUARE);
  return -1;
}

static int drop_last_rows(const row_source *source, table *out) {
  for (size_t i = 0; out->columns == SQUARE && i < out->rows; i++) {
    const float *matrix = out->values + i * SQUARE, *last = matrix + TRANSFORM;
    if (last[0] != 0 || last[1] != 0 || last[2] != 0 || last[3] != 1) {
      complain("%s: the last row of transform %zu is %.9g %.9g %.9g %.9g, not 0 0 0 1", rows_name(source), i,
               (double)last[0], (double)last[1], (double)last[2], (double)last[3]);
      return -1;
    }
    memmove(out->values + i * TRANSFORM, matrix, TRANSFORM * sizeof *matrix);
    if (out->wide) memmove(out->wide + i * TRANSFORM, out->wide + i * SQUARE, TRANSFORM * sizeof *out->wide);
  }
  out->columns = TRANSFORM;
  return 0;
}

int read_transforms(const char *path, table *out) {
  row_source *source = NULL;
  *out = (table){0};
  const int failed = rows_open_matrices(path, TRANSFORM, &columns_of_transforms, &source) || check_transforms(source) ||
                     read_whole(source, TRANSFORM, out) || drop_last_rows(source, out);
  for (size_t k = 3; !failed && k < TRANSFORM; k += 4)
    out->worst_rounding = fmax(out->worst_rounding, rows_worst_rounding(source, k, k + 1));
  return close_whole(source, failed, out);
}

void table_free(table *out) {
  free(out->values);
  free(out->wide);
  *out = (table){0};
}
