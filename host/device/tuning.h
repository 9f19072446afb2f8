/* Tuning values of each class of devices. They change no answer, only the speed. */
#ifndef SLABCAST_DEVICE_TUNING_H
#define SLABCAST_DEVICE_TUNING_H

#include "bvh/bvh.h"
#include "record/device.h"
#include "slabcast.h"

/* A number that has many divisors. */
#define FLAT_MOST 384u
/* And one that is whole blocks of 8 of any kind of primitives, by beside_work. */
#define BESIDE_MOST 528u
/* The largest group size in tuning.c, in work-items. */
#define WORK_GROUP 64

struct tuning {
  uint32_t lanes_most;    /* maximum primitives that one work-item tests at once; else the width of the device's
                             registers */
  uint32_t rays_each;     /* maximum rays per work-item in a flat scene */
  uint32_t bvh_rays;      /* and in a BVH by OpenCL */
  uint32_t local_boxes;   /* boxes of a flat scene that a group loads into local memory at a time, a multiple of 4, in
                             blocks of one lane. 0: its work-items read them from global memory */
  uint32_t group;         /* work-items per group */
  uint32_t registers;     /* most of a work-item, in compressed BVHs of one kind of primitives; 0: no limit */
  uint32_t groups_a_unit; /* rays per work-item are reduced before there are fewer groups than this per compute unit */
  /* The work that a primitive of each kind adds to brute force. Up to FLAT_MOST in all SLAB_TREE_DEFAULT builds no BVH:
   * by flat_work, or by ready_work where a BVH's kernels need not be built first. Where casts can choose between both,
   * brute force is beside the BVH up to beside_most() by beside_work. Planes add nothing: they are in no BVH. */
  uint32_t flat_work[SLAB_SHAPE_COUNT], ready_work[SLAB_SHAPE_COUNT], beside_work[SLAB_SHAPE_COUNT];
  bvh_leaves leaves;         /* leaves of the BVHs of its layout */
  uint32_t walkers;          /* rays that a work-item of SLAB_TRAVERSAL_INTERLEAVED traverses in turn, by OpenCL */
  uint32_t interleaved_rays; /* and the maximum that it casts in all */
};

/* Work of brute force beside a BVH at most: twice as much where twice as many lanes do it. */
static inline uint64_t beside_most(const device *d) { return BESIDE_MOST * (d->info.lane_width > BVH_WIDTH ? 2u : 1u); }

const tuning *tuning_of(slab_device_type);

/* Primitives per block of a scene without a BVH. It is 1 where boxes are in local memory. */
static inline uint32_t flat_lanes(const device *d) { return d->tuning->local_boxes > 0 ? 1 : d->info.lane_width; }

#endif
