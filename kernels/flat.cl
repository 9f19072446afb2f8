/* Brute force: every ray meets every primitive that its mask lets it see.
 *
 * Built with LANES (1, 8 or 16), SLAB_QUERY (a slab_query), SLAB_KINDS (bit k: the scene holds slab_shape k) and
 * SLAB_RAYS: most rays of a work-item, which take turns over a tile of the geometry while it is in the cache. */
#define SLAB_TREE 0
#include "query.h"

/* Blocks whose boxes go through the sieve together: one branch for all of them. */
#define SIEVED 2

INLINE bool sieve_blocks(const ray_frame *ray, const global float *block, float limit) {
  mask touched = (mask)0;
  UNROLL for (uint n = 0; n < SIEVED; n++) touched |= box_sieve(ray, block + n * BOX_ROWS * LANES, limit);
  return lanes_any(touched);
}

/* Primitives [first, end) of one geometry, block by block; first is a multiple of LANES. True when the ray is done. */
INLINE bool scan(const uint kind, query_state *q, const ray_frame *ray, const global float *block,
                 const geometry_entry *entry, uint first, uint end, const cast_uniforms *cast) {
  const uint step = primitive_rows(kind) * LANES;
  block += (size_t)(first / LANES) * step;
  for (; first < end; first += LANES, block += step) {
    while (kind == SLAB_BOX && end - first > SIEVED * LANES && !sieve_blocks(ray, block, q->limit)) {
      first += SIEVED * LANES;
      block += SIEVED * step;
    }
    if (query_block(q, kind, ray, block, entry->order_base + first, 0, 0, cast)) return true;
  }
  return false;
}

INLINE bool scan_kind(query_state *q, const ray_frame *ray, const global float *blocks, const geometry_entry *entry,
                      uint first, uint end, const cast_uniforms *cast) {
  const global float *block = blocks + (size_t)entry->first * BLOCK_UNIT;
#define SCAN_KIND(KIND) \
  if ((SLAB_KINDS >> KIND & 1) != 0 && entry->kind == KIND) return scan(KIND, q, ray, block, entry, first, end, cast)
  SCAN_KIND(SLAB_BOX);
  SCAN_KIND(SLAB_TRIANGLE);
  SCAN_KIND(SLAB_SPHERE);
  SCAN_KIND(SLAB_OBB);
  SCAN_KIND(SLAB_PLANE);
#undef SCAN_KIND
  return false;
}

/* Primitives of a geometry that a work-item's rays meet before the next are fetched: about 24 KiB, half of a
 * first-level cache. One ray takes them all at once. */
INLINE uint tile_of(const geometry_entry *entry) {
  return SLAB_RAYS == 1 ? entry->count : 6144 / primitive_rows(entry->kind) / LANES * LANES;
}

/* results: an array of the query's type; for SLAB_ALL the hits of ray i begin at offsets[i] (offsets is unused by
 * others). skips: one entry a ray where cast.skip; invalid: one counter where cast.invalid. */
kernel void flat(const global slab_ray *rays, global void *results, const global uint *offsets,
                 const global geometry_entry *table, const global float *blocks, const global slab_primitive_id *skips,
                 volatile global uint *invalid, const cast_uniforms cast) {
  const size_t begin = get_global_id(0) * cast.rays_each;
  if (begin >= cast.rays) return;
  const uint n = cast.rays - begin < cast.rays_each ? (uint)(cast.rays - begin) : cast.rays_each;
  ray_frame ray[SLAB_RAYS];
  query_state q[SLAB_RAYS];
  for (uint r = 0; r < n; r++) {
    const slab_ray given = query_ray(rays, &cast, begin + r);
    ray[r] = ray_prepare(&given);
    q[r] = query_begin(&ray[r], results, offsets, table, skips, invalid, &cast, begin + r);
  }
  for (uint g = 0; g < cast.geometries; g++) {
    const geometry_entry entry = table[g];
    if ((entry.mask & cast.mask) == 0) continue;
    const uint tile = tile_of(&entry);
    for (uint first = 0; first < entry.count; first += tile) {
      const uint end = entry.count - first < tile ? entry.count : first + tile;
      for (uint r = 0; r < n; r++)
        if (ray[r].state == RAY_LIVE && scan_kind(&q[r], &ray[r], blocks, &entry, first, end, &cast))
          ray[r].state = RAY_DONE;
    }
  }
  for (uint r = 0; r < n; r++) {
    const slab_ray given = query_ray(rays, &cast, begin + r);
    query_end(&q[r], &ray[r], &given, table, blocks, &cast, results, begin + r);
  }
}
