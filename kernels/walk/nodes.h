/* The common part of the layouts of a BVH: testing a ray against the bounds of children, the blocks of a leaf, and the
 * primitives outside the BVH. A layout defines STRIDE, the number of primitives per block, and BVH_UNIT, the number of
 * floats in which block positions are counted. */
#ifndef WALK_NODES_H
#define WALK_NODES_H

#include "walk/query.h"

/* bounds_overlap of rays whose t_min is below 0. */
INLINE mask bounds_overlap_below(const prepared_ray *ray, const real near[3], const real far[3], float limit,
                                 real *enter) {
  real leave, hi;
  box_interval(ray, near, far, enter, &leave, &hi);
  const mask overlapped = slab_overlaps(*enter, leave, ray->t_min, limit);
  *enter = lanes_max(*enter, (real)(ray->t_min));
  return overlapped;
}

/* Children whose bounds the ray may overlap at limit or before, and the t where it enters them. A child's interval of t
 * contains the interval of the padded bounds of every primitive below it, since rounding is monotone. So no child is
 * rejected that holds a primitive whose padded bounds are accepted. */
INLINE mask bounds_overlap(const prepared_ray *ray, const real near[3], const real far[3], float limit, real *enter) {
  if (ray->t_min >= 0.0f) return box_may_overlap(ray, near, far, limit, enter); /* below 0 it rejects nothing */
  return bounds_overlap_below(ray, near, far, limit, enter);
}

/* Tests `count` consecutive blocks of one kind. True when the ray is done. */
INLINE bool scan_blocks(const uint kind, query_state *q, const prepared_ray *ray, const scene_view *scene, uint first,
                        uint count) {
  const uint floats = primitive_floats(kind);
  for (uint n = 0; n < count; n++, first += BLOCK_UNITS(floats, STRIDE, BVH_UNIT)) {
    const global float *block = block_at(scene->blocks, (size_t)first * BVH_UNIT);
    const global uint *global_ids = (const global uint *)(block + floats * STRIDE);
    COUNT(blocks, 1);
    for (uint part = 0; part < STRIDE; part += LANES)
      if (query_block(q, kind, ray, block + part, 0, 0, global_ids + part, first, scene)) return true;
  }
  return false;
}

INLINE bool scan_leaf(query_state *q, const prepared_ray *ray, const scene_view *scene, uint kind, uint first,
                      uint count) {
#define SCAN_KIND(shape, name, names, noun, floats, form, place, source) \
  if (SHAPE_IN_BVH_##place && HAS_KIND(shape) && kind == shape) return scan_blocks(shape, q, ray, scene, first, count);
  SHAPES(SCAN_KIND)
#undef SCAN_KIND
  return false;
}

/* The primitives outside the BVH, of the kinds that may be there. */
INLINE bool scan_outside(query_state *q, const prepared_ray *ray, const scene_view *scene,
                         const bvh_outside outside[OUTSIDE_KINDS]) {
#define SCAN_KIND(shape, name)                                                                          \
  if (HAS_KIND(shape) &&                                                                                \
      scan_blocks(shape, q, ray, scene, outside[OUTSIDE_##name].first, outside[OUTSIDE_##name].blocks)) \
    return true;
  SHAPES_OUTSIDE(SCAN_KIND)
#undef SCAN_KIND
  return false;
}

#endif
