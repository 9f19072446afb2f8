/* Brute force: tests every ray against every primitive that its mask lets it see.
 *
 * Built with LANES (1, 8 or 16); SLAB_QUERY (a slab_query); SLAB_KINDS (bit k: the scene holds slab_shape k);
 * SLAB_RAYS: the most rays per work-item, which are all tested against a tile of the geometry while it is in the cache;
 * and SLAB_TILE: the number of boxes that a work-group fetches into local memory together, a multiple of TILE_STEP; 0:
 * none, each work-item reads them itself. SLAB_TILE is above 0 only with LANES 1. */
#define SLAB_TREE 0
#include "prepared_rays.h"

/* Blocks of boxes that go through the conservative box reject together: one branch for all of them. */
#define REJECTED 2

INLINE bool reject_blocks(const prepared_ray *ray, const global float *block, float limit) {
  mask overlapped = (mask)0;
  UNROLL for (uint n = 0; n < REJECTED; n++) overlapped |= box_reject(ray, block + n * BOX_ROWS * LANES, limit);
  return lanes_any(overlapped);
}

/* Tests primitives [first, end) of one geometry, block by block. first is a multiple of LANES. True when the ray is
 * done. */
INLINE bool scan(const uint kind, query_state *q, const prepared_ray *ray, geometry_blocks blocks,
                 const geometry_entry *entry, uint first, uint end, const scene_view *scene) {
  const uint step = primitive_rows(kind) * LANES;
  const global float *block = geometry_block(blocks, (size_t)(first / LANES) * step);
  for (; first < end; first += LANES, block += step) {
    while (kind == SLAB_BOX && end - first > REJECTED * LANES && !reject_blocks(ray, block, q->limit)) {
      first += REJECTED * LANES;
      block += REJECTED * step;
    }
    if (query_block(q, kind, ray, block, entry->global_id_base + first, 0, 0, scene)) return true;
  }
  return false;
}

INLINE bool scan_kind(query_state *q, const prepared_ray *ray, const scene_view *scene, const geometry_entry *entry,
                      uint first, uint end) {
  const geometry_blocks own = geometry_begin(scene->blocks, entry);
#define SCAN_KIND(shape, name, names, noun, rows, form, place, source) \
  if (HAS_KIND(shape) && entry->kind == shape) return scan(shape, q, ray, own, entry, first, end, scene);
  SHAPES(SCAN_KIND)
#undef SCAN_KIND
  return false;
}

#if SLAB_TILE > 0
/* ---- boxes in local memory: for the conservative box reject; boxes that pass it are tested from global memory ---- */

#define TILE_STEP 4 /* boxes per branch */

BOX_PLANES(tile_planes, local)

/* Fetches a tile into local memory. The whole work-group takes part. The tile is filled up with boxes that no ray
 * hits. */
INLINE void tile_fetch(local float *tile, const global float *boxes, uint count) {
  const uint used = count * BOX_ROWS, all = (count + TILE_STEP - 1) / TILE_STEP * TILE_STEP * BOX_ROWS;
  barrier(CLK_LOCAL_MEM_FENCE); /* no work-item still reads the previous tile */
  for (uint i = (uint)get_local_id(0); i < all; i += (uint)get_local_size(0))
    tile[i] = i < used ? boxes[i] : i % BOX_ROWS < 3 ? INFINITY : -INFINITY;
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* The first step of TILE_STEP boxes, from box `at` on, in which a ray may overlap a box. overlapped: which rays may.
 * With `alike` all rays have the same direction signs. Then near and far planes are the same for all, and are read
 * once. */
INLINE uint tile_search(const bool alike, const prepared_ray ray[SLAB_RAYS], const float limit[SLAB_RAYS],
                        const local float *tile, uint at, uint count, bool overlapped[SLAB_RAYS]) {
  for (; at < count; at += TILE_STEP) {
    const local float *box = tile + at * BOX_ROWS;
    bool any = false;
    UNROLL for (uint r = 0; r < SLAB_RAYS; r++) overlapped[r] = false;
    UNROLL for (uint k = 0; k < TILE_STEP; k++) {
      float near[3], far[3], enter;
      UNROLL for (uint r = 0; r < SLAB_RAYS; r++) {
        if (r == 0 || !alike) tile_planes(&ray[r], box + k * BOX_ROWS, near, far);
        overlapped[r] |= box_may_overlap(&ray[r], near, far, limit[r], &enter) != 0;
      }
    }
    UNROLL for (uint r = 0; r < SLAB_RAYS; r++) any |= overlapped[r];
    if (any) break;
  }
  return at;
}

/* The limit for the conservative box reject: -inf once the ray is done. */
INLINE float tile_limit(const query_state *q, const prepared_ray *ray) {
  return ray->state == RAY_LIVE ? q->limit : -INFINITY;
}

/* Tests a work-item's n rays against boxes [first, end) of a geometry, which are in the tile. It runs also where n is
 * 0: a condition that differs between work-items, between two barriers, gave rays that do not exist (PoCL 3.1). */
INLINE void tile_meet(query_state q[SLAB_RAYS], prepared_ray ray[SLAB_RAYS], uint n, const local float *tile,
                      geometry_blocks blocks, const geometry_entry *entry, uint first, uint end,
                      const scene_view *scene) {
  prepared_ray seen[SLAB_RAYS]; /* in registers, as are the arrays below: they are indexed by constants alone */
  float limit[SLAB_RAYS];
  bool overlapped[SLAB_RAYS];
  bool alike = true;
  UNROLL for (uint r = 0; r < SLAB_RAYS; r++) {
    seen[r] = ray[r < n ? r : 0];
    limit[r] = r < n ? tile_limit(&q[r], &ray[r]) : -INFINITY;
    UNROLL for (int i = 0; i < 3; i++) alike = alike && seen[r].dir_is_negative[i] == seen[0].dir_is_negative[i];
  }
  for (uint at = 0;; at += TILE_STEP) {
    at = alike ? tile_search(true, seen, limit, tile, at, end - first, overlapped)
               : tile_search(false, seen, limit, tile, at, end - first, overlapped);
    if (at >= end - first) return;
    uint bits = 0;
    UNROLL for (uint r = 0; r < SLAB_RAYS; r++) bits |= overlapped[r] ? 1u << r : 0u;
    const uint from = first + at, to = end - from < TILE_STEP ? end : from + TILE_STEP;
    for (; bits != 0; bits &= bits - 1) {
      const uint r = lowest_lane(bits);
      if (scan(SLAB_BOX, &q[r], &ray[r], blocks, entry, from, to, scene)) ray[r].state = RAY_DONE;
    }
    UNROLL for (uint r = 0; r < SLAB_RAYS; r++) limit[r] = r < n ? tile_limit(&q[r], &ray[r]) : -INFINITY;
  }
}
#endif

/* The number of primitives of a geometry that a work-item's rays are tested against before the next ones are
 * fetched: a tile of boxes in local memory, else about 24 KiB, half of a first-level cache. With one ray it is the
 * whole geometry. */
INLINE uint tile_of(const geometry_entry *entry) {
  if (SLAB_TILE > 0 && entry->kind == SLAB_BOX) return SLAB_TILE;
  return SLAB_RAYS == 1 ? entry->count : 6144 / primitive_rows(entry->kind) / LANES * LANES;
}

/* Of these primitives, from `first` on, the number that lie in one buffer. */
INLINE uint tile_held(scene_blocks blocks, const geometry_entry *entry, uint first, uint tile) {
  const uint step = primitive_rows(entry->kind) * LANES;
  const uint held = geometry_held(geometry_begin(blocks, entry), (size_t)(first / LANES) * step, step);
  return held < (tile + LANES - 1) / LANES ? held * LANES : tile;
}

/* results: an array of the query's type. For SLAB_ALL the hits of ray i begin at offsets[i]; other queries do not use
 * offsets. skips: one entry per ray where cast.skip is 1. invalid: one counter where cast.invalid is 1. */
KERNEL_HINT kernel void KERNEL_NAME(flat)(WORK_ITEM const global slab_ray *rays, global void *results,
                                          const global uint *offsets, const global geometry_entry *table,
                                          BLOCKS_PARAMETERS, const global slab_primitive_id *skips,
                                          volatile global uint *invalid, const cast_uniforms cast) {
  const scene_view scene = {.table = table, .blocks = BLOCKS_GIVEN, .cast = &cast};
  const cast_arrays arrays = {rays, results, offsets, skips, invalid, 0};
#if SLAB_TILE > 0
  local float boxes[SLAB_TILE * BOX_ROWS];
#endif
  const size_t begin = get_global_id(0) * cast.rays_each;
  uint n = 0; /* a work-item without rays still helps to fetch tiles */
  while (n < cast.rays_each && begin + n < cast.rays) n++;
  prepared_rays prepared;
  hit_share share = {0, 0};
  prepared_ray ray[SLAB_RAYS];
  query_state q[SLAB_RAYS];
  prepared.first = prepared.count = 0;
  ray[0] = (prepared_ray){.state = RAY_DONE}; /* placeholder for a work-item without rays */
  for (uint r = 0; r < n; r++) {
    ray[r] = *prepared_rays_take(&prepared, &arrays, &cast, begin + r, begin + n);
    q[r] = query_begin(&ray[r], &arrays, &scene, begin + r, begin + r);
  }
  for (uint g = 0; g < cast.geometries; g++) {
    const geometry_entry entry = table[g];
    if ((entry.mask & cast.mask) == 0) continue;
    const uint most = tile_of(&entry);
    for (uint first = 0, tile; first < entry.count; first += tile) {
      tile = tile_held(scene.blocks, &entry, first, most);
      const uint end = entry.count - first < tile ? entry.count : first + tile;
#if SLAB_TILE > 0
      if ((SLAB_KINDS >> SLAB_BOX & 1) != 0 && entry.kind == SLAB_BOX) {
        const geometry_blocks own = geometry_begin(scene.blocks, &entry);
        tile_fetch(boxes, geometry_block(own, (size_t)first * BOX_ROWS), end - first);
        tile_meet(q, ray, n, boxes, own, &entry, first, end, &scene);
        continue;
      }
#endif
      for (uint r = 0; r < n; r++)
        if (ray[r].state == RAY_LIVE && scan_kind(&q[r], &ray[r], &scene, &entry, first, end)) ray[r].state = RAY_DONE;
    }
  }
  for (uint r = 0; r < n; r++) {
    const slab_ray given = query_ray(&arrays, &cast, begin + r);
    query_end(&q[r], &ray[r], &given, &arrays, &scene, begin + r, &share);
  }
}
