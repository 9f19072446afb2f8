/* Ray against axis-aligned box, the slab test and its kin. Rows of a block: lower x, y, z, upper x, y, z; of the forms
 * by centre: centre x, y, z, half size x, y, z. */
#ifndef SLAB_FORMS_H
#define SLAB_FORMS_H

#include "form.h"

/* ---- by division ---- */

/* Kay, Kajiya 1986, "Ray tracing complex scenes": the distances to both planes of each slab by division, swapped where
 * they come in the wrong order. Without a guard 0/0 is NaN, which no comparison takes. */
INLINE mask form_division(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real enter = (real)(ray->t_min), leave = (real)(limit);
  UNROLL for (int i = 0; i < 3; i++) {
    real first = lanes_divide(form_row(block, i) - ray->origin[i], (real)(ray->direction[i]));
    real second = lanes_divide(form_row(block, i + 3) - ray->origin[i], (real)(ray->direction[i]));
    mask swapped = first > second;
    real near = swapped ? second : first, far = swapped ? first : second;
    enter = near > enter ? near : enter;
    leave = far < leave ? far : leave;
  }
  *t = enter;
  return enter <= leave;
}

/* The same as printed by Haines 1989 (in Glassner, "An introduction to ray tracing"): for a ray parallel to a slab
 * nothing is divided. It is tested whether the ray lies within. */
INLINE mask form_division_guarded(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real enter = (real)(ray->t_min), leave = (real)(limit);
  mask outside = (mask)(0);
  UNROLL for (int i = 0; i < 3; i++) {
    const float origin = ray->origin[i], direction = ray->direction[i];
    real lower = form_row(block, i), upper = form_row(block, i + 3);
    if (direction == 0.0f) {
      outside |= (lower > origin) | (upper < origin);
    } else {
      real first = lanes_divide(lower - origin, (real)(direction));
      real second = lanes_divide(upper - origin, (real)(direction));
      mask swapped = first > second;
      real near = swapped ? second : first, far = swapped ? first : second;
      enter = near > enter ? near : enter;
      leave = far < leave ? far : leave;
    }
  }
  *t = enter;
  return (enter <= leave) & !outside;
}

/* ---- by the reciprocal ---- */

/* Both distances of each slab, sorted by min and max: the branch-free form found everywhere since SSE. Where 0 * inf
 * gives NaN, the result depends on the operands' order. */
INLINE void form_sorted_slabs(const form_ray *ray, GLOBAL const float *block, real *enter, real *leave) {
  UNROLL for (int i = 0; i < 3; i++) {
    real first = (form_row(block, i) - ray->origin[i]) * ray->inverse[i];
    real second = (form_row(block, i + 3) - ray->origin[i]) * ray->inverse[i];
    *enter = lanes_max(lanes_min(first, second), *enter);
    *leave = lanes_min(lanes_max(first, second), *leave);
  }
}

INLINE mask form_min_max(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real leave = (real)(limit);
  *t = (real)(ray->t_min);
  form_sorted_slabs(ray, block, t, &leave);
  return *t <= leave;
}

/* The same with an exclusive comparison, as in many listings. */
INLINE mask form_min_max_exclusive(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real leave = (real)(limit);
  *t = (real)(ray->t_min);
  form_sorted_slabs(ray, block, t, &leave);
  return *t < leave;
}

/* The same, leaving after each axis that settles it. */
INLINE mask form_early_out(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real enter = (real)(ray->t_min), leave = (real)(limit);
  mask meets = (mask)(0);
  UNROLL for (int i = 0; i < 3; i++) {
    real first = (form_row(block, i) - ray->origin[i]) * ray->inverse[i];
    real second = (form_row(block, i + 3) - ray->origin[i]) * ray->inverse[i];
    enter = lanes_max(lanes_min(first, second), enter);
    leave = lanes_min(lanes_max(first, second), leave);
    meets = enter <= leave;
    if (!lanes_any(meets)) return meets;
  }
  *t = enter;
  return meets;
}

/* Barnes 2022, "Fast, branchless ray/bounding box intersections, part 3: boundaries": each distance meets the stretch
 * so far before the two are compared, so that NaN constrains nothing. */
INLINE mask form_boundaries(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real enter = (real)(ray->t_min), leave = (real)(limit);
  UNROLL for (int i = 0; i < 3; i++) {
    real first = (form_row(block, i) - ray->origin[i]) * ray->inverse[i];
    real second = (form_row(block, i + 3) - ray->origin[i]) * ray->inverse[i];
    enter = lanes_min(lanes_max(first, enter), lanes_max(second, enter));
    leave = lanes_max(lanes_min(first, leave), lanes_min(second, leave));
  }
  *t = enter;
  return enter <= leave;
}

/* ---- with the offset origin / direction computed once per ray ---- */

/* plane * inverse - offset, in two roundings. */
INLINE mask form_offset(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real enter = (real)(ray->t_min), leave = (real)(limit);
  UNROLL for (int i = 0; i < 3; i++) {
    real first = form_row(block, i) * ray->inverse[i] - ray->offset[i];
    real second = form_row(block, i + 3) * ray->inverse[i] - ray->offset[i];
    enter = lanes_max(lanes_min(first, second), enter);
    leave = lanes_min(lanes_max(first, second), leave);
  }
  *t = enter;
  return enter <= leave;
}

/* The same in one rounding: one fused multiply-add per plane. */
INLINE mask form_offset_fma(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real enter = (real)(ray->t_min), leave = (real)(limit);
  UNROLL for (int i = 0; i < 3; i++) {
    real first = lanes_fma(form_row(block, i), (real)(ray->inverse[i]), (real)(-ray->offset[i]));
    real second = lanes_fma(form_row(block, i + 3), (real)(ray->inverse[i]), (real)(-ray->offset[i]));
    enter = lanes_max(lanes_min(first, second), enter);
    leave = lanes_min(lanes_max(first, second), leave);
  }
  *t = enter;
  return enter <= leave;
}

/* ---- planes chosen by the direction's signs ---- */

INLINE void form_signed_planes(const form_ray *ray, GLOBAL const float *block, int i, real *near, real *far) {
  const bool falls = ray->falls[i] != 0;
  *near = form_row(block, falls ? i + 3 : i);
  *far = form_row(block, falls ? i : i + 3);
}

/* Williams, Barrus, Morley, Shirley 2005, "An efficient and robust ray-box intersection algorithm": leaves after the
 * second axis where that settles it; the range is compared last, exclusively. */
INLINE mask form_williams(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real near, far, enter = (real)(0.0f), leave = (real)(0.0f);
  mask meets = (mask)(0);
  UNROLL for (int i = 0; i < 3; i++) {
    form_signed_planes(ray, block, i, &near, &far);
    near = (near - ray->origin[i]) * ray->inverse[i];
    far = (far - ray->origin[i]) * ray->inverse[i];
    if (i == 0) {
      enter = near;
      leave = far;
    } else {
      mask apart = (enter > far) | (near > leave);
      meets = i == 1 ? !apart : meets & !apart;
      if (!lanes_any(meets)) return meets;
      enter = near > enter ? near : enter;
      leave = far < leave ? far : leave;
    }
  }
  *t = lanes_max(enter, (real)(ray->t_min));
  return meets & (enter < limit) & (leave > ray->t_min);
}

/* Signs and reciprocal, no branches, inclusive; the fresh value first in min and max, so that NaN constrains nothing.
 */
INLINE void form_signed_slabs(const form_ray *ray, const float inverse[3], GLOBAL const float *block, real *enter,
                              real *leave) {
  UNROLL for (int i = 0; i < 3; i++) {
    real near, far;
    form_signed_planes(ray, block, i, &near, &far);
    *enter = lanes_max((near - ray->origin[i]) * inverse[i], *enter);
    *leave = lanes_min((far - ray->origin[i]) * inverse[i], *leave);
  }
}

INLINE mask form_signs(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real leave = (real)(limit);
  *t = (real)(ray->t_min);
  form_signed_slabs(ray, ray->inverse, block, t, &leave);
  return *t <= leave;
}

/* Directions kept away from 0, here by 2^-80 as in Aila, Laine 2009, "Understanding the efficiency of ray traversal on
 * GPUs": no infinity, no NaN. */
INLINE mask form_clamped(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real leave = (real)(limit);
  *t = (real)(ray->t_min);
  form_signed_slabs(ray, ray->clamped, block, t, &leave);
  return *t <= leave;
}

/* Such directions, signs and offset, one fused multiply-add per plane: the fast mode of Wald, Woop, Benthin, Johnson,
 * Ernst 2014, "Embree". */
INLINE mask form_signs_fma(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real enter = (real)(ray->t_min), leave = (real)(limit);
  UNROLL for (int i = 0; i < 3; i++) {
    real near, far;
    form_signed_planes(ray, block, i, &near, &far);
    enter = lanes_max(lanes_fma(near, (real)(ray->clamped[i]), (real)(-ray->clamped_offset[i])), enter);
    leave = lanes_min(lanes_fma(far, (real)(ray->clamped[i]), (real)(-ray->clamped_offset[i])), leave);
  }
  *t = enter;
  return enter <= leave;
}

/* Ize 2013, "Robust BVH ray traversal": signs, the far end enlarged by two units in the last place. */
INLINE mask form_widened(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real leave = (real)(INFINITY);
  *t = (real)(ray->t_min);
  form_signed_slabs(ray, ray->inverse, block, t, &leave);
  return (*t <= leave * 0x1.000004p+0f) & (*t <= limit);
}

/* ---- by centre and half size ---- */

/* Distance to the centre's plane, minus and plus half the slab's length along the ray: in many shaders, after Quilez,
 * "Box intersection". */
INLINE mask form_center(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real enter = (real)(ray->t_min), leave = (real)(limit);
  UNROLL for (int i = 0; i < 3; i++) {
    const float size = ray->falls[i] != 0 ? -ray->inverse[i] : ray->inverse[i];
    real middle = (form_row(block, i) - ray->origin[i]) * ray->inverse[i], half_way = form_row(block, i + 3) * size;
    enter = lanes_max(middle - half_way, enter);
    leave = lanes_min(middle + half_way, leave);
  }
  *t = enter;
  return enter <= leave;
}

/* Majercik, Crassin, Shirley, McGuire 2018, "A ray-box intersection algorithm and efficient dynamic voxel rendering".
 * It takes the planes of the three faces that look at the origin (from inside, the three others). It tests whether the
 * ray meets one of them within its face, exclusively. */
INLINE mask form_front_faces(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real from[3], size[3];
  mask outside = (mask)(0), met = (mask)(0);
  UNROLL for (int i = 0; i < 3; i++) {
    from[i] = ray->origin[i] - form_row(block, i);
    size[i] = form_row(block, i + 3);
    outside |= lanes_abs(from[i]) >= size[i];
  }
  *t = (real)(limit);
  UNROLL for (int i = 2; i >= 0; i--) {
    const int j = i == 2 ? 0 : i + 1, k = i == 0 ? 2 : i - 1;
    real front = ray->falls[i] != 0 ? size[i] : -size[i], plane = outside ? front : -front;
    real distance = (plane - from[i]) * ray->inverse[i];
    mask face = (distance >= ray->t_min) & (lanes_abs(from[j] + ray->direction[j] * distance) < size[j]) &
                (lanes_abs(from[k] + ray->direction[k] * distance) < size[k]);
    *t = face ? distance : *t;
    met |= face;
  }
  return met & (*t <= limit);
}

/* Separating axes, no division and no t: three faces against the half-line, three cross products of the direction with
 * the axes (Ericson 2005, "Real-time collision detection", 5.3.3; Eberly, "Geometric tools"). */
INLINE mask form_separating_axes(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  (void)limit;
  real from[3], size[3];
  float along[3];
  mask apart = (mask)(0);
  UNROLL for (int i = 0; i < 3; i++) {
    along[i] = ray->direction[i] < 0.0f ? -ray->direction[i] : ray->direction[i];
    from[i] = ray->origin[i] - form_row(block, i);
    size[i] = form_row(block, i + 3);
    apart |= (lanes_abs(from[i]) > size[i]) & (from[i] * ray->direction[i] >= 0.0f);
  }
  UNROLL for (int i = 0; i < 3; i++) {
    const int j = i == 2 ? 0 : i + 1, k = i == 0 ? 2 : i - 1;
    real cross = from[j] * ray->direction[k] - from[k] * ray->direction[j];
    apart |= lanes_abs(cross) > size[j] * along[k] + size[k] * along[j];
  }
  *t = (real)(ray->t_min);
  return !apart;
}

/* ---- ours ---- */

/* kernels/maths/box.h: signs, inclusive, the far end widened by 2^-21, which is proved to lose no box that the exact
 * ray touches. Before it comes a reject, 12 operations and 6 min/max, which most boxes do not pass. */
INLINE mask form_ours_box(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  if (ray->frame.state != RAY_LIVE) return (mask)(0);
  return box_surface(&ray->frame, block, limit, SLAB_CULL_NONE, t);
}

INLINE mask form_ours_box_reject(const form_ray *ray, GLOBAL const float *block, float limit) {
  return box_reject(&ray->frame, block, limit);
}

#endif
