/* Gates: the boxes that rays enter before they are cast in a model. */
#ifndef SLABCAST_SCENE_GATES_H
#define SLABCAST_SCENE_GATES_H

#include "scene/models.h"

/* The gates of a group's instances, as values of SHAPE_INSTANCE. NULL: memory is short. */
geometry_values *gates_of(const slab_context *, const instance_group *, const model_measure *);

#endif
