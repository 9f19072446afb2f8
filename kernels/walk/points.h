/* Queries of points: their arrays, the depths of instances, blocks in a BVH. Both points_closest.h and points_winding.h
 * define which values are kept of a point, and which bounds may matter to it. They also test blocks and give answers. A
 * program has a points_search of its own, which searches a scene. */
#ifndef WALK_POINTS_H
#define WALK_POINTS_H

/* A program that is built for SLAB_COUNT, of which #if knows only the number, counts how often surfaces surround
 * points. Else it finds closest points. */
#define SLAB_WINDS (SLAB_QUERY == 3)

#include "maths/closest.h"
#include "walk/models.h"

/* The arrays of a call, with an entry for each point. NULL: there is none. */
typedef struct point_arrays {
  GLOBAL const float *points; /* 3 each */
  GLOBAL void *results;       /* of the query's type */
  GLOBAL const uint *order;   /* in which they are taken */
  GLOBAL const float *radii;
  GLOBAL const uint *masks;
  GLOBAL const uint *worlds;
  volatile GLOBAL uint *invalid; /* one counter, where cast.invalid is 1 */
} point_arrays;

#define POINTS_PARAMETERS                                                                                \
  const global float *points, global void *results, const global uint *order, const global float *radii, \
      const global uint *masks, const global uint *worlds, volatile global uint *invalid,                \
      const global geometry_entry *table, BLOCKS_PARAMETERS, const cast_uniforms cast, const float radius
#define POINTS_GIVEN \
  { points, results, order, radii, masks, worlds, invalid }

/* The scene, or a model that the point is in. */
typedef struct point_depth {
  float p[3]; /* the point there */
  GLOBAL const model_entry *model;
  float gate, scale; /* squared distance of the gate, at the depth outside; the instance's */
  uint geometry;     /* id of the model's first geometry */
} point_depth;

typedef struct point_query {
  float p[3]; /* at the depth where the search is */
  uint mask;
  bool masked; /* the mask may hide some geometry */
  uint depth;  /* 0: the scene's own */
#if SLAB_INSTANCES
  uint world; /* 0: none */
  point_depth depths[SCENE_DEPTHS];
#endif
#if SLAB_WINDS
  int winding;
#else
  float limit;       /* squared distance of the best so far; at first that of the radius */
  uint global_id;    /* of the best so far; SLAB_MISS: there is none */
  uint geometry;     /* id of its geometry; 0 where a scene has no instances: global ids have the same order there */
  uint kind, where;  /* the kind and the block of it */
  float to[3], u, v; /* its closest point, where the query has one: see closest */
  uint feature;
  bool any; /* the first one that is found will do */
#endif
} point_query;

/* ---- depths ---- */

#if SLAB_INSTANCES
/* Begins in the point's world. */
INLINE void points_begin_depths(point_query *q, const scene_view *scene) {
  q->depths[0].model = scene_model(scene, q->world != 0 ? scene->cast->world_models + q->world : 0);
  q->depths[0].geometry = 0;
  UNROLL for (int i = 0; i < 3; i++) q->depths[0].p[i] = q->p[i];
}

INLINE void points_return(point_query *q) {
  q->depth--;
  UNROLL for (int i = 0; i < 3; i++) q->p[i] = q->depths[q->depth].p[i];
}

/* Goes into the model of an instance. gate: its squared distance at this depth. False where nothing is found there. */
INLINE bool points_enter(point_query *q, const scene_view *scene, uint instance, float gate) {
  GLOBAL const instance_entry *of = scene_instance(scene, instance);
  const point_depth *outer = &q->depths[q->depth];
  point_depth *inner = &q->depths[q->depth + 1];
  if (!closest_inside(q->p, of, inner->p)) return false;
  inner->model = scene_model(scene, of->model);
  inner->gate = gate;
  inner->scale = of->scale;
  inner->geometry = outer->geometry + of->geometry;
  q->depth++;
  UNROLL for (int i = 0; i < 3; i++) q->p[i] = inner->p[i];
  return true;
}

/* Index of an instance, from its global primitive id; SLAB_MISS: the mask hides it. */
INLINE uint points_instance(const point_query *q, const scene_view *scene, uint global_id) {
  const geometry_entry group = *model_entry_of(scene, q->depths[q->depth].model, global_id);
  return (group.mask & q->mask) == 0 ? SLAB_MISS : group.first + (global_id - group.global_id_base);
}
#endif

/* ---- primitives ---- */

/* The entry of a primitive's geometry, and in a scene with instances the geometry's id. */
INLINE GLOBAL const geometry_entry *points_entry(const point_query *q, const scene_view *scene, uint global_id,
                                                 uint *geometry) {
#if SLAB_INSTANCES
  const point_depth *at = &q->depths[q->depth];
  GLOBAL const geometry_entry *entry = model_entry_of(scene, at->model, global_id);
  *geometry = at->geometry + entry->id;
  return entry;
#else
  (void)q;
  *geometry = 0;
  return scene->table + geometry_of(scene->table, scene->cast->geometries, global_id);
#endif
}

/* The point in its world. */
INLINE void points_take_world(point_query *q, const point_arrays *arrays, size_t i) {
#if SLAB_INSTANCES
  q->world = arrays->worlds != 0 ? arrays->worlds[i] : 0;
#else
  (void)q, (void)arrays, (void)i;
#endif
}

/* The block in which the point before this one found its closest point. Neighbours have theirs near. */
typedef struct point_hint {
  uint kind, where;
  bool is;
} point_hint;

#if SLAB_WINDS
#include "walk/points_winding.h"
#else
#include "walk/points_closest.h"
#endif

#if SLAB_TREE
/* Tests consecutive blocks of one kind in a BVH, or beside it. */
INLINE bool points_blocks(point_query *q, const scene_view *scene, const uint kind, uint first, uint count) {
  const uint floats = primitive_floats(kind);
  for (uint n = 0; n < count; n++, first += BLOCK_UNITS(floats, STRIDE, BVH_UNIT)) {
    const global float *block = block_at(scene->blocks, (size_t)first * BVH_UNIT);
    const global uint *ids = (const global uint *)(block + floats * STRIDE);
    for (uint part = 0; part < STRIDE; part += LANES)
      if (points_block(q, scene, kind, block + part, ids + part, 0, 0, first)) return true;
  }
  return false;
}

INLINE bool points_leaf(point_query *q, const scene_view *scene, uint kind, uint first, uint count) {
#define OF_KIND(shape, name, names, noun, floats, form, place, source) \
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

#if SLAB_INSTANCES && SLAB_TREE
/* The primitives outside the BVH of the model that the point is in, or of its world. */
INLINE bool points_depth_outside(point_query *q, const scene_view *scene) {
  GLOBAL const model_entry *model = q->depths[q->depth].model;
  bvh_outside outside[OUTSIDE_KINDS];
  UNROLL for (int k = 0; k < OUTSIDE_KINDS; k++) outside[k] = model->outside[k];
  return points_outside_bvh(q, scene, outside);
}
#endif

/* ---- runs ---- */

INLINE void points_search(point_query *q, const scene_view *scene, uint collapsed_root, const point_hint *hint);

/* Points in an order of their own lie anywhere, and so do their results: both are requested some points before. */
#define POINTS_AHEAD 4

INLINE void points_fetch(const point_arrays *arrays, size_t n, uint query) {
  const size_t i = arrays->order[n];
  const size_t size = query == SLAB_CLOSEST_POINTS ? sizeof(slab_closest_point) : query == SLAB_POINTS_WITHIN ? 1 : 4;
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
    points_take_world(&q, arrays, i);
    const bool valid = point_is_valid(p);
    if (valid) points_search(&q, scene, collapsed_root, &hint);
    if (!valid && cast->invalid != 0) atomic_inc(arrays->invalid);
    points_write(&q, scene, p, valid ? SLAB_MISS : SLAB_INVALID, arrays, i);
    points_hint(&q, &hint);
  }
}

#endif
