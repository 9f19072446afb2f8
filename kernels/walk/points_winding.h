/* Winding numbers: which bounds a point's ray may meet, how blocks are counted, and answers. A part of points.h. */
#ifndef WALK_POINTS_WINDING_H
#define WALK_POINTS_WINDING_H

#include "maths/winding.h"

/* Collapsed triangles have no sides. */
#define POINTS_FIND_COLLAPSED false

/* ---- bounds ---- */

INLINE mask points_near(const point_query *q, const real lower[3], const real upper[3], real *square) {
  *square = (real)(0.0f);
  return winding_meets(q->p, lower, upper);
}

/* Outside of its gate a closed model surrounds no point, and an instance counts nothing. */
INLINE mask points_near_gate(const point_query *q, const real lower[3], const real upper[3], real *gate, real *square) {
  *gate = *square = (real)(0.0f);
  return winding_holds(q->p, lower, upper);
}

INLINE float points_limit(const point_query *q) { return (void)q, INFINITY; }

/* ---- crossings ---- */

/* The count of a triangle, by exact signs. */
INLINE int winding_exactly(const point_query *q, GLOBAL const float *block, uint lane) {
  float corner[3][3];
  for (uint v = 0; v < 3; v++)
    for (uint i = 0; i < 3; i++) corner[v][i] = block[(3 * v + i) * STRIDE + lane];
  return slab_crosses(q->p, corner);
}

/* Whether the mask lets the point see a primitive. */
INLINE bool winding_sees(const point_query *q, const scene_view *scene, uint global_id) {
  uint geometry;
  if (!SLAB_INSTANCES && !q->masked) return true;
  return (points_entry(q, scene, global_id, &geometry)->mask & q->mask) != 0;
}

/* Counts a block. ids: the global ids of its primitives; NULL: they count from `first` on, and end before `end`. */
INLINE bool points_block(point_query *q, const scene_view *scene, const uint kind, GLOBAL const float *block,
                         GLOBAL const uint *ids, uint first, uint end, uint where) {
  winding_lanes found;
  (void)where;
  COUNT(blocks, 1);
  primitive_winding(kind, q->p, block, &found);
  const mask some = found.leaves | found.enters;
  if (!lanes_any(some)) return false;
  const uint leaves = lanes_bits(found.leaves), unsure = lanes_bits(found.unsure);
  for (uint bits = lanes_bits(some); bits != 0; bits &= bits - 1) {
    const uint lane = lowest_lane(bits), id = ids != 0 ? ids[lane] : first + lane;
    if (ids != 0 ? id == SLAB_MISS : id >= end) continue;
    if (!winding_sees(q, scene, id)) continue;
    if ((unsure >> lane & 1) != 0)
      q->winding += winding_exactly(q, block, lane);
    else
      q->winding += (leaves >> lane & 1) != 0 ? 1 : -1;
  }
  return false;
}

/* ---- answers ---- */

INLINE void points_write(const point_query *q, const scene_view *scene, const float p[3], uint why,
                         const point_arrays *arrays, size_t i) {
  (void)scene, (void)p, (void)why;
  ((GLOBAL int *)arrays->results)[i] = q->winding;
}

INLINE point_query points_query(const point_arrays *arrays, const cast_uniforms *cast, size_t i, float radius,
                                float p[3]) {
  point_query q;
  (void)radius;
  UNROLL for (int k = 0; k < 3; k++) q.p[k] = p[k] = arrays->points[3 * i + k];
  q.mask = arrays->masks != 0 ? arrays->masks[i] : cast->mask;
  q.masked = cast->masked != 0;
  q.depth = 0;
  q.winding = 0;
  return q;
}

/* A point does not learn from the one before it. */
INLINE void points_hint(const point_query *q, point_hint *hint) { (void)q, (void)hint; }

#endif
