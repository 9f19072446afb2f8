/* Traversal of a BVH in the compressed layout, by one ray: see compressed.cl. */
#ifndef WALK_COMPRESSED_H
#define WALK_COMPRESSED_H

#include "walk/compressed_nodes.h"
#include "walk/nodes.h"

/* Adds to `found` those of children 0 to 3, or of the last four, whose bounds the ray may overlap at limit or before.
 * An unused child is hardly ever among them. If it is, it is a leaf with no primitives. */
INLINE float half_children(const bool oblique, const prepared_ray *ray, const quantised_axis axis[3],
                           const node_rows *n, bool last, float limit, float found) {
  const uint4 a = n->row[2], b = n->row[3], c = n->row[4];
  const uint lower[3] = {last ? a.y : a.x, last ? a.w : a.z, last ? b.y : b.x};
  const uint upper[3] = {last ? b.w : b.z, last ? c.y : c.x, last ? c.w : c.z};
  return quantised_children(oblique, ray, axis, lower, upper, last ? 4 : 0, limit, found);
}

/* All of a node's children that it may overlap, as bits 0 to 7; bits above have no meaning. The rare rays that are not
 * oblique take a loop, which is less code and needs fewer registers. */
INLINE uint node_children(bool oblique, const prepared_ray *ray, const node_rows *n, float limit) {
  const uint origin[3] = {n->row[0].x, n->row[0].y, n->row[0].z};
  float found = COMPRESSED_BIAS + (float)ray->octant; /* no constant, which compilers would put into each use */
  quantised_axis axis[3];
  UNROLL for (int i = 0; i < 3; i++) {
    const float step = compressed_step(compressed_byte(n->row[0].w, (uint)i));
    axis[i] = quantised_axis_of(ray, i, step, ray_float(origin[i]));
  }
  if (oblique) {
    UNROLL for (uint last = 0; last < 2; last++) found = half_children(true, ray, axis, n, last != 0, limit, found);
  } else {
    for (uint last = 0; last < 2; last++) found = half_children(false, ray, axis, n, last != 0, limit, found);
  }
  return scalar_bits(found);
}

/* Visits the next node. */
INLINE void visit_node(descent *d, siblings *stack, uint *top, bool oblique, const query_state *q,
                       const prepared_ray *ray, const scene_view *scene) {
  const uint child = first_child(d->next.lanes & 0xFF, ray->octant);
  const uint index = d->next.first + popcount(d->next.lanes >> 8 & (child - 1));
  COUNT(visit, index);
  d->next.lanes ^= child;
  if ((d->next.lanes & 0xFF) != 0) {
    stack[(*top)++] = d->next;
    COUNT(push, *top);
  }
  const node_rows n = node_load(scene->nodes, index);
  const uint inner = compressed_byte(n.row[0].w, 3);
  const uint bits = node_children(oblique, ray, &n, q->limit);
  d->leaves.bits = bits & ~inner & 0xFF;
  d->leaves.begin = n.row[1].y;
  d->leaves.first = n.row[1].z;
  d->leaves.last = n.row[1].w;
  d->next.first = n.row[1].x;
  d->next.lanes = inner << 8 | (bits & inner);
}

#if SLAB_INSTANCES
#include "walk/instance_depths.h"

/* The rest of a descent in a model, or in the scene. */
typedef struct depth_descent {
  descent on;
  uint base;           /* entries of the stack that belong to lesser depths */
  bvh_outside ungated; /* instances without a gate */
} depth_descent;

/* Begins in the model that the ray is in, or in the scene. top: entries of the stack. */
INLINE depth_descent depth_begins(const query_state *q, const scene_view *scene, uint top) {
  GLOBAL const model_entry *model = q->depths[q->depth].model;
  depth_descent d = {AT_ROOT(model->root), top, model->outside[OUTSIDE_INSTANCES]};
  if (own_world(OWN_OF(q), scene->cast) != 0 && model->root == ROOT_NONE) d.on.next.lanes = 0;
  return d;
}

/* Where a world is done, goes on with the geometries that all worlds share. False: these are done, too. */
INLINE bool depth_turns(query_state *q, const scene_view *scene) {
  GLOBAL const model_entry *all = scene_model(scene, 0);
  if (own_world(OWN_OF(q), scene->cast) == 0 || q->depths[0].model == all) return false;
  q->depths[0].model = all;
  return true;
}

/* Where no node of a depth is left. An instance without a gate is like a leaf; after the last one the ray leaves the
 * model. False: it is done. */
INLINE bool depth_ends(query_state *q, depth_descent *d, const depth_descent *outer) {
  if (d->ungated.blocks != 0) {
    d->on.leaves.bits = 1;
    d->on.leaves.meta = COMPRESSED_LEAF(SHAPE_INSTANCE, 1);
    d->on.leaves.place = d->ungated.first;
    d->ungated.first += BLOCK_UNITS(BOX_FLOATS, STRIDE, BVH_UNIT);
    d->ungated.blocks--;
    return true;
  }
  if (q->depth == 0) return false;
  depth_leave(q);
  *d = outer[q->depth];
  return true;
}

/* Tests a gate, and goes into the model. False where the ray does not. The gate is tested with the whole range of the
 * ray, since instance_t needs the t where it is entered. */
INLINE bool enter_gate(query_state *q, const prepared_ray *ray, const scene_view *scene, uint place) {
  const global float *block = block_at(scene->blocks, (size_t)place * BVH_UNIT);
  real enter, leave;
  if (!box_solid(ray, block, ray->t_max, &enter, &leave)) return false;
  const uint instance = depth_instance(q, scene, ((const global uint *)block)[BOX_FLOATS], enter);
  return instance != SLAB_MISS && depth_enter(q, scene, instance, enter);
}

/* All depths take turns in one loop. So rays of a warp that are in a model do not wait for those outside. */
INLINE void descend(query_state *q, const scene_view *scene) {
  depth_descent d, outer[SCENE_DEPTHS - 1];
  siblings stack[SLAB_STACK];
  prepared_ray ray = q->depths[0].ray; /* that of the depth: kept in registers */
  bool enters = true, oblique = false;
  uint top = 0, depth = 0;
  for (;;) {
    if (enters || depth != q->depth) {
      depth = q->depth;
      ray = q->depths[depth].ray;
      oblique = quantised_oblique(&ray);
      if (enters) d = depth_begins(q, scene, top);
      if (enters && depth_scan_outside(q, &ray, scene)) return;
      enters = false;
    }
    if (d.on.leaves.bits == 0) {
      if ((d.on.next.lanes & 0xFF) == 0) {
        if (top == d.base) {
          if (depth_ends(q, &d, outer)) continue;
          if (!depth_turns(q, scene)) return;
          enters = true;
          continue;
        }
        COUNT(pop, top);
        d.on.next = stack[--top];
      }
      visit_node(&d.on, stack, &top, oblique, q, &ray, scene);
    }
    if (d.on.leaves.bits == 0) continue;
    uint place;
    const uint meta = next_primitive(&d.on.leaves, &place);
    if (COMPRESSED_LEAF_COUNT(meta) == 0) continue;
    if (COMPRESSED_IS_OF_KIND(meta, SHAPE_INSTANCE)) {
      enters = enter_gate(q, &ray, scene, place);
      if (enters) outer[depth] = d;
    } else if (scan_leaf(q, &ray, scene, compressed_leaf_kind(meta), place, 1)) {
      return;
    }
  }
}

#else

/* Tests the next primitive of leaves that are left. True when the ray is done. */
INLINE bool test_primitive(query_state *q, const prepared_ray *ray, node_leaves *l, const scene_view *scene) {
  uint place;
  const uint meta = next_primitive(l, &place);
  return COMPRESSED_LEAF_COUNT(meta) != 0 && scan_leaf(q, ray, scene, compressed_leaf_kind(meta), place, 1);
}

INLINE void descend(query_state *q, const prepared_ray *ray, const scene_view *scene) {
  const bool oblique = quantised_oblique(ray);
  siblings stack[SLAB_STACK];
  descent d = AT_ROOT(0);
  uint top = 0;
  for (;;) {
    if (d.leaves.bits == 0) {
      if ((d.next.lanes & 0xFF) == 0) {
        if (top == 0) return;
        COUNT(pop, top);
        d.next = stack[--top];
      }
      visit_node(&d, stack, &top, oblique, q, ray, scene);
    }
    if (d.leaves.bits != 0 && test_primitive(q, ray, &d.leaves, scene)) return;
  }
}

#endif

/* Casts one ray alone. */
INLINE void compressed_cast(query_state *q, const prepared_ray *ray, const scene_view *scene) {
#if SLAB_INSTANCES
  (void)ray; /* the depths have it */
  descend(q, scene);
#else
  if (!scan_outside(q, ray, scene, scene->cast->outside)) descend(q, ray, scene);
#endif
}

#endif
