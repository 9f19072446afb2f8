/* The header of results in PLY: points, little-endian, with names of geometries as comments. */
#ifndef SLABCAST_PROGRAM_IO_RESULT_PLY_H
#define SLABCAST_PROGRAM_IO_RESULT_PLY_H

#include <stddef.h>
#include <stdint.h>

#include "program/io/result_row.h"

/* The digits of a header's row count, padded with blanks: they are patched once the rows are counted. */
enum { PLY_COUNT = 20 };

typedef struct ply_header {
  char *text; /* the caller frees it; NULL if out of memory */
  size_t size;
  size_t count_at; /* where PLY_COUNT digits stand; 0 at first */
} ply_header;

/* The note, if it is not "", the names, which may be NULL, and a property for each field. A name is written as JSON
 * writes it between quotes, in ASCII, with its first and last blank escaped. */
ply_header ply_header_of(const result_row *, const result_labels *names, const char *note);
void ply_count_write(char count[PLY_COUNT], uint64_t rows);
/* 0 if it is no count. */
uint64_t ply_count_read(const char count[PLY_COUNT]);

#endif
