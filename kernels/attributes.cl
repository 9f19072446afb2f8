/* Computes deferred attributes, LANES hits at once. These are closest hits of rays that were cast one by one or
 * interleaved (in scenes with instances of packets too), or hits that SLAB_ALL has listed. Kernels of wide.cl and
 * packet.cl leave t, global primitive id, block and lane of each. Computed in wide.cl, each for one lane, attributes
 * took 60 to 200 ns more (PoCL 3.1, Zen 3).
 *
 * Built as packet.cl. */
#define STRIDE 8
#define SLAB_PACKET
#define SLAB_APART
#include "walk/attributes.h"
#if SLAB_INSTANCES
#include "walk/attributes_some.h"
#else
#define attributes_of_depths(hits, geometry, scene, out, places, bits) \
  attributes_of_hits(hits, scene, out, places, bits)
#endif

/* The arguments of `wide`. offsets: of closest hits NULL: ray i has result i. Of listed hits LANES numbers of rays,
 * then LANES indices of their hits. */
KERNEL_HINT kernel void KERNEL_NAME(attributes)(WORK_ITEM const global slab_ray *rays, global void *results,
                                                const global uint *offsets, const global geometry_entry *table,
                                                BLOCKS_PARAMETERS, const global slab_primitive_id *skips,
                                                volatile global uint *invalid, const cast_uniforms cast,
                                                NODES_PARAMETERS, const global uchar *left, const global uint *sorted) {
  const scene_view scene = {table, BLOCKS_GIVEN, NODES_GIVEN, &cast, false};
  const cast_arrays arrays = {.rays = rays, .results = results, .sorted = offsets};
  const global uint *places = offsets != 0 ? offsets + LANES : 0;
  const size_t first = get_global_id(0) * LANES;
  (void)skips, (void)invalid, (void)sorted;
  if (first >= cast.rays) return;
#if !PACKET_DEFERS
  if (cast.packet != 0 && (left[first / cast.packet] & PACKET_LEFT) == 0) return; /* packets have computed theirs */
#else
  (void)left;
#endif
  const uint count = cast.rays - first < LANES ? (uint)(cast.rays - first) : LANES;
  global slab_hit *hits = (global slab_hit *)((global uint *)results + cast.at[AT_RESULTS]);
  real row[8];
  columns_load((const global float *)hits, places, first, count, row);
  const word global_id = lanes_as_word(row[DEFERRED_GLOBAL_ID]);
  if (!lanes_any(global_id < SLAB_INVALID)) return;
  const ray_given given = rays_load(&arrays, &cast, first, count);
  prepared_ray ray = ray_scale(&given);
  ray_turn(&ray, ray.octant);
  const packet_hits m = {&ray, row[DEFERRED_T], global_id < SLAB_INVALID ? global_id : SLAB_MISS,
                         lanes_as_word(row[DEFERRED_WHERE]), lanes_as_word(row[DEFERRED_LANE]) & (BVH_WIDTH - 1)};
  attributes_of_depths(&m, lanes_as_word(row[DEFERRED_GEOMETRY]), &scene, hits + first, places, first_lanes(count));
}
