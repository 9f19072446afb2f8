/* `slabcast near` and `slabcast inside` on all ranks of an MPI job. */
#ifndef SLABCAST_PROGRAM_MPI_NEAR_H
#define SLABCAST_PROGRAM_MPI_NEAR_H

#include "program/mpi/team.h"
#include "program/near/near.h"

/* argv[0] is the command's name. Returns the exit code, the same on every rank. */
int team_near(team *, near_command, int argc, char **argv);

#endif
