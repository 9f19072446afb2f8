#include "tuning.h"

#include "bvh/build.h"

/* Where each number is from stands beside it. */
static const tuning cpu = {
    /* PoCL 3.1, EPYC (Zen 5, AVX-512): explicit lanes 6 G tests/s, 0.33 where the compiler is left to vectorise. */
    .lanes_most = 16,
    /* The same: 32 rays share a tile of the geometry in the first-level cache, 1.35 times the speed of one. */
    .rays_each = 32,
    /* EPYC (Zen 3): long enough to know what blocked the rays before (occluder.h); other casts are as fast with 32. */
    .bvh_rays = 128,
    .group = 4,
    .groups_a_unit = 8,
    /* Xeon (Emerald Rapids), before rays met triangles two in a pair: 16 are 1.03 to 1.07 times as fast as 8 and 12, 32
       no faster. EPYC (Zen 4): 24 and 32 are 0.94 to 1.03 times as fast as 16. */
    .in_flight = 16,
    /* The latter: alone in its group with 128 rays a work-item is 0.96 to 1.07 times as fast as four with 32 rays each,
       1.05 in the middle; with 64 and 256 rays 0.98 to 1.02 times as fast as with 128. */
    .rays_per_interleaved_item = 128,
    /* The EPYC again: leaf blocks of 8 beat 4 and 16 everywhere, since one costs hardly more than a primitive. */
    .leaves = {BVH_WIDTH, BVH_LEAF_BLOCKS, BVH_COST_BLOCK},
};

/* Not measured yet. */
static const tuning gpu = {
    .lanes_most = 1,
    /* By the code for sm_90: what is read of a box serves four rays, and their slab tests fit the registers
       (docs/gpu.md). */
    .rays_each = 4,
    .tile = 256,
    /* A work-item a ray, as published kernels for GPUs have it. */
    .bvh_rays = 1,
    /* Two groups of 32 that run in step, or one of 64. */
    .group = 64,
    .groups_a_unit = 1,
    /* Three at the most: Ylitie, Karras, Laine 2017. The cost: docs/gpu.md. */
    .leaves = {1, 3, 0.3f},
    .in_flight = 8, /* met only where lanes are forced */
    .rays_per_interleaved_item = 8,
};

const tuning *tuning_of(slab_device_type type) { return type == SLAB_DEVICE_CPU ? &cpu : &gpu; }
