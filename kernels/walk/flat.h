/* Brute force: one ray against the primitives of a geometry. */
#ifndef WALK_FLAT_H
#define WALK_FLAT_H

#include "walk/query.h"

/* Blocks of boxes that go through the conservative box reject together: one branch for all of them. */
#define REJECTED 2

INLINE bool reject_blocks(const prepared_ray *ray, const global float *block, float limit) {
  mask overlapped = (mask)0;
  UNROLL for (uint n = 0; n < REJECTED; n++) overlapped |= box_reject(ray, block + n * BOX_FLOATS * LANES, limit);
  return lanes_any(overlapped);
}

/* Tests primitives [first, end) of one geometry, block by block. first is a multiple of LANES. True when the ray is
 * done. */
INLINE bool scan(const uint kind, query_state *q, const prepared_ray *ray, geometry_blocks blocks,
                 const geometry_entry *entry, uint first, uint end, const scene_view *scene) {
  const uint step = primitive_floats(kind) * LANES, base = entry->global_id_base;
  const global float *block = geometry_block(blocks, (size_t)(first / LANES) * step);
  for (; first < end; first += LANES, block += step) {
    while (kind == SLAB_BOX && end - first > REJECTED * LANES && !reject_blocks(ray, block, q->limit)) {
      first += REJECTED * LANES;
      block += REJECTED * step;
    }
    if (query_block(q, kind, ray, block, base + first, base + end, 0, 0, scene)) return true;
  }
  return false;
}

INLINE bool scan_kind(query_state *q, const prepared_ray *ray, const scene_view *scene, const geometry_entry *entry,
                      uint first, uint end) {
  const geometry_blocks own = geometry_begin(scene->blocks, entry);
#define SCAN_KIND(shape, name, names, noun, floats, form, place, source) \
  if (HAS_KIND(shape) && entry->kind == shape) return scan(shape, q, ray, own, entry, first, end, scene);
  SHAPES(SCAN_KIND)
#undef SCAN_KIND
  return false;
}

/* Of `stretch` primitives of a geometry, from `first` on, the number that lie in one buffer. */
INLINE uint stretch_held(scene_blocks blocks, const geometry_entry *entry, uint first, uint stretch) {
  const uint step = primitive_floats(entry->kind) * LANES;
  const uint held = geometry_held(geometry_begin(blocks, entry), (size_t)(first / LANES) * step, step);
  return held < (stretch + LANES - 1) / LANES ? held * LANES : stretch;
}

/* Casts one ray alone. */
INLINE void flat_cast(query_state *q, const prepared_ray *ray, const scene_view *scene) {
  for (uint g = 0; g < scene->cast->geometries; g++) {
    const geometry_entry entry = scene->table[g];
    if ((entry.mask & own_mask(OWN_OF(q), scene->cast)) == 0) continue;
    for (uint first = 0, held; first < entry.count; first += held) {
      held = stretch_held(scene->blocks, &entry, first, entry.count);
      const uint end = entry.count - first < held ? entry.count : first + held;
      if (scan_kind(q, ray, scene, &entry, first, end)) return;
    }
  }
}

#endif
