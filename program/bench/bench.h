/* Declarations shared by the files of `slabcast bench`: the device's ceilings, and cells. A cell is a cast that was
 * timed and checked. */
#ifndef SLABCAST_PROGRAM_BENCH_BENCH_H
#define SLABCAST_PROGRAM_BENCH_BENCH_H

#include <jansson.h>
#include <stdbool.h>

#include "cuda/api.h"
#include "program/bench/bench_kernels.h"
#include "program/io/errors.h"
#include "program/io/progress.h"
#include "sets/timing.h"
#include "sets/trace_rays.h"
#include "slabcast_cl.h"

/* ---- the backend that measures ceilings and kernels alone ---- */

/* Operations per clock and compute unit; 0: not known. */
typedef struct bench_width {
  double add_mul, min_max, slab;
} bench_width;

typedef struct bench_backend bench_backend;

typedef struct cuda_bench {
  CUdevice card;
  CUstream stream;
  CUevent begin, end;
  bool retained, entered; /* its primary context */
} cuda_bench;

typedef struct bench_device {
  const bench_backend *backend;
  uint32_t lanes, chains; /* of the arithmetic kernels */
  size_t local, groups;   /* launch size that fills the device evenly */
  double sharers;         /* compute units, to divide processor seconds by; 0: wall time is measured */
  bench_width width;
  /* OpenCL's */
  cl_context context;
  cl_device_id id;
  cl_command_queue queue;
  cl_program program;
  cl_kernel kernels[BENCH_KERNELS];
  /* CUDA's */
  cuda_bench cuda;
  /* the processor's */
  uint32_t threads;
  const bench_level *level;
} bench_device;

typedef struct bench_array {
  size_t bytes;
  void *host;     /* where the host can access it; else NULL */
  cl_mem buffer;  /* OpenCL's; NULL: the device uses `host` */
  CUdeviceptr at; /* CUDA's; 0: likewise */
} bench_array;

/* A launch over the whole device, or of one work-item. See kernels/ceiling.cl for n. */
typedef struct bench_launch {
  bench_kernel kernel;
  const bench_array *from, *to;
  uint32_t n;
  bool alone;
} bench_launch;

/* Every function that returns int returns an exit code and prints errors. */
struct bench_backend {
  bool copies; /* whether there is memory that data must be copied to */
  int (*open)(slab_context *, const slab_device_info *, bench_device *);
  void (*close)(bench_device *);
  /* staging: memory of the host, as close to the device as possible. An array that is zero may be released. */
  int (*allocate)(bench_device *, size_t bytes, bool staging, bench_array *);
  int (*release)(bench_device *, bench_array *);
  int (*write)(bench_device *, const bench_array *, const void *from, size_t bytes);
  int (*read)(bench_device *, const bench_array *, void *to, size_t bytes);
  /* Waits. *seconds: the device's time, or processor seconds from enqueuing to the end, divided by the compute units.
   * NULL: no ceilings but those of transfers can be measured through it. */
  int (*launch)(bench_device *, const bench_launch *, double *seconds);
  /* The kernel of a cast alone, in the same way. NULL: it cannot be had without the rest of the call. */
  int (*cast)(bench_device *, slab_scene *, slab_query, size_t n, const bench_array *rays, const bench_array *results,
              double *seconds);
};

extern const bench_backend bench_opencl, bench_cuda, bench_native;

/* The start values `first`, `a` and `b` of the arithmetic kernels. */
#define BENCH_START \
  { 0.5f, 1.0f, 0.5f }

/* ---- ceilings and cells ---- */

typedef enum ceiling_kind {
  CEILING_ADD_MUL,  /* operations per second; half are additions, half multiplications */
  CEILING_MIN_MAX,  /* operations per second */
  CEILING_SLAB,     /* operations per second in the proportion of the slab test */
  CEILING_READ,     /* bytes per second of device memory */
  CEILING_COPY,     /* bytes per second; bytes read and bytes written both count */
  CEILING_UPLOAD,   /* bytes per second from host to device */
  CEILING_DOWNLOAD, /* bytes per second from device to host */
  CEILING_LAUNCH,   /* launches per second, each waited for */
  CEILINGS
} ceiling_kind;

/* A ceiling below SHARE_LEAST of clock x width is void. Nothing can be faster than its limit; SHARE_MOST leaves space
 * for changes of the clock and for other work on the machine between measurements. */
#define SHARE_LEAST 0.85
#define SHARE_MOST 1.03

/* Additions, multiplications, minima, maxima and comparisons of one slab test in a flat cast. */
enum { SLAB_OPERATIONS = 19 };

typedef struct bench_ceiling {
  double work;  /* operations, bytes or launches of a round; 0: not measured */
  uint32_t n;   /* of the launches of a round */
  timing times; /* seconds of each round */
  double known; /* clock x width, for arithmetic; 0: not known */
} bench_ceiling;

/* Name and unit of a ceiling, and the factor that scales a value for print. */
typedef struct ceiling_name {
  const char *name, *about, *unit;
  double scale;
} ceiling_name;
extern const ceiling_name ceiling_names[CEILINGS];

/* Memory of the host that rays and results lie in. */
typedef enum bench_memory {
  MEMORY_ORDINARY,
  MEMORY_PINNED, /* slab_host_alloc's */
  BENCH_MEMORIES
} bench_memory;
extern const char *const bench_memory_names[BENCH_MEMORIES];

typedef struct bench_cell {
  const char *group, *layout, *shape, *set, *query; /* for example "scene", "flat", "boxes", "random", "closest" */
  uint32_t primitives;
  uint64_t rays;
  timing host, kernel; /* host arrays to host arrays; the kernel alone, on device buffers (no rounds: not measured) */
  double tests;        /* primitive tests of a cast at a flat scene; else 0 */
  double operations;   /* arithmetic operations of those tests */
  double bytes;        /* least memory traffic: rays, results, the shapes of flat scenes */
  double result_bytes; /* the part of `bytes` that is results */
  double hit_share;
  uint64_t checked; /* rays compared with the CPU reference */
  bool wrong;       /* a compared ray differed, or two runs differed: the figures are void */
  double quickest;  /* seconds of the best round, host or kernel */
  double share;     /* share of the arithmetic ceiling; 0: not known */
  double intensity; /* operations / bytes */
  const char *bound;
  bench_memory memory;
  double ray_bytes;     /* bytes sent to a device that copies; result_bytes come back */
  const char *stage;    /* the slowest of upload, download and kernel; "": none is known */
  double stage_seconds; /* its time alone: the least time of a call, since all stages work at once */
} bench_cell;

enum { BENCH_CELLS = 128 };

/* How long and how often ceilings are measured. */
typedef struct bench_effort {
  size_t memory;        /* bytes of the buffers for memory ceilings: more than the caches hold */
  double burst_seconds; /* length of an arithmetic burst: short enough to hit a moment without other work, long compared
                           with a launch */
  int bursts, passes, launches;
} bench_effort;

typedef struct bench_run {
  bench_effort effort;
  slab_context *context;
  slab_device_info device;
  bench_device on;
  double seconds;     /* measuring time of a cell, for host to host and for the kernel alike */
  int processor_time; /* measure processor seconds instead of wall-clock seconds */
  double clock;       /* clock of the device; 0: not known */
  bench_ceiling ceilings[CEILINGS];
  bench_cell cells[BENCH_CELLS];
  size_t cell_count;
  progress line;
} bench_run;

/* The device uses the host's memory in place: a cast copies nothing. */
static inline bool bench_in_place(const bench_run *run) { return run->device.type == SLAB_DEVICE_CPU; }

/* bench_device.c. Opens the backend that measures the run's device. threads: the number that a processor casts on; 0:
 * all. A zeroed device may be closed. */
int bench_device_open(bench_run *, uint32_t threads);
void bench_device_close(bench_device *);

/* Memory and launches are measured once. Arithmetic is measured repeatedly, between the casts that are compared with
 * it. */
int bench_ceilings(bench_run *);
int bench_arithmetic(bench_run *);
/* Best rate per second; 0: not measured. */
double ceiling_best(const bench_run *, ceiling_kind);
/* Best rate as a share of clock x width; 0: clock x width is not known. */
double ceiling_share(const bench_run *, ceiling_kind);

/* bench_cast.c. A committed scene of one geometry. */
typedef struct bench_scene {
  slab_scene *scene;
  const char *layout, *shape;
  slab_shape kind;
  uint32_t primitives;
} bench_scene;

int bench_scene_make(bench_run *, const char *shape, uint32_t count, slab_tree, bench_scene *);

/* bench_rays.c. Rays at a scene, in memory of the host. */
typedef struct bench_rays {
  const char *set;
  bench_memory memory;
  slab_ray *at;
  size_t n;
} bench_rays;

/* Rays that were made are released, also after a failure. */
int bench_rays_of_set(bench_run *, const bench_scene *, trace_set, uint32_t side, bench_rays *);
int bench_rays_random(bench_run *, const bench_scene *, bench_memory, size_t n, bench_rays *);
void bench_rays_free(bench_run *, bench_rays *);
/* Returns NULL with the error printed. what: a noun for the message, such as "rays". */
void *bench_memory_take(bench_run *, bench_memory, size_t bytes, const char *what);
void bench_memory_give_back(bench_run *, bench_memory, void *taken);

/* Times the rays host to host and, if the batch fits the device, the kernel alone. Results lie in memory like that of
 * the rays. Checks the answers. */
int bench_cast(bench_run *, const char *group, const bench_scene *, slab_query, const bench_rays *);
/* Sets each cell's bound, its slowest stage, and its share of the ceiling. Call it when all ceilings are known. */
void bench_judge(bench_run *);

/* Verdict on a run: the worst that applies. */
typedef enum bench_verdict {
  BENCH_SOUND,
  BENCH_VOID,  /* a ceiling is well below clock x width, or something exceeds a ceiling that was measured once: the
                  machine was not quiet, and shares are too high */
  BENCH_ERROR, /* something is faster than its ceiling allows: the benchmark is wrong */
  BENCH_WRONG  /* answers were wrong */
} bench_verdict;
extern const char *const bench_verdict_names[];
/* Verdict for something faster than its ceiling. A ceiling measured only once on a machine with other work is too
 * uncertain to make it an error. */
bench_verdict bench_too_fast(const bench_run *);
bench_verdict bench_verdict_of(const bench_run *);

/* bench_report.c. bench_print prints all results to stdout. */
void bench_print(const bench_run *);
int bench_save_csv(const char *path, const bench_run *);
int bench_save_json(const char *path, const bench_run *);

/* bench_load reads the JSON of an earlier run; NULL with the error printed. bench_compare prints this run's figures
 * relative to it, to stdout. */
json_t *bench_load(const char *path);
void bench_compare(const json_t *earlier, const bench_run *);

static inline double rate_of(double work, double seconds) { return seconds > 0.0 ? work / seconds : 0.0; }

#endif
