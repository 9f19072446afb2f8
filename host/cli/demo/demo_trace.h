/* The demo's rays. One camera ray per pixel, more samples at edges. Water and gold cast reflections, two levels deep.
 * All other surfaces cast one ray to the sun and one to the sky. Each pixel of a 4 x 4 square uses another direction
 * and the result is averaged over the square, which gives 16 directions for one ray per pixel. */
#ifndef SLABCAST_CLI_DEMO_TRACE_H
#define SLABCAST_CLI_DEMO_TRACE_H

#include "demo_light.h"

/* ---- a sample of the rays, kept with their answers and compared with the CPU reference at the end ---- */

enum { PROOF_RAYS = 1000 };

/* Rays of one query: closest or any. */
typedef struct demo_proof {
  slab_query query;
  size_t count;
  slab_ray rays[PROOF_RAYS];
  slab_primitive_id skip[PROOF_RAYS];
  slab_hit hits[PROOF_RAYS]; /* for closest */
  uint8_t occluded[PROOF_RAYS];
} demo_proof;

/* Keeps `wanted` of n rays, evenly spread; all if there are fewer. skip may be NULL. */
void demo_proof_keep(demo_proof *, size_t wanted, const slab_ray *rays, size_t n, const void *results,
                     const slab_primitive_id *skip);

/* Compares the rays with the CPU reference. *wrong counts the rays that differ; the first of them is named on
 * stderr. */
slab_status demo_proof_check(const demo_proof *, slab_scene *, uint64_t *wrong);

/* ---- the picture ---- */

/* Each is one call of the library. */
enum { CAST_CAMERA, CAST_EDGES, CAST_REFERENCE, CAST_AGAIN, CAST_SUN, CAST_SKY, CAST_COUNT };
/* The first four casts add a level of nodes. A node is a ray, its hit and the light that returns along it. */
enum { LEVEL_COUNT = CAST_SUN };

typedef struct demo_cast {
  const char *what;
  slab_query query;
  size_t checked; /* rays kept for the check */
  uint64_t rays;
  double seconds;
} demo_cast;

typedef struct demo_trace {
  const demo_scene *scene;
  slab_scene *cast;
  uint32_t width, height;
  demo_cast casts[CAST_COUNT];
  demo_proof *closest, *any;
  size_t starts[LEVEL_COUNT + 1]; /* first node of each level; the levels follow each other */
  size_t room;                    /* nodes that the arrays have room for */
  slab_ray *rays;
  slab_hit *hits;
  uint8_t *lights; /* bits of enum light */
  vec3 *colors;
  size_t *edges; /* the pixel of each four nodes of CAST_EDGES */
  size_t *parents[LEVEL_COUNT -
                  CAST_REFERENCE]; /* for each node of CAST_REFERENCE and CAST_AGAIN, the node that reflects it */
} demo_trace;

demo_trace demo_trace_begin(const demo_scene *, slab_scene *, uint32_t width, uint32_t height, demo_proof *closest,
                            demo_proof *any);
void demo_trace_end(demo_trace *);

/* Runs all casts. */
slab_status demo_trace_run(demo_trace *);
/* Writes three bytes per pixel. */
void demo_trace_paint(demo_trace *, uint8_t *pixels);

#endif
