/* Axis-aligned boxes. */
#ifndef MATHS_BOX_H
#define MATHS_BOX_H

#include "maths/slab.h"

#ifndef SLAB_APART
/* Loads the near and far planes of a block's boxes: the planes that a ray intersects first and last along each axis.
 * The signs of the direction choose them, so nothing is sorted. */
INLINE void box_planes(const prepared_ray *ray, GLOBAL const float *block, real near[3], real far[3]) {
  UNROLL for (int i = 0; i < 3; i++) {
    int lower = i * STRIDE, upper = (i + 3) * STRIDE;
    bool dir_is_negative = ray->dir_is_negative[i] != 0;
    near[i] = lanes_load(block + (dir_is_negative ? upper : lower));
    far[i] = lanes_load(block + (dir_is_negative ? lower : upper));
  }
}
#endif

/* The unclipped interval of t inside the box: [*lo, *hi], and *leave before it is raised to lo. */
INLINE void box_interval(const prepared_ray *ray, const real near[3], const real far[3], real *lo, real *leave,
                         real *hi) {
  *lo = (real)(-INFINITY);
  *leave = (real)(INFINITY);
  UNROLL for (int i = 0; i < 3; i++) slab_span(ray->origin[i], ray->inverse[i], near[i], far[i], lo, leave);
  *hi = lanes_max(*leave, *lo);
}

/* The conservative box reject: a shorter test that accepts every box that the slab test accepts, and few others. It
 * takes 12 add/mul, 6 min/max, 1 compare.
 *
 * Why it accepts what slab_overlaps accepts. (o - p) * -inverse is (p - o) * inverse to the bit, and enter begins at
 * t_min in both. So enter is the same number. slab_overlaps widens leave by 1 + 2^-21. It accepts no box with a leave
 * below 0 where enter is 0 or more. Here the inverse for far planes is widened by 1 + 2^-19. Its product is rounded
 * twice more and is still not below the widened leave, subnormal or not. NaN constrains nothing in either test, since
 * both inverses are infinite together. Where t_min is below 0 the inverse for far planes is NaN, and no far plane
 * constrains. */
INLINE mask box_may_overlap(const prepared_ray *ray, const real near[3], const real far[3], ray_real limit,
                            real *enter) {
  real leave = (real)(limit);
  *enter = (real)(ray->t_min);
  UNROLL for (int i = 0; i < 3; i++) {
    *enter = lanes_max((ray->origin[i] - near[i]) * ray->inverse_back[i], *enter);
    leave = lanes_min((ray->origin[i] - far[i]) * ray->inverse_wide[i], leave);
  }
  return lanes_kept(*enter <= leave);
}

#ifndef SLAB_APART
/* The same for a block of boxes. */
INLINE mask box_reject(const prepared_ray *ray, GLOBAL const float *block, ray_real limit) {
  real near[3], far[3], enter;
  box_planes(ray, block, near, far);
  return box_may_overlap(ray, near, far, limit, &enter);
}

INLINE mask box_surface(const prepared_ray *ray, GLOBAL const float *block, ray_real limit, uint rules, real *t) {
  real near[3], far[3], lo, leave, hi;
  if (!lanes_any(box_reject(ray, block, limit))) return (mask)0;
  box_planes(ray, block, near, far);
  box_interval(ray, near, far, &lo, &leave, &hi);
  return slab_overlaps(lo, leave, ray->t_min, limit) & solid_crossing(lo, hi, ray->t_min, limit, rules, t);
}

INLINE mask box_solid(const prepared_ray *ray, GLOBAL const float *block, ray_real limit, real *enter, real *leave) {
  real near[3], far[3], lo, out, hi;
  if (!lanes_any(box_reject(ray, block, limit))) return (mask)0;
  box_planes(ray, block, near, far);
  box_interval(ray, near, far, &lo, &out, &hi);
  return slab_overlaps(lo, out, ray->t_min, limit) & solid_interval(ray, lo, hi, limit, enter, leave);
}
#endif

/* The face of the crossing at t: 0 to 5 for -x, +x, -y, +y, -z, +z. Where several planes are at t it is the one of the
 * lowest axis. origin, inverse and direction are in the frame in which the box has these planes. */
INLINE ray_word box_face(const ray_real origin[3], const ray_real inverse[3], const ray_real direction[3],
                         const ray_real near[3], const ray_real far[3], ray_real t_min, uint rules) {
  ray_real enter[3], leave[3], lo = (ray_real)(-INFINITY), out = (ray_real)(INFINITY);
  UNROLL for (int i = 0; i < 3; i++) {
    enter[i] = (near[i] - origin[i]) * inverse[i];
    leave[i] = (far[i] - origin[i]) * inverse[i];
    lo = ray_max(enter[i], lo);
    out = ray_min(leave[i], out);
  }
  ray_mask front = (rules & SLAB_CULL_FRONT) != 0 ? (ray_mask)(0) : lo >= t_min;
  ray_word face = (ray_word)(0);
  UNROLL for (int i = 2; i >= 0; i--) {
    ray_word lower = (ray_word)(2u * (uint)i), upper = (ray_word)(2u * (uint)i + 1u);
    ray_mask dir_is_negative = direction[i] < 0.0f, decides = front ? enter[i] == lo : leave[i] == out;
    ray_word entered = dir_is_negative ? upper : lower, left = dir_is_negative ? lower : upper;
    face = decides ? (front ? entered : left) : face;
  }
  return face;
}

INLINE ray_real face_as_real(ray_word face) {
  ray_real u = (ray_real)(0.0f);
  UNROLL for (uint i = 1; i < 6; i++) u = face == i ? (ray_real)((float)i) : u;
  return u;
}

INLINE void box_attributes(const prepared_ray *ray, const ray_real v[BOX_FLOATS], ray_real t, uint rules,
                           ray_hit *hit) {
  (void)t;
  ray_real near[3], far[3];
  UNROLL for (int i = 0; i < 3; i++) {
    const octant_mask dir_is_negative = ray->dir_is_negative[i] != 0;
    near[i] = dir_is_negative ? v[i + 3] : v[i];
    far[i] = dir_is_negative ? v[i] : v[i + 3];
  }
  ray_word face = box_face(ray->origin, ray->inverse, ray->direction, near, far, ray->t_min, rules);
  UNROLL for (uint i = 0; i < 3; i++) {
    ray_real upper = face == 2 * i + 1 ? (ray_real)(1.0f) : (ray_real)(0.0f);
    hit->normal[i] = face == 2 * i ? (ray_real)(-1.0f) : upper;
  }
  hit->u = face_as_real(face);
}

#endif
