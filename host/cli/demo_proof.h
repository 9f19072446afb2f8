/* Some of the demo's rays, kept with their answers while it draws, to be held against the CPU reference after. */
#ifndef SLABCAST_CLI_DEMO_PROOF_H
#define SLABCAST_CLI_DEMO_PROOF_H

#include <stddef.h>

#include "slabcast.h"

enum { PROOF_RAYS = 1000 };

/* Rays of one query: closest or any. */
typedef struct demo_proof {
  slab_query query;
  size_t count;
  slab_ray rays[PROOF_RAYS];
  slab_primitive_id skip[PROOF_RAYS];
  slab_hit hits[PROOF_RAYS]; /* of closest */
  uint8_t occluded[PROOF_RAYS];
} demo_proof;

/* Keeps `wanted` of n rays, evenly spread; all where there are fewer. skip may be NULL. */
void demo_proof_keep(demo_proof *, size_t wanted, const slab_ray *rays, size_t n, const void *results,
                     const slab_primitive_id *skip);

/* Compares; *wrong counts the rays that differ, of which the first is named on stderr. */
slab_status demo_proof_check(const demo_proof *, slab_scene *, uint64_t *wrong);

#endif
