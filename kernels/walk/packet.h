/* A packet: LANES rays that go through a BVH together, their octants, and the primitives of a block that they meet. */
#ifndef WALK_PACKET_H
#define WALK_PACKET_H

#include "maths/answer.h"
#include "walk/columns.h"
#if SLAB_INSTANCES
#include "walk/packet_some.h"
#else
#include "walk/packet_none.h"
#endif

/* ---- rays ---- */

/* Global primitive ids that the rays skip. */
INLINE word packet_skips(const cast_arrays *arrays, const scene_view *scene, size_t first, uint count) {
  const cast_uniforms *cast = scene->cast;
  uint global_ids[LANES];
  if (cast->skip == 0 || SLAB_INSTANCES)
    return (word)(SLAB_MISS); /* with skips and instances rays are cast one by one */
  const global slab_primitive_id *skips =
      (const global slab_primitive_id *)((const global uint *)arrays->skips + cast->at[AT_SKIPS]);
  for (uint lane = 0; lane < LANES; lane++)
    global_ids[lane] = skipped_global_id(scene->table, cast->geometries,
                                         skips[ray_number(arrays->sorted, first + (lane < count ? lane : 0))]);
  return lanes_from(global_ids);
}

/* The octant of the first of some rays. `alike`: those of them that have it. */
INLINE uint packet_octant(const packet *p, uint rays, uint *alike) {
  uint octants[LANES];
  lanes_store(p->ray.octant, octants);
  const uint octant = octants[lowest_lane(rays)];
  *alike = rays & lanes_bits(p->ray.octant == octant);
  return octant;
}

/* Turns the packet's rays for those of the octant of the first of some rays. alike: as in packet_octant. */
INLINE void packet_turn(packet *p, uint rays, uint *alike) {
  const uint octant = packet_octant(p, rays, alike);
  if (octant == p->turned) return;
  p->turned = octant;
  ray_turn(&p->ray, octant);
}

/* Whether some rays have at most two octants, and t_min of 0 or more: below 0 box_may_overlap rejects nothing. */
INLINE bool packet_agrees(const packet *p, uint rays) {
  uint alike;
  if ((rays & lanes_bits(p->ray.t_min < 0.0f)) != 0) return false;
  packet_octant(p, rays, &alike);
  if (alike == rays) return true;
  rays &= ~alike;
  packet_octant(p, rays, &alike);
  return alike == rays;
}

/* ---- the primitives of a block ---- */

#define EIGHT_BITS ((1u << BVH_WIDTH) - 1)

INLINE const global uint *packet_global_ids(const uint kind, const global float *block) {
  return (const global uint *)(block + primitive_floats(kind) * BVH_WIDTH);
}

/* Primitives of a block that the cast's mask does not hide, as bits. Lanes without one are none: where they hold a
 * triangle of no extent, as in scenes that were packed earlier, it is a candidate of every ray (docs/tuning.md). */
INLINE uint packet_shown(const uint kind, const packet *p, const global float *block, const scene_view *scene) {
  const cast_uniforms *cast = scene->cast;
  const global uint *global_ids = packet_global_ids(kind, block);
  uint bits = EIGHT_BITS & ~eight_bits(vload8(0, global_ids) == SLAB_MISS);
  for (uint lane = 0; cast->masked != 0 && lane < BVH_WIDTH; lane++)
    if (global_ids[lane] != SLAB_MISS && (packet_entry(p, global_ids[lane], scene)->mask & cast->mask) == 0)
      bits &= ~(1u << lane);
  return bits;
}

#endif
