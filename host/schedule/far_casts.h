/* Casts of rays of the world: of doubles, or of floats where a scene's origin is not 0. docs/contract.md, "Coordinates
 * in double", has the rules. */
#ifndef SLABCAST_SCHEDULE_FAR_CASTS_H
#define SLABCAST_SCHEDULE_FAR_CASTS_H

#include <stdbool.h>

#include "base/moved.h"
#include "work/uniforms.h"

/* Whether a cast's rays are of the world and not of the scene. */
static inline bool is_far_cast(const cast *c) {
  return c->set == NULL && (c->rays64 != NULL || is_moved(c->scene->stats.origin));
}
/* Casts rays with one result each, `stride` bytes from one to the next, or sums these. */
slab_status far_cast_each(cast *, size_t stride);
/* As cast_all (schedule/lists.h). */
slab_status far_cast_all(cast *, uint64_t *offsets, uint64_t capacity, uint64_t *required);

#endif
