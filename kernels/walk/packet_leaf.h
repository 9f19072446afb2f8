/* Packets at leaves, and at the primitives outside the BVH. Rays are tested against a block in one of three ways. All
 * are tested against one primitive after the other; or singly, each against all triangles (packet_singly.h); or each
 * against a triangle of its own. */
#ifndef WALK_PACKET_LEAF_H
#define WALK_PACKET_LEAF_H

#include "walk/occluder.h"
#include "walk/packet_hull.h"
#include "walk/packet_singly.h"

/* ---- one primitive after the other ---- */

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
    crossing_in(&c, p, packet_mask(ALL_RAYS), global_id, scene);
    packet_take(p, hits, &c);
  }
}

/* ---- own triangles ---- */

/* Rays of a packet that are tested each against a triangle of its own, all of one block. On a smooth surface a ray has
 * one candidate or two of the eight. So the candidates of all rays are found first, and the rest of the test is done
 * once or twice, instead of once for each triangle. */

/* Of each ray, its candidates among the triangles of a block that are in `bits`, as bits. No hit is lost. */
INLINE word own_candidates(const prepared_ray *ray, const global float *block, uint bits) {
  word candidates = (word)(0);
  for (; bits != 0; bits &= bits - 1) {
    const uint lane = lowest_lane(bits);
    const triangle_rows rows = triangle_load(ray, block + lane);
    const triangle_shear s = triangle_sheared(ray, &rows);
    triangle_edge e[3];
    triangle_edges(&s, e);
    candidates |= triangle_candidates(e) ? (word)(1u << lane) : (word)(0);
  }
  return candidates;
}

/* The lowest of eight bits, of each ray: the exponent of a float is that bit's number. Any where there is none. */
INLINE word own_lowest(word bits) {
  const word exponent = lanes_as_word(lanes_to_float(bits & (0 - bits))) >> 23;
  return (exponent - 127) & (BVH_WIDTH - 1);
}

/* The triangle of each ray. k: the axes of the shear, in its order. */
INLINE triangle_rows own_triangles(const octant_word k[3], const global float *block, word lane) {
  triangle_rows t;
  UNROLL for (int v = 0; v < 3; v++) UNROLL for (int i = 0; i < 3; i++) t.row[v][i] =
      lanes_pick(block + (3 * v + (int)k[i]) * BVH_WIDTH, lane);
  return t;
}

/* Tests rays against the triangles of a block in `bits`, each ray against its candidates. */
INLINE void packet_own(packet *p, uint rays, uint bits, const global float *block, uint where,
                       const scene_view *scene) {
  const word candidates = own_candidates(&p->ray, block, bits);
  const global float *global_ids = block + TRIANGLE_FLOATS * BVH_WIDTH;
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

/* ---- blocks ---- */

/* Where many rays meet a block of triangles each is tested against those of its own alone. */
#define PACKET_OWN (SLAB_KINDS == 1 << SLAB_TRIANGLE && !SLAB_INSTANCES)

/* With at most this many rays, a block's triangles are not tested against the hull. Measured with PoCL 3.1:
 * 2 to 5 on Zen 5, and 3 to 8 on Zen 4, are about as fast. They are 8 to 20 % faster than no threshold on shadow rays
 * of large meshes (Zen 5). Where more rays meet their own candidates 8 of 32, and 4 of 16, are best; for SLAB_ANY,
 * where each may end the ray, 6 (a Xeon with AVX-512). */
#define PACKET_HULL_PAYS (!PACKET_OWN ? 4 : SLAB_QUERY == SLAB_ANY ? LANES * 3 / 16 : LANES / 4)

/* Tests rays against blocks. */
INLINE void packet_blocks(const uint kind, packet *p, const packet_rows *each, const packet_hull *h, uint rays,
                          const scene_view *scene, uint first, uint count) {
  for (uint n = 0; n < count; n++, first += BVH_BLOCK_UNITS(primitive_floats(kind))) {
    const global float *block = block_at(scene->blocks, (size_t)first * BLOCK_UNIT);
    const uint live = rays & p->live;
    const bool few = kind == SLAB_TRIANGLE && popcount(live) <= PACKET_HULL_PAYS;
    const uint primitives = few ? EIGHT_BITS : hull_overlaps_block(kind, h, block);
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

INLINE void packet_leaf(packet *p, const packet_rows *each, const packet_hull *h, uint rays, const scene_view *scene,
                        uint first, uint meta) {
  const uint kind = BVH_LEAF_KIND(meta), count = BVH_LEAF_BLOCK_COUNT(meta);
#define SCAN_KIND(shape, name, names, noun, floats, form, place, source) \
  if (SHAPE_IN_BVH_##place && HAS_KIND(shape) && kind == shape)          \
    packet_blocks(shape, p, each, h, rays, scene, first, count);
  SHAPES(SCAN_KIND)
#undef SCAN_KIND
}

/* The primitives outside the BVH: of the scene, or of the model that the packet is in. */
INLINE void packet_outside(packet *p, const packet_rows *each, const packet_hull *h, const scene_view *scene) {
#define SCAN_KIND(shape, name)                                                                          \
  if (HAS_KIND(shape))                                                                                  \
    packet_blocks(shape, p, each, h, p->live, scene, packet_outside_of(p, scene)[OUTSIDE_##name].first, \
                  packet_outside_of(p, scene)[OUTSIDE_##name].blocks);
  SHAPES_OUTSIDE(SCAN_KIND)
#undef SCAN_KIND
}

/* ---- the occluder cache ---- */

/* For SLAB_ANY, tests the primitive that blocked an earlier ray. The test pays if it blocks one of these rays. */
INLINE void packet_occluder(packet *p, occluder *last, const scene_view *scene) {
  if (!OCCLUDERS || !occluder_is_tested(last)) return;
  const uint before = p->live;
  const global float *block = block_at(scene->blocks, (size_t)last->where * BLOCK_UNIT);
#define ASK_KIND(shape, name, names, noun, floats, form, place, source) \
  if (HAS_KIND(shape) && last->kind == shape)                           \
    packet_block(shape, p, p->live, 1u << last->lane & packet_shown(shape, p, block, scene), block, last->where, scene);
  SHAPES(ASK_KIND)
#undef ASK_KIND
  occluder_judge(last, p->live != before);
}

/* Remembers the primitive that blocked a ray last. */
INLINE void packet_remember(const packet *p, occluder *last) {
  if (!OCCLUDERS || p->blocker_where == SLAB_MISS || !occluder_is_next(last)) return;
  occluder_remember(last, p->blocker_kind, p->blocker_where, p->blocker_lane);
}

#endif
