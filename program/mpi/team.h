/* The ranks of a job, and how they agree when one of them fails. Every rank takes part in every agreement, even after
 * an error, and all get the same result. */
#ifndef SLABCAST_PROGRAM_MPI_TEAM_H
#define SLABCAST_PROGRAM_MPI_TEAM_H

#include <mpi.h>
#include <stddef.h>

#include "program/io/checked.h"

typedef struct team {
  MPI_Comm comm;
  int rank, size;
  int local; /* rank among the ranks on this machine */
  int told;  /* this rank has reported to the others that it failed */
} team;

/* Gets rank and size. Error lines are kept from here on. */
team team_begin(void);

/* Collective. Each rank passes its exit code. If a rank failed, returns the code of the lowest such rank; its error
 * lines are written and all others dropped. Otherwise returns EXIT_DONE; rank 0's warnings are written, the other ranks
 * keep theirs. */
int team_agree(team *, int code);

/* Between two agreements: team_tell reports to the other ranks that this one failed and goes to the next agreement.
 * team_was_told tests whether another rank has done so. */
void team_tell(team *);
int team_was_told(const team *);

/* Collective. Every rank does the work, rank 0 first, so that an error of all ranks is printed once. Returns the agreed
 * code. */
int team_in_turn(team *, int (*work)(void *), void *user);

/* Every rank gets rank 0's code; any number. */
int team_hear(const team *, int code);

/* Reduces a value of eight bytes to rank 0. */
void team_reduce(const team *, void *value, MPI_Datatype, MPI_Op);
/* The sums of the findings of --check. */
void team_reduce_checks(const team *, check_tally *);

/* Adds the number of ranks and the seconds of a job to a summary, which it returns; NULL stays NULL. */
json_t *team_put_times(const team *, json_t *summary, double scene, double reads, double writes);

/* Waits for a request without keeping a core busy. */
void team_wait(MPI_Request *request);

/* Broadcasts `size` bytes from rank 0; any size. */
void team_share(const team *, void *bytes, size_t size);

#endif
