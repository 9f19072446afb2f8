/* Chooses the fastest traversal of a BVH for the rays at hand: by the order of the rays, by trials, and by the results
 * of earlier casts on the scene. Answers do not depend on the choice. */
#ifndef SLABCAST_SCHEDULE_TRAVERSAL_CHOICE_H
#define SLABCAST_SCHEDULE_TRAVERSAL_CHOICE_H

#include <stdbool.h>

#include "record/chunk.h"
#include "record/traversals.h"
#include "slabcast.h"

/* Whether single rays test all primitives, as in a small scene. */
typedef enum flat_choice {
  FLAT_NEVER,
  FLAT_BY_ORDER,  /* where the order of the rays is one for which that is mostly faster */
  FLAT_BY_SAMPLES /* that is where it begins; samples show more */
} flat_choice;

/* The input of a choice. */
typedef struct traversal_task {
  slab_query query;
  slab_traversal wanted; /* SLAB_TRAVERSAL_AUTO, or the traversal to use */
  uint32_t traversals;   /* available traversals: bit t for slab_traversal t */
  const slab_ray *rays;
  size_t n;                   /* number of rays */
  const float *lower, *upper; /* bounds of the scene, 3 floats each */
  uint32_t compute_units;     /* the device's */
  bool ready;                 /* kernels are there: none is built or loaded for a first use */
  bool mixes;                 /* the backend mixes traversals (chunk_sample) */
  flat_choice flat;           /* not FLAT_NEVER only where it does */
} traversal_task;

traversal_choice traversal_choice_begin(const traversal_task *, const traversal_memory *);
/* Stores the results in the memory. */
void traversal_choice_end(const traversal_choice *, slab_query, traversal_memory *);
/* Whether packets are forced, or likely to be the best: neighbouring rays are alike. */
bool traversal_choice_packs(const traversal_choice *);
/* Whether the next chunk may be a trial. A trial needs the device for itself. */
bool traversal_choice_trying(const traversal_choice *);
/* Returns the traversal of the next chunk and whether that chunk is a trial. most: the largest chunk possible. *count:
 * in, the planned number of rays; out, the number to cast: fewer for a trial and before one, as many as possible for
 * sorting. */
slab_traversal traversal_choice_next(traversal_choice *, uint32_t most, uint32_t *count, bool *trial);
/* Records the time of a chunk and whether it was a trial. A trial must be recorded before the next chunk is asked for.
 */
void traversal_choice_note(traversal_choice *, bool trial, slab_traversal, uint32_t rays, double seconds);
/* The samples of a chunk of `count` rays: none where the choice does not mix. */
void traversal_choice_samples(traversal_choice *, slab_traversal, uint32_t count, chunk_sample samples[CHUNK_SAMPLES]);
/* Records what a chunk with these samples gave, before the next chunk is asked for. */
void traversal_choice_compare(traversal_choice *, const chunk_sample samples[CHUNK_SAMPLES],
                              const sampled_times sampled[CHUNK_SAMPLES]);

#endif
