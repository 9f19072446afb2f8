/* A committed scene of whatever a function adds to it. */
#ifndef FILLED_H
#define FILLED_H

#include "slabcast.h"

typedef slab_status scene_filler(slab_scene *scene, const void *user);

/* Holds a dropped primitive of every kind besides, so that all such scenes share their programs. A failure fails the
 * test; the caller destroys the scene. */
slab_scene *filled_scene(slab_context *context, slab_tree tree, scene_filler *fill, const void *user);

#endif
