/* The options of a call for one of its rays, or points. */
#ifndef SLABCAST_CHECK_RAY_OWN_H
#define SLABCAST_CHECK_RAY_OWN_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "slabcast.h"

/* The geometries that a ray or a point sees. */
typedef struct visibility {
  uint32_t mask;  /* geometries with a common bit, */
  uint32_t world; /* of this world or of all; 0: of all alone */
} visibility;

/* Whether it sees primitives of a world; and those of a world that have a mask. */
static inline bool visibility_reaches(visibility s, uint32_t world) { return world == 0 || world == s.world; }
static inline bool visibility_has(visibility s, uint32_t bits, uint32_t world) {
  return (s.mask & bits) != 0 && visibility_reaches(s, world);
}

typedef struct ray_own {
  slab_primitive_id skip; /* the primitive that it does not see; {SLAB_MISS, SLAB_MISS}: none */
  slab_short_hit after;   /* it is given the hits that follow */
  visibility sees;
} ray_own;

/* The options of ray i. options may be NULL. */
static inline ray_own ray_own_of(const slab_cast_options *options, size_t i) {
  ray_own own = {{SLAB_MISS, SLAB_MISS}, {-INFINITY, SLAB_MISS, SLAB_MISS}, {UINT32_MAX, 0}};
  if (options == NULL) return own;
  if (options->mask != 0) own.sees.mask = options->mask;
  if (options->skip != NULL) own.skip = options->skip[i];
  if (options->masks != NULL) own.sees.mask = options->masks[i];
  if (options->after != NULL) own.after = options->after[i];
  if (options->worlds != NULL) own.sees.world = options->worlds[i];
  return own;
}

/* Whether the ray is given a hit that is reported at t. */
static inline bool ray_own_takes(const ray_own *own, float t, slab_primitive_id id) {
  const slab_short_hit *after = &own->after;
  if (t != after->t) return t > after->t;
  return id.geometry != after->geometry ? id.geometry > after->geometry : id.primitive > after->primitive;
}

#endif
