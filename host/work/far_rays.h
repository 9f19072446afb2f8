/* Rays of the world as floats that count from a scene's origin, and their results back. docs/contract.md, "Coordinates
 * in double", has the rules. */
#ifndef SLABCAST_WORK_FAR_RAYS_H
#define SLABCAST_WORK_FAR_RAYS_H

#include <stdbool.h>
#include <stddef.h>

#include "slabcast.h"

/* Rays of the world, of either type. */
typedef struct far_source {
  const slab_ray *rays;     /* NULL: they are doubles */
  const slab_ray64 *rays64; /* NULL: they are floats */
} far_source;

/* A scene's frame for such rays: its origin, and its bounds, which count from there, with a margin. */
typedef struct far_frame {
  double origin[3], lower[3], upper[3];
  double certain; /* up to this t the margin is wider than the error of t, and all that can be hit is within the bounds.
                     Below 0: of no t */
} far_frame;

/* unbounded: as in snapshot. */
far_frame far_frame_of(const slab_scene_stats *, bool unbounded);
/* SLAB_UNSUPPORTED where floats of the world are others than the scene's, for calls that know the latter alone. */
slab_status far_refuse_moved(const char *function, const slab_scene_stats *);

/* Rays of the world that are cast, and where their results go. Each ray has one result of `query`, `stride` bytes from
 * one to the next. Results are of the query's type for rays of floats, else of slab_result_size64. */
typedef struct far_cast {
  far_frame frame;
  far_source from;
  slab_query query;
  void *results;
  size_t stride;
} far_cast;

/* Where each of some rays begins: t of the world is (begin + t of the float ray) * unit, within the ray's range. */
typedef struct far_lines {
  double *begin, *unit;
} far_lines;

/* Makes the float rays of n rays, from number `first` on. `lines` has space for as many rows of four. */
void far_rays_make(const far_cast *, size_t first, size_t n, slab_ray *rays, const far_lines *);
/* The same where no results come back, of few rays: up to FAR_SEEN. of: a far_cast. */
enum { FAR_SEEN = 64 };
void far_rays_see(const void *of, size_t first, size_t n, slab_ray *rays);
/* Writes the results of n such rays. */
void far_results_put(const far_cast *, size_t first, size_t n, const far_lines *, const void *results);
/* Both by several threads. */
void far_rays_make_all(uint32_t threads, const far_cast *, size_t first, size_t n, slab_ray *rays, const far_lines *);
void far_results_put_all(uint32_t threads, const far_cast *, size_t first, size_t n, const far_lines *,
                         const void *results);
/* Rows of four that n rays take. */
static inline size_t far_fours(size_t n) { return (n + 3) / 4; }

/* t of the world for t of float ray i, which is ray `first` + i of the source. */
double far_t(const far_source *, const far_lines *, size_t first, size_t i, float t);
/* Turns the hits of n rays in place, from `slab_hit` to slab_hit64 where the rays are doubles. */
void far_lists_put(const far_source *, const far_lines *, size_t n, const uint64_t *offsets, void *hits);

#endif
