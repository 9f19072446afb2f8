/* An 8-wide bounding volume hierarchy: a ray meets eight child boxes, or eight primitives of a leaf's block, at once,
 * or one after the other where LANES is 1.
 *
 * `wide` takes rays through one after the other, `turns` several of them in turns, one step each, which hides the time
 * that memory takes where rays go different ways; where they go the same way, one after the other is faster. Both are
 * in one program, which takes a driver as long to load as one with either alone (PoCL 3.1: 55 ms).
 *
 * Built with LANES (1 or 8), SLAB_QUERY, SLAB_KINDS as flat.cl, SLAB_STACK: entries that the deepest way through the
 * tree can leave on the stack, so that it never overflows; SLAB_WALKS: rays that take turns; 1 where LANES is 1, and
 * then there is no `turns`; and SLAB_ABREAST: of these, how many meet triangles at once, 1 or 2. */
#define STRIDE 8
#define TREE_UNIT BLOCK_UNIT
#define SLAB_TREE 1
#include "frames.h"
#include "nodes.h"
#include "occluder.h"
#include "tree.h"
#if SLAB_WALKS > 1
#include "turns.h"
#endif
#if SLAB_ABREAST > 1
#include "two.h"
#endif

/* What a ray has met on its way. */
typedef struct walk {
  query_state q;
  uint number; /* of the ray */
  bool more;   /* there is more to be met */
} walk;

/* False when the ray is done. */
INLINE bool walk_leaf(walk *w, const ray_frame *ray, scene_blocks blocks, uint first, uint meta,
                      const cast_uniforms *cast) {
  return !scan_leaf(&w->q, ray, blocks, TREE_LEAF_KIND(meta), first, TREE_LEAF_BLOCK_COUNT(meta), cast);
}

/* nth: of query_begin. */
INLINE void walk_begin(walk *w, uint number, size_t nth, const ray_frame *ray, global void *results,
                       const global uint *offsets, const global geometry_entry *table, scene_blocks blocks,
                       const global slab_primitive_id *skips, volatile global uint *invalid,
                       const cast_uniforms *cast) {
  w->number = number;
  w->q = query_begin(ray, results, offsets, table, skips, invalid, cast, number, nth);
  w->more = ray->state == RAY_LIVE && !scan_outside(&w->q, ray, blocks, cast);
}

INLINE void walk_end(const walk *w, const ray_frame *ray, const global slab_ray *rays, global void *results,
                     const global geometry_entry *table, scene_blocks blocks, const cast_uniforms *cast,
                     hit_share *share) {
  const slab_ray given = query_ray(rays, cast, w->number);
  query_end(&w->q, ray, &given, table, blocks, cast, results, w->number, share);
}

/* ---- one after the other ---- */

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
INLINE bool walk_on(walk *w, tree_path *path, const ray_frame *ray, scene_nodes nodes, scene_blocks blocks,
                    const cast_uniforms *cast) {
  const uint at = path->next.child, meta = path->next.meta;
  if (TREE_IS_INNER(meta)) {
    float enter[TREE_WIDTH];
    const uint bits = node_children(ray, node_at(nodes, at), w->q.limit, enter);
    return tree_down(path, nodes, blocks, at, bits, enter, w->q.limit);
  }
  return walk_leaf(w, ray, blocks, at, meta, cast) && tree_pop(path, w->q.limit);
}

/* The block that blocked the ray before, where any hit will do. */
INLINE void walk_occluder(walk *w, occluder *last, const ray_frame *ray, scene_blocks blocks,
                          const cast_uniforms *cast) {
  if (SLAB_QUERY != SLAB_ANY || !w->more || !occluder_is_asked(last)) return;
  w->more = walk_leaf(w, ray, blocks, last->where, TREE_LEAF(last->kind, 1), cast);
  occluder_judge(last, !w->more);
}

/* The whole tree. */
INLINE void walk_all(walk *w, occluder *last, const ray_frame *ray, scene_nodes nodes, scene_blocks blocks,
                     const cast_uniforms *cast, tree_visit *stack) {
  tree_path path;
  if (!w->more) return;
  tree_begin(&path, stack);
  while (w->more) w->more = walk_on(w, &path, frame_kept(ray), nodes, blocks, cast);
  if (SLAB_QUERY == SLAB_ANY && w->q.order != SLAB_MISS)
    occluder_remember(last, TREE_LEAF_KIND(path.next.meta), w->q.where, w->q.lane);
}

/* As `flat`; nodes: the tree, its root first; left: of each packet whether its rays are still to be cast, where
 * cast.packet says how many it has; sorted: of `turns`. */
KERNEL_HINT kernel void wide(const global slab_ray *rays, global void *results, const global uint *offsets,
                             const global geometry_entry *table, BLOCKS_PARAMETERS,
                             const global slab_primitive_id *skips, volatile global uint *invalid,
                             const cast_uniforms cast, NODES_PARAMETERS, const global uchar *left,
                             const global uint *sorted) {
  const scene_blocks blocks = BLOCKS_GIVEN;
  const scene_nodes nodes = NODES_GIVEN;
  size_t next = get_global_id(0) * cast.rays_each;
  const size_t end = next + cast.rays_each < cast.rays ? next + cast.rays_each : cast.rays;
  tree_visit stack[SLAB_STACK];
  occluder last = occluder_none();
  hit_share share = {0, 0};
  frames prepared;
  prepared.first = prepared.count = 0;
  (void)sorted;
  for (; next < end; next++) {
    walk w;
    if (cast.packet != 0 && left[next / cast.packet] == 0) continue;
    const ray_frame *ray = frames_take(&prepared, rays, 0, &cast, next, end);
    walk_begin(&w, (uint)next, get_global_id(0), ray, results, offsets, table, blocks, skips, invalid, &cast);
    walk_occluder(&w, &last, frame_kept(ray), blocks, &cast);
    walk_all(&w, &last, ray, nodes, blocks, &cast, stack);
    walk_end(&w, ray, rays, results, table, blocks, &cast, &share);
  }
}

#if SLAB_WALKS > 1

/* ---- in turns ---- */

/* One of the rays that take turns. */
typedef struct turn {
  ray_frame ray;
  walk on;
  turns_path path;
  uint nearest[3]; /* the row of the plane that is met first along each axis */
  bool begun;      /* there is a ray */
} turn;

INLINE void turn_root(turn *t, turns_stack *stack) {
  turns_begin(&t->path, stack);
  if (!t->on.more) t->path.meta = 0;
  UNROLL for (uint i = 0; i < 3; i++) t->nearest[i] = (t->ray.down[i] != 0 ? i + 3 : i) * STRIDE;
}

/* The planes as box_planes has them, by rows that are chosen once a ray: chosen here they cost 1 to 6 %. */
INLINE void turn_node(turn *t, scene_nodes nodes) {
  const uint at = t->path.child;
  const global float *bounds = &node_at(nodes, at)->bounds[0][0];
  real near[3], far[3], enter;
  UNROLL for (uint i = 0; i < 3; i++) {
    near[i] = lanes_load(bounds + t->nearest[i]);
    far[i] = lanes_load(bounds + ((2 * i + 3) * STRIDE - t->nearest[i]));
  }
  const mask touched = bounds_met(&t->ray, near, far, t->on.q.limit, &enter);
  turns_push(&t->path, nodes, at, enter, touched);
}

/* Goes on with what was left for later. */
INLINE void turn_pop(turn *t, scene_nodes nodes, scene_blocks blocks) {
  turns_pop(&t->path, nodes, blocks, t->on.q.limit);
}

/* Turn k goes on the list of those that come to a node next, or on that of the others: without a branch, since which it
 * is nobody can foresee. */
INLINE void turn_enlist(uint k, uint meta, uint *inner, uint *inners, uint *other, uint *others) {
  const uint again = TREE_IS_INNER(meta) ? 1 : 0;
  inner[*inners] = other[*others] = k;
  *inners += again;
  *others += 1 - again;
}

/* Of rays that are sorted results lie anywhere; the small ones in the cache. */
INLINE void turn_fetch_result(const turn *t, const global void *results, const cast_uniforms *cast) {
  const size_t size = SLAB_QUERY == SLAB_CLOSEST    ? sizeof(slab_hit)
                      : SLAB_QUERY == SLAB_INTERVAL ? sizeof(slab_interval)
                                                    : 0;
  if (size != 0)
    memory_fetch((size_t)((const global uint *)results + cast->at[AT_RESULTS]) + (size_t)t->on.number * size,
                 (uint)size);
  if (SLAB_QUERY == SLAB_ALL) memory_fetch((size_t)t->on.q.list.hits, sizeof(slab_hit));
}

/* The leaf that is next, then what comes after it. */
INLINE void turn_leaf(turn *t, scene_nodes nodes, scene_blocks blocks, const cast_uniforms *cast) {
  if (!walk_leaf(&t->on, &t->ray, blocks, t->path.child, t->path.meta, cast)) t->path.top = 0;
  turn_pop(t, nodes, blocks);
}

#if SLAB_ABREAST > 1

/* What the next block of its leaf offers a ray, then what comes after it. */
INLINE void turn_take(turn *t, mask hit, real at, scene_nodes nodes, scene_blocks blocks, const cast_uniforms *cast) {
  turns_path *path = &t->path;
  const global float *block = block_at(blocks, (size_t)path->child * TREE_UNIT);
  const global uint *orders = (const global uint *)(block + TRIANGLE_ROWS * STRIDE);
  const bool done =
      lanes_any(hit) && query_offer(&t->on.q, SLAB_TRIANGLE, &t->ray, hit, at, at, 0, orders, path->child, cast);
  path->child += BLOCK_UNITS(TRIANGLE_ROWS, STRIDE, TREE_UNIT);
  path->meta--; /* which counts blocks */
  if (done) path->top = 0;
  if (done || TREE_LEAF_BLOCK_COUNT(path->meta) == 0) turn_pop(t, nodes, blocks);
}

/* A block of triangles each. */
INLINE void turns_abreast(turn *a, turn *b, scene_nodes nodes, scene_blocks blocks, const cast_uniforms *cast) {
  const triangle_rows rows_a = triangle_load(&a->ray, block_at(blocks, (size_t)a->path.child * TREE_UNIT)),
                      rows_b = triangle_load(&b->ray, block_at(blocks, (size_t)b->path.child * TREE_UNIT));
  const two_frame rays = two_rays(&a->ray, &b->ray);
  const two_rows rows = two_load(&rows_a, &rows_b);
  const uint cull = SLAB_QUERY == SLAB_INTERVAL ? SLAB_CULL_NONE : cast->cull;
  two_real t;
  const two_mask hit = triangle_met(&rays, &rows, two_of(a->on.q.limit, b->on.q.limit), cull, &t);
  turn_take(a, hit.lo, t.lo, nodes, blocks, cast);
  turn_take(b, hit.hi, t.hi, nodes, blocks, cast);
}

#endif

/* The arguments of `wide`; sorted: as of frames.h. */
KERNEL_HINT kernel void turns(const global slab_ray *rays, global void *results, const global uint *offsets,
                              const global geometry_entry *table, BLOCKS_PARAMETERS,
                              const global slab_primitive_id *skips, volatile global uint *invalid,
                              const cast_uniforms cast, NODES_PARAMETERS, const global uchar *left,
                              const global uint *sorted) {
  const scene_blocks blocks = BLOCKS_GIVEN;
  const scene_nodes nodes = NODES_GIVEN;
  size_t next = get_global_id(0) * cast.rays_each;
  const size_t end = next + cast.rays_each < cast.rays ? next + cast.rays_each : cast.rays;
  frames prepared;
  prepared.first = prepared.count = 0;
  (void)left; /* a cast has no packets then */
  hit_share share = {0, 0};
  turn turns[SLAB_WALKS];
  turns_stack stacks[SLAB_WALKS];
  /* Which turns come to a node next, and which to a leaf or to their end: these wait until they are some, since a loop
   * costs at its end. */
  uint inner[SLAB_WALKS], other[SLAB_WALKS], inners = 0, others = SLAB_WALKS;
  for (uint k = 0; k < SLAB_WALKS; k++) {
    other[k] = k;
    turns[k].begun = false;
    turns[k].path.meta = 0;
  }
  while (inners + others > 0) {
    /* In two loops, of either of which processors have several rounds in hand at once: of one for both they have less
     * than two, and rays take 1.03 to 1.07 times as long (PoCL 3.1, Zen 3). */
    uint count = inners;
    inners = 0;
    for (uint n = 0; n < count; n++) turn_node(&turns[inner[n]], nodes);
    for (uint n = 0; n < count; n++) {
      const uint k = inner[n];
      turn_pop(&turns[k], nodes, blocks);
      turn_enlist(k, turns[k].path.meta, inner, &inners, other, &others);
    }
    if (others < SLAB_WALKS / 4 && inners != 0) continue;
    count = others;
    others = 0;
    uint alone = SLAB_WALKS; /* the turn that came to triangles, and waits for another that does */
    for (uint n = 0; n < count; n++) {
      const uint k = other[n];
      turn *t = &turns[k];
      if (t->path.meta == 0) {
        if (t->begun) walk_end(&t->on, &t->ray, rays, results, table, blocks, &cast, &share);
        t->begun = next < end;
        if (!t->begun) continue;
        t->ray = *frames_take(&prepared, rays, sorted, &cast, next, end);
        walk_begin(&t->on, (uint)ray_number(sorted, next++), get_global_id(0) * SLAB_WALKS + k, &t->ray, results,
                   offsets, table, blocks, skips, invalid, &cast);
        turn_root(t, &stacks[k]);
        if (sorted != 0) turn_fetch_result(t, results, &cast);
#if SLAB_ABREAST > 1
      } else if (TREE_LEAF_KIND(t->path.meta) == SLAB_TRIANGLE && alone == SLAB_WALKS) {
        alone = k;
        continue;
      } else if (TREE_LEAF_KIND(t->path.meta) == SLAB_TRIANGLE) {
        turns_abreast(&turns[alone], t, nodes, blocks, &cast);
        turn_enlist(alone, turns[alone].path.meta, inner, &inners, other, &others);
        alone = SLAB_WALKS;
#endif
      } else {
        turn_leaf(t, nodes, blocks, &cast);
      }
      turn_enlist(k, t->path.meta, inner, &inners, other, &others);
    }
    if (alone == SLAB_WALKS) continue;
    if (inners + others == 0) turn_leaf(&turns[alone], nodes, blocks, &cast);
    turn_enlist(alone, turns[alone].path.meta, inner, &inners, other, &others);
  }
}

#endif
