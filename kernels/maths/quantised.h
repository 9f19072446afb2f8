/* Quantised bounds, and the test of a ray against those of four children at once. The host chooses the bytes such that
 * a lower bound as compressed_plane decodes it is at most the exact one, an upper bound at least the exact one. The
 * test accepts all children whose exact bounds the slab test accepts (slab_overlaps). */
#ifndef MATHS_QUANTISED_H
#define MATHS_QUANTISED_H

#include "maths/ray.h"

#define COMPRESSED_STEPS 255u
/* An unbounded axis: as the exponent of a step it gives +inf. 0 steps of it are NaN, which constrains nothing in a slab
 * test, as infinite bounds do not. */
#define COMPRESSED_UNBOUNDED 255u
/* An axis with a larger bound is unbounded too. So a step is at most 2^56. */
#define COMPRESSED_LARGEST 0x1p62f
/* The exponent of the least step, 2^-95. Subnormal numbers are so far below it that no rounding of them matters. */
#define COMPRESSED_LEAST 32u

INLINE float compressed_step(uint exponent) { return ray_float(exponent << 23); }

/* Decodes a plane. The product is exact, and the sum is rounded once. */
INLINE float compressed_plane(uint steps, float step, float origin) { return lanes_fma((float)steps, step, origin); }

INLINE uint compressed_byte(uint bytes, uint k) { return bytes >> (8 * k) & 0xFFu; }

/* 2^15 + byte k, exactly: these floats have the byte in their second lowest one. On GPUs a conversion takes several
 * times as long. top: from 2^15 to 2^16, of which the highest byte is taken. */
#define COMPRESSED_BIAS 0x1p15f
INLINE float compressed_number(float top, uint bytes, uint k) {
  return scalar_float(scalar_bytes(scalar_bits(top), bytes, k));
}

/* Child k, as a number to add to one from 2^15 to 2^16: that sets its bit k. GPUs have more units for additions than
 * for setting bits. */
#define COMPRESSED_CHILD(k) (0x1p-8f * (float)(1u << (k)))

/* Whether one fma gives the t of a plane: no component of the direction is 0 or tiny. Of other rays an fma gives the
 * plane's distance, and a product its t. */
INLINE bool quantised_oblique(const prepared_ray *ray) {
  bool oblique = true;
  UNROLL for (int i = 0; i < 3; i++) oblique = oblique && lanes_abs(ray->inverse[i]) <= 0x1p40f;
  return oblique;
}

/* An axis of a node. off: the distance of its lower end from the ray's origin, less COMPRESSED_BIAS steps. size: 2^-19
 * of it, the pad, exceeds all rounding. */
typedef struct quantised_axis {
  float step, off, size;
} quantised_axis;

/* Why the pad is enough. Let u = 2^-24, P the exact bound in a near plane, d > 0 (others are alike), q its steps, and
 * r = fl(lower - o). The host sees to fl(lower + q step) <= P. So P - o is at least r + q step, less u|r| + u(|lower| +
 * 255 step). The slab test rounds P - o, which is u(|r| + 255 step) more, and multiplies by the inverse. Of a far plane
 * it also widens the product: 11u(|r| + 255 step). Here off is rounded, then off * inverse, then that and the pad: each
 * is u(|r| + 2^15 step). In all u(|lower| + 16|r| + (3 * 2^15 + 13 * 255) step), and the pad is u(32|lower| + 32|r| +
 * 2^17 step). The last operation is rounded once, as the slab test's product is, and rounding is monotone.
 * Nothing overflows where the inverse is at most 2^40; where it is not, only products that overflow in the slab test.
 * Where an axis is unbounded step, size and -off are infinite: each plane is NaN, and constrains nothing. */
INLINE quantised_axis quantised_axis_of(const prepared_ray *ray, int i, float step, float lower) {
  const float r = lower - ray->origin[i];
  const quantised_axis a = {step, lanes_fma(step, -COMPRESSED_BIAS, r),
                            lanes_fma(step, 0x1p12f, lanes_abs(r) + lanes_abs(lower))};
  return a;
}

/* Adds to `found` those of four children that the ray may overlap at limit or before: COMPRESSED_CHILD(first + k) for
 * child k. Their bounds, lower and upper, are in bytes. The range of `found` is from 2^15 to 2^16. Numbers are made
 * from it, so that one child comes after the other: else compilers for GPUs hold the numbers of all in registers at
 * once. */
INLINE float quantised_children(const bool oblique, const prepared_ray *ray, const quantised_axis axis[3],
                                const uint lower[3], const uint upper[3], uint first, float limit, float found) {
  float step[3], near_off[3], far_off[3];
  uint near[3], far[3];
  UNROLL for (int i = 0; i < 3; i++) {
    const bool dir_is_negative = ray->dir_is_negative[i] != 0;
    const float scale = oblique ? ray->inverse[i] : 1.0f, off = axis[i].off * scale;
    const float wide = 0x1p-19f * (oblique ? lanes_abs(scale) : dir_is_negative ? -1.0f : 1.0f);
    step[i] = axis[i].step * scale;
    near_off[i] = lanes_fma(axis[i].size, -wide, off);
    far_off[i] = lanes_fma(axis[i].size, wide, off);
    near[i] = dir_is_negative ? upper[i] : lower[i];
    far[i] = dir_is_negative ? lower[i] : upper[i];
  }
  UNROLL for (uint k = 0; k < 4; k++) {
    float enter = ray->t_min, leave = limit;
    UNROLL for (int i = 0; i < 3; i++) {
      const float in = lanes_fma(compressed_number(found, near[i], k), step[i], near_off[i]);
      const float out = lanes_fma(compressed_number(found, far[i], k), step[i], far_off[i]);
      enter = lanes_max(oblique ? in : in * ray->inverse[i], enter);
      leave = lanes_min(oblique ? out : out * ray->inverse[i], leave);
    }
    found = scalar_add_where(found, COMPRESSED_CHILD(first + k), enter, leave);
  }
  return found;
}

#endif
