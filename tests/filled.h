/* Scenes that share their programs, since one takes seconds to compile. */
#ifndef FILLED_H
#define FILLED_H

#include "slabcast.h"

typedef slab_status scene_filler(slab_scene *scene, const void *user);

/* A committed scene of what `fill` adds to it, and a dropped primitive of every kind. A failure fails the test; the
 * caller destroys the scene. */
slab_scene *filled_scene(slab_context *context, slab_tree tree, scene_filler *fill, const void *user);

/* Before the commit: except at 8 lanes adds a primitive of each kind that is never hit. At 8 lanes scenes keep programs
 * for their own kinds. */
void share_programs(slab_scene *scene);

#endif
