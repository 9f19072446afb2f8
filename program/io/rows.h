/* Reads rows of numbers from files and pipes: npy, raw little-endian float32, text. */
#ifndef SLABCAST_PROGRAM_IO_ROWS_H
#define SLABCAST_PROGRAM_IO_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "program/io/columns.h"
#include "program/io/decimal.h"
#include "program/io/input.h"

/* FORMAT_PLY: for results alone. FORMAT_VTI: for results of grids. */
typedef enum file_format {
  FORMAT_AUTO,
  FORMAT_NPY,
  FORMAT_RAW,
  FORMAT_TEXT,
  FORMAT_CSV,
  FORMAT_PLY,
  FORMAT_VTI
} file_format;

/* The format that an ending says, in any case: .npy, .raw and .bin, .txt, .csv; else FORMAT_AUTO. */
file_format format_of_name(const char *name);
/* The output format for a file name: by its ending, in any case: .npy, .raw and .bin, .txt, .csv. Other names: npy.
 * "-": text if stdout is a terminal, else npy. */
file_format format_of_output(const char *path);
/* These endings, for options_check_ending. */
#define OUTPUT_ENDINGS "npy|raw|bin|txt|csv"
/* Results have one more, which format_of_output does not know. */
#define RESULT_ENDINGS OUTPUT_ENDINGS "|ply"

#define ROWS_UNKNOWN UINT64_MAX

/* Sequential reader of rows of numbers. Text: lines of numbers separated by blanks, commas or semicolons. # begins a
 * comment. A first line may name the columns (csv): then the names say where numbers go, and rows have all columns that
 * are known. Otherwise the first line with numbers fixes their count. npy: versions 1 to 3, two
 * dimensions, C order, <f4 or <f8. */
typedef struct row_source row_source;

/* path "-" is stdin. FORMAT_AUTO: npy if the first bytes or .npy say so, raw for .raw or .bin, else text. raw_columns:
 * columns of raw rows. known: the columns that a text may name. Returns 0, or -1 with the error printed. */
int rows_open(const char *path, file_format format, size_t raw_columns, const column_names *known, row_source **opened);
/* The same for rows that are matrices, whose npy has three dimensions. */
int rows_open_matrices(const char *path, size_t raw_columns, const column_names *known, row_source **opened);
/* The lines of a text that was opened already. Takes over `in`, also where it fails. */
int rows_open_lines(input *in, const column_names *known, row_source **opened);
void rows_close(row_source *source);
const char *rows_name(const row_source *source);
/* The number of columns; 0 if a text has no line with numbers. */
size_t rows_columns(const row_source *source);
/* The number of rows; ROWS_UNKNOWN for text, and for raw data from a pipe. */
uint64_t rows_count(const row_source *source);
/* 1 if the source is a file that can be opened and read again. */
int rows_is_file(const row_source *source);
/* Whether numbers are written in more digits than float holds: in text, or as float64. */
int rows_are_wide(const row_source *source);
/* Where rows are read to: rounded to float, as doubles, or both. NULL: they are not wanted so. */
typedef struct row_numbers {
  float *narrow;
  double *wide;
} row_numbers;
/* Reads up to `capacity` rows; *got = 0 at the end. Returns 0, or -1 with the error printed. */
int rows_read(row_source *source, size_t capacity, row_numbers to, size_t *got);
/* The numbers of a text's next line, as they are written. Where columns have names, numbers go to the places of these,
 * and absent ones are left as they are. *got = 0 at the end. */
int rows_read_line(row_source *source, decimal row[ROWS_COLUMNS_MAX], int *got);
/* The line that was read last, counted from 1. */
uint64_t rows_line(const row_source *source);
/* Whether the names of a text's columns have that of a known one; -1: it names none. */
int rows_has_column(const row_source *source, size_t place);
/* Skips `rows` rows, or fewer if the data ends before. */
int rows_skip(row_source *source, uint64_t rows);
/* For callers that read the rows of a binary file themselves. `rows_place`: byte offset of the next row. `rows_bytes`:
 * bytes per row (0: text). `rows_convert`: the values of rows whose bytes are in memory, aligned as by malloc. */
uint64_t rows_place(const row_source *source);
size_t rows_bytes(const row_source *source);
void rows_convert(row_source *source, const void *bytes, size_t rows, row_numbers to);
/* The largest distance by which float32 misses a number that was read in columns first .. last - 1. */
double rows_worst_rounding(const row_source *source, size_t first, size_t last);

#endif
