/* The output of a cast that all ranks write, npy or raw: to FILE.part, each rank its rows at their places; rank 0 gives
 * it its name when every rank is done. */
#ifndef SLABCAST_CLI_MPI_RESULTS_H
#define SLABCAST_CLI_MPI_RESULTS_H

#include "io/result_file.h"
#include "team.h"

typedef struct team_results team_results;

/* All ranks together; options->rays is known, first and resume are not looked at. Returns what was agreed, and NULL in
 * *opened where that is no EXIT_DONE. */
int team_results_open(team *, const result_options *options, team_results **opened);

/* The results of n rays from number `ray` on, whose first row is row number `row` of the file. offsets: of SLAB_ALL,
 * else NULL. Each rank for itself: 0, or -1 with the error printed. */
int team_results_put(team_results *, uint64_t ray, uint64_t row, const slab_ray *rays, const void *results,
                     const uint64_t *offsets, size_t n);

/* All ranks together: FILE is there when every rank has brought EXIT_DONE, in so many rows, else nothing is. Returns
 * what was agreed. Frees. NULL: agrees only. */
int team_results_close(team *, team_results *, int code, uint64_t rows);

#endif
