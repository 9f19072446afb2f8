/* An 8-wide bounding volume hierarchy: a ray meets eight child boxes, or eight primitives of a leaf's block, at once,
 * or one after the other where LANES is 1.
 *
 * Built with LANES (1 or 8), SLAB_QUERY, SLAB_KINDS as flat.cl, SLAB_STACK: entries that the deepest way through the
 * tree can leave on the stack, so that it never overflows; and SLAB_WALKS: rays that a work-item takes through the tree
 * in turns, one step each. Several hide the time that memory takes where rays go different ways; where they go the same
 * way, one after the other is faster. */
#define STRIDE 8
#define TREE_UNIT BLOCK_UNIT
#define SLAB_TREE 1
#include "frames.h"
#include "nodes.h"
#include "tree.h"

/* A ray on its way. */
typedef struct walk {
  ray_frame ray;
  query_state q;
  bool begun, more; /* there is a ray; it has a next visit */
  size_t number;    /* of the ray */
  tree_path path;
} walk;

/* Children that the ray may touch at limit or before, as bits; enter[k] for those. */
INLINE uint node_children(const ray_frame *ray, const global tree_node *node, float limit, float enter[TREE_WIDTH]) {
  uint bits = 0;
  for (uint part = 0; part < TREE_WIDTH; part += LANES) {
    real near[3], far[3], from;
    box_planes(ray, &node->bounds[0][0] + part, near, far);
    bits |= lanes_bits(bounds_met(ray, near, far, limit, &from)) << part;
    lanes_store(from, enter + part);
  }
  return bits;
}

/* One node, or one leaf. False when the ray is done. */
INLINE bool walk_on(walk *w, const global tree_node *nodes, const global float *blocks, const cast_uniforms *cast) {
  const uint at = w->path.next.child, meta = w->path.next.meta;
  if (TREE_IS_INNER(meta)) {
    float enter[TREE_WIDTH];
    const uint bits = node_children(&w->ray, nodes + at, w->q.limit, enter);
    return tree_down(&w->path, nodes, blocks, at, bits, enter, w->q.limit);
  }
  return !scan_leaf(&w->q, &w->ray, blocks, TREE_LEAF_KIND(meta), at, TREE_LEAF_BLOCK_COUNT(meta), cast) &&
         tree_pop(&w->path, w->q.limit);
}

/* ---- the whole ---- */

INLINE void walk_begin(walk *w, size_t number, const ray_frame *ray, global void *results, const global uint *offsets,
                       const global geometry_entry *table, const global float *blocks,
                       const global slab_primitive_id *skips, volatile global uint *invalid, const cast_uniforms *cast,
                       tree_visit *stack) {
  w->number = number;
  w->ray = *ray;
  w->q = query_begin(&w->ray, results, offsets, table, skips, invalid, cast, number);
  tree_begin(&w->path, stack);
  w->more = w->ray.state == RAY_LIVE && !scan_outside(&w->q, &w->ray, blocks, cast);
}

INLINE void walk_end(walk *w, const global slab_ray *rays, global void *results, const global geometry_entry *table,
                     const global float *blocks, const cast_uniforms *cast) {
  const slab_ray given = query_ray(rays, cast, w->number);
  query_end(&w->q, &w->ray, &given, table, blocks, cast, results, w->number);
}

#if SLAB_WALKS > 1
/* Of rays that are sorted results lie anywhere; the small ones in the cache. */
INLINE void walk_fetch_result(const walk *w, const global void *results, const cast_uniforms *cast) {
  const size_t size = SLAB_QUERY == SLAB_CLOSEST    ? sizeof(slab_hit)
                      : SLAB_QUERY == SLAB_INTERVAL ? sizeof(slab_interval)
                                                    : 0;
  if (size != 0)
    memory_fetch((size_t)((const global uint *)results + cast->at[AT_RESULTS]) + w->number * size, (uint)size);
  if (SLAB_QUERY == SLAB_ALL) memory_fetch((size_t)w->q.hits, sizeof(slab_hit));
}
#endif

/* As `flat`; nodes: the tree, its root first; left: of each packet whether its rays are still to be cast, where
 * cast.packet says how many it has; sorted: as of frames.h, of rays in turns. */
kernel void wide(const global slab_ray *rays, global void *results, const global uint *offsets,
                 const global geometry_entry *table, const global float *blocks, const global slab_primitive_id *skips,
                 volatile global uint *invalid, const cast_uniforms cast, const global tree_node *nodes,
                 const global uchar *left, const global uint *sorted) {
  size_t next = get_global_id(0) * cast.rays_each;
  const size_t end = next + cast.rays_each < cast.rays ? next + cast.rays_each : cast.rays;
  tree_visit stacks[SLAB_WALKS][SLAB_STACK];
  frames prepared;
  prepared.first = prepared.count = 0;
#if SLAB_WALKS == 1
  (void)sorted;
  for (; next < end; next++) {
    walk w;
    if (cast.packet != 0 && left[next / cast.packet] == 0) continue;
    const ray_frame ray = frames_take(&prepared, rays, 0, &cast, next, end);
    walk_begin(&w, next, &ray, results, offsets, table, blocks, skips, invalid, &cast, stacks[0]);
    while (w.more) w.more = walk_on(&w, nodes, blocks, &cast);
    walk_end(&w, rays, results, table, blocks, &cast);
  }
#else
  (void)left; /* a cast has no packets then */
  walk walks[SLAB_WALKS];
  uint walking[SLAB_WALKS], count = SLAB_WALKS; /* the first `count` entries name the walks that go on */
  for (uint k = 0; k < SLAB_WALKS; k++) {
    walking[k] = k;
    walks[k].begun = walks[k].more = false;
  }
  while (count > 0)
    for (uint k = 0; k < count; k++) {
      walk *w = &walks[walking[k]];
      if (w->more) {
        w->more = walk_on(w, nodes, blocks, &cast);
        continue;
      }
      if (w->begun) walk_end(w, rays, results, table, blocks, &cast);
      w->begun = next < end;
      if (!w->begun) {
        walking[k] = walking[--count];
        continue;
      }
      const ray_frame ray = frames_take(&prepared, rays, sorted, &cast, next, end);
      walk_begin(w, ray_number(sorted, next++), &ray, results, offsets, table, blocks, skips, invalid, &cast,
                 stacks[walking[k]]);
      if (sorted != 0) walk_fetch_result(w, results, &cast);
    }
#endif
}
