/* Traversal of a BVH in the compressed layout, by one ray: see compressed.cl. */
#ifndef WALK_COMPRESSED_H
#define WALK_COMPRESSED_H

#include "maths/quantised.h"
#include "walk/nodes.h"

/* The inner children of one node, which are stored next to each other. */
typedef struct siblings {
  uint first; /* index of the first */
  uint lanes; /* bits 0 to 7: still to visit; bits 8 to 15: which children are inner */
} siblings;

/* Of the children in `bits`, which are not none, the one with the least child ^ octant, as a bit. */
INLINE uint first_child(uint bits, uint octant) {
  const uint sides[3] = {0x55u << (octant & 1), 0x33u << (octant & 2), 0x0Fu << (octant & 4)};
  UNROLL for (int i = 2; i >= 0; i--) bits = (bits & sides[i]) != 0 ? bits & sides[i] : bits;
  return bits;
}

/* A node in registers, read as rows of 16 bytes. */
typedef struct node_rows {
  uint4 row[5];
} node_rows;

INLINE node_rows node_load(scene_nodes nodes, uint index) {
  const global uint4 *rows = (const global uint4 *)node_at(nodes, index);
  node_rows n;
  UNROLL for (int i = 0; i < 5; i++) n.row[i] = rows[i];
  return n;
}

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

/* The kinds that the scene's leaves may be of. */
#define IN_BVH(shape, name, names, noun, rows, form, place, source) | (uint)SHAPE_IN_BVH_##place << (shape)
enum { LEAF_KINDS = (SLAB_KINDS & (0 SHAPES(IN_BVH))) | SLAB_INSTANCES << SHAPE_INSTANCE };
#undef IN_BVH

/* Adds to `units` those of the leaves of one kind, as below. */
INLINE uint kind_units(uint units, uint meta, uint kind, uint rows) {
  const uint each = 0x01010101u, counts = meta & COMPRESSED_LEAF_BITS * each;
  const uint apart = (meta ^ COMPRESSED_LEAF(kind, 0) * each) >> 5 & 7 * each;
  const uint is_it = LEAF_KINDS == 1 << kind ? each : (8 * each - apart) >> 3 & each;
  return units + (counts & is_it * COMPRESSED_LEAF_BITS) * BLOCK_UNITS(rows, STRIDE, BVH_UNIT);
}

/* The COMPRESSED_UNITs of four leaves, one byte each, from their bytes of meta. Four bytes at a time: 8 - x has bit 3
 * where x, at most 7, is 0. */
INLINE uint leaf_units(uint meta) {
  uint units = 0;
#define ADD_UNITS(shape, name, names, noun, rows, form, place, source) \
  if ((LEAF_KINDS >> (shape)&1) != 0) units = kind_units(units, meta, shape, rows);
  SHAPES(ADD_UNITS)
#undef ADD_UNITS
  return SLAB_INSTANCES ? kind_units(units, meta, SHAPE_INSTANCE, BOX_ROWS) : units;
}

/* Where the primitives of child `lane` begin, counted from those of the first leaf. The bytes of the children before
 * it sum up to at most 255 (COMPRESSED_LEAF_MOST), and the product collects them in its highest byte. */
INLINE uint leaf_place(uint first_meta, uint last_meta, uint lane) {
  const uint first = leaf_units(first_meta), last = leaf_units(last_meta), below = (1u << 8 * (lane % 4)) - 1;
  return (lane < 4 ? first & below : first + (last & below)) * 0x01010101u >> 24;
}

/* Leaves of a node that are still to be tested. */
typedef struct node_leaves {
  uint bits;               /* which children */
  uint begin, first, last; /* of the node: where its leaves begin, and the bytes of meta */
  uint meta, place; /* of the leaf that is begun, the first of them: its byte, with a count of those left, and its
                       next primitive. A count of 0: none is begun */
} node_leaves;

/* Takes the next primitive of leaves that are left. Returns its byte of meta, with a count of 0 where the child is
 * unused: that takes the same way, of which compilers make less code. */
INLINE uint next_primitive(node_leaves *l, uint *place) {
  if (COMPRESSED_LEAF_COUNT(l->meta) == 0) {
    const uint lane = lowest_lane(l->bits);
    l->meta = compressed_byte(lane < 4 ? l->first : l->last, lane % 4);
    l->place = l->begin + leaf_place(l->first, l->last, lane);
  }
  const uint meta = l->meta;
  *place = l->place;
  if (COMPRESSED_LEAF_COUNT(meta) <= 1) l->bits &= l->bits - 1;
  l->place += leaf_units((meta & ~COMPRESSED_LEAF_BITS) | 1);
  l->meta -= COMPRESSED_LEAF_COUNT(meta) != 0;
  return meta;
}

/* What is left to visit in a scene, or in a model, besides what is on the stack. */
typedef struct descent {
  siblings next;
  node_leaves leaves;
} descent;

/* At a root, as child 0 of no node. */
#define AT_ROOT(root)                   \
  {                                     \
    {root, 0x101}, { 0, 0, 0, 0, 0, 0 } \
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
#include "walk/instance_levels.h"

/* What is left in a model, or in the scene. */
typedef struct level_descent {
  descent on;
  uint base;           /* entries of the stack that are those of levels outside */
  bvh_outside ungated; /* instances without a gate */
} level_descent;

/* Begins in the model that the ray is in, or in the scene. top: entries of the stack. */
INLINE level_descent level_begins(const query_state *q, uint top) {
  GLOBAL const model_entry *model = q->levels[q->level].model;
  const level_descent d = {AT_ROOT(model->root), top, model->outside[OUTSIDE_INSTANCES]};
  return d;
}

/* Where no node of a level is left. An instance without a gate is like a leaf; after the last one the ray leaves the
 * model. False: it is done. */
INLINE bool level_ends(query_state *q, level_descent *d, const level_descent *outer) {
  if (d->ungated.blocks != 0) {
    d->on.leaves.bits = 1;
    d->on.leaves.meta = COMPRESSED_LEAF(SHAPE_INSTANCE, 1);
    d->on.leaves.place = d->ungated.first;
    d->ungated.first += BLOCK_UNITS(BOX_ROWS, STRIDE, BVH_UNIT);
    d->ungated.blocks--;
    return true;
  }
  if (q->level == 0) return false;
  level_leave(q);
  *d = outer[q->level];
  return true;
}

/* Tests a gate, and goes into the model. False where the ray does not. The gate is tested with the whole range of the
 * ray, since instance_t asks for where it is entered. */
INLINE bool enter_gate(query_state *q, const prepared_ray *ray, const scene_view *scene, uint place) {
  const global float *block = block_at(scene->blocks, (size_t)place * BVH_UNIT);
  real enter, leave;
  if (!box_solid(ray, block, ray->t_max, &enter, &leave)) return false;
  const uint instance = level_instance(q, scene, ((const global uint *)block)[BOX_ROWS], enter);
  return instance != SLAB_MISS && level_enter(q, scene, instance, enter);
}

/* All levels take turns in one loop. So rays of a warp that are in a model do not wait for those outside. */
INLINE void descend(query_state *q, const scene_view *scene) {
  level_descent d, outer[SCENE_LEVELS - 1];
  siblings stack[SLAB_STACK];
  prepared_ray ray = q->levels[0].ray; /* that of the level: kept in registers */
  bool enters = true, oblique = false;
  uint top = 0, level = 0;
  for (;;) {
    if (enters || level != q->level) {
      level = q->level;
      ray = q->levels[level].ray;
      oblique = quantised_oblique(&ray);
      if (enters) d = level_begins(q, top);
      if (enters && level_scan_outside(q, &ray, scene)) return;
      enters = false;
    }
    if (d.on.leaves.bits == 0) {
      if ((d.on.next.lanes & 0xFF) == 0) {
        if (top == d.base) {
          if (!level_ends(q, &d, outer)) return;
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
      if (enters) outer[level] = d;
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
  (void)ray; /* the levels have it */
  descend(q, scene);
#else
  if (!scan_outside(q, ray, scene, scene->cast->outside)) descend(q, ray, scene);
#endif
}

#endif
