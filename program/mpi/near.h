/* `slabcast near` on all ranks of an MPI job. */
#ifndef SLABCAST_PROGRAM_MPI_NEAR_H
#define SLABCAST_PROGRAM_MPI_NEAR_H

#include "program/mpi/team.h"

/* argv[0] is "near". Returns the exit code, the same on every rank. */
int team_near(team *, int argc, char **argv);

#endif
