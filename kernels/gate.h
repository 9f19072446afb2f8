/* Gate bounds: a box that contains whatever a primitive's own test accepts. A bounded primitive is hit only where
 * its gate passes the widened slab test, and its t is clamped into the gate's stretch. Rounding is monotone, so
 * the stretch of every enclosing tree node contains the gate's: no tree can change an answer. */
#ifndef GATE_H
#define GATE_H

#include "slab.h"

/* lower - pad and upper + pad, rounded outward: 2^-22 of the coordinate exceeds the rounding of both operations. */
INLINE real gate_lower(real lower, real pad) { return lower - lanes_fma(lanes_abs(lower), (real)(0x1p-22f), pad); }
INLINE real gate_upper(real upper, real pad) { return upper + lanes_fma(lanes_abs(upper), (real)(0x1p-22f), pad); }

/* The stretch of a ray between bounds: *lo, *leave, and *hi = leave raised to lo. */
INLINE void bounds_stretch(const float origin[3], const float inverse[3], const real lower[3], const real upper[3],
                           real *lo, real *leave, real *hi) {
  *lo = (real)(-INFINITY);
  *leave = (real)(INFINITY);
  UNROLL for (int i = 0; i < 3; i++) {
    bool down = inverse[i] < 0.0f;
    slab_span(origin[i], inverse[i], down ? upper[i] : lower[i], down ? lower[i] : upper[i], lo, leave);
  }
  *hi = lanes_max(*leave, *lo);
}

/* NaN becomes lo. */
INLINE real clamp_into(real t, real lo, real hi) { return lanes_min(lanes_max(t, lo), hi); }

/* v at unit length, whatever its scale. False when it is zero. */
INLINE bool unit_vector(const float v[3], float unit[3]) {
  float largest = 0.0f, scaled[3], factor[2];
  UNROLL for (int i = 0; i < 3; i++) largest = scalar_max(v[i] < 0.0f ? -v[i] : v[i], largest);
  if (!(largest > 0.0f)) return false;
  power_of_two(-exponent_of(largest), factor);
  UNROLL for (int i = 0; i < 3; i++) scaled[i] = v[i] * factor[0] * factor[1];
  float square = (scaled[0] * scaled[0] + scaled[1] * scaled[1]) + scaled[2] * scaled[2];
  float length = scalar_sqrt(square);
  UNROLL for (int i = 0; i < 3; i++) unit[i] = scalar_divide(scaled[i], length);
  return true;
}

/* Against the ray: the normal of what has none of its own. */
INLINE void normal_against(const ray_frame *ray, float normal[3]) {
  float against[3];
  UNROLL for (int i = 0; i < 3; i++) against[i] = -ray->direction[i];
  unit_vector(against, normal);
}

#endif
