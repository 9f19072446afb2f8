/* The order in which rays come, and a better one. Answers do not depend on it. */
#ifndef SLABCAST_SORT_H
#define SLABCAST_SORT_H

#include "slabcast.h"

typedef enum rays_order {
  RAYS_OF_A_POINT, /* neighbours begin at one point and hardly differ in direction, as those of a camera */
  RAYS_ALIKE,      /* they begin near each other and go much the same way, as to a light */
  RAYS_DIVERGING,  /* they begin near each other and go any way */
  RAYS_SCATTERED   /* they begin anywhere */
} rays_order;

/* How n rays, n >= 1, stand; looks at a few. lower, upper: bounds of the scene. */
rays_order rays_order_of(const slab_ray *rays, size_t n, const float lower[3], const float upper[3]);

/* The numbers of n rays, below 2^32, sorted by the octant of their directions and the place of their origins, so that
 * what one reads of a BVH serves the next: malloc'ed, or NULL where memory is short. */
uint32_t *rays_sorted(const slab_ray *rays, size_t n, const float lower[3], const float upper[3]);

#endif
