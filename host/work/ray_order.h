/* Classifies the order of rays, and sorts them. Answers do not depend on the order. */
#ifndef SLABCAST_WORK_RAY_ORDER_H
#define SLABCAST_WORK_RAY_ORDER_H

#include <stdbool.h>

#include "record/traversals.h"
#include "slabcast.h"

/* The order of n rays, n >= 1, judged by a few samples. lower, upper: bounds of the scene. */
rays_order rays_order_of(const slab_ray *rays, size_t n, const float lower[3], const float upper[3]);

/* Rays that are made to be judged: `make` writes n of them, MADE_TO_SEE at most, from number `first` on. */
enum { MADE_TO_SEE = 64 };
typedef struct rays_maker {
  void (*make)(const void *of, size_t first, size_t n, slab_ray *rays);
  const void *of;
} rays_maker;
/* The order of such rays. */
rays_order made_rays_order_of(const rays_maker *, size_t n, const float lower[3], const float upper[3]);

/* Rays of a tile: as many as packets have on processors, and half as many where lanes are few. */
#define RAYS_A_TILE 32u

/* Rays in rows, as those of a picture or of a spinning LiDAR: `row` rays each. A tile has RAYS_A_TILE rays, `width` in
 * each of `height` rows. They are closer to each other than as many that follow each other. row 0: the rays are in no
 * rows, or in rows of no use. */
typedef struct rays_rows {
  uint32_t row, width, height;
  uint32_t *order; /* of height 1: the order in which each row's rays are cast; NULL: as they stand */
  float *columns;  /* where they have an order: the columns of the set that they are of, in that order */
} rays_rows;

/* The rows of n rays, judged by a few samples. As for rays_order_of. */
rays_rows rays_rows_of(const slab_ray *rays, size_t n, const float lower[3], const float upper[3]);

rays_rows made_rays_rows_of(const rays_maker *, size_t n, const float lower[3], const float upper[3]);

/* The same of whole rows, whose length is known; row 0 where tiles are of no use. */
rays_rows rays_tiles_of(const slab_ray *rays, size_t n, uint32_t row, const float lower[3], const float upper[3]);

/* The indices of n rays, n below 2^32, sorted by the octant of the direction and by the cell of the origin. So
 * neighbouring rays read the same parts of a BVH. threads: as pool_run takes it. Returns malloc'ed memory, or NULL
 * where memory is short. */
uint32_t *rays_sorted(const slab_ray *rays, size_t n, const float lower[3], const float upper[3], uint32_t threads);

/* The indices of n directions, or points, 3 floats each, so that those next to each other are close. lower, upper:
 * bounds about which the points are; NULL: their own. Returns malloc'ed memory, or NULL where memory is short. */
uint32_t *directions_sorted(const float *directions, uint32_t n, uint32_t threads);
uint32_t *points_sorted(const float *points, uint32_t n, const float lower[3], const float upper[3], uint32_t threads);
/* Whether points that follow each other are mostly close already, judged by a few samples. */
bool points_are_near(const float *points, size_t n, const float lower[3], const float upper[3]);

#endif
