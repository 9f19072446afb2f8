/* Declarations shared by the files of `slabcast verify`. It runs groups of checks on batches of random rays and records
 * their findings. A batch depends only on seed, group and number, so it can be repeated. */
#ifndef SLABCAST_PROGRAM_VERIFY_VERIFY_H
#define SLABCAST_PROGRAM_VERIFY_VERIFY_H

#include <stdbool.h>

#include "base/formatted.h"
#include "program/io/errors.h"
#include "program/io/progress.h"
#include "sets/adversarial.h"
#include "sets/answers.h"
#include "sets/random.h"

typedef struct verify_run verify_run;
typedef struct verify_group verify_group;

/* Makes and checks a batch of n rays. Returns an exit code. It is EXIT_DONE for wrong answers too: verify_fail reports
 * those. */
typedef int verify_step(verify_run *run, random_state *random, size_t n);

/* The options and rays of a contract row's batch. */
typedef enum verify_flavour {
  FLAVOUR_ANY, /* random options */
  FLAVOUR_MASK,
  FLAVOUR_MASKS, /* of the rays' own */
  FLAVOUR_AFTER, /* the rays begin after hits: verify_walk */
  FLAVOUR_SKIP,  /* skips the first hit of each ray */
  FLAVOUR_CULL,
  FLAVOUR_CLOSED, /* closed edges */
  FLAVOUR_FIRST,  /* max_hits, of SLAB_ALL */
  FLAVOUR_SEGMENTS,
  FLAVOUR_RANGES /* ranges that begin and end at crossings */
} verify_flavour;

struct verify_group {
  const char *name, *about;
  double weight;         /* weight of the group's share of the rays */
  uint32_t batch, least; /* largest batch in rays; least number of batches */
  verify_step *step;
  int (*finish)(verify_run *run); /* after the last batch; may be NULL */
  /* options of verify_row */
  int query;      /* a slab_query; -1: each in turn */
  unsigned kinds; /* bit k: slab_shape k */
  verify_flavour flavour;
};

/* The groups in the order of the table; the last entry has no name. */
extern const verify_group verify_groups[];

/* Layouts of scenes. Every device can run all of them, whichever it would choose, but a card by CUDA: not LAYOUT_WIDE.
 */
typedef enum verify_layout { LAYOUT_FLAT, LAYOUT_WIDE, LAYOUT_COMPRESSED, LAYOUTS } verify_layout;

typedef enum figure_kind { FIGURE_COUNT, FIGURE_SHARE /* share of the rays */, FIGURE_RATIO } figure_kind;

typedef struct verify_figure {
  const char *name;
  figure_kind kind;
  double value;
} verify_figure;

enum { VERIFY_FIGURES = 8 };

typedef struct verify_tally {
  uint64_t rays, batches, cases, failures;
  uint64_t met[LAYOUTS]; /* rays cast at scenes of each layout */
  double seconds;
  verify_figure figures[VERIFY_FIGURES];
  char first[1024]; /* the first failure; "": none */
} verify_tally;

/* Lane widths of kernels. With --lanes all, all widths other than the device's own are tested too. */
typedef enum verify_width { ONE_LANE, LANES_8, LANES_16, WIDTHS, OWN_WIDTH = WIDTHS } verify_width;

struct verify_run {
  slab_context *wide[SLAB_TRAVERSAL_SORTED + 1],
      *compressed;             /* contexts of the two layouts of BVHs; wide has one per traversal, or NULL for each */
  slab_context *context;       /* the one of these with the layout that the device chooses */
  slab_context *other[WIDTHS]; /* wide BVHs in packets, at other widths; NULL without --lanes all, and for the device's
                                  own width */
  slab_device_info device;
  uint64_t seed;
  int extremes; /* numbers with subnormal products may occur, because the device keeps subnormals */
  int thorough; /* enough rays to make it worth compiling rarer programs */
  progress line;
  /* the current group */
  const verify_group *group;
  verify_tally *tally;
  uint64_t batch, share; /* number of the batch; rays of the group */
  slab_ray *rays;        /* for the steps; as large as the largest batch, like the arrays below */
  slab_primitive_id *skip;
  uint32_t *masks;
  slab_short_hit *after;
  answers answers, others;
  char refusal[256]; /* the library's last message for geometry that it had to refuse */
};

/* Appends text, cut to the space left. */
void verify_append(char *text, size_t size, const char *format, ...) FORMATTED(3, 4);
/* Adds failures. The first of a group is printed to stderr and kept, with its ray (NULL: none) and the command that
 * repeats it. */
void verify_fail(verify_run *run, uint64_t failures, const slab_ray *ray, const char *format, ...) FORMATTED(4, 5);
/* Adds to a figure of the group; for FIGURE_RATIO it keeps the maximum. */
void verify_figure_add(verify_run *run, figure_kind kind, const char *name, double value);
double verify_figure_of(const verify_tally *tally, const char *name);

/* Returns EXIT_DONE, or the exit code of a failed call with its message printed. */
int verify_status(const verify_run *run, slab_status status);
/* Compares n answers to one query with the CPU reference and, if `judged`, with the oracle. */
int verify_check(verify_run *run, slab_scene *scene, slab_query query, const answers *a, size_t n,
                 const slab_cast_options *options, int judged);

/* The query of a turn where each needs a program that nothing else does: the first two turns have unlike ones, closest
 * and all, and seven have every query. */
slab_query verify_spread(uint64_t turn);
/* Gives n rays masks of their own, some of which see nothing. */
void verify_masks(verify_run *run, random_state *random, size_t n);
/* Walks along n rays, with random options and masks. The hits after a hit must be the rest of the list of `all`, and
 * the last step is checked as by verify_check. SLAB_INTERVAL, which begins after nothing, has masks alone. */
int verify_walk(verify_run *run, random_state *random, slab_scene *scene, slab_query query, size_t n, int judged);

/* The layout whose turn it is, of those that the device can run. */
verify_layout verify_layout_at(const verify_run *run, uint64_t turn);
slab_context *verify_context(const verify_run *run, verify_layout layout);
/* Creates an empty scene for this layout. */
slab_status verify_scene(const verify_run *run, verify_layout layout, slab_scene **scene);
/* Commits a scene. `tree` is the build quality if the layout has a BVH. n rays will be cast at it. */
slab_status verify_commit(verify_run *run, verify_layout layout, slab_tree tree, slab_scene *scene, size_t n);

/* Creates and commits a scene of every kind, as those of verify_row. */
slab_status verify_adversarial(verify_run *run, random_state *random, verify_layout layout, size_t n, adversarial *,
                               slab_scene **scene);

/* Compares run->answers with run->others, which `from` names; verify_moving.c. */
void verify_same(verify_run *run, slab_query query, size_t n, const char *from);
/* Whether the device refits meshes in its own buffers, and a batch of such; verify_refits.c. */
bool verify_has_refits(const verify_run *run);
int verify_refits(verify_run *run, random_state *random, slab_query query, size_t n);

/* ---- the steps ---- */
verify_step verify_row, verify_agreement, verify_pairs; /* verify_rows.c */
verify_step verify_edges, verify_rooms;                 /* verify_closed.c */
verify_step verify_trees;                               /* verify_trees.c */
verify_step verify_moving;                              /* verify_moving.c */
verify_step verify_instances;                           /* verify_instances.c */
verify_step verify_worlds;                              /* verify_worlds.c */
verify_step verify_far;                                 /* verify_far.c */
verify_step verify_sets;                                /* verify_sets.c */
verify_step verify_points;                              /* verify_points.c */
verify_step verify_inside;                              /* verify_inside.c */
verify_step verify_invalid, verify_garbage;             /* verify_hostile.c */
int verify_enough_zeros(verify_run *run), verify_time_invalid(verify_run *run);

#endif
