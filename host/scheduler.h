/* Casts rays from host memory. cast.c calls schedule_rays, scheduler.c gives chunks of the rays to the devices, and
 * chunk.c runs one chunk on a device. */
#ifndef SLABCAST_SCHEDULER_H
#define SLABCAST_SCHEDULER_H

#include "arithmetic.h"
#include "private.h"

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

/* One call of the public API. */
typedef struct cast {
  const char *function;
  slab_scene *scene;
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
  arithmetic *callers; /* floating-point state of the casting thread outside of the library; progress callbacks run
                          with it too */
} cast;

/* Calls the progress callback, which must be set. */
int cast_report(const cast *, uint64_t done);

/* Casts all rays, or as many as a collection takes, on every device of the context. Nothing is in flight when it
 * returns, on success and on failure. */
slab_status schedule_rays(cast *);

/* ---- chunk.c ---- */

/* Maximum bytes of a collection. */
#define COLLECTED_BYTES ((size_t)512 << 20)

/* The arrays in host memory that a chunk reads and writes. */
typedef enum part { PART_RAYS, PART_RESULTS, PART_OFFSETS, PART_SKIPS, PART_SORTED, PARTS } part;

enum { CHUNK_EVENTS = 6, FETCHES = 2 };

/* Results that are being copied to host memory: offset and size in bytes. */
typedef struct fetch {
  size_t at, size;
  void *mapped; /* the mapping, where buffers are used in place */
} fetch;

/* A chunk: the rays that go to a device at once. All zero before the first of a call. */
typedef struct chunk {
  staging_buffers *staging_buffers; /* in use until chunk_settle */
  size_t first;
  uint32_t count;
  slab_traversal traversal;
  launch launch;
  cl_mem in_place[PARTS]; /* buffers that use the caller's memory */
  uint32_t *local_offsets, *sorted;
  hits_known known;       /* known number of hits per ray, for collecting */
  hit_batch *batch;       /* the collected hits; the caller may take them at the end */
  size_t result_bytes;    /* bytes of results that are written */
  fetch fetches[FETCHES]; /* parts of the results that are read */
  int fetch_count;
  cl_event events[CHUNK_EVENTS]; /* of every command that can fail while it runs */
  cl_uint event_count;
  cl_uint invalid;
} chunk;

/* Maximum bytes of a chunk's rays or results where they are copied: large enough for transfers at full speed, and small
 * enough to keep the buffers. */
#define STAGED_BYTES ((size_t)32 << 20)

/* Maximum bytes of a chunk's collected hits. */
size_t chunk_room(const device *);

/* Starts a chunk: `count` rays from `first` on, by `traversal`. Does not wait. After a failure nothing of the chunk is
 * in flight. */
slab_status chunk_begin(const cast *, const device_scene *, chunk *);
/* What a chunk gives besides its results. */
typedef struct chunk_outcome {
  uint32_t invalid;
  hit_batch *batch; /* NULL: no hits are collected; else owned by the caller */
} chunk_outcome;

/* Waits for a chunk; its results are then in the caller's array. The next chunk may begin, on success and on failure.
 */
slab_status chunk_end(const cast *, const device_scene *, chunk *, chunk_outcome *);
/* Instead of chunk_end: waits for everything in flight and drops the results. */
void chunk_abandon(const device_scene *, chunk *);
/* After the last chunk of a call: waits until the driver no longer uses the caller's memory, and returns the staging
 * buffers to the device. */
slab_status chunk_settle(const device_scene *, chunk *);

#endif
