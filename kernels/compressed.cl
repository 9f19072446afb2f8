/* Traversal of an 8-wide BVH in nodes of 80 bytes, one ray per work-item. It is for GPUs: reads of memory and registers
 * in use count there, and the lanes are work-items already.
 *
 * Children are stored such that rays of any octant visit them in order of (child ^ octant), which is about front to
 * back. So nothing is sorted: the children of a node still to visit are one byte, and the stack has one entry per
 * depth. The leaves of a node are tested before its inner children are visited, in any order: which of them are tested
 * is known before the first is.
 *
 * A round of the loop visits a node where no leaves are left, and then tests one primitive where some are. So rays of a
 * warp that test primitives do not wait for those that visit nodes, nor the other way round. A loop of its own for the
 * leaves took 1.2 times as long, by the steps of warps (docs/gpu_tuning.md).
 *
 * Built with LANES 1, SLAB_QUERY and SLAB_KINDS as flat.cl, SLAB_STACK: the most inner nodes above each other, and
 * SLAB_INSTANCES. */
#define BVH_UNIT COMPRESSED_UNIT
#define SCENE_NODE compressed_node
#define SLAB_TREE 1
#include "walk/compressed.h"
#include "walk/counted.h"

#ifdef SLAB_TRACE
#define TRACE_CAST compressed_cast
#include "walk/trace.h"
#else

/* The arguments of `flat`, and nodes: the BVH, its root first. */
kernel void KERNEL_NAME(compressed)(WORK_ITEM const global slab_ray *rays, global void *results,
                                    const global uint *offsets, const global geometry_entry *table, BLOCKS_PARAMETERS,
                                    const global slab_primitive_id *skips, volatile global uint *invalid,
                                    const cast_uniforms cast, NODES_PARAMETERS OWN_PARAMETERS COUNTED_PARAMETERS) {
  const scene_view scene = {table, BLOCKS_GIVEN, NODES_GIVEN, &cast, false};
  deferred_hit lists[LISTS_HELD(1)];
  cast_arrays arrays = {rays, results, offsets, skips, invalid, 0 OWN_GIVEN};
  lists_given(&arrays, lists, get_global_id(0));
  size_t i = get_global_id(0) * cast.rays_each;
  COUNTED_RAYS(ray_count, cast);
  const size_t end = i + cast.rays_each < ray_count ? i + cast.rays_each : ray_count;
  hit_share share = {0, 0};
  for (; i < end; i++) {
    const slab_ray given = query_ray(&arrays, &cast, i);
    const prepared_ray ray = ray_prepare(&given);
    query_state q = query_begin(&ray, &arrays, &scene, i, get_global_id(0));
#if SLAB_INSTANCES /* in one function with descend it takes more registers on GPUs */
    ray_depths depths;
    depths_begin(&q, &depths, &ray, &scene);
    if (ray.state == RAY_LIVE) descend(&q, &scene);
#else
    if (ray.state == RAY_LIVE && !scan_outside(&q, &ray, &scene, cast.outside)) descend(&q, &ray, &scene);
#endif
    query_end(&q, &ray, &given, &arrays, &scene, i, &share);
  }
}

#endif
