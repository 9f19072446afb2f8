/* Snapshots that are copies of others, for commits that write a part of them. */
#ifndef SLABCAST_SCENE_COPIES_H
#define SLABCAST_SCENE_COPIES_H

#include "record/snapshot.h"

/* A snapshot equal to another, in nodes and blocks of its own; its values are the other's. floats: of the blocks, zero
 * behind the other's. spare: arrays to take over where they have the size, or to free. *made: also after a failure, to
 * be destroyed. */
slab_status snapshot_copy(const snapshot *from, size_t floats, bvh_layout *spare, snapshot **made);
/* Uploads it to all devices. */
slab_status snapshot_upload_copy(snapshot *);

#endif
