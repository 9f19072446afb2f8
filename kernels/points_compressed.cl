/* Queries of points by the BVH of nodes of 80 bytes, one point per work-item, as compressed.cl casts rays. The children
 * of a node are visited about from near to far: those on the point's side of the middle of the node first. The
 * distances of children that wait are not kept.
 *
 * Built with LANES 1, SLAB_KINDS as flat.cl, SLAB_STACK and SLAB_INSTANCES as compressed.cl, and SLAB_QUERY 0 or 3: see
 * walk/points.h. */
#define BVH_UNIT COMPRESSED_UNIT
#define SCENE_NODE compressed_node
#define SLAB_TREE 1
#include "walk/points.h"

#include "walk/compressed_nodes.h"

/* Entries beside those of nodes: the root over collapsed triangles, of each depth. */
#define POINTS_STACK (SLAB_STACK + SCENE_DEPTHS)
/* Of siblings.lanes, beside what compressed_nodes.h has there: the octant of their order. */
#define SIBLINGS_OCTANT(octant) ((octant) << 16)
#define OCTANT_OF(lanes) ((lanes) >> 16)

/* The children of a node whose bounds may matter, as bits, and on which side of its middle the point is. */
INLINE uint points_children(const point_query *q, const node_rows *n, uint *octant) {
  const float origin[3] = {as_float(n->row[0].x), as_float(n->row[0].y), as_float(n->row[0].z)};
  uint bits = 0;
  float step[3];
  *octant = 0;
  UNROLL for (uint i = 0; i < 3; i++) {
    step[i] = compressed_step(compressed_byte(n->row[0].w, i));
    *octant |= q->p[i] > compressed_plane(COMPRESSED_STEPS / 2, step[i], origin[i]) ? 1u << i : 0u;
  }
  const uint4 a = n->row[2], b = n->row[3], c = n->row[4];
  for (uint k = 0; k < BVH_WIDTH; k++) {
    const bool last = k >= 4;
    const uint below[3] = {last ? a.y : a.x, last ? a.w : a.z, last ? b.y : b.x};
    const uint above[3] = {last ? b.w : b.z, last ? c.y : c.x, last ? c.w : c.z};
    real lower[3], upper[3], square;
    UNROLL for (int i = 0; i < 3; i++) {
      lower[i] = compressed_plane(compressed_byte(below[i], k % 4), step[i], origin[i]);
      upper[i] = compressed_plane(compressed_byte(above[i], k % 4), step[i], origin[i]);
    }
    bits |= points_near(q, lower, upper, &square) ? 1u << k : 0u;
  }
  return bits;
}

/* Visits the next node of a descent. */
INLINE void points_node(const point_query *q, descent *d, siblings *stack, uint *top, const scene_view *scene) {
  const uint child = first_child(d->next.lanes & 0xFF, OCTANT_OF(d->next.lanes));
  const uint index = d->next.first + popcount(d->next.lanes >> 8 & (child - 1));
  uint octant;
  d->next.lanes ^= child;
  if ((d->next.lanes & 0xFF) != 0) stack[(*top)++] = d->next;
  const node_rows n = node_load(scene->nodes, index);
  const uint inner = compressed_byte(n.row[0].w, 3), bits = points_children(q, &n, &octant);
  d->leaves.bits = bits & ~inner & 0xFF;
  d->leaves.begin = n.row[1].y;
  d->leaves.first = n.row[1].z;
  d->leaves.last = n.row[1].w;
  d->next.first = n.row[1].x;
  d->next.lanes = SIBLINGS_OCTANT(octant) | inner << 8 | (bits & inner);
}

/* A root waits as child 0 of no node. */
INLINE void points_push_root(siblings *stack, uint *top, uint root) {
  const siblings alone = {root, 0x101};
  if (POINTS_FIND_COLLAPSED && root != 0) stack[(*top)++] = alone;
}

#if SLAB_INSTANCES

/* The rest of a descent in a model, or in the scene. */
typedef struct point_descent {
  descent on;
  uint base;           /* entries of the stack that belong to lesser depths */
  bvh_outside ungated; /* instances without a gate */
} point_descent;

/* Begins in the model that the point is in, or in the scene. */
INLINE point_descent points_depth_begins(const point_query *q, siblings *stack, uint *top) {
  GLOBAL const model_entry *model = q->depths[q->depth].model;
  point_descent d = {AT_ROOT(model->root), *top, model->outside[OUTSIDE_INSTANCES]};
  if (model->root == ROOT_NONE) d.on.next.lanes = 0;
  points_push_root(stack, top, model->collapsed_root);
  return d;
}

/* Where no node of a depth is left. False: the point is done. */
INLINE bool points_depth_ends(point_query *q, point_descent *d, const point_descent *outer) {
  if (d->ungated.blocks != 0) {
    d->on.leaves.bits = 1;
    d->on.leaves.meta = COMPRESSED_LEAF(SHAPE_INSTANCE, 1);
    d->on.leaves.place = d->ungated.first;
    d->ungated.first += BLOCK_UNITS(BOX_FLOATS, STRIDE, BVH_UNIT);
    d->ungated.blocks--;
    return true;
  }
  if (q->depth == 0) return false;
  points_return(q);
  *d = outer[q->depth];
  return true;
}

/* Goes into the model behind a gate that may matter. */
INLINE bool points_enter_gate(point_query *q, const scene_view *scene, uint place) {
  const global float *block = block_at(scene->blocks, (size_t)place * BVH_UNIT);
  real lower[3], upper[3], gate, square;
  UNROLL for (int i = 0; i < 3; i++) {
    lower[i] = block[i];
    upper[i] = block[i + 3];
  }
  if (!points_near_gate(q, lower, upper, &gate, &square)) return false;
  const uint instance = points_instance(q, scene, ((const global uint *)block)[BOX_FLOATS]);
  return instance != SLAB_MISS && points_enter(q, scene, instance, gate);
}

/* Where a world is done, goes on with the geometries that all worlds share. False: these are done, too. */
INLINE bool points_turn(point_query *q, const scene_view *scene) {
  GLOBAL const model_entry *all = scene_model(scene, 0);
  if (q->depths[0].model == all) return false;
  q->depths[0].model = all;
  return true;
}

/* All depths take turns in one loop, as in compressed.h. */
INLINE void points_search(point_query *q, const scene_view *scene, uint collapsed_root, const point_hint *hint) {
  point_descent d, outer[SCENE_DEPTHS - 1];
  siblings stack[POINTS_STACK];
  uint top = 0;
  (void)collapsed_root, (void)hint;
  points_begin_depths(q, scene);
  for (bool enters = true;;) {
    if (enters) {
      d = points_depth_begins(q, stack, &top);
      if (points_depth_outside(q, scene)) return;
      enters = false;
    }
    if (d.on.leaves.bits == 0) {
      if ((d.on.next.lanes & 0xFF) == 0) {
        if (top == d.base) {
          if (points_depth_ends(q, &d, outer)) continue;
          if (!points_turn(q, scene)) return;
          enters = true;
          continue;
        }
        d.on.next = stack[--top];
      }
      points_node(q, &d.on, stack, &top, scene);
    }
    if (d.on.leaves.bits == 0) continue;
    uint place;
    const uint meta = next_primitive(&d.on.leaves, &place), depth = q->depth;
    if (COMPRESSED_LEAF_COUNT(meta) == 0) continue;
    if (COMPRESSED_IS_OF_KIND(meta, SHAPE_INSTANCE)) {
      enters = points_enter_gate(q, scene, place);
      if (enters) outer[depth] = d;
    } else if (points_leaf(q, scene, compressed_leaf_kind(meta), place, 1)) {
      return;
    }
  }
}

#else

INLINE void points_search(point_query *q, const scene_view *scene, uint collapsed_root, const point_hint *hint) {
  siblings stack[POINTS_STACK];
  descent d = AT_ROOT(0);
  uint top = 0;
  if (points_outside_bvh(q, scene, scene->cast->outside)) return;
  if (hint->is) { /* so that there is a limit from the start */
    d.leaves.bits = 1;
    d.leaves.meta = COMPRESSED_LEAF(hint->kind, 1);
    d.leaves.place = hint->where;
  }
  points_push_root(stack, &top, collapsed_root);
  for (;;) {
    if (d.leaves.bits == 0) {
      if ((d.next.lanes & 0xFF) == 0) {
        if (top == 0) return;
        d.next = stack[--top];
      }
      points_node(q, &d, stack, &top, scene);
    }
    if (d.leaves.bits == 0) continue;
    uint place;
    const uint meta = next_primitive(&d.leaves, &place);
    if (COMPRESSED_LEAF_COUNT(meta) != 0 && points_leaf(q, scene, compressed_leaf_kind(meta), place, 1)) return;
  }
}

#endif

kernel void KERNEL_NAME(points_compressed)(WORK_ITEM POINTS_PARAMETERS, NODES_PARAMETERS, const uint collapsed_root) {
  const scene_view scene = {table, BLOCKS_GIVEN, NODES_GIVEN, &cast, false};
  const point_arrays arrays = POINTS_GIVEN;
  points_run(&arrays, &scene, get_global_id(0), radius, collapsed_root);
}
