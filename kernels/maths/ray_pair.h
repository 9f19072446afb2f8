/* Tests two rays at once, each against a block of triangles. It includes the test of triangle.h again in sixteen lanes,
 * beside eight, or beside the 32 of a packet. The first half belongs to one ray, the second to the other. A processor
 * with registers for both spends half the instructions and half the branches. The branches are also predicted better,
 * since it is likely that one of the two rays hits a triangle.
 *
 * The .inc files are the same for any number of lanes. Their functions are overloaded by argument type. */
#ifndef MATHS_RAY_PAIR_H
#define MATHS_RAY_PAIR_H

#include "maths/triangle.h"

#if LANES == 16
#error "two rays have sixteen lanes anyway"
#endif

typedef float16 pair_real;
typedef int16 pair_mask;

/* The part of prepared_ray that the triangle test reads, for two rays. */
typedef struct prepared_pair {
  pair_real shear_origin[3], shear_inverse[3], shear[2], t_min;
} prepared_pair;

INLINE pair_real lanes_max(pair_real fresh, pair_real kept) { return fresh > kept ? fresh : kept; }
INLINE pair_real lanes_min(pair_real fresh, pair_real kept) { return fresh < kept ? fresh : kept; }
INLINE bool lanes_any(pair_mask m) { return sixteen_bits(m) != 0; }

#define real pair_real
#define mask pair_mask
#define ray_real pair_real
#define ray_mask pair_mask
#define prepared_ray prepared_pair
#define triangle_shear pair_shear
#define triangle_edge pair_edge
#define triangle_rows pair_rows

#include "maths/slab.inc"

#include "maths/padded_bounds.inc"

#include "maths/bounds.inc"

#include "maths/triangle.inc"

#undef real
#undef mask
#undef ray_real
#undef ray_mask
#undef prepared_ray
#undef triangle_shear
#undef triangle_edge
#undef triangle_rows

#ifndef SLAB_PACKET

INLINE pair_real pair_of(float a, float b) { return (pair_real)((real)(a), (real)(b)); }

INLINE prepared_pair pair_of_rays(const prepared_ray *a, const prepared_ray *b) {
  prepared_pair f;
  UNROLL for (int i = 0; i < 3; i++) {
    f.shear_origin[i] = pair_of(a->shear_origin[i], b->shear_origin[i]);
    f.shear_inverse[i] = pair_of(a->shear_inverse[i], b->shear_inverse[i]);
    if (i < 2) f.shear[i] = pair_of(a->shear[i], b->shear[i]);
  }
  f.t_min = pair_of(a->t_min, b->t_min);
  return f;
}

INLINE pair_rows pair_load(const triangle_rows *a, const triangle_rows *b) {
  pair_rows t;
  UNROLL for (int v = 0; v < 3; v++) UNROLL for (int i = 0; i < 3; i++) t.row[v][i] =
      (pair_real)(a->row[v][i], b->row[v][i]);
  return t;
}

#endif

#endif
