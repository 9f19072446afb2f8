/* Declarations that the formulations share. Each is a function of one ray and a block of LANES primitives:
 *
 *   mask form(const form_ray *, GLOBAL const float *block, float limit, real *t)
 *
 * the lanes that it takes for hit with t_min <= t <= limit, and t there: where a box is entered, not before t_min. They
 * are written from the papers' formulas, in the lane type of lanes.h, so that all run at the device's width. In
 * form_ray are the values that a paper computes once per ray. Forms that use the frame count t in lengths of its
 * direction, the others in lengths of the caller's: the same for directions whose largest component lies in [1, 2). */
#ifndef FORM_H
#define FORM_H

#include "maths/box.h"
#include "maths/triangle.h"

typedef struct form_ray {
  float origin[3], direction[3]; /* as the caller gave them */
  float t_min;
  float inverse[3]; /* 1 / direction: an infinity where it is a zero */
  float clamped[3]; /* the same of a direction that is nowhere nearer to 0 than 2^-80 */
  float offset[3];  /* origin * inverse */
  float clamped_offset[3];
  int falls[3];       /* inverse < 0, of -0 too */
  prepared_ray frame; /* ours */
} form_ray;

#define FORM_CLAMP 0x1p-80f

INLINE float form_away_from_zero(float d) {
  const float size = d < 0.0f ? -d : d;
  const float nearest = (ray_bits(d) >> 31) != 0 ? -FORM_CLAMP : FORM_CLAMP;
  return size < FORM_CLAMP ? nearest : d;
}

/* Members that a form does not use cost nothing: nobody reads them. */
INLINE form_ray form_prepare(const slab_ray *given) {
  form_ray ray;
  ray.t_min = given->t_min;
  UNROLL for (int i = 0; i < 3; i++) {
    ray.origin[i] = given->origin[i];
    ray.direction[i] = given->direction[i];
    ray.inverse[i] = ray_divide(1.0f, ray.direction[i]);
    ray.clamped[i] = ray_divide(1.0f, form_away_from_zero(ray.direction[i]));
    ray.offset[i] = ray.origin[i] * ray.inverse[i];
    ray.clamped_offset[i] = ray.origin[i] * ray.clamped[i];
    ray.falls[i] = ray.inverse[i] < 0.0f;
  }
  ray.frame = ray_prepare(given);
  return ray;
}

#define form_row(block, r) lanes_load((block) + (r)*STRIDE)

#endif
