/* The number of rays that a kernel casts: cast.rays, or what a buffer holds when it runs, where that is less
 * (slab_batch.counted).
 *
 * Kernels that are built with SLAB_COUNTED have two parameters more, and look there. Others are the code that they were
 * without such casts. PTX is compiled ahead, once for both: the instructions that look there are comments in it
 * (lanes/ptx.h).
 *
 * A launch has work-items for cast.rays. Work-items beyond the number write nothing. A group without rays ends at once,
 * all of it and before its first barrier. */
#ifndef WALK_COUNTED_H
#define WALK_COUNTED_H

#include "lanes/lanes.h"

/* The last parameters of a kernel, of which the number is counted[counted_at]; and the declaration of the number. */
#ifdef SLAB_COUNTED
#define COUNTED_PARAMETERS , const global uint *counted, const uint counted_at
#define COUNTED_RAYS(number, cast) \
  uint number = (cast).rays;       \
  COUNTED_TAKE(number, counted + counted_at, (get_global_id(0) - get_local_id(0)) * (cast).rays_each)
#else
#define COUNTED_PARAMETERS
#define COUNTED_RAYS(number, cast) const uint number = (cast).rays
#endif

/* Lowers the number to that in the buffer. first: of the rays of the work-item's group. */
#ifndef COUNTED_TAKE
#define COUNTED_TAKE(number, there, first) \
  number = min(number, *(there));          \
  if ((first) >= number) return
#endif

#endif
