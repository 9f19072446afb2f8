/* Writes the results of a cast, row by row: a query's, or rows that the caller packs. */
#ifndef SLABCAST_PROGRAM_IO_RESULT_FILE_H
#define SLABCAST_PROGRAM_IO_RESULT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "program/io/npy.h"
#include "program/io/output.h"
#include "program/io/result_row.h"
#include "program/io/rows.h"
#include "slabcast.h"

typedef struct result_options {
  const char *path;
  file_format format;
  slab_query query;
  const result_row *row;       /* the row that the caller packs, in place of the query's results; NULL: these results */
  uint64_t overlap;            /* rays that are cast again and compared when a part goes on; 0: as for a query */
  int points, resume;          /* points: ply has them in any case */
  int doubles, places;         /* as in result_form */
  uint64_t beams;              /* rays of a sensor's firing, for the ids of points in ply; 0: they are of no sensor */
  uint64_t rays;               /* ROWS_UNKNOWN: the npy header is completed at the end, so the output must be a file */
  uint64_t first;              /* index of the first ray, for rows that contain it */
  shard_label shard;           /* count 0: all rays, without a label */
  const result_labels *labels; /* names of geometries, for the last column of csv, or the header of ply; NULL: none */
} result_options;

typedef struct result_file result_file;

/* Functions of type int return 0, or -1 with the error printed. */
int result_file_open(const result_options *options, result_file **opened);
/* With `resume`, the number of rays that need not be cast again. The rays after them are compared with the existing
 * rows, so that a FILE.part of other rays, another scene or other options is detected. */
uint64_t result_file_resumed(const result_file *file);
/* Whether rows depend on the rays, not on results alone. */
int result_file_wants_rays(const result_file *file);
/* Appends the results of n rays; offsets: for SLAB_ALL, else NULL. */
int result_file_put(result_file *file, const result_rays *rays, const void *results, const uint64_t *offsets, size_t n);
/* Appends rows of the caller's own, in which n rays end. In text, csv and ply such rows may be of any number. */
int result_file_put_packed(result_file *file, const void *packed, uint64_t rows, size_t n);
int result_file_commit(result_file *file);
void result_file_discard(result_file *file);

/* The name FILE.offsets.npy. The caller frees it; NULL if out of memory. */
char *offsets_name(const char *path);

#endif
