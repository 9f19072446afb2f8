/* The same scene on every rank: rank 0 reads it and builds its BVH, the others receive both. */
#ifndef SLABCAST_PROGRAM_MPI_SCENE_H
#define SLABCAST_PROGRAM_MPI_SCENE_H

#include "program/common/scene.h"
#include "program/mpi/team.h"

/* Collective: as scene_source_open, for all ranks. Local rank i takes device i of those that options->device names,
 * modulo their number: all, a list, cpu or gpu; NULL: the GPUs if there are any. Rank 0 loads the scene, all ranks
 * agree, then rank 0 sends it, in so many seconds. Returns the agreed code. Opened objects are the caller's after a
 * failure too. */
int team_scene_open(team *, scene_source *, const slab_context_options *options, slab_tree, slab_context **,
                    slab_scene **, slab_scene_stats *, slab_device_info *, double *seconds);

#endif
