/* Ray sets for any scene, as renderers and simulators cast them. */
#ifndef SLABCAST_SETS_TRACE_RAYS_H
#define SLABCAST_SETS_TRACE_RAYS_H

#include <stddef.h>
#include <stdint.h>

#include "slabcast.h"

typedef enum trace_set {
  TRACE_PRIMARY, /* a camera with the whole scene in view; pixels along a Morton curve, so that packets are square */
  TRACE_SHADOW,  /* from the primary hits to a point light */
  TRACE_DIFFUSE, /* from the primary hits, cosine-distributed about the normal, in the order of the pixels */
  TRACE_RANDOM,  /* from anywhere in the bounds in any direction */
  TRACE_SETS
} trace_set;

/* How far off the surfaces that they leave shadow and diffuse rays begin: this share of the scene's size along x. */
#define TRACE_STEP_OFF 1e-5f

extern const char *const trace_set_names[TRACE_SETS];

/* n rays of TRACE_RANDOM. A smaller n with the same seed gives the first of these rays. */
void trace_random_fill(const slab_scene_stats *, uint64_t seed, size_t n, slab_ray *rays);

/* The rays of TRACE_PRIMARY, row by row. */
void trace_rows_fill(const slab_scene_stats *, uint32_t side, slab_ray *rays);

/* Rays of a set for a picture of side x side pixels; side is a power of two. Secondary rays are fewer where the camera
 * hits nothing at a pixel. hits: space for side * side, where rays leave surfaces; otherwise NULL. Sets *n. */
slab_status trace_rays_fill(slab_scene *, trace_set, uint64_t seed, uint32_t side, slab_ray *rays, slab_hit *hits,
                            size_t *n);

#endif
