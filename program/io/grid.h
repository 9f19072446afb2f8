/* Points of a grid, which a formula makes where they are measured. */
#ifndef SLABCAST_PROGRAM_IO_GRID_H
#define SLABCAST_PROGRAM_IO_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "slabcast.h"

/* Point i + size[0] (j + size[1] k) is origin + (i, j, k) * spacing, in double or rounded to float. */
typedef struct grid {
  uint32_t size[3];
  double origin[3], spacing[3];
} grid;

/* Points that a grid may have: their results have fewer than 2^63 bytes, in any format. */
#define GRID_MOST (UINT64_C(1) << 54)

/* Sizes along the axes; all 0: not given. */
typedef struct grid_option {
  uint32_t size[3];
} grid_option;

/* A box; a bound may be infinite. */
typedef struct grid_box {
  double lower[3], upper[3];
} grid_box;

/* Puts points from lower to upper, both ends included. One point along an axis lies in the middle, at 0 where the box
 * has no end. Returns 0, or -1 with the error printed. */
int grid_make(const grid_option *, const grid_box *, grid *);
/* The number of points; 0: more than GRID_MOST. */
uint64_t grid_count(const uint32_t size[3]);
uint64_t grid_digest(const grid *);
/* n points from point `first` on, as rays without a direction: of each kind that is not NULL. */
void grid_points(const grid *, uint64_t first, size_t n, slab_ray *floats, slab_ray64 *doubles);

#endif
