/* Hits that are listed: their number, as far as it is known, and the memory that a device keeps for them
 * (work/hit_batch.h). */
#ifndef SLABCAST_RECORD_HITS_H
#define SLABCAST_RECORD_HITS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hit_batch hit_batch;

/* Number of hits per ray of a scene, learned from casts. All zero: nothing is known. */
typedef struct hits_known {
  uint64_t rays;
  double mean, deviation; /* per ray */
} hits_known;

/* Maximum bytes of the hits of a chunk, with the kernels' memory to collect them. Where hits are copied the limit is
 * STAGED_BYTES. Most of this memory is never accessed. */
#define SPACE_BYTES ((size_t)128 << 20)

/* Memory of batches that a device keeps from cast to cast, KEPT_BYTES at most. Fresh pages took 15 % of the time of a
 * million camera rays (terrain:100000, Zen 5). All zero: none yet. */
enum { KEPT_BATCHES = 16 };
#define KEPT_BYTES ((size_t)64 << 20)

typedef struct batch_keeper {
  _Atomic(hit_batch *) of[KEPT_BATCHES];
  atomic_size_t bytes;
} batch_keeper;

#endif
