/* The demo's rays. One for each pixel, more where the scene has edges; from water and gold what they mirror, twice;
 * from all else one ray to the sun and one to the sky, in another direction for each pixel of a 4 x 4 square,
 * averaged over the square: 16 directions for one. */
#ifndef SLABCAST_CLI_DEMO_TRACE_H
#define SLABCAST_CLI_DEMO_TRACE_H

#include "demo_light.h"

/* ---- some of the rays, kept with their answers while it draws, to be held against the CPU reference after ---- */

enum { PROOF_RAYS = 1000 };

/* Rays of one query: closest or any. */
typedef struct demo_proof {
  slab_query query;
  size_t count;
  slab_ray rays[PROOF_RAYS];
  slab_primitive_id skip[PROOF_RAYS];
  slab_hit hits[PROOF_RAYS]; /* of closest */
  uint8_t occluded[PROOF_RAYS];
} demo_proof;

/* Keeps `wanted` of n rays, evenly spread; all where there are fewer. skip may be NULL. */
void demo_proof_keep(demo_proof *, size_t wanted, const slab_ray *rays, size_t n, const void *results,
                     const slab_primitive_id *skip);

/* Compares; *wrong counts the rays that differ, of which the first is named on stderr. */
slab_status demo_proof_check(const demo_proof *, slab_scene *, uint64_t *wrong);

/* ---- the picture ---- */

/* Each a call of the library. */
enum { CAST_CAMERA, CAST_EDGES, CAST_REFERENCE, CAST_AGAIN, CAST_SUN, CAST_SKY, CAST_COUNT };
/* The first four add a level of nodes: a ray, what it met and the light that comes back along it. */
enum { LEVEL_COUNT = CAST_SUN };

typedef struct demo_cast {
  const char *what;
  slab_query query;
  size_t checked; /* rays that are kept for the proof */
  uint64_t rays;
  double seconds;
} demo_cast;

typedef struct demo_trace {
  const demo_scene *scene;
  slab_scene *cast;
  uint32_t width, height;
  demo_cast casts[CAST_COUNT];
  demo_proof *closest, *any;
  size_t starts[LEVEL_COUNT + 1]; /* nodes of each level, one after the other, */
  size_t room;                    /* and for how many the arrays have room */
  slab_ray *rays;
  slab_hit *hits;
  uint8_t *lights; /* bits of enum light */
  vec3 *colors;
  size_t *edges; /* the pixel that four nodes of CAST_EDGES belong to */
  size_t *
      parents[LEVEL_COUNT - CAST_REFERENCE]; /* of each node of CAST_REFERENCE and CAST_AGAIN: what it is mirrored in */
} demo_trace;

demo_trace demo_trace_begin(const demo_scene *, slab_scene *, uint32_t width, uint32_t height, demo_proof *closest,
                            demo_proof *any);
void demo_trace_end(demo_trace *);

/* All casts. */
slab_status demo_trace_run(demo_trace *);
/* Three bytes a pixel. */
void demo_trace_paint(demo_trace *, uint8_t *pixels);

#endif
