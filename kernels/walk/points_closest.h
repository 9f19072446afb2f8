/* Closest points: the best so far, tests of blocks, and answers. A part of points.h. */
#ifndef WALK_POINTS_CLOSEST_H
#define WALK_POINTS_CLOSEST_H

/* A point finds collapsed triangles, in a BVH of their own. */
#define POINTS_FIND_COLLAPSED true

/* ---- bounds ---- */

/* Squared distances at the search's depth as the scene has them. */
INLINE real points_outside(const point_query *q, real square) {
#if SLAB_INSTANCES
  for (uint k = q->depth; k > 0; k--) square = closest_outside(square, q->depths[k].scale, q->depths[k].gate);
#else
  (void)q;
#endif
  return square;
}

/* Whether bounds at the search's depth may hold something at limit or nearer, and their squared distance outside. */
INLINE mask points_near(const point_query *q, const real lower[3], const real upper[3], real *square) {
  *square = points_outside(q, closest_of_bounds(q->p, lower, upper));
  return *square <= q->limit;
}

/* The same of gates. gate: their squared distance at the search's depth. */
INLINE mask points_near_gate(const point_query *q, const real lower[3], const real upper[3], real *gate, real *square) {
  *gate = closest_of_bounds(q->p, lower, upper);
  *square = points_outside(q, *gate);
  return *square <= q->limit;
}

/* Beyond this squared distance nothing matters to the point any more. */
INLINE float points_limit(const point_query *q) { return q->limit; }

/* ---- the best so far ---- */

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
  q.kind = q.where = q.depth = q.feature = 0;
  q.to[0] = q.to[1] = q.to[2] = q.u = q.v = 0.0f;
  q.mask = arrays->masks != 0 ? arrays->masks[i] : cast->mask;
  q.masked = cast->masked != 0;
  q.any = cast->query == SLAB_POINTS_WITHIN;
  return q;
}

INLINE void points_hint(const point_query *q, point_hint *hint) {
  if (q->global_id == SLAB_MISS) return;
  hint->is = q->kind != SLAB_PLANE; /* these are tested anyway */
  hint->kind = q->kind;
  hint->where = q->where;
}

#endif
