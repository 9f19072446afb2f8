/* Rays that formulas make (docs/contract.md, "Sets of rays"): sums, products, fma, exact quotients, and nothing else,
 * so that all devices make the same bits. */
#ifndef MATHS_RAY_SET_H
#define MATHS_RAY_SET_H

#include "data/ray_set.h"
#include "lanes/lanes.h"

/* The values that all rays of a row share. */
typedef struct ray_row {
  float place[12];           /* a pose, or a point and its normal */
  float first[3], second[3]; /* the frame's axes beside the normal */
} ray_row;

/* Its range. Rays are written where they belong, and not returned: then drivers need no copy in private memory. */
INLINE void set_range(const ray_set *set, global slab_ray *ray) {
  ray->t_min = set->t_min;
  ray->t_max = set->t_max;
}

/* ---- cameras ---- */

/* Where the centre of pixel i of n lies, between 0 and 2. */
INLINE float pixel_place(uint i, uint n) { return scalar_divide(2.0f * (float)i + 1.0f, (float)n); }
INLINE float pixel_across(const ray_set *set, uint column) { return pixel_place(column, set->columns) - 1.0f; }
INLINE float pixel_along(const ray_set *set, uint row) { return 1.0f - pixel_place(row, set->rows); }

/* The bits of slab_camera_ray. */
INLINE void pinhole_ray(const ray_set *set, float x, float y, global slab_ray *ray) {
  set_range(set, ray);
  UNROLL for (int i = 0; i < 3; i++) {
    ray->origin[i] = set->origin[i];
    ray->direction[i] = set->forward[i] + (x * set->right[i] + y * set->up[i]);
  }
}

INLINE void orthographic_ray(const ray_set *set, float x, float y, global slab_ray *ray) {
  set_range(set, ray);
  UNROLL for (int i = 0; i < 3; i++) {
    ray->origin[i] = set->origin[i] + (x * set->right[i] + y * set->up[i]);
    ray->direction[i] = set->forward[i];
  }
}

INLINE float polynomial(const float *terms, float x) {
  float sum = terms[FISHEYE_TERMS - 1];
  UNROLL for (int i = FISHEYE_TERMS - 2; i >= 0; i--) sum = fma(sum, x, terms[i]);
  return sum;
}

/* Beyond the circle of the lens its range is empty. */
INLINE void fisheye_ray(const ray_set *set, float x, float y, global slab_ray *ray) {
  set_range(set, ray);
  const float u = x * set->across, v = y * set->along, square = fma(u, u, v * v);
  const float sine = polynomial(set->sine, square), cosine = polynomial(set->cosine, square);
  UNROLL for (int i = 0; i < 3; i++) {
    ray->origin[i] = set->origin[i];
    ray->direction[i] = fma(cosine, set->forward[i], sine * fma(u, set->right[i], v * set->up[i]));
  }
  if (!(square <= set->limit)) {
    ray->t_min = INFINITY;
    ray->t_max = -INFINITY;
  }
}

/* ---- tables ---- */

/* A vector by a row of a matrix. */
INLINE float turned(const float *row, const float v[3]) { return fma(row[2], v[2], fma(row[1], v[1], row[0] * v[0])); }

/* beam: origin and direction, in the pose's frame. */
INLINE void beam_ray(const ray_set *set, const ray_row *row, const global float *beam, global slab_ray *ray) {
  set_range(set, ray);
  const float origin[3] = {beam[0], beam[1], beam[2]}, direction[3] = {beam[3], beam[4], beam[5]};
  UNROLL for (int i = 0; i < 3; i++) {
    const float *m = row->place + 4 * i;
    ray->origin[i] = fma(m[2], origin[2], fma(m[1], origin[1], fma(m[0], origin[0], m[3])));
    ray->direction[i] = turned(m, direction);
  }
}

/* Two axes across a unit normal, which turn with it as little as can be: Duff et al., "Building an Orthonormal Basis,
 * Revisited", 2017. */
INLINE void row_frame(ray_row *row) {
  const float *n = row->place + 3;
  const float sign = scalar_float((scalar_bits(n[2]) & 0x80000000u) | 0x3F800000u);
  const float a = scalar_divide(-1.0f, sign + n[2]), b = n[0] * n[1] * a;
  row->first[0] = fma(sign * n[0] * n[0], a, 1.0f);
  row->first[1] = sign * b;
  row->first[2] = -sign * n[0];
  row->second[0] = b;
  row->second[1] = fma(n[1] * n[1], a, sign);
  row->second[2] = -n[1];
}

INLINE void direction_ray(const ray_set *set, const ray_row *row, const global float *to, global slab_ray *ray) {
  set_range(set, ray);
  UNROLL for (int i = 0; i < 3; i++) {
    ray->origin[i] = row->place[i];
    ray->direction[i] =
        set->framed != 0 ? fma(to[2], row->place[3 + i], fma(to[1], row->second[i], to[0] * row->first[i])) : to[i];
  }
}

/* The bits of slab_segment. */
INLINE void pair_ray(const ray_set *set, const ray_row *row, const global float *to, global slab_ray *ray) {
  set_range(set, ray);
  UNROLL for (int i = 0; i < 3; i++) {
    ray->origin[i] = row->place[i];
    ray->direction[i] = to[i] - row->place[i];
  }
}

/* ---- rows ---- */

INLINE void set_row(const ray_set *set, const global float *of_rows, const global float *normals, uint row,
                    ray_row *r) {
  const uint size = SET_ROW_FLOATS(set->kind);
  if (SET_IS_CAMERA(set->kind)) return;
  for (uint i = 0; i < size; i++) r->place[i] = of_rows[(size_t)row * size + i];
  if (set->framed == 0) return;
  UNROLL for (uint i = 0; i < 3; i++) r->place[3 + i] = normals[(size_t)row * 3 + i];
  row_frame(r);
}

/* Rays `from` to `end` of a row. */
INLINE void set_rays_of_row(const ray_set *set, const ray_row *of, uint row, uint from, uint end,
                            const global float *of_columns, global slab_ray *rays) {
  const float y = SET_IS_CAMERA(set->kind) ? pixel_along(set, row) : 0.0f;
  if (set->kind == SLAB_RAYS_PINHOLE) {
    for (uint i = from; i < end; i++) pinhole_ray(set, pixel_across(set, i), y, rays++);
  } else if (set->kind == SLAB_RAYS_ORTHOGRAPHIC) {
    for (uint i = from; i < end; i++) orthographic_ray(set, pixel_across(set, i), y, rays++);
  } else if (set->kind == SLAB_RAYS_FISHEYE) {
    for (uint i = from; i < end; i++) fisheye_ray(set, pixel_across(set, i), y, rays++);
  } else if (set->kind == SLAB_RAYS_BEAMS) {
    for (uint i = from; i < end; i++) beam_ray(set, of, of_columns + (size_t)i * 6, rays++);
  } else if (set->kind == SLAB_RAYS_DIRECTIONS) {
    for (uint i = from; i < end; i++) direction_ray(set, of, of_columns + (size_t)i * 3, rays++);
  } else {
    for (uint i = from; i < end; i++) pair_ray(set, of, of_columns + (size_t)i * 3, rays++);
  }
}

#endif
