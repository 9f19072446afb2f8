/* Packet traversal: LANES rays of one octant go through a wide BVH together. wide.cl traverses the same BVH ray by ray.
 *
 * The children of a node and the triangles of a leaf are first tested against the packet interval: intervals of origins
 * and reciprocals that hold all rays of a packet. What passes is tested against every ray. The ends of a product of
 * intervals are products of their ends, and rounding is monotone. So the packet interval accepts all that any of its
 * rays accepts. Packets whose rays differ in the signs or the largest axis of their directions are packet fallback:
 * wide.cl casts them. So it does where the rays of a packet have more hits than its log holds (SLAB_ALL).
 *
 * In a scene with instances a packet goes into models: each level has a packet of those of its rays that are there.
 *
 * Built as wide.cl, with LANES 8 or 16; for closest, distance, any and count, and for all where attributes are
 * deferred. With instances (SLAB_INSTANCES 1) for any, count, and closest, whose attributes are then left to
 * attributes.cl. */
#define STRIDE 8
#define SLAB_PACKET
#include "attributes.h"
#include "bvh.h"
#include "instances.h"
#include "listing.h"
#include "occluder.h"
#include "packet_interval.h"

/* A hit lowers its ray's limit. */
#define PACKET_LIMITS (SLAB_QUERY == SLAB_CLOSEST || SLAB_QUERY == SLAB_DISTANCE)

typedef struct packet {
  prepared_ray ray;
  mask live;     /* rays that are not done */
  real t, limit; /* these as in query_state */
  word global_id, where, count, skip;
  word lane;              /* lane of the best hit in its block */
  struct packet_log *log; /* SLAB_ALL */
  /* SLAB_ANY: the primitive that blocked a ray last, or SLAB_MISS; its block and lane. */
  uint blocker, blocker_where, blocker_lane;
#if SLAB_INSTANCES
  /* The packet in a model is the next element of an array. It has no hits: the first packet, of the scene, has. */
  uint level;
  GLOBAL const model_entry *model;
  uint first_geometry; /* id of the model's first geometry */
  uint bottom;         /* entries of the stack below those of this level */
  mask entered;        /* rays that were live when the packet went into the model; SLAB_ANY */
  real gate;           /* as in instance_t; not set for the scene */
  word geometry;       /* id of the geometry of the best hit */
#endif
} packet;

/* ---- rays in ---- */

#if LANES == 16
#define LANE_NUMBERS ((word)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#else
#define LANE_NUMBERS ((word)(0, 1, 2, 3, 4, 5, 6, 7))
#endif

/* Global primitive ids that the rays skip. */
INLINE word packet_skips(const cast_arrays *arrays, const scene_view *scene, size_t first, uint count) {
  const cast_uniforms *cast = scene->cast;
  uint global_ids[LANES];
  if (cast->skip == 0 || SLAB_INSTANCES)
    return (word)(SLAB_MISS); /* with skips and instances rays are cast one by one */
  const global slab_primitive_id *skips =
      (const global slab_primitive_id *)((const global uint *)arrays->skips + cast->at[AT_SKIPS]) + first;
  for (uint lane = 0; lane < LANES; lane++)
    global_ids[lane] = skipped_global_id(scene->table, cast->geometries, skips[lane < count ? lane : 0]);
  return lanes_from(global_ids);
}

/* True where all live rays have one octant, which is returned, and their t_min is 0 or more: below 0 box_may_overlap
 * rejects nothing. */
INLINE bool packet_agrees(const packet *p, uint *octant) {
  uint octants[LANES];
  lanes_store(p->ray.octant, octants);
  *octant = octants[lowest_lane(lanes_bits(p->live))];
  return !lanes_any(p->live & ((p->ray.octant != *octant) | (p->ray.t_min < 0.0f)));
}

/* ---- the packet interval ---- */

#define EIGHT_BITS ((1u << BVH_WIDTH) - 1)

INLINE float least_of(real v) {
#if LANES == 16
  float8 a = v.lo < v.hi ? v.lo : v.hi;
#else
  float8 a = v;
#endif
  float4 b = a.lo < a.hi ? a.lo : a.hi;
  float2 c = b.lo < b.hi ? b.lo : b.hi;
  return c.x < c.y ? c.x : c.y;
}

INLINE float least_live(const packet *p, real v) { return least_of(p->live ? v : (real)(INFINITY)); }
INLINE float most_live(const packet *p, real v) { return -least_live(p, -v); }

INLINE packet_interval packet_interval_of(const packet *p) {
  packet_interval h;
  UNROLL for (int i = 0; i < 3; i++) {
    const float least = least_live(p, p->ray.origin[i]), most = most_live(p, p->ray.origin[i]);
    const bool dir_is_negative = p->ray.dir_is_negative[i] != 0;
    h.dir_is_negative[i] = p->ray.dir_is_negative[i];
    h.near_origin[i] = dir_is_negative ? least : most;
    h.far_origin[i] = dir_is_negative ? most : least;
    h.near_inverse[i][0] = least_live(p, p->ray.inverse_back[i]);
    h.near_inverse[i][1] = most_live(p, p->ray.inverse_back[i]);
    UNROLL for (int k = 0; k < 2; k++) h.far_inverse[i][k] = h.near_inverse[i][k] * INVERSE_WIDE;
  }
  h.t_min = least_live(p, p->ray.t_min);
  h.limit = most_live(p, p->limit);
  return h;
}

/* With at most this many rays, a block's triangles are not tested against the packet interval. Measured with PoCL 3.1:
 * 2 to 5 on Zen 5, and 3 to 8 on Zen 4, are about as fast; 8 to 20 % faster than no threshold on shadow rays of large
 * meshes (Zen 5). */
#define PACKET_INTERVAL_PAYS 4

/* Primitives of a block that some ray may overlap, as bits. Kinds without such a test return all bits. */
INLINE uint interval_overlaps_block(const uint kind, const packet_interval *h, const global float *block) {
  interval_real enter;
  if (kind == SLAB_BOX) return interval_overlaps_boxes(h, block, &enter);
  if (kind == SLAB_TRIANGLE) return interval_overlaps_triangles(h, block);
  return EIGHT_BITS;
}

/* ---- the query ---- */

/* SLAB_ALL: the hits of all rays of a packet, as found. Lists for each ray are made at its end: kept while it traverses
 * they cost an eighth more time (terrain:100000, Zen 5). */
#define PACKET_HITS 512

typedef struct packet_log {
  uint count; /* more than PACKET_HITS: some are lost */
  uint ray[PACKET_HITS];
  listed_hit hit[PACKET_HITS]; /* t: of the crossing, not yet as it is written */
} packet_log;

INLINE void packet_note(packet *p, uint ray, float t, uint global_id, uint where, uint lane) {
  packet_log *log = p->log;
  const uint at = min(log->count++, PACKET_HITS - 1u);
  const listed_hit hit = {t, global_id, where, 0, lane};
  log->ray[at] = ray;
  log->hit[at] = hit;
}

/* True where the packet is done: its log is full. */
INLINE bool packet_is_full(const packet *p) { return SLAB_QUERY == SLAB_ALL && p->log->count > PACKET_HITS; }

#if SLAB_INSTANCES
/* The entry of a primitive's geometry, in the model that the packet is in. */
INLINE GLOBAL const geometry_entry *packet_entry(const packet *p, uint global_id, const scene_view *scene) {
  return model_entry_of(scene, p->model, global_id);
}

/* Takes a crossing of the packet in a model as that of the scene's rays has it. Any hit there is one outside too: t is
 * raised to the gate at most, which is in the range. */
INLINE void packet_take(packet *p, mask hit, real crossing, uint global_id, uint where, uint lane,
                        const scene_view *scene) {
  packet *all = p - p->level;
  if (SLAB_QUERY == SLAB_COUNT) {
    all->count += hit ? (word)(1) : (word)(0);
    return;
  }
  if (SLAB_QUERY == SLAB_ANY) {
    p->live = p->live & !hit; /* outside when the packet leaves the model */
    return;
  }
  for (uint k = p->level; k > 0; k--) crossing = instance_t(&all[k].ray, &all[k - 1].ray, all[k].gate, crossing);
  const word geometry = (word)(p->first_geometry + packet_entry(p, global_id, scene)->id);
  const real t = ray_t_written(&all->ray, crossing);
  const mask less = (geometry < all->geometry) | ((geometry == all->geometry) & (global_id < all->global_id));
  const mask better = hit & ((t < all->t) | ((t == all->t) & less));
  all->t = better ? t : all->t;
  all->limit = better ? ray_tie_limit(&all->ray, t) : all->limit;
  all->geometry = better ? geometry : all->geometry;
  all->global_id = better ? (word)(global_id) : all->global_id;
  all->where = better ? (word)(where) : all->where;
  all->lane = better ? (word)(lane) : all->lane;
  for (uint k = 1; k <= p->level; k++)
    all[k].limit = better ? instance_limit(&all[k].ray, all[k - 1].limit) : all[k].limit;
}
#else
INLINE GLOBAL const geometry_entry *packet_entry(const packet *p, uint global_id, const scene_view *scene) {
  (void)p;
  return scene->table + geometry_of(scene->table, scene->cast->geometries, global_id);
}

INLINE void packet_take(packet *p, mask hit, real crossing, uint global_id, uint where, uint lane,
                        const scene_view *scene) {
  (void)scene;
  if (SLAB_QUERY == SLAB_COUNT) {
    p->count += hit ? (word)(1) : (word)(0);
    return;
  }
  if (SLAB_QUERY == SLAB_ALL) {
    float each[LANES];
    lanes_store(crossing, each);
    for (uint bits = lanes_bits(hit); bits != 0; bits &= bits - 1)
      packet_note(p, lowest_lane(bits), each[lowest_lane(bits)], global_id, where, lane);
    return;
  }
  const real t = ray_t_written(&p->ray, crossing);
  if (SLAB_QUERY == SLAB_ANY) {
    p->live = p->live & !hit;
    p->blocker = global_id;
    p->blocker_where = where;
    p->blocker_lane = lane;
    return;
  }
  const mask better = hit & ((t < p->t) | ((t == p->t) & (global_id < p->global_id)));
  p->t = better ? t : p->t;
  p->limit = better ? ray_tie_limit(&p->ray, t) : p->limit;
  p->global_id = better ? (word)(global_id) : p->global_id;
  p->where = better ? (word)(where) : p->where;
  p->lane = better ? (word)(lane) : p->lane;
}
#endif

INLINE bool packet_hides(const packet *p, uint global_id, const scene_view *scene) {
  const cast_uniforms *cast = scene->cast;
  return cast->masked != 0 && (packet_entry(p, global_id, scene)->mask & cast->mask) == 0;
}

/* Tests the rays of `overlapped` against the primitives of a block in `bits`, one after the other. */
INLINE void packet_block(const uint kind, packet *p, mask overlapped, uint bits, const global float *block, uint where,
                         const scene_view *scene) {
  const global uint *global_ids = (const global uint *)(block + primitive_rows(kind) * BVH_WIDTH);
  for (; bits != 0; bits &= bits - 1) {
    const uint lane = lowest_lane(bits), global_id = global_ids[lane];
    real t;
    if (global_id == SLAB_MISS) continue;
    mask hit = primitive_surface(kind, &p->ray, block + lane, p->limit, scene->cast->rules, &t) & overlapped & p->live;
    if (primitive_is_surface(kind)) hit = hit & (p->skip != global_id);
    if (lanes_any(hit) && !packet_hides(p, global_id, scene)) packet_take(p, hit, t, global_id, where, lane, scene);
  }
}

/* The part of the prepared rays that the triangle test reads, stored to be read ray by ray. It is not part of the
 * packet: see bvh_path. */
typedef struct packet_rows {
  float shear_origin[3][LANES], shear_inverse[3][LANES], shear[2][LANES], t_min[LANES];
} packet_rows;

INLINE void packet_store(const packet *p, packet_rows *rows) {
  UNROLL for (int i = 0; i < 3; i++) {
    lanes_store(p->ray.shear_origin[i], rows->shear_origin[i]);
    lanes_store(p->ray.shear_inverse[i], rows->shear_inverse[i]);
    if (i < 2) lanes_store(p->ray.shear[i], rows->shear[i]);
  }
  lanes_store(p->ray.t_min, rows->t_min);
}

/* Rays that are tested at once, each against all triangles of a block. */
#define SINGLY (LANES / BVH_WIDTH)

INLINE real packet_pair(float a, float b) { return LANE_NUMBERS < (word)(BVH_WIDTH) ? (real)(a) : (real)(b); }

/* The part of the prepared rays that the triangle test reads, for two rays, half of the lanes each. */
INLINE prepared_ray packet_ray(const packet *p, const packet_rows *rows, uint a, uint b) {
  prepared_ray f = p->ray;
  UNROLL for (int i = 0; i < 3; i++) {
    f.shear_origin[i] = packet_pair(rows->shear_origin[i][a], rows->shear_origin[i][b]);
    f.shear_inverse[i] = packet_pair(rows->shear_inverse[i][a], rows->shear_inverse[i][b]);
    if (i < 2) f.shear[i] = packet_pair(rows->shear[i][a], rows->shear[i][b]);
  }
  f.t_min = packet_pair(rows->t_min[a], rows->t_min[b]);
  return f;
}

/* Tests the rays in `bits`, SINGLY at once, against all triangles of a block. at_once: for SLAB_ANY, where nothing
 * hides a primitive, the rays that are blocked end together. */
INLINE void packet_singly(packet *p, const packet_rows *each, uint bits, const global float *block, uint where,
                          const scene_view *scene) {
  const global uint *global_ids = (const global uint *)(block + TRIANGLE_ROWS * BVH_WIDTH);
  const bool at_once = SLAB_QUERY == SLAB_ANY && scene->cast->masked == 0 && scene->cast->skip == 0;
  triangle_rows rows;
  uint blocked = 0;
  float limits[LANES];
  lanes_store(p->limit, limits);
  UNROLL for (int v = 0; v < 3; v++) UNROLL for (int i = 0; i < 3; i++) rows.row[v][i] =
      lanes_eight(block + (3 * v + (int)p->ray.k[i]) * BVH_WIDTH);
  while (bits != 0) {
    const uint a = lowest_lane(bits), others = bits & (bits - 1);
    const bool both = SINGLY == 2 && others != 0;
    const uint b = both ? lowest_lane(others) : a;
    bits = both ? others & (others - 1) : others;
    const prepared_ray ray = packet_ray(p, each, a, b);
    real t;
    const mask hit = triangle_intersect(&ray, &rows, packet_pair(limits[a], limits[b]), scene->cast->rules, &t);
    uint hits = lanes_bits(hit) & (both ? 0xFFFFu : EIGHT_BITS);
    if (at_once) {
      if (hits == 0) continue;
      blocked |= ((hits & EIGHT_BITS) != 0 ? 1u << a : 0) | (hits > EIGHT_BITS ? 1u << b : 0);
      p->blocker_lane = lowest_lane(hits) % BVH_WIDTH;
      continue;
    }
    for (; hits != 0; hits &= hits - 1) {
      const uint at = lowest_lane(hits), lane = at % BVH_WIDTH, global_id = global_ids[lane];
      const mask own = (word)(at < BVH_WIDTH ? a : b) == LANE_NUMBERS;
      if (!packet_hides(p, global_id, scene))
        packet_take(p, own & (p->skip != global_id), (real)(lanes_at(t, at)), global_id, where, lane, scene);
      if (PACKET_LIMITS) lanes_store(p->limit, limits);
    }
  }
  if (blocked != 0) {
    p->live = p->live & (((word)(blocked) >> LANE_NUMBERS & 1) == 0);
    p->blocker_where = where;
    p->blocker = global_ids[p->blocker_lane];
  }
}

INLINE void packet_blocks(const uint kind, packet *p, const packet_rows *each, const packet_interval *h,
                          mask overlapped, const scene_view *scene, uint first, uint count) {
  for (uint n = 0; n < count; n++, first += BVH_BLOCK_UNITS(primitive_rows(kind))) {
    const global float *block = block_at(scene->blocks, (size_t)first * BLOCK_UNIT);
    const uint rays = lanes_bits(overlapped & p->live);
    const bool few = kind == SLAB_TRIANGLE && popcount(rays) <= PACKET_INTERVAL_PAYS;
    const uint primitives = few ? EIGHT_BITS : interval_overlaps_block(kind, h, block);
    if (kind == SLAB_TRIANGLE && (popcount(rays) + SINGLY - 1) / SINGLY < popcount(primitives))
      packet_singly(p, each, rays, block, first, scene);
    else
      packet_block(kind, p, overlapped, primitives, block, first, scene);
  }
}

INLINE void packet_leaf(packet *p, const packet_rows *each, const packet_interval *h, mask overlapped,
                        const scene_view *scene, uint first, uint meta) {
  const uint kind = BVH_LEAF_KIND(meta), count = BVH_LEAF_BLOCK_COUNT(meta);
#define SCAN_KIND(shape, name, names, noun, rows, form, place, source) \
  if (SHAPE_IN_BVH_##place && HAS_KIND(shape) && kind == shape)        \
    packet_blocks(shape, p, each, h, overlapped, scene, first, count);
  SHAPES(SCAN_KIND)
#undef SCAN_KIND
}

/* The primitives outside the BVH: of the scene, or of the model that the packet is in. */
#if SLAB_INSTANCES
#define PACKET_OUTSIDE(p, scene) ((p)->model->outside)
#else
#define PACKET_OUTSIDE(p, scene) ((scene)->cast->outside)
#endif

INLINE void packet_outside(packet *p, const packet_rows *each, const packet_interval *h, const scene_view *scene) {
#define SCAN_KIND(shape, name, names, noun, rows, form, place, source)                               \
  if (SHAPE_OUTSIDE_##place && HAS_KIND(shape))                                                      \
    packet_blocks(shape, p, each, h, p->live, scene, PACKET_OUTSIDE(p, scene)[OUTSIDE_##name].first, \
                  PACKET_OUTSIDE(p, scene)[OUTSIDE_##name].blocks);
  SHAPES(SCAN_KIND)
#undef SCAN_KIND
}

/* ---- the occluder cache ---- */

/* For SLAB_ANY, tests the primitive that blocked an earlier ray. The test pays if it blocks one of these rays. */
INLINE void packet_occluder(packet *p, occluder *last, const scene_view *scene) {
  if (SLAB_QUERY != SLAB_ANY || SLAB_INSTANCES || !occluder_is_tested(last)) return;
  const uint before = lanes_bits(p->live);
  const global float *block = block_at(scene->blocks, (size_t)last->where * BLOCK_UNIT);
#define ASK_KIND(shape, name, names, noun, rows, form, place, source) \
  if (HAS_KIND(shape) && last->kind == shape)                         \
    packet_block(shape, p, p->live, 1u << last->lane, block, last->where, scene);
  SHAPES(ASK_KIND)
#undef ASK_KIND
  occluder_judge(last, lanes_bits(p->live) != before);
}

/* Remembers the primitive that blocked a ray last. */
INLINE void packet_remember(const packet *p, occluder *last, const scene_view *scene) {
  if (SLAB_QUERY != SLAB_ANY || SLAB_INSTANCES || p->blocker == SLAB_MISS || !occluder_is_next(last)) return;
  const uint geometry = geometry_of(scene->table, scene->cast->geometries, p->blocker);
  occluder_remember(last, scene->table[geometry].kind, p->blocker_where, p->blocker_lane);
}

/* ---- the traversal ---- */

/* Rays that may overlap the bounds of the child at `place`. */
INLINE mask packet_overlaps(const packet *p, scene_nodes nodes, uint place) {
  real near[3], far[3], enter;
  box_planes(&p->ray, &node_at(nodes, place / BVH_WIDTH)->bounds[0][0] + place % BVH_WIDTH, near, far);
  return box_may_overlap(&p->ray, near, far, p->limit, &enter) & p->live;
}

#if SLAB_INSTANCES

/* ---- instances ---- */

/* What a packet needs on one level: the scene, or a model that it is in. */
typedef struct packet_level {
  packet_interval h;
  packet_rows each;
} packet_level;

#define VISIT_RAYS (((1u << LANES) - 1) * BVH_WIDTH) /* of a VISIT_INSTANCE's place: all rays of a packet */

INLINE void packet_begin(packet *p, const scene_view *scene) {
  p->level = p->first_geometry = p->bottom = 0;
  p->model = scene_model(scene, 0);
  p->geometry = p->where = p->lane = (word)(SLAB_MISS);
  p->count = (word)(0);
}

/* The rays of the packet are prepared, and have one octant. */
INLINE void packet_arrive(const packet *p, packet_level *at) {
  at->h = packet_interval_of(p);
  packet_store(p, &at->each);
}

/* Pushes the instances of a block of gates, the nearest last, above the leaf's other blocks. */
INLINE bool packet_gates(const packet *p, const packet_interval *h, bvh_path *path, const scene_view *scene, uint first,
                         uint blocks) {
  const global float *block = block_at(scene->blocks, (size_t)first * BLOCK_UNIT);
  const global uint *instances = (const global uint *)(block + BOX_ROWS * STRIDE);
  interval_real entered;
  float enter[BVH_WIDTH];
  if (blocks > 1) visit_push(path, first + BVH_BLOCK_UNITS(BOX_ROWS), VISIT_GATES, path->next.enter, blocks - 1);
  const uint base = path->top;
  uint bits = interval_overlaps_boxes(h, block, &entered);
  vstore8(entered, 0, enter);
  for (; bits != 0; bits &= bits - 1) {
    const uint lane = lowest_lane(bits);
    if ((packet_entry(p, instances[lane], scene)->mask & scene->cast->mask) == 0) continue;
    const bvh_visit v = {first, VISIT_INSTANCE, enter[lane], VISIT_RAYS | lane};
    visit_insert(path, base, v);
  }
  return bvh_pop(path, h->limit);
}

/* Takes those rays of the packet into the model of an instance that pass its gate and have the octant of the first of
 * them there. The others go there later. False where none does. */
INLINE bool packet_visit(packet *p, packet_level *at, bvh_path *path, const scene_view *scene) {
  const bvh_visit v = path->next;
  const global float *block = block_at(scene->blocks, (size_t)v.child * BLOCK_UNIT);
  const uint lane = v.place % BVH_WIDTH, number = ((const global uint *)(block + BOX_ROWS * STRIDE))[lane];
  GLOBAL const geometry_entry *group = packet_entry(p, number, scene);
  GLOBAL const instance_entry *of = scene_instance(scene, group->first + (number - group->global_id_base));
  packet *inner = p + 1;
  real leave;
  const mask passes = box_solid(&p->ray, block + lane, p->ray.t_max, &inner->gate, &leave);
  mask rays = passes & p->live & (inner->gate <= p->limit) & (((word)(v.place / BVH_WIDTH) >> LANE_NUMBERS & 1) != 0);
  if (!lanes_any(rays)) return false;
  instance_map map;
  UNROLL for (int i = 0; i < 9; i++) map.inverse[i] = (real)(of->inverse[i]);
  UNROLL for (int i = 0; i < 3; i++) map.place[i] = (real)(of->place[i]);
  const ray_given given = instance_ray(&p->ray, &map);
  inner->ray = ray_scale(&given);
  rays = rays & (inner->ray.state == RAY_LIVE);
  if (!lanes_any(rays)) return false;
  uint octants[LANES];
  lanes_store(inner->ray.octant, octants);
  const uint octant = octants[lowest_lane(lanes_bits(rays))], later = lanes_bits(rays & (inner->ray.octant != octant));
  if (later != 0) visit_push(path, v.child, VISIT_INSTANCE, v.enter, later * BVH_WIDTH | lane);
  ray_turn(&inner->ray, octant);
  inner->live = rays & (inner->ray.octant == octant);
  inner->limit = instance_limit(&inner->ray, p->limit);
  inner->skip = (word)(SLAB_MISS);
  inner->level = p->level + 1;
  inner->model = scene_model(scene, of->model);
  inner->first_geometry = p->first_geometry + of->geometry;
  if (SLAB_QUERY == SLAB_ANY) inner->entered = inner->live;
  packet_arrive(inner, at + 1);
  visit_push(path, 0, VISIT_END, -INFINITY, 0);
  inner->bottom = path->top;
  packet_outside(inner, &at[1].each, &at[1].h, scene);
  visit_ungated(path, inner->model);
  path->next.child = inner->model->root;
  path->next.meta = BVH_INNER;
  return true;
}

/* The rays that have hits in a model are done outside too. */
INLINE void packet_left(packet *p) {
  if (SLAB_QUERY == SLAB_ANY) p->live = p->live & (p[1].live | !p[1].entered);
}

/* Pops, after hits. What is left of a level is dropped where no ray is live there. */
INLINE bool packet_pop(const packet *p, packet_level *at, bvh_path *path) {
  if (PACKET_LIMITS) at->h.limit = most_live(p, p->limit);
  if (SLAB_QUERY == SLAB_ANY && !lanes_any(p->live)) path->top = p->bottom;
  return bvh_pop(path, at->h.limit);
}

/* Traverses a scene with instances. p, at: of the scene; SCENE_LEVELS elements. */
INLINE void packet_traverse(packet *p, packet_level *at, const scene_view *scene) {
  bvh_visit stack[SLAB_STACK];
  bvh_path path;
  bool more = true, whole = true; /* whole: no bounds of the next visit are known */
  bvh_begin(&path, stack);
  visit_ungated(&path, p->model);
  while (more) {
    const uint child = path.next.child, meta = path.next.meta;
    whole = whole || (!BVH_IS_INNER(meta) && BVH_LEAF_KIND(meta) > SHAPE_INSTANCE);
    const mask overlapped = whole ? p->live : packet_overlaps(p, scene->nodes, path.next.place);
    whole = false;
    if (meta == VISIT_END) {
      p--, at--;
      packet_left(p);
      more = packet_pop(p, at, &path);
    } else if (meta == VISIT_INSTANCE) {
      whole = packet_visit(p, at, &path, scene);
      p += whole ? 1 : 0, at += whole ? 1 : 0;
      more = whole || bvh_pop(&path, at->h.limit);
    } else if (!lanes_any(overlapped)) {
      more = bvh_pop(&path, at->h.limit);
    } else if (BVH_IS_INNER(meta)) {
      float enter[BVH_WIDTH];
      interval_real entered;
      const uint bits = interval_overlaps_boxes(&at->h, &node_at(scene->nodes, child)->bounds[0][0], &entered);
      vstore8(entered, 0, enter);
      more = bvh_down(&path, scene, child, bits, enter, at->h.limit);
    } else if (BVH_LEAF_KIND(meta) >= SHAPE_INSTANCE) {
      more = packet_gates(p, &at->h, &path, scene, child,
                          meta == VISIT_GATES ? path.next.place : BVH_LEAF_BLOCK_COUNT(meta));
    } else {
      packet_leaf(p, &at->each, &at->h, overlapped, scene, child, meta);
      more = packet_pop(p, at, &path);
    }
  }
}

#else

INLINE void packet_traverse(packet *p, const packet_rows *each, packet_interval *h, const scene_view *scene) {
  bvh_visit stack[SLAB_STACK];
  bvh_path path;
  mask overlapped = p->live;
  bool more = true;
  bvh_begin(&path, stack);
  while (more && lanes_any(p->live) && !packet_is_full(p)) {
    const uint at = path.next.child, meta = path.next.meta;
    if (!lanes_any(overlapped)) {
      more = bvh_pop(&path, h->limit);
    } else if (BVH_IS_INNER(meta)) {
      float enter[BVH_WIDTH];
      interval_real entered;
      const uint bits = interval_overlaps_boxes(h, &node_at(scene->nodes, at)->bounds[0][0], &entered);
      vstore8(entered, 0, enter);
      more = bvh_down(&path, scene, at, bits, enter, h->limit);
    } else {
      packet_leaf(p, each, h, overlapped, scene, at, meta);
      if (PACKET_LIMITS) h->limit = most_live(p, p->limit);
      more = bvh_pop(&path, h->limit);
    }
    if (more) overlapped = packet_overlaps(p, scene->nodes, path.next.place);
  }
}

#endif

/* ---- results out ---- */

/* Whether hit a of the log comes after hit b in the list of one ray. It has no branch: most rays have one hit or two.
 */
INLINE bool packet_is_after(const packet_log *log, uint a, uint b) {
  const float t = log->hit[a].t, other = log->hit[b].t;
  return (log->ray[a] == log->ray[b]) &
         ((t > other) | ((t == other) & (log->hit[a].global_id > log->hit[b].global_id)));
}

/* Numbers of the hits in the log, those of each ray together and sorted. end: where those of each ray end. */
INLINE void packet_order(const packet *p, ushort order[PACKET_HITS], uint end[LANES + 1]) {
  packet_log *log = p->log;
  float back[2][LANES], forth[2][LANES];
  UNROLL for (int i = 0; i < 2; i++) {
    lanes_store(p->ray.back[i], back[i]);
    lanes_store(p->ray.forth[i], forth[i]);
  }
  for (uint i = 0; i <= LANES; i++) end[i] = 0;
  for (uint n = 0; n < log->count; n++) {
    const uint ray = log->ray[n];
    log->hit[n].t = log->hit[n].t * back[0][ray] * back[1][ray] * forth[0][ray] * forth[1][ray]; /* ray_t_written */
    end[ray + 1]++;
  }
  for (uint i = 0; i < LANES; i++) end[i + 1] += end[i];
  for (uint n = 0; n < log->count; n++) order[end[log->ray[n]]++] = (ushort)n;
  for (uint k = 1; k < log->count; k++) {
    const ushort n = order[k];
    uint at = k;
    for (; at > 0 && packet_is_after(log, order[at - 1], n); at--) order[at] = order[at - 1];
    order[at] = n;
  }
}

/* Leaves the first hits of each ray alone, `most` of them. */
INLINE void packet_cut(uint most, ushort order[PACKET_HITS], uint end[LANES + 1]) {
  uint to = 0;
  for (uint i = 0, begin = 0; i < LANES; i++) {
    const uint last = min(end[i], begin + most), next = end[i];
    for (uint k = begin; k < last; k++) order[to++] = order[k];
    begin = next;
    end[i] = to;
  }
}

/* Writes the lists of SLAB_ALL, one after the other. Lanes beyond the last ray have hits too, which come last. */
INLINE void packet_lists(const packet *p, const cast_arrays *arrays, const scene_view *scene, size_t first, uint count,
                         hit_share *share) {
  const cast_uniforms *cast = scene->cast;
  uint end[LANES + 1];
  ushort order[PACKET_HITS];
  packet_order(p, order, end);
  if (cast->most != 0) packet_cut(cast->most, order, end);
  const uint hits = end[count - 1], begin = lists_reserve(arrays, cast, first, count, end, share);
  global deferred_hit *to = listing_room(arrays->results, cast) + begin;
  for (uint k = 0; k < hits && begin != LIST_LOST; k++) hit_write(&to[k], p->log->hit[order[k]]);
}

/* Writes the closest hits of a packet. With instances attributes.cl computes the attributes. */
INLINE void packet_hits_write(const packet *p, const scene_view *scene, global slab_hit *out, uint count) {
#if SLAB_INSTANCES
  const mask found = p->global_id != SLAB_MISS;
  const word reason = reason_of(&p->ray), none = (word)(0);
  real row[8] = {found ? p->t : (real)(INFINITY),
                 (real)(0.0f),
                 (real)(0.0f),
                 (real)(0.0f),
                 lanes_as_real(found ? p->lane : none),
                 lanes_as_real(found ? p->geometry : none),
                 lanes_as_real(found ? p->global_id : reason),
                 lanes_as_real(found ? p->where : reason)};
  hits_write(row, out, 0, count);
  (void)scene;
#else
  const packet_hits m = {&p->ray, p->t, p->global_id, p->where, p->lane};
  attributes_of_hits(&m, scene, out, 0, count);
#endif
}

/* share: as in query_end. */
INLINE void packet_end(const packet *p, const cast_arrays *arrays, const scene_view *scene, size_t first, uint count,
                       hit_share *share) {
  const mask found = p->global_id != SLAB_MISS;
  uint words[LANES];
  float values[LANES];
  global void *results = results_begin(arrays, scene->cast);
  if (SLAB_QUERY == SLAB_CLOSEST) {
    packet_hits_write(p, scene, (global slab_hit *)results + first, count);
  } else if (SLAB_QUERY == SLAB_DISTANCE) {
    lanes_store(found ? ray_final_t(&p->ray, p->t) : (real)(INFINITY), values);
    lanes_store(found ? p->global_id : reason_of(&p->ray), words);
    for (uint i = 0; i < count; i++)
      distance_write(results, first + i, short_hit_of(scene, values[i], words[i]), scene->cast);
  } else if (SLAB_QUERY == SLAB_ANY) {
    const uint bits = lanes_bits((p->ray.state == RAY_LIVE) & !p->live);
    for (uint i = 0; i < count; i++) ((global uchar *)results)[first + i] = bits >> i & 1;
  } else if (SLAB_QUERY == SLAB_ALL) {
    packet_lists(p, arrays, scene, first, count, share);
  } else {
    lanes_store(p->count, words);
    for (uint i = 0; i < count; i++) ((global uint *)results)[first + i] = words[i];
  }
}

/* Casts `count` rays from first on, LANES at most. True where they are packet fallback, left to wide.cl. */
INLINE bool packet_cast(const cast_arrays *arrays, const scene_view *scene, size_t first, uint count, occluder *last,
                        packet_log *log, hit_share *share) {
  const cast_uniforms *cast = scene->cast;
  const ray_given given = rays_load(arrays, cast, first, count);
#if SLAB_INSTANCES
  packet levels[SCENE_LEVELS], *p = levels;
  packet_level at[SCENE_LEVELS];
  if (cast->skip != 0) return true;
  packet_begin(p, scene);
  p->ray = ray_scale(&given);
#else
  packet one = {.ray = ray_scale(&given)}, *p = &one;
#endif
  uint octant = 0;
  p->live = p->ray.state == RAY_LIVE;
  if (lanes_any(p->live) && !packet_agrees(p, &octant)) return true;
  p->t = p->limit = p->ray.t_max;
  p->global_id = (word)(SLAB_MISS);
  p->skip = packet_skips(arrays, scene, first, count);
  p->log = log;
  if (SLAB_QUERY == SLAB_ALL) log->count = 0;
  p->blocker = SLAB_MISS;
  if (lanes_any(p->live)) {
    ray_turn(&p->ray, octant);
    packet_occluder(p, last, scene);
  }
#if SLAB_INSTANCES
  if (lanes_any(p->live)) {
    packet_arrive(p, at);
    packet_outside(p, &at->each, &at->h, scene);
    packet_traverse(p, at, scene);
  }
#else
  if (lanes_any(p->live)) {
    packet_interval h = packet_interval_of(p);
    packet_rows each;
    if ((SLAB_KINDS >> SLAB_TRIANGLE & 1) != 0) packet_store(p, &each);
    packet_outside(p, &each, &h, scene);
    packet_traverse(p, &each, &h, scene);
    packet_remember(p, last, scene);
    if (packet_is_full(p)) return true;
  }
#endif
  if (cast->invalid != 0) {
    const uint bits = lanes_bits(p->ray.state == RAY_INVALID) & ((1u << count) - 1);
    if (bits != 0) atomic_add(arrays->invalid + cast->at[AT_INVALID], popcount(bits));
  }
  packet_end(p, arrays, scene, first, count, share);
  return false;
}

/* The arguments of `wide`. cast.rays_each is a multiple of LANES. fallback: one byte per packet, not 0 where it is left
 * to `wide`. */
KERNEL_HINT kernel void KERNEL_NAME(packets)(WORK_ITEM const global slab_ray *rays, global void *results,
                                             const global uint *offsets, const global geometry_entry *table,
                                             BLOCKS_PARAMETERS, const global slab_primitive_id *skips,
                                             volatile global uint *invalid, const cast_uniforms cast, NODES_PARAMETERS,
                                             global uchar *fallback, const global uint *sorted) {
  const scene_view scene = {table, BLOCKS_GIVEN, NODES_GIVEN, &cast};
  const cast_arrays arrays = {rays, results, offsets, skips, invalid, 0}; /* packets are not sorted */
  size_t next = get_global_id(0) * cast.rays_each;
  const size_t end = next + cast.rays_each < cast.rays ? next + cast.rays_each : cast.rays;
  occluder last = occluder_none();
  hit_share share = {0, 0};
  packet_log log;
  (void)sorted;
  for (; next < end; next += LANES)
    fallback[next / LANES] =
        packet_cast(&arrays, &scene, next, end - next < LANES ? (uint)(end - next) : LANES, &last, &log, &share);
}
