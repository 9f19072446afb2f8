/* Gate bounds: a box that contains whatever a primitive's own test accepts. A bounded primitive is hit only where
 * its gate passes the widened slab test, and its t is clamped into the gate's stretch. Rounding is monotone, so
 * the stretch of every enclosing BVH node contains the gate's: no BVH can change an answer. */
#ifndef PADDED_BOUNDS_H
#define PADDED_BOUNDS_H

#include "slab.h"

#include "padded_bounds.inc"

/* v at unit length, whatever its scale. False, and NaN, when it is zero. */
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

/* Where `lacks`, against the ray: the normal of what has none of its own. */
INLINE void normal_against(const prepared_ray *ray, ray_mask lacks, ray_real normal[3]) {
  ray_real against[3], unit[3];
  if (!ray_any(lacks)) return;
  UNROLL for (int i = 0; i < 3; i++) against[i] = -ray->direction[i];
  unit_vector(against, unit);
  UNROLL for (int i = 0; i < 3; i++) normal[i] = lacks ? unit[i] : normal[i];
}

#endif
