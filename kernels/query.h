/* What a cast asks, as a policy over one traversal: the traversal offers crossings, the query keeps what it
 * needs and says how far the ray still has to look. SLAB_QUERY is a constant, so each program holds one query. */
#ifndef QUERY_H
#define QUERY_H

#include "answer.h"

typedef struct query_state {
  float t, leave;        /* the best so far; t is how far to look */
  uint order;            /* of the best */
  uint count;            /* crossings so far */
  uint skip;             /* order of the primitive not to see */
  global slab_hit *hits; /* SLAB_ALL: where this ray's hits go, */
  uint capacity;         /* and how many there are by the count */
} query_state;

INLINE query_state query_begin(const ray_frame *ray) {
  query_state q = {ray->t_max, 0.0f, SLAB_MISS, 0, SLAB_MISS, 0, 0};
  return q;
}

/* Least (t, order). */
INLINE bool query_is_better(const query_state *q, float t, uint order) {
  return t < q->t || (t == q->t && order < q->order);
}

INLINE void query_take(query_state *q, float t, float leave, uint order) {
  switch (SLAB_QUERY) {
    case SLAB_ALL:
      if (q->count < q->capacity) {
        q->hits[q->count].t = t;
        q->hits[q->count].primitive = order;
      }
      q->count++;
      break;
    case SLAB_COUNT:
      q->count++;
      break;
    default:
      if (!query_is_better(q, t, order)) break;
      q->t = t;
      q->leave = leave;
      q->order = order;
  }
}

/* Crossings of the lanes in `hit` of a block whose lane 0 has order `first`. True when the ray is done. */
INLINE bool query_offer(query_state *q, uint kind, mask hit, real t, real leave, uint first) {
  uint bits = lanes_bits(hit);
  while (bits != 0) {
    uint lane = popcount(~bits & (bits - 1));
    bits &= bits - 1;
    uint order = first + lane;
    bool skipped = (kind == SLAB_PLANE || kind == SLAB_TRIANGLE) && order == q->skip;
    if (skipped) continue;
    query_take(q, lanes_at(t, lane), SLAB_QUERY == SLAB_INTERVAL ? lanes_at(leave, lane) : 0.0f, order);
    if (SLAB_QUERY == SLAB_ANY) return true;
  }
  return false;
}

/* Hits of one ray by (t, order): a heap sort in place, since a ray may meet any number. */
INLINE bool hit_is_after(const global slab_hit *a, float t, uint order) {
  return a->t > t || (a->t == t && a->primitive > order);
}

INLINE void sift_down(global slab_hit *hits, uint root, uint count) {
  float t = hits[root].t;
  uint order = hits[root].primitive;
  for (uint child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && hit_is_after(&hits[child + 1], hits[child].t, hits[child].primitive)) child++;
    if (!hit_is_after(&hits[child], t, order)) break;
    hits[root].t = hits[child].t;
    hits[root].primitive = hits[child].primitive;
    root = child;
  }
  hits[root].t = t;
  hits[root].primitive = order;
}

INLINE void sort_hits(global slab_hit *hits, uint count) {
  for (uint i = count / 2; i-- > 0;) sift_down(hits, i, count);
  for (uint last = count; last-- > 1;) {
    float t = hits[last].t;
    uint order = hits[last].primitive;
    hits[last].t = hits[0].t;
    hits[last].primitive = hits[0].primitive;
    hits[0].t = t;
    hits[0].primitive = order;
    sift_down(hits, 0, last);
  }
}

/* Writes the result of ray i. */
INLINE void query_end(const query_state *q, const ray_frame *ray, const slab_ray *given,
                      const global geometry_entry *table, const global float *blocks, const cast_uniforms *cast,
                      global void *results, size_t i) {
  bool found = q->order != SLAB_MISS;
  if (SLAB_QUERY == SLAB_CLOSEST) {
    slab_hit hit = found ? hit_of(ray, table, blocks, cast, q->t, q->order) : hit_none(reason_of(ray));
    ((global slab_hit *)results)[i] = hit;
  } else if (SLAB_QUERY == SLAB_DISTANCE) {
    ((global float *)results)[i] = found ? ray_final_t(ray, q->t) : INFINITY;
  } else if (SLAB_QUERY == SLAB_ANY) {
    ((global uchar *)results)[i] = found ? 1 : 0;
  } else if (SLAB_QUERY == SLAB_COUNT) {
    ((global uint *)results)[i] = q->count;
  } else if (SLAB_QUERY == SLAB_INTERVAL) {
    slab_interval interval = interval_none(reason_of(ray));
    if (found) {
      uint geometry = geometry_of(table, cast->geometries, q->order);
      const geometry_entry entry = table[geometry];
      interval = interval_of(entry.kind, ray, given, q->t, q->leave, q->order - entry.order_base, geometry);
    }
    ((global slab_interval *)results)[i] = interval;
  } else {
    uint count = q->count < q->capacity ? q->count : q->capacity;
    sort_hits(q->hits, count);
    for (uint k = 0; k < count; k++) q->hits[k] = hit_of(ray, table, blocks, cast, q->hits[k].t, q->hits[k].primitive);
  }
}

#endif
