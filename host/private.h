/* Declarations that the library's files share. OpenCL types do not appear in slabcast.h. */
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
/* Records the message. The value is the status, which is visible to compilers and analysers. */
#define fail(status, ...) (record_failure(__VA_ARGS__), (slab_status)(status))
/* fail for host memory. */
#define fail_memory(bytes, purpose) \
  fail(SLAB_OUT_OF_MEMORY, "no %zu bytes of host memory for %s", (size_t)(bytes), purpose)
/* fail for an OpenCL call, with its name, the name of its code, and its purpose. */
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

/* One device of a context, with the state for casts on it. */
typedef struct device {
  cl_context context;
  cl_platform_id platform;
  cl_device_id id;
  cl_command_queue queue; /* in-order queue that runs every kernel */
  bool queue_is_callers;  /* the queue is the caller's; transfers then use it too */
  uint32_t nth;           /* index in its context */
  struct device *builder; /* the first equal GPU of the context, often itself; its compiled programs are shared */
  slab_device_info info;
  bool is_part;             /* a part (sub-device) of another device */
  bool has_double;          /* has double; kernels may divide through it where info.exact_divide is 0 */
  bool in_place;            /* kernels use host arrays without a copy */
  bool scene_in_place;      /* scenes are used in place too; not in a caller's context, where a scene may be destroyed
                               before its casts end */
  size_t group_most;        /* maximum work-items per group, for any kernel */
  uint32_t launch_rays;     /* the caller's limit of rays per launch; 0: none */
  slab_traversal traversal; /* the caller's choice of traversal */
  const tuning *tuning;     /* tuning values of the device's class */
  pthread_mutex_t lock; /* guards programs, a kernel from setting its arguments to its launch, the staging buffers, and
                           the data that casts learn */
  program *programs;    /* programs built so far, and those being built */
  pthread_cond_t built; /* signalled when a build ends */
  staging_buffers *idle_buffers; /* staging buffers that no cast uses */
  double building;               /* seconds of the last chunk for which kernels had to be built; 0: none yet */
  double casting;                /* seconds of chunks cast since then */
} device;

struct slab_context {
  atomic_uint references; /* held by its creator and its scenes */
  slab_layout layout;     /* layout of BVHs, never SLAB_LAYOUT_DEFAULT */
  uint32_t device_count;
  device devices[]; /* at least one */
};

/* Creates an in-order queue of the library's own. */
slab_status device_queue(const device *, cl_command_queue *queue);
/* Waits until the driver has finished with a queue whose commands have ended. Called before the queue is released. */
void wait_for_driver(const device *, cl_command_queue);

/* enqueue.c: checks that the context and device are not NULL and that the queue (NULL: none) belongs to them. */
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

/* The parameters that a program is specialised for. */
typedef struct program_key {
  program_source source;
  slab_query query;
  uint32_t kinds; /* bit k: slab_shape k */
  uint32_t stack; /* entries of the traversal stack, for BVHs */
  bool deferred;  /* PROGRAM_WIDE: PROGRAM_ATTRIBUTES computes the attributes of closest hits later */
  bool cut;       /* the scene is split over several buffers */
} program_key;

/* The kernels of PROGRAM_WIDE; other programs have one. */
enum { KERNEL_MAIN, KERNEL_INTERLEAVED, PROGRAM_KERNELS };

/* A kernel that is ready for its arguments. */
typedef struct ready_kernel {
  cl_kernel kernel;
  size_t group;   /* maximum work-items per group */
  bool first_use; /* not used before, or the caller has waited for its build */
} ready_kernel;

/* Finds the nth kernel of a program, and builds the program where needed. The caller must hold the device's lock, and
 * keep it while it sets arguments and launches the kernel. The lock is released while the program is being built, here
 * or by another thread. */
slab_status program_find(device *, const program_key *, uint32_t nth, ready_kernel *found);
/* Whether a cast should use an optional kernel that only makes it faster: the kernel exists already, or building it
 * pays. The device's lock must be held. */
bool program_pays(const device *, const program_key *, uint32_t nth);
/* Work-items per group: `wanted`, or the largest power of two that the kernel allows. */
size_t program_group(const ready_kernel *, size_t wanted);
void programs_free(program *);
/* Builds the probe (probe.h) like the device's kernels; the caller releases it. */
slab_status program_of_probe(const device *, cl_program *);
/* Primitives per block that a program reads. Wide BVHs have 8 at most. It is 1 for compressed BVHs, for tiles in local
 * memory and for pairs. */
uint32_t program_lanes(const device *, program_source);

/* ---- scene.c ---- */

/* Fewer primitives are handled by one thread. */
#define PARALLEL_LEAST 4096u
/* Maximum primitives of a scene: global primitive ids must stay below SLAB_INVALID and SLAB_MISS. */
#define SCENE_PRIMITIVES 0xFFFFFFF0u

/* Maximum buffers per array of a scene. In OpenCL 1.2 one allocation can have at least a quarter of a device's memory,
 * so four buffers can hold all of it. */
#define SCENE_BUFFERS 4

/* The buffers of a committed scene on one device. */
typedef struct scene_buffers {
  cl_mem table;
  cl_mem blocks[SCENE_BUFFERS];
  cl_mem nodes[SCENE_BUFFERS]; /* first entry NULL: flat */
  bool cut;                    /* split over several buffers, which are copies; else each array is in its first
                                  buffer */
  void *kept[2];               /* host memory that buffers use in place; for a BVH it is kept with the first device */
  traversal_memory learned;    /* learned by casts; guarded by the device's lock */
  hits_known hits;             /* guarded by the same lock */
} scene_buffers;

struct slab_scene {
  slab_context *context;
  bool committed;
  uint32_t kinds;        /* bit k: the scene has slab_shape k */
  uint64_t primitives;   /* total, which is the next global_id_base */
  geometry_entry *table; /* one entry per geometry; blocks of one lane, the CPU reference's layout */
  uint32_t geometries, table_capacity;
  float *blocks; /* blocks of one lane: the public structs as added, one geometry after the other */
  size_t block_floats, block_capacity;
  scene_buffers *buffers;        /* one per device of the context; NULL before commit */
  slab_tree tree;                /* build quality as committed; SLAB_TREE_FLAT where SLAB_TREE_DEFAULT chose it */
  size_t tree_nodes, bvh_floats; /* size of a wide BVH: nodes, and floats of blocks */
  uint32_t stack;                /* stack entries that a traversal can need */
  bvh_outside outside_planes, outside_boxes;
  slab_scene_stats stats;
};

/* Adds the next geometry to the table. The table must have room. The primitives are at block_floats, or will be stored
 * there. */
void scene_append(slab_scene *, uint32_t kind, uint32_t seen_by, uint32_t count);
/* Creates the scene's buffers. After a failure release_buffers or slab_scene_destroy frees those that exist. */
typedef struct bvh_layout bvh_layout;
slab_status scene_upload(slab_scene *, slab_tree);
/* Takes ownership of the layout's arrays, on success and on failure. */
slab_status scene_upload_tree(slab_scene *, bvh_layout *);
/* Measures the scene and marks it committed, after its buffers were created. begin: seconds_now() at the start of the
 * commit. */
void scene_finish(slab_scene *, double begin);

/* A committed scene on one device. */
typedef struct device_scene {
  const slab_scene *scene;
  device *device;
  scene_buffers *buffers;
} device_scene;

device_scene device_scene_of(const slab_scene *, uint32_t nth);

/* Stores a void primitive, which is never hit. It replaces a dropped primitive, and fills up blocks. */
void primitive_void(slab_shape kind, float *values);
bool primitive_is_void(slab_shape kind, const float *values);
/* NULL, or the reason why a primitive is refused; *value is the offending number. */
const char *primitive_refusal(slab_shape kind, const float *values, float *value);
/* Converts the values to the form that kernels expect: planes scaled, inverted boxes made void. */
void primitive_normalise(slab_shape kind, float *values);

/* ---- buffers.c: a scene's arrays on a device ---- */

/* For an array that is split: BLOCK_UNITs of blocks and nodes that each buffer has of its own. */
uint32_t part_units(const device *);
uint32_t part_nodes(const device *, slab_layout);

typedef struct scene_array {
  const char *what;
  const void *bytes;
  size_t size, own, tail; /* bytes; where it is split, a buffer has `own` bytes and repeats the first `tail` bytes of
                             the next one */
} scene_array;

scene_array array_of_blocks(const device *, const char *what, const float *blocks, size_t floats);
scene_array array_of_nodes(const device *, slab_layout, const void *nodes, size_t size);
/* Whether the array fits one allocation of the device. */
bool array_fits(const device *, const scene_array *);
/* Upload an array as one buffer, or as several, which are copies. in_place: the buffer uses the array's memory, which
 * must then outlive it. Buffers made before a failure belong to the caller too. */
slab_status array_upload(const device *, const scene_array *, bool in_place, cl_mem *buffer);
slab_status array_upload_cut(const device *, const scene_array *, cl_mem buffers[SCENE_BUFFERS]);
/* Reads an uploaded array back. array.bytes is not used. */
slab_status array_read(const device *, const scene_array *, bool cut, const cl_mem buffers[SCENE_BUFFERS], void *bytes);

/* ---- launch.c: one launch of a cast ---- */

/* The largest group size in tuning.c, in work-items. */
#define WORK_GROUP 64

typedef struct launch {
  cl_mem rays, results, offsets, skips, invalid; /* NULL where the query or the options need none */
  cl_mem fallback;  /* a byte per packet: whether its rays are still to be cast; NULL unless uniforms.packet is set */
  cl_mem sorted;    /* BVHs: indices of the rays in the order in which they are cast; NULL: in their given order */
  bool interleaved; /* BVHs: work-items cast interleaved rays */
  bool deferred;    /* launch_attributes computes the attributes afterwards */
  bool first_use;   /* output: some kernel was used for the first time; a driver may finish compiling it only then */
  cast_uniforms uniforms;
} launch;

/* The uniforms of a cast with these options (NULL: none), without the number of rays. */
cast_uniforms cast_uniforms_of(const slab_scene *, const slab_cast_options *);
slab_status check_cull(const char *function, slab_cull);
/* Rays that the work-items of launch_enqueue have in flight together; and the largest share of the rays that this can
 * be. */
uint32_t launch_in_flight(const device_scene *, const launch *);
double launch_in_flight_each(const device_scene *);
/* Launches the main or the interleaved kernel. Sets rays_each, as launch_packets does. */
slab_status launch_enqueue(const device_scene *, slab_query, launch *, cl_command_queue, cl_uint wait_count,
                           const cl_event *wait, cl_event *done);
/* Whether the scene has a wide BVH, to which slab_traversal applies. */
bool has_traversals(const device_scene *);
/* Rays per packet; 0 where this query on this scene has no packets. */
uint32_t packet_rays(const device_scene *, slab_query);
/* Traversals that a cast may choose from: bit t for slab_traversal t. SLAB_TRAVERSAL_SINGLE is always available; others
 * where the device supports them and their kernels pay by now. */
uint32_t launch_traversals(const device_scene *, slab_query);
/* Whether launches of this query may leave the attributes of hits to launch_attributes. */
bool defers_attributes(const device_scene *, slab_query);
/* Computes the attributes of the closest hits that launch_enqueue found, on the same queue, which must be in order. */
slab_status launch_attributes(const device_scene *, slab_query, launch *, cl_command_queue, cl_event *done);
/* Casts the packets whose rays agree, and marks the others in launch.fallback. launch_enqueue then casts those, on the
 * same queue, which must be in order. */
slab_status launch_packets(const device_scene *, slab_query, launch *, cl_command_queue, cl_uint wait_count,
                           const cl_event *wait, cl_event *done);

/* ---- chunk.c: staging buffers, kept from cast to cast ---- */

void staging_buffers_free_all(const device *, staging_buffers *);

/* ---- pack.c: geometry for a lane width ---- */

/* Lays `geometries` out for `lanes`: *table and *blocks are malloc'ed, *floats the length of blocks. */
slab_status pack_scene(const slab_scene *, uint32_t lanes, geometry_entry **table, float **blocks, size_t *floats);

#endif
