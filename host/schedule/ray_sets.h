/* Sets of rays as the caller describes them. */
#ifndef SLABCAST_SCHEDULE_RAY_SETS_H
#define SLABCAST_SCHEDULE_RAY_SETS_H

#include "record/set_rays.h"
#include "slabcast.h"

/* SLAB_INVALID_ARGUMENT where a description is none. */
slab_status ray_set_check(const char *function, const slab_rays *);
/* All rays of a set that was checked. */
set_rays ray_set_all(const slab_rays *);

#endif
