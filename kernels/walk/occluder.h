/* The occluder cache. A primitive that blocked a ray is likely to block the next one too. For SLAB_ANY it is tested
 * before the BVH, as long as that pays (the shadow cache of Haines and Greenberg 1986, "The Light Buffer"). No answer
 * depends on it. Camera rays take 0.4 to 0.9 of the time one by one, 0.66 to 1 in packets. Rays to one light take 0.7
 * to 0.95 one by one. Rays of random directions take 1 to 1.03 (PoCL 3.1, Zen 3). */
#ifndef WALK_OCCLUDER_H
#define WALK_OCCLUDER_H

#include "lanes/lanes.h"

/* Not in models, where a primitive has a place for each instance. */
#define OCCLUDERS (SLAB_QUERY == SLAB_ANY && !SLAB_INSTANCES)

#define OCCLUDER_PAYS 4   /* one success saves as much as this many failures cost */
#define OCCLUDER_TRUST 16 /* upper limit of trust */
#define OCCLUDER_AGAIN 16 /* without trust, one ray of this many tests it */

typedef struct occluder {
  bool known;
  uint kind, where, lane; /* of the primitive: its block in a BVH, and its lane there */
  uint trust, untrusted;  /* untrusted: rays since the last test */
} occluder;

INLINE occluder occluder_none(void) {
  occluder o = {false, 0, 0, 0, OCCLUDER_PAYS, 0};
  return o;
}

/* Whether the next ray tests the primitive. */
INLINE bool occluder_is_next(const occluder *o) { return o->trust > 0 || o->untrusted + 1 >= OCCLUDER_AGAIN; }

INLINE void occluder_remember(occluder *o, uint kind, uint where, uint lane) {
  o->known = true;
  o->kind = kind;
  o->where = where;
  o->lane = lane;
}

/* Whether this ray tests the primitive. Counts the rays that do not. */
INLINE bool occluder_is_tested(occluder *o) {
  const bool asked = o->known && occluder_is_next(o);
  o->untrusted = asked || o->trust > 0 ? 0 : o->untrusted + 1;
  return asked;
}

/* Updates the trust by the result of a test. */
INLINE void occluder_judge(occluder *o, bool blocked) {
  const uint more = o->trust + OCCLUDER_PAYS < OCCLUDER_TRUST ? o->trust + OCCLUDER_PAYS : OCCLUDER_TRUST;
  const uint less = o->trust > 0 ? o->trust - 1 : 0;
  o->trust = blocked ? more : less;
}

#endif
