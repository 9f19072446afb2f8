/* What the files of `slabcast bench` share: ceilings of the device, and cells, each a cast that was timed and checked.
 */
#ifndef SLABCAST_CLI_BENCH_H
#define SLABCAST_CLI_BENCH_H

#include <jansson.h>
#include <stdbool.h>

#include "bench_device.h"
#include "cli.h"
#include "io/progress.h"
#include "timing.h"

typedef enum ceiling_kind {
  CEILING_ADD_MUL,  /* operations a second, half additions, half multiplications */
  CEILING_MIN_MAX,  /* operations a second */
  CEILING_SLAB,     /* operations a second in the proportion of the slab test */
  CEILING_READ,     /* bytes a second of device memory */
  CEILING_COPY,     /* bytes a second, those read and those written */
  CEILING_UPLOAD,   /* bytes a second from host to device */
  CEILING_DOWNLOAD, /* bytes a second from device to host */
  CEILING_LAUNCH,   /* launches a second, each waited for */
  CEILINGS
} ceiling_kind;

/* A ceiling measured at less than this share of clock x width is none; nothing is faster than it can be, but for what
 * clocks and neighbours do meanwhile. */
#define SHARE_LEAST 0.85
#define SHARE_MOST 1.03

/* Additions, multiplications, minima, maxima and comparisons of one slab test as flat casts make it. */
enum { SLAB_OPERATIONS = 19 };

typedef struct bench_ceiling {
  double work;  /* operations, bytes or launches a round; 0: not measured */
  timing times; /* a round's seconds */
  double known; /* clock x width, of arithmetic; 0: not known */
} bench_ceiling;

/* What a ceiling is called, its unit, and what the unit is multiplied by to be printed. */
typedef struct ceiling_name {
  const char *name, *about, *unit;
  double scale;
} ceiling_name;
extern const ceiling_name ceiling_names[CEILINGS];

typedef struct bench_cell {
  const char *group, *layout, *shape, *set, *query; /* "scene", "flat", "boxes", "random", "closest" */
  uint32_t primitives;
  uint64_t rays;
  timing host, kernel; /* host arrays to host arrays; slab_enqueue on the device's buffers, no rounds: not done */
  double tests;        /* primitives tested in a cast, of flat scenes; else 0 */
  double operations;   /* of those tests */
  double bytes;        /* that must come from memory and go to it: rays, results, the shapes of flat scenes */
  double result_bytes; /* of them the results */
  double hit_share;
  uint64_t checked; /* rays held against the CPU reference */
  bool wrong;       /* some of them, or one run against another, differed: the figures do not count */
  double quickest;  /* seconds of the best round, of either kind */
  double share;     /* of the arithmetic ceiling; 0: not known */
  double intensity; /* operations / bytes */
  const char *bound;
} bench_cell;

enum { BENCH_CELLS = 128 };

/* How long and how often ceilings are measured. */
typedef struct bench_effort {
  size_t memory;        /* bytes of the buffers that memory is measured with: more than caches hold */
  double burst_seconds; /* of arithmetic: short enough for a moment without neighbours, long beside a launch */
  int bursts, passes, launches;
} bench_effort;

typedef struct bench_run {
  bench_effort effort;
  slab_context *context;
  slab_device_info device;
  bench_device cl;
  double seconds;     /* a cell, host to host or kernel */
  int processor_time; /* seconds of the processor instead of the wall's */
  double clock;       /* of the device; 0: not known */
  bench_ceiling ceilings[CEILINGS];
  bench_cell cells[BENCH_CELLS];
  size_t cell_count;
  progress line;
} bench_run;

/* Every function that returns int: an exit code, errors printed. */

/* bench_ceiling.c. Memory and launches once; arithmetic again and again, since what is compared with it is measured
 * meanwhile. */
int bench_ceilings(bench_run *);
int bench_arithmetic(bench_run *);
/* A second; 0 where it was not measured. */
double ceiling_best(const bench_run *, ceiling_kind);
/* Its share of clock x width; 0 where that is not known. */
double ceiling_share(const bench_run *, ceiling_kind);

/* bench_width.c. Operations a clock and compute unit; 0: not known. */
double bench_width(const bench_run *, ceiling_kind);

/* bench_cast.c. A committed scene of one geometry. */
typedef struct bench_scene {
  slab_scene *scene;
  const char *layout, *shape;
  slab_shape kind;
  uint32_t primitives;
} bench_scene;

int bench_scene_make(bench_run *, const char *shape, uint32_t count, slab_tree, bench_scene *);
/* Times n rays host to host and, where it fits the device, the kernel alone, and checks the answers. */
int bench_cast(bench_run *, const char *group, const bench_scene *, const char *set, slab_query, const slab_ray *rays,
               size_t n);
/* What bounds each cell, and its share of the ceiling, once all ceilings are known. */
void bench_judge(bench_run *);

/* What becomes of a run: the worst that is true of it. */
typedef enum bench_verdict {
  BENCH_SOUND,
  BENCH_VOID,  /* a ceiling is well below clock x width, or below what was measured once: the machine was not quiet, and
                  shares are too high */
  BENCH_ERROR, /* something is faster than it can be: the benchmark is wrong */
  BENCH_WRONG  /* answers were */
} bench_verdict;
extern const char *const bench_verdict_names[];
/* Of what is faster than its ceiling: measured once it tells too little of a machine with other work to be an error. */
bench_verdict bench_too_fast(const bench_run *);
bench_verdict bench_verdict_of(const bench_run *);

/* bench_table.c: everything, on stdout. */
void bench_print(const bench_run *);

/* bench_file.c */
int bench_save_csv(const char *path, const bench_run *);
int bench_save_json(const char *path, const bench_run *);

/* bench_compare.c. The JSON of an earlier run, NULL with the error printed; and on stdout how this run's figures stand
 * to it. */
json_t *bench_load(const char *path);
void bench_compare(const json_t *earlier, const bench_run *);

static inline double rate_of(double work, double seconds) { return seconds > 0.0 ? work / seconds : 0.0; }

#endif
