/* The oracle: a second opinion on every answer, by formulas of its own.
 *
 * It shares nothing with the kernels: double precision with a derived bound on what float kernels may be
 * off by, exact arithmetic where the kernels' own operations are exact, no gate, no padding, brute force.
 * For each primitive it says "certainly hit", "certainly missed" or "undecided", and encloses t. */
#ifndef SLABCAST_CHECK_ORACLE_H
#define SLABCAST_CHECK_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#include "slabcast.h"

typedef enum oracle_verdict { ORACLE_MISS, ORACLE_HIT, ORACLE_UNDECIDED } oracle_verdict;

/* One geometry as the caller added it: plain arrays of the public structs; triangles as slab_triangle, expanded. */
typedef struct oracle_geometry {
  slab_shape kind;
  const void *primitives;
  uint32_t count;
  uint32_t mask;          /* 0: all bits */
  const uint8_t *dropped; /* NULL, or count flags: skipped invalid ones, never hit */
} oracle_geometry;

typedef struct oracle_scene {
  const oracle_geometry *geometries;
  uint32_t count;
} oracle_scene;

typedef enum oracle_judgement {
  ORACLE_RIGHT,     /* certainly an answer that the contract allows */
  ORACLE_WRONG,     /* certainly not */
  ORACLE_TOO_CLOSE, /* depends on a primitive that is undecided within the error bound */
  ORACLE_NO_MEMORY  /* no memory was left to judge it */
} oracle_judgement;

/* Judges the result of one ray. result: the query's struct (slab_hit, float, uint8_t, uint32_t, slab_interval), for
 * SLAB_ALL an array of n slab_hit; n is read for SLAB_ALL alone. skip: the primitive this ray does not see
 * ({SLAB_MISS, SLAB_MISS}: none); options->skip is not read. options may be NULL. `why` receives what was wrong or
 * too close, "" when right; it may be NULL with size 0. Safe from several threads.
 *
 * Hits that are certain but whose t cannot be told apart within the error bound are right in either order. A ray
 * along the seam of a mesh is judged by the whole patch around the seam: which of its triangles is hit may
 * depend on rounding, that one is hit does not. */
oracle_judgement oracle_judge(const oracle_scene *scene, slab_query query, const slab_ray *ray, const void *result,
                              uint64_t n, slab_primitive_id skip, const slab_cast_options *options, char *why,
                              size_t why_size);

/* The verdict on one primitive and, unless it is missed, the enclosure t[0] <= t <= t[1] of what a kernel may
 * report (for SLAB_INTERVAL: of enter). An invalid ray misses everything. */
oracle_verdict oracle_decide(const oracle_geometry *geometry, uint32_t primitive, slab_query query, const slab_ray *ray,
                             const slab_cast_options *options, double t[2]);

#endif
