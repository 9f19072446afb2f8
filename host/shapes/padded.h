/* Pads bounds in vectors, as padded_lower and padded_upper do. */
#ifndef SLABCAST_SHAPES_PADDED_H
#define SLABCAST_SHAPES_PADDED_H

#include "base/per_processor.h"
#include "bvh/float4.h"
#include "maths/padded_bounds.h"

/* To be called from functions that are WITH_FMA. */
ALWAYS_INLINE aabb aabb_padded(aabb bounds, float pad) {
  float4 lower = bounds.lower, upper = bounds.upper;
  for (int i = 0; i < 4; i++) {
    lower[i] = padded_lower(lower[i], pad);
    upper[i] = padded_upper(upper[i], pad);
  }
  return (aabb){lower, upper};
}

#endif
