/* slabcast near: how far points are from the scene's surfaces, and where the closest points are. slabcast inside:
 * whether they are inside. Both go through points batch by batch, and differ in their queries and reports. */
#ifndef SLABCAST_PROGRAM_NEAR_NEAR_H
#define SLABCAST_PROGRAM_NEAR_NEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/common/options.h"
#include "program/common/scene.h"
#include "program/io/checked.h"
#include "program/io/image_file.h"
#include "program/io/own_file.h"
#include "program/io/progress.h"
#include "program/io/ray_file.h"
#include "program/io/result_file.h"
#include "slabcast.h"

/* Which of the two commands. */
typedef enum near_command { NEAR_DISTANCES, NEAR_INSIDE } near_command;

/* The choices of inside's --query. */
typedef enum inside_query { INSIDE_BYTES, INSIDE_WINDING, INSIDE_DISTANCE, INSIDE_NUMBER } inside_query;

typedef struct near_options {
  near_command command;
  const char *device, *points, *worlds, *out, *json;
  uint64_t threads;
  scene_source *scene;
  int query, tree, layout, in, out_format; /* query: slab_point_query; out_format: file_format */
  int asked, parity;                       /* of inside: asked: inside_query; parity: the choice of --mode */
  int check, resume;
  grid_option grid;
  point_option lower, upper;
  real_option margin, radius;
  shard_option shard;
} near_options;

/* The report on all points. */
typedef struct near_tally {
  uint64_t points, found, inside;  /* found: points near which there is something; inside: of command inside */
  uint64_t invalid, first_invalid; /* first_invalid: its index, or UINT64_MAX */
  double sum, least, most;         /* of the distances that were found */
  double seconds;                  /* within queries */
  check_tally check;
} near_tally;

/* Points, three numbers each: one of both is NULL. */
typedef struct near_points {
  float *floats;
  double *doubles;
} near_points;

typedef struct near_job {
  const near_options *options;
  slab_context *context;
  slab_scene *scene;
  slab_scene_stats stats;
  slab_device_info device;
  slab_point_options query;
  grid grid; /* of --grid */
  ray_source *points;
  own_source *own;      /* NULL: points are in no world */
  uint64_t sample;      /* of a shard: the digest of their worlds; 0: none */
  result_row row;       /* of the results, as the library gives them */
  result_row cloud;     /* of ply: the same behind the point's place, and its index */
  result_file *results; /* NULL: none are written, or as an image */
  image_file *image;
  progress line;
  uint64_t measured; /* points that the device has measured */
  near_tally tally;
  double rounding; /* largest distance that rounding to float32 moved a point */
  double start;
} near_job;

/* Points of an earlier run, which are not measured again. */
static inline uint64_t near_resumed(const near_job *job) {
  if (job->image) return image_file_resumed(job->image);
  return job->results ? result_file_resumed(job->results) : 0;
}

/* ---- the commands (near_options.c, near_command.c), whose parts slabcast-mpi takes too ---- */

extern const command_line near_line, inside_line;
/* Parses the command line of options->command; options->scene must exist. Returns OPTIONS_RUN, or the exit code to
 * return. */
int near_parse(int argc, char **argv, near_options *options);
/* Checks before work starts that the outputs can be opened, and are no inputs. Returns an exit code. */
int near_probe(const near_options *);
/* The options of the context. */
slab_context_options near_context(const near_options *);
/* Opens the points. A grid needs job->stats, the scene's. Returns an exit code. */
int near_open_points(near_job *);
/* Once points and scene are open: whether queries take points in double. */
void near_settle(near_job *);
/* Whether results are one byte each, 1 where the point is inside. */
bool near_tells_inside(const near_options *);
/* Begins the tally and the line. Points and, if wanted, results must be open. total: of points; ROWS_UNKNOWN. */
void near_prepare(near_job *, uint64_t total);
/* Prints the warnings and, if requested, the tally. */
void near_tell(const near_job *);
/* The tally for --json; NULL if out of memory. */
json_t *near_summary(const near_job *);

/* ---- batches (near_run.c) ---- */

enum { NEAR_BATCH = 1 << 20 }; /* points: 12 MiB, and three times as much for their results */

/* Bytes of a batch's results, as the query gives them. */
size_t near_space(const near_job *, size_t points);
/* Space for n points, of the kind that the job's queries take. Returns 0, or -1 where memory is out, without a
 * message. */
int near_points_make(const near_job *, size_t n, near_points *);
void near_points_free(near_points *);
/* Takes n points as they were read, from number `at` on. */
void near_points_take(near_points *, size_t at, const ray_array *rows, size_t n);
/* Computes the results of n points on the device, and checks them if that is wanted. `first`: the index of the first
 * point. worlds: one per point, or NULL. results: near_space bytes. Returns an exit code, errors printed. */
int near_measure(near_job *, uint64_t first, const near_points *, const uint32_t *worlds, size_t n, void *results);
/* Measures all points, and writes the results. Returns likewise. */
int near_run(near_job *);

/* ---- results (near_write.c) ---- */

/* Opens the results that the options name. Returns an exit code, errors printed. */
int near_open_results(near_job *);
/* The rows of a file of results, once points and scene are open. */
result_options near_results(near_job *);
void near_count(near_job *, const void *results, size_t n);
/* Counts and writes the results of n points, the first of which has that index. Returns likewise. */
int near_write(near_job *, uint64_t first, const near_points *, const void *results, size_t n);
int near_commit_results(near_job *);
void near_discard_results(near_job *);

#endif
