/* The same scene on every rank: rank 0 reads it and builds its BVH, the others receive both. */
#ifndef SLABCAST_PROGRAM_MPI_SCENE_H
#define SLABCAST_PROGRAM_MPI_SCENE_H

#include "program/common/scene.h"
#include "program/mpi/team.h"

/* Opens this rank's device: local rank i takes device i of those that options.device names, modulo their number: all, a
 * list, cpu or gpu; NULL: the GPUs if there are any. Returns an exit code. */
int team_device(const team *, slab_context_options options, slab_context **context);

/* Collective. Rank 0 loads the scene, all ranks agree, then rank 0 sends it. Returns the agreed code; *scene is NULL on
 * failure. */
int team_scene(team *, scene_source *, slab_context *, slab_tree, slab_scene **scene);

#endif
