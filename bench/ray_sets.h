/* Ray sets for benchmarks, for scenes that fill the cube from -1 to 1. */
#ifndef SLABCAST_BENCH_RAY_SETS_H
#define SLABCAST_BENCH_RAY_SETS_H

#include <stddef.h>

#include "sets/random.h"
#include "slabcast.h"

typedef enum ray_set {
  RAYS_FAR,   /* from a sphere of radius 6 to anywhere in a ball of radius 6: most miss the scene */
  RAYS_INSIDE /* pictures of 64 x 64 pixels from random positions within the scene: nearly all hit, and early */
} ray_set;

extern const char *const ray_set_names[2];

void ray_set_fill(ray_set, random_state *, size_t n, slab_ray *rays);

#endif
