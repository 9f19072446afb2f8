/* Queries of points by brute force: every point is held against every primitive that its mask lets it see.
 *
 * Built with LANES (1, 8 or 16), SLAB_KINDS as flat.cl, and SLAB_QUERY 0 or 3: see walk/points.h. */
#define SLAB_TREE 0
#include "walk/points.h"

/* One kind of primitives of a geometry, of which those lie in one buffer. */
INLINE bool points_scan(point_query *q, const scene_view *scene, const uint kind, const geometry_entry *entry) {
  const geometry_blocks own = geometry_begin(scene->blocks, entry);
  const uint step = primitive_floats(kind) * LANES, base = entry->global_id_base;
  for (uint first = 0; first < entry->count; first += LANES)
    if (points_block(q, scene, kind, geometry_block(own, (size_t)(first / LANES) * step), 0, base + first,
                     base + entry->count, 0))
      return true;
  return false;
}

INLINE void points_search(point_query *q, const scene_view *scene, uint collapsed_root, const point_hint *hint) {
  (void)collapsed_root, (void)hint;
  for (uint g = 0; g < scene->cast->geometries; g++) {
    const geometry_entry entry = scene->table[g];
    if ((entry.mask & q->mask) == 0) continue;
#define OF_KIND(shape, name, names, noun, floats, form, place, source) \
  if (HAS_KIND(shape) && entry.kind == shape && points_scan(q, scene, shape, &entry)) return;
    SHAPES(OF_KIND)
#undef OF_KIND
  }
}

KERNEL_HINT kernel void KERNEL_NAME(points_flat)(WORK_ITEM POINTS_PARAMETERS) {
  const scene_view scene = {.table = table, .blocks = BLOCKS_GIVEN, .cast = &cast};
  const point_arrays arrays = POINTS_GIVEN;
  points_run(&arrays, &scene, get_global_id(0), radius, 0);
}
