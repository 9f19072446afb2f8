/* The slab test: intersects a ray with the box between three pairs of planes. */
#ifndef MATHS_SLAB_H
#define MATHS_SLAB_H

#include "maths/ray.h"

/* Both enter and leave have a relative error of three roundings, and ((1+u)/(1-u))^3 < 1 + 8u, u = 2^-24. So leave is
 * widened by 8u: every box that the exact ray intersects is accepted, corners included. */
#define WIDEN_UP 0x1.000008p+0f
#define WIDEN_DOWN 0x1.fffffp-1f

#include "maths/slab.inc"

/* The first surface crossing of a solid that the ray is inside for [lo, hi]. It is lo, or hi where the ray starts
 * inside or front faces are culled. False where none lies in [t_min, limit]. */
INLINE mask solid_crossing(real lo, real hi, ray_real t_min, ray_real limit, uint rules, real *t) {
  mask front = (rules & SLAB_CULL_FRONT) != 0 ? lo != lo : lo >= t_min;
  *t = front ? lo : hi;
  mask kept = (*t >= t_min) & (*t <= limit);
  return (rules & SLAB_CULL_BACK) != 0 ? kept & front : kept;
}

/* The part of [lo, hi] in the ray's range. False where there is none, or it begins beyond limit. */
INLINE mask solid_interval(const prepared_ray *ray, real lo, real hi, ray_real limit, real *enter, real *leave) {
  *enter = lanes_max(lo, (real)(ray->t_min));
  *leave = lanes_min(hi, (real)(ray->t_max));
  return (*enter <= *leave) & (*enter <= limit);
}

#endif
