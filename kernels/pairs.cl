/* Tests ray i against shape i and writes one interval each. It uses no scene. */
#include "maths/answer.h"

/* shapes: an array of the public struct of `kind`. */
kernel void KERNEL_NAME(pairs)(WORK_ITEM const global slab_ray *rays, const global float *shapes,
                               global slab_interval *intervals, const uint kind, const uint count, const uint first) {
  const size_t i = get_global_id(0);
  if (i >= count) return;
  const slab_ray given = rays[i];
  intervals[i] = pair_interval(kind, &given, shapes + i * primitive_floats(kind), first + (uint)i);
}
