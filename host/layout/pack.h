/* Geometry for a lane width. */
#ifndef SLABCAST_LAYOUT_PACK_H
#define SLABCAST_LAYOUT_PACK_H

#include "data/types.h"
#include "record/snapshot.h"
#include "slabcast.h"

/* Lays `geometries` out for `lanes`: *table and *blocks are malloc'ed, *floats the length of blocks. */
slab_status pack_scene(const snapshot *, uint32_t lanes, geometry_entry **table, float **blocks, size_t *floats);

#endif
