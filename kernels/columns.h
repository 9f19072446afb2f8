/* Rays as they are read: LANES at once, a column for each number of a ray. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "lanes.h"
#include "types.h"

#define RAY_WORDS 8

/* The number of the nth ray that is cast. sorted: all numbers in that order; NULL: as rays stand. */
INLINE size_t ray_number(const global uint *sorted, size_t nth) { return sorted != 0 ? sorted[nth] : nth; }

#if LANES > 1
/* Lane k's ray of `count`; the last stands in for those beyond it. */
INLINE size_t columns_number(const global uint *sorted, size_t first, size_t count, size_t k) {
  return ray_number(sorted, first + (k < count ? k : count - 1));
}

/* `count` records of eight numbers, rays or hits, LANES at most, from the first on. By shuffles: left to themselves,
 * compilers gather each number alone. */
INLINE void columns_load(const global float *from, const global uint *sorted, size_t first, size_t count,
                         real column[RAY_WORDS]) {
  UNROLL for (size_t k = 0; k < 8; k++) column[k] =
      lanes_of_two(from + RAY_WORDS * columns_number(sorted, first, count, k),
                   from + RAY_WORDS * columns_number(sorted, first, count, k + 8));
  if (sorted == 0) memory_fetch((size_t)(from + RAY_WORDS * (first + LANES)), LANES * sizeof(slab_ray)); /* the next */
  lanes_transpose(column);
}

/* Of rays. */
INLINE void columns_of_rays(const global slab_ray *rays, const global uint *sorted, const cast_uniforms *cast,
                            size_t first, size_t count, real column[RAY_WORDS]) {
  columns_load((const global float *)rays + cast->at[AT_RAYS], sorted, first, count, column);
}
#endif

#endif
