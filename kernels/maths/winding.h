/* Winding numbers: how often surfaces surround a point. A ray goes from the point along z. Each triangle that it leaves
 * through counts 1, each that it enters through -1, and each solid that holds the point counts 1.
 *
 * Signs are exact (crossing.h). No crossing is lost or counted twice, and the sum over a closed mesh is exactly its
 * winding number about the moved point, whatever the direction of the ray. Rounded numbers decide for a block's lanes,
 * where they are beyond their error. Where one is not, slab_crosses looks at a triangle alone. */
#ifndef MATHS_WINDING_H
#define MATHS_WINDING_H

#include "maths/closest.h"
#include "maths/crossing.h"

/* ---- blocks ---- */

/* Lanes through which the ray leaves or enters, and those of which rounded numbers cannot tell. */
typedef struct winding_lanes {
  mask leaves, enters, unsure;
} winding_lanes;

INLINE void triangle_winding(const float p[3], GLOBAL const float *block, winding_lanes *found) {
  const triangle_rows rows = closest_rows(block);
  real x[3], y[3];
  mask above = (mask)0, below = !(mask)0, no_leave = TRIANGLE_IS_VOID(rows.row[0][0]), no_enter = no_leave,
       certain = !(mask)0;
  UNROLL for (int v = 0; v < 3; v++) {
    x[v] = rows.row[v][0] - p[0];
    y[v] = rows.row[v][1] - p[1];
    above = above | (rows.row[v][2] >= p[2]);
    below = below & (rows.row[v][2] >= p[2]);
  }
  UNROLL for (int k = 0; k < 3; k++) {
    const int i = next_of_three(k), j = next_of_three(i);
    const real m = x[i] * y[j], n = y[i] * x[j], edge = m - n;
    const real error = lanes_fma(lanes_abs(m) + lanes_abs(n), (real)(CROSSING_ERROR), (real)(CROSSING_FAINT));
    no_leave = no_leave | (edge < -error);
    no_enter = no_enter | (edge > error);
    certain = certain & (lanes_abs(edge) > error);
  }
  found->leaves = above & !no_leave;
  found->enters = above & !no_enter;
  found->unsure = (found->leaves | found->enters) & !(certain & below);
}

/* Solids: the border is inside. The padded bounds, which hold the solid, are tested too, so that it is found in its
 * node. */
INLINE mask winding_holds(const float p[3], const real lower[3], const real upper[3]) {
  mask holds = !(mask)0;
  UNROLL for (int i = 0; i < 3; i++) holds = holds & (lower[i] <= p[i]) & (upper[i] >= p[i]);
  return holds;
}

INLINE void solid_winding(mask holds, winding_lanes *found) {
  found->leaves = holds;
  found->enters = found->unsure = (mask)0;
}

INLINE void box_winding(const float p[3], GLOBAL const float *block, winding_lanes *found) {
  real lower[3], upper[3];
  UNROLL for (int i = 0; i < 3; i++) {
    lower[i] = lanes_load(block + i * STRIDE);
    upper[i] = lanes_load(block + (i + 3) * STRIDE);
  }
  solid_winding(winding_holds(p, lower, upper), found);
}

INLINE void sphere_winding(const float p[3], GLOBAL const float *block, winding_lanes *found) {
  sphere_seen s;
  sphere_see(p, block, &s);
  solid_winding((s.length <= s.radius) & winding_holds(p, s.lower, s.upper), found);
}

INLINE void obb_winding(const float p[3], GLOBAL const float *block, winding_lanes *found) {
  const obb_lanes box = obb_load(block);
  real place[3], lower[3], upper[3];
  mask holds = !(mask)0;
  obb_place(p, &box, place);
  UNROLL for (int i = 0; i < 3; i++) holds = holds & (lanes_abs(place[i]) <= box.half_size[i]);
  obb_padded_bounds(&box, lower, upper);
  solid_winding(holds & winding_holds(p, lower, upper), found);
}

/* A plane surrounds nothing. */
INLINE void plane_winding(const float p[3], GLOBAL const float *block, winding_lanes *found) {
  (void)p, (void)block;
  solid_winding((mask)0, found);
}

INLINE void primitive_winding(const uint kind, const float p[3], GLOBAL const float *block, winding_lanes *found) {
#define WINDING_OF(shape, name, names, noun, floats, form, place, source) \
  if (HAS_KIND(shape) && kind == shape) name##_winding(p, block, found);
  SHAPES(WINDING_OF)
#undef WINDING_OF
}

/* ---- bounds ---- */

/* Whether the ray may meet something within these bounds. NaN, of an axis that is not bounded, constrains nothing. */
INLINE mask winding_meets(const float p[3], const real lower[3], const real upper[3]) {
  return !((lower[0] > p[0]) | (upper[0] < p[0]) | (lower[1] > p[1]) | (upper[1] < p[1]) | (upper[2] < p[2]));
}

#endif
