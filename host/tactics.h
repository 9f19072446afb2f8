/* Which way through a tree is the fastest for the rays at hand: by what order they come in, and by trying. Answers do
 * not depend on it. */
#ifndef SLABCAST_TACTICS_H
#define SLABCAST_TACTICS_H

#include <stdbool.h>

#include "slabcast.h"

enum { TACTICS = SLAB_TACTIC_SORTED + 1 };

/* What a cast has found out so far, for one device. */
typedef struct tactics {
  slab_tactic best;
  bool open;                              /* there is something to be found out, of these: */
  slab_tactic usual, other;               /* alike, where only its pace is asked for */
  double margin;                          /* of the usual one's time, which the other has to stay below */
  double seconds[TACTICS], rays[TACTICS]; /* what trials took, those of earlier places at half the weight each time */
  uint32_t step, steps;                   /* of the trials at this place */
  uint32_t probe_rays, trial_rays;        /* of a trial: of the first two steps, and of the others */
  uint32_t until, again;                  /* rays until there are trials again, and from then on */
  bool sorts;                             /* sorting comes on top, */
  double sorting_pays;                    /* where a ray takes longer than this in turns */
} tactics;

/* Whether rays in turns meet triangles two abreast: where registers hold the lanes of both. With the device's own
 * division, since that by other means is written for one ray's lanes. */
bool turns_go_abreast(const slab_device_info *);

/* For n rays, which lie in a scene of these bounds. wanted: SLAB_TACTIC_MEASURED, or the one to use; packets: whether
 * there are any for this query. Of the device its compute units count, and whether turns go abreast. */
tactics tactics_begin(slab_tactic wanted, bool packets, const slab_device_info *, const slab_ray *rays, size_t n,
                      const float lower[3], const float upper[3]);
/* Whether the next stretch is a trial, which needs the device for itself. */
bool tactics_trying(const tactics *);
/* The tactic of the next stretch, of which there are at most `most`. *count: as it would be; fewer for a trial and
 * before one, and as many as can be for sorting. */
slab_tactic tactics_next(tactics *, uint32_t most, uint32_t *count);
/* How long a stretch took, and whether it was a trial when it began: of those before the next is asked for. */
void tactics_note(tactics *, bool trial, slab_tactic, uint32_t rays, double seconds);

#endif
