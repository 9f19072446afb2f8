/* An 8-wide bounding volume hierarchy: a ray meets eight child boxes, or eight primitives of a leaf's block, at once,
 * or one after the other where LANES is 1.
 *
 * Built with LANES (1 or 8), SLAB_QUERY, SLAB_KINDS as flat.cl, and SLAB_STACK: entries that the deepest way through
 * the tree can leave on the stack, so that it never overflows. */
#define STRIDE 8
#define SLAB_TREE 1
#include "query.h"

/* Where a ray goes on: a child, its meta, and where the ray enters it. */
typedef struct visit {
  uint child, meta;
  float enter;
} visit;

/* Children that the ray may touch at limit or before, as bits; enter[k] for those. A child's stretch contains that of
 * every gate below it, since rounding is monotone, so whatever a primitive's gate lets through gets through here. */
INLINE uint node_children(const ray_frame *ray, const global tree_node *node, float limit, float enter[TREE_WIDTH]) {
  uint bits = 0;
  for (uint part = 0; part < TREE_WIDTH; part += LANES) {
    real near[3], far[3], from, leave, hi;
    mask touched;
    box_planes(ray, &node->bounds[0][0] + part, near, far);
    if (ray->t_min < 0.0f) { /* for which box_may_touch holds nothing back */
      box_stretch(ray, near, far, &from, &leave, &hi);
      touched = slab_touches(from, leave, ray->t_min, limit);
      from = lanes_max(from, (real)(ray->t_min));
    } else {
      touched = box_may_touch(ray, near, far, limit, &from);
    }
    bits |= lanes_bits(touched) << part;
    lanes_store(from, enter + part);
  }
  return bits;
}

/* Pushes the children in bits, nearest last, so that it is taken first. */
INLINE uint push_children(const global tree_node *node, uint bits, const float enter[TREE_WIDTH], visit *stack,
                          uint top) {
  const uint base = top;
  for (; bits != 0; bits &= bits - 1) {
    uint lane = lowest_lane(bits), at = top++;
    visit v = {node->child[lane], node->meta[lane], enter[lane]};
    for (; SLAB_QUERY != SLAB_ANY && at > base && stack[at - 1].enter < v.enter; at--) stack[at] = stack[at - 1];
    stack[at] = v;
  }
  return top;
}

/* Blocks of one kind, one after the other. True when the ray is done. */
INLINE bool scan_blocks(const uint kind, query_state *q, const ray_frame *ray, const global float *blocks, uint first,
                        uint count, const cast_uniforms *cast) {
  const uint rows = primitive_rows(kind);
  for (uint n = 0; n < count; n++, first += TREE_BLOCK_UNITS(rows)) {
    const global float *block = blocks + (size_t)first * BLOCK_UNIT;
    const global uint *orders = (const global uint *)(block + rows * STRIDE);
    for (uint part = 0; part < TREE_WIDTH; part += LANES)
      if (query_block(q, kind, ray, block + part, 0, orders + part, first, cast)) return true;
  }
  return false;
}

INLINE bool scan_leaf(query_state *q, const ray_frame *ray, const global float *blocks, uint first, uint meta,
                      const cast_uniforms *cast) {
  const uint kind = TREE_LEAF_KIND(meta), count = TREE_LEAF_BLOCK_COUNT(meta);
#define SCAN_KIND(KIND) \
  if ((SLAB_KINDS >> KIND & 1) != 0 && kind == KIND) return scan_blocks(KIND, q, ray, blocks, first, count, cast)
  SCAN_KIND(SLAB_TRIANGLE);
  SCAN_KIND(SLAB_BOX);
  SCAN_KIND(SLAB_SPHERE);
  SCAN_KIND(SLAB_OBB);
#undef SCAN_KIND
  return false;
}

INLINE bool scan_outside(query_state *q, const ray_frame *ray, const global float *blocks, const cast_uniforms *cast) {
  const tree_outside p = cast->planes, b = cast->boxes;
  if ((SLAB_KINDS >> SLAB_PLANE & 1) != 0 && scan_blocks(SLAB_PLANE, q, ray, blocks, p.first, p.blocks, cast))
    return true;
  return (SLAB_KINDS >> SLAB_BOX & 1) != 0 && scan_blocks(SLAB_BOX, q, ray, blocks, b.first, b.blocks, cast);
}

INLINE void traverse(query_state *q, const ray_frame *ray, const global tree_node *nodes, const global float *blocks,
                     const cast_uniforms *cast) {
  visit stack[SLAB_STACK];
  uint top = 0;
  visit v = {0, TREE_INNER, ray->t_min};
  for (;;) {
    if (v.meta == TREE_INNER) {
      float enter[TREE_WIDTH];
      const global tree_node *node = nodes + v.child;
      top = push_children(node, node_children(ray, node, q->limit, enter), enter, stack, top);
    } else if (scan_leaf(q, ray, blocks, v.child, v.meta, cast)) {
      return;
    }
    do {
      if (top == 0) return;
      v = stack[--top];
    } while (v.enter > q->limit);
  }
}

/* As `flat`; nodes: the tree, its root first. */
kernel void wide(const global slab_ray *rays, global void *results, const global uint *offsets,
                 const global geometry_entry *table, const global float *blocks, const global slab_primitive_id *skips,
                 volatile global uint *invalid, const cast_uniforms cast, const global tree_node *nodes) {
  const size_t i = get_global_id(0);
  if (i >= cast.rays) return;
  const slab_ray given = query_ray(rays, &cast, i);
  const ray_frame ray = ray_prepare(&given);
  query_state q = query_begin(&ray, results, offsets, table, skips, invalid, &cast, i);
  if (ray.state == RAY_LIVE && !scan_outside(&q, &ray, blocks, &cast)) traverse(&q, &ray, nodes, blocks, &cast);
  query_end(&q, &ray, &given, table, blocks, &cast, results, i);
}
