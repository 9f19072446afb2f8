/* Rays from host memory through the devices and back: cast.c asks, scheduler.c hands stretches of the rays to the
 * devices, chunk.c takes one there and back. */
#ifndef SLABCAST_SCHEDULER_H
#define SLABCAST_SCHEDULER_H

#include "arithmetic.h"
#include "private.h"

/* Hits that wait until it is known where they go. Drivers may touch their memory until schedule_rays returns. */
typedef struct collection {
  uint64_t *counts;   /* receives how many each ray has, */
  size_t rays;        /* as far as they were cast, */
  uint64_t found;     /* and how many that are in all */
  hit_batch *batches; /* the last rays first */
  size_t bytes;       /* of those */
  uint64_t most;      /* hits: with more, or with more bytes than COLLECTED_BYTES, no ray is cast any more */
} collection;

/* One call of the public API. */
typedef struct cast {
  const char *function;
  slab_scene *scene;
  slab_query query;
  const slab_ray *rays;
  size_t n, before; /* before: those of the call that are not among them, but come first */
  void *results;    /* n of result_size; the hits of SLAB_ALL */
  size_t result_size;
  const uint64_t *offsets; /* SLAB_ALL: where each ray's hits go; NULL: not known yet, */
  collection *collected;   /* and they are collected */
  const slab_cast_options *options;
  uint64_t progress_done, progress_total;
  uint64_t invalid;
  arithmetic *callers; /* how the casting thread computes outside of the library, progress callbacks included */
} cast;

/* Calls the progress callback, which there is. */
int cast_report(const cast *, uint64_t done);

/* Casts all rays, or as many as a collection takes, on every device of the context. When it returns nothing is in
 * flight, whatever the status. */
slab_status schedule_rays(cast *);

/* ---- chunk.c ---- */

/* Of a collection, at the most. */
#define COLLECTED_BYTES ((size_t)512 << 20)

/* What a stretch reads and writes in host memory. */
typedef enum part { PART_RAYS, PART_RESULTS, PART_OFFSETS, PART_SKIPS, PART_SORTED, PARTS } part;

enum { CHUNK_EVENTS = 6, FETCHES = 2 };

/* Results on their way to host memory, in bytes. */
typedef struct fetch {
  size_t at, size;
  void *mapped; /* in place */
} fetch;

/* Some of the rays on their way through a device. Zero before the first of a call. */
typedef struct chunk {
  staging_buffers *staging_buffers; /* what it runs with, until chunk_settle */
  size_t first;
  uint32_t count;
  slab_traversal traversal;
  launch launch;
  cl_mem in_place[PARTS]; /* buffers over the caller's memory */
  uint32_t *local_offsets, *sorted;
  hits_known known;       /* as collecting goes by it */
  hit_batch *batch;       /* the hits that are collected, which the caller may take at the end */
  size_t result_bytes;    /* that are written */
  fetch fetches[FETCHES]; /* of them, that are read */
  int fetch_count;
  cl_event events[CHUNK_EVENTS]; /* of everything that can fail while it runs */
  cl_uint event_count;
  cl_uint invalid;
} chunk;

/* Bytes of rays or of results that a stretch may have where they are copied: enough for transfers to run at full speed,
 * and little enough for the buffers to be kept. */
#define STAGED_BYTES ((size_t)32 << 20)

/* Bytes of a stretch's collected hits, at most. */
size_t chunk_room(const device *);

/* Sends `count` rays from `first` on their way by `traversal`; does not wait. After a failure nothing of it is in
 * flight.
 */
slab_status chunk_begin(const cast *, const device_scene *, chunk *);
/* What came of a stretch besides its results. */
typedef struct chunk_outcome {
  uint32_t invalid;
  hit_batch *batch; /* NULL: no hits are collected; else the caller's */
} chunk_outcome;

/* Waits for it: its results are then in the caller's array. In either case the next may begin. */
slab_status chunk_end(const cast *, const device_scene *, chunk *, chunk_outcome *);
/* Instead of its end: waits for whatever is in flight. */
void chunk_abandon(const device_scene *, chunk *);
/* After the last of a call: the caller's memory is the caller's again. */
slab_status chunk_settle(const device_scene *, chunk *);

#endif
