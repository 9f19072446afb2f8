/* The oracle: an independent check of every answer, by its own formulas.
 *
 * It shares no code with the kernels. It computes in double precision, with a derived bound on the error of float
 * kernels, and exactly where the kernels' own operations are exact. It uses brute force, without padded bounds. For
 * each primitive it returns "certainly hit", "certainly missed" or "undecided", and encloses t. */
#ifndef SLABCAST_CHECK_ORACLE_H
#define SLABCAST_CHECK_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/ray_own.h"
#include "slabcast.h"

typedef enum oracle_verdict { ORACLE_MISS, ORACLE_HIT, ORACLE_UNDECIDED } oracle_verdict;

/* B and p of an instance: the ray in its model's space is B (o - p), B d. */
typedef struct oracle_instance {
  float inverse[9], place[3];
  uint32_t world; /* 0: all */
} oracle_instance;

struct oracle_scene;

/* One geometry as the caller added it: arrays of the public structs. All triangles are expanded to slab_triangle. */
typedef struct oracle_geometry {
  slab_shape kind;
  const void *primitives;
  uint32_t count;
  uint32_t mask;                    /* 0: all bits */
  const uint8_t *dropped;           /* NULL, or `count` flags: invalid primitives that were skipped and are never hit */
  const struct oracle_scene *model; /* NULL, or the instances that the primitives are: `count` oracle_instance */
  uint32_t id;                      /* of the geometry; of instances that of the first geometry of the first */
  uint32_t world;                   /* 0: all; instances have worlds of their own */
} oracle_geometry;

/* Whether something sees a geometry. */
static inline bool oracle_sees(visibility s, const oracle_geometry *g) {
  return visibility_has(s, g->mask != 0 ? g->mask : UINT32_MAX, g->world);
}

/* Geometries ascend by their ids. */
typedef struct oracle_scene {
  const oracle_geometry *geometries;
  uint32_t count;
  uint32_t ids; /* of geometries: what an instance of it takes */
  /* By oracle_measure, which models need. */
  double lower[3], upper[3];
  bool open; /* it has planes or infinite bounds */
} oracle_scene;

/* Measures a scene whose models have been. */
void oracle_measure(oracle_scene *);

typedef enum oracle_judgement {
  ORACLE_RIGHT,     /* the contract certainly allows the answer */
  ORACLE_WRONG,     /* the contract certainly does not allow it */
  ORACLE_TOO_CLOSE, /* depends on a primitive that is undecided within the error bound */
  ORACLE_NO_MEMORY  /* memory ran out */
} oracle_judgement;

/* Judges the result of one ray. The result is the query's struct (slab_hit, float, uint8_t, uint32_t, slab_interval,
 * slab_short_hit), for SLAB_ALL an array of n slab_hit; n is read only for SLAB_ALL. `own` has the options of this ray
 * alone. The members of `options` that it comes from are not read; `options` may be NULL. `why` receives the reason
 * where the result is wrong or too close, "" where it is right; it may be NULL with size 0. Safe from several threads.
 *
 * Certain hits whose t differ by less than the error bound are right in either order. A ray along a shared edge of a
 * mesh is judged by the whole patch around the edge. Rounding may decide which of its triangles is hit, but not whether
 * one is hit. */
oracle_judgement oracle_judge(const oracle_scene *scene, slab_query query, const slab_ray *ray, const void *result,
                              uint64_t n, const ray_own *own, const slab_cast_options *options, char *why,
                              size_t why_size);

/* The verdict on one primitive. Unless it is missed, encloses the t that a kernel may report: t[0] <= t <= t[1] (for
 * SLAB_INTERVAL: of enter). An invalid ray misses everything. */
oracle_verdict oracle_decide(const oracle_geometry *geometry, uint32_t primitive, slab_query query, const slab_ray *ray,
                             const slab_cast_options *options, double t[2]);

#endif
