/* The parts of the cast command, shared by `slabcast cast`, `slabcast lidar` and `slabcast-mpi cast`. */
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
  const command_line *line; /* the command of which these are options */
  const char *device, *rays, *out, *json;
  sweep *sweep;              /* a sensor, whose rays are cast in place of those of a file; NULL: there is none */
  const char *beams, *poses; /* files of a sensor; NULL: none */
  own_options own;
  uint64_t threads, max_hits;
  scene_source *scene;
  int query, tree, layout, cull, edges, in, out_format; /* out_format: file_format */
  int segments, face_forward, points, check, resume;
  real_option t_min, t_max;
  shard_option shard;
} cast_options;

/* Rows of options that commands share whose struct of values begins with a cast_options. */
#define CAST_PLACE(member) offsetof(cast_options, member)
#define CAST_OPTION_OUT                                                                                               \
  {                                                                                                                   \
    "-o", "FILE|-", OPTION_TEXT, CAST_PLACE(out), "where results go, - for stdout; without it they are only counted", \
        0, 0                                                                                                          \
  }
#define CAST_OPTIONS_CROSSINGS                                                                                     \
  {"--cull", "none|back|front", OPTION_CHOICE, CAST_PLACE(cull), "drop crossings of back or front faces", 0, 0}, { \
    "--edges", "half-open|closed", OPTION_CHOICE, CAST_PLACE(edges),                                               \
        "closed: a ray that touches an edge or a vertex of a triangle hits it, at a\n"                             \
        "shared one every triangle there (default: each crossing counts once)",                                    \
        0, 0                                                                                                       \
  }
#define CAST_OPTIONS_NORMALS_POINTS                                                                          \
  {"--face-forward", NULL, OPTION_SWITCH, CAST_PLACE(face_forward), "turn normals against the ray", 0, 0}, { \
    "--points", NULL, OPTION_SWITCH, CAST_PLACE(points),                                                     \
        "add x, y, z of the hit, for intervals of enter and leave; inf on a miss\n"                          \
        "(ply has them in any case)",                                                                        \
        0, 0                                                                                                 \
  }
#define CAST_OPTION_FORMAT                                                         \
  {                                                                                \
    "--out", "auto|npy|raw|text|csv|ply", OPTION_CHOICE, CAST_PLACE(out_format),   \
        "format of the results (default: by the name's ending, .npy, .raw or\n"    \
        ".bin, .txt, .csv, .ply; without one npy, on a terminal text)\n"           \
        "ply: each hit is a point, with its fields and its ray; misses have none", \
        0, 0                                                                       \
  }
#define CAST_OPTIONS_RUN                                                                   \
  {"--check",                                                                              \
   NULL,                                                                                   \
   OPTION_SWITCH,                                                                          \
   CAST_PLACE(check),                                                                      \
   "compare every result with the CPU reference, bit by bit; exit code 3\nif one differs", \
   0,                                                                                      \
   0},                                                                                     \
      {"--resume",                                                                         \
       NULL,                                                                               \
       OPTION_SWITCH,                                                                      \
       CAST_PLACE(resume),                                                                 \
       "go on from FILE.part of an interrupted cast of the same rays at the\n"             \
       "same scene: the same bytes come out; a finished FILE is compared and stays",       \
       0,                                                                                  \
       0},                                                                                 \
      {"--shard",                                                                          \
       "I/N",                                                                              \
       OPTION_SHARD,                                                                       \
       CAST_PLACE(shard),                                                                  \
       "cast only the I-th of N equal slices of the rays, counted from 0",                 \
       0,                                                                                  \
       0},                                                                                 \
  {                                                                                        \
    "--json", "FILE|-", OPTION_TEXT, CAST_PLACE(json),                                     \
        "write a summary: device, rays, hits, seconds, mismatches, ...", 0, 0              \
  }

typedef struct cast_job {
  const cast_options *options;
  slab_context *context;
  slab_scene *scene;
  slab_scene_stats stats;
  slab_device_info device;
  ray_source *rays;
  own_source *own; /* NULL: rays have no values of their own */
  uint64_t sample; /* of a shard: the digest of their own values; 0: none */
  result_file *results;
  caster cast;
  double rounding; /* largest distance that rounding to float32 moved a point of a ray */
  double start;
} cast_job;

/* Parses the command line of `cast` into *options; options->scene must exist. Returns OPTIONS_RUN, or the exit code to
 * return. */
int cast_parse(int argc, char **argv, cast_options *options);
/* The part of it that follows options_parse, for any command: checks combinations of options, and sets those that
 * follow from others. */
int cast_check(cast_options *options);
/* Casts the rays of the file or the sensor, with all that options want. Returns an exit code. */
int cast_run(const cast_options *options);
/* The options of the context. */
slab_context_options cast_context(const cast_options *);

/* Checks before work starts that the outputs can be opened, and are no inputs. Returns an exit code. */
int cast_probe(const cast_options *);
/* Opens the rays that job->options name, or the shard of them, with each ray's own values. Returns an exit code. */
int cast_open_rays(cast_job *job);
/* Once rays and scene are open: whether rays are cast in double, and whether their own values go with that. Returns an
 * exit code. */
int cast_settle(cast_job *job);
/* The label of a shard's results, once rays and scene are open. */
shard_label cast_label(const cast_job *job);
/* Sets up job->cast. Rays, scene and, if wanted, results must be open. */
void cast_prepare(cast_job *job);

/* Prints the warnings and, if requested, the counts of the tally. */
void cast_tell(const cast_job *job);
/* The tally for --json; NULL if out of memory. */
json_t *cast_summary(const cast_job *job);

#endif
