/* Some of a cast's rays on their way through a device. */
#ifndef SLABCAST_RECORD_CHUNK_H
#define SLABCAST_RECORD_CHUNK_H

#include "record/device.h"
#include "record/hits.h"
#include "record/traversals.h"
#include "slabcast.h"

/* Maximum bytes of a chunk's rays or results where they are copied: large enough for transfers at full speed, and small
 * enough to keep the memory. */
#define STAGED_BYTES ((size_t)16 << 20)

/* Where the backend mixes traversals, one of every `each` pieces of a chunk, the one at `at`, is cast by another
 * traversal than the chunk's. So the two are compared. each 0: none. A chunk of fewer pieces may have none at all. */
typedef struct chunk_sample {
  slab_traversal traversal;
  uint32_t each, at;
  double ratio; /* the ratio of its time to that of the chunk's traversal, as far as is known */
} chunk_sample;

/* The time of a sample, and of as many pieces beside it that the chunk's traversal cast. */
typedef struct sampled_times {
  uint64_t rays, beside;          /* rays of the pieces */
  double seconds, beside_seconds; /* of the thread's processor time */
} sampled_times;

/* A chunk: the rays that go to a device at once. All zero before the first of a call. */
typedef struct chunk {
  size_t first;
  uint32_t count;
  slab_traversal traversal;
  chunk_sample samples[CHUNK_SAMPLES];
  hits_known known; /* known number of hits per ray, for collecting */
  void *flight;     /* the backend's own, from the first begin of a call to settle */
  void *tables;     /* that the call's chunks share, on the device: from open_tables */
} chunk;

/* The outcome of a chunk besides its results. */
typedef struct chunk_outcome {
  uint32_t invalid;
  hit_batch *batch; /* NULL: no hits are collected; else owned by the caller */
  sampled_times sampled[CHUNK_SAMPLES];
  bool first_use; /* some kernel was used for the first time; a driver may finish compiling it only then */
} chunk_outcome;

/* Maximum bytes of a chunk's collected hits. */
static inline size_t chunk_space(const device *d) {
  const size_t most = d->in_place ? SPACE_BYTES : STAGED_BYTES;
  return most < d->info.allocation_bytes ? most : d->info.allocation_bytes;
}

#endif
