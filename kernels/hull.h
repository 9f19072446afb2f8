/* Every ray of a packet at once, against TREE_WIDTH boxes or triangles: in eight lanes, whatever LANES is. */
#ifndef HULL_H
#define HULL_H

#include "triangle.h"

#if LANES == 8
typedef real hull_real;
typedef triangle_rows hull_rows;
#else
typedef float8 hull_real;

INLINE hull_real lanes_max(hull_real fresh, hull_real kept) { return fresh > kept ? fresh : kept; }
INLINE hull_real lanes_min(hull_real fresh, hull_real kept) { return fresh < kept ? fresh : kept; }

#define real hull_real
#define mask int8
#define ray_real hull_real
#define ray_mask int8
#define triangle_rows hull_rows

#include "slab.inc"

#include "gate.inc"

#include "bounds.inc"

#undef real
#undef mask
#undef ray_real
#undef ray_mask
#undef triangle_rows
#endif

typedef struct packet_hull {
  uint down[3];                                /* the directions', by axis */
  float near_origin[3], far_origin[3];         /* which put planes nearest, and farthest */
  float near_inverse[3][2], far_inverse[3][2]; /* least and most of inverse_back, and of inverse_wide: rounding is
                                                  monotone, so these are those times INVERSE_WIDE */
  float t_min, limit;
} packet_hull;

/* Which boxes some ray may touch, as box_may_touch would say of each, a bit for each. A ray that runs in a plane gives
 * NaN, which constrains nothing: since -inf is the least inverse then, NaN is what both choices below keep. */
INLINE uint hull_may_touch(const packet_hull *h, const hull_real near[3], const hull_real far[3], hull_real *enter) {
  hull_real leave = (hull_real)(h->limit);
  *enter = (hull_real)(h->t_min);
  UNROLL for (int i = 0; i < 3; i++) {
    const hull_real to_near = h->near_origin[i] - near[i], to_far = h->far_origin[i] - far[i];
    *enter = lanes_max(lanes_min(to_near * h->near_inverse[i][1], to_near * h->near_inverse[i][0]), *enter);
    leave = lanes_min(lanes_max(to_far * h->far_inverse[i][1], to_far * h->far_inverse[i][0]), leave);
  }
  return eight_bits(*enter <= leave);
}

/* Of boxes whose rows stand as in a box's block. */
INLINE uint hull_boxes(const packet_hull *h, const global float *bounds, hull_real *enter) {
  hull_real near[3], far[3];
  UNROLL for (int i = 0; i < 3; i++) {
    const bool down = h->down[i] != 0;
    near[i] = vload8(0, bounds + (down ? i + 3 : i) * TREE_WIDTH);
    far[i] = vload8(0, bounds + (down ? i : i + 3) * TREE_WIDTH);
  }
  return hull_may_touch(h, near, far, enter);
}

INLINE uint hull_triangles(const packet_hull *h, const global float *block) {
  hull_rows rows;
  hull_real lower[3], upper[3], near[3], far[3], enter;
  UNROLL for (int v = 0; v < 3; v++) UNROLL for (int i = 0; i < 3; i++) rows.row[v][i] =
      vload8(0, block + (3 * v + i) * TREE_WIDTH);
  triangle_bounds(&rows, lower, upper);
  triangle_gate(lower, upper);
  UNROLL for (int i = 0; i < 3; i++) {
    const bool down = h->down[i] != 0;
    near[i] = down ? upper[i] : lower[i];
    far[i] = down ? lower[i] : upper[i];
  }
  return hull_may_touch(h, near, far, &enter);
}

#endif
