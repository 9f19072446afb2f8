/* A cast: one call of the public API, and where its hits are collected. */
#ifndef SLABCAST_WORK_UNIFORMS_H
#define SLABCAST_WORK_UNIFORMS_H

#include "base/arithmetic.h"
#include "data/types.h"
#include "record/boundary.h"
#include "record/chunk.h"
#include "record/set_rays.h"
#include "record/snapshot.h"
#include "record/sums.h"
#include "slabcast.h"
#include "work/far_rays.h"
#include "work/hit_batch.h"
#include "work/ray_order.h"

/* Hits that are kept until their place in the caller's array is known. Drivers may access their memory until
 * schedule_rays returns. */
typedef struct collection {
  uint64_t *counts;   /* receives the number of hits of each ray */
  size_t rays;        /* rays that were cast */
  uint64_t found;     /* hits of those rays in all */
  hit_batch *batches; /* batches in descending order of rays */
  size_t bytes;       /* bytes of the batches */
  uint64_t most;      /* limit of hits: beyond it, or beyond COLLECTED_BYTES, no more rays are cast */
} collection;

/* Points, in place of rays. */
typedef struct asked_points {
  slab_point_query query;
  const float *points; /* n times 3 floats */
  const float *radii;  /* one each; NULL: all have `radius` */
  float radius;
} asked_points;

/* One call of the public API. */
typedef struct cast {
  const char *function;
  const snapshot *scene;
  slab_query query;
  const slab_ray *rays;
  size_t n, before; /* before: rays of the same call that precede these and are not among them */
  void *results;    /* n results of result_size bytes; for SLAB_ALL the hits */
  size_t result_size;
  const uint64_t *offsets; /* SLAB_ALL: where each ray's hits are stored; NULL: not known yet */
  collection *collected;   /* where hits are collected meanwhile; else NULL */
  const slab_cast_options *options;
  uint64_t progress_done, progress_total;
  uint64_t invalid;
  arithmetic *callers;  /* floating-point state of the casting thread outside of the library; progress callbacks run
                           with it too */
  rays_rows rows;       /* in which the rays come; not looked for where no backend needs it */
  const set_rays *set;  /* of which the rays are; NULL: they are an array */
  const row_sums *sums; /* where the results are summed; NULL: they are `results` */
  const asked_points *points; /* NULL: rays are cast. Else query is point_programs', and options are there */
  const boundary *boundary;   /* of which winding numbers get terms, as floats; NULL: they stay whole */
  const slab_ray64 *rays64;   /* of the world, in place of rays; NULL: there are none */
  const far_cast *far; /* rays of the world and their results, which the backend makes and puts, in place of `rays` and
                          `results`; NULL: they are made before */
} cast;

/* Bytes of one ray, or point. */
static inline size_t input_size(const cast *c) { return c->points != NULL ? 3 * sizeof(float) : sizeof(slab_ray); }

/* The hits of a ray that SLAB_ALL lists at most; 0: all. */
static inline uint32_t max_hits(const cast *c) { return c->options != NULL ? c->options->max_hits : 0; }

/* Whether rays have masks, worlds, or hits to begin after, of their own: they are cast one by one, by programs of
 * SLAB_OWN. */
static inline bool has_own_rays(const slab_cast_options *options) {
  return options != NULL && (options->masks != NULL || options->after != NULL || options->worlds != NULL);
}

/* The uniforms of a cast with these options (NULL: none), without the number of rays. */
void cast_uniforms_of(const snapshot *, slab_query, const slab_cast_options *, cast_uniforms *);
/* The same of a chunk. Invalid rays of SLAB_ALL with offsets are not counted: they were when the hits were counted. */
void chunk_uniforms(const cast *, const chunk *, cast_uniforms *);
/* Where a chunk's results begin in the caller's array. */
unsigned char *chunk_results(const cast *, const chunk *);
/* Where its sums begin. */
static inline uint32_t *chunk_sums(const cast *c, const chunk *of) {
  return c->sums->words + sums_word_at(c->sums, of->first);
}
/* Looks at the collected hits of a chunk, whose lists must be there, and counts them. */
slab_status chunk_look(const cast *, hit_batch *, uint32_t threads);
/* Calls the progress callback, which must be set, with the floating-point state of its caller. */
int call_progress(const slab_cast_options *, arithmetic *callers, uint64_t done, uint64_t total);
slab_status check_rules(const char *function, slab_cull, slab_edges);
/* Whether masks and hits to begin after go together with the mask and the query. */
slab_status check_own(const char *function, slab_query, uint32_t mask, bool masks, bool after);
/* The same of arrays of the host, and that no t is NaN. */
slab_status check_own_rays(const char *function, slab_query, size_t n, const slab_cast_options *);
/* Whether a scene has the worlds of n rays or points, which may be NULL. */
slab_status check_worlds(const char *function, const snapshot *, size_t n, const uint32_t *worlds);
/* Refuses options that points cannot have, of radii by index. */
slab_status check_point_options(const char *function, slab_point_query, size_t n, const slab_point_options *);
/* Refuses a scene whose instances points of this query cannot go into. */
slab_status check_is_rigid(const char *function, slab_point_query, const snapshot *);

/* The result of SLAB_SIGNED_DISTANCES for a point. */
static inline float signed_distance(float distance, int32_t winding) {
  return winding != 0 ? 0.0f - distance : distance;
}

/* The query of rays for which the kernels are built that answer a query of points (kernels/walk/points.h). */
static inline slab_query point_programs(slab_point_query query) {
  return query == SLAB_WINDING || query == SLAB_WINDING_NUMBERS ? SLAB_COUNT : SLAB_CLOSEST;
}

#endif
