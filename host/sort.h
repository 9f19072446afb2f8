/* Classifies the order of rays, and sorts them. Answers do not depend on the order. */
#ifndef SLABCAST_SORT_H
#define SLABCAST_SORT_H

#include "slabcast.h"

typedef enum rays_order {
  RAYS_OF_A_POINT, /* neighbours begin at one point and hardly differ in direction, as camera rays */
  RAYS_ALIKE,      /* neighbours begin near each other and have similar directions, as shadow rays to a light */
  RAYS_DIVERGING,  /* neighbours begin near each other and have any direction */
  RAYS_SCATTERED   /* neighbours begin anywhere */
} rays_order;

/* The order of n rays, n >= 1, judged by a few samples. lower, upper: bounds of the scene. */
rays_order rays_order_of(const slab_ray *rays, size_t n, const float lower[3], const float upper[3]);

/* The indices of n rays, n below 2^32, sorted by the octant of the direction and by the cell of the origin, so that
 * neighbouring rays read the same parts of a BVH. threads: as pool_run takes it. malloc'ed, or NULL where memory is
 * short. */
uint32_t *rays_sorted(const slab_ray *rays, size_t n, const float lower[3], const float upper[3], uint32_t threads);

#endif
