/* Loads LANES rays at once, transposed: a vector (column) for each number of a ray. */
#ifndef WALK_COLUMNS_H
#define WALK_COLUMNS_H

#include "data/scene_memory.h"

#define RAY_WORDS 8

/* The number of the nth ray that is cast. sorted: as in cast_arrays. */
INLINE size_t ray_number(const global uint *sorted, size_t nth) { return sorted != 0 ? sorted[nth] : nth; }

#if LANES > 1
/* The ray number for lane k of `count`. Lanes beyond count repeat the last. */
INLINE size_t columns_number(const global uint *sorted, size_t first, size_t count, size_t k) {
  return ray_number(sorted, first + (k < count ? k : count - 1));
}

/* Loads `count` records of eight numbers (rays or hits), LANES at most, from the first on. It uses shuffles; compilers
 * on their own gather each number by itself. */
INLINE void columns_load(const global float *from, const global uint *sorted, size_t first, size_t count,
                         real column[RAY_WORDS]) {
#define RECORD(i) (from + RAY_WORDS * columns_number(sorted, first, count, k + i))
  UNROLL for (size_t k = 0; k < 8; k++) column[k] = lanes_of_eights(RECORD);
#undef RECORD
  if (sorted == 0)
    memory_fetch((size_t)(from + RAY_WORDS * (first + LANES)), LANES * sizeof(slab_ray)); /* the next records */
  lanes_transpose(column);
}

/* The same for rays. */
INLINE void columns_of_rays(const cast_arrays *arrays, const cast_uniforms *cast, size_t first, size_t count,
                            real column[RAY_WORDS]) {
  columns_load((const global float *)arrays->rays + cast->at[AT_RAYS], arrays->sorted, first, count, column);
}
#endif

#endif
