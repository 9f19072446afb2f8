/* slabcast view: one number per point, of a row of rays that are never stored: how much of the sky the point sees, how
 * long the sun, which other points. */
#ifndef SLABCAST_PROGRAM_VIEW_VIEW_H
#define SLABCAST_PROGRAM_VIEW_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/common/options.h"
#include "program/common/scene.h"
#include "program/io/caster.h"
#include "program/io/progress.h"
#include "program/io/ray_file.h"
#include "program/io/result_file.h"
#include "program/io/result_row.h"
#include "slabcast.h"

typedef struct view_options {
  const char *device, *points, *out, *json, *sky, *suns, *to;
  uint64_t threads;
  scene_source *scene;
  int tree, layout, in, out_format, up; /* out_format: file_format; up: index of "z|y|x" */
  int check, resume;
  real_option offset;
  shard_option shard;
} view_options;

/* ---- targets: sky, suns or points (view_target.c) ---- */

typedef enum view_kind {
  VIEW_SKY,     /* rays of a hemisphere by the cosine, about each point's normal */
  VIEW_PATCHES, /* patches of a sky */
  VIEW_SUNS,
  VIEW_POINTS
} view_kind;

typedef struct view_target {
  view_kind kind;
  uint32_t columns;
  float up[3];
  float *directions; /* three per column; of VIEW_POINTS the ends of rays */
  float *weights;    /* one per column: solid angles, or hours; NULL: each is 1 */
  double whole;      /* the divisor of the weights of open rays */
  double most;       /* the most that a point sees: 1, or all hours */
  float *places;     /* of VIEW_POINTS: the points as they are given, or as the scene's floats count */
  double *wide;      /* of VIEW_POINTS: the points with the digits that they are given in; NULL: floats hold them */
  float *normals;    /* of VIEW_POINTS: unit normals, 0 where there is none; NULL: there are none */
  double rounding;   /* of VIEW_POINTS: the largest distance that rounding moved a point */
} view_target;

/* Makes the target that the options name. normals: the points that look have some. Returns an exit code, errors
 * printed. */
int view_target_make(const view_options *, bool normals, view_target *);
void view_target_free(view_target *);
/* Lets the points of VIEW_POINTS count from here. */
void view_target_count_from(view_target *, const double origin[3]);

/* How far points are moved off the surfaces that they lie on. */
typedef struct view_lift {
  bool given;
  double distance; /* where it is given */
  double reach;    /* else: the largest coordinate of the scene */
} view_lift;

/* The rows of `columns` numbers become points, moved along their unit normals, or `up` where they have none. A point
 * that is no valid origin, or whose normal has no direction, is NaN. */
void view_lift_points(const view_lift *, const float up[3], const float *places, const float *normals, size_t n,
                      float *lifted);
/* Gives normals unit length; one that is NaN or infinite becomes NaN, and 0 stays 0. */
void view_unit_normals(float *normals, size_t n);

/* The sum of the weights of a row's open rays, which are set in `bits`, for a point with a normal. */
double view_weigh(const view_target *, const uint32_t *bits, const float normal[3]);
/* Clears the bits of points that are behind the surface of the point at `place`, or before the back of their own. */
void view_face(const view_target *, const float place[3], const float *normal, uint32_t *bits);

/* ---- points, part by part (view_cast.c) ---- */

/* Points with their results. */
typedef struct view_part {
  size_t capacity, rows;
  uint64_t first;          /* index of the first point in its file */
  ray_array points;        /* as they are read: the direction is the normal */
  float *places, *normals; /* three per point, as the scene's floats count; normals: NULL without */
  float *origins;          /* where rays begin */
  slab_sum *sums;          /* NULL: bits */
  uint32_t *bits;          /* words per row: view_words */
} view_part;

/* The report on all points. */
typedef struct view_tally {
  uint64_t points, invalid, first_invalid; /* first_invalid: index of the first one, or UINT64_MAX */
  double sum, least, most;                 /* of valid points */
  uint64_t pairs;                          /* points that see each other */
  uint64_t rays, checked;                  /* checked: points whose sums were computed anew */
  uint64_t wrong;                          /* of these, points whose sums differ */
  double seconds;                          /* within casts */
} view_tally;

typedef struct view_job {
  const view_options *options;
  slab_context *context;
  slab_scene *scene;
  slab_scene_stats stats;
  slab_device_info device;
  ray_source *points;
  view_target target;
  view_lift lift;
  result_file *results;
  result_row row; /* of the results */
  caster cast;    /* its progress line; of --check the rays one by one */
  view_tally tally;
  view_part part;
  double start;
} view_job;

/* Words of a row of bits. */
static inline size_t view_words(const view_job *job) { return ((size_t)job->target.columns - 1) / 32 + 1; }

/* The number of points in a part, which is cast at once. */
size_t view_part_rows(const view_job *);
/* Casts from all points, and writes the results. Returns an exit code, errors printed. */
int view_run(view_job *);

/* ---- results (view_write.c) ---- */

/* The contents of a row of the results. */
result_row view_row(const view_job *);
/* Counts and writes the part's results. Returns an exit code, errors printed. */
int view_write(view_job *);

#endif
