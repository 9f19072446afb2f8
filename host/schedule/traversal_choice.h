/* Chooses the fastest traversal of a BVH for the rays at hand: by the order of the rays, by trials, and by the results
 * of earlier casts on the scene. Answers do not depend on the choice. */
#ifndef SLABCAST_SCHEDULE_TRAVERSAL_CHOICE_H
#define SLABCAST_SCHEDULE_TRAVERSAL_CHOICE_H

#include <stdbool.h>

#include "record/chunk.h"
#include "record/traversals.h"
#include "slabcast.h"

/* Whether rays may test all primitives, as in a small scene. */
typedef enum flat_choice {
  FLAT_NEVER,
  FLAT_BY_ORDER,  /* where the order of the rays is one for which that is mostly faster */
  FLAT_BY_RESULTS /* that is where it begins; samples show more, and of lists turns */
} flat_choice;

/* The input of a choice. */
typedef struct traversal_task {
  slab_query query;
  slab_traversal wanted; /* SLAB_TRAVERSAL_AUTO, or the traversal to use */
  uint32_t traversals;   /* available traversals: bit t for slab_traversal t */
  const slab_ray *rays;  /* NULL: their order is given */
  rays_order order;
  bool unsorted;              /* rays are made as they are cast, and cannot be sorted */
  size_t n;                   /* number of rays */
  const float *lower, *upper; /* bounds of the scene, 3 floats each */
  uint32_t compute_units;     /* the device's */
  bool ready;                 /* kernels are there: none is built or loaded for a first use */
  bool mixes;                 /* the backend mixes traversals (chunk_sample) */
  flat_choice flat;           /* not FLAT_NEVER only where it does */
  bool flat_likely;           /* is_flat_likely */
} traversal_task;

traversal_choice traversal_choice_begin(const traversal_task *, const traversal_memory *);
/* Stores the results in the memory. */
void traversal_choice_end(const traversal_choice *, slab_query, traversal_memory *);
/* Whether packets are forced, or likely to be the best: neighbouring rays are alike. */
bool traversal_choice_packs(const traversal_choice *);

/* A plan for the next chunk. */
typedef struct chunk_plan {
  uint32_t count;   /* rays that are planned */
  uint32_t most;    /* in the largest chunk possible */
  size_t remaining; /* that no chunk has yet */
  uint64_t band;    /* where a chunk is not the last it has a multiple of so many, or fewer; 0: any number */
} chunk_plan;

/* The next chunk as chosen. */
typedef struct chunk_choice {
  slab_traversal traversal;
  uint32_t count; /* fewer rays than planned for a trial and before one, as many as possible for sorting */
  bool trial;
  chunk_sample samples[CHUNK_SAMPLES]; /* none where the choice does not mix */
} chunk_choice;

/* Called once per chunk, before it begins. */
chunk_choice traversal_choice_next(traversal_choice *, const chunk_plan *);
/* Called once per chunk, when it has ended, with its number of rays, its time, and the times of its samples. After a
 * trial or a chunk with samples it is called before the next chunk is chosen (choice_is_alone). */
void traversal_choice_learn(traversal_choice *, const chunk_choice *, uint32_t rays, double seconds,
                            const sampled_times sampled[CHUNK_SAMPLES]);

/* How the calling thread casts a call of few rays, and whether it is to report how long that took. */
typedef struct few_turn {
  bool flat, timed;
} few_turn;

/* likely: whether brute force is the faster as long as there are no results. */
few_turn few_choice_next(few_choice *, bool likely);
void few_choice_learn(few_choice *, bool flat, double seconds);

#endif
