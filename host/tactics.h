/* Which way through a tree is the fastest for the rays at hand: by what order they come in, by trying, and by what
 * earlier casts on the scene found out. Answers do not depend on it. */
#ifndef SLABCAST_TACTICS_H
#define SLABCAST_TACTICS_H

#include <stdbool.h>

#include "slabcast.h"
#include "sort.h"

enum {
  TACTICS = SLAB_TACTIC_SORTED + 1,
  TACTICS_TRIED = 3,
  TACTICS_QUERIES = SLAB_INTERVAL + 1,
  RAYS_ORDERS = RAYS_SCATTERED + 1
};

/* What casts of one query, of rays in one order, have found out so far on one device. */
typedef struct tactics {
  slab_tactic best;
  bool ordered; /* by the order of the rays, not by a wish or because they are few: it is kept */
  rays_order order;
  uint64_t met;                                          /* rays in this order, this cast's included */
  slab_tactic tried[TACTICS_TRIED], left[TACTICS_TRIED]; /* candidates, and those that are not far behind here */
  uint32_t candidates, lefts;
  bool open;                     /* they are tried; one candidate: only its pace is asked for */
  double margin;                 /* of the first one's time, which another has to stay below */
  double here[TACTICS];          /* seconds of a ray at this place: the least of its trials; 0: none yet */
  double pace[TACTICS];          /* the same of all places: at once where it is less, else by half */
  uint32_t step;                 /* of the trials at this place */
  uint32_t trial_rays;           /* of those in the second round */
  uint32_t until, again, agreed; /* rays until there are trials; between places; places of one opinion */
  bool sorts;                    /* sorting comes on top, */
  double sorting_pays;           /* where a ray takes longer than this in turns */
} tactics;

/* The same for each query and order. All zero: nothing is known. */
typedef struct tactics_memory {
  tactics of[TACTICS_QUERIES][RAYS_ORDERS];
} tactics_memory;

/* What there is to choose a tactic for. */
typedef struct tactics_task {
  slab_query query;
  slab_tactic wanted; /* SLAB_TACTIC_MEASURED, or the one to use */
  uint32_t tactics;   /* those there are: bit t for slab_tactic t */
  const slab_ray *rays;
  size_t n;                   /* how many rays */
  const float *lower, *upper; /* 3 each: the scene's bounds */
  uint32_t compute_units;     /* the device's */
} tactics_task;

tactics tactics_begin(const tactics_task *, const tactics_memory *);
/* Keeps what was found out. */
void tactics_end(const tactics *, slab_query, tactics_memory *);
/* Whether the next stretch may be a trial, which needs the device for itself. */
bool tactics_trying(const tactics *);
/* The tactic of the next stretch, of which there are at most `most`, and whether it is a trial. *count: as it would be;
 * fewer for a trial and before one, and as many as can be for sorting. */
slab_tactic tactics_next(tactics *, uint32_t most, uint32_t *count, bool *trial);
/* How long a stretch took, and whether it was a trial: of those before the next is asked for. */
void tactics_note(tactics *, bool trial, slab_tactic, uint32_t rays, double seconds);

#endif
