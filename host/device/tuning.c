#include "device/tuning.h"

#include "bvh/bvh.h"

/* The comment at each number names the machine of the measurement. */
static const tuning cpu = {
    /* PoCL 3.1, EPYC (Zen 5, AVX-512): explicit lanes reach 6 G tests/s; compiler vectorisation reaches 0.33. */
    .lanes_most = 16,
    /* The same machine: 32 rays share a stretch of the geometry in the first-level cache, 1.35 times the speed of one
     * ray.
     */
    .rays_each = 32,
    /* EPYC (Zen 3): enough rays to use the primitive that blocked earlier rays (occluder.h). Other casts are as fast
     * with 32. */
    .bvh_rays = 128,
    .group = 4,
    .groups_a_unit = 8,
    /* Xeon (Emerald Rapids), measured before ray pairs: 16 are 1.03 to 1.07 times as fast as 8 and 12; 32 are no
     * faster. EPYC (Zen 4): 24 and 32 are 0.94 to 1.03 times as fast as 16. */
    .walkers = 16,
    /* EPYC (Zen 4): a work-item alone in its group with 128 rays is 0.96 to 1.07 times as fast as four work-items with
     * 32 rays each, 1.05 in the middle. With 64 and 256 rays it is 0.98 to 1.02 times as fast as with 128. */
    .interleaved_rays = 128,
    /* The EPYC again: leaf blocks of 8 are faster than 4 and 16 on all scenes, since a block costs hardly more than a
     * primitive. */
    .leaves = {BVH_WIDTH, BVH_LEAF_BLOCKS, BVH_COST_BLOCK},
    /* 384 primitives by PoCL: a BVH's kernels take seconds to build there. With 128 boxes random and diffuse rays are
     * as fast by either, camera rays would be 1.4 to 2.6 times as fast in packets (PoCL 3.1, Zen 3). */
    .flat_work = {[SLAB_SPHERE] = 1, [SLAB_BOX] = 1, [SLAB_OBB] = 1, [SLAB_TRIANGLE] = 1},
    /* The processor with one lane, Zen 3: both are as fast at 8 to 11 boxes, spheres and oriented boxes. */
    .ready_work = {[SLAB_SPHERE] = 48, [SLAB_BOX] = 48, [SLAB_OBB] = 48, [SLAB_TRIANGLE] = 48},
    /* 528 boxes, 88 spheres, 88 oriented boxes or 176 triangles on the processor with 8 lanes. Up to these numbers
     * brute force is as fast for some rays (bench/results/small_scenes.txt). */
    .beside_work = {[SLAB_SPHERE] = 6, [SLAB_BOX] = 1, [SLAB_OBB] = 6, [SLAB_TRIANGLE] = 3},
};

/* H200: docs/gpu_tuning.md has the other trials there. */
static const tuning gpu = {
    .lanes_most = 1,
    /* One read of a box serves four rays, and their slab tests fit the registers. */
    .rays_each = 4,
    .local_boxes = 128,
    /* One ray per work-item, as in published GPU kernels. */
    .bvh_rays = 1,
    /* Two warps of 32 work-items (NVIDIA), or one wavefront of 64 (AMD). */
    .group = 64,
    /* H200, against none: closest hits 1.09 (camera) to 1.19 times as fast (random), any hits 1.00 to 1.02. With 72 and
     * 64 random rays are another 1.03 times as fast, any hits 0.97. */
    .registers = 80,
    .groups_a_unit = 1,
    /* At most three primitives per leaf: Ylitie, Karras, Laine 2017. One is 1.1 times as fast in soup, 0.97 on terrain,
     * and takes 1.13 to 1.20 times the memory. The cost: docs/gpu_tuning.md. */
    .leaves = {1, 3, 0.3f},
    /* H200, random rays, kernels alone (bench/results/h200-nvidia580/device.txt): a BVH is 1.8 times as fast with 100
     * boxes, 4.0 times with 1,000. With 100 boxes it is faster than brute force with one. Fewer were not measured, nor
     * other kinds without a BVH. */
    .flat_work = {[SLAB_SPHERE] = 48, [SLAB_BOX] = 48, [SLAB_OBB] = 48, [SLAB_TRIANGLE] = 48},
    .ready_work = {[SLAB_SPHERE] = 48, [SLAB_BOX] = 48, [SLAB_OBB] = 48, [SLAB_TRIANGLE] = 48},
    .walkers = 8, /* used only where lanes are forced */
    .interleaved_rays = 8,
};

const tuning *tuning_of(slab_device_type type) { return type == SLAB_DEVICE_CPU ? &cpu : &gpu; }
