/* Geometry for a lane width. */
#ifndef SLABCAST_PACK_H
#define SLABCAST_PACK_H

#include "slabcast.h"
#include "snapshot.h"
#include "types.h"

/* Lays `geometries` out for `lanes`: *table and *blocks are malloc'ed, *floats the length of blocks. */
slab_status pack_scene(const snapshot *, uint32_t lanes, geometry_entry **table, float **blocks, size_t *floats);

#endif
