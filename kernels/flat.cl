/* Brute force: tests every ray against every primitive that its mask lets it see.
 *
 * Built with LANES (1, 8 or 16), SLAB_QUERY (a slab_query) and SLAB_KINDS (bit k: the scene holds slab_shape k).
 * SLAB_RAYS: the most rays per work-item, which are all tested against a tile of the geometry while it is in the cache.
 * SLAB_TILE: the number of boxes that a work-group fetches into local memory together, a multiple of TILE_STEP. 0:
 * none, each work-item reads them itself. SLAB_TILE is above 0 only with LANES 1. */
#define SLAB_TREE 0
#include "walk/counted.h"
#include "walk/flat.h"
#include "walk/prepared_rays.h"
#if SLAB_TILE > 0
#include "walk/tile.h"
#endif

#if SLAB_TILE > 0
/* ---- boxes in local memory: for the conservative box reject; boxes that pass it are tested from global memory ---- */

#define TILE_STEP 4 /* boxes that share a bit */
#if SLAB_TILE > 32 * TILE_STEP
#error "a tile has more steps than a word has bits"
#endif

/* A box there: of each axis (lower, upper) and (upper, lower). A ray's near and far plane are one of them: one load. */
#define TILE_PAIRS 6

/* Fetches a tile into local memory. The whole work-group takes part. The tile is filled up with boxes that no ray
 * hits. Returns the size of its largest finite bound, by way of *largest. */
INLINE float tile_fetch(local float2 *tile, volatile local uint *largest, const global float *boxes, uint count) {
  const uint used = count * TILE_PAIRS, all = (count + TILE_STEP - 1) / TILE_STEP * TILE_STEP * TILE_PAIRS;
  uint size = 0;
  barrier(CLK_LOCAL_MEM_FENCE); /* no work-item still reads the previous tile */
  *largest = 0u;                /* by all of them; an exchange would read what nobody has written yet */
  for (uint i = (uint)get_local_id(0); i < all; i += (uint)get_local_size(0)) {
    const global float *lower = boxes + i / TILE_PAIRS * BOX_ROWS + i % TILE_PAIRS / 2;
    float2 pair = (float2)(INFINITY, -INFINITY);
    if (i < used) pair = (float2)(lower[0], lower[3]);
    size = max(size, lanes_abs(pair.x) <= FLOAT_MAX ? as_uint(lanes_abs(pair.x)) : 0u);
    size = max(size, lanes_abs(pair.y) <= FLOAT_MAX ? as_uint(lanes_abs(pair.y)) : 0u);
    tile[i] = i % 2 == 0 ? pair : pair.yx;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_max(largest, size); /* sizes are in the order of their bits */
  barrier(CLK_LOCAL_MEM_FENCE);
  return as_float(*largest);
}

/* Which steps of the tile hold a box that a ray may overlap: one bit a step, in the ray's own word. With `alike` all
 * rays have the same direction signs. Then near and far planes are the same for all, and are read once. No ray waits
 * for another's boxes: work-items of a warp stay together. */
INLINE void tile_search(const bool oblique, const bool alike, const tile_ray ray[SLAB_RAYS],
                        const local float2 *planes[][3], const float limit[SLAB_RAYS], uint steps,
                        uint touched[SLAB_RAYS]) {
  for (uint bit = 1; steps > 0; steps--, bit <<= 1) {
    bool any[SLAB_RAYS];
    UNROLL for (uint r = 0; r < SLAB_RAYS; r++) any[r] = false;
    UNROLL for (uint k = 0; k < TILE_STEP; k++) {
      float near[3], far[3];
      UNROLL for (uint r = 0; r < SLAB_RAYS; r++) {
        UNROLL for (int i = 0; i < 3; i++) {
          const float2 pair = planes[alike ? 0 : r][i][k * TILE_PAIRS];
          near[i] = pair.x;
          far[i] = pair.y;
        }
        any[r] |= tile_may_overlap(oblique, &ray[r], near, far, limit[r]);
      }
    }
    UNROLL for (uint r = 0; r < SLAB_RAYS; r++) {
      touched[r] |= any[r] ? bit : 0u;
      UNROLL for (int i = 0; i < 3; i++) planes[r][i] += TILE_STEP * TILE_PAIRS;
    }
  }
}

/* Tests a work-item's n rays against boxes [first, end) of a geometry, which are in the tile. It runs also where n is
 * 0: a condition that differs between work-items, between two barriers, gave rays that do not exist (PoCL 3.1). */
INLINE void tile_meet(query_state q[SLAB_RAYS], prepared_ray ray[SLAB_RAYS], uint n, const local float2 *tile,
                      float largest, geometry_blocks blocks, const geometry_entry *entry, uint first, uint end,
                      const scene_view *scene) {
  tile_ray seen[SLAB_RAYS]; /* in registers, as are the arrays below: they are indexed by constants alone */
  float limit[SLAB_RAYS];
  const local float2 *planes[SLAB_RAYS][3]; /* of the first box; by address, so that no plane is selected */
  uint touched[SLAB_RAYS];
  const uint steps = (end - first + TILE_STEP - 1) / TILE_STEP;
  bool alike = true, oblique = true;
  UNROLL for (uint r = 0; r < SLAB_RAYS; r++) oblique = oblique && tile_ray_is_oblique(&ray[r < n ? r : 0], largest);
  UNROLL for (uint r = 0; r < SLAB_RAYS; r++) {
    const prepared_ray *from = &ray[r < n ? r : 0];
    seen[r] = tile_ray_of(from, oblique, largest);
    limit[r] = r < n && from->state == RAY_LIVE && own_sees(OWN_OF(&q[r]), entry->mask)
                   ? q[r].limit
                   : -INFINITY; /* no box overlaps that */
    UNROLL for (uint i = 0; i < 3; i++) {
      planes[r][i] = tile + 2 * i + from->dir_is_negative[i];
      alike = alike && planes[r][i] == planes[0][i];
    }
    touched[r] = 0;
  }
  if (!oblique)
    tile_search(false, false, seen, planes, limit, steps, touched);
  else if (alike)
    tile_search(true, true, seen, planes, limit, steps, touched);
  else
    tile_search(true, false, seen, planes, limit, steps, touched);
  for (;;) {
    uint r = SLAB_RAYS, bits = 0;
    for (uint k = 0; k < SLAB_RAYS; k++)
      if (touched[k] != 0) r = k, bits = touched[k];
    if (r == SLAB_RAYS) return;
    const uint from = first + lowest_lane(bits) * TILE_STEP, to = end - from < TILE_STEP ? end : from + TILE_STEP;
    bits &= bits - 1;
    if (scan(SLAB_BOX, &q[r], &ray[r], blocks, entry, from, to, scene)) {
      ray[r].state = RAY_DONE;
      bits = 0;
    }
    for (uint k = 0; k < SLAB_RAYS; k++) touched[k] = k == r ? bits : touched[k];
  }
}
#endif

/* The number of primitives of a geometry that a work-item's rays are tested against before it fetches the next ones. It
 * is a tile of boxes in local memory, else about 24 KiB, half of a first-level cache. With one ray it is the whole
 * geometry. */
INLINE uint tile_of(const geometry_entry *entry) {
  if (SLAB_TILE > 0 && entry->kind == SLAB_BOX) return SLAB_TILE;
  return SLAB_RAYS == 1 ? entry->count : 6144 / primitive_rows(entry->kind) / LANES * LANES;
}

#ifdef SLAB_TRACE
#define TRACE_CAST flat_cast
#include "walk/trace.h"
#else

/* results: an array of the query's type. For SLAB_ALL the hits of ray i begin at offsets[i]; other queries ignore
 * offsets. skips: one entry per ray where cast.skip is 1. invalid: one counter where cast.invalid is 1. */
KERNEL_HINT kernel void KERNEL_NAME(flat)(WORK_ITEM const global slab_ray *rays, global void *results,
                                          const global uint *offsets, const global geometry_entry *table,
                                          BLOCKS_PARAMETERS, const global slab_primitive_id *skips,
                                          volatile global uint *invalid,
                                          const cast_uniforms cast OWN_PARAMETERS COUNTED_PARAMETERS) {
  const scene_view scene = {.table = table, .blocks = BLOCKS_GIVEN, .cast = &cast};
  COUNTED_RAYS(ray_count, cast);
  const size_t begin = get_global_id(0) * cast.rays_each;
  deferred_hit lists[LISTS_HELD(SLAB_RAYS)];
  cast_arrays arrays = {rays, results, offsets, skips, invalid, 0 OWN_GIVEN};
  lists_given(&arrays, lists, begin);
#if SLAB_TILE > 0
  local float2 boxes[SLAB_TILE * TILE_PAIRS];
  local uint largest;
#endif
  uint n = 0; /* a work-item without rays still helps to fetch tiles */
  while (n < cast.rays_each && begin + n < ray_count) n++;
  prepared_rays prepared;
  hit_share share = {0, 0};
  prepared_ray ray[SLAB_RAYS];
  query_state q[SLAB_RAYS];
  prepared.first = prepared.count = 0;
  ray[0] = (prepared_ray){.state = RAY_DONE}; /* placeholder for a work-item without rays */
  for (uint r = 0; r < n; r++) {
    ray[r] = prepared_rays_take(&prepared, &arrays, &cast, begin + r, begin + n)->ray;
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
        const float size = tile_fetch(boxes, &largest, geometry_block(own, (size_t)first * BOX_ROWS), end - first);
        tile_meet(q, ray, n, boxes, size, own, &entry, first, end, &scene);
        continue;
      }
#endif
      for (uint r = 0; r < n; r++)
        if (ray[r].state == RAY_LIVE && own_sees(OWN_OF(&q[r]), entry.mask) &&
            scan_kind(&q[r], &ray[r], &scene, &entry, first, end))
          ray[r].state = RAY_DONE;
    }
  }
  for (uint r = 0; r < n; r++) {
    const slab_ray given = query_ray(&arrays, &cast, begin + r);
    query_end(&q[r], &ray[r], &given, &arrays, &scene, begin + r, &share);
  }
}

#endif
