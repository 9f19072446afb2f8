/* Spheres. The discriminant is computed from the distance between line and centre, which does not cancel for far
 * spheres. (Haines, Gunther, Akenine-Moller, "Precision improvements for ray/sphere intersection", Ray Tracing Gems
 * 2019.) */
#ifndef MATHS_SPHERE_H
#define MATHS_SPHERE_H

#include "maths/padded_bounds.h"

/* The padded bounds: centre -+ radius, padded by 2^-19 of the radius for the rounding of the discriminant, rounded
 * outward. */
INLINE void sphere_padded_bounds(const real center[3], real radius, real lower[3], real upper[3]) {
  real pad = radius * 0x1p-19f;
  UNROLL for (int i = 0; i < 3; i++) {
    real slack = lanes_fma(lanes_abs(center[i]), (real)(0x1p-22f), pad);
    lower[i] = (center[i] - radius) - slack;
    upper[i] = (center[i] + radius) + slack;
  }
}

/* A ray's line and a sphere. f: the ray's origin from the centre; l: the line's point nearest to the centre, likewise.
 */
typedef struct sphere_line {
  real f[3], b, nearest, l[3], discriminant, root, q, c, t0, t1;
  ray_real a;
} sphere_line;

/* The roots, where the line of the ray intersects the sphere: t = q/a and c/q for q = b + sign(b) sqrt(a *
 * discriminant), b = -f.d. */
INLINE sphere_line sphere_roots(const prepared_ray *ray, const real center[3], real radius) {
  sphere_line s;
  s.a = (ray->direction[0] * ray->direction[0] + ray->direction[1] * ray->direction[1]) +
        ray->direction[2] * ray->direction[2];
  UNROLL for (int i = 0; i < 3; i++) s.f[i] = ray->origin[i] - center[i];
  s.b = -((s.f[0] * ray->direction[0] + s.f[1] * ray->direction[1]) + s.f[2] * ray->direction[2]);
  s.nearest = lanes_divide(s.b, (real)(s.a));
  UNROLL for (int i = 0; i < 3; i++) s.l[i] = lanes_fma(s.nearest, (real)(ray->direction[i]), s.f[i]);
  s.discriminant = radius * radius - ((s.l[0] * s.l[0] + s.l[1] * s.l[1]) + s.l[2] * s.l[2]);
  s.root = lanes_sqrt(s.a * lanes_max(s.discriminant, (real)(0.0f)));
  s.q = s.b >= 0.0f ? s.b + s.root : s.b - s.root;
  s.c = ((s.f[0] * s.f[0] + s.f[1] * s.f[1]) + s.f[2] * s.f[2]) - radius * radius;
  s.t0 = s.q != 0.0f ? lanes_divide(s.c, s.q) : (real)(0.0f);
  s.t1 = lanes_divide(s.q, (real)(s.a));
  return s;
}

/* The interval of t inside, clamped into the interval of the padded bounds. False where the line misses the sphere or
 * the ray does not overlap the padded bounds. */
INLINE mask sphere_interval(const prepared_ray *ray, GLOBAL const float *block, ray_real limit, real *lo, real *hi) {
  real center[3], lower[3], upper[3], bounds_lo, bounds_leave, bounds_hi;
  UNROLL for (int i = 0; i < 3; i++) center[i] = lanes_load(block + i * STRIDE);
  real radius = lanes_load(block + 3 * STRIDE);
  sphere_padded_bounds(center, radius, lower, upper);
  bounds_interval(ray->origin, ray->inverse, lower, upper, &bounds_lo, &bounds_leave, &bounds_hi);
  mask hit = slab_overlaps(bounds_lo, bounds_leave, ray->t_min, limit);
  if (!lanes_any(hit)) return hit;
  const sphere_line s = sphere_roots(ray, center, radius);
  *lo = clamp_into(lanes_min(s.t0, s.t1), bounds_lo, bounds_hi);
  *hi = clamp_into(lanes_max(s.t0, s.t1), bounds_lo, bounds_hi);
  return hit & (s.discriminant >= 0.0f); /* false for the NaN radius of a dropped sphere */
}

INLINE mask sphere_surface(const prepared_ray *ray, GLOBAL const float *block, ray_real limit, uint rules, real *t) {
  real lo = (real)(0.0f), hi = (real)(0.0f);
  mask hit = sphere_interval(ray, block, limit, &lo, &hi);
  return hit & solid_crossing(lo, hi, ray->t_min, limit, rules, t);
}

INLINE mask sphere_solid(const prepared_ray *ray, GLOBAL const float *block, ray_real limit, real *enter, real *leave) {
  real lo = (real)(0.0f), hi = (real)(0.0f);
  mask hit = sphere_interval(ray, block, limit, &lo, &hi);
  return hit & solid_interval(ray, lo, hi, limit, enter, leave);
}

/* t is in the prepared ray's units. The normal of a sphere of radius 0 is against the ray. */
INLINE void sphere_attributes(const prepared_ray *ray, const ray_real v[SPHERE_FLOATS], ray_real t, uint rules,
                              ray_hit *hit) {
  (void)rules;
  ray_real n[3];
  UNROLL for (int i = 0; i < 3; i++) n[i] = lanes_fma(t, ray->direction[i], ray->origin[i] - v[i]);
  unit_normal(ray, n, v[3] == 0.0f, hit->normal);
}

#endif
