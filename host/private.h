/* What the library's files share. OpenCL types stay behind the public header. */
#ifndef SLABCAST_PRIVATE_H
#define SLABCAST_PRIVATE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "slabcast.h"
#include "types.h"

/* ---- status.c: the calling thread's message ---- */

void record_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Records the message; its value is the status, which compilers and analysers then know. */
#define fail(status, ...) (record_failure(__VA_ARGS__), (slab_status)(status))
/* The same for host memory. */
#define fail_memory(bytes, purpose) \
  fail(SLAB_OUT_OF_MEMORY, "no %zu bytes of host memory for %s", (size_t)(bytes), purpose)
/* The same for an OpenCL call: its name, its code by name, and what it was for. */
const char *cl_code_name(cl_int code);
static inline slab_status fail_cl(cl_int code, const char *call, const char *purpose) {
  bool memory =
      code == CL_OUT_OF_HOST_MEMORY || code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES;
  return fail(memory ? SLAB_OUT_OF_MEMORY : SLAB_DEVICE_FAILED, "%s failed with %s (%d) for %s", call,
              cl_code_name(code), code, purpose);
}

static inline double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- context.c: devices ---- */

typedef struct program program;

/* One device of a context, with what casting on it needs. */
typedef struct device {
  cl_context context;
  cl_device_id id;
  cl_command_queue queue;
  slab_device_info info;
  bool has_double;
  bool in_place;        /* kernels can use host arrays without a copy */
  uint32_t launch_rays; /* the caller's bound, 0: none */
  slab_tactic tactic;   /* how the caller wants trees to be traversed */
  slab_layout layout;   /* of trees: not SLAB_LAYOUT_DEFAULT */
  pthread_mutex_t lock; /* guards programs, and a kernel from its arguments to its launch */
  program *programs;    /* built so far */
} device;

struct slab_context {
  atomic_uint references; /* its creator and its scenes */
  device device;
};

/* enqueue.c: whether a queue (NULL: none) is of this context and device, which must not be NULL. */
slab_status check_queue(const char *function, cl_context, cl_device_id, cl_command_queue);

void context_retain(slab_context *);
/* Drops one reference; the last one frees. */
void context_release(slab_context *);

/* ---- program.c: kernels, built once for each specialisation ---- */

typedef enum program_source {
  PROGRAM_FLAT,
  PROGRAM_WIDE,
  PROGRAM_COMPRESSED,
  PROGRAM_PACKET,
  PROGRAM_PAIRS
} program_source;

/* What a program is specialised by. */
typedef struct program_key {
  program_source source;
  slab_query query;
  uint32_t kinds; /* bit k: slab_shape k */
  uint32_t stack; /* of trees: entries of the traversal's stack */
  uint32_t walks; /* PROGRAM_WIDE: rays that a work-item takes in turns */
} program_key;

struct program {
  program_key key;
  cl_program program;
  cl_kernel kernel;
  bool used;
  program *next;
};

/* The kernel of a program, built where it was not yet. The device's lock must be held, and stay held while arguments
 * are set and the kernel is launched. */
slab_status program_find(device *, const program_key *, cl_kernel *kernel, bool *first_use);
void programs_free(program *);

/* ---- scene.c ---- */

/* Fewer primitives are one thread's work. */
#define PARALLEL_LEAST 4096u

/* Where a committed scene lies on a device. */
typedef struct scene_buffers {
  cl_mem table, blocks;
  cl_mem nodes; /* NULL: flat */
} scene_buffers;

struct slab_scene {
  slab_context *context;
  bool committed;
  uint32_t kinds;        /* bit k: holds slab_shape k */
  uint64_t primitives;   /* in all: the next order_base */
  geometry_entry *table; /* one entry a geometry, blocks of one lane: the mirror's layout */
  uint32_t geometries, table_capacity;
  float *blocks; /* of one lane: the public structs as added, one geometry after the other */
  size_t block_floats, block_capacity;
  scene_buffers buffers;
  void *kept[2];  /* what the buffers lie in, on devices that use host memory in place */
  uint32_t stack; /* entries a traversal can need */
  tree_outside outside_planes, outside_boxes;
  slab_scene_stats stats;
};

/* A primitive that is never hit stands where one was dropped, and fills up blocks. */
void primitive_void(slab_shape kind, float *values);
bool primitive_is_void(slab_shape kind, const float *values);
/* NULL, or what makes a primitive unacceptable; *value is the offending number. */
const char *primitive_refusal(slab_shape kind, const float *values, float *value);
/* The values as the kernels want them: planes scaled, inverted boxes made empty. */
void primitive_normalise(slab_shape kind, float *values);

/* ---- launch.c: one launch of a cast ---- */

#define WORK_GROUP 64
/* Rays that a work-item of a flat cast takes at most. On a CPU they share what it has in its cache (measured: 1.35
 * times the speed of one); on a GPU the work-items of a group do. */
uint32_t device_rays(const device *);

typedef struct launch {
  cl_mem rays, results, offsets, skips, invalid; /* NULL where the query or the options need none */
  cl_mem left;    /* of each packet whether its rays are still to be cast, where uniforms.packet; else NULL */
  uint32_t walks; /* trees: rays that a work-item takes in turns; 0 is 1 */
  bool first_use; /* told: of some kernel, which a driver may finish compiling only then */
  cast_uniforms uniforms;
} launch;

/* The uniforms of a cast under these options (NULL: none), but for the number of rays. */
cast_uniforms cast_uniforms_of(const slab_scene *, const slab_cast_options *);
slab_status check_cull(const char *function, slab_cull);
/* Fills in rays_each. */
slab_status launch_enqueue(const slab_scene *, slab_query, launch *, cl_command_queue, cl_uint wait_count,
                           const cl_event *wait, cl_event *done);
/* Whether the scene is a tree through which a CPU device's tactics lead. */
bool has_tactics(const slab_scene *);
/* Rays of a packet, 0 where this query on this scene has none. */
uint32_t packet_rays(const slab_scene *, slab_query);
/* Casts the packets that agree and marks in launch.left those that launch_enqueue is then to cast, on the same queue,
 * which is in order. */
slab_status launch_packets(const slab_scene *, slab_query, launch *, cl_command_queue, cl_event *done);
/* Bytes of one result. */
size_t result_size(slab_query);

/* ---- tactics.c: how rays are taken through a tree, by measurement: answers do not depend on it ---- */

enum { TACTICS = SLAB_TACTIC_TURNS + 1 };

typedef struct tactics {
  bool open;               /* there is a choice, */
  slab_tactic first, last; /* among these, */
  slab_tactic best;        /* and this is it so far */
  double seconds[TACTICS]; /* a ray, the best of the trials */
  uint32_t trials, casts;  /* trials so far; stretches since */
} tactics;

/* For `rays` rays in all: a small batch is no place for trials. */
tactics tactics_begin(const slab_scene *, slab_query, size_t rays);
/* The tactic of the next stretch, of which at most *rays, reduced for a trial. */
slab_tactic tactics_next(const tactics *, uint32_t *rays);
/* How long the last one's rays took. */
void tactics_note(tactics *, uint32_t rays, double seconds);

/* ---- pack.c: geometry for a lane width ---- */

/* Lays `geometries` out for `lanes`: *table and *blocks are malloc'ed, *floats the length of blocks. */
slab_status pack_scene(const slab_scene *, uint32_t lanes, geometry_entry **table, float **blocks, size_t *floats);

#endif
