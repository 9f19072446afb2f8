/* Arrays of numbers in files and pipes: npy, raw little-endian float32, text. */
#ifndef SLABCAST_CLI_FILES_H
#define SLABCAST_CLI_FILES_H

#include <stddef.h>
#include <stdint.h>

typedef enum file_format { FORMAT_AUTO, FORMAT_NPY, FORMAT_RAW, FORMAT_TEXT, FORMAT_CSV } file_format;

/* The format that a name's ending, in any case, or "-" asks for in output: .npy, .raw and .bin, .txt, .csv; npy
 * otherwise, but text where `path` is "-" and stdout a terminal. */
file_format format_of_output(const char *path);
/* Those endings, for options_check_ending. */
#define OUTPUT_ENDINGS "npy|raw|bin|txt|csv"

enum { ROWS_COLUMNS_MAX = 16 };
#define ROWS_UNKNOWN UINT64_MAX

/* Rows of numbers read one after the other. Text: lines of numbers between blanks or commas; # begins a comment;
 * a first line may name the columns (csv), the first with numbers fixes how many they are. npy: versions 1 to 3, two
 * dimensions, C order, <f4 or <f8. */
typedef struct row_source row_source;

/* path "-" is stdin. FORMAT_AUTO: npy by its first bytes or by .npy, raw by .raw or .bin, else text. raw_columns:
 * the columns of raw rows. Returns 0, or -1 with the error printed. */
int rows_open(const char *path, file_format format, size_t raw_columns, row_source **opened);
void rows_close(row_source *source);
const char *rows_name(const row_source *source);
/* 0 when the text has no line with numbers. */
size_t rows_columns(const row_source *source);
/* ROWS_UNKNOWN for text, and for raw data from a pipe. */
uint64_t rows_count(const row_source *source);
/* 1 when it could be opened and read once more. */
int rows_is_file(const row_source *source);
/* Reads up to `capacity` rows; *got = 0 at the end. Returns 0, or -1 with the error printed. */
int rows_read(row_source *source, size_t capacity, float *values, size_t *got);
/* Leaves out `rows` rows; fewer when the end comes before. */
int rows_skip(row_source *source, uint64_t rows);
/* For those who fetch the rows of a binary file themselves: where the next one begins in it, the bytes of one (0:
 * text), and the numbers of rows whose bytes, aligned as malloc does, are at hand. */
uint64_t rows_place(const row_source *source);
size_t rows_bytes(const row_source *source);
void rows_convert(row_source *source, const void *bytes, size_t rows, float *values);
/* The largest distance that rounding to float32 moved a number of columns first .. last - 1 so far. */
double rows_worst_rounding(const row_source *source, size_t first, size_t last);

/* A whole array in memory. */
typedef struct table {
  float *values; /* rows * columns, row after row; the reader frees it; NULL when there are none */
  size_t rows, columns;
  double worst_rounding; /* the largest distance that rounding from float64 or text moved a number */
} table;

/* Reads an array of min_cols to max_cols columns. Returns 0, or -1 with the error printed and *out zero. */
int read_table(const char *path, size_t min_cols, size_t max_cols, table *out);
void table_free(table *);

#endif
