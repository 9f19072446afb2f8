/* The shared part of the tables of actions. */
#ifndef FAULTS_ACTIONS_H
#define FAULTS_ACTIONS_H

#include "world.h"

#define IN_A_TREE .tree = SLAB_TREE_HIGH

/* Part of the outcome for calls that create an object. The object is stored here, and stays untouched if the call
 * fails. */
typedef struct made {
  slab_context *context;
  slab_scene *scene;
  uint32_t lane_width, geometries;
} made;

void begin_nothing(world *);
void begin_context(world *);

slab_status run_context_create(world *);
slab_status run_commit(world *);
/* Completes what such a call made, and returns the call's status. */
slab_status told(world *, slab_status);
/* Destroys what such a call made. */
void undo_made(world *);

#endif
