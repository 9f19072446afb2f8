/* What the files of `slabcast verify` share: groups of checks, each fed with batches of random rays, and what they
 * found. A batch is made from seed, group and number alone, so that it can be made again. */
#ifndef SLABCAST_CLI_VERIFY_H
#define SLABCAST_CLI_VERIFY_H

#include "answers.h"
#include "cli.h"
#include "io/progress.h"
#include "random.h"

typedef struct verify_run verify_run;
typedef struct verify_group verify_group;

/* Makes and checks a batch of n rays. Returns an exit code, EXIT_DONE also where answers were wrong: those are reported
 * by verify_fail. */
typedef int verify_step(verify_run *run, random_state *random, size_t n);

/* Which options and rays a batch of a contract row gets. */
typedef enum verify_flavour {
  FLAVOUR_ANY, /* random options */
  FLAVOUR_MASK,
  FLAVOUR_SKIP, /* of what was hit first */
  FLAVOUR_CULL,
  FLAVOUR_SEGMENTS,
  FLAVOUR_RANGES /* that begin and end at crossings */
} verify_flavour;

struct verify_group {
  const char *name, *about;
  double weight;         /* of its share of the rays */
  uint32_t batch, least; /* rays of a batch at most, batches at least */
  verify_step *step;
  int (*finish)(verify_run *run); /* after the last batch; may be NULL */
  /* what verify_row wants to know */
  int query;      /* a slab_query; -1: by turns */
  unsigned kinds; /* bit k: slab_shape k */
  verify_flavour flavour;
};

/* The groups in the order of the table, ended by one without a name. */
extern const verify_group verify_groups[];

/* How scenes lie on the device: each of these can run on any, whichever it would choose. */
typedef enum verify_way { WAY_FLAT, WAY_WIDE, WAY_COMPRESSED, WAYS } verify_way;

typedef enum figure_kind { FIGURE_COUNT, FIGURE_SHARE /* of the rays */, FIGURE_RATIO } figure_kind;

typedef struct verify_figure {
  const char *name;
  figure_kind kind;
  double value;
} verify_figure;

enum { VERIFY_FIGURES = 8 };

typedef struct verify_tally {
  uint64_t rays, batches, cases, failures;
  uint64_t met[WAYS]; /* rays that met scenes of each way */
  double seconds;
  verify_figure figures[VERIFY_FIGURES];
  char first[1024]; /* the first failure; "" for none */
} verify_tally;

/* Of kernels. With --lanes all those that are not the device's own take part. */
typedef enum verify_width { ONE_LANE, LANES_8, LANES_16, WIDTHS, OWN_WIDTH = WIDTHS } verify_width;

struct verify_run {
  slab_context *wide[SLAB_TRAVERSAL_SORTED + 1],
      *compressed;             /* of the two layouts of BVHs; one a traversal where there are */
  slab_context *context;       /* of these, that with the layout that the device chooses */
  slab_context *other[WIDTHS]; /* wide BVHs, in packets; NULL but with --lanes all, and for the device's own width */
  slab_device_info device;
  uint64_t seed;
  int extremes; /* numbers whose products are subnormal may occur: the device keeps them */
  int thorough; /* so many rays that rarer programs are worth being compiled */
  progress line;
  /* the group at work */
  const verify_group *group;
  verify_tally *tally;
  uint64_t batch, share; /* number of the batch; rays of the group */
  slab_ray *rays;        /* as many as the largest batch, for the steps, as are */
  slab_primitive_id *skip;
  answers answers, others;
  char refusal[256]; /* what the library last said of geometry that is to be refused */
};

/* Adds failures; the first of a group is named on stderr and kept, with its ray (NULL: none) and how to see it again.
 */
void verify_fail(verify_run *run, uint64_t failures, const slab_ray *ray, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds to a figure of the group; FIGURE_RATIO keeps the greatest. */
void verify_figure_add(verify_run *run, figure_kind kind, const char *name, double value);
double verify_figure_of(const verify_tally *tally, const char *name);

/* EXIT_DONE, or the exit code of a call that failed, with its message printed. */
int verify_status(const verify_run *run, slab_status status);
/* Holds n answers to one query against the CPU reference, and, with `judged`, before the oracle. */
int verify_check(verify_run *run, slab_scene *scene, slab_query query, const answers *a, size_t n,
                 const slab_cast_options *options, int judged);

/* A scene, empty, that is to lie this way. */
slab_status verify_scene(const verify_run *run, verify_way way, slab_scene **scene);
/* Commits it, a BVH as `BVH` says; n rays will meet it. */
slab_status verify_commit(verify_run *run, verify_way way, slab_tree tree, slab_scene *scene, size_t n);

/* ---- the steps ---- */
verify_step verify_row, verify_agreement, verify_pairs; /* verify_rows.c */
verify_step verify_edges, verify_rooms;                 /* verify_closed.c */
verify_step verify_trees;                               /* verify_trees.c */
verify_step verify_invalid, verify_garbage;             /* verify_hostile.c */
int verify_enough_zeros(verify_run *run), verify_time_invalid(verify_run *run);

#endif
