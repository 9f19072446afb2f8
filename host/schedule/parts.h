/* Casts of some of a call's rays: those that are cast again, and those whose results go through other memory. */
#ifndef SLABCAST_SCHEDULE_PARTS_H
#define SLABCAST_SCHEDULE_PARTS_H

#include "work/uniforms.h"

/* Casts the n rays from `first` on alone; `rays` are these. offsets: for SLAB_ALL, those of these rays. */
slab_status cast_these(cast *, slab_query, const slab_ray *rays, size_t first, size_t n, void *results,
                       const uint64_t *offsets);
/* The same of the cast's own rays. */
slab_status cast_some(cast *, slab_query, size_t first, size_t n, void *results, const uint64_t *offsets);
/* Casts rays whose results do not follow each other, some at a time. */
slab_status cast_apart(cast *, size_t stride);

#endif
