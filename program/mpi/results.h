/* The result file of a command that all ranks write, npy or raw. Each rank writes its rows at their places in
 * FILE.part; rank 0 renames the file when every rank is done. */
#ifndef SLABCAST_PROGRAM_MPI_RESULTS_H
#define SLABCAST_PROGRAM_MPI_RESULTS_H

#include "program/io/result_file.h"
#include "program/mpi/team.h"

typedef struct team_results team_results;

/* Why all ranks cannot write results so; NULL: they can. out: NULL is none. */
const char *team_results_refusal(const char *out, file_format format, int resume);

/* Collective. options->rays must be known; first and resume are ignored. Returns the agreed code; *opened is NULL
 * unless it is EXIT_DONE. */
int team_results_open(team *, const result_options *options, team_results **opened);

/* Not collective. Writes the results of n rays starting at index `ray`; their first row is row `row` of the file.
 * offsets: for SLAB_ALL, else NULL. Returns 0, or -1 with the error printed. */
int team_results_put(team_results *, uint64_t ray, uint64_t row, const result_rays *rays, const void *results,
                     const uint64_t *offsets, size_t n);

/* Collective. If every rank passes EXIT_DONE, FILE appears with `rows` rows; otherwise no file appears. Frees the
 * results; with NULL it only agrees. Returns the agreed code. */
int team_results_close(team *, team_results *, int code, uint64_t rows);

#endif
