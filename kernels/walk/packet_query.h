/* A query's values for the hits of a packet, and the results that it writes. query.h has those of single rays. */
#ifndef WALK_PACKET_QUERY_H
#define WALK_PACKET_QUERY_H

#include "walk/attributes.h"
#include "walk/packet_list.h"

/* ---- hits ---- */

/* Of SLAB_CLOSEST and SLAB_DISTANCE. */
INLINE void packet_take_nearest(packet *p, mask hit, const packet_crossing *c) {
  packet *all = packet_of_scene(p);
  const real t = ray_t_written(&all->ray, crossing_t(p, c));
  const mask is_first = crossing_is_first(all, c), better = hit & ((t < all->t) | ((t == all->t) & is_first));
  all->t = better ? t : all->t;
  all->limit = better ? ray_tie_limit(&all->ray, t) : all->limit;
  all->global_id = better ? c->global_id : all->global_id;
  all->where = better ? (word)(c->where) : all->where;
  all->lane = better ? c->lane : all->lane;
  crossing_kept(p, c, better);
}

/* Takes crossings of some rays. Not for SLAB_ANY. */
INLINE void packet_take(packet *p, uint rays, const packet_crossing *c) {
  if (SLAB_QUERY == SLAB_COUNT) {
    packet_of_scene(p)->count += packet_mask(rays) ? (word)(1) : (word)(0);
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

/* ---- results ---- */

/* Writes the closest hits of some rays of a packet. */
INLINE void packet_hits_write(const packet *p, uint rays, const scene_view *scene, global slab_hit *out) {
#if PACKET_DEFERS
  const mask found = p->global_id != SLAB_MISS;
  const word reason = reason_of(&p->ray), none = (word)(0), geometry = packet_geometry(p);
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

#endif
