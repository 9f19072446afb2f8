/* The ranks of a job, and how they stay together when one of them fails: every rank comes to every agreement, whatever
 * has happened to it before, and what was agreed is the same for all. */
#ifndef SLABCAST_CLI_MPI_TEAM_H
#define SLABCAST_CLI_MPI_TEAM_H

#include <mpi.h>
#include <stddef.h>

typedef struct team {
  MPI_Comm comm;
  int rank, size;
  int local; /* rank among those on this machine */
  int told;  /* this rank has told the others that it failed */
} team;

/* Ranks and size; error lines are kept from here on. */
team team_begin(void);

/* Each brings the exit code that it has come to. Returns the code of the lowest rank that failed, whose error lines are
 * written and all others dropped; where none did EXIT_DONE: rank 0's warnings are written, the others keep theirs. */
int team_agree(team *, int code);

/* Between two agreements: tells the others that this rank will only come to the next one; has one of them said so? */
void team_tell(team *);
int team_was_told(const team *);

/* Waits for all without keeping a core busy. */
void team_wait(MPI_Request *request);

/* What stands at `bytes` on rank 0 comes to stand there on all, whatever its size. */
void team_share(const team *, void *bytes, size_t size);

#endif
