/* One scene on every rank: rank 0 reads it and builds its BVH, the others get both. */
#ifndef SLABCAST_CLI_MPI_SCENE_H
#define SLABCAST_CLI_MPI_SCENE_H

#include "../scene.h"
#include "team.h"

/* The device of this rank: local rank i takes the i-th that `selector` names, from the first again where there are
 * fewer: all, a list, cpu or gpu; NULL: the GPUs, where there are any. Returns an exit code. */
int team_device(const team *, const char *selector, slab_layout, slab_context **context);

/* Loads on rank 0, agrees, and hands it round. Returns what was agreed; *scene is NULL on failure. */
int team_scene(team *, const scene_source *, slab_context *, slab_tree, slab_scene **scene);

#endif
