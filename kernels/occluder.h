/* What blocked a ray is likely to block the next one too: where any hit will do it is asked before the BVH is, as long
 * as that pays (the shadow cache of Haines and Greenberg 1986, "The Light Buffer"). No answer depends on it. Rays of a
 * camera take 0.4 to 0.9 of the time one by one, 0.66 to 1 in packets; rays to one light 0.7 to 0.95 one by one; rays
 * that go any way 1 to 1.03 (PoCL 3.1, Zen 3). */
#ifndef OCCLUDER_H
#define OCCLUDER_H

#include "lanes.h"

#define OCCLUDER_PAYS 4   /* one that blocks saves as much as so many cost that do not */
#define OCCLUDER_TRUST 16 /* at the most */
#define OCCLUDER_AGAIN 16 /* of so many rays that do not trust it, one asks */

typedef struct occluder {
  bool known;
  uint kind, where, lane; /* of the primitive: its block in a BVH, and its lane there */
  uint trust, untrusted;  /* the latter: rays since one asked */
} occluder;

INLINE occluder occluder_none(void) {
  occluder o = {false, 0, 0, 0, OCCLUDER_PAYS, 0};
  return o;
}

/* Whether the next ray asks. */
INLINE bool occluder_is_next(const occluder *o) { return o->trust > 0 || o->untrusted + 1 >= OCCLUDER_AGAIN; }

INLINE void occluder_remember(occluder *o, uint kind, uint where, uint lane) {
  o->known = true;
  o->kind = kind;
  o->where = where;
  o->lane = lane;
}

/* Whether this ray asks. */
INLINE bool occluder_is_tested(occluder *o) {
  const bool asked = o->known && occluder_is_next(o);
  o->untrusted = asked || o->trust > 0 ? 0 : o->untrusted + 1;
  return asked;
}

/* What came of it. */
INLINE void occluder_judge(occluder *o, bool blocked) {
  const uint more = o->trust + OCCLUDER_PAYS < OCCLUDER_TRUST ? o->trust + OCCLUDER_PAYS : OCCLUDER_TRUST;
  const uint less = o->trust > 0 ? o->trust - 1 : 0;
  o->trust = blocked ? more : less;
}

#endif
