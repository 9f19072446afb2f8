/* Brute force: every ray meets every primitive that its mask lets it see.
 *
 * Built with LANES (1, 8 or 16), SLAB_QUERY (a slab_query) and SLAB_KINDS (bit k: the scene holds slab_shape k). */
#include "query.h"

/* One geometry, a block at a time. True when the ray is done. */
INLINE bool scan(const uint kind, query_state *q, const ray_frame *ray, const global float *block,
                 const geometry_entry *entry, const cast_uniforms *cast) {
  const uint step = primitive_rows(kind) * LANES;
  for (uint first = 0; first < entry->count; first += LANES, block += step) {
    real t, leave = (real)(0.0f);
    mask hit = SLAB_QUERY == SLAB_INTERVAL ? primitive_solid(kind, ray, block, q->t, &t, &leave)
                                           : primitive_surface(kind, ray, block, q->t, cast->cull, &t);
    if (lanes_any(hit) && query_offer(q, kind, hit, t, leave, entry->order_base + first)) return true;
  }
  return false;
}

INLINE bool scan_geometry(query_state *q, const ray_frame *ray, const global float *blocks, const geometry_entry *entry,
                          const cast_uniforms *cast) {
  const global float *block = blocks + (size_t)entry->first * BLOCK_UNIT;
#define SCAN_KIND(KIND) \
  if ((SLAB_KINDS >> KIND & 1) != 0 && entry->kind == KIND) return scan(KIND, q, ray, block, entry, cast)
  SCAN_KIND(SLAB_BOX);
  SCAN_KIND(SLAB_TRIANGLE);
  SCAN_KIND(SLAB_SPHERE);
  SCAN_KIND(SLAB_OBB);
  SCAN_KIND(SLAB_PLANE);
#undef SCAN_KIND
  return false;
}

/* results: an array of the query's type; for SLAB_ALL the hits of ray i begin at offsets[i] (offsets is unused by
 * others). skips: one entry a ray where cast.skip; invalid: one counter where cast.invalid. */
kernel void flat(const global slab_ray *rays, global void *results, const global uint *offsets,
                 const global geometry_entry *table, const global float *blocks, const global slab_primitive_id *skips,
                 volatile global uint *invalid, const cast_uniforms cast) {
  const size_t i = get_global_id(0);
  if (i >= cast.rays) return;
  rays = (const global slab_ray *)((const global uint *)rays + cast.at[AT_RAYS]);
  offsets = offsets + cast.at[AT_OFFSETS];
  skips = (const global slab_primitive_id *)((const global uint *)skips + cast.at[AT_SKIPS]);
  results = SLAB_QUERY == SLAB_ANY ? (global void *)((global uchar *)results + cast.at[AT_RESULTS])
                                   : (global void *)((global uint *)results + cast.at[AT_RESULTS]);
  const slab_ray given = rays[i];
  const ray_frame ray = ray_prepare(&given);
  query_state q = query_begin(&ray);
  if (cast.skip != 0) q.skip = skipped_order(table, cast.geometries, skips[i]);
  if (SLAB_QUERY == SLAB_ALL) {
    q.hits = (global slab_hit *)results + offsets[i];
    q.capacity = offsets[i + 1] - offsets[i];
  }
  if (ray.state == RAY_INVALID && cast.invalid != 0) atomic_inc(invalid + cast.at[AT_INVALID]);
  for (uint g = 0; ray.state == RAY_LIVE && g < cast.geometries; g++) {
    const geometry_entry entry = table[g];
    if ((entry.mask & cast.mask) != 0 && scan_geometry(&q, &ray, blocks, &entry, &cast)) break;
  }
  query_end(&q, &ray, &given, table, blocks, &cast, results, i);
}
