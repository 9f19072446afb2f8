/* What suits each class of devices: numbers that change no answer, only how fast it comes. */
#ifndef SLABCAST_TUNING_H
#define SLABCAST_TUNING_H

#include "bvh/leaves.h"
#include "slabcast.h"

typedef struct tuning {
  uint32_t lanes_most; /* primitives that one work-item tests at once: no more than this, or the device's registers */
  uint32_t rays_each;  /* rays that a work-item of a flat cast takes at most, */
  uint32_t bvh_rays;   /* and of a cast at a BVH */
  uint32_t tile;  /* boxes of a flat scene that a group fetches into local memory at a time, a multiple of 4; 0: its
                     work-items read them themselves. Those are of one lane */
  uint32_t group; /* work-items of a group */
  uint32_t groups_a_unit; /* fewer rays a work-item before there are fewer groups than this for each compute unit */
  bvh_leaves leaves;      /* of the BVHs that its layout has */
  uint32_t in_flight;     /* rays that a work-item of SLAB_TRAVERSAL_INTERLEAVED has on their way at once, */
  uint32_t rays_per_interleaved_item; /* and all that it takes at most */
} tuning;

const tuning *tuning_of(slab_device_type);

#endif
