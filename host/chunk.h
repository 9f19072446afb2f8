/* Some of a cast's rays on their way through a device. */
#ifndef SLABCAST_CHUNK_H
#define SLABCAST_CHUNK_H

#include "cast.h"
#include "collect.h"
#include "device.h"
#include "launch.h"
#include "scene.h"
#include "slabcast.h"
#include "staging.h"

/* Maximum bytes of a collection. */
#define COLLECTED_BYTES ((size_t)512 << 20)

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
