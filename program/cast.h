/* The parts of the cast command, shared by `slabcast cast` and `slabcast-mpi cast`. */
#ifndef SLABCAST_PROGRAM_CAST_H
#define SLABCAST_PROGRAM_CAST_H

#include <stdint.h>

#include "program/common/options.h"
#include "program/common/scene.h"
#include "program/io/caster.h"
#include "program/io/output.h"
#include "program/io/own_file.h"
#include "program/io/ray_file.h"
#include "program/io/result_file.h"
#include "slabcast.h"

typedef struct cast_options {
  const char *device, *rays, *out, *json;
  own_options own;
  uint64_t threads, max_hits;
  scene_source *scene;
  int query, tree, layout, cull, edges, in, out_format; /* out_format: file_format */
  int segments, face_forward, points, check, resume;
  real_option t_min, t_max;
  shard_option shard;
} cast_options;

typedef struct cast_job {
  const cast_options *options;
  slab_context *context;
  slab_scene *scene;
  slab_scene_stats stats;
  slab_device_info device;
  ray_source *rays;
  own_source *own; /* NULL: rays have nothing of their own */
  uint64_t sample; /* of a shard: the digest of what they have; 0: none */
  result_file *results;
  caster cast;
  double rounding; /* largest distance that rounding to float32 moved a point of a ray */
  double start;
} cast_job;

/* Parses the command line into *options; options->scene must exist. Returns OPTIONS_RUN, or the exit code to return. */
int cast_parse(int argc, char **argv, cast_options *options);
/* What the options say of the context. */
slab_context_options cast_context(const cast_options *);

/* Checks before work starts that the outputs can be opened, and are no inputs. Returns an exit code. */
int cast_probe(const cast_options *);
/* Opens the rays that job->options name, or the shard of them, with what each has of its own. Returns an exit code. */
int cast_open_rays(cast_job *job);
/* The label of a shard's results, once rays and scene are open. */
shard_label cast_label(const cast_job *job);
/* Sets up job->cast. Rays, scene and, if wanted, results must be open. */
void cast_prepare(cast_job *job);

/* Prints the warnings and, if requested, the counts of the tally. */
void cast_tell(const cast_job *job);
/* The tally for --json; NULL if out of memory. */
json_t *cast_summary(const cast_job *job);

#endif
