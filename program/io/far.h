/* Which coordinates of a file are so far from 0 that rounding to float shows: such a file is taken in double. The rule
 * is that of the Python package. */
#ifndef SLABCAST_PROGRAM_IO_FAR_H
#define SLABCAST_PROGRAM_IO_FAR_H

#include <math.h>

/* Rounding to float moves a coordinate by this share of it at most; a loss shows that is this share of the extent. */
#define FAR_ROUNDING 0x1p-24
#define FAR_LOSS 1e-6

/* The least and the greatest of some coordinates. */
typedef struct far_range {
  double lower[3], upper[3];
} far_range;

static inline far_range far_range_empty(void) {
  return (far_range){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

/* Takes in a coordinate; one that is not finite is passed over. */
static inline void far_range_add(far_range *range, int axis, double x) {
  if (!isfinite(x)) return;
  if (x < range->lower[axis]) range->lower[axis] = x;
  if (x > range->upper[axis]) range->upper[axis] = x;
}

/* The longest side; 0 where nothing was added. */
static inline double far_range_size(const far_range *range) {
  double size = 0;
  for (int k = 0; k < 3; k++)
    if (range->upper[k] - range->lower[k] > size) size = range->upper[k] - range->lower[k];
  return size;
}

/* How far from 0 it goes. */
static inline double far_range_reach(const far_range *range) {
  double reach = 0;
  for (int k = 0; k < 3; k++)
    if (range->lower[k] <= range->upper[k]) reach = fmax(reach, fmax(fabs(range->lower[k]), fabs(range->upper[k])));
  return reach;
}

static inline int far_range_is_far(const far_range *range) {
  const double size = far_range_size(range);
  return size > 0 && FAR_ROUNDING * far_range_reach(range) > FAR_LOSS * size;
}

#endif
