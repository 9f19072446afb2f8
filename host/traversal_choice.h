/* Which way through a BVH is the fastest for the rays at hand: by what order they come in, by trying, and by what
 * earlier casts on the scene found out. Answers do not depend on it. */
#ifndef SLABCAST_TRAVERSAL_CHOICE_H
#define SLABCAST_TRAVERSAL_CHOICE_H

#include <stdbool.h>

#include "slabcast.h"
#include "sort.h"

enum {
  TRAVERSALS = SLAB_TRAVERSAL_SORTED + 1,
  TRAVERSALS_TRIED = 3,
  TRAVERSAL_QUERIES = SLAB_INTERVAL + 1,
  RAYS_ORDERS = RAYS_SCATTERED + 1
};

/* What casts of one query, of rays in one order, have found out so far on one device. */
typedef struct traversal_choice {
  slab_traversal best;
  bool ordered; /* by the order of the rays, not by a wish or because they are few: it is kept */
  rays_order order;
  uint64_t met; /* rays in this order, this cast's included */
  slab_traversal tried[TRAVERSALS_TRIED],
      left[TRAVERSALS_TRIED]; /* candidates, and those that are not far behind here */
  uint32_t candidates, lefts;
  bool open;                     /* they are tried; one candidate: only its pace is asked for */
  double margin;                 /* of the first one's time, which another has to stay below */
  double here[TRAVERSALS];       /* seconds of a ray at this place: the least of its trials; 0: none yet */
  double pace[TRAVERSALS];       /* the same of all places: at once where it is less, else by half */
  uint32_t step;                 /* of the trials at this place */
  uint32_t trial_rays;           /* of those in the second round */
  uint32_t until, again, agreed; /* rays until there are trials; between places; places of one opinion */
  bool sorts;                    /* sorting comes on top, */
  double sorting_pays;           /* where a ray takes longer than this interleaved */
} traversal_choice;

/* The same for each query and order. All zero: nothing is known. */
typedef struct traversal_memory {
  traversal_choice of[TRAVERSAL_QUERIES][RAYS_ORDERS];
} traversal_memory;

/* What there is to choose a traversal for. */
typedef struct traversal_task {
  slab_query query;
  slab_traversal wanted;     /* SLAB_TRAVERSAL_AUTO, or the one to use */
  uint32_t traversal_choice; /* those there are: bit t for slab_traversal t */
  const slab_ray *rays;
  size_t n;                   /* how many rays */
  const float *lower, *upper; /* 3 each: the scene's bounds */
  uint32_t compute_units;     /* the device's */
} traversal_task;

traversal_choice traversal_choice_begin(const traversal_task *, const traversal_memory *);
/* Keeps what was found out. */
void traversal_choice_end(const traversal_choice *, slab_query, traversal_memory *);
/* Whether the next stretch may be a trial, which needs the device for itself. */
bool traversal_choice_trying(const traversal_choice *);
/* The traversal of the next stretch, of which there are at most `most`, and whether it is a trial. *count: as it would
 * be; fewer for a trial and before one, and as many as can be for sorting. */
slab_traversal traversal_choice_next(traversal_choice *, uint32_t most, uint32_t *count, bool *trial);
/* How long a stretch took, and whether it was a trial: of those before the next is asked for. */
void traversal_choice_note(traversal_choice *, bool trial, slab_traversal, uint32_t rays, double seconds);

#endif
