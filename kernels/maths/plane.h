/* Planes: normal . x = offset. The host scales normal and offset by a power of two, so that nothing overflows. */
#ifndef MATHS_PLANE_H
#define MATHS_PLANE_H

#include "maths/padded_bounds.h"

INLINE real plane_dot(const real n[3], const ray_real v[3]) { return (n[0] * v[0] + n[1] * v[1]) + n[2] * v[2]; }

/* n . o (o: the origin), exact enough that offset - n . o is the same float. Subnormal components of the origin make
 * subnormal products, below 2^-125, at which many processors are slow. So n . o is first computed with 0 in their
 * place. The result is then the same float, or n . o is below 2^-65 with and without them. The reason: a term of 2^-96
 * absorbs such products, and a term of 2^-66 absorbs any change that they make to smaller terms. So where n . o or the
 * offset reaches 2^-36 no answer depends on them. Elsewhere n . o is computed with them. */
INLINE real plane_from(const prepared_ray *ray, const real n[3], real offset, mask crosses) {
  ray_mask any = (ray_mask)(0);
  ray_real origin[3];
  UNROLL for (int i = 0; i < 3; i++) {
    const ray_mask faint = is_faint(ray->origin[i]);
    any |= faint & (ray->origin[i] != 0.0f);
    origin[i] = faint ? (ray_real)(0.0f) : ray->origin[i];
  }
  if (!ray_any(any)) return plane_dot(n, ray->origin);
  const real from = plane_dot(n, origin);
  const mask near = (lanes_abs(from) < 0x1p-36f) & (lanes_abs(offset) < 0x1p-36f) & crosses;
  return lanes_any(near) ? plane_dot(n, ray->origin) : from;
}

/* along: n . d. from: n . o. t: where the line of the ray intersects the plane. */
typedef struct plane_line {
  real along, from, t;
} plane_line;

INLINE plane_line plane_crossing(const prepared_ray *ray, const real n[3], real offset) {
  plane_line p;
  p.along = plane_dot(n, ray->direction);
  p.from = plane_from(ray, n, offset, p.along != 0.0f);
  p.t = lanes_divide(offset - p.from, p.along);
  return p;
}

/* Whether the line intersects the plane in the ray's range. */
INLINE mask plane_in_range(const plane_line *p, const prepared_ray *ray, ray_real limit) {
  return (p->along != 0.0f) & (p->t >= ray->t_min) & (p->t <= limit);
}

/* Of hits, those on sides that are not culled. */
INLINE mask plane_kept(mask hit, real along, uint rules) {
  if ((rules & SLAB_CULL_BACK) != 0) hit = hit & (along < 0.0f);
  if ((rules & SLAB_CULL_FRONT) != 0) hit = hit & (along > 0.0f);
  return hit;
}

INLINE mask plane_surface(const prepared_ray *ray, GLOBAL const float *block, ray_real limit, uint rules, real *t) {
  real n[3];
  UNROLL for (int i = 0; i < 3; i++) n[i] = lanes_load(block + i * STRIDE);
  const plane_line p = plane_crossing(ray, n, lanes_load(block + 3 * STRIDE));
  *t = p.t;
  return plane_kept(plane_in_range(&p, ray, limit), p.along, rules);
}

INLINE void plane_attributes(const prepared_ray *ray, const ray_real v[PLANE_FLOATS], ray_real t, uint rules,
                             ray_hit *hit) {
  (void)ray, (void)t, (void)rules;
  unit_vector(v, hit->normal);
}

#endif
