/* Ray i against shape i: no scene, one interval each. */
#include "answer.h"

/* shapes: the public struct of `kind`, an array. */
kernel void pairs(const global slab_ray *rays, const global float *shapes, global slab_interval *intervals,
                  const uint kind, const uint count, const uint first) {
  const size_t i = get_global_id(0);
  if (i >= count) return;
  const slab_ray given = rays[i];
  intervals[i] = pair_interval(kind, &given, shapes + i * primitive_rows(kind), first + (uint)i);
}
