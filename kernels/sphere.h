/* Spheres. The discriminant is computed from the distance between line and centre, which does not cancel for far
 * spheres (Haines, Gunther, Akenine-Moller, "Precision improvements for ray/sphere intersection", Ray Tracing Gems
 * 2019). */
#ifndef SPHERE_H
#define SPHERE_H

#include "padded_bounds.h"

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

/* The roots, where the line of the ray intersects the sphere: t = q/a and c/q for q = b + sign(b) sqrt(a *
 * discriminant), b = -f.d. */
INLINE mask sphere_roots(const prepared_ray *ray, const real center[3], real radius, real *lo, real *hi) {
  const ray_real a = (ray->direction[0] * ray->direction[0] + ray->direction[1] * ray->direction[1]) +
                     ray->direction[2] * ray->direction[2];
  real f[3], l[3];
  UNROLL for (int i = 0; i < 3; i++) f[i] = ray->origin[i] - center[i];
  real b = -((f[0] * ray->direction[0] + f[1] * ray->direction[1]) + f[2] * ray->direction[2]);
  real nearest = lanes_divide(b, (real)(a));
  UNROLL for (int i = 0; i < 3; i++) l[i] = lanes_fma(nearest, (real)(ray->direction[i]), f[i]);
  real discriminant = radius * radius - ((l[0] * l[0] + l[1] * l[1]) + l[2] * l[2]);
  mask crossed = discriminant >= 0.0f; /* false for the NaN radius of a dropped sphere */
  real root = lanes_sqrt(a * lanes_max(discriminant, (real)(0.0f)));
  real q = b >= 0.0f ? b + root : b - root;
  real c = ((f[0] * f[0] + f[1] * f[1]) + f[2] * f[2]) - radius * radius;
  real t0 = q != 0.0f ? lanes_divide(c, q) : (real)(0.0f);
  real t1 = lanes_divide(q, (real)(a));
  *lo = lanes_min(t0, t1);
  *hi = lanes_max(t0, t1);
  return crossed;
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
  hit = hit & sphere_roots(ray, center, radius, lo, hi);
  *lo = clamp_into(*lo, bounds_lo, bounds_hi);
  *hi = clamp_into(*hi, bounds_lo, bounds_hi);
  return hit;
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
INLINE void sphere_attributes(const prepared_ray *ray, const ray_real v[SPHERE_ROWS], ray_real t, uint rules,
                              ray_hit *hit) {
  (void)rules;
  ray_real n[3];
  UNROLL for (int i = 0; i < 3; i++) n[i] = lanes_fma(t, ray->direction[i], ray->origin[i] - v[i]);
  ray_mask has = unit_vector(n, hit->normal);
  normal_against(ray, (v[3] == 0.0f) | !has, hit->normal);
}

#endif
