/* Prepares a ray once for all its tests: validity, exact scaling, reciprocals and the shear. */
#ifndef MATHS_RAY_H
#define MATHS_RAY_H

#include "data/types.h"
#include "lanes/lanes.h"

#define FLOAT_MAX 0x1.fffffep+127f
#define FLOAT_MIN_NORMAL 0x1p-126f
#define COORDINATE_MAX 0x1p60f
#define INVERSE_WIDE 0x1.00002p+0f /* 1 + 2^-19, for inverse_wide */

enum {
  RAY_LIVE,
  RAY_DONE /* needs no more tests */,
  RAY_EMPTY /* the range holds no t: a plain miss, not invalid */,
  RAY_INVALID
};

/* Rays as the caller gives them, and the attributes of a hit. */
#ifdef SLAB_PACKET
typedef struct ray_given {
  ray_real origin[3], t_min, direction[3], t_max;
} ray_given;
typedef struct ray_hit {
  ray_real t, normal[3], u, v;
} ray_hit;
#else
typedef slab_ray ray_given;
typedef slab_hit ray_hit;
#endif

/* Types of the values that depend on a ray's octant. They are scalars, since the rays of a packet have one octant in
 * common. With SLAB_APART each lane has its own octant: such rays are not traversed, only the attributes of their hits
 * are computed. */
#ifdef SLAB_APART
typedef word octant_word;
typedef mask octant_mask;
#else
typedef uint octant_word;
typedef bool octant_mask;
#endif

typedef struct prepared_ray {
  ray_word state;
  ray_real origin[3];
  ray_real direction[3]; /* scaled by a power of two: the largest component in [1, 2), no subnormal, no -0 */
  ray_real inverse[3];   /* correctly rounded; +inf where the direction is 0 */
  /* For box_may_overlap: -inverse, and -inverse * INVERSE_WIDE, which is for far planes. With it a far plane is never
   * intersected earlier than in the slab test, widening included. It is NaN, which constrains nothing, where t_min is
   * below 0. */
  ray_real inverse_back[3], inverse_wide[3];
  ray_real t_min, t_max; /* scaled accordingly, finite, and such that t scaled back is finite */
  ray_real back[2];      /* t * back[0] * back[1] is t in lengths of the caller's direction */
  ray_real forth[2];     /* the inverse factors */
  ray_word octant;       /* bits 0 to 2: direction x, y, z is negative; above: the axis of its largest component */
  /* Values that depend on the octant. Triangles are transformed to shear space. Axis k[2] is the axis of the
   * direction's largest component. The others, k[0] and k[1], are in the order that keeps windings. So are shear_origin
   * and shear_inverse. shear = direction / largest component. */
  octant_word dir_is_negative[3], k[3];
  ray_real shear_origin[3], shear_inverse[3], shear[2];
} prepared_ray;

/* 2^e for -252 <= e <= 254 as a product of two floats, each an exact power of two. */
INLINE void power_of_two(ray_mask e, ray_real factor[2]) {
  ray_mask first = e / 2;
  factor[0] = ray_float(ray_unsigned(first + 127) << 23);
  factor[1] = ray_float(ray_unsigned(e - first + 127) << 23);
}

/* The e with 2^e <= x < 2^(e+1), for x > 0 and finite, subnormal included. */
INLINE ray_mask exponent_of(ray_real x) {
  ray_mask tiny = x < FLOAT_MIN_NORMAL;
  x = tiny ? x * 0x1p64f : x;
  return ray_signed(ray_bits(x) >> 23) - (tiny ? (ray_mask)(127 + 64) : (ray_mask)(127));
}

/* False for NaN too. */
INLINE ray_mask is_within(ray_real x, float bound) { return (x >= -bound) & (x <= bound); }
#ifndef SLAB_PACKET
INLINE bool point_is_valid(const float p[3]) {
  return is_within(p[0], COORDINATE_MAX) && is_within(p[1], COORDINATE_MAX) && is_within(p[2], COORDINATE_MAX);
}
#endif

/* 0 or subnormal. */
INLINE ray_mask is_faint(ray_real x) { return (x > -FLOAT_MIN_NORMAL) & (x < FLOAT_MIN_NORMAL); }

INLINE ray_mask ray_is_valid(const ray_given *r) {
  ray_mask valid = (r->t_min == r->t_min) & (r->t_max == r->t_max), moves = (ray_mask)(0); /* & and |: no branches */
  UNROLL for (int i = 0; i < 3; i++) {
    valid &= is_within(r->origin[i], COORDINATE_MAX) & is_within(r->direction[i], FLOAT_MAX);
    moves |= r->direction[i] != 0.0f;
  }
  return valid & moves;
}

INLINE ray_word ray_octant(const prepared_ray *f) {
  ray_real size[3];
  ray_word octant = (ray_word)(0);
  UNROLL for (int i = 0; i < 3; i++) {
    ray_mask dir_is_negative = f->direction[i] < 0.0f;
    size[i] = dir_is_negative ? -f->direction[i] : f->direction[i];
    octant |= dir_is_negative ? (ray_word)(1u << i) : (ray_word)(0);
  }
  ray_word axis = size[1] >= size[2] ? (ray_word)(1 << 3) : (ray_word)(2 << 3);
  ray_mask first = (size[0] >= size[1]) & (size[0] >= size[2]);
  return octant | (first ? (ray_word)(0) : axis);
}

/* The value of axis k. Its operands are values already. Where an operand is still to be loaded, clang makes a branch
 * and does not vectorise the loop over rays (prepared_rays.h), which then takes 1.2 times as long. */
INLINE ray_real on_axis(octant_word k, ray_real x, ray_real y, ray_real z) {
  const ray_real later = k == 1 ? y : z;
  return k == 0 ? x : later;
}

/* Computes the values that depend on the octant (Woop, Benthin, Wald 2013). The axis of the largest component becomes
 * the third axis of the shear. The other two follow in cyclic order. They are swapped where the largest component is
 * negative, so that a winding looks the same from both sides. */
INLINE void ray_axes(prepared_ray *f, octant_word octant) {
  const octant_word zero = (octant_word)(0), z = octant >> 3, after_z = z + 1, x = z == 2 ? zero : after_z,
                    after_x = x + 1, y = x == 2 ? zero : after_x;
  const octant_mask swap = (octant >> z & 1) != 0;
  f->k[0] = swap ? y : x;
  f->k[1] = swap ? x : y;
  f->k[2] = z;
  UNROLL for (int i = 0; i < 3; i++) f->dir_is_negative[i] = octant >> i & 1;
}

INLINE void ray_turn(prepared_ray *f, octant_word octant) {
  ray_axes(f, octant);
  if ((SLAB_KINDS >> SLAB_TRIANGLE & 1) == 0) return;
  const ray_real largest = on_axis(f->k[2], f->direction[0], f->direction[1], f->direction[2]);
  UNROLL for (int i = 0; i < 3; i++) {
    const octant_word k = f->k[i]; /* selects, not an indexed load: the arrays stay in registers */
    f->shear_origin[i] = on_axis(k, f->origin[0], f->origin[1], f->origin[2]);
    f->shear_inverse[i] = on_axis(k, f->inverse[0], f->inverse[1], f->inverse[2]);
    const ray_real along = on_axis(k, f->direction[0], f->direction[1], f->direction[2]);
    if (i < 2) f->shear[i] = ray_divide(along, largest);
  }
}

/* Computes the range in scaled units. Ends that underflow are rounded inward, so that t is in the scaled range exactly
 * where it is in the caller's. To the others 0 is added: any subnormal operand raises a flag (base/arithmetic.h). limit
 * is the largest t that is finite when scaled back. So a crossing whose final t is not finite fails the range test in
 * every query. False where the range is empty or lies beyond limit. */
INLINE ray_mask ray_range(prepared_ray *f, const ray_given *r, const ray_real factor[2], ray_mask e) {
  const ray_real smallest = (ray_real)(0x1p-149f);
  const ray_real limit = e < 0 ? factor[0] * FLOAT_MAX * factor[1] : (ray_real)(FLOAT_MAX);
  ray_real first = r->t_min * factor[0] * factor[1], last = r->t_max * factor[0] * factor[1];
  first = first + (first * f->back[0] * f->back[1] < r->t_min ? smallest : (ray_real)(-0.0f));
  last = last - (last * f->back[0] * f->back[1] > r->t_max ? smallest : (ray_real)(0.0f));
  f->t_min = ray_min(ray_max(first, -limit), limit);
  f->t_max = ray_min(ray_max(last, -limit), limit);
  return (r->t_min <= r->t_max) & (first <= limit) & (last >= -limit);
}

/* Prepares all values but those that depend on the octant. It does so for invalid rays too, without branches: see
 * prepared_rays.h. Of an invalid ray only `state` means anything. */
INLINE prepared_ray ray_scale(const ray_given *r) {
  prepared_ray f = {0};
  const ray_mask valid = ray_is_valid(r);
  ray_real largest = (ray_real)(0.0f);
  UNROLL for (int i = 0; i < 3; i++) {
    ray_real size = r->direction[i] < 0.0f ? -r->direction[i] : r->direction[i];
    largest = ray_max(size, largest);
  }
  ray_mask e = exponent_of(largest);
  power_of_two(-e, f.back);
  power_of_two(e, f.forth);
  UNROLL for (int i = 0; i < 3; i++) {
    ray_real d = r->direction[i] * f.back[0] * f.back[1];
    f.origin[i] = r->origin[i];
    f.direction[i] = is_faint(d) ? (ray_real)(0.0f) : d;
  }
  UNROLL for (int i = 0; i < 3; i++) {
    f.inverse[i] = ray_divide((ray_real)(1.0f), f.direction[i]);
    f.inverse_back[i] = -f.inverse[i];
    f.inverse_wide[i] = r->t_min < 0.0f ? (ray_real)(NAN) : f.inverse_back[i] * INVERSE_WIDE;
  }
  const ray_mask some = ray_range(&f, r, f.forth, e);
  f.state = valid ? (some ? (ray_word)(RAY_LIVE) : (ray_word)(RAY_EMPTY)) : (ray_word)(RAY_INVALID);
  f.octant = ray_octant(&f);
  return f;
}

#ifndef SLAB_PACKET
INLINE prepared_ray ray_prepare(const slab_ray *r) {
  prepared_ray f = ray_scale(r);
  ray_turn(&f, f.octant);
  return f;
}

/* The same of a ray that is prepared alone, not in a loop over rays. `from` is its origin and `along` its direction:
 * where there are vectors axis i is lane i, and lane 3 holds 0. A third of the instructions of ray_prepare. */
#ifdef RAY_ACROSS
typedef float4 ray_axis;

INLINE ray_axis ray_across(const float v[3]) { return (float4)(v[0], v[1], v[2], 0.0f); }

INLINE void ray_uncross(float4 v, float to[3]) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

INLINE void ray_prepare_alone(float4 from, float4 along, float t_min, float t_max, prepared_ray *f) {
  const slab_ray range = {.t_min = t_min, .t_max = t_max};
  const int4 within =
      (from >= -COORDINATE_MAX) & (from <= COORDINATE_MAX) & (along >= -FLOAT_MAX) & (along <= FLOAT_MAX);
  const bool valid = four_bits(within) == 15 && four_bits(along != 0.0f) != 0 && t_min == t_min && t_max == t_max;
  const float4 far = fabs(along);
  const int e = exponent_of(ray_max(far.x, ray_max(far.y, far.z)));
  power_of_two(-e, f->back);
  power_of_two(e, f->forth);
  const float4 scaled = along * f->back[0] * f->back[1];
  const float4 d = fabs(scaled) < FLOAT_MIN_NORMAL ? (float4)(0.0f) : scaled;
  const float4 inverse = divide_four((float4)(1.0f), (float4)(d.xyz, 1.0f)), inverse_back = -inverse;
  ray_uncross(from, f->origin);
  ray_uncross(d, f->direction);
  ray_uncross(inverse, f->inverse);
  ray_uncross(inverse_back, f->inverse_back);
  ray_uncross(t_min < 0.0f ? (float4)(NAN) : inverse_back * INVERSE_WIDE, f->inverse_wide);
  const bool some = ray_range(f, &range, f->forth, e);
  f->state = valid ? (some ? RAY_LIVE : RAY_EMPTY) : RAY_INVALID;
  const float4 size = fabs(d);
  const uint axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  f->octant = (four_bits(d < 0.0f) & 7) | axis << 3;
  ray_axes(f, f->octant);
  if ((SLAB_KINDS >> SLAB_TRIANGLE & 1) == 0) return;
  UNROLL for (int i = 0; i < 3; i++) {
    f->shear_origin[i] = f->origin[f->k[i]]; /* the ray is in memory */
    f->shear_inverse[i] = f->inverse[f->k[i]];
  }
  const float4 across = (float4)(f->direction[f->k[0]], f->direction[f->k[1]], 1.0f, 1.0f);
  const float4 shear = divide_four(across, (float4)(f->direction[axis]));
  f->shear[0] = shear.x, f->shear[1] = shear.y;
}
#else
typedef struct ray_axis {
  float v[3];
} ray_axis;

INLINE ray_axis ray_across(const float v[3]) {
  const ray_axis a = {{v[0], v[1], v[2]}};
  return a;
}

INLINE void ray_prepare_alone(ray_axis from, ray_axis along, float t_min, float t_max, prepared_ray *f) {
  const slab_ray given = {{from.v[0], from.v[1], from.v[2]}, t_min, {along.v[0], along.v[1], along.v[2]}, t_max};
  *f = ray_prepare(&given);
}
#endif
#endif

/* x, with -0 replaced by 0. Not by adding 0: Mesa's compiler replaces x + 0 by x. */
INLINE ray_real without_minus_zero(ray_real x) { return x == (ray_real)(0.0f) ? (ray_real)(0.0f) : x; }

/* t in lengths of the caller's direction. */
INLINE ray_real ray_final_t(const prepared_ray *f, ray_real t) {
  return without_minus_zero(t * f->back[0] * f->back[1]);
}

/* Crossings are ordered by their final t. The final t is t times a power of two. Two different t have the same final t
 * only where that is subnormal. This returns the final t, scaled again to the prepared ray's units. */
INLINE ray_real ray_t_written(const prepared_ray *f, ray_real t) {
  return t * f->back[0] * f->back[1] * f->forth[0] * f->forth[1];
}

/* The largest t at which another crossing may still tie with t. A final t far above 2^-149 has no such neighbour: there
 * the sum is the final t, and 0 is added as in ray_range. */
INLINE ray_real ray_tie_limit(const prepared_ray *f, ray_real t) {
  const ray_real last = t * f->back[0] * f->back[1];
  const ray_real next = last + (is_within(last, 0x1p-100f) ? (ray_real)(0x1p-149f) : (ray_real)(0.0f));
  return ray_min(next * f->forth[0] * f->forth[1], f->t_max);
}

#endif
