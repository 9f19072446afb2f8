/* The query of a cast, as a policy over one traversal. The traversal reports crossings. The query keeps what it needs
 * and limits how far the ray still has to be traced. SLAB_QUERY is a constant, so each program holds one query. */
#ifndef WALK_QUERY_H
#define WALK_QUERY_H

#include "maths/answer.h"
#include "maths/instances.h"
#include "walk/listing.h"

#ifndef BVH_UNIT
#define BVH_UNIT BLOCK_UNIT /* of a flat scene, which has no BVH */
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
#if SLAB_INSTANCES
  scene_level *levels; /* SCENE_LEVELS of them */
  uint level;          /* where the traversal is; limit, skip and global_id are as there */
  float scene_limit;   /* the limit of the scene's ray */
  uint geometry;       /* id of the geometry of the best crossing */
  uint skipped;        /* that of the primitive to skip */
#endif
} query_state;

/* Ray i of the launch. */
INLINE slab_ray query_ray(const cast_arrays *arrays, const cast_uniforms *cast, size_t i) {
  return ((const global slab_ray *)((const global uint *)arrays->rays + cast->at[AT_RAYS]))[i];
}

INLINE void query_skips(query_state *q, const scene_view *scene, slab_primitive_id skip) {
#if SLAB_INSTANCES
  const geometry_entry entry = path_to(scene, skip.geometry).entry;
  if (skip.primitive >= entry.count || !primitive_is_surface(entry.kind)) return;
  q->skip = entry.global_id_base + skip.primitive;
  q->skipped = skip.geometry;
#else
  q->skip = skipped_global_id(scene->table, scene->cast->geometries, skip);
#endif
}

/* The state for ray i. walk: its index among the rays in flight, over all work-items; used by SLAB_ALL. */
INLINE query_state query_begin(const prepared_ray *ray, const cast_arrays *arrays, const scene_view *scene, size_t i,
                               size_t walk) {
  const cast_uniforms *cast = scene->cast;
  query_state q = {.t = ray->t_max, .limit = ray->t_max, .global_id = SLAB_MISS, .skip = SLAB_MISS};
#if SLAB_INSTANCES
  q.geometry = SLAB_MISS;
#endif
  if (cast->skip != 0) {
    const global uint *skips = (const global uint *)arrays->skips + cast->at[AT_SKIPS];
    query_skips(&q, scene, ((const global slab_primitive_id *)skips)[i]);
  }
  if (SLAB_QUERY == SLAB_ALL) q.list = listing_begin(arrays, cast, i, walk);
  if (ray->state == RAY_INVALID && cast->invalid != 0) atomic_inc(arrays->invalid + cast->at[AT_INVALID]);
  return q;
}

/* A crossing that a traversal reports. geometry: its id where the scene has instances, else 0. */
typedef struct query_crossing {
  float t, leave;
  uint global_id, geometry, where, lane;
} query_crossing;

/* Whether (t, geometry, primitive) is less than the best so far. */
INLINE bool query_is_better(const query_state *q, float t, const query_crossing *c) {
#if SLAB_INSTANCES
  if (t == q->t && c->geometry != q->geometry) return c->geometry < q->geometry;
#endif
  return t < q->t || (t == q->t && c->global_id < q->global_id);
}

/* Takes a crossing of the scene's ray. limit: lowered where the query wants nothing beyond. */
INLINE void query_keep(query_state *q, const prepared_ray *ray, const query_crossing *c, float *limit,
                       const cast_uniforms *cast) {
  const float t = ray_t_written(ray, c->t);
  const listed_hit listed = {t, c->global_id, c->where, c->geometry, c->lane};
  switch (SLAB_QUERY) {
    case SLAB_ALL:
      if (listing_take(&q->list, listed, cast)) *limit = ray_tie_limit(ray, q->list.hits[0].t);
      break;
    case SLAB_COUNT:
      q->count++;
      break;
    default:
      if (!query_is_better(q, t, c)) break;
      q->t = t;
      if (SLAB_QUERY != SLAB_ANY) *limit = ray_tie_limit(ray, t); /* any is done */
      q->leave = c->leave;
      q->global_id = c->global_id;
      q->where = c->where;
      q->lane = c->lane;
#if SLAB_INSTANCES
      q->geometry = c->geometry;
#endif
  }
}

#if SLAB_INSTANCES
/* The id of a primitive's geometry, on the traversal's level. */
INLINE uint query_geometry(const query_state *q, const scene_view *scene, uint global_id) {
  const scene_level *at = &q->levels[q->level];
  return at->geometry + model_entry_of(scene, at->model, global_id)->id;
}
#endif

/* Takes a crossing of the ray on the traversal's level. */
INLINE void query_take(query_state *q, const prepared_ray *ray, query_crossing c, const scene_view *scene) {
#if SLAB_INSTANCES
  (void)ray;
  c.geometry = query_geometry(q, scene, c.global_id);
  c.t = level_t(q->levels, q->level, c.t);
  c.leave = level_t(q->levels, q->level, c.leave);
  query_keep(q, &q->levels[0].ray, &c, &q->scene_limit, scene->cast);
  q->limit = level_limit(q->levels, q->level, q->scene_limit);
#else
  query_keep(q, ray, &c, &q->limit, scene->cast);
#endif
}

/* Whether this primitive is hidden from the ray: it is skipped, or the cast's mask excludes its geometry. A flat scene
 * applies the mask to whole geometries instead. */
INLINE bool query_hides(const query_state *q, uint kind, uint global_id, const scene_view *scene) {
  const cast_uniforms *cast = scene->cast;
#if SLAB_INSTANCES
  GLOBAL const model_entry *model = q->levels[q->level].model;
  if (primitive_is_surface(kind) && global_id == q->skip && query_geometry(q, scene, global_id) == q->skipped)
    return true;
  return cast->masked != 0 && (model_entry_of(scene, model, global_id)->mask & cast->mask) == 0;
#endif
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
    uint global_id = SLAB_TREE ? global_ids[lane] : first + lane;
    if (query_hides(q, kind, global_id, scene)) continue;
    const query_crossing c = {
        lanes_at(t, lane), SLAB_QUERY == SLAB_INTERVAL ? lanes_at(leave, lane) : 0.0f, global_id, 0, where, lane};
    query_take(q, ray, c, scene);
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

/* The primitive with a global primitive id in a BVH's block. */
INLINE slab_hit query_hit_of(const prepared_ray *ray, const scene_view *scene, const geometry_entry *entry,
                             uint geometry, float t, uint global_id, uint where) {
  uint lane = 0;
  const global float *block = block_at(scene->blocks, (size_t)where * BVH_UNIT);
  const global uint *global_ids = (const global uint *)(block + primitive_rows(entry->kind) * STRIDE);
  while (lane + 1 < STRIDE && global_ids[lane] != global_id) lane++;
  return hit_at(ray, entry, geometry, block + lane / LANES * LANES, lane % LANES, scene->cast, t, global_id);
}

#if SLAB_INSTANCES

/* The same of a primitive in a model. geometry: its geometry in the scene, whose ray is given. */
INLINE slab_hit query_hit(const prepared_ray *ray, const scene_view *scene, float t, uint global_id, uint where,
                          uint geometry) {
  const instance_path path = path_to(scene, geometry);
  prepared_ray inner = *ray;
  float inside = t;
  for (uint k = 0; k < path.count; k++) {
    const prepared_ray outer = inner;
    instance_ray(&outer, scene_instance(scene, path.instances[k]), &inner);
    inside = instance_t_inside(&inner, inside);
  }
  slab_hit hit = query_hit_of(&inner, scene, &path.entry, geometry, inside, global_id, where);
  for (uint k = path.count; k-- > 0;) instance_normal(scene_instance(scene, path.instances[k]), hit.normal);
  hit.t = ray_final_t(ray, t);
  return hit;
}

#else

/* The hit of a primitive. `where` is its block in a BVH. In a flat scene the global primitive id gives the block. */
INLINE slab_hit query_hit(const prepared_ray *ray, const scene_view *scene, float t, uint global_id, uint where,
                          uint unused) {
  (void)unused;
  if (!SLAB_TREE) return hit_of(ray, scene, t, global_id);
  const uint geometry = geometry_of(scene->table, scene->cast->geometries, global_id);
  const geometry_entry entry = scene->table[geometry];
  return query_hit_of(ray, scene, &entry, geometry, t, global_id, where);
}

#endif

INLINE uint query_best_geometry(const query_state *q) {
#if SLAB_INSTANCES
  return q->geometry;
#else
  (void)q;
  return 0;
#endif
}

/* The id of the geometry of the best crossing, and its entry. */
INLINE uint query_found(const query_state *q, const scene_view *scene, geometry_entry *entry) {
#if SLAB_INSTANCES
  *entry = path_to(scene, q->geometry).entry;
  return q->geometry;
#else
  const uint geometry = geometry_of(scene->table, scene->cast->geometries, q->global_id);
  *entry = scene->table[geometry];
  return geometry;
#endif
}

INLINE slab_short_hit query_short_hit(const query_state *q, const prepared_ray *ray, const scene_view *scene) {
  if (q->global_id == SLAB_MISS) return short_hit_of(scene, INFINITY, reason_of(ray));
  const float t = ray_final_t(ray, q->t);
#if SLAB_INSTANCES
  slab_short_hit hit = {t, 0, q->geometry};
  if (scene->cast->ids != 0) hit.primitive = q->global_id - path_to(scene, q->geometry).entry.global_id_base;
  return hit;
#else
  return short_hit_of(scene, t, q->global_id);
#endif
}

/* Writes the result of ray i. share: hits that the work-item has reserved, for SLAB_ALL. */
INLINE void query_end(const query_state *q, const prepared_ray *ray, const slab_ray *given, const cast_arrays *arrays,
                      const scene_view *scene, size_t i, hit_share *share) {
  bool found = q->global_id != SLAB_MISS;
  global void *results = results_begin(arrays, scene->cast);
  const bool waits = SLAB_DEFERRED == 1 ? ATTRIBUTES_WAIT(scene->cast->rays) : SLAB_DEFERRED == 2;
  if (SLAB_QUERY == SLAB_CLOSEST && found && waits) {
    const deferred_hit hit = {
        .t = q->t, .lane = q->lane, .geometry = query_best_geometry(q), .global_id = q->global_id, .where = q->where};
    ((global hit_entry *)results)[i].deferred = hit; /* for attributes.cl */
  } else if (SLAB_QUERY == SLAB_CLOSEST) {
    slab_hit hit =
        found ? query_hit(ray, scene, q->t, q->global_id, q->where, query_best_geometry(q)) : hit_none(reason_of(ray));
    ((global slab_hit *)results)[i] = hit;
  } else if (SLAB_QUERY == SLAB_DISTANCE) {
    distance_write(results, i, query_short_hit(q, ray, scene), scene->cast);
  } else if (SLAB_QUERY == SLAB_ANY) {
    ((global uchar *)results)[i] = found ? 1 : 0;
  } else if (SLAB_QUERY == SLAB_COUNT) {
    ((global uint *)results)[i] = q->count;
  } else if (SLAB_QUERY == SLAB_INTERVAL) {
    slab_interval interval = interval_none(reason_of(ray));
    if (found) {
      geometry_entry entry;
      const uint geometry = query_found(q, scene, &entry);
      interval = interval_of(entry.kind, ray, given, q->t, q->leave, q->global_id - entry.global_id_base, geometry);
    }
    ((global slab_interval *)results)[i] = interval;
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
