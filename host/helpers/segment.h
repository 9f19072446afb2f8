/* The ray from a point to another, but for its range. */
#ifndef SLABCAST_HELPERS_SEGMENT_H
#define SLABCAST_HELPERS_SEGMENT_H

#include "base/arithmetic.h"
#include "slabcast.h"

ARITHMETIC_BODY static void segment(slab_ray *ray, const float a[3], const float b[3]) {
  for (int i = 0; i < 3; i++) {
    ray->origin[i] = a[i];
    ray->direction[i] = b[i] - a[i];
  }
}

#endif
