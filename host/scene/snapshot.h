/* Making a snapshot of a scene: laid out, and uploaded to each device. */
#ifndef SLABCAST_SCENE_SNAPSHOT_H
#define SLABCAST_SCENE_SNAPSHOT_H

#include "record/snapshot.h"

struct worlds_before;

/* An empty one, to be filled in; NULL when memory is short. snapshot_destroy accepts it in any state, and NULL. */
snapshot *snapshot_create(slab_context *, uint32_t geometries);
void snapshot_destroy(snapshot *);
/* The same, but for the arrays of its BVH, which *arrays receives in place of its own. */
void snapshot_salvage(snapshot *, bvh_layout *arrays);

/* Lays the scene out and uploads it to every device. */
slab_status snapshot_upload(snapshot *, const struct worlds_before *, slab_tree);
/* Uploads a BVH. Takes ownership of the layout's arrays, on success and on failure. */
slab_status snapshot_upload_tree(snapshot *, const bvh_layout *);
/* Takes over the results that casts on the last snapshot have learned from. */
void snapshot_learn(snapshot *, const snapshot *last);
/* Measures the bounds of a scene without worlds. */
void snapshot_measure(snapshot *);
/* Counts and measures the scene, after it was uploaded. begin: seconds_now() at the start of the commit. */
void snapshot_finish(snapshot *, double begin);

#endif
