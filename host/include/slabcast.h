/** @file
 * Slabcast: massive ray batches on the processor and on any OpenCL device.
 *
 *     geometry --add--> scene --commit--> device; rays --cast--> hits --check--> report.
 *
 * Every function that can fail returns a slab_status. On failure slab_message() of the calling thread says what was
 * wrong, where and with which value. Unless stated otherwise, a failed call leaves its outputs untouched, changes
 * nothing partly and leaks nothing. The library never prints, exits or aborts. Option structs: zero means default, and
 * a NULL pointer to one means all defaults. Destroy functions accept NULL.
 *
 * Any function may return these statuses besides those it lists:
 * - SLAB_OK: the call is done.
 * - SLAB_INVALID_ARGUMENT: a required pointer is NULL, or a value is out of range.
 * - SLAB_OUT_OF_MEMORY: the host or the device lacks memory.
 * - SLAB_DEVICE_FAILED: an OpenCL call failed. The message names the call and its code.
 * - SLAB_INVALID_STATE: the process was forked, see below.
 *
 * Threads: different contexts are independent. One thread at a time may build a scene (add, update, enable, remove,
 * commit). Several threads may cast on, check, pack and query a committed scene at once, and while another one builds.
 * An object may be destroyed only when no other call uses it. A scene keeps its context alive, so the order of
 * destruction does not matter.
 *
 * Processes, where there is fork(), which Windows lacks: fork() copies no threads. A child that was forked after its
 * parent opened a context opens its own. In the child, calls that take the parent's context, or a scene on it, return
 * SLAB_INVALID_STATE at once. Calls that only read host memory still work: slab_context_device(s),
 * slab_context_objects, slab_scene_info, slab_scene_pack, the helpers, the texts. Destroy functions free host memory in
 * the child and leave a driver's objects to the parent. The child's own contexts are on the processor, because the
 * threads of drivers are missing in the child. So where the parent had used OpenCL or CUDA (slab_devices, a context on
 * one of its devices), slab_devices lists the processor alone, and slab_context_create_cl returns SLAB_INVALID_STATE. A
 * child that was forked before works in full, and so does one that calls exec. The library cannot detect the program's
 * own use of OpenCL before it forks.
 *
 * Floating point: every call computes with rounding to nearest, with subnormal numbers and without traps. The settings
 * of the calling thread do not matter (fesetround, flush-to-zero, denormals-are-zero, feenableexcept; a program linked
 * with -ffast-math flushes from its start). On return the thread has its own control bits and exception flags again,
 * and progress callbacks run with them too. This holds on x86-64, and elsewhere where FE_DFL_ENV flushes nothing
 * (glibc, musl, macOS). A cast of slab_enqueue runs later, with the driver's settings. Answers and helpers do not
 * depend on the flags that the caller is compiled with. */
#ifndef SLABCAST_H
#define SLABCAST_H

#ifdef __OPENCL_C_VERSION__ /* a device sees the types alone, so that one file may be for both */
#include "slabcast_types.h"
#else

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "slabcast_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup versions Versions and statuses
 * @{ */

/** Marks what the library exports. On Windows, users of a shared library may define SLAB_SHARED, which saves a jump a
 * call; CMake and pkg-config do. */
#if defined(_WIN32) && defined(SLAB_BUILDS_SHARED)
#define SLAB_API __declspec(dllexport)
#elif defined(_WIN32) && defined(SLAB_SHARED)
#define SLAB_API __declspec(dllimport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define SLAB_API __attribute__((visibility("default")))
#else
#define SLAB_API
#endif

/** @cond */
#define SLAB_VERSION_MAJOR 0
#define SLAB_VERSION_MINOR 1
#define SLAB_VERSION_PATCH 0
/** @endcond */
/** Version of this header, for the preprocessor: 100 is version 0.1.0. It grows with the version. */
#define SLAB_VERSION_NUMBER (SLAB_VERSION_MAJOR * 10000 + SLAB_VERSION_MINOR * 100 + SLAB_VERSION_PATCH)

/** The version of the running library: a constant text such as "0.1.0". It may differ from the header's where the
 * library is shared. It never fails; any thread may call it at any time. */
SLAB_API const char *slab_version(void);
/** The same as a number: the SLAB_VERSION_NUMBER that the library was built with. */
SLAB_API uint32_t slab_version_number(void);

/** X(name, text): every status with the text that slab_status_text() returns. */
#define SLAB_STATUSES(X)                                         \
  X(SLAB_OK, "done")                                             \
  X(SLAB_INVALID_ARGUMENT, "invalid argument")                   \
  X(SLAB_INVALID_STATE, "call out of order")                     \
  X(SLAB_CAPACITY, "output does not hold the result")            \
  X(SLAB_OUT_OF_MEMORY, "out of memory")                         \
  X(SLAB_NO_DEVICE, "no OpenCL device")                          \
  X(SLAB_UNSUPPORTED, "the device cannot keep the contract")     \
  X(SLAB_BUILD_FAILED, "the device's compiler refused a kernel") \
  X(SLAB_DEVICE_FAILED, "an OpenCL call failed")                 \
  X(SLAB_CANCELLED, "cancelled by the progress callback")

/** The result of a call: SLAB_OK, or why it failed. SLAB_STATUSES has the texts. */
typedef enum slab_status {
#define SLAB_STATUS_NAME(name, text) name, /**< text */
  SLAB_STATUSES(SLAB_STATUS_NAME)
#undef SLAB_STATUS_NAME
} slab_status;

/** The text of a status: a constant, never NULL; "unknown status" for other values. */
SLAB_API const char *slab_status_text(slab_status);

/** The message of the last failed call on this thread, with the device's build log where there is one; "" when none
 * failed yet. Valid until this thread's next failure. */
SLAB_API const char *slab_message(void);

/** @} */

/** @defgroup devices Devices and contexts
 * @{ */

/** The kind of a device. */
typedef enum slab_device_type { SLAB_DEVICE_OTHER, SLAB_DEVICE_CPU, SLAB_DEVICE_GPU } slab_device_type;

/** The platform of the processor as a device of the library's own. */
#define SLAB_PROCESSOR_PLATFORM "Slabcast processor"

/** A device: what its driver reports, and what the probe of a context found out. */
typedef struct slab_device_info {
  char name[128];            /**< of the device */
  char vendor[128];          /**< who made it */
  char driver[64];           /**< version of the driver */
  char version[128];         /**< of OpenCL; of the processor, the instruction set in use */
  char platform[128];        /**< the driver, by name */
  slab_device_type type;     /**< CPU, GPU or other */
  uint32_t compute_units;    /**< units that work at the same time; of a CPU its logical cores */
  uint32_t clock_mhz;        /**< as reported by the driver; 0: unknown */
  uint64_t memory_bytes;     /**< global memory */
  uint64_t allocation_bytes; /**< largest single buffer */
  uint32_t lane_width;       /**< primitives that one work-item tests at once: 1, 8 or 16 */
  int denormals;             /**< keeps subnormal numbers; answers then equal the CPU reference for every input */
  int rounds_to_nearest;     /**< devices that do not are refused */
  int exact_divide;          /**< correctly rounded division and square root in hardware or compiler; else the kernels
                                emulate them, with the same answers */
} slab_device_info;

/** Lists the devices, with the properties that they report.
 *
 * Device selectors count devices in this order: the processor, then NVIDIA's cards by CUDA, then the OpenCL devices of
 * all platforms. Nothing runs on them.
 * - A card that CUDA and OpenCL both have is listed once, by CUDA. Its platform is "CUDA", its lane width 1, and its
 *   one layout SLAB_LAYOUT_COMPRESSED.
 * - The processor's platform is SLAB_PROCESSOR_PLATFORM. It needs no driver: the library has its kernels, compiled for
 *   one or several instruction sets, unless it was built without. The device's version names the set in use. An OpenCL
 *   driver may list the same processor once more.
 * - A device that cannot be described is left out here and by selectors.
 * - The environment variable SLABCAST_BACKENDS leaves devices out. It names those that stay, with commas between:
 *   "native" (the processor), "cuda", "opencl".
 *
 * Writes at most `capacity` entries (list may be NULL with capacity 0) and the total to *count.
 *
 * Errors:
 * - SLAB_NO_DEVICE: there is no device, or no OpenCL loader. *count is then 0.
 * - SLAB_DEVICE_FAILED: no device can be described. */
SLAB_API slab_status slab_devices(slab_device_info *list, size_t capacity, size_t *count);

/** How rays traverse a BVH on a CPU device. It never changes an answer, only the speed. */
typedef enum slab_traversal {
  SLAB_TRAVERSAL_AUTO,    /**< the fastest for the rays at hand. For many rays it is chosen by the order in which they
                             are given, or by trials whose results later casts on the scene use */
  SLAB_TRAVERSAL_PACKETS, /**< neighbouring rays of one octant together, else one by one */
  SLAB_TRAVERSAL_SINGLE,  /**< rays one by one */
  SLAB_TRAVERSAL_INTERLEAVED, /**< several rays interleaved: while one waits for memory the others continue. With
                                 instances the processor does so for closest hits of triangles, else as SINGLE */
  SLAB_TRAVERSAL_SORTED       /**< as interleaved, after sorting: rays of one octant that begin near each other follow
                                 each other */
} slab_traversal;

/** How scenes are stored on the device, and so how they are traversed. It never changes an answer, only the speed. */
typedef enum slab_layout {
  SLAB_LAYOUT_DEFAULT,   /**< SLAB_LAYOUT_WIDE where one of the context's devices is a CPU and none is a card by CUDA,
                            else SLAB_LAYOUT_COMPRESSED */
  SLAB_LAYOUT_WIDE,      /**< exact bounds, blocks of eight primitives; slab_traversal applies to this layout alone */
  SLAB_LAYOUT_COMPRESSED /**< for GPUs: BVHs with nodes of 80 bytes, primitives tested one by one, one ray per
                            work-item; boxes of flat scenes go through local memory. lane_width has no effect */
} slab_layout;

/** How a context is opened. */
typedef struct slab_context_options {
  const char *device;   /**< an index of slab_devices, part of the name of a device or platform, "cpu", "gpu", or
                           "cuda:1": a card as NVIDIA's driver counts them. NULL: a GPU if there is one, else the first
                           device, which is the processor. Several devices: a list of these with commas between, or
                           "all" devices that can keep the contract; "all" leaves out OpenCL's CPU devices where the
                           processor is there */
  uint32_t lane_width;  /**< 0: the device's own; 1, 8 or 16 forces that width. On the processor each is an instruction
                           set of its own, which must be there */
  uint32_t launch_rays; /**< maximum rays per launch; 0: limited by the device and to about 100 ms, or to a million
                           rays where rays are sorted */
  int copy;             /**< 1: copies the caller's arrays even where the device could use them in place; the processor
                           never copies */
  slab_traversal traversal; /**< how rays traverse a BVH on a CPU device */
  slab_layout layout;       /**< how scenes are stored on the device */
  uint32_t threads; /**< most threads of the host that build BVHs, sort rays and check at once, the caller's included.
                       0: as many as the affinity of the process and the quota of its control groups allow */
} slab_context_options;

/** Devices that are open. */
typedef struct slab_context slab_context;
/** Geometry, and once it is committed its BVH on the devices of a context. */
typedef struct slab_scene slab_scene;

/** Opens one device or several. The caller destroys *context.
 *
 * With several devices, a scene is laid out on each, and the rays of a cast go to whichever device is free. The device
 * that casts a ray changes no answer. A small probe kernel tests the arithmetic of each device, once in the life of the
 * process for each lane width.
 *
 * Errors:
 * - SLAB_NO_DEVICE: no device matches.
 * - SLAB_UNSUPPORTED: a device does not round to nearest, or an operation of the probe gave a wrong result. The message
 *   quotes the result.
 * - SLAB_INVALID_ARGUMENT: a list has an empty entry or names a device twice.
 * - SLAB_BUILD_FAILED: the driver could not build a kernel. */
SLAB_API slab_status slab_context_create(const slab_context_options *options, slab_context **context);
/** Closes the devices when no scene uses them any more. Accepts NULL. */
SLAB_API void slab_context_destroy(slab_context *context);
/** Describes the device of a context; of several devices the first, which slab_pairs uses. It sets denormals and
 * exact_divide where the device reports them and the probe did not find otherwise. */
SLAB_API slab_status slab_context_device(const slab_context *context, slab_device_info *info);
/** Takes `size` bytes of host memory that the context's devices copy from and to directly, for rays, skips and results.
 *
 * It is pinned memory of the first device that copies. Where no device copies, or the system refuses, it is ordinary
 * memory that begins at a cache line. It may be used for anything, and its bytes have any value. Pinned memory is
 * scarce, and takes longer to get than to fill: keep it from cast to cast. It holds the context until slab_host_free.
 * Several threads may call at once.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: context or memory is NULL.
 * - SLAB_INVALID_STATE: after a fork.
 * - SLAB_OUT_OF_MEMORY. */
SLAB_API slab_status slab_host_alloc(slab_context *, size_t size, void **memory);
/** Gives back memory that slab_host_alloc gave for this context, once no cast uses it. Accepts NULL as memory.
 * SLAB_INVALID_ARGUMENT: the context gave no such memory. */
SLAB_API slab_status slab_host_free(slab_context *, void *memory);
/** Describes all devices of a context, in the order in which they were named ("all": the order of slab_devices). Writes
 * at most `capacity` entries (list may be NULL with capacity 0) and the number of devices to *count. */
SLAB_API slab_status slab_context_devices(const slab_context *context, slab_device_info *list, size_t capacity,
                                          size_t *count);

/** @} */

/** @defgroup scenes Scenes
 * @{ */

/** Triangles over shared vertices. Vertex i is the three floats at byte i * vertex_stride of `vertices`, or the three
 * doubles of `vertices64`. A stride of 0 is that of vertices without gaps; a smaller one is refused. Triangle i has the
 * vertices indices[3i .. 3i+2]; with indices NULL, the vertices 3i .. 3i+2 (a soup). */
typedef struct slab_mesh {
  const float *vertices;    /**< x, y and z of each vertex; NULL where vertices64 has them */
  size_t vertex_stride;     /**< bytes from vertex to vertex; 0: 12, of doubles 24 */
  uint32_t vertex_count;    /**< how many vertices there are */
  const uint32_t *indices;  /**< three a triangle; NULL: a soup */
  uint32_t triangle_count;  /**< how many triangles there are */
  const double *vertices64; /**< x, y and z of each vertex in double (slab_scene_origin); NULL: vertices has them */
} slab_mesh;

/** How a geometry is added. */
typedef struct slab_geometry_options {
  uint32_t mask;     /**< rays whose mask has a bit in common see this geometry; 0: all bits */
  int skip_invalid;  /**< non-zero: drops primitives that would be refused; ids keep the input's numbering */
  uint32_t *skipped; /**< receives the number of dropped primitives; may be NULL */
  uint32_t world;    /**< that the geometry, or all instances of the call, belong to: 1 to the scene's number of worlds;
                        0: to all of them */
  const uint32_t *worlds; /**< slab_scene_add_instances: n entries, each the world of one instance, 0 for all; world
                             must be 0 then. NULL: all have `world` */
} slab_geometry_options;

/** Makes an empty scene, which the caller destroys. */
SLAB_API slab_status slab_scene_create(slab_context *context, slab_scene **scene);
/** Frees a scene on host and devices. Accepts NULL. */
SLAB_API void slab_scene_destroy(slab_scene *scene);

/** Most worlds of a scene. */
#define SLAB_WORLDS 1048576u
/** Declares how many worlds a scene has: copies of a place, each with geometries of its own, over geometries that
 * belong to all. A scene has no worlds at first.
 *
 * Worlds are numbered from 1. slab_geometry_options.world says which world a geometry belongs to; `worlds` of
 * slab_cast_options and slab_point_options says which each ray or point is in. A ray of world w sees the geometries of
 * w and those that belong to all. It has the answer of a scene that holds these alone, but with the ids of this scene.
 * Casts see the worlds after the next slab_scene_commit. One thread at a time may build a scene.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: there are more than SLAB_WORLDS, or a geometry belongs to a world that would be gone.
 * - SLAB_INVALID_STATE: the scene is a model of another one; models have no worlds.
 * - SLAB_OUT_OF_MEMORY. */
SLAB_API slab_status slab_scene_set_worlds(slab_scene *, uint32_t worlds);

/** @defgroup adding Adding geometry
 * @ingroup scenes
 * Each call adds one geometry of n primitives (0 allowed, at most 2^32 - 16 in the scene) and copies them. It writes
 * the id of the geometry to *geometry (may be NULL); ids count from 0 in the order of adding. Casts see a geometry
 * after the next slab_scene_commit.
 *
 * SLAB_INVALID_ARGUMENT names the first refused primitive by index, with its value. These are refused:
 * - planes with a zero or non-finite normal or a non-finite offset
 * - spheres with a non-finite centre or a negative or non-finite radius
 * - oriented boxes with axes not orthonormal within 1e-5, a non-finite centre or a negative or non-finite half size
 * - spheres and oriented boxes with a centre, radius or size beyond 2^60
 * - triangles with a vertex that is NaN, infinite or beyond 2^60, or with an index out of range. Vertices that no
 *   triangle uses may have any value.
 *
 * Inverted or NaN boxes are not refused: they are never hit.
 * @{ */
/** Adds planes. */
SLAB_API slab_status slab_scene_add_planes(slab_scene *, const slab_plane *, uint32_t n, const slab_geometry_options *,
                                           uint32_t *geometry);
/** Adds spheres. */
SLAB_API slab_status slab_scene_add_spheres(slab_scene *, const slab_sphere *, uint32_t n,
                                            const slab_geometry_options *, uint32_t *geometry);
/** Adds axis-aligned boxes. */
SLAB_API slab_status slab_scene_add_boxes(slab_scene *, const slab_box *, uint32_t n, const slab_geometry_options *,
                                          uint32_t *geometry);
/** Adds oriented boxes. */
SLAB_API slab_status slab_scene_add_obbs(slab_scene *, const slab_obb *, uint32_t n, const slab_geometry_options *,
                                         uint32_t *geometry);
/** Adds triangles. */
SLAB_API slab_status slab_scene_add_mesh(slab_scene *, const slab_mesh *, const slab_geometry_options *,
                                         uint32_t *geometry);
/** @} */

/** @name Changing geometry
 * Each call replaces all n primitives of a geometry by as many of the same kind; ids stay. Primitives are refused by
 * the same rules as when added. Where the geometry was added with skip_invalid they are dropped instead. Its mask
 * stays. After a refusal the scene is as it was. Casts see the change after the next slab_scene_commit.
 *
 * A mesh whose indices are NULL keeps those of the geometry, and needs as many vertices as they are for: the fastest
 * update. With indices of its own it may have any number of vertices.
 *
 * SLAB_INVALID_ARGUMENT: the geometry is not one of the scene's, is removed, or has another kind or count of
 * primitives.
 * @{ */
/** Replaces planes. */
SLAB_API slab_status slab_scene_update_planes(slab_scene *, uint32_t geometry, const slab_plane *, uint32_t n);
/** Replaces spheres. */
SLAB_API slab_status slab_scene_update_spheres(slab_scene *, uint32_t geometry, const slab_sphere *, uint32_t n);
/** Replaces axis-aligned boxes. */
SLAB_API slab_status slab_scene_update_boxes(slab_scene *, uint32_t geometry, const slab_box *, uint32_t n);
/** Replaces oriented boxes. */
SLAB_API slab_status slab_scene_update_obbs(slab_scene *, uint32_t geometry, const slab_obb *, uint32_t n);
/** Replaces triangles. */
SLAB_API slab_status slab_scene_update_mesh(slab_scene *, uint32_t geometry, const slab_mesh *);
/** Replaces n planes of a geometry, from number `first` on; the others stay. n = 0 changes nothing.
 *
 * Where a few ranges are all that has changed since the last commit, the next commit takes time for these alone. It
 * writes these primitives and the bounds above them. That holds on the processor, with a BVH without instances or
 * worlds, and with few primitives in the ranges. Else the commit does the same as after an update of all. The host then
 * holds the geometry three times.
 *
 * SLAB_INVALID_ARGUMENT as above, and where the range is not the geometry's. It names a refused primitive by its index
 * in the array. */
SLAB_API slab_status slab_scene_update_some_planes(slab_scene *, uint32_t geometry, uint32_t first, const slab_plane *,
                                                   uint32_t n);
/** The same of spheres. */
SLAB_API slab_status slab_scene_update_some_spheres(slab_scene *, uint32_t geometry, uint32_t first,
                                                    const slab_sphere *, uint32_t n);
/** The same of axis-aligned boxes. */
SLAB_API slab_status slab_scene_update_some_boxes(slab_scene *, uint32_t geometry, uint32_t first, const slab_box *,
                                                  uint32_t n);
/** The same of oriented boxes. */
SLAB_API slab_status slab_scene_update_some_obbs(slab_scene *, uint32_t geometry, uint32_t first, const slab_obb *,
                                                 uint32_t n);
/** The same of a mesh's vertices, each three floats; indices stay. A mesh without indices has three a triangle. A
 * vertex that some triangle has is refused as in an update of all, also where the mesh was added with skip_invalid. So
 * is a vertex of a dropped triangle, unless all its vertices are in the range: the scene does not keep the others. */
SLAB_API slab_status slab_scene_update_some_vertices(slab_scene *, uint32_t geometry, uint32_t first,
                                                     const float *vertices, uint32_t n);
/** Places a model n times: a committed scene of the same context. The model may have instances itself, on at most 4
 * levels.
 * - transforms: n affine maps from the model's space to the scene's, each 12 floats, the rows of a 3x4 matrix. They are
 *   copied.
 * - options: its mask applies beside those of the model's geometries; skip_invalid does not apply.
 * - geometry (NULL: not wanted): receives the first id of the first instance.
 *
 * An instance takes as many consecutive geometry ids as the model has. A hit on instance i, geometry g of the model and
 * primitive p has geometry *geometry + i * (ids of the model) + g and primitive p. The model's geometries are what they
 * were at this scene's commit. The scene retains the model, so its creator may destroy it. The model gets no more
 * geometries. No other thread may change the model during this call.
 *
 * Errors, after which the scene is as it was:
 * - SLAB_INVALID_STATE: the model, or a geometry that was added to it, is not committed.
 * - SLAB_INVALID_ARGUMENT names the model: it is of another context, contains this scene or is on too many levels.
 * - SLAB_INVALID_ARGUMENT names the first transform that is not finite, is singular, or scales by more than 2^60 or
 *   less than 2^-60. A transform that is too skew is refused too: for its matrix A, the norm || |A| |A^-1| || of the
 *   largest row is above 4096. Each rule holds for the transform by itself and with any instance in the model.
 * - SLAB_INVALID_ARGUMENT: there would be more than 2^32 - 16 ids. */
SLAB_API slab_status slab_scene_add_instances(slab_scene *, slab_scene *model, const float *transforms, uint32_t n,
                                              const slab_geometry_options *options, uint32_t *geometry);
/** Replaces the transforms of n instances, all those of one call of slab_scene_add_instances; geometry: the id that the
 * call gave. Casts see them after the next slab_scene_commit. SLAB_INVALID_ARGUMENT as above. */
SLAB_API slab_status slab_scene_update_instances(slab_scene *, uint32_t geometry, const float *transforms, uint32_t n);
/** Replaces the transforms of n instances of a geometry, transforms[i] that of instance indices[i]. Where an index is
 * there twice, the last one counts. In a scene with worlds the next commit then takes time only for the worlds that
 * have moved. SLAB_INVALID_ARGUMENT as above, and where the geometry does not have an index, which the message names.
 */
SLAB_API slab_status slab_scene_update_some_instances(slab_scene *, uint32_t geometry, const uint32_t *indices,
                                                      const float *transforms, uint32_t n);
/** Replaces the transforms of all instances of `count` calls of slab_scene_add_instances. Where one is refused none is
 * moved.
 * - geometries: the ids that these calls gave, each once.
 * - transforms: n, of all their instances, in the order of geometries.
 *
 * SLAB_INVALID_ARGUMENT names the index in geometries, and the transform among those of that geometry. */
SLAB_API slab_status slab_scene_move_instances(slab_scene *, const uint32_t *geometries, uint32_t count,
                                               const float *transforms, uint32_t n);
/** Disables a geometry (enabled 0), or enables it again. No ray sees a disabled geometry, whatever its mask. Its
 * primitives can be updated meanwhile. Casts see it after the next slab_scene_commit. SLAB_INVALID_ARGUMENT as above.
 */
SLAB_API slab_status slab_scene_enable(slab_scene *, uint32_t geometry, int enabled);
/** Removes a geometry for ever. Its id is not used again, and others keep theirs. Casts see it after the next
 * slab_scene_commit. SLAB_INVALID_ARGUMENT as above. */
SLAB_API slab_status slab_scene_remove(slab_scene *, uint32_t geometry);
/** @} */

/** @name Ids of instances
 * By the last commit. Any thread may call them, also while another one builds. Both read n entries and write n, which
 * the caller owns; n may be 0 (arrays may then be NULL).
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: names the first entry that the scene does not have. Nothing is written then.
 * @{ */
/** Most instances that stand in each other. */
#define SLAB_LEVELS 4
/** Where a geometry of a hit stands: from the scene through its models, the scene's own instances first. Members of
 * levels that are not there are 0. */
typedef struct slab_path {
  uint32_t geometry;               /**< its id in the last model; where levels is 0, in the scene */
  uint32_t levels;                 /**< instances that it stands in */
  uint32_t instances[SLAB_LEVELS]; /**< of each level the id that slab_scene_add_instances gave them */
  uint32_t index[SLAB_LEVELS];     /**< of each level which of these instances it is */
} slab_path;
/** Says where the geometries with these ids, which hits have, stand. The primitive of a hit is the same in its model.
 * For SLAB_MISS and SLAB_INVALID the path has that geometry and no levels. A geometry that is removed is refused. */
SLAB_API slab_status slab_scene_paths(const slab_scene *, const uint32_t *geometries, size_t n, slab_path *paths);
/** Does the reverse: writes the ids that geometries have in the scene.
 *
 * An instance takes consecutive ids. A path with levels 1 and geometry 0 gives its first id, and slab_scene_stats of
 * its model gives their number. The geometry may be any of the last model, also one of its instances. */
SLAB_API slab_status slab_scene_path_ids(const slab_scene *, const slab_path *paths, size_t n, uint32_t *geometries);
/** @} */

/** The build quality of the BVH.
 * - FAST builds 2 to 2.5 times as fast as DEFAULT, for scenes that change. Rays take 1.05 to 1.5 times as long, so it
 *   pays for up to about three rays per primitive.
 * - HIGH builds in 1.5 to 4 times the time of DEFAULT; rays take 0.9 to 1 of theirs.
 * - FLAT has no BVH: every primitive is tested.
 * - DEFAULT is FLAT where primitives are few: 8 on GPUs, 24 to 128 by their kind on OpenCL's CPU devices. On the
 *   processor it has a BVH. With up to 192 boxes, 32 spheres or oriented boxes, or 64 triangles it also has the arrays
 *   of FLAT, for rays that are faster with them. */
typedef enum slab_tree { SLAB_TREE_DEFAULT, SLAB_TREE_FLAT, SLAB_TREE_FAST, SLAB_TREE_HIGH } slab_tree;

/** How a commit uses the BVH of the last one. A refit gives its nodes new bounds. It takes a fraction of the time of a
 * build, and rays take longer the more the scene has changed in shape.
 * - AUTO refits until the cost that rays can expect (sah_cost) passes 1.3 of its value after the last build, and then
 *   builds. Where only ranges have moved, some of their primitives go to other leaves before that.
 * - REFIT refits at any cost.
 * - REBUILD builds.
 *
 * AUTO and REFIT also build where the BVH does not hold the scene:
 * - a geometry was added
 * - a box became finite that was infinite in x or y, or the reverse
 * - a primitive was disabled or never hit at the last build, and is there now */
typedef enum slab_update { SLAB_UPDATE_AUTO, SLAB_UPDATE_REFIT, SLAB_UPDATE_REBUILD } slab_update;

/** How a scene is laid out. It never changes an answer, only the speed. */
typedef struct slab_build_options {
  slab_tree tree;     /**< of a BVH that is built */
  slab_update update; /**< of a scene that was committed before */
} slab_build_options;

/** Lays the scene out on the device. A committed scene can be cast on, and be changed and committed again. An empty
 * scene is valid: every ray misses it.
 *
 * Other threads may cast meanwhile. Casts that begin before the commit has succeeded answer the last one to their end,
 * later casts this one. After a failure casts go on answering the last one, and the changes wait for the next commit. A
 * scene without changes is not committed again, unless by SLAB_UPDATE_REBUILD. Options change no answer, only the
 * speed. Two states of a scene that changes are in memory at once.
 *
 * An array that is larger than one allocation of the device is split over several buffers, at most four for primitives
 * and four for nodes.
 *
 * Errors:
 * - SLAB_OUT_OF_MEMORY: these buffers do not hold the array. The message names the bytes needed.
 * - SLAB_INVALID_STATE: a model has changed so that its instances stand on too many levels. Or a transform with one of
 *   the model's own would be refused. */
SLAB_API slab_status slab_scene_commit(slab_scene *, const slab_build_options *);

/** The contents of a scene, and the memory that they take. Primitives are counted as added, dropped ones included. */
typedef struct slab_scene_stats {
  uint32_t geometries;    /**< ids given so far, those of removed ones included */
  uint64_t planes;        /**< of all geometries but removed ones */
  uint64_t spheres;       /**< of all geometries but removed ones */
  uint64_t boxes;         /**< of all geometries but removed ones */
  uint64_t obbs;          /**< of all geometries but removed ones */
  uint64_t triangles;     /**< of all geometries but removed ones */
  float lower[3];         /**< union of all finite bounds that are enabled; lower > upper when there are none */
  float upper[3];         /**< its other end */
  uint64_t host_bytes;    /**< memory of the host */
  uint64_t device_bytes;  /**< memory of all devices together */
  uint32_t tree_depth;    /**< levels of the BVH; 0: flat */
  double sah_cost;        /**< expected work of a ray, by the surface area heuristic; 0: flat */
  double node_occupancy;  /**< used share of the BVH's places for children; 0: flat */
  double block_occupancy; /**< used share of the BVH's places for primitives; 0: flat */
  double build_seconds;   /**< seconds that the last commit took */
  double origin[3]; /**< where the scene's floats count from (slab_scene_origin). lower and upper count from there */
} slab_scene_stats;

/** Says what a scene holds and what memory it takes. SLAB_INVALID_STATE: before commit. */
SLAB_API slab_status slab_scene_info(const slab_scene *, slab_scene_stats *);

/** Serializes a committed scene to `*size` bytes, for other processes and machines of the same byte order.
 *
 * The bytes hold the scene's models as its commit saw them, and its BVH where that is SLAB_LAYOUT_WIDE. Casts on the
 * scene that slab_scene_unpack makes of them give the same bits. Equal scenes give equal bytes. Other versions of the
 * library may refuse them. bytes must be aligned to 8, as memory of malloc is. capacity 0 (bytes may then be NULL)
 * writes *size alone.
 *
 * A forked child cannot commit its parent's scenes, so there the call also packs the changes that wait for a commit.
 * The bytes then hold no BVH. They hold none there either where a driver has it.
 *
 * Errors:
 * - SLAB_CAPACITY: capacity is too small. *size is complete, bytes are untouched.
 * - SLAB_INVALID_STATE: before commit. */
SLAB_API slab_status slab_scene_pack(const slab_scene *, void *bytes, size_t capacity, size_t *size);
/** Makes a committed scene on this context from packed bytes. The caller destroys it. The bytes (aligned to 8) are
 * copied, not kept.
 *
 * Bytes that were forged on purpose, checksum included, may give wrong answers, but no cast accesses memory outside its
 * own. A BVH is built again where the bytes lack it, where it has another layout than this context's, or where the
 * scene has instances. The scene alone retains its models. build_seconds of slab_scene_info is the time that unpacking
 * took.
 *
 * SLAB_INVALID_ARGUMENT: the bytes are not a packed scene of this version, are incomplete, or fail the checksum. */
SLAB_API slab_status slab_scene_unpack(slab_context *, const void *bytes, size_t size, slab_scene **scene);

/** @} */

/** @defgroup doubles Coordinates in double
 * Geometry and rays far from zero. A scene has an origin in double, and keeps floats that count from there. So it holds
 * millimetres where it is below some 16 km in size, wherever it lies. docs/contract.md says what is rounded where.
 *
 * All coordinates that calls take and give are those of the world, floats too. Rays that a device's own buffers hold
 * count from the scene's origin. Each struct has the members of its float sibling, in the same order.
 * @{ */

/** slab_plane in double. */
typedef struct slab_plane64 {
  double normal[3]; /**< of any length but 0 */
  double offset;    /**< normal . x of its points */
} slab_plane64;

/** slab_sphere in double. */
typedef struct slab_sphere64 {
  double center[3]; /**< its centre */
  double radius;    /**< 0 or more */
} slab_sphere64;

/** slab_box in double. */
typedef struct slab_box64 {
  double lower[3]; /**< the least x, y and z */
  double upper[3]; /**< the greatest x, y and z */
} slab_box64;

/** slab_obb in double. */
typedef struct slab_obb64 {
  double center[3];    /**< its centre */
  double half_size[3]; /**< from the centre to a face, along each axis */
  double axes[3][3];   /**< a row for each axis */
} slab_obb64;

/** slab_ray in double. A coordinate of the origin beyond 2^58 makes it invalid, and so does a direction whose largest
 * component is beyond 2^960 or below 2^-960. */
typedef struct slab_ray64 {
  double origin[3];    /**< where t is 0 */
  double t_min;        /**< the range's begin; may be -inf */
  double direction[3]; /**< of any length but 0 */
  double t_max;        /**< the range's end; may be +inf */
} slab_ray64;

/** slab_hit of a ray in double. */
typedef struct slab_hit64 {
  double t;           /**< ray parameter, in lengths of the direction; within the ray's range. A miss has +inf */
  float normal[3];    /**< as in slab_hit */
  float u;            /**< as in slab_hit */
  float v;            /**< as in slab_hit */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
  float order;        /**< t of the ray as it was cast, in float. Hits are in the order of (order, geometry, primitive),
                         also where two have the same t. slab_cast_options.after takes it as its t */
} slab_hit64;

/** slab_short_hit of a ray in double. */
typedef struct slab_short_hit64 {
  double t;           /**< as in slab_hit64 */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
  float order;        /**< as in slab_hit64 */
  uint32_t zero;      /**< 0 */
} slab_short_hit64;

/** slab_interval of a ray in double. */
typedef struct slab_interval64 {
  double enter;       /**< as in slab_interval */
  double leave;       /**< as in slab_interval */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_interval64;

/** Gives a scene its origin before its first commit: three finite doubles of at most 2^58.
 *
 * Without this call the first commit takes the middle of all geometry that was added in double, each coordinate rounded
 * to float. Where no geometry was, it is 0. The origin never changes after that.
 *
 * Geometry in double is kept as it is until the origin is known, and is then rounded to float once: each coordinate
 * less the origin's. Where the origin is not 0, geometry in float is taken so too. Instances keep their matrix in
 * float. The matrix puts the model's own origin at some place; that place less the scene's origin is rounded once. One
 * thread at a time may build a scene.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: a coordinate is not finite or too large.
 * - SLAB_INVALID_STATE: the scene has an origin.
 * - SLAB_OUT_OF_MEMORY. */
SLAB_API slab_status slab_scene_origin(slab_scene *, const double origin[3]);

/** @name Adding and changing in double
 * The calls without 64 in their names state all other facts. A value that float does not hold, after the origin is
 * taken from it, is refused as infinite.
 * @{ */
/** Adds planes. */
SLAB_API slab_status slab_scene_add_planes64(slab_scene *, const slab_plane64 *, uint32_t n,
                                             const slab_geometry_options *, uint32_t *geometry);
/** Adds spheres. */
SLAB_API slab_status slab_scene_add_spheres64(slab_scene *, const slab_sphere64 *, uint32_t n,
                                              const slab_geometry_options *, uint32_t *geometry);
/** Adds axis-aligned boxes. */
SLAB_API slab_status slab_scene_add_boxes64(slab_scene *, const slab_box64 *, uint32_t n, const slab_geometry_options *,
                                            uint32_t *geometry);
/** Adds oriented boxes. */
SLAB_API slab_status slab_scene_add_obbs64(slab_scene *, const slab_obb64 *, uint32_t n, const slab_geometry_options *,
                                           uint32_t *geometry);
/** Replaces planes. */
SLAB_API slab_status slab_scene_update_planes64(slab_scene *, uint32_t geometry, const slab_plane64 *, uint32_t n);
/** Replaces spheres. */
SLAB_API slab_status slab_scene_update_spheres64(slab_scene *, uint32_t geometry, const slab_sphere64 *, uint32_t n);
/** Replaces axis-aligned boxes. */
SLAB_API slab_status slab_scene_update_boxes64(slab_scene *, uint32_t geometry, const slab_box64 *, uint32_t n);
/** Replaces oriented boxes. */
SLAB_API slab_status slab_scene_update_obbs64(slab_scene *, uint32_t geometry, const slab_obb64 *, uint32_t n);
/** Replaces some planes. */
SLAB_API slab_status slab_scene_update_some_planes64(slab_scene *, uint32_t geometry, uint32_t first,
                                                     const slab_plane64 *, uint32_t n);
/** Replaces some spheres. */
SLAB_API slab_status slab_scene_update_some_spheres64(slab_scene *, uint32_t geometry, uint32_t first,
                                                      const slab_sphere64 *, uint32_t n);
/** Replaces some axis-aligned boxes. */
SLAB_API slab_status slab_scene_update_some_boxes64(slab_scene *, uint32_t geometry, uint32_t first, const slab_box64 *,
                                                    uint32_t n);
/** Replaces some oriented boxes. */
SLAB_API slab_status slab_scene_update_some_obbs64(slab_scene *, uint32_t geometry, uint32_t first, const slab_obb64 *,
                                                   uint32_t n);
/** Replaces some vertices of a mesh, each three doubles. */
SLAB_API slab_status slab_scene_update_some_vertices64(slab_scene *, uint32_t geometry, uint32_t first,
                                                       const double *vertices, uint32_t n);
/** Places a model n times, by 12 doubles each. */
SLAB_API slab_status slab_scene_add_instances64(slab_scene *, slab_scene *model, const double *transforms, uint32_t n,
                                                const slab_geometry_options *options, uint32_t *geometry);
/** Replaces the transforms of n instances. */
SLAB_API slab_status slab_scene_update_instances64(slab_scene *, uint32_t geometry, const double *transforms,
                                                   uint32_t n);
/** Replaces the transforms of some instances. */
SLAB_API slab_status slab_scene_update_some_instances64(slab_scene *, uint32_t geometry, const uint32_t *indices,
                                                        const double *transforms, uint32_t n);
/** Replaces the transforms of all instances of `count` geometries. */
SLAB_API slab_status slab_scene_move_instances64(slab_scene *, const uint32_t *geometries, uint32_t count,
                                                 const double *transforms, uint32_t n);
/** @} */

/** The bytes of one result of a query of rays in double (slab_source.rays64). It is a double, slab_hit64,
 * slab_short_hit64, slab_interval64, or the type of slab_result_size; for SLAB_ALL one hit. 0 for a value that is no
 * query. */
SLAB_API size_t slab_result_size64(slab_query);
/** The segment from a to b, as slab_segment. */
SLAB_API slab_ray64 slab_segment64(const double a[3], const double b[3]);
/** @} */

/** @defgroup casts Casts
 * Casts from host memory to host memory. The calls block. When a call returns nothing of it is in flight.
 * - n may have any size including 0 (arrays may then be NULL).
 * - rays: n rays.
 * - results: n results, owned by the caller. They must not overlap the rays.
 *
 * On a CPU device no copies are made. On other devices rays and results are copied while other rays are cast.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_BUILD_FAILED: with the build log.
 * - SLAB_CANCELLED: results of rays that were not done are unspecified.
 * - SLAB_DEVICE_FAILED: likewise. The message names the device and how many rays were done.
 * @{ */

/** Called on the casting thread while launches are in flight. A non-zero return cancels the cast: launches in flight
 * end, and no more are made. */
typedef int slab_progress(void *user, uint64_t rays_done, uint64_t rays_total);

/** The options of every cast. */
typedef struct slab_cast_options {
  uint32_t mask;                 /**< geometries whose mask has no bit in common are not seen; 0: all bits */
  const slab_primitive_id *skip; /**< n entries; entry i names the plane or triangle that ray i does not see (the
                                    surface it leaves); SLAB_MISS skips nothing; NULL: none */
  slab_cull cull;                /**< crossings that are dropped */
  int face_forward;              /**< non-zero: turns normals against the ray */
  slab_progress *progress;       /**< NULL: none */
  void *user;                    /**< passed to progress */
  uint64_t *invalid;             /**< receives the number of invalid rays; NULL: not wanted */
  slab_edges edges;              /**< who owns the edges of triangles */
  uint32_t max_hits;     /**< slab_all: the first hits of a ray that are listed, at most; 0: all. Other queries do not
                            use it */
  const uint32_t *masks; /**< n entries, each the mask of one ray. Ray i sees a geometry where masks[i] and its mask
                            have a common bit, and nothing where masks[i] is 0. mask must be 0 then. NULL: none */
  const slab_short_hit *after; /**< n entries: ray i is given what follows after[i] by (t, geometry, primitive), in t as
                                  hits report it; t_min stays what it is. {-INFINITY, SLAB_MISS, SLAB_MISS} is before
                                  all hits; nothing follows a miss. Not for slab_interval_of, which refuses it; a t that
                                  is NaN is refused. NULL: none */
  const uint32_t *worlds; /**< n entries, each the world that one ray is in; 0: in none, it sees what belongs to all. A
                             world that the scene does not have is refused. NULL: all are 0 */
} slab_cast_options;

/** The bytes of one result of a query; for SLAB_ALL of one hit; 0 for a value that is no query. */
SLAB_API size_t slab_result_size(slab_query);

/** SLAB_CLOSEST: the first hit of each ray, with its normal. */
SLAB_API slab_status slab_closest(slab_scene *, const slab_ray *rays, size_t n, slab_hit *hits,
                                  const slab_cast_options *);
/** SLAB_DISTANCE: t of the first hit alone; +inf on a miss. */
SLAB_API slab_status slab_distance(slab_scene *, const slab_ray *rays, size_t n, float *t, const slab_cast_options *);
/** SLAB_NEAREST: the first hit without normal, u and v. */
SLAB_API slab_status slab_nearest(slab_scene *, const slab_ray *rays, size_t n, slab_short_hit *hits,
                                  const slab_cast_options *);
/** SLAB_ANY: 1 where the ray hits anything, else 0. */
SLAB_API slab_status slab_any(slab_scene *, const slab_ray *rays, size_t n, uint8_t *occluded,
                              const slab_cast_options *);
/** SLAB_COUNT: how many primitives the ray hits. */
SLAB_API slab_status slab_count(slab_scene *, const slab_ray *rays, size_t n, uint32_t *counts,
                                const slab_cast_options *);
/** SLAB_INTERVAL: intersects solids, not surfaces: from inside, enter = t_min. For planes and triangles enter = leave =
 * t. A segment wholly inside a solid has an interval although it hits no surface. */
SLAB_API slab_status slab_interval_of(slab_scene *, const slab_ray *rays, size_t n, slab_interval *intervals,
                                      const slab_cast_options *);
/** SLAB_ALL: all hits of each ray. The hits of ray i are hits[offsets[i] .. offsets[i+1]-1].
 * - offsets: n + 1 entries.
 * - capacity: hits that `hits` has room for. 0 writes offsets and *required alone and returns SLAB_OK.
 * - required (may be NULL): receives offsets[n].
 *
 * With max_hits a ray has at most that many: the first of all its hits by (t, geometry, primitive), with the same bits.
 *
 * With capacity > 0 hits are listed while they are counted. Memory of the library's own, about 512 MiB at most, keeps
 * them until their places are known. A device keeps up to 64 MiB of it for later casts. Rays whose hits do not fit
 * there are counted and then cast again. Progress then counts 2 n rays: each ray once when its hits are counted and
 * once when they are listed, mostly both at once.
 *
 * SLAB_CAPACITY: capacity > 0 is less than the number of hits. offsets are complete, hits are untouched. */
SLAB_API slab_status slab_all(slab_scene *, const slab_ray *rays, size_t n, uint64_t *offsets, slab_hit *hits,
                              uint64_t capacity, uint64_t *required, const slab_cast_options *);

/** Intersects ray i with shape i, without a scene. Writes n (below 2^32 - 2) intervals; primitive = i and geometry = 0
 * where hit. shapes: n values of the struct of `kind` (slab_triangle for triangles). A shape that a scene would refuse
 * is refused by index. */
SLAB_API slab_status slab_pairs(slab_context *, slab_shape kind, const slab_ray *rays, const void *shapes, size_t n,
                                slab_interval *intervals);

/** @} */

/** @defgroup sets Sets of rays
 * Rays that a formula makes: of cameras, of a sensor's beams, from points into directions, from points to points. A set
 * is a description of some hundred bytes and the caller's tables, and its rays need not be stored. docs/contract.md has
 * the formulas: devices make the same bits.
 *
 * The rays of a set come in rows: ray r * columns + c is that of row r and column c.
 * @{ */

/** A pinhole camera. */
typedef struct slab_camera {
  float origin[3];  /**< where it is */
  float forward[3]; /**< where it looks; its length is the distance of the image plane */
  float right[3];   /**< to the right, half as long as the image plane is wide */
  float up[3];      /**< upwards, half as long as the image plane is high */
} slab_camera;

/** Terms of a fisheye's polynomials. */
#define SLAB_FISHEYE_TERMS 8

/** A set of rays. The functions below fill it in; ranges and tables may be changed then. Tables are floats without gaps
 * and are read by each call: the caller keeps them until it returns. */
typedef struct slab_rays {
  slab_rays_kind kind; /**< the formula */
  uint32_t rows;       /**< of cameras pixels from the top, at most 2^24; else poses or points */
  uint32_t columns;    /**< of cameras pixels from the left, at most 2^24; else beams, directions or points, at most
                          2^31 */
  float t_min;         /**< the range of every ray */
  float t_max;         /**< the range's end */
  slab_camera camera;  /**< of cameras; of a fisheye forward, right and up have unit length */
  float across;        /**< of a fisheye: u at the right border of the image */
  float along;         /**< of a fisheye: v at its upper border */
  float limit;         /**< of a fisheye: pixels beyond u u + v v = limit have rays of an empty range */
  float sine[SLAB_FISHEYE_TERMS];   /**< of a fisheye: its direction's part across, over its distance from the centre */
  float cosine[SLAB_FISHEYE_TERMS]; /**< of a fisheye: its direction's part forward; both polynomials of u u + v v */
  const float *of_rows;    /**< beams: rows times 12, the poses as transforms of instances are (3 x 4); directions and
                              pairs: rows times 3, the points that rays begin at */
  const float *normals;    /**< directions: rows times 3, unit normals: directions stand in the frame of their row's
                              (x and y across it, z along it); NULL: they are the world's */
  const float *of_columns; /**< beams: columns times 6, origin and direction in the sensor's frame; directions: columns
                              times 3; pairs: columns times 3, the points that rays go to */
  double offset[3]; /**< where the camera's origin, the places of poses and the points count from, finite; 0: from zero.
                       So a camera or a sensor far from zero keeps its digits: it stands at 0, and this is its place */
} slab_rays;

/** One ray for each pixel of an image, those of slab_camera_ray: the range is [0, inf). */
SLAB_API slab_rays slab_rays_pinhole(const slab_camera *, uint32_t width, uint32_t height);
/** The same with parallel rays: each pixel's begins at its place in the plane of the camera's origin, right and up, and
 * has the direction `forward`. */
SLAB_API slab_rays slab_rays_orthographic(const slab_camera *, uint32_t width, uint32_t height);
/** A lens that sees a whole angle of `degrees` in the circle that touches the shorter sides of the image. degrees:
 * above 0 and at most 360. Calls refuse the set of another angle.
 *
 * The angle from its axis is proportional to the distance from the centre (equidistant). Only the directions of the
 * camera's vectors count. Directions have unit length but for 5e-6 (to 180 degrees 1e-7). */
SLAB_API slab_rays slab_rays_fisheye(const slab_camera *, uint32_t width, uint32_t height, float degrees);
/** A sensor's beams, `beams` times 6 floats, from each of its poses, `poses` times 12. Spinning sensors have a pose for
 * each firing. The range is [0, inf). */
SLAB_API slab_rays slab_rays_beams(const float *pose, uint32_t poses, const float *beam, uint32_t beams);
/** From each of `points` points into each of `directions` directions: skies, suns, hemispheres. The range is [0, inf).
 */
SLAB_API slab_rays slab_rays_directions(const float *point, uint32_t points, const float *direction,
                                        uint32_t directions);
/** slab_segment from each point of `from` to each of `to`. */
SLAB_API slab_rays slab_rays_pairs(const float *from, uint32_t from_count, const float *to, uint32_t to_count);

/** @name Tables for sets
 * Angles are in degrees, up to 1e6 of either sign. Directions have unit length but for the rounding of each component.
 * Any thread may call.
 *
 * SLAB_INVALID_ARGUMENT: an array is NULL although it is not empty, or an angle is NaN or larger.
 * @{ */

/** Writes beams from the sensor's origin, n times 6 floats: origin 0 and a direction of unit length. With elevation e
 * above the xy plane and azimuth a from x towards y, the direction is (cos e cos a, cos e sin a, sin e). */
SLAB_API slab_status slab_beams(const float *elevation, const float *azimuth, size_t n, float *beams);
/** Writes poses of a spinning sensor, n times 12 floats. Pose i is entry i of `pose`, turned by azimuth i about its own
 * z axis, from x towards y. The entries of `pose` are `stride` bytes apart; 0: there is one for all. */
SLAB_API slab_status slab_spun_poses(const float *pose, size_t stride, const float *azimuth, size_t n, float *poses);
/** Writes n directions over the half space z >= 0, n times 3 floats: a Fibonacci spiral.
 *
 * Let s = (i + 1/2) / n. Direction i has z = 1 - s, which is even over the solid angle. Where `cosine` is not 0 it has
 * z z = 1 - s: by the cosine, so that mean values weigh as irradiance does. Its azimuth from x towards y is the
 * fraction of i times 0x9E3779B97F4A7C15 / 2^64, of a turn. */
SLAB_API slab_status slab_hemisphere(uint32_t n, int cosine, float *directions);
/** Writes directions to the sun, n times 3 floats, with x to the east, y to the north and z up. With azimuth az from
 * north towards east and altitude alt above the horizon, a direction is (sin az cos alt, cos az cos alt, sin alt). */
SLAB_API slab_status slab_sun_directions(const float *azimuth, const float *altitude, size_t n, float *directions);
/** The number of patches of a sky whose rows are divided into `parts`, 1 to 64: 144 parts parts + 1. 0 for other
 * numbers. */
SLAB_API uint32_t slab_sky_patch_count(uint32_t parts);
/** Writes the patches of a sky: Tregenza's 145 where parts is 1, Reinhart's 577 where it is 2, 2305 where it is 4.
 * - directions: 3 floats a patch, to its middle, with x to the east, y to the north and z up. Rows come from the
 *   horizon on, each from north towards east; the zenith comes last.
 * - weights (NULL: not wanted): solid angles, which sum up to 2 pi.
 *
 * SLAB_INVALID_ARGUMENT also where parts is another number. */
SLAB_API slab_status slab_sky_patches(uint32_t parts, float *directions, float *weights);
/** @} */

/** Writes n rays of a set, from ray `first` on. The context's first device makes them, on its threads. Any thread may
 * call.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: an argument is NULL.
 * - SLAB_INVALID_ARGUMENT: the set has no such kind, no rows or columns or too many, lacks a table, or has a range that
 *   is NaN.
 * - SLAB_INVALID_ARGUMENT: the set has fewer than first + n rays.
 * - SLAB_OUT_OF_MEMORY, SLAB_BUILD_FAILED, SLAB_DEVICE_FAILED. */
SLAB_API slab_status slab_rays_write(slab_context *, const slab_rays *, uint64_t first, size_t n, slab_ray *rays);
/** @} */

/** @defgroup sources Any source of rays
 * One call for all queries. Rays come from an array or from a set; each has a result, or rows of rays have sums.
 * @{ */

/** Where rays come from: an array of either kind, or a set. All zero: no rays. */
typedef struct slab_source {
  const slab_ray *rays; /**< n rays; NULL: they are others */
  const slab_rays *set; /**< n rays of it, from ray `first` on; NULL: they are of an array */
  uint64_t first;       /**< of the set */
  size_t n;             /**< the number of rays */
  const slab_ray64
      *rays64;          /**< n rays in double, whose results are those of slab_result_size64; NULL: they are others */
  const void *reserved; /**< NULL: a place for points */
} slab_source;

/** Sums over a row of rays. Invalid rays are in no sum. docs/contract.md says in which order t are added. */
typedef struct slab_sum {
  double
      open; /**< weights of the rays that hit nothing, in units of 2^-32, with no rounding of the sum but to double */
  double blocked; /**< weights of the rays that hit something */
  uint32_t rays;  /**< valid rays: the others of the row are invalid */
  uint32_t hits;  /**< rays that hit something */
  float least;    /**< the least t of all hits; +inf: there is none; NaN of SLAB_ANY, which has no t */
  float mean;     /**< the mean t of all hits; +inf: there is none; NaN of SLAB_ANY */
} slab_sum;

/** Where results go, and which they are. */
typedef struct slab_results {
  void *memory;          /**< n results, or one a row; of SLAB_ALL room for `capacity` slab_hit */
  size_t stride;         /**< bytes from a result to the next, at least its size; 0: they follow each other. 0 of
                            SLAB_ALL */
  uint64_t *offsets;     /**< SLAB_ALL only: n + 1, as of slab_all */
  uint64_t capacity;     /**< SLAB_ALL only: hits that memory has room for; 0: offsets alone */
  uint64_t required;     /**< SLAB_ALL only: becomes the number of hits */
  slab_result_type type; /**< 0: a result for each ray */
  uint32_t columns;      /**< of sums: rays of a row, at most 2^31; 0 of a set: its columns */
  const float *weights;  /**< of SLAB_RESULT_SUMS: a weight for each column, none below 0, all together at most 2^31,
                            rounded to units of 2^-32; NULL: each is 1 */
  uint32_t bins;         /**< of SLAB_RESULT_HISTOGRAM: 1 to 4096 */
  float t_from;          /**< of SLAB_RESULT_HISTOGRAM: where the first bin begins */
  float t_to;            /**< of SLAB_RESULT_HISTOGRAM: where the last ends, finite and above t_from */
} slab_results;

/** Casts: any query, with the results, options and statuses of its own call (slab_closest and so on).
 *
 * Rays of a set are made where they are cast, some hundred thousand at a time, with the bits that slab_rays_write
 * gives. No array of them is needed, and none goes over a bus. For sums, launches have 1024 rays at least, whatever the
 * context's launch_rays.
 *
 * Also SLAB_INVALID_ARGUMENT:
 * - `query` is no slab_query, or source or results is NULL
 * - the source has both an array and a set, or a reserved place that is not NULL
 * - slab_rays_write would refuse the part of the set
 * - a stride is smaller than a result
 * - sums: a query that has none of the type, rays that are no whole rows, or columns that are not the set's
 * - sums: bad weights, bins or ends
 * - a weight, bins or columns where the type has none */
SLAB_API slab_status slab_cast(slab_scene *, slab_query query, const slab_source *source, slab_results *results,
                               const slab_cast_options *);
/** @} */

/** @defgroup points Closest points
 * How far points are from surfaces, and where the closest point is. docs/contract.md says what each answer means.
 *
 * points: n times 3 floats. A point with a coordinate that is not finite, or beyond 2^60, is invalid and finds nothing.
 * Triangles without area are found, as segments or points, although no ray hits them. Solids are surfaces: inside of
 * one the distance is that to its surface. Inverted and NaN boxes, and primitives that were dropped, are not found.
 *
 * Statuses and threads are those of casts. Also:
 * - SLAB_INVALID_ARGUMENT: an array is NULL although n is not 0.
 * - SLAB_INVALID_ARGUMENT: a radius is NaN or below 0. The message names the index in radii.
 * - SLAB_INVALID_ARGUMENT: mask is given together with masks, or radius with radii.
 * - SLAB_UNSUPPORTED: the scene has an instance that is not rigid and uniformly scaled. The message names its geometry.
 * @{ */

/** The options of the queries of points. */
typedef struct slab_point_options {
  uint32_t mask;         /**< geometries whose mask has no bit in common are not seen; 0: all bits */
  const uint32_t *masks; /**< n entries, each the mask of one point; 0 sees nothing. mask must be 0 then. NULL: none */
  float radius;          /**< farther surfaces are not found; 0: there is no limit. For a radius of 0 use radii */
  const float *radii;    /**< n entries, each the radius of one point: surfaces at that distance or nearer are found.
                            radius must be 0 then. NULL: none */
  slab_progress *progress; /**< NULL: none; it counts points */
  void *user;              /**< passed to progress */
  uint64_t *invalid;       /**< receives the number of invalid points; NULL: not wanted */
  const uint32_t *worlds;  /**< n entries, each the world that one point is in, as in slab_cast_options. NULL: all are
                              0 */
} slab_point_options;

/** Bytes of one result of a query; 0 for a value that is none. */
SLAB_API size_t slab_point_result_size(slab_point_query);

/** SLAB_CLOSEST_POINTS: the closest point of any surface to each point, n results. */
SLAB_API slab_status slab_closest_points(slab_scene *, const float *points, size_t n, slab_closest_point *results,
                                         const slab_point_options *);
/** SLAB_CLOSEST_DISTANCES: the distances alone, with the same bits; +inf where nothing is found. */
SLAB_API slab_status slab_closest_distances(slab_scene *, const float *points, size_t n, float *distances,
                                            const slab_point_options *);
/** SLAB_POINTS_WITHIN: 1 where something is found within the radius, else 0. */
SLAB_API slab_status slab_points_within(slab_scene *, const float *points, size_t n, uint8_t *within,
                                        const slab_point_options *);
/** @} */

/** slab_closest_point of a point in double. */
typedef struct slab_closest_point64 {
  double point[3];    /**< the closest point */
  float distance;     /**< as in slab_closest_point, and so are all that follow */
  float u;            /**< triangle: weight of b; box and oriented box: the face */
  float v;            /**< triangle: weight of c */
  uint32_t feature;   /**< slab_feature */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_closest_point64;

/** @defgroup winding Inside or outside
 * How often surfaces surround points. docs/contract.md says what each answer means.
 *
 * A ray goes from the point along z. Each triangle that it leaves through, from behind, counts 1; each that it enters
 * through, from the front, counts -1. Each solid that holds the point counts 1, its border included. Planes count
 * nothing. So a mesh that is closed and faces outward counts 1 inside and 0 outside. Meshes that overlap or lie in each
 * other add up; a mesh that faces inward counts -1 inside. A point is inside of the union where the number is not 0,
 * and inside by parity where it is odd.
 *
 * Signs are exact. For a closed mesh the answer is right for every point that is not on its surface, and does not
 * depend on the direction of the ray. A point on it has the answer of one beside it, against z. An open mesh has an
 * answer too, which depends on the direction.
 * @{ */

/** SLAB_WINDING: n whole numbers; 0 for an invalid point, as for closest points. An instance counts where its gate
 * holds the point. It counts as much as its model does for the point there: facing is the model's, mirrored or not.
 *
 * Points, statuses and threads are those of closest points, but any instances are taken. Also SLAB_INVALID_ARGUMENT: a
 * radius that is not 0, or radii. */
SLAB_API slab_status slab_winding(slab_scene *, const float *points, size_t n, int32_t *windings,
                                  const slab_point_options *);
/** SLAB_SIGNED_DISTANCES: n distances, with the bits of slab_closest_distances, and negative where the winding number
 * is not 0: the point is inside of the union.
 *
 * -inf: the point is inside, and nothing was found within the radius. A distance of 0 is +0. Where solids overlap, it
 * is the distance to the nearest surface, which may lie inside of another.
 *
 * Points, radii, instances, statuses and threads are those of closest points. Each point is queried twice, so progress
 * counts 2 n points. The call takes 4 n bytes of memory meanwhile. */
SLAB_API slab_status slab_signed_distances(slab_scene *, const float *points, size_t n, float *distances,
                                           const slab_point_options *);
/** SLAB_WINDING_NUMBERS: n generalized winding numbers, also of meshes that are open or broken.
 *
 * Where every mesh is closed by itself it is the whole number of slab_winding. Else each edge at which a mesh ends adds
 * a term, so that the number does not depend on the ray's direction (docs/contract.md). It is near 1 inside and near 0
 * outside; 1/2 is a usual border. It is off by 1e-5 at most, and by more right beside an edge at which a mesh ends.
 *
 * Edges are the same where the bits of both vertices are. The first call after a commit finds the edges at which meshes
 * end, and keeps them: some 0.1 us for each triangle, and 2 us for each such edge. The more such edges there are, the
 * longer points take.
 *
 * Also SLAB_UNSUPPORTED: an instance's model has an open mesh. SLAB_OUT_OF_MEMORY. All else is as for slab_winding. */
SLAB_API slab_status slab_winding_numbers(slab_scene *, const float *points, size_t n, float *numbers,
                                          const slab_point_options *);
/** @} */

/** @name Points in double
 * The calls without 64 in their names, for points of three doubles each. Each coordinate, less that of the scene's
 * origin (slab_scene_origin), is rounded to float once. A point beyond 2^60 then is invalid. The calls take 12 n bytes
 * of memory meanwhile.
 * @{ */
/** SLAB_CLOSEST_POINTS. */
SLAB_API slab_status slab_closest_points64(slab_scene *, const double *points, size_t n, slab_closest_point64 *results,
                                           const slab_point_options *);
/** SLAB_CLOSEST_DISTANCES. */
SLAB_API slab_status slab_closest_distances64(slab_scene *, const double *points, size_t n, float *distances,
                                              const slab_point_options *);
/** SLAB_POINTS_WITHIN. */
SLAB_API slab_status slab_points_within64(slab_scene *, const double *points, size_t n, uint8_t *within,
                                          const slab_point_options *);
/** SLAB_WINDING. */
SLAB_API slab_status slab_winding64(slab_scene *, const double *points, size_t n, int32_t *windings,
                                    const slab_point_options *);
/** SLAB_SIGNED_DISTANCES. */
SLAB_API slab_status slab_signed_distances64(slab_scene *, const double *points, size_t n, float *distances,
                                             const slab_point_options *);
/** SLAB_WINDING_NUMBERS. */
SLAB_API slab_status slab_winding_numbers64(slab_scene *, const double *points, size_t n, float *numbers,
                                            const slab_point_options *);
/** @} */

/** @defgroup programs Kernels of your own
 * Kernels that trace rays themselves, by the functions of slabcast_device.h.
 * @{ */

/** A program of the caller's kernels, built for a scene. It retains the scene's context. */
typedef struct slab_program slab_program;

/** Builds a program: on OpenCL in OpenCL C 1.2; on a card by CUDA in CUDA C++, by NVIDIA's compiler NVRTC, which is
 * loaded then.
 * - source: may include <slabcast_device.h> and <slabcast_types.h>, which need no file.
 * - options: those of clCompileProgram, or of NVRTC with no blanks within one; or NULL.
 * - queries: a bit 1u << slab_query for each query whose functions the source uses. Each adds to the time of the build.
 *
 * slab_program_kernel (slabcast_cl.h) and slab_program_function (slabcast_cuda.h) give its kernels.
 *
 * The program serves every scene of the context, and every later commit, that is like this one. Such a scene has the
 * same layout, a BVH or none, instances or none, and no kind of primitives that this one lacks. A scene with instances
 * counts as one of all kinds.
 *
 * CUDA C++ cannot forbid fused products and sums for some functions alone. So the whole program is built without fusing
 * there (--fmad=false); fmaf fuses them.
 *
 * Any thread may call. Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: an argument is NULL, or queries is 0 or has an unknown bit.
 * - SLAB_INVALID_ARGUMENT: options change the arithmetic (-cl-fast-relaxed-math, --use_fast_math and their like).
 * - SLAB_UNSUPPORTED: the device is another one, or there is no NVRTC.
 * - SLAB_BUILD_FAILED: the message has the compiler's log, with the source's own line numbers.
 * - SLAB_OUT_OF_MEMORY. */
SLAB_API slab_status slab_program_create(slab_scene *, const char *source, const char *options, uint32_t queries,
                                         slab_program **program);
/** Releases the program and what its kernels were bound to. Their work must have ended. NULL is allowed. */
SLAB_API void slab_program_destroy(slab_program *);
/** @} */

/** @defgroup checking Checking results
 * @{ */

/** The findings of slab_check. */
typedef struct slab_check_report {
  uint64_t rays;             /**< rays compared */
  uint64_t mismatches;       /**< rays whose result differs in any bit from the CPU reference's */
  uint64_t oracle_rays;      /**< rays that the oracle checked: all, or in large batches some, evenly spread */
  uint64_t oracle_wrong;     /**< rays whose result the oracle proves wrong */
  uint64_t oracle_undecided; /**< rays that the oracle cannot decide within its error bound */
  uint64_t first;            /**< index of the first ray that disagrees with the reference or the oracle; meaningful
                                when one does */
  char text[512];            /**< names its ray, primitive, field and both bit patterns; "" when no ray disagrees */
} slab_check_report;

/** Compares results of a cast, under the options of that cast, with two references. The CPU reference is the kernels'
 * maths in C, brute force: results must be equal bit by bit. The oracle has independent formulas.
 * - results: n entries of the query's type.
 * - offsets: n + 1 for SLAB_ALL, else NULL.
 * - options `invalid`: the count that the cast stored there is compared too. A difference counts as one more mismatch.
 * - options `progress`: it is called on the calling thread about every 0.1 s and at the end, with the rays compared.
 *
 * Mismatches are reported and are no failure: SLAB_OK. It takes long: every ray is tested with every primitive.
 *
 * SLAB_CANCELLED: progress returned non-zero. *report is then untouched. */
SLAB_API slab_status slab_check(slab_scene *, slab_query, const slab_ray *rays, size_t n, const void *results,
                                const uint64_t *offsets, const slab_cast_options *, slab_check_report *report);

/** The same for any source of slab_cast, with the results that it wrote.
 *
 * For rays of doubles, and in scenes whose origin is not 0, the reference makes the float rays by code of its own. The
 * oracle then compares t with the ray as it was given and the primitive as it is stored. It does so for hits on planes,
 * spheres, axis-aligned boxes and triangles that are in no instance. Queries: all those with a primitive, and
 * SLAB_DISTANCE.
 *
 * Also SLAB_UNSUPPORTED: results are sums, or `after` has float rays in a scene whose origin is not 0. */
SLAB_API slab_status slab_check_cast(slab_scene *, slab_query, const slab_source *source, const slab_results *results,
                                     const slab_cast_options *, slab_check_report *report);

/** The same for results of points: n entries of the query's type. `rays` of the report counts points. */
SLAB_API slab_status slab_check_points(slab_scene *, slab_point_query, const float *points, size_t n,
                                       const void *results, const slab_point_options *, slab_check_report *report);
/** The same of points in double, with the results of slab_closest_points64 and its like. */
SLAB_API slab_status slab_check_points64(slab_scene *, slab_point_query, const double *points, size_t n,
                                         const void *results, const slab_point_options *, slab_check_report *report);

/** @} */

/** @defgroup explaining Explaining one answer
 * @{ */

/** A number that a test computes on its way, by the kernels' own maths in C. The texts are constants, never NULL. */
typedef struct slab_step {
  const char *part;    /**< what it is a step of: "ray", "x", "bounds x", "edge bc", "answer" */
  const char *name;    /**< "near t"; no other step of the part has it */
  const char *formula; /**< how it follows from earlier steps; "" where it is given */
  const char *note;    /**< what follows from this value, such as what becomes of a NaN; "" where nothing does */
  float value;         /**< of a question 1 for yes and 0 for no */
  int is_question;     /**< 1: its value is a yes or a no */
} slab_step;

/** The answer that the steps lead to. */
typedef struct slab_explanation {
  slab_shape kind; /**< of the primitive */
  slab_hit hit;    /**< what slab_closest answers in a scene of this primitive alone, with its ids of this scene */
  slab_interval interval; /**< likewise of slab_interval_of */
} slab_explanation;

/** Explains one ray and one primitive of a committed scene. The steps are the ray as prepared, the primitive as kept,
 * its test, and the answer, which equals that of a cast bit by bit.
 *
 * A test that rejects early has fewer steps. For a primitive in instances, the ray of the scene, each gate and each
 * transform come before; "ray" is the ray as it is in the last model. Of the options mask, cull, face_forward and edges
 * count, and of skip, masks and after one entry each. Writes at most `capacity` steps (steps may be NULL with capacity
 * 0) and the number of all to *count.
 *
 * Where the scene's origin is not 0 the steps are those of the float ray that is cast in the ray's place. The
 * explanation then has t of the ray itself.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: names an id that the scene does not have.
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_UNSUPPORTED: `after` is given where the scene's origin is not 0. */
SLAB_API slab_status slab_explain(slab_scene *, const slab_ray *ray, slab_primitive_id, const slab_cast_options *,
                                  slab_explanation *explanation, slab_step *steps, size_t capacity, size_t *count);

/** slab_explanation of a ray in double. */
typedef struct slab_explanation64 {
  slab_shape kind;          /**< of the primitive */
  slab_hit64 hit;           /**< as in slab_explanation, of a cast of the ray in double */
  slab_interval64 interval; /**< likewise */
} slab_explanation64;

/** The same of a ray in double: the steps are those of the float ray that is cast in its place. An entry of `after` has
 * the order of a hit as its t. */
SLAB_API slab_status slab_explain64(slab_scene *, const slab_ray64 *ray, slab_primitive_id, const slab_cast_options *,
                                    slab_explanation64 *explanation, slab_step *steps, size_t capacity, size_t *count);

/** Writes a step as one line of text, without its part: name, value in decimal and in hexadecimal, formula and note. As
 * snprintf it writes at most `size` bytes, the terminating 0 included, and returns the length of the whole line. */
SLAB_API size_t slab_step_text(const slab_step *step, char *text, size_t size);

/** @} */

/** @defgroup helpers Helpers
 * Helpers that compute are functions of the library, since a caller's compiler may contract, flush or reorder inline
 * code. Any thread may call them at any time.
 * @{ */

/** The segment from a to b; t is the fraction of its length. Where b lies exactly on a slanted surface, rounding may
 * put t just beyond 1. */
SLAB_API slab_ray slab_segment(const float a[3], const float b[3]);
/** Writes slab_segment of the ith points of `from` and `to` to rays[i], for i below n, on the threads of the host.
 * - from, to: points of three floats.
 * - strides: bytes from point to point; 0: the same point for all.
 * - rays: overlaps neither.
 *
 * SLAB_INVALID_ARGUMENT: an array is NULL although n is not 0. */
SLAB_API slab_status slab_segments(const float *from, size_t from_stride, const float *to, size_t to_stride, size_t n,
                                   slab_ray *rays);

/** A ray in the plane z = 0. */
static inline slab_ray slab_ray_2d(const float origin[2], const float direction[2], float t_min, float t_max) {
  slab_ray ray = {{origin[0], origin[1], 0.0f}, t_min, {direction[0], direction[1], 0.0f}, t_max};
  return ray;
}

/** Makes n rays of the range [0, inf) from origins and directions of three doubles each, in coordinates that suit
 * float.
 *
 * Origin i is (origins[i] - center) * scale, rounded to float once. The t of hits is `scale` times that of the ray as
 * given. center NULL: 0. Directions are rounded as they are. A direction shorter than 1e-12 or longer than 1e12 is
 * divided by its largest component first, because float does not hold its length well. Lengths of the quotient are then
 * the unit of t. A NaN, a zero direction or a value beyond float gives an invalid ray. It runs on the threads of the
 * library. SLAB_INVALID_ARGUMENT. */
SLAB_API slab_status slab_rays_from_doubles(const double *origins, const double *directions, size_t n,
                                            const double center[3], double scale, slab_ray *rays);

/** Rounds rows of doubles to rows of as many floats, such as columns of an array to members of slab_ray.
 * - from_stride, to_stride: bytes from the start of a row to that of the next.
 * - moved: `columns` doubles or NULL. Each becomes how far rounding moved a finite number of the column at most,
 *   infinity where float does not hold one.
 *
 * It runs on the threads of the library. SLAB_INVALID_ARGUMENT. */
SLAB_API slab_status slab_floats_from_doubles(const double *from, size_t from_stride, size_t rows, size_t columns,
                                              float *to, size_t to_stride, double *moved);

/** Hits of rays of doubles on the triangles of a mesh of doubles. The arrays are the caller's. */
typedef struct slab_double_hits {
  const double *origins;     /**< three a ray, as slab_rays_from_doubles took them */
  const double *directions;  /**< three a ray, as it took them */
  double scale;              /**< as it took it */
  const double *vertices;    /**< three a vertex, in the coordinates of the origins */
  const uint32_t *indices;   /**< three a triangle; NULL: vertices 3i .. 3i + 2 make triangle i */
  const uint64_t *rays;      /**< one a hit: its ray */
  const uint64_t *triangles; /**< one a hit: its triangle */
  const float *t;            /**< of the first hit */
  size_t t_stride;           /**< bytes from one t to the next: sizeof(slab_hit) where t is that of slab_all's hits */
} slab_double_hits;

/** Says where n hits lie, in double: points, three doubles each.
 *
 * A point is where the line of the ray as given meets the plane of the triangle. Where the sine of the angle between
 * the two is below 1e-9, the point is that of t on the ray as it was cast. Rays and triangles that do not exist are the
 * caller's fault, and are not noticed. It runs on the threads of the library. SLAB_INVALID_ARGUMENT. */
SLAB_API slab_status slab_points_from_doubles(const slab_double_hits *hits, size_t n, double *points);

/** A rectangle: a box unbounded in z. */
static inline slab_box slab_box_2d(const float lower[2], const float upper[2]) {
  slab_box box = {{lower[0], lower[1], -INFINITY}, {upper[0], upper[1], INFINITY}};
  return box;
}

/** The plane through a point with this normal; offset = normal . point. */
SLAB_API slab_plane slab_plane_through(const float point[3], const float normal[3]);

/** The box -half_size .. +half_size transformed by a rigid 4x4 matrix, row-major, points as columns: axis i is column i
 * of the upper 3x3, the centre is column 3. A box from a matrix that scales is refused when it is added. */
static inline slab_obb slab_obb_from_matrix(const float m[16], const float half_size[3]) {
  slab_obb box = {{m[3], m[7], m[11]},
                  {half_size[0], half_size[1], half_size[2]},
                  {{m[0], m[4], m[8]}, {m[1], m[5], m[9]}, {m[2], m[6], m[10]}}};
  return box;
}

/** A camera at `from` that looks to `to`. Vertical field of view in degrees, 0 < fov < 180; aspect = width / height. */
SLAB_API slab_camera slab_camera_look_at(const float from[3], const float to[3], const float up[3], float fov_degrees,
                                         float aspect);

/** The ray through the centre of pixel (x, y) of a width x height image, y downward: range [0, inf). */
SLAB_API slab_ray slab_camera_ray(const slab_camera *camera, uint32_t x, uint32_t y, uint32_t width, uint32_t height);

/** Computes origin + t * direction. `point` may be the ray's own origin or direction. */
SLAB_API void slab_point_at(const slab_ray *ray, float t, float point[3]);
/** @} */

#ifdef __cplusplus
}
#endif
#endif
#endif
