/* The rays of a sensor: a table of beams, fired from each of its poses, or a whole turn of them at each. */
#ifndef SLABCAST_PROGRAM_IO_SWEEP_H
#define SLABCAST_PROGRAM_IO_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "program/io/table.h"
#include "slabcast.h"

enum { SWEEP_POSE = 12 }; /* numbers of a pose */

/* Ray f * beams + b is that of firing f and beam b. */
typedef struct sweep {
  table beams;    /* rows of 6: origin and direction in the sensor's frame */
  table poses;    /* rows of 12 */
  float *azimuth; /* of a turn's firings, in degrees; NULL: each pose is one firing */
  size_t firings; /* at each pose */
  float t_min, t_max;
  double offset[3]; /* where the places of poses count from */
} sweep;

/* The options of a sweep. Paths may be "-". */
typedef struct sweep_options {
  const char *beams, *poses; /* NULL: the fan; one pose, which turns and moves nothing */
  size_t fan;                /* beams whose elevations go evenly from `low` to `high` degrees */
  double low, high;
  uint64_t spin; /* firings of a turn; 0: none turns */
  float t_min, t_max;
} sweep_options;

/* Functions of type int return 0, or -1 with the error printed. */
int sweep_make(const sweep_options *, sweep *);
void sweep_free(sweep *);
/* Lets the places of poses count from here, in double, which is 0 at first. */
void sweep_count_from(sweep *, const double origin[3]);
uint64_t sweep_count(const sweep *);
uint64_t sweep_digest(const sweep *);
/* Poses that sweep_part needs space for if it gives n rays at most; 0: the poses of the table are used. */
size_t sweep_space(const sweep *, size_t n);
/* Describes n rays, at least one, from ray `first` on: *source refers to *set, and that to the tables and `space`. */
int sweep_part(const sweep *, uint64_t first, size_t n, float *space, slab_rays *set, slab_source *source);

#endif
