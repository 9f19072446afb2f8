/* Traversal of an 8-wide BVH. A ray is tested against eight child boxes, or the eight primitives of a leaf's block, at
 * once; where LANES is 1, one after the other.
 *
 * `wide` casts rays one after the other. `interleaved` has several walkers per work-item and does one step of
 * each in turn. This hides memory latency where rays diverge. Where rays are coherent, one after the other is faster.
 * Both kernels are in one program. A driver loads it in the same time as a program with one of them (PoCL 3.1: 55 ms).
 *
 * Built with LANES (1 or 8), and SLAB_QUERY and SLAB_KINDS as flat.cl. SLAB_STACK: the most entries that a traversal of
 * this BVH can put on the stack, so that it never overflows. SLAB_INSTANCES: 1 where the scene has some.
 * SLAB_WALKERS: walkers per work-item; 1 without `interleaved`, as where LANES is 1 or with SLAB_COUNTED.
 * SLAB_RAY_PAIRS: how many of these rays are tested against triangles at once, 1 or 2, with instances 1.
 * SLAB_INTERLEAVED_ALONE: 1 where there is no `wide`. */
#define STRIDE 8
#define BVH_UNIT BLOCK_UNIT
#define SLAB_TREE 1
#include "walk/counted.h"
#include "walk/prepared_rays.h"
#include "walk/wide.h"
#if SLAB_WALKERS > 1
#include "walk/interleaved.h"
#endif
#if SLAB_RAY_PAIRS > 1
#include "maths/ray_pair.h"
#endif

#ifdef SLAB_TRACE
#define TRACE_CAST wide_cast
#include "walk/trace.h"
#else

/* nth: the argument walk of query_begin. */
INLINE void traversal_begin(traversal *w, uint number, size_t nth, const prepared_ray *ray, ray_depths *depths,
                            const cast_arrays *arrays, const scene_view *scene) {
  w->number = number;
  w->q = query_begin(ray, arrays, scene, number, nth);
  depths_begin(&w->q, depths, ray, scene);
  w->more = ray->state == RAY_LIVE && !scene_scan_outside(&w->q, ray, scene);
}

INLINE void traversal_end(const traversal *w, const prepared_ray *ray, const cast_arrays *arrays,
                          const scene_view *scene, hit_share *share) {
  const slab_ray given = query_ray(arrays, scene->cast, w->number);
  query_end(&w->q, ray, &given, arrays, scene, w->number, share);
}

#if !SLAB_INTERLEAVED_ALONE

/* The arguments of `flat`, and more. nodes: the BVH, its root first. fallback: a byte per packet: whether its rays are
 * still to be cast. It is used where cast.packet, the number of rays per packet, is not 0. sorted: as in
 * prepared_rays.h, for `interleaved`, and for SLAB_ALL where packets may be sorted. */
KERNEL_HINT kernel void KERNEL_NAME(wide)(WORK_ITEM const global slab_ray *rays, global void *results,
                                          const global uint *offsets, const global geometry_entry *table,
                                          BLOCKS_PARAMETERS, const global slab_primitive_id *skips,
                                          volatile global uint *invalid, const cast_uniforms cast, NODES_PARAMETERS,
                                          const global uchar *fallback,
                                          const global uint *sorted OWN_PARAMETERS COUNTED_PARAMETERS) {
  const scene_view scene = {table, BLOCKS_GIVEN, NODES_GIVEN, &cast, false};
  deferred_hit lists[LISTS_HELD(1)];
  const size_t walk = FIRST_WALK(1);
  cast_arrays arrays = {rays, results, offsets, skips, invalid, SLAB_QUERY == SLAB_ALL ? sorted : 0 OWN_GIVEN};
  lists_given(&arrays, lists, walk);
  size_t next = get_global_id(0) * cast.rays_each;
  COUNTED_RAYS(ray_count, cast);
  const size_t end = next + cast.rays_each < ray_count ? next + cast.rays_each : ray_count;
  bvh_visit stack[SLAB_STACK];
  ray_depths depths;
  occluder last = occluder_none();
  hit_share share = {0, 0};
  prepared_rays prepared;
  prepared.first = prepared.count = 0;
  (void)sorted;
  for (; next < end; next++) {
    traversal w;
    if (cast.packet != 0 && (fallback[next / cast.packet] & PACKET_LEFT) == 0) continue;
    const prepared_ray *ray = &prepared_rays_take(&prepared, &arrays, &cast, next, end)->ray;
    traversal_begin(&w, (uint)ray_number(arrays.sorted, next), walk, ray, &depths, &arrays, &scene);
    traversal_occluder(&w, &last, prepared_kept(ray), &scene);
    traversal_run(&w, &last, ray, &scene, stack);
    traversal_end(&w, ray, &arrays, &scene, &share);
  }
}

#endif

#if SLAB_WALKERS > 1

/* ---- interleaved ---- */

/* Places of the ring of rays at nodes. They are counted on and on, so their number is a power of two. */
#define RING_PLACES (SLAB_WALKERS <= 16 ? 16 : 32)
#if SLAB_WALKERS > 32
#error "the ring has no place for some rays"
#endif

/* The most rays at nodes that do their next step together, and the fewest that do while others wait. With four at most
 * rays take 1.01 times as long, with two 1.05 to 1.13 times; where eight have to be left, 1.0 to 1.07 times (a Xeon
 * with AVX-512). */
#define NODES_MOST 6u
#define NODES_LEAST 4u

/* One of the rays that a work-item traverses in turn. */
typedef struct walker {
  interleaved_ray ray;
  traversal on;
  interleaved_path path;
  uint near[3], far[3]; /* the rows of the planes that are intersected first and last along each axis */
  uint number;          /* among the walkers        */
  bool begun;           /* it holds a ray */
} walker;

/* The depth where the traversal is has become another. */
INLINE void walker_turn(walker *t) {
  interleaved_turn(&t->ray, &t->on.q);
  /* From one word: dir_is_negative has just been copied in two parts, and as a vector it would wait for both. */
  const uint octant = interleaved_here(&t->ray)->octant;
  UNROLL for (uint i = 0; i < 3; i++) {
    t->near[i] = (i + 3 * (octant >> i & 1)) * STRIDE;
    t->far[i] = (2 * i + 3) * STRIDE - t->near[i];
  }
}

INLINE void walker_root(walker *t, const scene_view *scene) {
  interleaved_begin(&t->path, scene);
  interleaved_ungated(&t->path, &t->on.q, scene);
  if (!t->on.more) t->path.meta = 0;
  walker_turn(t);
}

/* Tests the children of the next node. It loads planes as box_planes does, from rows that are chosen once per ray.
 * Choosing them here costs 1 to 6 %. Few rays have a t_min below 0. Loaded for them in another way, each load is part
 * of an operation for the rest: else compilers move equal loads in front of the branch. */
INLINE void walker_node(walker *t, const scene_view *scene) {
  const prepared_ray *ray = interleaved_here(&t->ray);
  const global float *bounds = t->path.at;
  real near[3], far[3], enter;
  mask overlapped;
  COUNT(nodes, 1);
  if (ray->t_min >= 0.0f) {
    UNROLL for (uint i = 0; i < 3; i++) {
      near[i] = lanes_load(bounds + t->near[i]);
      far[i] = lanes_load(bounds + t->far[i]);
    }
    overlapped = box_may_overlap(ray, near, far, t->on.q.limit, &enter);
  } else {
    box_planes(ray, bounds, near, far);
    overlapped = bounds_overlap_below(ray, near, far, t->on.q.limit, &enter);
  }
  interleaved_others(&t->path, &t->on.q, scene);
  interleaved_push(&t->path, scene, enter, overlapped);
}

/* Pops the next child from the stack. */
INLINE void walker_pop(walker *t, const scene_view *scene) { interleaved_pop(&t->path, scene, t->on.q.limit); }

/* Prefetches where the result of a ray goes, since results of sorted rays are scattered. Small results are not
 * prefetched: they stay in the cache. */
INLINE void in_flight_fetch_result(const walker *t, const cast_arrays *arrays, const cast_uniforms *cast) {
  const size_t size = SLAB_QUERY == SLAB_CLOSEST    ? sizeof(slab_hit)
                      : SLAB_QUERY == SLAB_INTERVAL ? sizeof(slab_interval)
                                                    : 0;
  if (size != 0)
    memory_fetch((size_t)((const global uint *)arrays->results + cast->at[AT_RESULTS]) + (size_t)t->on.number * size,
                 (uint)size);
  if (SLAB_QUERY == SLAB_ALL) memory_fetch((size_t)t->on.q.list.hits, sizeof(slab_hit));
}

/* Tests the next leaf, then pops. */
INLINE void walker_leaf(walker *t, const scene_view *scene) {
  if (!traversal_leaf(&t->on, interleaved_here(&t->ray), scene, t->path.child, t->path.meta))
    interleaved_stop(&t->path);
  walker_pop(t, scene);
}

#if SLAB_RAY_PAIRS > 1

/* Takes the hits of the next block of a ray's leaf. Pops after the last block, or when the ray is done. */
INLINE void walker_take(walker *t, mask hit, real at, const scene_view *scene) {
  interleaved_path *path = &t->path;
  const global uint *global_ids = (const global uint *)(path->at + TRIANGLE_FLOATS * STRIDE);
  const bool done = lanes_any(hit) && query_offer(&t->on.q, SLAB_TRIANGLE, interleaved_here(&t->ray), hit, at, at, 0, 0,
                                                  global_ids, path->child, scene);
  path->child += BLOCK_UNITS(TRIANGLE_FLOATS, STRIDE, BVH_UNIT);
  path->meta--; /* its lowest bits count blocks */
  path->at = block_at(scene->blocks, (size_t)path->child * BVH_UNIT);
  if (done) interleaved_stop(path);
  if (done || BVH_LEAF_BLOCK_COUNT(path->meta) == 0) walker_pop(t, scene);
}

#if HAS_CLOSED
/* Tests one ray against a block of triangles with closed edges. */
INLINE void walker_closed(walker *t, uint rules, const scene_view *scene) {
  real at;
  const mask hit = closed_surface(interleaved_here(&t->ray), t->path.at, t->on.q.limit, rules, &at);
  walker_take(t, hit, at, scene);
}
#endif

/* Tests two rays, each against a block of triangles. */
INLINE void walker_pair(walker *a, walker *b, const scene_view *scene) {
  const prepared_ray *ray_a = interleaved_here(&a->ray), *ray_b = interleaved_here(&b->ray);
  const uint rules = scene->cast->rules & (SLAB_QUERY == SLAB_INTERVAL ? RULE_CLOSED : ~0u);
#if HAS_CLOSED
  if (CLOSED_EDGES(rules)) {
    walker_closed(a, rules, scene);
    walker_closed(b, rules, scene);
    return;
  }
#endif
  const triangle_rows rows_a = triangle_load(ray_a, a->path.at), rows_b = triangle_load(ray_b, b->path.at);
  const prepared_pair rays = pair_of_rays(ray_a, ray_b);
  const pair_rows rows = pair_load(&rows_a, &rows_b);
  pair_real t;
  const pair_mask hit = triangle_intersect(&rays, &rows, pair_of(a->on.q.limit, b->on.q.limit), rules, &t);
  walker_take(a, hit.lo, t.lo, scene);
  walker_take(b, hit.hi, t.hi, scene);
}

#endif

/* The walkers of a work-item, and lists of them by their next step. Arrays stay in the kernel. */
typedef struct walkers {
  walker *rays;
  prepared_rays *prepared;
  walker **inner;    /* those at a node or a block of gates: a ring, since memory fetched first is there first */
  walker **other;    /* all others, until walker_sort puts them on the lists of those */
  walker **leaf;     /* at a leaf, */
  walker **instance; /* at an instance, */
  walker **end;      /* at the end of a model, */
  walker **done;     /* or that have ended */
  uint first, last;  /* the ring holds rays from the first up to the last, counted on and on */
  uint others, leaves, instances, ends, dones; /* on each other list */
  size_t next, all;                            /* the rays that are still to be cast */
  size_t walks;                                /* the first of their arguments walk of query_begin */
} walkers;

INLINE void walker_begin(walkers *f, interleaved_entry *stacks) {
  f->prepared->first = f->prepared->count = 0;
  f->first = f->last = 0;
  f->others = SLAB_WALKERS;
  for (uint k = 0; k < SLAB_WALKERS; k++) {
    f->other[k] = &f->rays[k];
    f->rays[k].number = k;
    f->rays[k].begun = false;
    f->rays[k].path.meta = 0;
    f->rays[k].path.stack = stacks + k * INTERLEAVED_ENTRIES;
  }
}

/* Puts a ray on the list of its next step. It has no branch, since the choice is unpredictable. */
INLINE void walker_enlist(walkers *f, walker *t) {
  const uint inner = interleaved_is_inner(t->path.meta);
  f->inner[f->last % RING_PLACES] = f->other[f->others] = t;
  f->last += inner;
  f->others += 1 - inner;
}

/* Makes lists of the rays that are not at nodes, without a branch too. */
INLINE void walker_sort(walkers *f) {
  const uint count = f->others;
  f->others = f->leaves = f->instances = f->ends = f->dones = 0;
  for (uint n = 0; n < count; n++) {
    walker *t = f->other[n];
    const uint meta = t->path.meta, instance = SLAB_INSTANCES && meta == VISIT_INSTANCE ? 1 : 0,
               end = SLAB_INSTANCES && meta == VISIT_END ? 1 : 0, done = meta == 0 ? 1 : 0;
    f->leaf[f->leaves] = f->done[f->dones] = t;
    if (SLAB_INSTANCES) f->instance[f->instances] = f->end[f->ends] = t;
    f->instances += instance;
    f->ends += end;
    f->dones += done;
    f->leaves += 1 - instance - end - done;
  }
}

/* Does the next step of the first rays at nodes. Two loops, since processors execute several rounds of each at once. Of
 * one loop for both steps they execute less than two rounds at once, and rays take 1.03 to 1.07 times as long (PoCL
 * 3.1, Zen 3). */
INLINE void walker_nodes(walkers *f, const scene_view *scene, uint count) {
  const uint first = f->first;
  f->first += count;
  for (uint n = 0; n < count; n++) walker_node(f->inner[(first + n) % RING_PLACES], scene);
  for (uint n = 0; n < count; n++) {
    walker *t = f->inner[(first + n) % RING_PLACES];
    walker_pop(t, scene);
    walker_enlist(f, t);
  }
}

/* Goes into the models of the rays at instances. Two loops: the first fetches the memory that the second reads. */
INLINE void walker_enter(walkers *f, const scene_view *scene) {
  const uint count = f->instances;
  for (uint n = 0; n < count; n++) {
    walker *t = f->instance[n];
    interleaved_instance(&t->ray, &t->on.q, &t->path, scene);
  }
  for (uint n = 0; n < count; n++) {
    walker *t = f->instance[n];
    if (interleaved_enter(&t->ray, &t->on.q, &t->path, scene))
      walker_turn(t);
    else
      walker_pop(t, scene);
    walker_enlist(f, t);
  }
}

/* Leaves the models of the rays at their ends. */
INLINE void walker_leave(walkers *f, const scene_view *scene) {
  const uint count = f->ends;
  for (uint n = 0; n < count; n++) {
    walker *t = f->end[n];
    depth_leave(&t->on.q);
    walker_turn(t);
    walker_pop(t, scene);
    walker_enlist(f, t);
  }
}

/* Writes the result of a ray that has ended. The next ray takes its place. False where there is none. */
INLINE bool walker_replace(walkers *f, walker *t, const cast_arrays *arrays, const scene_view *scene,
                           hit_share *share) {
  if (t->begun) traversal_end(&t->on, interleaved_scene_ray(&t->ray), arrays, scene, share);
  t->begun = f->next < f->all;
  if (!t->begun) return false;
  const prepared_words *words = prepared_rays_take(f->prepared, arrays, scene->cast, f->next, f->all);
  const prepared_ray *ray = interleaved_keep(&t->ray, words);
  traversal_begin(&t->on, (uint)ray_number(arrays->sorted, f->next++), f->walks + t->number, ray,
                  interleaved_depths(&t->ray), arrays, scene);
  walker_root(t, scene);
  if (arrays->sorted != 0) in_flight_fetch_result(t, arrays, scene->cast);
  return true;
}

/* Replaces the rays that have ended. */
INLINE void walker_renew(walkers *f, const cast_arrays *arrays, const scene_view *scene, hit_share *share) {
  for (uint n = 0; n < f->dones; n++) {
    walker *t = f->done[n];
    if (walker_replace(f, t, arrays, scene, share)) walker_enlist(f, t);
  }
}

/* Does the next step of the rays at leaves. */
INLINE void walker_leaves(walkers *f, const scene_view *scene) {
  walker *alone = 0; /* a ray at a block of triangles that waits for a second one to form a ray pair */
  for (uint n = 0; n < f->leaves; n++) {
    walker *t = f->leaf[n];
#if SLAB_RAY_PAIRS > 1
    if (SLAB_KINDS == 1u << SLAB_TRIANGLE || BVH_LEAF_KIND(t->path.meta) == SLAB_TRIANGLE) {
      if (alone == 0) {
        alone = t;
        continue;
      }
      walker_pair(alone, t, scene);
      walker_enlist(f, alone);
      walker_enlist(f, t);
      alone = 0;
      continue;
    }
#endif
    walker_leaf(t, scene);
    walker_enlist(f, t);
  }
  if (alone == 0) return;
  if (f->first == f->last && f->others == 0 && f->dones == 0) walker_leaf(alone, scene);
  walker_enlist(f, alone);
}

/* Casts the rays. */
INLINE void walker_run(walkers *f, const cast_arrays *arrays, const scene_view *scene, hit_share *share) {
  while (f->first != f->last || f->others > 0) {
    while (f->last - f->first >= NODES_LEAST || (f->first != f->last && f->others < SLAB_RAY_PAIRS))
      walker_nodes(f, scene, min(f->last - f->first, NODES_MOST));
    walker_sort(f);
    if (SLAB_INSTANCES) walker_enter(f, scene);
    if (SLAB_INSTANCES) walker_leave(f, scene);
    walker_leaves(f, scene);
    walker_renew(f, arrays, scene, share);
  }
}

/* The arguments of `wide`. sorted: as in prepared_rays.h. */
KERNEL_HINT kernel void KERNEL_NAME(interleaved)(WORK_ITEM const global slab_ray *rays, global void *results,
                                                 const global uint *offsets, const global geometry_entry *table,
                                                 BLOCKS_PARAMETERS, const global slab_primitive_id *skips,
                                                 volatile global uint *invalid, const cast_uniforms cast,
                                                 NODES_PARAMETERS, const global uchar *fallback,
                                                 const global uint *sorted) {
  const scene_view scene = {table, BLOCKS_GIVEN, NODES_GIVEN, &cast, (SLAB_QUERY == SLAB_ANY) | BVH_UNORDERED};
  deferred_hit lists[LISTS_HELD(SLAB_WALKERS)];
  const size_t walks = FIRST_WALK(SLAB_WALKERS);
  cast_arrays arrays = {rays, results, offsets, skips, invalid, sorted};
  lists_given(&arrays, lists, walks);
  const size_t first = get_global_id(0) * cast.rays_each;
  const size_t end = first + cast.rays_each < cast.rays ? first + cast.rays_each : cast.rays;
  walker walker_rays[SLAB_WALKERS];
  interleaved_entry stacks[SLAB_WALKERS * INTERLEAVED_ENTRIES];
  prepared_rays prepared;
  walker *inner[RING_PLACES], *other[SLAB_WALKERS], *leaf[SLAB_WALKERS], *instance[SLAB_WALKERS], *ends[SLAB_WALKERS],
      *done[SLAB_WALKERS];
  hit_share share = {0, 0};
  walkers f = {walker_rays, &prepared, inner, other, leaf, instance, ends,  done, 0,
               0,           0,         0,     0,     0,    0,        first, end,  walks};
  (void)fallback; /* such a cast has no packets */
  walker_begin(&f, stacks);
  /* Where a ray wants all its hits no child is dropped. Two loops: one with a test at each node took 1.2 times as long
   * (a Xeon with AVX-512). */
  if (SLAB_QUERY == SLAB_ALL && cast.most == 0) {
    const scene_view whole = {table, BLOCKS_GIVEN, NODES_GIVEN, &cast, true};
    walker_run(&f, &arrays, &whole, &share);
  } else {
    walker_run(&f, &arrays, &scene, &share);
  }
}

#endif

#endif
