/* The conservative box reject against boxes in local memory, for devices that test one primitive at a time. It accepts
 * every box that the slab test accepts. Most rays take one fma per plane instead of a subtraction and a product. */
#ifndef WALK_LOCAL_BOXES_H
#define WALK_LOCAL_BOXES_H

#include "maths/box.h"

/* A ray against local boxes. t of a plane: fma(plane, a, near), or far; of rays that are not oblique (a - plane) *
 * near, or far, as box_may_overlap computes it. */
typedef struct local_ray {
  float a[3], near[3], far[3], t_min;
} local_ray;

/* By how much an fma may miss the t that the slab test computes. largest: at least the size of each finite bound of
 * the local boxes.
 *
 * Why it is enough. Let u = 2^-24, o the origin, p a plane, and A = (|o| + largest) |inverse|. The slab test rounds p -
 * o and the product, and widens the product of a far plane by 8u and rounds again: in all 11.1u A. Here o * inverse,
 * its sum with the pad, and the fma are rounded: 3u A and two u of the pad. The pad is 16u A, rounded three times.
 * Where numbers are so small that they underflow, errors are below 2^-120, and the pad is at least 2^-91, since an
 * inverse is above 1/2. Where a plane is infinite so is t, in both tests, with the same sign. */
INLINE float local_pad(const prepared_ray *ray, int i, float largest) {
  return (lanes_abs(ray->origin[i]) + largest + 0x1p-70f) * lanes_abs(ray->inverse[i]) * 0x1p-20f;
}

/* Whether one fma gives the t of a plane: no product overflows. Where the direction is 0 the pad is infinite: it would
 * accept every box. */
INLINE bool local_ray_is_oblique(const prepared_ray *ray, float largest) {
  bool oblique = true;
  UNROLL for (int i = 0; i < 3; i++) oblique = oblique && local_pad(ray, i, largest) <= 0x1p60f;
  return oblique;
}

INLINE local_ray local_ray_of(const prepared_ray *ray, const bool oblique, float largest) {
  local_ray to = {.t_min = ray->t_min};
  UNROLL for (int i = 0; i < 3; i++) {
    const float at_0 = -(ray->origin[i] * ray->inverse[i]), pad = local_pad(ray, i, largest);
    to.a[i] = oblique ? ray->inverse[i] : ray->origin[i];
    to.near[i] = oblique ? at_0 - pad : ray->inverse_back[i];
    to.far[i] = oblique ? at_0 + pad : ray->inverse_wide[i];
  }
  return to;
}

INLINE bool local_may_overlap(const bool oblique, const local_ray *ray, const float near[3], const float far[3],
                              float limit) {
  float enter = ray->t_min, leave = limit;
  UNROLL for (int i = 0; i < 3; i++) {
    const float first = oblique ? lanes_fma(near[i], ray->a[i], ray->near[i]) : (ray->a[i] - near[i]) * ray->near[i];
    const float last = oblique ? lanes_fma(far[i], ray->a[i], ray->far[i]) : (ray->a[i] - far[i]) * ray->far[i];
    enter = lanes_max(first, enter);
    leave = lanes_min(last, leave);
  }
  return enter <= leave;
}

#endif
