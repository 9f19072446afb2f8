/* Many worlds by Embree 4, of instances of triangle meshes over a terrain: one scene per world, or one scene in which
 * the worlds are apart. */
#ifndef SLABCAST_BENCH_EMBREE_WORLDS_H
#define SLABCAST_BENCH_EMBREE_WORLDS_H

#include <stddef.h>
#include <stdint.h>

#include "sets/scenes.h"

/* The parts of world w by model k are transforms[(k * worlds + w) * each ...], 12 floats each. */
typedef struct worlds_plan {
  const scene_geometry *models, *terrain;
  uint32_t model_count, worlds, each; /* each: parts of a world by one model */
  uint32_t rays;                      /* of a world, which follow each other */
  uint32_t threads;
  float apart; /* from world to world, in one scene; 0: each has a scene of its own */
} worlds_plan;

typedef struct embree_worlds embree_worlds;

/* Commits all. The plan's meshes stay the caller's. Returns NULL with a message on stderr where there is no device or
 * no memory. */
embree_worlds *embree_worlds_open(const worlds_plan *, const float *transforms);
void embree_worlds_close(embree_worlds *);
/* Gives all parts, or those of one world, new places, and commits. Returns false with a message on stderr. */
int embree_worlds_move(embree_worlds *, const float *transforms);
int embree_worlds_move_one(embree_worlds *, uint32_t world, const float *transforms);
/* Closest hits by rtcIntersect1, or rtcIntersect16 (packets), of each world's rays in it; t is +inf on a miss. Of the
 * results t alone is set. Returns false with a message on stderr. */
int embree_worlds_cast(embree_worlds *, int packets, const slab_ray *rays, slab_hit *hits);

#endif
