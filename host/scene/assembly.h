/* The arrays of a scene with instances: those of its models behind its own. */
#ifndef SLABCAST_SCENE_ASSEMBLY_H
#define SLABCAST_SCENE_ASSEMBLY_H

#include "record/snapshot.h"

/* Adds the models of a scene with instances to its table and to its BVH, whose arrays begin with that scene's own. They
 * may have the size of the whole, and its models already. */
slab_status assembly_append(snapshot *, bvh_layout *);

#endif
