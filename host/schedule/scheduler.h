/* Distributes the rays of a cast over the devices of its context. */
#ifndef SLABCAST_SCHEDULE_SCHEDULER_H
#define SLABCAST_SCHEDULE_SCHEDULER_H

#include "work/uniforms.h"

/* Casts all rays, or as many as a collection takes, on every device of the context. Nothing is in flight when it
 * returns, on success and on failure. */
slab_status schedule_rays(cast *);

#endif
