/* What the library's files share. OpenCL types stay behind the public header. */
#ifndef SLABCAST_PRIVATE_H
#define SLABCAST_PRIVATE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "collect.h"
#include "slabcast.h"
#include "traversal_choice.h"
#include "tuning.h"
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
/* Ends the noun after a number: "1 ray", "2 rays". */
#define PLURAL(n) ((n) == 1 ? "" : "s")

static inline double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- context.c: devices ---- */

typedef struct program program;
typedef struct staging_buffers staging_buffers;

/* One device of a context, with what casting on it needs. */
typedef struct device {
  cl_context context;
  cl_platform_id platform;
  cl_device_id id;
  cl_command_queue queue; /* in order: every kernel runs on it */
  bool queue_is_callers;  /* then transfers run on it too */
  uint32_t nth;           /* of its context */
  struct device *builder; /* the first of its context that is an equal GPU, often itself: programs come from there */
  slab_device_info info;
  bool is_part;         /* of another device */
  bool has_double;      /* and may divide through it where info.exact_divide does not hold */
  bool in_place;        /* kernels can use host arrays without a copy */
  bool scene_in_place;  /* and scenes lie in them: not in a caller's context, where scenes may go before their casts */
  size_t group_most;    /* work-items of a group, whatever the kernel */
  uint32_t launch_rays; /* the caller's bound, 0: none */
  slab_traversal traversal; /* how the caller wants BVHs to be traversed */
  const tuning *tuning;     /* what suits its class */
  pthread_mutex_t
      lock;          /* guards programs, a kernel from its arguments to its launch, slots, and what traversals learn */
  program *programs; /* built so far, and those that some thread builds */
  pthread_cond_t built;          /* one of those is done */
  staging_buffers *idle_buffers; /* those that no cast uses */
  double building;               /* seconds: the last stretch of rays for which kernels had to be built, 0: none yet */
  double casting;                /* those since */
} device;

struct slab_context {
  atomic_uint references; /* its creator and its scenes */
  slab_layout layout;     /* of BVHs: not SLAB_LAYOUT_DEFAULT */
  uint32_t device_count;
  device devices[]; /* at least one */
};

/* An in-order queue of the library's own. */
slab_status device_queue(const device *, cl_command_queue *queue);
/* Until the driver is through with a queue whose commands have ended, before the queue is released. */
void wait_for_driver(const device *, cl_command_queue);

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
  PROGRAM_ATTRIBUTES,
  PROGRAM_PAIRS
} program_source;

/* What a program is specialised by. */
typedef struct program_key {
  program_source source;
  slab_query query;
  uint32_t kinds; /* bit k: slab_shape k */
  uint32_t stack; /* of BVHs: entries of the traversal's stack */
  bool deferred;  /* PROGRAM_WIDE: closest hits are left to PROGRAM_ATTRIBUTES */
  bool cut;       /* the scene lies in several buffers */
} program_key;

/* The kernels of PROGRAM_WIDE; other programs have one. */
enum { KERNEL_MAIN, KERNEL_INTERLEAVED, PROGRAM_KERNELS };

/* A kernel, ready for its arguments. */
typedef struct ready_kernel {
  cl_kernel kernel;
  size_t group;   /* work-items that a group of it can have */
  bool first_use; /* or the caller has waited for its program */
} ready_kernel;

/* The nth kernel of a program, built where it was not yet. The device's lock must be held, and stay held while
 * arguments are set and the kernel is launched; meanwhile it is released for as long as the program is being built,
 * here or by another thread. */
slab_status program_find(device *, const program_key *, uint32_t nth, ready_kernel *found);
/* Whether a cast may use a kernel without which it would be slower: where it is there, or where building it pays. The
 * device's lock must be held. */
bool program_pays(const device *, const program_key *, uint32_t nth);
/* Work-items for a group: as many as are wanted, or the largest power of two that the kernel allows. */
size_t program_group(const ready_kernel *, size_t wanted);
void programs_free(program *);
/* The probe (probe.h), built as the device's kernels are; the caller releases it. */
slab_status program_of_probe(const device *, cl_program *);
/* Primitives that stand side by side in the blocks it reads: wide BVHs are 8 wide; compressed ones, tiles in local
 * memory, and pairs have nothing to put side by side. */
uint32_t program_lanes(const device *, program_source);

/* ---- scene.c ---- */

/* Fewer primitives are one thread's work. */
#define PARALLEL_LEAST 4096u
/* Most primitives of a scene: their orders must stay below SLAB_INVALID and SLAB_MISS. */
#define SCENE_PRIMITIVES 0xFFFFFFF0u

/* Buffers that each of a scene's arrays may lie in: OpenCL 1.2 lets a device allocate no less than a quarter of its
 * memory at once, so that as many hold all there is. */
#define SCENE_BUFFERS 4

/* Where a committed scene lies on a device. */
typedef struct scene_buffers {
  cl_mem table;
  cl_mem blocks[SCENE_BUFFERS];
  cl_mem nodes[SCENE_BUFFERS]; /* the first NULL: flat */
  bool cut;                    /* in several buffers, which are copies; else each array is the first one */
  void *kept[2]; /* what the buffers lie in, on devices that use host memory in place; a BVH's stand with the first */
  traversal_memory learned; /* the device's lock guards it, */
  hits_known hits;          /* and this */
} scene_buffers;

struct slab_scene {
  slab_context *context;
  bool committed;
  uint32_t kinds;        /* bit k: holds slab_shape k */
  uint64_t primitives;   /* in all: the next global_id_base */
  geometry_entry *table; /* one entry a geometry, blocks of one lane: the CPU reference's layout */
  uint32_t geometries, table_capacity;
  float *blocks; /* of one lane: the public structs as added, one geometry after the other */
  size_t block_floats, block_capacity;
  scene_buffers *buffers;        /* one a device of the context; NULL before commit */
  slab_tree tree;                /* as it was committed, SLAB_TREE_FLAT where that became of SLAB_TREE_DEFAULT */
  size_t tree_nodes, bvh_floats; /* of a wide BVH's buffers: nodes, and floats of blocks */
  uint32_t stack;                /* entries a traversal can need */
  bvh_outside outside_planes, outside_boxes;
  slab_scene_stats stats;
};

/* Enters the next geometry, for which the table has room and whose primitives stand, or will, at block_floats. */
void scene_append(slab_scene *, uint32_t kind, uint32_t seen_by, uint32_t count);
/* The scene's buffers; release_buffers or slab_scene_destroy clears away what there is of them after a failure. */
typedef struct bvh_layout bvh_layout;
slab_status scene_upload(slab_scene *, slab_tree);
/* Takes over the layout's arrays, whatever comes of it. */
slab_status scene_upload_tree(slab_scene *, bvh_layout *);
/* The buffers are there: measures the scene, which is committed from now on. begin: seconds_now() when that began. */
void scene_finish(slab_scene *, double begin);

/* A committed scene where it lies on one device. */
typedef struct device_scene {
  const slab_scene *scene;
  device *device;
  scene_buffers *buffers;
} device_scene;

device_scene device_scene_of(const slab_scene *, uint32_t nth);

/* A primitive that is never hit stands where one was dropped, and fills up blocks. */
void primitive_void(slab_shape kind, float *values);
bool primitive_is_void(slab_shape kind, const float *values);
/* NULL, or what makes a primitive unacceptable; *value is the offending number. */
const char *primitive_refusal(slab_shape kind, const float *values, float *value);
/* The values as the kernels want them: planes scaled, inverted boxes made empty. */
void primitive_normalise(slab_shape kind, float *values);

/* ---- buffers.c: a scene's arrays on a device ---- */

/* Of an array that is cut, how much each buffer has of its own: BLOCK_UNITs of blocks, and nodes. */
uint32_t part_units(const device *);
uint32_t part_nodes(const device *, slab_layout);

typedef struct scene_array {
  const char *what;
  const void *bytes;
  size_t size, own, tail; /* where it is cut, a buffer has `own` bytes and repeats `tail` of the next one's */
} scene_array;

scene_array array_of_blocks(const device *, const char *what, const float *blocks, size_t floats);
scene_array array_of_nodes(const device *, slab_layout, const void *nodes, size_t size);
/* Whether the device allocates as much at once. */
bool array_fits(const device *, const scene_array *);
/* As one buffer, in_place: in which the array's memory is used where it lies; and as several, which are copies. Buffers
 * made before a failure are the caller's too. */
slab_status array_upload(const device *, const scene_array *, bool in_place, cl_mem *buffer);
slab_status array_upload_cut(const device *, const scene_array *, cl_mem buffers[SCENE_BUFFERS]);
/* What was uploaded, as it stood in the array; array.bytes is not looked at. */
slab_status array_read(const device *, const scene_array *, bool cut, const cl_mem buffers[SCENE_BUFFERS], void *bytes);

/* ---- launch.c: one launch of a cast ---- */

/* The largest group of work-items that tuning.c has. */
#define WORK_GROUP 64

typedef struct launch {
  cl_mem rays, results, offsets, skips, invalid; /* NULL where the query or the options need none */
  cl_mem fallback;  /* of each packet whether its rays are still to be cast, where uniforms.packet; else NULL */
  cl_mem sorted;    /* BVHs: the order in which rays are cast, as their numbers; NULL: as they stand */
  bool interleaved; /* BVHs: work-items take interleaved rays */
  bool deferred;    /* launch_attributes is to follow */
  bool first_use;   /* told: of some kernel, which a driver may finish compiling only then */
  cast_uniforms uniforms;
} launch;

/* The uniforms of a cast under these options (NULL: none), but for the number of rays. */
cast_uniforms cast_uniforms_of(const slab_scene *, const slab_cast_options *);
slab_status check_cull(const char *function, slab_cull);
/* Rays that work-items of launch_enqueue are at together, and what part of the rays that is at the most. */
uint32_t launch_in_flight(const device_scene *, const launch *);
double launch_in_flight_each(const device_scene *);
/* Fills in rays_each, as launch_packets does. */
slab_status launch_enqueue(const device_scene *, slab_query, launch *, cl_command_queue, cl_uint wait_count,
                           const cl_event *wait, cl_event *done);
/* Whether the scene is a BVH through which a CPU device's traversals lead. */
bool has_traversals(const device_scene *);
/* Rays of a packet, 0 where this query on this scene has none. */
uint32_t packet_rays(const device_scene *, slab_query);
/* Ways through a BVH that a cast may choose among: bit t for slab_traversal t. SLAB_TRAVERSAL_SINGLE always is one;
 * others where the device has them and their kernels pay by now. */
uint32_t launch_traversals(const device_scene *, slab_query);
/* Whether launches of this query may leave their hits to launch_attributes. */
bool defers_attributes(const device_scene *, slab_query);
/* Describes the closest hits that launch_enqueue left, on the same queue, which is in order. */
slab_status launch_attributes(const device_scene *, slab_query, launch *, cl_command_queue, cl_event *done);
/* Casts the packets that agree and marks in launch.left those that launch_enqueue is then to cast, on the same queue,
 * which is in order. */
slab_status launch_packets(const device_scene *, slab_query, launch *, cl_command_queue, cl_uint wait_count,
                           const cl_event *wait, cl_event *done);

/* ---- chunk.c: what a device needs for one stretch of rays at a time, kept from cast to cast ---- */

void staging_buffers_free_all(const device *, staging_buffers *);

/* ---- pack.c: geometry for a lane width ---- */

/* Lays `geometries` out for `lanes`: *table and *blocks are malloc'ed, *floats the length of blocks. */
slab_status pack_scene(const slab_scene *, uint32_t lanes, geometry_entry **table, float **blocks, size_t *floats);

#endif
