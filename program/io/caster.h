/* Casts batches of rays for any query, checks them if requested, and counts results. */
#ifndef SLABCAST_PROGRAM_IO_CASTER_H
#define SLABCAST_PROGRAM_IO_CASTER_H

#include <stddef.h>
#include <stdint.h>

#include "program/io/checked.h"
#include "program/io/own_file.h"
#include "program/io/progress.h"
#include "program/io/ray_file.h"
#include "program/io/result_file.h"
#include "slabcast.h"

/* Largest number of rays in a batch: 32 MiB, and as much for their hits. */
enum { CAST_BATCH = 1 << 20 };

/* Why a ray is invalid, as in the contract. If several reasons apply, the first is reported. */
typedef enum ray_fault {
  FAULT_NAN,       /* a NaN in any field */
  FAULT_INFINITE,  /* infinite origin or direction */
  FAULT_DIRECTION, /* direction of length zero */
  FAULT_FAR,       /* origin beyond 2^60, in double 2^58 */
  FAULT_WAY,       /* in double: the largest component of the direction is below 2^-960 or beyond 2^960 */
  RAY_FAULTS
} ray_fault;

typedef struct cast_tally {
  uint64_t rays, hits; /* rays cast; rays among them that hit something */
  uint64_t crossings;  /* SLAB_COUNT and SLAB_ALL: sum of the hits of all rays */
  uint64_t invalid;
  uint64_t faults[RAY_FAULTS], first_invalid; /* counted on the host; index of the first invalid ray, or UINT64_MAX */
  uint64_t prepare_rays;                      /* rays whose answers came first */
  double prepare_seconds; /* seconds within casts until those answers, in which drivers load or compile kernels */
  double cast_seconds;    /* seconds within casts after that */
  check_tally check;
} cast_tally;

/* Receives each finished batch, or each piece of a batch whose hits do not fit. rays: of a set they are unspecified
 * unless caster.wants_rays. offsets: for SLAB_ALL, else NULL. A non-zero return ends the cast. */
typedef int cast_receiver(void *user, const result_rays *rays, const void *results, const uint64_t *offsets, size_t n);

/* The buffers for the results of a batch. */
typedef struct cast_buffers {
  void *results;
  uint64_t capacity;                 /* number of results that fit */
  uint64_t *offsets, *piece_offsets; /* for SLAB_ALL */
} cast_buffers;

/* Receives the number of hits of a SLAB_ALL batch before the hits themselves. A non-zero return ends the cast. */
typedef int cast_placer(void *user, uint64_t hits);

typedef struct caster {
  slab_context *context; /* of the scene */
  slab_scene *scene;
  const char *device; /* name of the device, shown while the first answers are awaited */
  slab_query query;
  int doubles; /* rays are in double */
  slab_cast_options
      options; /* progress and invalid are set by the caster; masks, after and worlds are those of the next run */
  int check;
  cast_receiver *receive; /* NULL: results are only counted */
  cast_placer *place;     /* NULL: not called */
  int wants_rays;         /* the receiver reads rays: rays of a set are written to memory */
  void *user;
  progress line;
  double begun; /* when the cast clock was last read */
  int answered; /* the first answers have arrived */
  cast_tally tally;
  uint64_t first;       /* number of the first ray in the file, for messages */
  cast_buffers buffers; /* made by caster_prepare; may be exchanged for others of the same size between runs */
} caster;

/* Makes buffers for batches of up to `rays` rays; caster_release frees them. All functions that return int return an
 * exit code and print errors. */
int caster_prepare(caster *cast, size_t rays);
/* Casts a batch. space: for source->n rays, which are written there if they are of a set and someone looks at them; of
 * an array it is not used. */
int caster_run(caster *cast, const slab_source *source, slab_ray *space);
void caster_release(caster *cast);

/* Casts the rays of a source, with each ray's own values, batch by batch into a result file. The next batch is read and
 * the last one written while the device casts. Memory is bounded by the batch size, whatever the number of rays and
 * hits. `cast` must be set except for its buffers and receiver. Both sources must be at the first ray to cast. own
 * NULL: they have none. results NULL: results are only counted. Returns an exit code with errors and the progress made
 * printed. */
int batches_run(ray_source *rays, own_source *own, caster *cast, result_file *results);

#endif
