/* Oriented boxes: the ray is transformed into the box's frame, and the slab test is done there. */
#ifndef MATHS_ORIENTED_BOX_H
#define MATHS_ORIENTED_BOX_H

#include "maths/box.h"
#include "maths/padded_bounds.h"

typedef struct obb_lanes {
  real center[3], half_size[3], axes[3][3];
} obb_lanes;

/* The ray in the frame of each lane's box, and the planes there that it intersects first. Their negatives are the
 * planes that it intersects last. */
typedef struct obb_frame {
  real origin[3], direction[3], inverse[3], near[3];
} obb_frame;

INLINE obb_lanes obb_of(const real rows[OBB_FLOATS]) {
  obb_lanes box;
  UNROLL for (int i = 0; i < 3; i++) {
    box.center[i] = rows[i];
    box.half_size[i] = rows[3 + i];
    UNROLL for (int j = 0; j < 3; j++) box.axes[i][j] = rows[6 + 3 * i + j];
  }
  return box;
}

INLINE obb_lanes obb_load(GLOBAL const float *block) {
  real rows[OBB_FLOATS];
  UNROLL for (int r = 0; r < OBB_FLOATS; r++) rows[r] = lanes_load(block + r * STRIDE);
  return obb_of(rows);
}

/* The padded bounds. The box is centre + inverse(axes) [-half_size, half_size]. Axes are orthonormal within 1e-5. So
 * their inverse is the transpose up to 1e-5 in each entry. The padding is 2^-14 of the sum of the half sizes, which
 * covers this (1.8e-5 of the sum) and rounding. */
INLINE void obb_padded_bounds(const obb_lanes *box, real lower[3], real upper[3]) {
  real sum = (box->half_size[0] + box->half_size[1]) + box->half_size[2];
  UNROLL for (int j = 0; j < 3; j++) {
    real extent = (lanes_abs(box->axes[0][j]) * box->half_size[0] + lanes_abs(box->axes[1][j]) * box->half_size[1]) +
                  lanes_abs(box->axes[2][j]) * box->half_size[2];
    real slack = lanes_fma(lanes_abs(box->center[j]), (real)(0x1p-22f), sum * 0x1p-14f);
    lower[j] = (box->center[j] - extent) - slack;
    upper[j] = (box->center[j] + extent) + slack;
  }
}

INLINE obb_frame obb_transform(const prepared_ray *ray, const obb_lanes *box) {
  obb_frame f;
  real from[3];
  UNROLL for (int i = 0; i < 3; i++) from[i] = ray->origin[i] - box->center[i];
  UNROLL for (int i = 0; i < 3; i++) {
    f.origin[i] = (from[0] * box->axes[i][0] + from[1] * box->axes[i][1]) + from[2] * box->axes[i][2];
    real d = (ray->direction[0] * box->axes[i][0] + ray->direction[1] * box->axes[i][1]) +
             ray->direction[2] * box->axes[i][2];
    f.direction[i] = lanes_abs(d) >= FLOAT_MIN_NORMAL ? d : (real)(0.0f);
    f.inverse[i] = lanes_divide((real)(1.0f), f.direction[i]);
    f.near[i] = f.direction[i] < 0.0f ? box->half_size[i] : -box->half_size[i];
  }
  return f;
}

INLINE mask obb_interval(const prepared_ray *ray, GLOBAL const float *block, ray_real limit, real *lo, real *hi) {
  obb_lanes box = obb_load(block);
  real lower[3], upper[3], bounds_lo, bounds_leave, bounds_hi, leave = (real)(INFINITY);
  obb_padded_bounds(&box, lower, upper);
  bounds_interval(ray->origin, ray->inverse, lower, upper, &bounds_lo, &bounds_leave, &bounds_hi);
  mask hit = slab_overlaps(bounds_lo, bounds_leave, ray->t_min, limit);
  if (!lanes_any(hit)) return hit;
  obb_frame f = obb_transform(ray, &box);
  *lo = (real)(-INFINITY);
  UNROLL for (int i = 0; i < 3; i++) {
    *lo = lanes_max((f.near[i] - f.origin[i]) * f.inverse[i], *lo);
    leave = lanes_min((-f.near[i] - f.origin[i]) * f.inverse[i], leave);
  }
  hit = hit & slab_overlaps(*lo, leave, ray->t_min, ray->t_max);
  *hi = clamp_into(lanes_max(leave, *lo), bounds_lo, bounds_hi);
  *lo = clamp_into(*lo, bounds_lo, bounds_hi);
  return hit;
}

INLINE mask obb_surface(const prepared_ray *ray, GLOBAL const float *block, ray_real limit, uint rules, real *t) {
  real lo = (real)(0.0f), hi = (real)(0.0f);
  mask hit = obb_interval(ray, block, limit, &lo, &hi);
  return hit & solid_crossing(lo, hi, ray->t_min, limit, rules, t);
}

INLINE mask obb_solid(const prepared_ray *ray, GLOBAL const float *block, ray_real limit, real *enter, real *leave) {
  real lo = (real)(0.0f), hi = (real)(0.0f);
  mask hit = obb_interval(ray, block, limit, &lo, &hi);
  return hit & solid_interval(ray, lo, hi, limit, enter, leave);
}

INLINE void obb_attributes(const prepared_ray *ray, const ray_real v[OBB_FLOATS], ray_real t, uint rules,
                           ray_hit *hit) {
  (void)t;
  real rows[OBB_FLOATS];
  UNROLL for (int r = 0; r < OBB_FLOATS; r++) rows[r] = (real)(v[r]);
  obb_lanes box = obb_of(rows);
  obb_frame f = obb_transform(ray, &box);
  ray_real origin[3], direction[3], inverse[3], near[3], far[3], axis[3];
  UNROLL for (int i = 0; i < 3; i++) {
    origin[i] = lanes_first(f.origin[i]);
    direction[i] = lanes_first(f.direction[i]);
    inverse[i] = lanes_first(f.inverse[i]);
    near[i] = lanes_first(f.near[i]);
    far[i] = -near[i];
  }
  ray_word face = box_face(origin, inverse, direction, near, far, ray->t_min, rules);
  UNROLL for (int i = 0; i < 3; i++) {
    ray_real component = face >= 4 ? v[12 + i] : face >= 2 ? v[9 + i] : v[6 + i];
    axis[i] = (face & 1) != 0 ? component : -component;
  }
  unit_vector(axis, hit->normal);
  hit->u = face_as_real(face);
}

#endif
