/* Planes: normal . x = offset. The host scales normal and offset by a power of two, so that nothing overflows. */
#ifndef PLANE_H
#define PLANE_H

#include "gate.h"

INLINE mask plane_surface(const ray_frame *ray, GLOBAL const float *block, ray_real limit, uint cull, real *t) {
  real n[3];
  UNROLL for (int i = 0; i < 3; i++) n[i] = lanes_load(block + i * STRIDE);
  real offset = lanes_load(block + 3 * STRIDE);
  real along = (n[0] * ray->direction[0] + n[1] * ray->direction[1]) + n[2] * ray->direction[2];
  real from = (n[0] * ray->origin[0] + n[1] * ray->origin[1]) + n[2] * ray->origin[2];
  *t = lanes_divide(offset - from, along);
  mask hit = (along != 0.0f) & (*t >= ray->t_min) & (*t <= limit);
  if (cull == SLAB_CULL_BACK) hit = hit & (along < 0.0f);
  if (cull == SLAB_CULL_FRONT) hit = hit & (along > 0.0f);
  return hit;
}

INLINE void plane_attributes(const ray_real v[PLANE_ROWS], ray_hit *hit) { unit_vector(v, hit->normal); }

#endif
