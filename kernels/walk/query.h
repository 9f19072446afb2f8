/* The query of a cast, as a policy over one traversal. The traversal reports crossings. The query keeps what it needs
 * and limits how far the ray still has to be traced. SLAB_QUERY is a constant, so each program holds one query, except
 * those of QUERY_TOLD. */
#ifndef WALK_QUERY_H
#define WALK_QUERY_H

#include "maths/answer.h"
#include "walk/listing.h"
#if SLAB_OWN
#include "walk/own_some.h"
#else
#include "walk/own_none.h"
#endif
#if SLAB_INSTANCES
#include "walk/depths_some.h"
#else
#include "walk/depths_none.h"
#endif

#ifndef SLAB_INTERLEAVED_ALONE
#define SLAB_INTERLEAVED_ALONE 0 /* 1: the program casts no few rays: they are left to another */
#endif

/* The state of a ray without a crossing. */
INLINE query_state query_fresh(const prepared_ray *ray) {
  query_state q = {0};
  q.t = q.limit = ray->t_max;
  q.global_id = q.skip = SLAB_MISS;
  query_clear(&q);
  return q;
}

/* Gives a ray its own mask and world, and the hit that it begins after. Where rays have none of their own nothing is
 * kept. */
INLINE void query_owns(query_state *q, uint mask, uint world, slab_short_hit after) {
  own_set(OWN_OF(q), mask, world, after);
}

/* The state for ray i. walk: its index among the walkers of all work-items; used by SLAB_ALL. */
INLINE query_state query_begin(const prepared_ray *ray, const cast_arrays *arrays, const scene_view *scene, size_t i,
                               size_t walk) {
  const cast_uniforms *cast = scene->cast;
  query_state q = query_fresh(ray);
  if (cast->skip != 0) {
    const global uint *skips = (const global uint *)arrays->skips + cast->at[AT_SKIPS];
    query_skips(&q, scene, ((const global slab_primitive_id *)skips)[i]);
  }
  query_owns(&q, own_mask_given(arrays, cast, i), own_world_given(arrays, cast, i), own_after_given(arrays, cast, i));
  if (QUERY_OF(cast) == SLAB_ALL) q.list = listing_begin(arrays, cast, i, walk);
  if (ray->state == RAY_INVALID && cast->invalid != 0) atomic_inc(arrays->invalid + cast->at[AT_INVALID]);
  return q;
}

/* Adds the crossings of the lanes in `hit` of a block. The global primitive id of lane k is global_ids[k]; by brute
 * force first + k, and from `end` on lanes repeat the last primitive. True when the ray is done. */
INLINE bool query_offer(query_state *q, uint kind, const prepared_ray *ray, mask hit, real t, real leave, uint first,
                        uint end, const global uint *global_ids, uint where, const scene_view *scene) {
  const uint query = QUERY_OF(scene->cast);
  for (uint bits = lanes_bits(hit); bits != 0; bits &= bits - 1) {
    uint lane = lowest_lane(bits);
    uint global_id = SLAB_TREE ? global_ids[lane] : first + lane;
    if ((SLAB_TREE ? 1 : LANES) > 1 && global_id >= end) break;
    if (query_hides(q, kind, global_id, scene)) continue;
    const query_crossing c = {
        lanes_at(t, lane), query == SLAB_INTERVAL ? lanes_at(leave, lane) : 0.0f, global_id, 0, where, lane};
    if (!query_take(q, ray, c, scene)) continue;
    if (query == SLAB_ANY) return true;
  }
  return false;
}

/* Tests a block and adds its crossings. True when the ray is done. */
INLINE bool query_block(query_state *q, const uint kind, const prepared_ray *ray, const global float *block, uint first,
                        uint end, const global uint *global_ids, uint where, const scene_view *scene) {
  real t, leave = (real)(0.0f);
  const uint rules = scene->cast->rules;
  mask hit = QUERY_OF(scene->cast) == SLAB_INTERVAL ? primitive_solid(kind, ray, block, q->limit, rules, &t, &leave)
                                                    : primitive_surface(kind, ray, block, q->limit, rules, &t);
  return lanes_any(hit) && query_offer(q, kind, ray, hit, t, leave, first, end, global_ids, where, scene);
}

/* The result of SLAB_CLOSEST. */
INLINE slab_hit query_closest(const query_state *q, const prepared_ray *ray, const scene_view *scene) {
  if (q->global_id == SLAB_MISS) return hit_none(reason_of(ray));
  return query_hit(ray, scene, q->t, q->global_id, q->where, QUERY_GEOMETRY(q));
}

/* The result of SLAB_INTERVAL. */
INLINE slab_interval query_interval(const query_state *q, const prepared_ray *ray, const slab_ray *given,
                                    const scene_view *scene) {
  geometry_entry entry;
  if (q->global_id == SLAB_MISS) return interval_none(reason_of(ray));
  const uint geometry = query_found(q, scene, &entry);
  return interval_of(entry.kind, ray, given, q->t, q->leave, q->global_id - entry.global_id_base, geometry);
}

/* Writes the result of ray i. share: hits that the work-item has reserved, for SLAB_ALL. */
INLINE void query_end(const query_state *q, const prepared_ray *ray, const slab_ray *given, const cast_arrays *arrays,
                      const scene_view *scene, size_t i, hit_share *share) {
  const uint query = QUERY_OF(scene->cast);
  bool found = q->global_id != SLAB_MISS;
  global void *results = results_begin(arrays, scene->cast);
  const bool waits = (SLAB_DEFERRED & (SLAB_INTERLEAVED_ALONE | ATTRIBUTES_WAIT(scene->cast->rays))) != 0;
  if (query == SLAB_CLOSEST && found && waits) {
    const deferred_hit hit = {q->t, {0, 0, 0}, q->lane, QUERY_GEOMETRY(q), q->global_id, q->where};
    ((global hit_entry *)results)[i].deferred = hit; /* for attributes.cl */
  } else if (query == SLAB_CLOSEST) {
    ((global slab_hit *)results)[i] = query_closest(q, ray, scene);
  } else if (query == SLAB_DISTANCE) {
    distance_write(results, i, query_short_hit(q, ray, scene), scene->cast);
  } else if (query == SLAB_ANY) {
    ((global uchar *)results)[i] = found ? 1 : 0;
  } else if (query == SLAB_COUNT) {
    ((global uint *)results)[i] = q->count;
  } else if (query == SLAB_INTERVAL) {
    ((global slab_interval *)results)[i] = query_interval(q, ray, given, scene);
  } else if (SLAB_DEFERRED) {
    listing_defer(&q->list, share, scene->cast, i);
  } else {
    global hit_entry *hits = listing_end(&q->list, share, scene->cast, i);
    const uint held = hits == 0 ? 0 : min(q->list.count, q->list.capacity);
    for (uint k = 0; k < held; k++) {
      const deferred_hit later = ((const global hit_entry *)q->list.hits)[k].deferred;
      hits[k].hit = query_hit(ray, scene, later.t, later.global_id, later.where, later.geometry);
    }
  }
}

#endif
