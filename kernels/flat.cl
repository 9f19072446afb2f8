/* Brute force: tests every ray against every primitive that its mask lets it see.
 *
 * Built with LANES (1, 8 or 16), SLAB_QUERY (a slab_query) and SLAB_KINDS (bit k: the scene holds slab_shape k).
 * SLAB_RAYS: the most rays per work-item. All are tested against a stretch of the geometry while it is in the cache.
 * SLAB_LOCAL_BOXES: the number of boxes that a work-group fetches into local memory together, a multiple of LOCAL_STEP.
 * 0: none, each work-item reads them itself. It is above 0 only with LANES 1. */
#define SLAB_TREE 0
#include "walk/counted.h"
#include "walk/flat.h"
#include "walk/prepared_rays.h"
#if SLAB_LOCAL_BOXES > 0
#include "walk/local_boxes.h"
#endif

#if SLAB_LOCAL_BOXES > 0
/* ---- boxes in local memory: for the conservative box reject; boxes that pass it are tested from global memory ---- */

#define LOCAL_STEP 4 /* boxes that share a bit */
#if SLAB_LOCAL_BOXES > 32 * LOCAL_STEP
#error "local boxes have more steps than a word has bits"
#endif

/* A box there: of each axis (lower, upper) and (upper, lower). A ray's near and far plane are one of them: one load. */
#define LOCAL_PAIRS 6

/* Fetches local boxes. The whole work-group takes part. The last step is filled up with boxes that no ray hits. Returns
 * the size of the largest finite bound, through *largest. */
INLINE float local_fetch(local float2 *to, volatile local uint *largest, const global float *boxes, uint count) {
  const uint used = count * LOCAL_PAIRS, all = (count + LOCAL_STEP - 1) / LOCAL_STEP * LOCAL_STEP * LOCAL_PAIRS;
  uint size = 0;
  barrier(CLK_LOCAL_MEM_FENCE); /* no work-item still reads the previous boxes */
  *largest = 0u;                /* by all of them; an exchange would read values that nobody has written yet */
  for (uint i = (uint)get_local_id(0); i < all; i += (uint)get_local_size(0)) {
    const global float *lower = boxes + i / LOCAL_PAIRS * BOX_FLOATS + i % LOCAL_PAIRS / 2;
    float2 pair = (float2)(INFINITY, -INFINITY);
    if (i < used) pair = (float2)(lower[0], lower[3]);
    size = max(size, lanes_abs(pair.x) <= FLOAT_MAX ? as_uint(lanes_abs(pair.x)) : 0u);
    size = max(size, lanes_abs(pair.y) <= FLOAT_MAX ? as_uint(lanes_abs(pair.y)) : 0u);
    to[i] = i % 2 == 0 ? pair : pair.yx;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_max(largest, size); /* sizes are in the order of their bits */
  barrier(CLK_LOCAL_MEM_FENCE);
  return as_float(*largest);
}

/* Which steps of local boxes hold a box that a ray may overlap: one bit per step, in the ray's own word. With `alike`
 * all rays have the same direction signs. Then near and far planes are the same for all, and are read once. No ray
 * waits for another's boxes: work-items of a warp stay together. */
INLINE void local_search(const bool oblique, const bool alike, const local_ray ray[SLAB_RAYS],
                         const local float2 *planes[][3], const float limit[SLAB_RAYS], uint steps,
                         uint touched[SLAB_RAYS]) {
  for (uint bit = 1; steps > 0; steps--, bit <<= 1) {
    bool any[SLAB_RAYS];
    UNROLL for (uint r = 0; r < SLAB_RAYS; r++) any[r] = false;
    UNROLL for (uint k = 0; k < LOCAL_STEP; k++) {
      float near[3], far[3];
      UNROLL for (uint r = 0; r < SLAB_RAYS; r++) {
        UNROLL for (int i = 0; i < 3; i++) {
          const float2 pair = planes[alike ? 0 : r][i][k * LOCAL_PAIRS];
          near[i] = pair.x;
          far[i] = pair.y;
        }
        any[r] |= local_may_overlap(oblique, &ray[r], near, far, limit[r]);
      }
    }
    UNROLL for (uint r = 0; r < SLAB_RAYS; r++) {
      touched[r] |= any[r] ? bit : 0u;
      UNROLL for (int i = 0; i < 3; i++) planes[r][i] += LOCAL_STEP * LOCAL_PAIRS;
    }
  }
}

/* Tests a work-item's n rays against boxes [first, end) of a geometry, which are local boxes. It runs also where n is
 * 0: a condition that differs between work-items, between two barriers, gave rays that do not exist (PoCL 3.1). */
INLINE void local_meet(query_state q[SLAB_RAYS], prepared_ray ray[SLAB_RAYS], uint n, const local float2 *boxes,
                       float largest, geometry_blocks blocks, const geometry_entry *entry, uint first, uint end,
                       const scene_view *scene) {
  local_ray seen[SLAB_RAYS]; /* in registers, as are the arrays below: they are indexed by constants alone */
  float limit[SLAB_RAYS];
  const local float2 *planes[SLAB_RAYS][3]; /* of the first box; by address, so that no plane is selected */
  uint touched[SLAB_RAYS];
  const uint steps = (end - first + LOCAL_STEP - 1) / LOCAL_STEP;
  bool alike = true, oblique = true;
  UNROLL for (uint r = 0; r < SLAB_RAYS; r++) oblique = oblique && local_ray_is_oblique(&ray[r < n ? r : 0], largest);
  UNROLL for (uint r = 0; r < SLAB_RAYS; r++) {
    const prepared_ray *from = &ray[r < n ? r : 0];
    seen[r] = local_ray_of(from, oblique, largest);
    limit[r] = r < n && from->state == RAY_LIVE && own_sees(OWN_OF(&q[r]), entry->mask)
                   ? q[r].limit
                   : -INFINITY; /* no box overlaps that */
    UNROLL for (uint i = 0; i < 3; i++) {
      planes[r][i] = boxes + 2 * i + from->dir_is_negative[i];
      alike = alike && planes[r][i] == planes[0][i];
    }
    touched[r] = 0;
  }
  if (!oblique)
    local_search(false, false, seen, planes, limit, steps, touched);
  else if (alike)
    local_search(true, true, seen, planes, limit, steps, touched);
  else
    local_search(true, false, seen, planes, limit, steps, touched);
  for (;;) {
    uint r = SLAB_RAYS, bits = 0;
    for (uint k = 0; k < SLAB_RAYS; k++)
      if (touched[k] != 0) r = k, bits = touched[k];
    if (r == SLAB_RAYS) return;
    const uint from = first + lowest_lane(bits) * LOCAL_STEP, to = end - from < LOCAL_STEP ? end : from + LOCAL_STEP;
    bits &= bits - 1;
    if (scan(SLAB_BOX, &q[r], &ray[r], blocks, entry, from, to, scene)) {
      ray[r].state = RAY_DONE;
      bits = 0;
    }
    for (uint k = 0; k < SLAB_RAYS; k++) touched[k] = k == r ? bits : touched[k];
  }
}
#endif

/* The number of primitives of a geometry that a work-item's rays are tested against before it fetches the next ones.
 * For boxes it is as many as fit local memory, else about 24 KiB, half of a first-level cache. With one ray it is the
 * whole geometry. */
INLINE uint stretch_of(const geometry_entry *entry) {
  if (SLAB_LOCAL_BOXES > 0 && entry->kind == SLAB_BOX) return SLAB_LOCAL_BOXES;
  return SLAB_RAYS == 1 ? entry->count : 6144 / primitive_floats(entry->kind) / LANES * LANES;
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
#if SLAB_LOCAL_BOXES > 0
  local float2 boxes[SLAB_LOCAL_BOXES * LOCAL_PAIRS];
  local uint largest;
#endif
  uint n = 0; /* a work-item without rays still helps to fetch boxes */
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
    const uint most = stretch_of(&entry);
    for (uint first = 0, stretch; first < entry.count; first += stretch) {
      stretch = stretch_held(scene.blocks, &entry, first, most);
      const uint end = entry.count - first < stretch ? entry.count : first + stretch;
#if SLAB_LOCAL_BOXES > 0
      if ((SLAB_KINDS >> SLAB_BOX & 1) != 0 && entry.kind == SLAB_BOX) {
        const geometry_blocks own = geometry_begin(scene.blocks, &entry);
        const float size = local_fetch(boxes, &largest, geometry_block(own, (size_t)first * BOX_FLOATS), end - first);
        local_meet(q, ray, n, boxes, size, own, &entry, first, end, &scene);
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
