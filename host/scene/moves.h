/* Moves: ranges of primitives that have changed since the last commits, and commits after which nothing else has. */
#ifndef SLABCAST_SCENE_MOVES_H
#define SLABCAST_SCENE_MOVES_H

#include "scene/scene.h"

/* Makes space to note a range of values. */
slab_status moves_reserve(slab_scene *, const geometry_values *, const values_range *);
/* Notes that a range of a geometry has changed, for which there is space. */
void moves_note(slab_scene *, uint32_t geometry, const values_range *);
/* Finds the bounds of geometries of which ranges have changed. */
void moves_settle(slab_scene *);

/* Whether nothing but ranges has changed, and the BVH of the last commit can be written in part. */
bool moves_are_all(const slab_scene *);
/* Whether moves can be written to a replaced snapshot, which nobody reads. */
bool moves_may_follow(const slab_scene *, const snapshot *);
/* Writes the moves to a snapshot. Leaves *made where the BVH does not hold the primitives any more, or where it would
 * cost too much, and a build is due: *builds. */
slab_status moves_make(slab_scene *, slab_update, snapshot **made, bool *builds);
void moves_finish(snapshot *, double begin);
/* Forgets moves that no snapshot needs any more, after a commit of moves alone; and all, after another one. */
void moves_forget(slab_scene *, bool moves);

#endif
