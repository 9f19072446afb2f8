/* The rows of a file of rays or points that every rank reads at places of its own, or the points of a grid, batch by
 * batch. Batch b belongs to rank b mod size. All ranks have equally many batches, and all batches but the last have the
 * same size. A round is a batch of each rank. */
#ifndef SLABCAST_PROGRAM_MPI_ROWS_H
#define SLABCAST_PROGRAM_MPI_ROWS_H

#include "program/io/ray_file.h"
#include "program/mpi/shared_file.h"

typedef struct team_rows {
  ray_source *source; /* the caller's, of which the header has been read */
  const grid *grid;   /* the points are of this; NULL: they are of a file */
  uint64_t count, batch, rounds;
  ray_array rays;      /* the batch that was read last */
  void *bytes;         /* the same as rows of the file */
  shared_file file;    /* not open: a grid */
  double read_seconds; /* within reads */
} team_rows;

typedef struct rows_options {
  const char *path; /* of a file; NULL: of a grid */
  const grid *grid;
  ray_source *source;
  uint64_t batch;            /* the most rows of a batch */
  const char *one, *several; /* nouns for messages: ray, rays */
} rows_options;

/* Whether ranks cannot read it at places of their own. path: NULL is none. */
int rows_are_streamed(const char *path);
/* Lines of text have no places known before. Prints this for the file, and returns EXIT_FAILED. */
int rows_refuse_text(const char *path);

/* Collective, once it is known whether the source keeps doubles. Returns the agreed code. The caller closes the rows,
 * after a failure too. */
int team_rows_open(team *, const rows_options *, team_rows *);
void team_rows_close(team_rows *);

/* This rank's batch of a round: returns its number of rows, 0 where none are left, and the index of the first. */
size_t team_rows_batch(const team *, const team_rows *, uint64_t round, uint64_t *begin);
/* Not collective. Reads rows into rows->rays. Returns an exit code. */
int team_rows_read(team_rows *, uint64_t begin, size_t n);

#endif
