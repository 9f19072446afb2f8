/* What the layouts of a BVH have in common: how a ray meets the bounds of children, the blocks of a leaf, and what
 * stands outside. A layout defines STRIDE, the primitives of a block, and BVH_UNIT, the floats in which the places of
 * blocks are counted. */
#ifndef NODES_H
#define NODES_H

#include "query.h"

/* Children that the ray may touch at limit or before, and where it enters them. A child's stretch contains that of
 * every gate below it, since rounding is monotone, so whatever a primitive's gate lets through gets through here. */
INLINE mask bounds_overlap(const prepared_ray *ray, const real near[3], const real far[3], float limit, real *enter) {
  real leave, hi;
  if (ray->t_min >= 0.0f) return box_may_overlap(ray, near, far, limit, enter); /* else it holds nothing back */
  box_interval(ray, near, far, enter, &leave, &hi);
  const mask overlapped = slab_overlaps(*enter, leave, ray->t_min, limit);
  *enter = lanes_max(*enter, (real)(ray->t_min));
  return overlapped;
}

/* Blocks of one kind, one after the other. True when the ray is done. */
INLINE bool scan_blocks(const uint kind, query_state *q, const prepared_ray *ray, scene_blocks blocks, uint first,
                        uint count, const cast_uniforms *cast) {
  const uint rows = primitive_rows(kind);
  for (uint n = 0; n < count; n++, first += BLOCK_UNITS(rows, STRIDE, BVH_UNIT)) {
    const global float *block = block_at(blocks, (size_t)first * BVH_UNIT);
    const global uint *global_ids = (const global uint *)(block + rows * STRIDE);
    for (uint part = 0; part < STRIDE; part += LANES)
      if (query_block(q, kind, ray, block + part, 0, global_ids + part, first, cast)) return true;
  }
  return false;
}

INLINE bool scan_leaf(query_state *q, const prepared_ray *ray, scene_blocks blocks, uint kind, uint first, uint count,
                      const cast_uniforms *cast) {
#define SCAN_KIND(KIND) \
  if ((SLAB_KINDS >> KIND & 1) != 0 && kind == KIND) return scan_blocks(KIND, q, ray, blocks, first, count, cast)
  SCAN_KIND(SLAB_TRIANGLE);
  SCAN_KIND(SLAB_BOX);
  SCAN_KIND(SLAB_SPHERE);
  SCAN_KIND(SLAB_OBB);
#undef SCAN_KIND
  return false;
}

INLINE bool scan_outside(query_state *q, const prepared_ray *ray, scene_blocks blocks, const cast_uniforms *cast) {
  const bvh_outside p = cast->planes, b = cast->boxes;
  if ((SLAB_KINDS >> SLAB_PLANE & 1) != 0 && scan_blocks(SLAB_PLANE, q, ray, blocks, p.first, p.blocks, cast))
    return true;
  return (SLAB_KINDS >> SLAB_BOX & 1) != 0 && scan_blocks(SLAB_BOX, q, ray, blocks, b.first, b.blocks, cast);
}

#endif
