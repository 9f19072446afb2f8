/* In which rows, and in which order of a row, the rays of a set are cast. */
#ifndef SLABCAST_SCHEDULE_SET_ROWS_H
#define SLABCAST_SCHEDULE_SET_ROWS_H

#include "record/device.h"
#include "work/uniforms.h"

/* Finds the rows of a cast of a set, for a device that casts tiles. row 0: rows are of no use. set_rows_free follows,
 * also after a failure. */
slab_status set_rows_find(const cast *, device *, rays_rows *);
void set_rows_free(rays_rows *);

#endif
