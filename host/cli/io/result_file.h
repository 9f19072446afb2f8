/* The output of a cast, written row by row as results come. */
#ifndef SLABCAST_CLI_RESULT_FILE_H
#define SLABCAST_CLI_RESULT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "files.h"
#include "output.h"
#include "shard.h"
#include "slabcast.h"

typedef struct result_options {
  const char *path;
  file_format format;
  slab_query query;
  int points, resume;
  uint64_t rays;     /* ROWS_UNKNOWN: the npy header is completed at the end; the output must then be a file */
  uint64_t first;    /* number of the first ray, for rows that carry it */
  shard_label shard; /* count 0: all of the rays, and no label */
} result_options;

typedef struct result_file result_file;

/* Functions of type int return 0, or -1 with the error printed. */
int result_file_open(const result_options *options, result_file **opened);
/* With `resume`, how many rays need not be cast again. Those that follow are compared with the rows that are there,
 * so that a FILE.part of other rays, another scene or other options is noticed. */
uint64_t result_file_resumed(const result_file *file);
/* Appends the results of n rays; offsets: of SLAB_ALL, else NULL. */
int result_file_put(result_file *file, const slab_ray *rays, const void *results, const uint64_t *offsets, size_t n);
int result_file_commit(result_file *file);
void result_file_discard(result_file *file);

/* FILE.offsets.npy, freed by the caller; NULL when out of memory. */
char *offsets_name(const char *path);

#endif
