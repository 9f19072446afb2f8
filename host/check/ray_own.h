/* What the options of a cast say of one of its rays. */
#ifndef SLABCAST_CHECK_RAY_OWN_H
#define SLABCAST_CHECK_RAY_OWN_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "slabcast.h"

typedef struct ray_own {
  slab_primitive_id skip; /* the primitive that it does not see; {SLAB_MISS, SLAB_MISS}: none */
  uint32_t mask;          /* sees the geometries with a common bit */
  slab_short_hit after;   /* it is given what follows */
} ray_own;

/* That of ray i. options may be NULL. */
static inline ray_own ray_own_of(const slab_cast_options *options, size_t i) {
  ray_own own = {{SLAB_MISS, SLAB_MISS}, UINT32_MAX, {-INFINITY, SLAB_MISS, SLAB_MISS}};
  if (options == NULL) return own;
  if (options->mask != 0) own.mask = options->mask;
  if (options->skip != NULL) own.skip = options->skip[i];
  if (options->masks != NULL) own.mask = options->masks[i];
  if (options->after != NULL) own.after = options->after[i];
  return own;
}

/* Whether the ray is given a hit that is reported at t. */
static inline bool ray_own_takes(const ray_own *own, float t, slab_primitive_id id) {
  const slab_short_hit *after = &own->after;
  if (t != after->t) return t > after->t;
  return id.geometry != after->geometry ? id.geometry > after->geometry : id.primitive > after->primitive;
}

#endif
