/* Casts batches of rays of any query, checks them where asked, and keeps the tally. */
#ifndef SLABCAST_CLI_CASTER_H
#define SLABCAST_CLI_CASTER_H

#include <stddef.h>
#include <stdint.h>

#include "progress.h"
#include "slabcast.h"

/* Most rays of a batch: 32 MiB, and as much for their hits. */
enum { CAST_BATCH = 1 << 20 };

/* Why a ray is invalid: the contract's reasons, of which the first that holds is told. */
typedef enum ray_fault {
  FAULT_NAN,       /* anywhere */
  FAULT_INFINITE,  /* origin or direction */
  FAULT_DIRECTION, /* of length zero */
  FAULT_FAR,       /* an origin beyond 2^60 */
  RAY_FAULTS
} ray_fault;

typedef struct cast_tally {
  uint64_t rays, hits; /* cast; of them those that hit something */
  uint64_t crossings;  /* SLAB_COUNT and SLAB_ALL: hits over all rays */
  uint64_t invalid;
  uint64_t faults[RAY_FAULTS], first_invalid; /* as the host sees them; the number of the first, or UINT64_MAX */
  uint64_t prepare_rays;                      /* those whose answers came first, */
  double prepare_seconds; /* and the seconds within casts until then, in which drivers load or compile kernels */
  double cast_seconds;    /* within casts from then on */
  uint64_t checked, mismatches, oracle_rays, oracle_wrong, oracle_undecided;
} cast_tally;

/* Receives each batch as it is done, or piece by piece where its hits are too many; offsets: of SLAB_ALL, else NULL.
 * Non-zero ends the cast. */
typedef int cast_receiver(void *user, const slab_ray *rays, const void *results, const uint64_t *offsets, size_t n);

/* What the results of a batch are cast into. */
typedef struct cast_buffers {
  void *results;
  uint64_t capacity;                 /* in results */
  uint64_t *offsets, *piece_offsets; /* of SLAB_ALL */
} cast_buffers;

/* Told how many hits a batch of SLAB_ALL has before any of them is received. Non-zero ends the cast. */
typedef int cast_placer(void *user, uint64_t hits);

typedef struct caster {
  slab_scene *scene;
  const char *device; /* its name, for who waits for it */
  slab_query query;
  slab_cast_options options; /* progress and invalid are set by the caster */
  int check;
  cast_receiver *receive; /* NULL: results are only counted */
  cast_placer *place;     /* NULL: nobody asks */
  void *user;
  progress line;
  double begun; /* when the casts' clock was read last */
  int answered; /* the first answers were there */
  cast_tally tally;
  uint64_t first;       /* number of the first ray in the file, for messages */
  cast_buffers buffers; /* made by caster_prepare; others of that size may take their place between two runs */
} caster;

/* Makes buffers for batches of up to `rays` rays; what caster_release frees. Returns an exit code, errors printed, as
 * do the others. */
int caster_prepare(caster *cast, size_t rays);
int caster_run(caster *cast, const slab_ray *rays, size_t n);
void caster_release(caster *cast);

#endif
