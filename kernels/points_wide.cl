/* Queries of points by an 8-wide BVH: children whose bounds may matter to the point are visited, the nearest first. A
 * point is held against eight boxes or eight primitives at once; where LANES is 1, one after the other.
 *
 * Built with LANES (1 or 8), SLAB_KINDS as flat.cl, SLAB_STACK and SLAB_INSTANCES as wide.cl, and SLAB_QUERY 0 or 3:
 * see walk/points.h. */
#define STRIDE 8
#define BVH_UNIT BLOCK_UNIT
#define SLAB_TREE 1
#include "walk/points.h"

#include "walk/bvh.h"

/* Entries beside those of nodes: the root over collapsed triangles, of each depth and of a world. */
#define POINTS_STACK (SLAB_STACK + SCENE_DEPTHS + 1)

/* Eight bounds, or LANES of them. */
INLINE void points_bounds(const global float *bounds, real lower[3], real upper[3]) {
  UNROLL for (uint i = 0; i < 3; i++) {
    lower[i] = lanes_load(bounds + i * STRIDE);
    upper[i] = lanes_load(bounds + (i + 3) * STRIDE);
  }
}

/* Children whose bounds may matter, as bits, and their squared distances. */
INLINE uint points_children(const point_query *q, const global float *bounds, float square[BVH_WIDTH]) {
  uint bits = 0;
  for (uint part = 0; part < BVH_WIDTH; part += LANES) {
    real lower[3], upper[3], to;
    points_bounds(bounds + part, lower, upper);
    bits |= lanes_bits(points_near(q, lower, upper, &to)) << part;
    lanes_store(to, square + part);
  }
  return bits;
}

#if SLAB_INSTANCES

/* Tests the first of some blocks of gates. The instances that may matter are pushed, the nearest last, above the
 * other blocks. place: the bits of the gate's squared distance at this depth. */
INLINE bool points_gates(point_query *q, bvh_path *path, const scene_view *scene, uint first, uint blocks) {
  const global float *block = block_at(scene->blocks, (size_t)first * BVH_UNIT);
  const global uint *ids = (const global uint *)(block + BOX_FLOATS * STRIDE);
  if (blocks > 1) visit_push(path, first + BVH_BLOCK_UNITS(BOX_FLOATS), VISIT_GATES, path->next.enter, blocks - 1);
  const uint base = path->top;
  for (uint part = 0; part < BVH_WIDTH; part += LANES) {
    real lower[3], upper[3], gate, square;
    points_bounds(block + part, lower, upper);
    for (uint bits = lanes_bits(points_near_gate(q, lower, upper, &gate, &square)); bits != 0; bits &= bits - 1) {
      const uint lane = lowest_lane(bits), id = ids[part + lane];
      const bvh_visit v = {id == SLAB_MISS ? SLAB_MISS : points_instance(q, scene, id), VISIT_INSTANCE,
                           lanes_at(square, lane), scalar_bits(lanes_at(gate, lane))};
      if (v.child != SLAB_MISS) visit_insert(path, base, v);
    }
  }
  return bvh_pop(path, points_limit(q));
}

/* Pushes the visits of a model beside its root. */
INLINE void points_push_beside(bvh_path *path, GLOBAL const model_entry *model) {
  visit_ungated(path, model);
  if (POINTS_FIND_COLLAPSED && model->collapsed_root != 0) visit_push(path, model->collapsed_root, BVH_INNER, 0.0f, 0);
}

/* One visit that instances add. False when the point is done. */
INLINE bool points_visit(point_query *q, bvh_path *path, const scene_view *scene) {
  const bvh_visit at = path->next;
  if (at.meta == VISIT_END) {
    points_return(q);
    return bvh_pop(path, points_limit(q));
  }
  if (at.meta != VISIT_INSTANCE)
    return points_gates(q, path, scene, at.child, at.meta == VISIT_GATES ? at.place : BVH_LEAF_BLOCK_COUNT(at.meta));
  if (!points_enter(q, scene, at.child, scalar_float(at.place))) return bvh_pop(path, points_limit(q));
  GLOBAL const model_entry *model = q->depths[q->depth].model;
  visit_push(path, 0, VISIT_END, -INFINITY, 0);
  if (points_depth_outside(q, scene)) return false;
  points_push_beside(path, model);
  path->next.child = model->root;
  path->next.meta = BVH_INNER;
  return true;
}

#endif

/* One step: a node, a leaf or an instance. False when the point is done. */
INLINE bool points_step(point_query *q, bvh_path *path, const scene_view *scene) {
  const uint at = path->next.child, meta = path->next.meta;
#if SLAB_INSTANCES
  if (!BVH_IS_INNER(meta) && BVH_LEAF_KIND(meta) >= SHAPE_INSTANCE) return points_visit(q, path, scene);
#endif
  if (BVH_IS_INNER(meta)) {
    float square[BVH_WIDTH];
    COUNT(nodes, 1);
    const uint bits = points_children(q, &node_at(scene->nodes, at)->bounds[0][0], square);
    return bvh_down(path, scene, at, bits, square, points_limit(q));
  }
  return !points_leaf(q, scene, BVH_LEAF_KIND(meta), at, BVH_LEAF_BLOCK_COUNT(meta)) && bvh_pop(path, points_limit(q));
}

/* The hint is visited before the root, so that there is a limit from the start. */
INLINE void points_search(point_query *q, const scene_view *scene, uint collapsed_root, const point_hint *hint) {
  bvh_visit stack[POINTS_STACK];
  bvh_path path;
  bvh_begin(&path, stack);
#if SLAB_INSTANCES
  points_begin_depths(q, scene); /* primitives outside are taken at a depth too */
#endif
  if (points_outside_bvh(q, scene, scene->cast->outside)) return;
#if SLAB_INSTANCES
  (void)collapsed_root, (void)hint;
  points_push_beside(&path, scene_model(scene, 0));
  if (q->world != 0) {
    if (points_depth_outside(q, scene)) return;
    const uint collapsed = q->depths[0].model->collapsed_root;
    if (POINTS_FIND_COLLAPSED && collapsed != 0) visit_push(&path, collapsed, BVH_INNER, 0.0f, 0);
    visit_world(&path, q->depths[0].model, 0.0f);
  }
#else
  if (POINTS_FIND_COLLAPSED && collapsed_root != 0) visit_push(&path, collapsed_root, BVH_INNER, 0.0f, 0);
  if (hint->is) {
    visit_push(&path, 0, BVH_INNER, 0.0f, 0);
    path.next.child = hint->where;
    path.next.meta = BVH_LEAF(hint->kind, 1);
  }
#endif
  for (bool more = true; more;) more = points_step(q, &path, scene);
}

KERNEL_HINT kernel void KERNEL_NAME(points_wide)(WORK_ITEM POINTS_PARAMETERS, NODES_PARAMETERS,
                                                 const uint collapsed_root) {
  const scene_view scene = {table, BLOCKS_GIVEN, NODES_GIVEN, &cast, false};
  const point_arrays arrays = POINTS_GIVEN;
  points_run(&arrays, &scene, get_global_id(0), radius, collapsed_root);
}
