/* Traversal of an 8-wide BVH in nodes of 80 bytes, one ray per work-item. It is for GPUs: what is read from memory and
 * kept in registers counts there, and the lanes are work-items already.
 *
 * Children are stored such that rays of any octant visit them in order of (child ^ octant), which is about front to
 * back. So nothing is sorted: the children of a node still to visit are one byte, and the stack has one entry per
 * level. The leaves of a node are tested before its inner children are visited, in any order: which of them are tested
 * is known before the first is.
 *
 * A round of the loop visits a node where no leaves are left, and then tests one primitive where some are. So rays of
 * a warp that test primitives do not wait for those that visit nodes, nor the other way round: a loop of its own for
 * the leaves took 1.2 times as long, by the steps of warps (docs/gpu.md).
 *
 * Built with LANES 1, SLAB_QUERY and SLAB_KINDS as flat.cl, and SLAB_STACK: the most levels of inner nodes. */
#define BVH_UNIT COMPRESSED_UNIT
#define SCENE_NODE compressed_node
#define SLAB_TREE 1
#include "nodes.h"
#include "quantised.h"

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
INLINE uint half_children(const bool oblique, const prepared_ray *ray, const quantised_axis axis[3], const node_rows *n,
                          bool last, float limit, uint found) {
  const uint4 a = n->row[2], b = n->row[3], c = n->row[4];
  const uint lower[3] = {last ? a.y : a.x, last ? a.w : a.z, last ? b.y : b.x};
  const uint upper[3] = {last ? b.w : b.z, last ? c.y : c.x, last ? c.w : c.z};
  return quantised_children(oblique, ray, axis, lower, upper, last ? 4 : 0, limit, found);
}

/* All of a node's children that it may overlap, as bits 0 to 7; bits above have no meaning. The rare rays that are not
 * oblique take a loop, which is less code and needs fewer registers. */
INLINE uint node_children(bool oblique, const prepared_ray *ray, const node_rows *n, float limit) {
  const uint origin[3] = {n->row[0].x, n->row[0].y, n->row[0].z};
  uint found = COMPRESSED_BIAS_BITS | ray->octant << 8; /* no constant, which compilers would put into each use */
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
  return found;
}

/* The kinds that the scene's leaves may be of. */
#define IN_BVH(shape, name, names, noun, rows, form, place, source) | (uint)SHAPE_IN_BVH_##place << (shape)
enum { LEAF_KINDS = SLAB_KINDS & (0 SHAPES(IN_BVH)) };
#undef IN_BVH

/* The COMPRESSED_UNITs of four leaves, one byte each, from their bytes of meta. Four bytes at a time: 8 - x has bit 3
 * where x, at most 7, is 0. */
INLINE uint leaf_units(uint meta) {
  const uint each = 0x01010101u, counts = meta & COMPRESSED_LEAF_BITS * each;
  uint units = 0;
#define ADD_UNITS(shape, name, names, noun, rows, form, place, source)                              \
  if ((LEAF_KINDS >> (shape)&1) != 0) {                                                             \
    const uint apart = (meta ^ COMPRESSED_LEAF(shape, 0) * each) >> 5 & 7 * each;                   \
    const uint is_it = LEAF_KINDS == 1 << (shape) ? each : (8 * each - apart) >> 3 & each;          \
    units += (counts & is_it * COMPRESSED_LEAF_BITS) * BLOCK_UNITS((uint)(rows), STRIDE, BVH_UNIT); \
  }
  SHAPES(ADD_UNITS)
#undef ADD_UNITS
  return units;
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

/* Tests the next primitive of leaves that are left. True when the ray is done. */
INLINE bool test_primitive(query_state *q, const prepared_ray *ray, node_leaves *l, const scene_view *scene) {
  if (COMPRESSED_LEAF_COUNT(l->meta) == 0) {
    const uint lane = lowest_lane(l->bits);
    l->meta = compressed_byte(lane < 4 ? l->first : l->last, lane % 4);
    l->place = l->begin + leaf_place(l->first, l->last, lane);
  }
  const uint meta = l->meta, place = l->place; /* an unused child takes the same way: compilers make less code of it */
  if (COMPRESSED_LEAF_COUNT(meta) <= 1) l->bits &= l->bits - 1;
  l->place += leaf_units((meta & ~COMPRESSED_LEAF_BITS) | 1);
  l->meta -= COMPRESSED_LEAF_COUNT(meta) != 0;
  if (COMPRESSED_LEAF_COUNT(meta) == 0) return false;
  return scan_leaf(q, ray, scene, compressed_leaf_kind(meta), place, 1);
}

INLINE void descend(query_state *q, const prepared_ray *ray, const scene_view *scene) {
  const bool oblique = quantised_oblique(ray);
  siblings stack[SLAB_STACK], next = {0, 0x101}; /* the root is child 0 of no node */
  node_leaves leaves = {0, 0, 0, 0, 0, 0};
  uint top = 0;
  for (;;) {
    if (leaves.bits == 0) {
      if ((next.lanes & 0xFF) == 0) {
        if (top == 0) return;
        COUNT(pop, top);
        next = stack[--top];
      }
      const uint child = first_child(next.lanes & 0xFF, ray->octant);
      const uint index = next.first + popcount(next.lanes >> 8 & (child - 1));
      COUNT(visit, index);
      next.lanes ^= child;
      if ((next.lanes & 0xFF) != 0) {
        stack[top++] = next;
        COUNT(push, top);
      }
      const node_rows n = node_load(scene->nodes, index);
      const uint inner = compressed_byte(n.row[0].w, 3);
      const uint bits = node_children(oblique, ray, &n, q->limit);
      leaves.bits = bits & ~inner & 0xFF;
      leaves.begin = n.row[1].y;
      leaves.first = n.row[1].z;
      leaves.last = n.row[1].w;
      next.first = n.row[1].x;
      next.lanes = inner << 8 | (bits & inner);
    }
    if (leaves.bits != 0 && test_primitive(q, ray, &leaves, scene)) return;
  }
}

/* The arguments of `flat`, and nodes: the BVH, its root first. */
kernel void KERNEL_NAME(compressed)(WORK_ITEM const global slab_ray *rays, global void *results,
                                    const global uint *offsets, const global geometry_entry *table, BLOCKS_PARAMETERS,
                                    const global slab_primitive_id *skips, volatile global uint *invalid,
                                    const cast_uniforms cast, NODES_PARAMETERS) {
  const scene_view scene = {table, BLOCKS_GIVEN, NODES_GIVEN, &cast};
  LISTS_HELD(1)
  const cast_arrays arrays = {rays, results, offsets, skips, invalid, 0 LISTS_GIVEN(get_global_id(0))};
  size_t i = get_global_id(0) * cast.rays_each;
  const size_t end = i + cast.rays_each < cast.rays ? i + cast.rays_each : cast.rays;
  hit_share share = {0, 0};
  for (; i < end; i++) {
    const slab_ray given = query_ray(&arrays, &cast, i);
    const prepared_ray ray = ray_prepare(&given);
    query_state q = query_begin(&ray, &arrays, &scene, i, get_global_id(0));
    if (ray.state == RAY_LIVE && !scan_outside(&q, &ray, &scene, cast.outside)) descend(&q, &ray, &scene);
    query_end(&q, &ray, &given, &arrays, &scene, i, &share);
  }
}
