/* slab_all in one pass: a device finds the hits of a chunk of rays before their place in the caller's array is known.
 * They are kept as they were found until all rays are cast. */
#ifndef SLABCAST_WORK_HIT_BATCH_H
#define SLABCAST_WORK_HIT_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "data/types.h"
#include "record/hits.h"
#include "slabcast.h"

/* Whether enough rays have been seen to use these numbers. */
bool hits_are_known(const hits_known *);
/* The same for a cast that lists at most `most` hits of a ray (0: all). */
hits_known hits_bounded(const hits_known *, uint32_t most);
/* The largest number of rays, at least 1, whose hits likely fit `bytes`. walks_each: lists in progress per ray. */
uint32_t space_rays(const hits_known *, size_t bytes, double walks_each);
/* Divides `bytes` into the space for the hits of `rays` rays. walks: lists that the work-items have in progress at
 * once.
 */
hit_space space_of(const hits_known *, size_t bytes, uint32_t rays, uint32_t walks);

/* Offset of the hits in the results of a chunk, and the size of those results: bytes. */
size_t space_begin(uint32_t rays);
size_t space_size(uint32_t rays, const hit_space *);

/* Frees the kept memory. */
void batch_keeper_end(batch_keeper *);

/* The hits of a chunk. */
struct hit_batch {
  hit_batch *next;
  size_t first; /* the first ray */
  uint32_t rays;
  hit_space space;
  unsigned char *results; /* written by the kernels; malloc'ed */
  size_t size;            /* bytes of results that hold data */
  size_t capacity;        /* bytes of results */
  size_t accessed;        /* bytes of those that were likely accessed, in this or an earlier cast */
  batch_keeper *keeper;   /* gets the memory in the end; NULL: nobody */
  bool lost;              /* some hits are missing */
  uint64_t found;         /* hits of all rays of the chunk */
  double squares;         /* sum of the squares of their numbers */
  uint32_t used;          /* end of the last hit, counted in hits */
};

/* A batch whose space is still unused. in_place: with space also for the lists in progress. keeper: gives its memory
 * and takes it back, or NULL. It outlives the batch. Returns NULL where memory is short. */
hit_batch *batch_create(batch_keeper *keeper, size_t first, uint32_t rays, const hit_space *, bool in_place);
void batches_free(hit_batch *);
const hit_list *batch_lists(const hit_batch *);
/* Computes found, squares, used and lost, and writes the number of hits of each ray to counts[0 .. rays - 1]; its lists
 * must be there. Returns false where they are impossible: a ray has more than `most` hits, or a list is outside the
 * space. */
bool batch_look(hit_batch *, uint64_t most, uint64_t *counts, uint32_t threads);
/* Updates the known numbers. */
void batch_note(const hit_batch *, hits_known *);
/* Bytes of memory that were likely accessed. */
size_t batch_bytes(const hit_batch *);
/* Copies the collected hits to the caller's array. offsets: of all rays of the call. */
void batches_place(const hit_batch *, const uint64_t *offsets, slab_hit *hits, uint32_t threads);

#endif
