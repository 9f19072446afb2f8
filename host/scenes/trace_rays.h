/* Ray sets over any scene: what renderers and simulators cast. */
#ifndef SLABCAST_BENCH_TRACE_RAYS_H
#define SLABCAST_BENCH_TRACE_RAYS_H

#include <stddef.h>
#include <stdint.h>

#include "slabcast.h"

typedef enum trace_set {
  TRACE_PRIMARY, /* a camera that frames the scene; pixels along a Morton curve, so that packets are square */
  TRACE_SHADOW,  /* from what those hit to a point light */
  TRACE_DIFFUSE, /* from what those hit, by the cosine about the normal, in the order of the pixels */
  TRACE_RANDOM,  /* from anywhere in the bounds to anywhere */
  TRACE_SETS
} trace_set;

extern const char *const trace_set_names[TRACE_SETS];

/* n rays of TRACE_RANDOM: fewer of the same seed are the first of them. */
void trace_random_fill(const slab_scene_stats *, uint64_t seed, size_t n, slab_ray *rays);

/* Rays of a set for the pixels of a picture of side x side, a power of two; a share of them where the camera sees
 * nothing at a pixel. hits: room for side * side, where rays leave surfaces; else NULL. Sets *n. */
slab_status trace_rays_fill(slab_scene *, trace_set, uint64_t seed, uint32_t side, slab_ray *rays, slab_hit *hits,
                            size_t *n);

#endif
