/* `slabcast cast` on all ranks of an MPI job. */
#ifndef SLABCAST_CLI_MPI_CAST_H
#define SLABCAST_CLI_MPI_CAST_H

#include "team.h"

/* argv[0] is "cast". Returns the exit code, the same on every rank. */
int team_cast(team *, int argc, char **argv);

#endif
