/* Sets of rays as the caller describes them. */
#ifndef SLABCAST_SCHEDULE_RAY_SETS_H
#define SLABCAST_SCHEDULE_RAY_SETS_H

#include <stdbool.h>

#include "record/set_rays.h"
#include "slabcast.h"

/* SLAB_INVALID_ARGUMENT where a description is none, or has no n rays from `first` on. */
slab_status ray_set_check_part(const char *function, const slab_rays *, uint64_t first, size_t n);
/* Whether the rays of a set come in rows as those of a picture do. */
bool ray_set_is_picture(const set_rays *);
/* Those rays of a set that was checked. */
set_rays ray_set_part(const slab_rays *, uint64_t first, size_t n);
/* Makes a set with this offset count from a scene's origin. *tables: memory that it then needs, and the caller frees.
 * Returns false where memory is short. */
bool ray_set_near(const double origin[3], const double offset[3], set_rays *, float **tables);

#endif
