/* The hull of the live rays of a packet, tested against BVH_WIDTH boxes or triangles: all rays at once, in
 * eight lanes, whatever LANES is. */
#ifndef WALK_PACKET_HULL_H
#define WALK_PACKET_HULL_H

#include "maths/triangle.h"
#include "walk/packet.h"

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

#include "maths/slab.inc"

#include "maths/padded_bounds.inc"

#include "maths/bounds.inc"

#undef real
#undef mask
#undef ray_real
#undef ray_mask
#undef triangle_rows
#endif

typedef struct packet_hull {
  uint dir_is_negative[3];                     /* sign of the directions along each axis */
  float near_origin[3], far_origin[3];         /* the origins for which planes are nearest, and farthest */
  float near_inverse[3][2], far_inverse[3][2]; /* least and most of inverse_back, and of inverse_wide: rounding is
                                                  monotone, so the latter are the former times INVERSE_WIDE */
  float t_min, limit;
} packet_hull;

/* ---- of the live rays ---- */

INLINE hull_real least_of_halves(real v) {
#if LANES == 32
  const float16 both = v.lo < v.hi ? v.lo : v.hi;
  return both.lo < both.hi ? both.lo : both.hi;
#elif LANES == 16
  return v.lo < v.hi ? v.lo : v.hi;
#else
  return v;
#endif
}

INLINE float least_live(const packet *p, real v) {
  const hull_real a = least_of_halves(packet_mask(p->live) ? v : (real)(INFINITY));
  const float4 b = a.lo < a.hi ? a.lo : a.hi;
  const float2 c = b.lo < b.hi ? b.lo : b.hi;
  return c.x < c.y ? c.x : c.y;
}

INLINE float most_live(const packet *p, real v) { return -least_live(p, -v); }

INLINE packet_hull packet_hull_of(const packet *p) {
  packet_hull h;
  UNROLL for (int i = 0; i < 3; i++) {
    const float least = least_live(p, p->ray.origin[i]), most = most_live(p, p->ray.origin[i]);
    const bool dir_is_negative = p->ray.dir_is_negative[i] != 0;
    h.dir_is_negative[i] = p->ray.dir_is_negative[i];
    h.near_origin[i] = dir_is_negative ? least : most;
    h.far_origin[i] = dir_is_negative ? most : least;
    h.near_inverse[i][0] = least_live(p, p->ray.inverse_back[i]);
    h.near_inverse[i][1] = most_live(p, p->ray.inverse_back[i]);
    UNROLL for (int k = 0; k < 2; k++) h.far_inverse[i][k] = h.near_inverse[i][k] * INVERSE_WIDE;
  }
  h.t_min = least_live(p, p->ray.t_min);
  h.limit = most_live(p, p->limit);
  return h;
}

/* ---- against eight primitives ---- */

/* Boxes that some ray may overlap. It accepts each box that box_may_overlap accepts for one of the rays. A ray
 * that lies in a plane gives NaN, which constrains nothing. The least inverse is then -inf, so NaN is what both choices
 * below keep. */
INLINE int8 hull_may_overlap(const packet_hull *h, const hull_real near[3], const hull_real far[3], hull_real *enter) {
  hull_real leave = (hull_real)(h->limit);
  *enter = (hull_real)(h->t_min);
  UNROLL for (int i = 0; i < 3; i++) {
    const hull_real to_near = h->near_origin[i] - near[i], to_far = h->far_origin[i] - far[i];
    *enter = lanes_max(lanes_min(to_near * h->near_inverse[i][1], to_near * h->near_inverse[i][0]), *enter);
    leave = lanes_min(lanes_max(to_far * h->far_inverse[i][1], to_far * h->far_inverse[i][0]), leave);
  }
  return *enter <= leave;
}

/* The same for boxes whose rows are laid out as in a block of boxes. */
INLINE int8 hull_overlaps_boxes(const packet_hull *h, const global float *bounds, hull_real *enter) {
  hull_real near[3], far[3];
  UNROLL for (int i = 0; i < 3; i++) {
    const bool dir_is_negative = h->dir_is_negative[i] != 0;
    near[i] = vload8(0, bounds + (dir_is_negative ? i + 3 : i) * BVH_WIDTH);
    far[i] = vload8(0, bounds + (dir_is_negative ? i : i + 3) * BVH_WIDTH);
  }
  return hull_may_overlap(h, near, far, enter);
}

INLINE int8 hull_overlaps_triangles(const packet_hull *h, const global float *block) {
  hull_rows rows;
  hull_real lower[3], upper[3], near[3], far[3], enter;
  UNROLL for (int v = 0; v < 3; v++) UNROLL for (int i = 0; i < 3; i++) rows.row[v][i] =
      vload8(0, block + (3 * v + i) * BVH_WIDTH);
  triangle_bounds(&rows, lower, upper);
  triangle_padded_bounds(lower, upper);
  UNROLL for (int i = 0; i < 3; i++) {
    const bool dir_is_negative = h->dir_is_negative[i] != 0;
    near[i] = dir_is_negative ? upper[i] : lower[i];
    far[i] = dir_is_negative ? lower[i] : upper[i];
  }
  return hull_may_overlap(h, near, far, &enter);
}

/* Primitives of a block that some ray may overlap, as bits. Kinds without such a test return all bits. */
INLINE uint hull_overlaps_block(const uint kind, const packet_hull *h, const global float *block) {
  hull_real enter;
  if (kind == SLAB_BOX) return eight_bits(hull_overlaps_boxes(h, block, &enter));
  if (kind == SLAB_TRIANGLE) return eight_bits(hull_overlaps_triangles(h, block));
  return EIGHT_BITS;
}

#endif
