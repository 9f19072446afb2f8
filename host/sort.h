/* An order of rays in which those near each other begin close together and go one way, so that what one reads of a tree
 * serves the next. Answers do not depend on it. */
#ifndef SLABCAST_SORT_H
#define SLABCAST_SORT_H

#include "slabcast.h"

/* Whether n rays, n >= 1, as they stand lie so far apart that sorting may pay; looks at a few. lower, upper: bounds of
 * the scene. */
int rays_are_scattered(const slab_ray *rays, size_t n, const float lower[3], const float upper[3]);

/* The numbers of n rays, below 2^32, sorted by the octant of their directions and the place of their origins:
 * malloc'ed, or NULL where memory is short. */
uint32_t *rays_sorted(const slab_ray *rays, size_t n, const float lower[3], const float upper[3]);

#endif
