/* Two rays at once against a block of triangles each: the test of triangle.h once more, in lanes of which the first
 * half is of the one ray and the second of the other. So a processor with registers for both spends half the
 * instructions, and half the branches, which it foresees more often: that one of the two rays is inside of a triangle
 * is likely.
 *
 * The .inc files are the same for any number of lanes; their functions are told apart by their types. */
#ifndef TWO_H
#define TWO_H

#include "triangle.h"

#if LANES != 8
#error "two rays have sixteen lanes"
#endif

typedef float16 two_real;
typedef int16 two_mask;

/* What triangles ask of a ray_frame. */
typedef struct two_frame {
  two_real shear_origin[3], shear_inverse[3], shear[2], t_min;
} two_frame;

INLINE two_real lanes_max(two_real fresh, two_real kept) { return fresh > kept ? fresh : kept; }
INLINE two_real lanes_min(two_real fresh, two_real kept) { return fresh < kept ? fresh : kept; }
INLINE bool lanes_any(two_mask m) { return sixteen_bits(m) != 0; }

#define real two_real
#define mask two_mask
#define ray_real two_real
#define ray_mask two_mask
#define ray_frame two_frame
#define triangle_shear two_shear
#define triangle_edge two_edge
#define triangle_rows two_rows

#include "slab.inc"

#include "gate.inc"

#include "bounds.inc"

#include "triangle.inc"

#undef real
#undef mask
#undef ray_real
#undef ray_mask
#undef ray_frame
#undef triangle_shear
#undef triangle_edge
#undef triangle_rows

INLINE two_real two_of(float a, float b) { return (two_real)((real)(a), (real)(b)); }

INLINE two_frame two_rays(const ray_frame *a, const ray_frame *b) {
  two_frame f;
  UNROLL for (int i = 0; i < 3; i++) {
    f.shear_origin[i] = two_of(a->shear_origin[i], b->shear_origin[i]);
    f.shear_inverse[i] = two_of(a->shear_inverse[i], b->shear_inverse[i]);
    if (i < 2) f.shear[i] = two_of(a->shear[i], b->shear[i]);
  }
  f.t_min = two_of(a->t_min, b->t_min);
  return f;
}

INLINE two_rows two_load(const triangle_rows *a, const triangle_rows *b) {
  two_rows t;
  UNROLL for (int v = 0; v < 3; v++) UNROLL for (int i = 0; i < 3; i++) t.row[v][i] =
      (two_real)(a->row[v][i], b->row[v][i]);
  return t;
}

#endif
