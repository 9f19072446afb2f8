/* Packet traversal: LANES rays of one octant go through a wide BVH together. wide.cl traverses the same BVH ray by ray.
 *
 * The children of a node and the triangles of a leaf are first tested against the packet interval: intervals of origins
 * and reciprocals that hold all rays of a packet. What passes is tested against every ray. The ends of a product of
 * intervals are products of their ends, and rounding is monotone. So the packet interval accepts all that any of its
 * rays accepts. Rays of a second octant go through the BVH after those of the first. Packets with more octants, the
 * signs and the largest axis of a direction, are packet fallback: wide.cl casts them. So it does where the rays of a
 * packet have more hits than its log holds (SLAB_ALL).
 *
 * In a scene with instances a packet goes into models: each level has a packet of those of its rays that are there.
 *
 * Built as wide.cl, with LANES 8 or 16, and 32 where it is compiled ahead of time; for closest, distance, any and
 * count, and where it is compiled ahead for all. With instances (SLAB_INSTANCES 1) for any, count, and closest. */
#define STRIDE 8
#define SLAB_PACKET
#include "attributes.h"
#include "bvh.h"
#include "instances.h"
#include "listing.h"
#include "occluder.h"
#include "packet_interval.h"
#include "packet_own.h"
#include "packet_path.h"
#include "packet_singly.h"

/* A hit lowers its ray's limit. */
#define PACKET_LIMITS (SLAB_QUERY == SLAB_CLOSEST || SLAB_QUERY == SLAB_DISTANCE)
/* Where many rays meet a block of triangles each is tested against those of its own alone. */
#define PACKET_OWN (SLAB_KINDS == 1 << SLAB_TRIANGLE && !SLAB_INSTANCES)

typedef struct packet {
  prepared_ray ray;
  uint live;     /* rays that are not done, as bits */
  uint turned;   /* the octant that `ray` is turned for; SLAB_MISS: none yet; not set in a model */
  uint steps;    /* of the traversal; SLAB_ANY, counted by the packet of the scene */
  real t, limit; /* these as in query_state */
  word global_id, where, count, skip;
  word lane;              /* lane of the best hit in its block */
  struct packet_log *log; /* SLAB_ALL */
  /* SLAB_ANY: the primitive that blocked a ray last: its kind, its block or SLAB_MISS, and its lane there. */
  uint blocker_kind, blocker_where, blocker_lane;
#if SLAB_INSTANCES
  /* The packet in a model is the next element of an array. It has no hits: the first packet, of the scene, has. */
  uint level;
  GLOBAL const model_entry *model;
  uint first_geometry; /* id of the model's first geometry */
  uint bottom;         /* entries of the stack below those of this level */
  uint entered;        /* rays that were live when the packet went into the model; SLAB_ANY */
  real gate;           /* as in instance_t; not set for the scene */
  word geometry;       /* id of the geometry of the best hit */
#endif
} packet;

/* ---- rays in ---- */

#if LANES == 32
#define LANE_NUMBERS                                                                                                \
  ((word)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, \
          29, 30, 31))
#elif LANES == 16
#define LANE_NUMBERS ((word)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#else
#define LANE_NUMBERS ((word)(0, 1, 2, 3, 4, 5, 6, 7))
#endif

#define ALL_RAYS (0xFFFFFFFFu >> (32 - LANES))

/* Rays as bits, and as lanes. */
INLINE mask packet_mask(uint rays) { return ((word)(rays) & (word)(1u) << LANE_NUMBERS) != 0; }

/* Global primitive ids that the rays skip. */
INLINE word packet_skips(const cast_arrays *arrays, const scene_view *scene, size_t first, uint count) {
  const cast_uniforms *cast = scene->cast;
  uint global_ids[LANES];
  if (cast->skip == 0 || SLAB_INSTANCES)
    return (word)(SLAB_MISS); /* with skips and instances rays are cast one by one */
  const global slab_primitive_id *skips =
      (const global slab_primitive_id *)((const global uint *)arrays->skips + cast->at[AT_SKIPS]);
  for (uint lane = 0; lane < LANES; lane++)
    global_ids[lane] = skipped_global_id(scene->table, cast->geometries,
                                         skips[ray_number(arrays->sorted, first + (lane < count ? lane : 0))]);
  return lanes_from(global_ids);
}

/* The octant of the first of some rays. `alike`: those of them that have it. */
INLINE uint packet_octant(const packet *p, uint rays, uint *alike) {
  uint octants[LANES];
  lanes_store(p->ray.octant, octants);
  const uint octant = octants[lowest_lane(rays)];
  *alike = rays & lanes_bits(p->ray.octant == octant);
  return octant;
}

/* Turns the packet's rays for those of the octant of the first of some rays. alike: as in packet_octant. */
INLINE void packet_turn(packet *p, uint rays, uint *alike) {
  const uint octant = packet_octant(p, rays, alike);
  if (octant == p->turned) return;
  p->turned = octant;
  ray_turn(&p->ray, octant);
}

/* Whether some rays have at most two octants, and t_min of 0 or more: below 0 box_may_overlap rejects nothing. */
INLINE bool packet_agrees(const packet *p, uint rays) {
  uint alike;
  if ((rays & lanes_bits(p->ray.t_min < 0.0f)) != 0) return false;
  packet_octant(p, rays, &alike);
  if (alike == rays) return true;
  rays &= ~alike;
  packet_octant(p, rays, &alike);
  return alike == rays;
}

/* ---- the packet interval ---- */

#define EIGHT_BITS ((1u << BVH_WIDTH) - 1)

INLINE interval_real least_of_halves(real v) {
#if LANES == 32
  const float16 both = v.lo < v.hi ? v.lo : v.hi;
  return both.lo < both.hi ? both.lo : both.hi;
#elif LANES == 16
  return v.lo < v.hi ? v.lo : v.hi;
#else
  return v;
#endif
}

INLINE float least_live(const packet *p, real v) {
  const interval_real a = least_of_halves(packet_mask(p->live) ? v : (real)(INFINITY));
  const float4 b = a.lo < a.hi ? a.lo : a.hi;
  const float2 c = b.lo < b.hi ? b.lo : b.hi;
  return c.x < c.y ? c.x : c.y;
}

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
 * meshes (Zen 5). Where more rays meet their own candidates 8 of 32, and 4 of 16, are best; for SLAB_ANY, where each
 * may end the ray, 6 (a Xeon with AVX-512). */
#define PACKET_INTERVAL_PAYS (!PACKET_OWN ? 4 : SLAB_QUERY == SLAB_ANY ? LANES * 3 / 16 : LANES / 4)

/* Primitives of a block that some ray may overlap, as bits. Kinds without such a test return all bits. */
INLINE uint interval_overlaps_block(const uint kind, const packet_interval *h, const global float *block) {
  interval_real enter;
  if (kind == SLAB_BOX) return eight_bits(interval_overlaps_boxes(h, block, &enter));
  if (kind == SLAB_TRIANGLE) return eight_bits(interval_overlaps_triangles(h, block));
  return EIGHT_BITS;
}

/* ---- the query ---- */

/* SLAB_ALL: hits of the rays of a packet, of each ray the k-th that is found in row k. */
#define PACKET_HITS 64

typedef struct packet_log {
  float t[PACKET_HITS][LANES]; /* of the crossing, not yet as it is written */
  uint global_id[PACKET_HITS][LANES], where[PACKET_HITS][LANES], lane[PACKET_HITS][LANES];
  uint counts[LANES];
  uint most; /* of counts; more than PACKET_HITS: some hits are lost */
} packet_log;

INLINE void packet_log_begin(packet_log *log) {
  lanes_store((word)(0), log->counts);
  log->most = 0;
}

INLINE void packet_note(packet *p, uint ray, float t, uint global_id, uint where, uint lane) {
  packet_log *log = p->log;
  const uint count = ++log->counts[ray], at = min(count, (uint)PACKET_HITS) - 1;
  log->most = max(log->most, count);
  log->t[at][ray] = t;
  log->global_id[at][ray] = global_id;
  log->where[at][ray] = where;
  log->lane[at][ray] = lane;
}

/* True where the packet is done: its log is full. */
INLINE bool packet_is_full(const packet *p) { return SLAB_QUERY == SLAB_ALL && p->log->most > PACKET_HITS; }

#if SLAB_INSTANCES
/* The entry of a primitive's geometry, in the model that the packet is in. */
INLINE GLOBAL const geometry_entry *packet_entry(const packet *p, uint global_id, const scene_view *scene) {
  return model_entry_of(scene, p->model, global_id);
}
#else
INLINE GLOBAL const geometry_entry *packet_entry(const packet *p, uint global_id, const scene_view *scene) {
  (void)p;
  return scene->table + geometry_of(scene->table, scene->cast->geometries, global_id);
}
#endif

/* What some rays cross: of each its own primitive, all in one block. */
typedef struct packet_crossing {
  real t;
  word global_id, lane;
  uint where;
#if SLAB_INSTANCES
  word geometry; /* its id in the scene */
#endif
} packet_crossing;

/* Of SLAB_CLOSEST and SLAB_DISTANCE. In a model it is taken as that of the scene's rays has it. Any hit there is one
 * outside too: t is raised to the gate at most, which is in the range. */
INLINE void packet_take_nearest(packet *p, mask hit, const packet_crossing *c) {
#if SLAB_INSTANCES
  packet *all = p - p->level;
  real crossing = c->t;
  for (uint k = p->level; k > 0; k--) crossing = instance_t(&all[k].ray, &all[k - 1].ray, all[k].gate, crossing);
  const real t = ray_t_written(&all->ray, crossing);
  const mask less = (c->geometry < all->geometry) | ((c->geometry == all->geometry) & (c->global_id < all->global_id));
#else
  packet *all = p;
  const real t = ray_t_written(&p->ray, c->t);
  const mask less = c->global_id < all->global_id;
#endif
  const mask better = hit & ((t < all->t) | ((t == all->t) & less));
  all->t = better ? t : all->t;
  all->limit = better ? ray_tie_limit(&all->ray, t) : all->limit;
  all->global_id = better ? c->global_id : all->global_id;
  all->where = better ? (word)(c->where) : all->where;
  all->lane = better ? c->lane : all->lane;
#if SLAB_INSTANCES
  all->geometry = better ? c->geometry : all->geometry;
  for (uint k = 1; k <= p->level; k++)
    all[k].limit = better ? instance_limit(&all[k].ray, all[k - 1].limit) : all[k].limit;
#endif
}

/* Takes crossings of some rays. Not for SLAB_ANY. */
INLINE void packet_take(packet *p, uint rays, const packet_crossing *c) {
  if (SLAB_QUERY == SLAB_COUNT) {
#if SLAB_INSTANCES
    p -= p->level;
#endif
    p->count += packet_mask(rays) ? (word)(1) : (word)(0);
  } else if (SLAB_QUERY == SLAB_ALL) {
    float t[LANES];
    uint global_ids[LANES], lanes[LANES];
    lanes_store(c->t, t);
    lanes_store(c->global_id, global_ids);
    lanes_store(c->lane, lanes);
    for (; rays != 0; rays &= rays - 1) {
      const uint ray = lowest_lane(rays);
      packet_note(p, ray, t[ray], global_ids[ray], c->where, lanes[ray]);
    }
  } else {
    packet_take_nearest(p, packet_mask(rays), c);
  }
}

/* SLAB_ANY: a primitive blocks some rays. In a model they are blocked outside when the packet leaves it. */
INLINE void packet_blocked(packet *p, uint rays, uint kind, uint where, uint lane) {
  p->live &= ~rays;
  p->blocker_kind = kind;
  p->blocker_where = where;
  p->blocker_lane = lane;
}

INLINE const global uint *packet_global_ids(const uint kind, const global float *block) {
  return (const global uint *)(block + primitive_rows(kind) * BVH_WIDTH);
}

/* Primitives of a block that the cast's mask does not hide, as bits. Lanes without one are none: where
 * they hold a triangle of no extent it is a candidate of every ray (docs/tuning.md). */
INLINE uint packet_shown(const uint kind, const packet *p, const global float *block, const scene_view *scene) {
  const cast_uniforms *cast = scene->cast;
  const global uint *global_ids = packet_global_ids(kind, block);
  uint bits = EIGHT_BITS & ~eight_bits(vload8(0, global_ids) == SLAB_MISS);
  for (uint lane = 0; cast->masked != 0 && lane < BVH_WIDTH; lane++)
    if (global_ids[lane] != SLAB_MISS && (packet_entry(p, global_ids[lane], scene)->mask & cast->mask) == 0)
      bits &= ~(1u << lane);
  return bits;
}

#if SLAB_INSTANCES
INLINE uint packet_geometry(const packet *p, uint global_id, const scene_view *scene) {
  return SLAB_QUERY == SLAB_CLOSEST ? p->first_geometry + packet_entry(p, global_id, scene)->id : 0;
}
#endif

/* Tests rays against the primitives of a block in `bits`, one after the other. The mask hides none of them. */
INLINE void packet_block(const uint kind, packet *p, uint rays, uint bits, const global float *block, uint where,
                         const scene_view *scene) {
  const global uint *global_ids = packet_global_ids(kind, block);
  for (; bits != 0 && rays != 0; bits &= bits - 1) {
    const uint lane = lowest_lane(bits), global_id = global_ids[lane];
    packet_crossing c;
    uint hits = rays & lanes_bits(primitive_surface(kind, &p->ray, block + lane, p->limit, scene->cast->rules, &c.t));
    if (scene->cast->skip != 0) hits &= lanes_bits(p->skip != global_id); /* ids of surfaces alone */
    if (hits == 0) continue;
    if (SLAB_QUERY == SLAB_ANY) {
      packet_blocked(p, hits, kind, where, lane);
      rays &= ~hits;
      continue;
    }
    c.global_id = (word)(global_id);
    c.lane = (word)(lane);
    c.where = where;
#if SLAB_INSTANCES
    c.geometry = (word)(packet_geometry(p, global_id, scene));
#endif
    packet_take(p, hits, &c);
  }
}

/* Triangles of a block that some rays cross, ray by ray. */
typedef struct packet_found {
  float t[LANES][BVH_WIDTH];
  uint triangles[LANES]; /* as bits; of the rays in `rays` alone */
  uint rays;
} packet_found;

/* Takes one triangle of each ray, then the next of those that cross several. */
INLINE void packet_take_found(packet *p, packet_found *found, const global uint *global_ids, uint where,
                              const scene_view *scene) {
  if (SLAB_QUERY == SLAB_ALL) {
    for (uint rays = found->rays; rays != 0; rays &= rays - 1) {
      const uint ray = lowest_lane(rays);
      for (uint bits = found->triangles[ray]; bits != 0; bits &= bits - 1) {
        const uint lane = lowest_lane(bits);
        packet_note(p, ray, found->t[ray][lane], global_ids[lane], where, lane);
      }
    }
    return;
  }
  for (uint rays = found->rays, again = 0; rays != 0; rays = again, again = 0) {
    packet_crossing c = {.t = p->limit, .where = where};
    for (uint bits = rays; bits != 0; bits &= bits - 1) {
      const uint ray = lowest_lane(bits), lane = lowest_lane(found->triangles[ray]);
      const mask its = LANE_NUMBERS == (word)(ray);
      c.t = its ? (real)(found->t[ray][lane]) : c.t;
      c.global_id = its ? (word)(global_ids[lane]) : c.global_id;
      c.lane = its ? (word)(lane) : c.lane;
#if SLAB_INSTANCES
      c.geometry = its ? (word)(packet_geometry(p, global_ids[lane], scene)) : c.geometry;
#endif
      found->triangles[ray] &= found->triangles[ray] - 1;
      again |= found->triangles[ray] != 0 ? 1u << ray : 0;
    }
    (void)scene;
    packet_take(p, rays, &c);
  }
}

/* Those of the triangles in `bits` that a ray does not skip. */
INLINE uint packet_unskipped(uint bits, const global uint *global_ids, uint skip) {
  return bits & ~eight_bits(vload8(0, global_ids) == skip);
}

/* Tests rays, SINGLY at once, against all triangles of a block. shown: the triangles that the mask does not hide. */
INLINE void packet_singly(packet *p, const packet_rows *each, uint bits, uint shown, const global float *block,
                          uint where, const scene_view *scene) {
  const global uint *global_ids = packet_global_ids(SLAB_TRIANGLE, block);
  const few_rows rows = few_triangles(p->ray.k, block);
  const few_mask some = few_lanes(shown);
  packet_found found;
  float limits[LANES];
  uint skips[LANES], blocker = 0;
  lanes_store(p->limit, limits);
  if (scene->cast->skip != 0) lanes_store(p->skip, skips);
  found.rays = 0;
  while (bits != 0) {
    const uint a = lowest_lane(bits), others = bits & (bits - 1);
    const uint b = SINGLY == 2 && others != 0 ? lowest_lane(others) : a;
    bits = SINGLY == 2 ? others & (others - 1) : others;
    const few_ray ray = few_rays(each, a, b);
    few_real t;
    const few_mask hit =
        triangle_intersect_some(&ray, &rows, some, few_of(limits[a], limits[b]), scene->cast->rules, &t);
    const uint hits = few_bits(hit);
    if (hits == 0) continue;
    uint of_a = hits & EIGHT_BITS, of_b = SINGLY == 2 ? hits >> BVH_WIDTH : of_a;
    if (scene->cast->skip != 0) {
      of_a = packet_unskipped(of_a, global_ids, skips[a]);
      of_b = packet_unskipped(of_b, global_ids, skips[b]);
    }
    found.rays |= (of_a != 0 ? 1u << a : 0) | (of_b != 0 ? 1u << b : 0);
    if (SLAB_QUERY == SLAB_ANY) {
      blocker |= of_a | of_b;
      continue;
    }
    found.triangles[b] = of_b;
    found.triangles[a] = of_a;
    few_store(t, found.t[a], found.t[b]);
  }
  if (SLAB_QUERY != SLAB_ANY)
    packet_take_found(p, &found, global_ids, where, scene);
  else if (found.rays != 0)
    packet_blocked(p, found.rays, SLAB_TRIANGLE, where, lowest_lane(blocker));
}

/* Tests rays against the triangles of a block in `bits`, each ray against its candidates. */
INLINE void packet_own(packet *p, uint rays, uint bits, const global float *block, uint where,
                       const scene_view *scene) {
  const word candidates = own_candidates(&p->ray, block, bits);
  const global float *global_ids = block + TRIANGLE_ROWS * BVH_WIDTH;
  for (word left = packet_mask(rays) ? candidates : (word)(0); lanes_any(left != 0); left &= left - 1) {
    packet_crossing c = {.lane = own_lowest(left), .where = where};
    const triangle_rows rows = own_triangles(p->ray.k, block, c.lane);
    mask hit = triangle_intersect_some(&p->ray, &rows, left != 0, p->limit, scene->cast->rules, &c.t);
    c.global_id = lanes_as_word(lanes_pick(global_ids, c.lane));
    if (scene->cast->skip != 0) hit &= p->skip != c.global_id;
    const uint hits = lanes_bits(hit);
    if (SLAB_QUERY != SLAB_ANY) {
      packet_take(p, hits, &c);
    } else if (hits != 0) {
      packet_blocked(p, hits, SLAB_TRIANGLE, where, as_uint(lanes_at(lanes_as_real(c.lane), lowest_lane(hits))));
      left = hit ? (word)(0) : left;
    }
  }
}

/* Tests rays against blocks. */
INLINE void packet_blocks(const uint kind, packet *p, const packet_rows *each, const packet_interval *h, uint rays,
                          const scene_view *scene, uint first, uint count) {
  for (uint n = 0; n < count; n++, first += BVH_BLOCK_UNITS(primitive_rows(kind))) {
    const global float *block = block_at(scene->blocks, (size_t)first * BLOCK_UNIT);
    const uint live = rays & p->live;
    const bool few = kind == SLAB_TRIANGLE && popcount(live) <= PACKET_INTERVAL_PAYS;
    const uint primitives = few ? EIGHT_BITS : interval_overlaps_block(kind, h, block);
    const uint shown = packet_shown(kind, p, block, scene);
    const bool singly = PACKET_OWN ? few : (popcount(live) + SINGLY - 1) / SINGLY < popcount(primitives);
    if (kind == SLAB_TRIANGLE && singly)
      packet_singly(p, each, live, shown, block, first, scene);
    else if (kind == SLAB_TRIANGLE && PACKET_OWN)
      packet_own(p, live, primitives & shown, block, first, scene);
    else
      packet_block(kind, p, live, primitives & shown, block, first, scene);
  }
}

INLINE void packet_leaf(packet *p, const packet_rows *each, const packet_interval *h, uint rays,
                        const scene_view *scene, uint first, uint meta) {
  const uint kind = BVH_LEAF_KIND(meta), count = BVH_LEAF_BLOCK_COUNT(meta);
#define SCAN_KIND(shape, name, names, noun, rows, form, place, source) \
  if (SHAPE_IN_BVH_##place && HAS_KIND(shape) && kind == shape)        \
    packet_blocks(shape, p, each, h, rays, scene, first, count);
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
  const uint before = p->live;
  const global float *block = block_at(scene->blocks, (size_t)last->where * BLOCK_UNIT);
#define ASK_KIND(shape, name, names, noun, rows, form, place, source) \
  if (HAS_KIND(shape) && last->kind == shape)                         \
    packet_block(shape, p, p->live, 1u << last->lane & packet_shown(shape, p, block, scene), block, last->where, scene);
  SHAPES(ASK_KIND)
#undef ASK_KIND
  occluder_judge(last, p->live != before);
}

/* Remembers the primitive that blocked a ray last. */
INLINE void packet_remember(const packet *p, occluder *last) {
  if (SLAB_QUERY != SLAB_ANY || SLAB_INSTANCES || p->blocker_where == SLAB_MISS || !occluder_is_next(last)) return;
  occluder_remember(last, p->blocker_kind, p->blocker_where, p->blocker_lane);
}

/* ---- the traversal ---- */

/* Rays that may overlap the bounds of a child, as bits. place: as in bvh_visit. */
INLINE uint packet_overlaps(const packet *p, scene_nodes nodes, uint place) {
  real near[3], far[3], enter;
  box_planes(&p->ray, &node_at(nodes, place / BVH_WIDTH)->bounds[0][0] + place % BVH_WIDTH, near, far);
  return p->live & lanes_bits(box_may_overlap(&p->ray, near, far, p->limit, &enter));
}

/* Whether a packet visits child a before b, where the farthest one comes first: the one that more rays may overlap, or
 * the farther. */
INLINE bool packet_before(const bvh_visit *a, const bvh_visit *b) {
  const uint rays = popcount(a->place), other = popcount(b->place);
  return rays != other ? rays > other : a->enter > b->enter;
}

/* Visits the children of a node that the packet interval may overlap. Where hits lower limits the rays are tested
 * against a child when it is visited, since fewer may overlap it by then. Elsewhere they are tested at once. Then only
 * children that some ray may overlap are visited, and `place` of a visit is these rays, as bits. */
INLINE bool packet_down(const packet *p, const packet_interval *h, bvh_path *path, const scene_view *scene) {
  const uint node = path->next.child, base = path->top;
  float enter[BVH_WIDTH];
  interval_real entered;
  uint bits = eight_bits(interval_overlaps_boxes(h, &node_at(scene->nodes, node)->bounds[0][0], &entered)), count = 0;
  bvh_visit visits[BVH_WIDTH + 1];
  vstore8(entered, 0, enter);
  if (PACKET_LIMITS) return bvh_down(path, scene, node, bits, enter, h->limit);
  const bool farthest = SLAB_QUERY == SLAB_ANY && scene->cast->farthest != 0;
  for (; bits != 0; bits &= bits - 1) {
    bvh_visit v = bvh_child(scene, node, lowest_lane(bits), enter);
    v.place = packet_overlaps(p, scene->nodes, v.place);
    visits[count] = v;
    count += v.place != 0; /* branchless: the branch is unpredictable */
  }
  if (count == 0) return bvh_pop(path, h->limit);
  bvh_visit next = visits[0];
  for (uint k = 1; k < count; k++) {
    const bvh_visit *v = &visits[k];
    bvh_choose(path, base, &next, *v, farthest ? packet_before(v, &next) : bvh_before(v, &next));
  }
  path->next = next;
  return true;
}

/* The rays that visit a child. */
INLINE uint packet_visitors(const packet *p, const bvh_visit *v, const scene_view *scene) {
  return PACKET_LIMITS ? packet_overlaps(p, scene->nodes, v->place) : p->live & v->place;
}

#if SLAB_INSTANCES

/* ---- instances ---- */

/* What a packet needs on one level: the scene, or a model that it is in. */
typedef struct packet_level {
  packet_interval h;
  packet_rows each;
} packet_level;

/* VISIT_INSTANCE of the gate in a lane. Its place is rays, as bits. */
#define VISIT_LANE(lane) (VISIT_INSTANCE + (lane))

INLINE void packet_begin(packet *p, const scene_view *scene) {
  p->level = p->first_geometry = p->bottom = 0;
  p->model = scene_model(scene, 0);
  p->geometry = p->where = p->lane = (word)(SLAB_MISS);
  p->count = (word)(0);
}

/* The rays of the packet are prepared, and have one octant. */
INLINE void packet_arrive(const packet *p, packet_level *at) {
  at->h = packet_interval_of(p);
  packet_store(&p->ray, &at->each);
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
  uint bits = eight_bits(interval_overlaps_boxes(h, block, &entered));
  vstore8(entered, 0, enter);
  for (; bits != 0; bits &= bits - 1) {
    const uint lane = lowest_lane(bits);
    if ((packet_entry(p, instances[lane], scene)->mask & scene->cast->mask) == 0) continue;
    const bvh_visit v = {first, VISIT_LANE(lane), enter[lane], ALL_RAYS};
    visit_insert(path, base, v);
  }
  return bvh_pop(path, h->limit);
}

/* Takes those rays of the packet into the model of an instance that pass its gate and have the octant of the first of
 * them there. The others go there later. False where none does. */
INLINE bool packet_visit(packet *p, packet_level *at, bvh_path *path, const scene_view *scene) {
  const bvh_visit v = path->next;
  const global float *block = block_at(scene->blocks, (size_t)v.child * BLOCK_UNIT);
  const uint lane = v.meta - VISIT_INSTANCE, number = ((const global uint *)(block + BOX_ROWS * STRIDE))[lane];
  GLOBAL const geometry_entry *group = packet_entry(p, number, scene);
  GLOBAL const instance_entry *of = scene_instance(scene, group->first + (number - group->global_id_base));
  packet *inner = p + 1;
  real leave;
  const mask passes = box_solid(&p->ray, block + lane, p->ray.t_max, &inner->gate, &leave);
  uint rays = p->live & v.place & lanes_bits(passes & (inner->gate <= p->limit)), alike;
  if (rays == 0) return false;
  instance_map map;
  UNROLL for (int i = 0; i < 9; i++) map.inverse[i] = (real)(of->inverse[i]);
  UNROLL for (int i = 0; i < 3; i++) map.place[i] = (real)(of->place[i]);
  const ray_given given = instance_ray(&p->ray, &map);
  inner->ray = ray_scale(&given);
  rays &= lanes_bits(inner->ray.state == RAY_LIVE);
  if (rays == 0) return false;
  const uint octant = packet_octant(inner, rays, &alike);
  if (alike != rays) visit_push(path, v.child, v.meta, v.enter, rays & ~alike);
  ray_turn(&inner->ray, octant);
  inner->live = alike;
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
  if (SLAB_QUERY == SLAB_ANY) p->live &= p[1].live | ~p[1].entered;
}

/* Pops, after hits. What is left of a level is dropped where no ray is live there. */
INLINE bool packet_pop(const packet *p, packet_level *at, bvh_path *path) {
  if (PACKET_LIMITS) at->h.limit = most_live(p, p->limit);
  if (SLAB_QUERY == SLAB_ANY && p->live == 0) path->top = p->bottom;
  return bvh_pop(path, at->h.limit);
}

/* Traverses a scene with instances. p, at: of the scene; SCENE_LEVELS elements. */
INLINE void packet_traverse(packet *p, packet_level *at, const scene_view *scene) {
  bvh_visit stack[SLAB_STACK];
  bvh_path path;
  bool more = true, whole = true; /* whole: no bounds of the next visit are known */
  bvh_begin(&path, stack);
  visit_ungated(&path, p->model);
  packet *all = p;
  while (more) {
    const uint child = path.next.child, meta = path.next.meta, kind = BVH_LEAF_KIND(meta);
    const bool is_inner = BVH_IS_INNER(meta), is_instance = !is_inner && kind == BVH_LEAF_KIND(VISIT_INSTANCE);
    whole = whole || (!is_inner && kind > SHAPE_INSTANCE);
    const uint rays = whole ? p->live : packet_visitors(p, &path.next, scene);
    whole = false;
    all->steps++;
    if (meta == VISIT_END) {
      p--, at--;
      packet_left(p);
      more = packet_pop(p, at, &path);
    } else if (is_instance) {
      whole = packet_visit(p, at, &path, scene);
      p += whole ? 1 : 0, at += whole ? 1 : 0;
      more = whole || bvh_pop(&path, at->h.limit);
    } else if (rays == 0) {
      more = bvh_pop(&path, at->h.limit);
    } else if (is_inner) {
      more = packet_down(p, &at->h, &path, scene);
    } else if (kind >= SHAPE_INSTANCE) {
      more = packet_gates(p, &at->h, &path, scene, child,
                          meta == VISIT_GATES ? path.next.place : BVH_LEAF_BLOCK_COUNT(meta));
    } else {
      packet_leaf(p, &at->each, &at->h, rays, scene, child, meta);
      more = packet_pop(p, at, &path);
    }
  }
}

#else

/* The traversal where hits lower limits. */
INLINE void packet_traverse_nearest(packet *p, const packet_rows *each, packet_interval *h, const scene_view *scene) {
  packet_children stack[PACKET_LEVELS];
  packet_path path;
  packet_path_begin(&path, stack);
  for (uint rays = p->live;;) {
    bool known = false; /* the next visit is */
    if (BVH_IS_INNER(path.meta)) {
      interval_real enter;
      const int8 overlapped = interval_overlaps_boxes(h, &node_at(scene->nodes, path.child)->bounds[0][0], &enter);
      known = packet_path_down(&path, scene, enter, overlapped);
    } else {
      packet_leaf(p, each, h, rays, scene, path.child, path.meta);
      h->limit = most_live(p, p->limit);
    }
    do {
      if (!known && !packet_path_pop(&path, scene, h->limit)) return;
      known = false;
      rays = packet_overlaps(p, scene->nodes, path.place);
    } while (rays == 0);
  }
}

INLINE void packet_traverse(packet *p, const packet_rows *each, packet_interval *h, const scene_view *scene) {
  bvh_visit stack[SLAB_STACK];
  bvh_path path;
  uint rays = p->live;
  bool more = true;
  bvh_begin(&path, stack);
  while (more && p->live != 0 && !packet_is_full(p)) {
    p->steps++;
    if (rays == 0) {
      more = bvh_pop(&path, h->limit);
    } else if (BVH_IS_INNER(path.next.meta)) {
      more = packet_down(p, h, &path, scene);
    } else {
      packet_leaf(p, each, h, rays, scene, path.next.child, path.next.meta);
      more = bvh_pop(&path, h->limit);
    }
    if (more) rays = packet_visitors(p, &path.next, scene);
  }
}

#endif

/* ---- results out ---- */

#ifdef SLAB_NATIVE

/* Sorts the hits of each ray in the log, all rays at once: most have one hit or two, found from near to far. */
INLINE void packet_sort(const packet *p) {
  packet_log *log = p->log;
  const word counts = lanes_from(log->counts);
  for (uint k = 0; k < log->most; k++) {
    const mask has = counts > k;
    const real found = has ? lanes_from(log->t[k]) : (real)(1.0f);
    real t = has ? ray_t_written(&p->ray, found) : (real)(INFINITY);
    word global_id = has ? lanes_from(log->global_id[k]) : (word)(SLAB_MISS);
    word where = lanes_from(log->where[k]), lane = lanes_from(log->lane[k]);
    uint at = k;
    for (; at > 0; at--) {
      const real before = lanes_from(log->t[at - 1]);
      const word id = lanes_from(log->global_id[at - 1]), in = lanes_from(log->where[at - 1]),
                 of = lanes_from(log->lane[at - 1]);
      const mask is_after = (before > t) | ((before == t) & (id > global_id));
      if (!lanes_any(is_after)) break;
      lanes_store(is_after ? before : t, log->t[at]);
      lanes_store(is_after ? id : global_id, log->global_id[at]);
      lanes_store(is_after ? in : where, log->where[at]);
      lanes_store(is_after ? of : lane, log->lane[at]);
      t = is_after ? t : before;
      global_id = is_after ? global_id : id;
      where = is_after ? where : in;
      lane = is_after ? lane : of;
    }
    lanes_store(t, log->t[at]);
    lanes_store(global_id, log->global_id[at]);
    lanes_store(where, log->where[at]);
    lanes_store(lane, log->lane[at]);
  }
}

/* Writes the lists of SLAB_ALL, one after the other. Lanes beyond the last ray have hits too, which are left out. */
INLINE void packet_lists(packet *p, const cast_arrays *arrays, const scene_view *scene, size_t first, uint count,
                         hit_share *share) {
  const cast_uniforms *cast = scene->cast;
  const packet_log *log = p->log;
  const uint most = cast->most != 0 ? min(cast->most, log->most) : log->most;
  const word counts = lanes_from(log->counts);
  uint begins[LANES], end[LANES];
  packet_sort(p);
  for (uint i = 0, hits = 0; i < count; i++) {
    begins[i] = hits;
    end[i] = hits += min(log->counts[i], most);
  }
  const uint begin = lists_reserve(arrays, cast, first, count, end, share);
  if (begin == LIST_LOST) return;
  global slab_hit *out = (global slab_hit *)(listing_room(arrays->results, cast) + begin);
  uint left = lanes_bits(counts > 0u) & first_lanes(count), group;
  for (; left != 0; left &= ~group) {
    packet_turn(p, left, &group);
    for (uint k = 0; k < most; k++) {
      const uint bits = group & lanes_bits(counts > k);
      if (bits == 0) break;
      const packet_hits m = {&p->ray, lanes_from(log->t[k]),
                             packet_mask(bits) ? lanes_from(log->global_id[k]) : (word)(SLAB_MISS),
                             lanes_from(log->where[k]), lanes_from(log->lane[k])};
      uint places[LANES];
      lanes_store(lanes_from(begins) + k, places);
      attributes_of_hits(&m, scene, out, places, bits);
    }
  }
}

#endif

/* Writes the closest hits of some rays of a packet. */
INLINE void packet_hits_write(const packet *p, uint rays, const scene_view *scene, global slab_hit *out) {
#if PACKET_DEFERS
  const mask found = p->global_id != SLAB_MISS;
  const word reason = reason_of(&p->ray), none = (word)(0);
#if SLAB_INSTANCES
  const word geometry = p->geometry;
#else
  const word geometry = none;
#endif
  real row[8] = {found ? p->t : (real)(INFINITY),
                 (real)(0.0f),
                 (real)(0.0f),
                 (real)(0.0f),
                 lanes_as_real(found ? p->lane : none),
                 lanes_as_real(found ? geometry : none),
                 lanes_as_real(found ? p->global_id : reason),
                 lanes_as_real(found ? p->where : reason)};
  hits_write(row, out, 0, rays);
  (void)scene;
#else
  const word global_id = packet_mask(rays) ? p->global_id : (word)(SLAB_MISS);
  const packet_hits m = {&p->ray, p->t, global_id, p->where, p->lane};
  attributes_of_hits(&m, scene, out, 0, rays);
#endif
}

/* One byte for each of eight bits: 0 or 1. */
INLINE ulong bytes_of(uint bits) {
  const ulong each = (ulong)(bits & 0xFFu) * 0x0101010101010101UL & 0x8040201008040201UL; /* byte k keeps bit k */
  return (each + 0x7F7F7F7F7F7F7F7FUL) >> 7 & 0x0101010101010101UL;
}

/* Writes the results of SLAB_ANY, of the rays in `bits` 1. */
INLINE void packet_any_write(uint bits, global uchar *out, uint count) {
  if (count == LANES) {
    UNROLL for (uint i = 0; i < LANES / 8; i++) vstore8(as_uchar8(bytes_of(bits >> 8 * i)), i, out);
    return;
  }
  for (uint i = 0; i < count; i++) out[i] = bits >> i & 1;
}

/* Writes the results of all queries but SLAB_CLOSEST. share: as in query_end. blocked: rays, of SLAB_ANY. */
INLINE void packet_end(packet *p, uint blocked, const cast_arrays *arrays, const scene_view *scene, size_t first,
                       uint count, hit_share *share) {
  const mask found = p->global_id != SLAB_MISS;
  uint words[LANES];
  float values[LANES];
  global void *results = results_begin(arrays, scene->cast);
  if (SLAB_QUERY == SLAB_DISTANCE) {
    lanes_store(found ? ray_final_t(&p->ray, p->t) : (real)(INFINITY), values);
    lanes_store(found ? p->global_id : reason_of(&p->ray), words);
    for (uint i = 0; i < count; i++)
      distance_write(results, first + i, short_hit_of(scene, values[i], words[i]), scene->cast);
  } else if (SLAB_QUERY == SLAB_ANY) {
    packet_any_write(blocked, (global uchar *)results + first, count);
#ifdef SLAB_NATIVE
  } else if (SLAB_QUERY == SLAB_ALL) {
    packet_lists(p, arrays, scene, first, count, share);
#endif
  } else if (SLAB_QUERY == SLAB_COUNT) {
    lanes_store(p->count, words);
    for (uint i = 0; i < count; i++) ((global uint *)results)[first + i] = words[i];
  }
  (void)share;
}

/* Casts the live rays of a packet, which have one octant. */
INLINE void packet_group(packet *p, occluder *last, const scene_view *scene) {
#if SLAB_INSTANCES
  packet_level at[SCENE_LEVELS];
  packet_arrive(p, at);
  packet_outside(p, &at->each, &at->h, scene);
  packet_traverse(p, at, scene);
  (void)last;
#else
  packet_occluder(p, last, scene);
  if (p->live == 0) return;
  packet_interval h = packet_interval_of(p);
  packet_rows each;
  if (HAS_KIND(SLAB_TRIANGLE)) packet_store(&p->ray, &each);
  packet_outside(p, &each, &h, scene);
  if (PACKET_LIMITS)
    packet_traverse_nearest(p, &each, &h, scene);
  else
    packet_traverse(p, &each, &h, scene);
  packet_remember(p, last);
#endif
}

/* Casts `count` rays from first on, LANES at most. What a packet tells (PACKET_LEFT): its rays are packet fallback,
 * left to wide.cl. */
INLINE uint packet_cast(const cast_arrays *arrays, const scene_view *scene, size_t first, uint count, occluder *last,
                        packet_log *log, hit_share *share) {
  const cast_uniforms *cast = scene->cast;
  const ray_given given = rays_load(arrays, cast, first, count);
#if SLAB_INSTANCES
  packet levels[SCENE_LEVELS], *p = levels;
  if (cast->skip != 0) return PACKET_LEFT;
  packet_begin(p, scene);
  p->ray = ray_scale(&given);
#else
  packet one = {.ray = ray_scale(&given)}, *p = &one;
#endif
  const uint all = first_lanes(count);
  uint blocked = 0, written = 0, left = lanes_bits(p->ray.state == RAY_LIVE);
  if (left != 0 && !packet_agrees(p, left)) return PACKET_LEFT;
  p->t = p->limit = p->ray.t_max;
  p->global_id = (word)(SLAB_MISS);
  p->skip = packet_skips(arrays, scene, first, count);
  p->log = log;
  if (SLAB_QUERY == SLAB_ALL) packet_log_begin(log);
  p->turned = SLAB_MISS;
  p->steps = 0;
  p->blocker_where = SLAB_MISS;
  do { /* attributes are computed of rays of one octant, so their hits are written at once; dead rays with the last */
    uint group = 0;
    if (left != 0) {
      packet_turn(p, left, &group);
      p->live = group;
      packet_group(p, last, scene);
      if (packet_is_full(p)) return PACKET_LEFT;
      blocked |= group & ~p->live;
      left &= ~group;
    }
    if (SLAB_QUERY == SLAB_CLOSEST)
      packet_hits_write(p, (left == 0 ? ~written : group) & all, scene,
                        (global slab_hit *)results_begin(arrays, cast) + first);
    written |= group;
  } while (left != 0);
  if (cast->invalid != 0) {
    const uint bits = lanes_bits(p->ray.state == RAY_INVALID) & all;
    if (bits != 0) atomic_add(arrays->invalid + cast->at[AT_INVALID], popcount(bits));
  }
  packet_end(p, blocked, arrays, scene, first, count, share);
  return SLAB_QUERY == SLAB_ANY ? min(p->steps, PACKET_STEPS_MOST) << 1 : 0;
}

/* The arguments of `wide`. cast.rays_each is a multiple of LANES. fallback: one byte per packet (PACKET_LEFT). Packets
 * of SLAB_ALL alone may be sorted. */
KERNEL_HINT kernel void KERNEL_NAME(packets)(WORK_ITEM const global slab_ray *rays, global void *results,
                                             const global uint *offsets, const global geometry_entry *table,
                                             BLOCKS_PARAMETERS, const global slab_primitive_id *skips,
                                             volatile global uint *invalid, const cast_uniforms cast, NODES_PARAMETERS,
                                             global uchar *fallback, const global uint *sorted) {
  const scene_view scene = {table, BLOCKS_GIVEN, NODES_GIVEN, &cast, false};
  const cast_arrays arrays = {rays, results, offsets, skips, invalid, SLAB_QUERY == SLAB_ALL ? sorted : 0};
  size_t next = get_global_id(0) * cast.rays_each;
  const size_t end = next + cast.rays_each < cast.rays ? next + cast.rays_each : cast.rays;
  occluder last = occluder_none();
  hit_share share = {0, 0};
  packet_log log;
  (void)sorted;
  for (; next < end; next += LANES)
    fallback[next / LANES] =
        (uchar)packet_cast(&arrays, &scene, next, end - next < LANES ? (uint)(end - next) : LANES, &last, &log, &share);
}
