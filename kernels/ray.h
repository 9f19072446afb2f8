/* Preparing a ray: validity, exact scaling, reciprocals and the shear, once for all its tests. */
#ifndef RAY_H
#define RAY_H

#include "lanes.h"
#include "types.h"

#define FLOAT_MAX 0x1.fffffep+127f
#define FLOAT_MIN_NORMAL 0x1p-126f
#define FLOAT_MAX_SUBNORMAL 0x1.fffffcp-127f
#define COORDINATE_MAX 0x1p60f

enum {
  RAY_LIVE,
  RAY_DONE /* needs no more tests */,
  RAY_EMPTY /* a range that holds nothing: a plain miss */,
  RAY_INVALID
};

typedef struct ray_frame {
  uint state;
  float origin[3];
  float direction[3]; /* scaled by a power of two: the largest component in [1, 2), no subnormal, no -0 */
  float inverse[3];   /* correctly rounded; +inf where the direction is 0 */
  /* For box_may_touch: -inverse, and -inverse * (1 + 2^-19), which meets planes never too early, the slab test's
   * widening included; NaN, which constrains nothing, where the range begins below 0. */
  float inverse_back[3], inverse_wide[3];
  float t_min, t_max; /* scaled alike, finite, and such that t scaled back is finite */
  float back[2];      /* t * back[0] * back[1] is t in lengths of the caller's direction */
  float forth[2];     /* and the other way */
  /* Triangles are seen in shear space: axis k[2] is the direction's largest, k[0] and k[1] the others, in the
   * order that keeps windings; origin and inverse in that order; shear = direction / largest component. */
  uint k[3];
  float shear_origin[3], shear_inverse[3], shear[2];
} ray_frame;

/* 2^e for -252 <= e <= 254 as a product of two floats, each an exact power of two. */
INLINE void power_of_two(int e, float factor[2]) {
  int first = e / 2;
  factor[0] = float_of((uint)(first + 127) << 23);
  factor[1] = float_of((uint)(e - first + 127) << 23);
}

/* e with 2^e <= x < 2^(e+1), x > 0 and finite, subnormal too. */
INLINE int exponent_of(float x) {
  int shift = 0;
  if (x < FLOAT_MIN_NORMAL) {
    x = x * 0x1p64f;
    shift = 64;
  }
  return (int)(bits_of(x) >> 23) - 127 - shift;
}

/* False for NaN too. */
INLINE int is_within(float x, float bound) { return (x >= -bound) & (x <= bound); }

INLINE bool ray_is_valid(const slab_ray *r) {
  int valid = (r->t_min == r->t_min) & (r->t_max == r->t_max), moves = 0; /* & and |: no branches */
  UNROLL for (int i = 0; i < 3; i++) {
    valid &= is_within(r->origin[i], COORDINATE_MAX) & is_within(r->direction[i], FLOAT_MAX);
    moves |= r->direction[i] != 0.0f;
  }
  return (valid & moves) != 0;
}

/* Woop, Benthin, Wald 2013: the axis of the largest component becomes the shear's third; the other two follow
 * in cyclic order, swapped when looking down the axis, so that windings are seen alike from both sides. */
INLINE void ray_shear(ray_frame *f) {
  float x = f->direction[0] < 0.0f ? -f->direction[0] : f->direction[0];
  float y = f->direction[1] < 0.0f ? -f->direction[1] : f->direction[1];
  float z = f->direction[2] < 0.0f ? -f->direction[2] : f->direction[2];
  uint kz = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
  uint kx = kz == 2 ? 0 : kz + 1;
  uint ky = kx == 2 ? 0 : kx + 1;
  float dz = kz == 0 ? f->direction[0] : kz == 1 ? f->direction[1] : f->direction[2];
  if (dz < 0.0f) {
    uint swap = kx;
    kx = ky;
    ky = swap;
  }
  f->k[0] = kx;
  f->k[1] = ky;
  f->k[2] = kz;
  UNROLL for (int i = 0; i < 3; i++) {
    uint k = f->k[i]; /* selects, not an indexed load: the arrays stay in registers */
    f->shear_origin[i] = k == 0 ? f->origin[0] : k == 1 ? f->origin[1] : f->origin[2];
    f->shear_inverse[i] = k == 0 ? f->inverse[0] : k == 1 ? f->inverse[1] : f->inverse[2];
    if (i < 2) f->shear[i] = scalar_divide(k == 0 ? f->direction[0] : k == 1 ? f->direction[1] : f->direction[2], dz);
  }
}

/* The range in scaled units. Ends that underflow are rounded inward, so that t is in one range where it is in the
 * other. limit is the largest t that is finite when scaled back, so a crossing whose final t is not finite fails the
 * range test in every query. */
INLINE void ray_range(ray_frame *f, const slab_ray *r, const float factor[2], int e) {
  const float smallest = 0x1p-149f, limit = e < 0 ? FLOAT_MAX * factor[0] * factor[1] : FLOAT_MAX;
  int empty = !(r->t_min <= r->t_max) | (r->t_min > FLOAT_MAX) | (r->t_max < -FLOAT_MAX);
  float first = r->t_min * factor[0] * factor[1], last = r->t_max * factor[0] * factor[1];
  first = first * f->back[0] * f->back[1] < r->t_min ? first + smallest : first;
  last = last * f->back[0] * f->back[1] > r->t_max ? last - smallest : last;
  f->t_min = scalar_min(scalar_max(first, -limit), limit);
  f->t_max = scalar_min(scalar_max(last, -limit), limit);
  if (empty != 0) f->state = RAY_EMPTY;
}

INLINE ray_frame ray_prepare(const slab_ray *r) {
  ray_frame f = {0};
  if (!ray_is_valid(r)) {
    f.state = RAY_INVALID;
    return f;
  }
  float largest = 0.0f;
  UNROLL for (int i = 0; i < 3; i++) {
    float size = r->direction[i] < 0.0f ? -r->direction[i] : r->direction[i];
    largest = scalar_max(size, largest);
  }
  int e = exponent_of(largest);
  power_of_two(-e, f.back);
  power_of_two(e, f.forth);
  f.state = RAY_LIVE;
  UNROLL for (int i = 0; i < 3; i++) {
    float d = r->direction[i] * f.back[0] * f.back[1];
    f.origin[i] = r->origin[i];
    f.direction[i] = is_within(d, FLOAT_MAX_SUBNORMAL) != 0 ? 0.0f : d;
    f.inverse[i] = scalar_divide(1.0f, f.direction[i]);
    f.inverse_back[i] = -f.inverse[i];
    f.inverse_wide[i] = r->t_min < 0.0f ? NAN : f.inverse_back[i] * 0x1.00002p+0f;
  }
  ray_range(&f, r, f.forth, e);
  if ((SLAB_KINDS >> SLAB_TRIANGLE & 1) != 0) ray_shear(&f);
  return f;
}

/* t in lengths of the caller's direction; + 0 turns -0 into 0. */
INLINE float ray_final_t(const ray_frame *f, float t) { return t * f->back[0] * f->back[1] + 0.0f; }

/* Crossings are ordered by their final t. It differs from t by a power of two, and only where it is subnormal can it
 * tie two that differ: t as the final one tells it, */
INLINE float ray_t_told(const ray_frame *f, float t) { return t * f->back[0] * f->back[1] * f->forth[0] * f->forth[1]; }

/* and how far another crossing may lie and still tie with it. */
INLINE float ray_tie_limit(const ray_frame *f, float t) {
  float next = t * f->back[0] * f->back[1] + 0x1p-149f;
  return scalar_min(next * f->forth[0] * f->forth[1], f->t_max);
}

#endif
