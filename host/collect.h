/* slab_all in one pass: the hits of a stretch of rays come before it is known where they go. They wait, as they were
 * found, until all rays are cast. */
#ifndef SLABCAST_COLLECT_H
#define SLABCAST_COLLECT_H

#include <stdbool.h>
#include <stddef.h>

#include "slabcast.h"
#include "types.h"

/* How many hits rays of a scene have, as far as casts have found out. All zero: nothing is known. */
typedef struct hits_known {
  uint64_t rays;
  double mean, deviation; /* of a ray */
} hits_known;

/* Whether that is enough to go by. */
bool hits_are_known(const hits_known *);
/* Bytes of a stretch's hits at most, with what they need on their way; where they are copied STAGED_BYTES. Most of that
 * is never touched. */
#define ROOM_BYTES ((size_t)128 << 20)

/* Most rays whose hits likely have room in `bytes`, at least 1, where work-items are at `walks_each` of a ray at once.
 */
uint32_t room_rays(const hits_known *, size_t bytes, double walks_each);
/* The room for the hits of `rays` rays in `bytes`, where work-items are at `walks` of them at once. */
hit_room room_of(const hits_known *, size_t bytes, uint32_t rays, uint32_t walks);

/* Where in the results of a stretch the hits begin, and how large those are in all: bytes. */
size_t room_begin(uint32_t rays);
size_t room_size(uint32_t rays, const hit_room *);

/* The hits of a stretch. */
typedef struct hit_batch hit_batch;
struct hit_batch {
  hit_batch *next;
  size_t first; /* ray */
  uint32_t rays;
  hit_room room;
  unsigned char *results; /* as the kernels write them: malloc'ed */
  size_t size;            /* of those that tell something, in bytes */
  bool lost;              /* not all hits are there */
  uint64_t found;         /* of all rays */
  uint32_t used;          /* hits up to the end of the last one */
};

/* Results in which nothing is taken yet; in_place: with room for what is on its way. NULL: no memory. */
hit_batch *batch_create(size_t first, uint32_t rays, const hit_room *, bool in_place);
void batches_free(hit_batch *);
const hit_list *batch_lists(const hit_batch *);
/* Once its lists are there: found, used and lost. False where they cannot be: a ray has more than `most` hits, or they
 * are not in the room. */
bool batch_look(hit_batch *, uint64_t most);
/* Writes how many hits each of its rays has to counts[0 .. rays - 1], and learns. */
void batch_count(const hit_batch *, uint64_t *counts, hits_known *);
/* Bytes of memory that were likely touched. */
size_t batch_bytes(const hit_batch *);
/* Writes the hits that are there to where they go; offsets: of all rays. */
void batches_place(const hit_batch *, const uint64_t *offsets, slab_hit *hits);

#endif
