/* The query of a cast, as a policy over one traversal. The traversal reports crossings. The query keeps what it needs
 * and limits how far the ray still has to be traced. SLAB_QUERY is a constant, so each program holds one query. */
#ifndef QUERY_H
#define QUERY_H

#include "answer.h"
#include "listing.h"

#ifndef BVH_UNIT
#define BVH_UNIT BLOCK_UNIT /* of a flat scene, which has no BVH */
#endif

#ifndef SLAB_DEFERRED
#define SLAB_DEFERRED 0 /* 1: another kernel computes the attributes of closest hits */
#endif

typedef struct query_state {
  float t, leave; /* of the best crossing so far */
  float limit;    /* largest t at which another crossing can still be as good */
  uint global_id; /* of the best crossing */
  uint where;     /* its block in a BVH, in units of BVH_UNIT floats */
  uint lane;      /* its lane in that block */
  uint count;     /* crossings so far */
  uint skip;      /* global primitive id of the primitive to skip */
  listing list;   /* SLAB_ALL */
} query_state;

/* Ray i of the launch. */
INLINE slab_ray query_ray(const cast_arrays *arrays, const cast_uniforms *cast, size_t i) {
  return ((const global slab_ray *)((const global uint *)arrays->rays + cast->at[AT_RAYS]))[i];
}

/* The state for ray i. walk: its index among the rays in flight, over all work-items; used by SLAB_ALL. */
INLINE query_state query_begin(const prepared_ray *ray, const cast_arrays *arrays, const scene_view *scene, size_t i,
                               size_t walk) {
  const cast_uniforms *cast = scene->cast;
  query_state q = {.t = ray->t_max, .limit = ray->t_max, .global_id = SLAB_MISS, .skip = SLAB_MISS};
  if (cast->skip != 0) {
    const global uint *skips = (const global uint *)arrays->skips + cast->at[AT_SKIPS];
    q.skip = skipped_global_id(scene->table, cast->geometries, ((const global slab_primitive_id *)skips)[i]);
  }
  if (SLAB_QUERY == SLAB_ALL) q.list = listing_begin(arrays, cast, i, walk);
  if (ray->state == RAY_INVALID && cast->invalid != 0) atomic_inc(arrays->invalid + cast->at[AT_INVALID]);
  return q;
}

/* Whether (t, global primitive id) is less than the best so far. */
INLINE bool query_is_better(const query_state *q, float t, uint global_id) {
  return t < q->t || (t == q->t && global_id < q->global_id);
}

INLINE void query_take(query_state *q, const prepared_ray *ray, float crossing, float leave, uint global_id, uint where,
                       uint lane, const cast_uniforms *cast) {
  const float t = ray_t_written(ray, crossing);
  switch (SLAB_QUERY) {
    case SLAB_ALL:
      if (listing_take(&q->list, t, global_id, where, cast)) q->limit = ray_tie_limit(ray, q->list.hits[0].t);
      break;
    case SLAB_COUNT:
      q->count++;
      break;
    default:
      if (!query_is_better(q, t, global_id)) break;
      q->t = t;
      q->limit = ray_tie_limit(ray, t);
      q->leave = leave;
      q->global_id = global_id;
      q->where = where;
      q->lane = lane;
  }
}

/* Whether this primitive is hidden from the ray: it is skipped, or the cast's mask excludes its geometry. A flat scene
 * applies the mask to whole geometries instead. */
INLINE bool query_hides(const query_state *q, uint kind, uint global_id, const scene_view *scene) {
  const cast_uniforms *cast = scene->cast;
  if (primitive_is_surface(kind) && global_id == q->skip) return true;
  if (!SLAB_TREE || cast->masked == 0) return false;
  return (scene->table[geometry_of(scene->table, cast->geometries, global_id)].mask & cast->mask) == 0;
}

/* Adds the crossings of the lanes in `hit` of a block. The global primitive id of lane k is global_ids[k], or first + k
 * where global_ids is NULL. True when the ray is done. */
INLINE bool query_offer(query_state *q, uint kind, const prepared_ray *ray, mask hit, real t, real leave, uint first,
                        const global uint *global_ids, uint where, const scene_view *scene) {
  for (uint bits = lanes_bits(hit); bits != 0; bits &= bits - 1) {
    uint lane = lowest_lane(bits);
    uint global_id = global_ids != 0 ? global_ids[lane] : first + lane;
    if (query_hides(q, kind, global_id, scene)) continue;
    query_take(q, ray, lanes_at(t, lane), SLAB_QUERY == SLAB_INTERVAL ? lanes_at(leave, lane) : 0.0f, global_id, where,
               lane, scene->cast);
    if (SLAB_QUERY == SLAB_ANY) return true;
  }
  return false;
}

/* Tests a block and adds its crossings. True when the ray is done. */
INLINE bool query_block(query_state *q, const uint kind, const prepared_ray *ray, const global float *block, uint first,
                        const global uint *global_ids, uint where, const scene_view *scene) {
  real t, leave = (real)(0.0f);
  const uint rules = scene->cast->rules;
  mask hit = SLAB_QUERY == SLAB_INTERVAL ? primitive_solid(kind, ray, block, q->limit, rules, &t, &leave)
                                         : primitive_surface(kind, ray, block, q->limit, rules, &t);
  return lanes_any(hit) && query_offer(q, kind, ray, hit, t, leave, first, global_ids, where, scene);
}

/* The hit of a primitive. `where` is its block in a BVH. In a flat scene the global primitive id gives the block. */
INLINE slab_hit query_hit(const prepared_ray *ray, const scene_view *scene, float t, uint global_id, uint where) {
  if (!SLAB_TREE) return hit_of(ray, scene, t, global_id);
  uint geometry = geometry_of(scene->table, scene->cast->geometries, global_id), lane = 0;
  geometry_entry entry = scene->table[geometry];
  const global float *block = block_at(scene->blocks, (size_t)where * BVH_UNIT);
  const global uint *global_ids = (const global uint *)(block + primitive_rows(entry.kind) * STRIDE);
  while (lane + 1 < STRIDE && global_ids[lane] != global_id) lane++;
  return hit_at(ray, &entry, geometry, block + lane / LANES * LANES, lane % LANES, scene->cast, t, global_id);
}

/* Writes the result of ray i. share: hits that the work-item has reserved, for SLAB_ALL. */
INLINE void query_end(const query_state *q, const prepared_ray *ray, const slab_ray *given, const cast_arrays *arrays,
                      const scene_view *scene, size_t i, hit_share *share) {
  bool found = q->global_id != SLAB_MISS;
  global void *results = results_begin(arrays, scene->cast);
  if (SLAB_QUERY == SLAB_CLOSEST && SLAB_DEFERRED && found && ATTRIBUTES_WAIT(scene->cast->rays)) {
    const deferred_hit hit = {.t = q->t, .lane = q->lane, .global_id = q->global_id, .where = q->where};
    ((global hit_entry *)results)[i].deferred = hit; /* for attributes.cl */
  } else if (SLAB_QUERY == SLAB_CLOSEST) {
    slab_hit hit = found ? query_hit(ray, scene, q->t, q->global_id, q->where) : hit_none(reason_of(ray));
    ((global slab_hit *)results)[i] = hit;
  } else if (SLAB_QUERY == SLAB_DISTANCE) {
    distance_write(results, i, found ? ray_final_t(ray, q->t) : INFINITY, found ? q->global_id : reason_of(ray), scene);
  } else if (SLAB_QUERY == SLAB_ANY) {
    ((global uchar *)results)[i] = found ? 1 : 0;
  } else if (SLAB_QUERY == SLAB_COUNT) {
    ((global uint *)results)[i] = q->count;
  } else if (SLAB_QUERY == SLAB_INTERVAL) {
    slab_interval interval = interval_none(reason_of(ray));
    if (found) {
      uint geometry = geometry_of(scene->table, scene->cast->geometries, q->global_id);
      const geometry_entry entry = scene->table[geometry];
      interval = interval_of(entry.kind, ray, given, q->t, q->leave, q->global_id - entry.global_id_base, geometry);
    }
    ((global slab_interval *)results)[i] = interval;
  } else {
    global hit_entry *hits = listing_end(&q->list, share, scene->cast, i);
    const uint held = hits == 0 ? 0 : min(q->list.count, q->list.capacity);
    for (uint k = 0; k < held; k++) {
      const deferred_hit later = ((const global hit_entry *)q->list.hits)[k].deferred;
      hits[k].hit = query_hit(ray, scene, later.t, later.global_id, later.where);
    }
  }
}

#endif
