/* slabcast near: how far points are from the scene's surfaces, and where the closest points are. */
#ifndef SLABCAST_PROGRAM_NEAR_NEAR_H
#define SLABCAST_PROGRAM_NEAR_NEAR_H

#include <stddef.h>
#include <stdint.h>

#include "program/common/options.h"
#include "program/common/scene.h"
#include "program/io/checked.h"
#include "program/io/image_file.h"
#include "program/io/progress.h"
#include "program/io/ray_file.h"
#include "program/io/result_file.h"
#include "slabcast.h"

typedef struct near_options {
  const char *device, *points, *out, *json;
  uint64_t threads;
  scene_source *scene;
  int query, tree, layout, in, out_format; /* query: slab_point_query; out_format: file_format */
  int check, resume;
  grid_option grid;
  point_option lower, upper;
  real_option margin, radius;
  shard_option shard;
} near_options;

/* What is told of all points. */
typedef struct near_tally {
  uint64_t points, found;          /* found: points near which there is something */
  uint64_t invalid, first_invalid; /* first_invalid: its index, or UINT64_MAX */
  double sum, least, most;         /* of the distances that were found */
  double seconds;                  /* within queries */
  check_tally check;
} near_tally;

typedef struct near_job {
  const near_options *options;
  slab_context *context;
  slab_scene *scene;
  slab_scene_stats stats;
  slab_device_info device;
  slab_point_options query;
  grid grid;
  ray_source *points;
  result_row row;       /* of the results, as the library gives them */
  result_row cloud;     /* of ply: the same behind the point's place, and its index */
  result_file *results; /* NULL: none are written, or as an image */
  image_file *image;
  progress line;
  near_tally tally;
  double start;
} near_job;

/* Points of an earlier run, which are not measured again. */
static inline uint64_t near_resumed(const near_job *job) {
  if (job->image) return image_file_resumed(job->image);
  return job->results ? result_file_resumed(job->results) : 0;
}

/* Measures all points, and writes the results. Returns an exit code, errors printed. */
int near_run(near_job *);

/* ---- results (near_write.c) ---- */

/* Opens what the options name. Returns an exit code, errors printed. */
int near_open_results(near_job *);
/* Counts and writes the results of n points, the first of which has that index. Returns likewise. */
int near_write(near_job *, uint64_t first, const float *points, const void *results, size_t n);
int near_commit_results(near_job *);
void near_discard_results(near_job *);

#endif
