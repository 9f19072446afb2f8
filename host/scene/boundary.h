/* Where the meshes of a scene end. */
#ifndef SLABCAST_SCENE_BOUNDARY_H
#define SLABCAST_SCENE_BOUNDARY_H

#include "record/boundary.h"
#include "record/snapshot.h"

/* The boundary of a snapshot's meshes. The first call makes it, and threads may make it at once; it stays with the
 * snapshot. SLAB_UNSUPPORTED where the model of an instance has one: beyond its gate an instance counts no crossings,
 * and the terms would need them. */
slab_status boundary_get(const char *function, const snapshot *, const boundary **);
/* Accepts NULL. */
void boundary_free(boundary *);

#endif
