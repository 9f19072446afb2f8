/* Padded bounds: a box that provably contains all that a primitive's own test accepts. A bounded primitive is hit only
 * where its padded bounds pass the widened slab test. Its t is clamped into the interval of t of the padded bounds.
 * Rounding is monotone, so the interval of every enclosing BVH node contains the interval of the padded bounds. So no
 * BVH can change an answer. */
#ifndef PADDED_BOUNDS_H
#define PADDED_BOUNDS_H

#include "slab.h"

#include "padded_bounds.inc"

/* Normalises v, whatever its scale. False, and NaN, where v is zero. */
INLINE ray_mask unit_vector(const ray_real v[3], ray_real unit[3]) {
  ray_real largest = (ray_real)(0.0f), scaled[3], factor[2];
  UNROLL for (int i = 0; i < 3; i++) largest = ray_max(v[i] < 0.0f ? -v[i] : v[i], largest);
  power_of_two(-exponent_of(largest), factor);
  UNROLL for (int i = 0; i < 3; i++) scaled[i] = v[i] * factor[0] * factor[1];
  ray_real square = (scaled[0] * scaled[0] + scaled[1] * scaled[1]) + scaled[2] * scaled[2];
  ray_real length = ray_sqrt(square);
  UNROLL for (int i = 0; i < 3; i++) unit[i] = ray_divide(scaled[i], length);
  return largest > 0.0f;
}

/* Where `lacks` is set, sets the normal to the reversed unit direction of the ray. This is for primitives without a
 * normal of their own. */
INLINE void normal_against(const prepared_ray *ray, ray_mask lacks, ray_real normal[3]) {
  ray_real against[3], unit[3];
  if (!ray_any(lacks)) return;
  UNROLL for (int i = 0; i < 3; i++) against[i] = -ray->direction[i];
  unit_vector(against, unit);
  UNROLL for (int i = 0; i < 3; i++) normal[i] = lacks ? unit[i] : normal[i];
}

#endif
