/* SLAB_ALL: the hits of a packet's rays are noted in a log, and listed from there. */
#ifndef WALK_PACKET_LIST_H
#define WALK_PACKET_LIST_H

#include "walk/attributes.h"
#include "walk/listing.h"
#include "walk/packet.h"

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
  global slab_hit *out = (global slab_hit *)(listing_space(arrays->results, cast) + begin);
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

#endif
