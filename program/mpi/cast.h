/* `slabcast cast` on all ranks of an MPI job. */
#ifndef SLABCAST_PROGRAM_MPI_CAST_H
#define SLABCAST_PROGRAM_MPI_CAST_H

#include "program/mpi/team.h"

/* argv[0] is "cast". Returns the exit code, the same on every rank. */
int team_cast(team *, int argc, char **argv);

#endif
