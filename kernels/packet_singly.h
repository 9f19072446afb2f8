/* Rays of a packet that are tested singly, each against all triangles of a block: two at once where registers hold
 * sixteen lanes. */
#ifndef PACKET_SINGLY_H
#define PACKET_SINGLY_H

#include "triangle.h"

#if LANES == 32
#include "ray_pair.h"
#define few_real pair_real
#define few_mask pair_mask
#define few_ray prepared_pair
#define few_rows pair_rows
#else
#define few_real real
#define few_mask mask
#define few_ray prepared_ray
#define few_rows triangle_rows
#endif

#if LANES == 8
#define SINGLY 1 /* rays that are tested at once */
#define few_of(a, b) ((void)(b), (few_real)(a))
#define few_eight(p) vload8(0, p)
#define few_bits(m) eight_bits(m)
#define few_word uint8
#define FEW_NUMBERS ((uint8)(0, 1, 2, 3, 4, 5, 6, 7))
#define few_store(v, a, b) ((void)(b), vstore8(v, 0, a))
#else
#define SINGLY 2
INLINE few_real few_of(float a, float b) {
  return (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) < (uint16)(8) ? (few_real)(a) : (few_real)(b);
}
#define few_eight(p) ((few_real)(vload8(0, p), vload8(0, p)))
#define few_bits(m) sixteen_bits(m)
#define few_word uint16
#define FEW_NUMBERS ((uint16)(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7))
#define few_store(v, a, b) (vstore8((v).hi, 0, b), vstore8((v).lo, 0, a))
#endif

/* The lanes of some of the eight triangles, given as bits. */
INLINE few_mask few_lanes(uint bits) { return ((few_word)(bits) >> FEW_NUMBERS & 1) != 0; }

/* The part of the prepared rays of a packet that the triangle test reads, stored to be read ray by ray. It is not part
 * of the packet: see bvh_path. */
typedef struct packet_rows {
  float shear_origin[3][LANES], shear_inverse[3][LANES], shear[2][LANES], t_min[LANES];
} packet_rows;

INLINE void packet_store(const prepared_ray *ray, packet_rows *rows) {
  UNROLL for (int i = 0; i < 3; i++) {
    lanes_store(ray->shear_origin[i], rows->shear_origin[i]);
    lanes_store(ray->shear_inverse[i], rows->shear_inverse[i]);
    if (i < 2) lanes_store(ray->shear[i], rows->shear[i]);
  }
  lanes_store(ray->t_min, rows->t_min);
}

/* That part of rays a and b. */
INLINE few_ray few_rays(const packet_rows *rows, uint a, uint b) {
  few_ray f;
  UNROLL for (int i = 0; i < 3; i++) {
    f.shear_origin[i] = few_of(rows->shear_origin[i][a], rows->shear_origin[i][b]);
    f.shear_inverse[i] = few_of(rows->shear_inverse[i][a], rows->shear_inverse[i][b]);
    if (i < 2) f.shear[i] = few_of(rows->shear[i][a], rows->shear[i][b]);
  }
  f.t_min = few_of(rows->t_min[a], rows->t_min[b]);
  return f;
}

/* k: the axes of the shear, in its order. */
INLINE few_rows few_triangles(const octant_word k[3], const global float *block) {
  few_rows t;
  UNROLL for (int v = 0; v < 3; v++) UNROLL for (int i = 0; i < 3; i++) t.row[v][i] =
      few_eight(block + (3 * v + (int)k[i]) * BVH_WIDTH);
  return t;
}

#endif
