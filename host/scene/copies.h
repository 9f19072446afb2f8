/* Snapshots that are copies of others, for commits that write a part of them. */
#ifndef SLABCAST_SCENE_COPIES_H
#define SLABCAST_SCENE_COPIES_H

#include "record/snapshot.h"

/* A snapshot equal to another, in nodes and blocks of its own; its values are the other's. floats: those of the blocks.
 * They are zero behind the other's. spare: arrays, which are taken over where they have the size, else freed. *made:
 * also after a failure. The caller destroys it. */
slab_status snapshot_copy(const snapshot *from, size_t floats, bvh_layout *spare, snapshot **made);
/* Uploads it to all devices. */
slab_status snapshot_upload_copy(snapshot *);

#endif
