/* A packet: LANES rays that go through a BVH together, their octants, and the primitives of a block that they meet. */
#ifndef WALK_PACKET_H
#define WALK_PACKET_H

#include "maths/answer.h"
#include "maths/instances.h"
#include "walk/columns.h"

typedef struct packet {
  prepared_ray ray;
  uint live;     /* rays that are not done, as bits */
  uint turned;   /* the octant that `ray` is turned for; SLAB_MISS: none yet; not set in a model */
  uint steps;    /* of the traversal; SLAB_ANY, counted by the packet of the scene */
  real t, limit; /* these as in query_state */
  word global_id, where, count, skip;
  word lane;              /* lane of the best hit in its block */
  struct packet_log *log; /* SLAB_ALL */
  /* SLAB_ANY: the primitive that blocked a ray last: its kind, its block or SLAB_MISS, and its lane there. */
  uint blocker_kind, blocker_where, blocker_lane;
#if SLAB_INSTANCES
  /* The packet in a model is the next element of an array. It has no hits: the first packet, of the scene, has. */
  uint level;
  GLOBAL const model_entry *model;
  uint first_geometry; /* id of the model's first geometry */
  uint bottom;         /* entries of the stack below those of this level */
  uint entered;        /* rays that were live when the packet went into the model; SLAB_ANY */
  real gate;           /* as in instance_t; not set for the scene */
  word geometry;       /* id of the geometry of the best hit */
#endif
} packet;

/* ---- rays ---- */

#if LANES == 32
#define LANE_NUMBERS                                                                                                \
  ((word)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, \
          29, 30, 31))
#elif LANES == 16
#define LANE_NUMBERS ((word)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#else
#define LANE_NUMBERS ((word)(0, 1, 2, 3, 4, 5, 6, 7))
#endif

#define ALL_RAYS (0xFFFFFFFFu >> (32 - LANES))

/* Rays as bits, and as lanes. */
INLINE mask packet_mask(uint rays) { return ((word)(rays) & (word)(1u) << LANE_NUMBERS) != 0; }

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

#if SLAB_INSTANCES
/* The entry of a primitive's geometry, in the model that the packet is in. */
INLINE GLOBAL const geometry_entry *packet_entry(const packet *p, uint global_id, const scene_view *scene) {
  return model_entry_of(scene, p->model, global_id);
}
#else
INLINE GLOBAL const geometry_entry *packet_entry(const packet *p, uint global_id, const scene_view *scene) {
  (void)p;
  return scene->table + geometry_of(scene->table, scene->cast->geometries, global_id);
}
#endif

INLINE const global uint *packet_global_ids(const uint kind, const global float *block) {
  return (const global uint *)(block + primitive_rows(kind) * BVH_WIDTH);
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

#if SLAB_INSTANCES
INLINE uint packet_geometry(const packet *p, uint global_id, const scene_view *scene) {
  return SLAB_QUERY == SLAB_CLOSEST ? p->first_geometry + packet_entry(p, global_id, scene)->id : 0;
}
#endif

#endif
