/* Padded bounds: a box that provably contains all that a primitive's own test accepts. A bounded primitive is hit only
 * where its padded bounds pass the widened slab test. Its t is clamped into the interval of t of the padded bounds.
 * Rounding is monotone, so the interval of every enclosing BVH node contains the interval of the padded bounds. So no
 * BVH can change an answer. */
#ifndef MATHS_PADDED_BOUNDS_H
#define MATHS_PADDED_BOUNDS_H

#include "maths/slab.h"

#include "maths/padded_bounds.inc"

/* The largest component of a vector, without its sign. */
INLINE ray_real vector_largest(const ray_real v[3]) {
  ray_real largest = (ray_real)(0.0f);
  UNROLL for (int i = 0; i < 3; i++) largest = ray_max(v[i] < 0.0f ? -v[i] : v[i], largest);
  return largest;
}

/* Normalises v, whatever its scale. NaN where v is zero. */
INLINE void unit_vector(const ray_real v[3], ray_real unit[3]) {
  ray_real largest = vector_largest(v), scaled[3], factor[2];
  power_of_two(-exponent_of(largest), factor);
  UNROLL for (int i = 0; i < 3; i++) scaled[i] = v[i] * factor[0] * factor[1];
  ray_real square = (scaled[0] * scaled[0] + scaled[1] * scaled[1]) + scaled[2] * scaled[2];
  ray_real length = ray_sqrt(square);
  UNROLL for (int i = 0; i < 3; i++) unit[i] = ray_divide(scaled[i], length);
}

/* The unit normal along v; where v is zero, or `lacks` is set, against the ray. This is for primitives without a normal
 * of their own. Returns where that is. One vector is normalised: of two, compilers computed the second for every ray.
 */
INLINE ray_mask unit_normal(const prepared_ray *ray, const ray_real v[3], ray_mask lacks, ray_real normal[3]) {
  const ray_mask has = (vector_largest(v) > 0.0f) & !lacks;
  ray_real chosen[3];
  UNROLL for (int i = 0; i < 3; i++) chosen[i] = has ? v[i] : -ray->direction[i];
  unit_vector(chosen, normal);
  return !has;
}

#endif
