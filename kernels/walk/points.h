/* Closest points: what is kept of the best so far, how blocks are tested, and answers. A program says how it searches a
 * scene: points_search of its own. */
#ifndef WALK_POINTS_H
#define WALK_POINTS_H

#include "maths/closest.h"
#include "walk/models.h"

/* The arrays of a call, an entry a point each. NULL: there is none. */
typedef struct point_arrays {
  GLOBAL const float *points; /* 3 each */
  GLOBAL void *results;       /* of the query's type */
  GLOBAL const uint *order;   /* in which they are taken */
  GLOBAL const float *radii;
  GLOBAL const uint *masks;
  volatile GLOBAL uint *invalid; /* one counter, where cast.invalid is 1 */
} point_arrays;

#define POINTS_PARAMETERS                                                                                             \
  const global float *points, global void *results, const global uint *order, const global float *radii,              \
      const global uint *masks, volatile global uint *invalid, const global geometry_entry *table, BLOCKS_PARAMETERS, \
      const cast_uniforms cast, const float radius
#define POINTS_GIVEN \
  { points, results, order, radii, masks, invalid }

/* The scene, or a model that the point is in. */
typedef struct point_level {
  float p[3]; /* the point there */
  GLOBAL const model_entry *model;
  float gate, scale; /* squared distance of the gate, on the level outside; the instance's */
  uint geometry;     /* id of the model's first geometry */
} point_level;

typedef struct point_query {
  float p[3];        /* on the level where the search is */
  float limit;       /* squared distance of the best so far; at first that of the radius */
  uint global_id;    /* of the best so far; SLAB_MISS: there is none */
  uint geometry;     /* id of its geometry; 0 where a scene has no instances, whose global ids have the same order */
  uint kind, where;  /* the kind and the block of it */
  float to[3], u, v; /* its closest point, where that is asked for: see closest */
  uint feature;
  uint mask;
  bool masked; /* the mask may hide some geometry */
  bool any;    /* whatever is found first will do */
  uint level;  /* 0: the scene's own */
#if SLAB_INSTANCES
  point_level levels[SCENE_LEVELS];
#endif
} point_query;

/* ---- levels ---- */

/* Squared distances on the search's level as the scene has them. */
INLINE real points_outside(const point_query *q, real square) {
#if SLAB_INSTANCES
  for (uint k = q->level; k > 0; k--) square = closest_outside(square, q->levels[k].scale, q->levels[k].gate);
#else
  (void)q;
#endif
  return square;
}

#if SLAB_INSTANCES
INLINE void points_begin_levels(point_query *q, const scene_view *scene) {
  q->levels[0].model = scene_model(scene, 0);
  q->levels[0].geometry = 0;
  UNROLL for (int i = 0; i < 3; i++) q->levels[0].p[i] = q->p[i];
}

INLINE void points_return(point_query *q) {
  q->level--;
  UNROLL for (int i = 0; i < 3; i++) q->p[i] = q->levels[q->level].p[i];
}

/* Goes into the model of an instance. gate: its squared distance on this level. False where nothing is found there. */
INLINE bool points_enter(point_query *q, const scene_view *scene, uint instance, float gate) {
  GLOBAL const instance_entry *of = scene_instance(scene, instance);
  const point_level *outer = &q->levels[q->level];
  point_level *inner = &q->levels[q->level + 1];
  if (!closest_inside(q->p, of, inner->p)) return false;
  inner->model = scene_model(scene, of->model);
  inner->gate = gate;
  inner->scale = of->scale;
  inner->geometry = outer->geometry + of->geometry;
  q->level++;
  UNROLL for (int i = 0; i < 3; i++) q->p[i] = inner->p[i];
  return true;
}

/* Index of an instance, from its global primitive id; SLAB_MISS: the mask hides it. */
INLINE uint points_instance(const point_query *q, const scene_view *scene, uint global_id) {
  const geometry_entry group = *model_entry_of(scene, q->levels[q->level].model, global_id);
  return (group.mask & q->mask) == 0 ? SLAB_MISS : group.first + (global_id - group.global_id_base);
}
#endif

/* ---- the best so far ---- */

/* The entry of a primitive's geometry, and in a scene with instances the geometry's id. */
INLINE GLOBAL const geometry_entry *points_entry(const point_query *q, const scene_view *scene, uint global_id,
                                                 uint *geometry) {
#if SLAB_INSTANCES
  const point_level *at = &q->levels[q->level];
  GLOBAL const geometry_entry *entry = model_entry_of(scene, at->model, global_id);
  *geometry = at->geometry + entry->id;
  return entry;
#else
  (void)q;
  *geometry = 0;
  return scene->table + geometry_of(scene->table, scene->cast->geometries, global_id);
#endif
}

/* Whether a primitive at a squared distance of limit or less is to be taken: it is seen, and none before it is as near.
 * Then it is the best so far. */
INLINE bool points_take(point_query *q, const scene_view *scene, float square, uint global_id) {
  uint geometry = 0;
  if (SLAB_INSTANCES || q->masked) {
    GLOBAL const geometry_entry *entry = points_entry(q, scene, global_id, &geometry);
    if ((entry->mask & q->mask) == 0) return false;
  }
  const bool later = geometry != q->geometry ? geometry > q->geometry : global_id > q->global_id;
  if (square == q->limit && q->global_id != SLAB_MISS && later) return false;
  q->limit = square;
  q->global_id = global_id;
  q->geometry = geometry;
  return true;
}

/* Keeps the closest points of a block's lanes, and takes one of them. */
typedef struct closest_lanes {
  float to[3][LANES], u[LANES], v[LANES];
  uint feature[LANES];
} closest_lanes;

INLINE void points_store(const closest *at, closest_lanes *kept) {
  UNROLL for (int i = 0; i < 3; i++) lanes_store(at->to[i], kept->to[i]);
  lanes_store(at->u, kept->u);
  lanes_store(at->v, kept->v);
  lanes_store(at->feature, kept->feature);
}

INLINE void points_keep(point_query *q, const closest_lanes *kept, uint lane) {
  UNROLL for (int i = 0; i < 3; i++) q->to[i] = kept->to[i][lane];
  q->u = kept->u[lane];
  q->v = kept->v[lane];
  q->feature = kept->feature[lane];
}

/* Whether a block of triangles may have some at limit or nearer: by the bounds of each, which cost a third. */
INLINE bool points_may_take(const point_query *q, const uint kind, GLOBAL const float *block) {
  if (kind != SLAB_TRIANGLE) return true;
  const triangle_rows rows = closest_rows(block);
  real lower[3], upper[3];
  triangle_bounds(&rows, lower, upper);
  const mask is_void = TRIANGLE_IS_VOID(rows.row[0][0]);
  return lanes_any(!is_void & (points_outside(q, closest_of_bounds(q->p, lower, upper)) <= q->limit));
}

/* Tests a block. ids: the global ids of its primitives; NULL: they count from `first` on, and end before `end`. where:
 * its place. True when the point is done. */
INLINE bool points_block(point_query *q, const scene_view *scene, const uint kind, GLOBAL const float *block,
                         GLOBAL const uint *ids, uint first, uint end, uint where) {
  closest at;
  closest_lanes kept;
  float squares[LANES];
  COUNT(blocks, 1);
  if (!points_may_take(q, kind, block)) return false;
  COUNT(exact, 1);
  primitive_closest(kind, q->p, block, &at);
  const real square = points_outside(q, closest_square(at.to));
  const mask near = square <= q->limit;
  if (!lanes_any(near)) return false;
  lanes_store(square, squares);
  if (scene->cast->query == SLAB_CLOSEST_POINTS) points_store(&at, &kept);
  for (uint bits = lanes_bits(near); bits != 0; bits &= bits - 1) {
    const uint lane = lowest_lane(bits), id = ids != 0 ? ids[lane] : first + lane;
    if (ids != 0 ? id == SLAB_MISS : id >= end) continue;
    if (squares[lane] > q->limit || !points_take(q, scene, squares[lane], id)) continue;
    q->kind = kind;
    q->where = where;
    if (scene->cast->query == SLAB_CLOSEST_POINTS) points_keep(q, &kept, lane);
  }
  return q->any && q->global_id != SLAB_MISS;
}

#if SLAB_TREE
/* Tests consecutive blocks of one kind in a BVH, or beside it. */
INLINE bool points_blocks(point_query *q, const scene_view *scene, const uint kind, uint first, uint count) {
  const uint rows = primitive_rows(kind);
  for (uint n = 0; n < count; n++, first += BLOCK_UNITS(rows, STRIDE, BVH_UNIT)) {
    const global float *block = block_at(scene->blocks, (size_t)first * BVH_UNIT);
    const global uint *ids = (const global uint *)(block + rows * STRIDE);
    for (uint part = 0; part < STRIDE; part += LANES)
      if (points_block(q, scene, kind, block + part, ids + part, 0, 0, first)) return true;
  }
  return false;
}

INLINE bool points_leaf(point_query *q, const scene_view *scene, uint kind, uint first, uint count) {
#define OF_KIND(shape, name, names, noun, rows, form, place, source) \
  if (SHAPE_IN_BVH_##place && HAS_KIND(shape) && kind == shape) return points_blocks(q, scene, shape, first, count);
  SHAPES(OF_KIND)
#undef OF_KIND
  return false;
}

INLINE bool points_outside_bvh(point_query *q, const scene_view *scene, const bvh_outside outside[OUTSIDE_KINDS]) {
#define OF_KIND(shape, name)                                                                         \
  if (HAS_KIND(shape) &&                                                                             \
      points_blocks(q, scene, shape, outside[OUTSIDE_##name].first, outside[OUTSIDE_##name].blocks)) \
    return true;
  SHAPES_OUTSIDE(OF_KIND)
#undef OF_KIND
  return false;
}
#endif

/* ---- answers ---- */

/* The answer of a point that has found something. */
INLINE slab_closest_point points_found(const point_query *q, const scene_view *scene, const float p[3]) {
  float to[3];
  UNROLL for (int i = 0; i < 3; i++) to[i] = q->to[i];
#if SLAB_INSTANCES
  const instance_path path = path_to(scene, q->geometry);
  for (uint k = path.count; k-- > 0;) closest_turned(scene_instance(scene, path.instances[k]), to);
  const geometry_entry entry = path.entry;
  const uint geometry = q->geometry;
#else
  const uint geometry = geometry_of(scene->table, scene->cast->geometries, q->global_id);
  const geometry_entry entry = scene->table[geometry];
#endif
  slab_closest_point found;
  found.distance = scalar_sqrt(q->limit);
  UNROLL for (int i = 0; i < 3; i++) found.point[i] = without_minus_zero(p[i] + to[i]);
  found.u = without_minus_zero(q->u);
  found.v = without_minus_zero(q->v);
  found.feature = q->feature;
  found.primitive = q->global_id - entry.global_id_base;
  found.geometry = geometry;
  return found;
}

INLINE void points_write(const point_query *q, const scene_view *scene, const float p[3], uint why,
                         const point_arrays *arrays, size_t i) {
  const bool found = q->global_id != SLAB_MISS;
  if (scene->cast->query == SLAB_POINTS_WITHIN)
    ((GLOBAL uchar *)arrays->results)[i] = found ? 1 : 0;
  else if (scene->cast->query == SLAB_CLOSEST_DISTANCES)
    ((GLOBAL float *)arrays->results)[i] = found ? scalar_sqrt(q->limit) : INFINITY;
  else
    ((GLOBAL slab_closest_point *)arrays->results)[i] = found ? points_found(q, scene, p) : closest_none(why);
}

/* The query of point i; p: its place. radius: where points have none of their own. */
INLINE point_query points_query(const point_arrays *arrays, const cast_uniforms *cast, size_t i, float radius,
                                float p[3]) {
  point_query q;
  UNROLL for (int k = 0; k < 3; k++) q.p[k] = p[k] = arrays->points[3 * i + k];
  q.limit = closest_limit(arrays->radii != 0 ? arrays->radii[i] : radius);
  q.global_id = SLAB_MISS;
  q.geometry = 0;
  q.kind = q.where = q.level = q.feature = 0;
  q.to[0] = q.to[1] = q.to[2] = q.u = q.v = 0.0f;
  q.mask = arrays->masks != 0 ? arrays->masks[i] : cast->mask;
  q.masked = cast->masked != 0;
  q.any = cast->query == SLAB_POINTS_WITHIN;
  return q;
}

/* The block in which the point before this one found what is closest. Neighbours find it near. */
typedef struct point_hint {
  uint kind, where;
  bool is;
} point_hint;

INLINE void points_search(point_query *q, const scene_view *scene, uint collapsed_root, const point_hint *hint);

/* Points in an order of their own lie anywhere, and so do their results: both are requested some points before. */
#define POINTS_AHEAD 4

INLINE void points_fetch(const point_arrays *arrays, size_t n, uint query) {
  const size_t i = arrays->order[n];
  const size_t size = query == SLAB_CLOSEST_POINTS      ? sizeof(slab_closest_point)
                      : query == SLAB_CLOSEST_DISTANCES ? 4
                                                        : 1;
  memory_fetch((size_t)(arrays->points + 3 * i), 3 * sizeof(float));
  memory_fetch((size_t)arrays->results + i * size, (uint)size);
}

/* Answers the points of a work-item. collapsed_root: as in bvh_layout. */
INLINE void points_run(const point_arrays *arrays, const scene_view *scene, size_t item, float radius,
                       uint collapsed_root) {
  const cast_uniforms *cast = scene->cast;
  const size_t begin = item * cast->rays_each;
  const size_t end = begin + cast->rays_each < cast->rays ? begin + cast->rays_each : cast->rays;
  point_hint hint = {0, 0, false};
  for (size_t n = begin; n < end; n++) {
    const size_t i = arrays->order != 0 ? arrays->order[n] : n;
    if (arrays->order != 0 && n + POINTS_AHEAD < end) points_fetch(arrays, n + POINTS_AHEAD, cast->query);
    float p[3];
    point_query q = points_query(arrays, cast, i, radius, p);
    const bool valid = closest_is_valid(p);
    if (valid) points_search(&q, scene, collapsed_root, &hint);
    if (!valid && cast->invalid != 0) atomic_inc(arrays->invalid);
    points_write(&q, scene, p, valid ? SLAB_MISS : SLAB_INVALID, arrays, i);
    if (q.global_id != SLAB_MISS) {
      hint.is = q.kind != SLAB_PLANE; /* these are tested anyway */
      hint.kind = q.kind;
      hint.where = q.where;
    }
  }
}

#endif
