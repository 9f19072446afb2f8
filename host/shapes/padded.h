/* Pads bounds in vectors, as padded_lower and padded_upper do. */
#ifndef SLABCAST_SHAPES_PADDED_H
#define SLABCAST_SHAPES_PADDED_H

#include "bvh/float4.h"
#include "maths/padded_bounds.h"

/* To be called from what is PER_PROCESSOR. */
static inline __attribute__((always_inline)) aabb aabb_padded(aabb bounds, float pad) {
  float4 lower = bounds.lower, upper = bounds.upper;
  for (int i = 0; i < 4; i++) {
    lower[i] = padded_lower(lower[i], pad);
    upper[i] = padded_upper(upper[i], pad);
  }
  return (aabb){lower, upper};
}

#endif
