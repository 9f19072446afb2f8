/* Whole arrays of numbers, read from files and pipes: rows of primitives, transforms. */
#ifndef SLABCAST_PROGRAM_IO_TABLE_H
#define SLABCAST_PROGRAM_IO_TABLE_H

#include <stddef.h>

#include "program/io/columns.h"

/* A whole array in memory. */
typedef struct table {
  float *values; /* rows * columns, row after row; the caller frees it; NULL if there are none */
  double *wide;  /* the same numbers as they are written; the caller frees it; NULL: floats, or there are none */
  size_t rows, columns;
  double worst_rounding; /* the largest distance that rounding from float64 or text moved a number */
} table;

/* Reads an array of min_cols to max_cols columns. Returns 0, or -1 with the error printed and *out zero. */
int read_table(const char *path, const column_names *known, size_t min_cols, size_t max_cols, table *out);
/* Reads affine maps to rows of 12, which are matrices of 3 x 4. The file is npy of (n, 3, 4) or (n, 4, 4), raw rows of
 * 12, or lines of 12 or 16. The last row of 4 x 4 must be 0 0 0 1. worst_rounding is that of the translations alone. */
int read_transforms(const char *path, table *out);
void table_free(table *);

#endif
