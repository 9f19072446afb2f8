/* One formulation on the device. Built with LANES, SLAB_KINDS (the shape alone), FORM (a function of slab_forms.h or
 * triangle_forms.h), FORM_ROWS (rows of its blocks), and for ours over boxes FORM_REJECT. */
#include "form.h"
/* Embedded once, so not within a condition. */
#if SLAB_KINDS == 4
#include "slab_forms.h"
#else
#include "triangle_forms.h"
#endif

/* Blocks of boxes that share one branch, as in flat.cl. */
#if SLAB_KINDS == 4
#define TOGETHER 2
#else
#define TOGETHER 1
#endif
#define FORM_GROUP 16

INLINE mask may_hit(const form_ray *ray, global const float *block, float limit) {
#ifdef FORM_REJECT
  return FORM_REJECT(ray, block, limit);
#else
  real t;
  return FORM(ray, block, limit, &t);
#endif
}

INLINE bool may_hit_some(const form_ray *ray, global const float *block, float limit) {
  mask hit = (mask)(0);
  if (TOGETHER == 1) return true;
  UNROLL for (int k = 0; k < TOGETHER; k++) hit |= may_hit(ray, block + k * FORM_ROWS * LANES, limit);
  return lanes_any(hit);
}

INLINE float nearest_of(mask hit, real t, float limit) {
  for (uint bits = lanes_bits(hit); bits != 0; bits &= bits - 1) {
    const float other = lanes_at(t, lowest_lane(bits));
    limit = other < limit ? other : limit;
  }
  return limit;
}

INLINE float cast(const form_ray *ray, global const float *blocks, uint count, float limit) {
  for (uint b = 0; b < count; b += TOGETHER) {
    const global float *block = blocks + b * FORM_ROWS * LANES;
    if (!may_hit_some(ray, block, limit)) continue;
    UNROLL for (int k = 0; k < TOGETHER; k++) {
      real t = (real)(0.0f);
      const mask hit = FORM(ray, block + k * FORM_ROWS * LANES, limit, &t);
      if (lanes_any(hit)) limit = nearest_of(hit, t, limit);
    }
  }
  return limit;
}

/* The nearest of count blocks for each of n rays, `passes` times over, so that preparing the ray does not count:
 * writes the sum. */
kernel void casts(const global slab_ray *rays, const global float *blocks, uint count, uint n, uint passes,
                  global float *sums) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  const slab_ray given = rays[i];
  const form_ray ray = form_prepare(&given);
  float sum = 0.0f;
  for (uint pass = 0; pass < passes; pass++) sum += cast(&ray, blocks, count, given.t_max);
  sums[i] = sum;
}

/* Of each ray and the FORM_GROUP primitives of its group, which are hit: bit p for primitive p. */
kernel void verdicts(const global slab_ray *rays, const global float *blocks, uint n, uint rays_per_group,
                     global uint *bits) {
  const size_t i = get_global_id(0);
  if (i >= n) return;
  const slab_ray given = rays[i];
  const form_ray ray = form_prepare(&given);
  const global float *group = blocks + i / rays_per_group * (FORM_GROUP * FORM_ROWS);
  uint found = 0;
  for (uint p = 0; p < FORM_GROUP; p += LANES) {
    real t;
    found |= lanes_bits(FORM(&ray, group + p * FORM_ROWS, given.t_max, &t)) << p;
  }
  bits[i] = found;
}
