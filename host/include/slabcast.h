/** @file
 * Slabcast: massive ray batches on the processor, on OpenCL devices and on NVIDIA GPUs by CUDA (here: cards).
 *
 *     geometry --add--> scene --commit--> device; rays --cast--> results (--check--> report)
 *
 * docs/start/c.md has a first program. docs/contract.md, the contract, says what every answer means.
 *
 * Every function that can fail returns a slab_status. On failure slab_message() of the calling thread says what was
 * wrong, where and with which value. A failed call leaves its outputs and its objects as they were, unless it says
 * otherwise. The library never prints, exits or aborts. In option structs zero means default, and NULL in place of one
 * means all defaults. Destroy functions accept NULL. The caller keeps arrays until the call returns; the library keeps
 * no pointer to them.
 *
 * Any function that returns a slab_status may return these, besides those that it lists:
 * - SLAB_OK: the call is done.
 * - SLAB_INVALID_ARGUMENT: a required pointer is NULL (arrays may be NULL where they are empty), or a value is out of
 *   range.
 * - SLAB_OUT_OF_MEMORY: the host or the device lacks memory.
 * - SLAB_DEVICE_FAILED: an OpenCL or CUDA call failed. The message names the call and its code.
 * - SLAB_INVALID_STATE: this process was forked from the one that opened the context, see below.
 *
 * Threads: one thread at a time may build a scene (add, update, enable, remove, commit, set its worlds or origin): the
 * caller sees to that. Any thread may make any other call at any time, also while another one casts on the scene or
 * builds it, unless the call says otherwise. An object may be destroyed only when no other call uses it. A scene keeps
 * its context alive, so the order of destruction does not matter.
 *
 * fork(): a child must not use contexts that its parent opened, or scenes on them: calls return SLAB_INVALID_STATE at
 * once. It opens its own. Where the parent had used OpenCL or CUDA through the library (slab_devices included), the
 * child has only the processor; slab_context_create_cl and slab_context_create_cuda return SLAB_INVALID_STATE. On the
 * parent's objects these still work: slab_context_device, slab_context_devices, slab_context_objects, slab_scene_info,
 * slab_scene_pack, and destroy functions, which free host memory only. A child that was forked before the parent used
 * the library, or that calls exec, is not restricted. The library cannot detect that the program itself used OpenCL or
 * CUDA before it forked.
 *
 * Floating point: calls compute with rounding to nearest, subnormal numbers and no traps, whatever the calling thread
 * has set or the program is compiled with (-ffast-math included). On return the thread has its own control bits and
 * exception flags again. Progress callbacks run with the caller's settings, casts of slab_enqueue with those of the
 * driver's threads: if these flush subnormal numbers or round otherwise, answers may differ. This holds on x86-64, and
 * elsewhere where FE_DFL_ENV flushes nothing (glibc, musl, macOS). */
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

/** Marks functions that the library exports. On Windows, users of a shared library may define SLAB_SHARED, which saves
 * a jump per call; CMake and pkg-config do. */
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
/** Version of this header, for the preprocessor: 100 is version 0.1.0. */
#define SLAB_VERSION_NUMBER (SLAB_VERSION_MAJOR * 10000 + SLAB_VERSION_MINOR * 100 + SLAB_VERSION_PATCH)

/** Returns the version of the running library: a constant text such as "0.1.0". With a shared library it may differ
 * from the header's. */
SLAB_API const char *slab_version(void);
/** Returns the SLAB_VERSION_NUMBER that the running library was built with. */
SLAB_API uint32_t slab_version_number(void);

/** Every status with its text: SLAB_STATUSES(X) expands to X(name, text) for each. */
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

/** The result of a call: SLAB_OK, or why it failed. Values count from 0 in the order of SLAB_STATUSES. The texts are
 * general: a function's comment says what a status means there. */
typedef enum slab_status {
#define SLAB_STATUS_NAME(name, text) name, /**< text */
  SLAB_STATUSES(SLAB_STATUS_NAME)
#undef SLAB_STATUS_NAME
} slab_status;

/** Returns the text of a status: a constant, never NULL; "unknown status" for other values. */
SLAB_API const char *slab_status_text(slab_status);

/** Returns the message of the last failed call on this thread, with the device's build log where there is one; "" when
 * none failed yet. Successful calls do not change it. It is valid until this thread's next failure, or its end. */
SLAB_API const char *slab_message(void);

/** @} */

/** @defgroup devices Devices and contexts
 * @{ */

/** The kind of a device. Cards are SLAB_DEVICE_GPU. */
typedef enum slab_device_type { SLAB_DEVICE_OTHER, SLAB_DEVICE_CPU, SLAB_DEVICE_GPU } slab_device_type;

/** Platform of the processor, the library's own device, which needs no driver. */
#define SLAB_PROCESSOR_PLATFORM "Slabcast processor"

/** A device: what its driver reports, and in a context what its probe found (slab_context_create). Texts end with 0.
 * The last three members are 0 or 1. */
typedef struct slab_device_info {
  char name[128];     /**< name of the device */
  char vendor[128];   /**< maker of the device */
  char driver[64];    /**< version of the driver; processor: of the library */
  char version[128];  /**< OpenCL: its version; CUDA: the compute capability; processor: the instruction set in use */
  char platform[128]; /**< OpenCL: the platform's name; CUDA: "CUDA"; processor: SLAB_PROCESSOR_PLATFORM */
  slab_device_type type;     /**< CPU, GPU or other */
  uint32_t compute_units;    /**< units that work at the same time; for a CPU its logical cores */
  uint32_t clock_mhz;        /**< as reported by the driver; 0: unknown */
  uint64_t memory_bytes;     /**< global memory */
  uint64_t allocation_bytes; /**< largest single buffer */
  uint32_t lane_width;       /**< primitives that one work-item tests at once: 1, 8 or 16 */
  int denormals; /**< 1: keeps subnormal numbers. 0: answers may differ from other devices' where an intermediate value
                    is subnormal */
  int rounds_to_nearest; /**< a context refuses devices with 0 */
  int exact_divide;      /**< 1: correctly rounded division and square root. 0: the kernels emulate them, with the same
                            answers */
} slab_device_info;

/** Lists the devices, with the properties that they report. It runs nothing on them.
 * - list: receives at most `capacity` entries.
 * - count: receives the number of all devices, also where `capacity` is smaller (SLAB_OK).
 *
 * The order is that of device selectors (slab_context_options): the processor, cards, then the OpenCL devices of all
 * platforms.
 * - A card that OpenCL has too is listed once, as a card. Its platform is "CUDA", its lane width 1, and its only layout
 *   SLAB_LAYOUT_COMPRESSED.
 * - The processor is missing where the library has no kernels for it. An OpenCL driver may list it once more.
 * - A device that cannot be described is left out here and by selectors.
 * - The environment variable SLABCAST_BACKENDS limits the list to some of "native" (the processor), "cuda" and
 *   "opencl", with commas between.
 *
 * Errors, which only occur where the list is empty:
 * - SLAB_NO_DEVICE: there is no device, or SLABCAST_BACKENDS excludes all. *count becomes 0.
 * - SLAB_DEVICE_FAILED: there are devices, and none can be described. */
SLAB_API slab_status slab_devices(slab_device_info *list, size_t capacity, size_t *count);

/** How rays traverse a BVH on a CPU device. It changes only the speed. An octant is one of the eight combinations of
 * signs of a direction. */
typedef enum slab_traversal {
  SLAB_TRAVERSAL_AUTO, /**< the fastest, by the order of the rays or by trials on some of them, which later casts on the
                          scene use too */
  SLAB_TRAVERSAL_PACKETS,     /**< neighbouring rays of one octant together; where their octants differ, as SINGLE */
  SLAB_TRAVERSAL_SINGLE,      /**< rays one by one */
  SLAB_TRAVERSAL_INTERLEAVED, /**< several rays in turn: while one waits for memory the others continue. In a scene with
                                 instances, the processor does so only for closest hits of triangles; else as SINGLE */
  SLAB_TRAVERSAL_SORTED       /**< as INTERLEAVED, after sorting by octant and origin */
} slab_traversal;

/** How scenes are stored on the device, and so how they are traversed. It changes only the speed. */
typedef enum slab_layout {
  SLAB_LAYOUT_DEFAULT,   /**< WIDE where the context has a CPU device and no card; else COMPRESSED */
  SLAB_LAYOUT_WIDE,      /**< unquantised bounds, blocks of eight primitives; slab_traversal applies only here */
  SLAB_LAYOUT_COMPRESSED /**< for GPUs: nodes of 80 bytes, one ray per work-item. lane_width has no effect */
} slab_layout;

/** How a context is opened. A selector of a device is one of these:
 * - an index of slab_devices, such as "0"
 * - "cpu" or "gpu": a device of that type
 * - "cuda:1": a card, as NVIDIA's driver counts them
 * - a part of the name of a device or platform; case does not matter
 *
 * The first device that matches is taken. A list of selectors, with commas between, opens several devices. "all" opens
 * every device that can keep the contract, but not OpenCL's CPU devices where the processor is listed. */
typedef struct slab_context_options {
  const char *device;   /**< a selector, a list, or "all". NULL: the first GPU, else the first device */
  uint32_t lane_width;  /**< 1, 8 or 16; 0: the device's own */
  uint32_t launch_rays; /**< maximum rays per launch. 0: as many as fit the device's memory and about 100 ms; where rays
                           are sorted, a million */
  int copy; /**< 1: copies the caller's arrays even where the device could use them in place; not on the processor */
  slab_traversal traversal; /**< how rays traverse a BVH on a CPU device */
  slab_layout layout;       /**< how scenes are stored on the device */
  uint32_t threads; /**< maximum number of host threads that work on one call, the caller's included. 0: as many as the
                       process's affinity and control groups allow */
} slab_context_options;

/** One or several open devices. slab_context_destroy releases it. */
typedef struct slab_context slab_context;
/** Geometry, and from its first commit on its BVH on the devices of a context. slab_scene_destroy releases it. */
typedef struct slab_scene slab_scene;

/** Opens one device or several, and probes them.
 * - context: receives the context, which the caller destroys.
 *
 * With several devices a scene is laid out on each, and the rays of a cast go to whichever device is free. Answers do
 * not depend on which (but see slab_device_info.denormals). A small kernel probes the arithmetic of each OpenCL device,
 * once in the life of the process for each lane width: building it may take seconds.
 *
 * Errors:
 * - SLAB_NO_DEVICE: no device matches.
 * - SLAB_INVALID_ARGUMENT: an option is out of range, or a list has an empty entry or names a device twice.
 * - SLAB_UNSUPPORTED: a device does not round to nearest, or gave a wrong result in the probe, which the message
 *   quotes.
 * - SLAB_UNSUPPORTED: SLAB_LAYOUT_WIDE on a card, or a lane_width that the processor or the library lacks.
 * - SLAB_BUILD_FAILED: the driver could not build a kernel. */
SLAB_API slab_status slab_context_create(const slab_context_options *options, slab_context **context);
/** Releases a context. Its devices close once no scene, program or slab_host_alloc memory uses it any more. */
SLAB_API void slab_context_destroy(slab_context *context);
/** Describes the device of a context, or the first of several, which slab_pairs and slab_rays_write use. Its denormals
 * and exact_divide are 1 where the device reports them, unless the probe found otherwise. */
SLAB_API slab_status slab_context_device(const slab_context *context, slab_device_info *info);
/** Allocates `size` bytes of pinned host memory, which the first device that copies reads and writes directly. Casts
 * with rays, results and arrays of options there are faster.
 * - memory: receives the address; slab_host_free releases it. The bytes are not initialised.
 *
 * Where no device copies, or the system refuses, it is ordinary memory that begins at a cache line. Reuse it:
 * allocating takes longer than filling. It keeps the context alive. */
SLAB_API slab_status slab_host_alloc(slab_context *, size_t size, void **memory);
/** Frees memory that slab_host_alloc gave for this context, once no cast uses it. memory may be NULL. It works after a
 * fork. SLAB_INVALID_ARGUMENT: the context gave no such memory. */
SLAB_API slab_status slab_host_free(slab_context *, void *memory);
/** Describes all devices of a context, in the order in which they were named ("all": the order of slab_devices).
 * - list: receives at most `capacity` entries.
 * - count: receives the number of devices. */
SLAB_API slab_status slab_context_devices(const slab_context *context, slab_device_info *list, size_t capacity,
                                          size_t *count);

/** @} */

/** @defgroup scenes Scenes
 * @{ */

/** Triangles over shared vertices. Vertex i is three floats at byte i * vertex_stride of `vertices`, or three doubles
 * of `vertices64`: exactly one of the two is given. Triangle i has the vertices indices[3i .. 3i+2]. With indices NULL
 * it has the vertices 3i .. 3i+2 (a soup). */
typedef struct slab_mesh {
  const float *vertices; /**< x, y and z of each vertex, or NULL */
  size_t vertex_stride;  /**< bytes from vertex to vertex, any number from 12 on (vertices64: from 24 on); 0: no gaps */
  uint32_t vertex_count; /**< number of vertices */
  const uint32_t *indices;  /**< three for each triangle; NULL: a soup */
  uint32_t triangle_count;  /**< number of triangles */
  const double *vertices64; /**< the same in double (slab_scene_origin), or NULL */
} slab_mesh;

/** How a geometry, or the instances of a call, are added. */
typedef struct slab_geometry_options {
  uint32_t mask;     /**< rays whose mask has a bit in common see them; 0: all bits */
  int skip_invalid;  /**< non-zero: drops primitives that would be refused. Others keep their numbers, so ids match the
                        caller's array */
  uint32_t *skipped; /**< receives the number of primitives that were dropped; may be NULL */
  uint32_t
      world; /**< the world of the geometry, or of all instances of the call (slab_scene_set_worlds); 0: all worlds */
  const uint32_t *worlds; /**< slab_scene_add_instances only: the world of each instance, in place of `world`, which
                             must be 0. NULL: none */
} slab_geometry_options;

/** Makes an empty scene on a context. The caller destroys *scene. */
SLAB_API slab_status slab_scene_create(slab_context *context, slab_scene **scene);
/** Frees a scene on host and devices. A model stays until the scenes that have instances of it are gone. */
SLAB_API void slab_scene_destroy(slab_scene *scene);

/** The maximum number of worlds in a scene. */
#define SLAB_WORLDS 1048576u
/** Declares how many worlds a scene has: independent copies of a simulation. Each has geometries of its own; those of
 * world 0 are in all. A scene has no worlds at first; 0 takes them away again.
 *
 * Worlds are numbered from 1. slab_geometry_options.world says which world a geometry belongs to; `worlds` of
 * slab_cast_options and slab_point_options says which each ray or point is in. A ray of world w sees the geometries of
 * w and those of world 0. It has the answer of a scene that holds only these, except that ids are this scene's.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: `worlds` is above SLAB_WORLDS, or less than the highest world in use.
 * - SLAB_INVALID_STATE: the scene is a model of another one; models have no worlds. */
SLAB_API slab_status slab_scene_set_worlds(slab_scene *, uint32_t worlds);

/** @defgroup adding Adding geometry
 * @ingroup scenes
 * Each call copies n primitives as one geometry.
 * - array: n structs of the kind.
 * - geometry (may be NULL): receives the geometry's id. Ids count from 0 in the order of adding.
 *
 * Casts see a geometry after the next slab_scene_commit. A scene has at most 2^32 - 16 primitives, and as many ids.
 * SLAB_INVALID_ARGUMENT: the message names the first primitive that is refused, by index and with its value. These are
 * refused, or with skip_invalid dropped:
 * - planes with a zero normal, or with a normal or offset that is not finite
 * - spheres and oriented boxes with a centre, radius or half size that is NaN or beyond 2^60
 * - spheres with a negative radius; oriented boxes with a negative half size, or axes not orthonormal within 1e-5
 * - triangles with a vertex that is NaN or beyond 2^60, or with an index out of range. Vertices that no triangle uses
 *   may have any value.
 *
 * Axis-aligned boxes are never refused. Other errors:
 * - SLAB_INVALID_ARGUMENT: there would be too many primitives or ids, or the scene lacks the world.
 * - SLAB_INVALID_STATE: the scene is a model of another one, which gets no more geometries.
 * @{ */
/** Adds n planes as one geometry. */
SLAB_API slab_status slab_scene_add_planes(slab_scene *, const slab_plane *, uint32_t n, const slab_geometry_options *,
                                           uint32_t *geometry);
/** Adds n spheres as one geometry. */
SLAB_API slab_status slab_scene_add_spheres(slab_scene *, const slab_sphere *, uint32_t n,
                                            const slab_geometry_options *, uint32_t *geometry);
/** Adds n axis-aligned boxes as one geometry. */
SLAB_API slab_status slab_scene_add_boxes(slab_scene *, const slab_box *, uint32_t n, const slab_geometry_options *,
                                          uint32_t *geometry);
/** Adds n oriented boxes as one geometry. */
SLAB_API slab_status slab_scene_add_obbs(slab_scene *, const slab_obb *, uint32_t n, const slab_geometry_options *,
                                         uint32_t *geometry);
/** Adds the triangles of a mesh as one geometry, from floats or doubles. */
SLAB_API slab_status slab_scene_add_mesh(slab_scene *, const slab_mesh *, const slab_geometry_options *,
                                         uint32_t *geometry);
/** @} */

/** @name Changing geometry
 * `geometry` is an id that adding gave. Casts see a change after the next slab_scene_commit. All calls here have these
 * errors:
 * - SLAB_INVALID_ARGUMENT: the scene does not have the geometry, it is removed, or it is of another kind.
 * - SLAB_INVALID_ARGUMENT: the number of primitives or instances is not the geometry's (for some of them: is beyond
 *   it).
 * - SLAB_INVALID_ARGUMENT: a primitive is refused as when it is added. If it was added with skip_invalid, it is dropped
 *   instead.
 *
 * The first five calls replace all n primitives of a geometry. The ids, mask and world stay. A mesh has as many
 * triangles as before. With indices NULL it keeps the geometry's indices, and has as many vertices as before: the
 * fastest update. So an indexed mesh cannot become a soup. With indices of its own it may have any number of vertices.
 * @{ */
/** Replaces all planes of a geometry. */
SLAB_API slab_status slab_scene_update_planes(slab_scene *, uint32_t geometry, const slab_plane *, uint32_t n);
/** Replaces all spheres of a geometry. */
SLAB_API slab_status slab_scene_update_spheres(slab_scene *, uint32_t geometry, const slab_sphere *, uint32_t n);
/** Replaces all axis-aligned boxes of a geometry. */
SLAB_API slab_status slab_scene_update_boxes(slab_scene *, uint32_t geometry, const slab_box *, uint32_t n);
/** Replaces all oriented boxes of a geometry. */
SLAB_API slab_status slab_scene_update_obbs(slab_scene *, uint32_t geometry, const slab_obb *, uint32_t n);
/** Replaces all triangles of a geometry, from floats or doubles. */
SLAB_API slab_status slab_scene_update_mesh(slab_scene *, uint32_t geometry, const slab_mesh *);
/** Replaces n planes of a geometry, from number `first` on; the others stay. n = 0 changes nothing.
 *
 * The next commit is fast (it works only on these and the bounds above them) where all of this holds:
 * - only ranges have changed since the last commit, and they are few: at most 1 in 16 of the scene's primitives, or
 *   1024
 * - the scene is on the processor, with a BVH, and has neither instances nor worlds
 *
 * Else it is as after an update of all. From the first such commit on the host holds the geometries that change three
 * times.
 *
 * SLAB_INVALID_ARGUMENT: a refused primitive is named by its index in the array. */
SLAB_API slab_status slab_scene_update_some_planes(slab_scene *, uint32_t geometry, uint32_t first, const slab_plane *,
                                                   uint32_t n);
/** Replaces n spheres likewise. */
SLAB_API slab_status slab_scene_update_some_spheres(slab_scene *, uint32_t geometry, uint32_t first,
                                                    const slab_sphere *, uint32_t n);
/** Replaces n axis-aligned boxes likewise. */
SLAB_API slab_status slab_scene_update_some_boxes(slab_scene *, uint32_t geometry, uint32_t first, const slab_box *,
                                                  uint32_t n);
/** Replaces n oriented boxes likewise. */
SLAB_API slab_status slab_scene_update_some_obbs(slab_scene *, uint32_t geometry, uint32_t first, const slab_obb *,
                                                 uint32_t n);
/** Replaces n vertices of a mesh, each three floats, from number `first` on; the indices stay. Corner k of triangle i
 * of a soup is vertex 3i + k. Else as for slab_scene_update_some_planes. Also SLAB_INVALID_ARGUMENT, even where the
 * mesh was added with skip_invalid:
 * - A vertex is NaN or beyond 2^60, and a triangle uses it.
 * - The range has some, but not all, vertices of a triangle that was dropped: the scene did not keep the others. */
SLAB_API slab_status slab_scene_update_some_vertices(slab_scene *, uint32_t geometry, uint32_t first,
                                                     const float *vertices, uint32_t n);
/** Places n instances of a model, which is another committed scene of the same context. The model may have instances
 * itself, nested up to a depth of SLAB_LEVELS.
 * - transforms: n affine maps from the model's space to the scene's, 12 floats each: the rows of a 3x4 matrix for
 *   points as columns.
 * - options: mask and worlds. A ray sees a primitive where its mask has a bit in common with each instance's and with
 *   the geometry's. skip_invalid does not apply.
 * - geometry (may be NULL): receives the first id of the first instance. Update, enable and remove take it for all n.
 *
 * An instance takes as many consecutive geometry ids as the model has. A hit on instance i, geometry g of the model and
 * primitive p has geometry *geometry + i * (ids of the model) + g and primitive p. Casts see the model as committed
 * before this scene's last commit: after a change commit the model, then this scene. The scene keeps the model alive,
 * so the caller may destroy it. From now on no geometry can be added to the model; its geometries can be changed, but
 * not during this call.
 *
 * Errors:
 * - SLAB_INVALID_STATE: the model is not committed, or has had a geometry added since, or the scene itself is a model.
 * - SLAB_INVALID_ARGUMENT: the model is of another context, has worlds, contains this scene or is nested too deep, or
 *   there would be too many ids.
 * - SLAB_INVALID_ARGUMENT: a transform is not finite, is singular, or scales by more than 2^60 or less than 2^-60. Or
 *   it is too skewed: for its matrix A, the largest row sum of |A| |A^-1| is above 4096. These rules also hold for its
 *   product with the transform of any instance in the model. The message names the first one. */
SLAB_API slab_status slab_scene_add_instances(slab_scene *, slab_scene *model, const float *transforms, uint32_t n,
                                              const slab_geometry_options *options, uint32_t *geometry);
/** Replaces the transforms of all n instances of one call of slab_scene_add_instances.
 * - geometry: the id that the call gave.
 * - transforms: n times 12 floats, refused as by that call. */
SLAB_API slab_status slab_scene_update_instances(slab_scene *, uint32_t geometry, const float *transforms, uint32_t n);
/** Replaces the transforms of n of a geometry's instances: transforms[i] becomes that of instance indices[i]. If an
 * index appears twice, its last transform counts. In a scene with worlds the next commit then takes time only for the
 * worlds in which something moved. SLAB_INVALID_ARGUMENT: the message names the index of an instance that the geometry
 * lacks. */
SLAB_API slab_status slab_scene_update_some_instances(slab_scene *, uint32_t geometry, const uint32_t *indices,
                                                      const float *transforms, uint32_t n);
/** Replaces the transforms of all instances of `count` calls of slab_scene_add_instances, all or none.
 * - geometries: the ids that these calls gave, each once.
 * - transforms: n times 12 floats, n being the number of all these instances, in the order of geometries.
 *
 * SLAB_INVALID_ARGUMENT: the message names the index in geometries, and the transform's within that geometry. */
SLAB_API slab_status slab_scene_move_instances(slab_scene *, const uint32_t *geometries, uint32_t count,
                                               const float *transforms, uint32_t n);
/** Disables (enabled 0) or enables again (not 0) a geometry, or all instances of a call. No ray or point sees a
 * disabled geometry, whatever its mask. Its primitives can be updated meanwhile. */
SLAB_API slab_status slab_scene_enable(slab_scene *, uint32_t geometry, int enabled);
/** Removes a geometry, or all instances of a call, permanently. Its ids are not used again, and others keep theirs. */
SLAB_API slab_status slab_scene_remove(slab_scene *, uint32_t geometry);
/** @} */

/** @name Ids of instances
 * These calls translate ids as of the last commit.
 * - n: the number of ids and of paths.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: an entry does not exist in the scene; the message names the first one.
 * @{ */
/** The maximum depth to which instances nest. */
#define SLAB_LEVELS 4
/** The instances that lead from the scene down to a geometry. Entry 0 of both arrays is an instance of the scene
 * itself, entry k one in the model of entry k - 1. Entries from `levels` on are 0. */
typedef struct slab_path {
  uint32_t geometry;               /**< its id in the last model; in the scene where levels is 0 */
  uint32_t levels;                 /**< number of instances on the way down: the depth */
  uint32_t instances[SLAB_LEVELS]; /**< the ids that slab_scene_add_instances gave, in that scene or model */
  uint32_t index[SLAB_LEVELS];     /**< the instance's number among those of that call */
} slab_path;
/** Writes the path of each geometry id, as hits have it. A hit's primitive has the same number in its model. For
 * SLAB_MISS and SLAB_INVALID the path has that geometry and no levels. A removed geometry is refused. */
SLAB_API slab_status slab_scene_paths(const slab_scene *, const uint32_t *geometries, size_t n, slab_path *paths);
/** Does the reverse: writes the id in the scene of each path.
 *
 * An instance has as many consecutive ids as its model (slab_scene_stats.geometries); the path to its geometry 0 gives
 * the first. The geometry may be any of the last model, also one of its instances. */
SLAB_API slab_status slab_scene_path_ids(const slab_scene *, const slab_path *paths, size_t n, uint32_t *geometries);
/** @} */

/** The build quality of the BVH. Times are relative to those with DEFAULT.
 * - DEFAULT: as FLAT where primitives are few (8 on GPUs, 24 to 128 on OpenCL's CPU devices, by kind), else a BVH; on
 *   the processor always a BVH.
 * - FLAT: no BVH, every primitive is tested.
 * - FAST, for scenes that change: a build takes 0.4 to 0.5 of the time, rays take 1.05 to 1.5 times as long. It pays up
 *   to about three rays per primitive.
 * - HIGH: a build takes 1.5 to 4 times as long, rays take 0.9 to 1 of the time. */
typedef enum slab_tree { SLAB_TREE_DEFAULT, SLAB_TREE_FLAT, SLAB_TREE_FAST, SLAB_TREE_HIGH } slab_tree;

/** How a commit uses the BVH of the last one. A refit gives its nodes new bounds. It takes a fraction of the time of a
 * build, and rays take longer the more the scene has changed in shape.
 * - AUTO refits until sah_cost (slab_scene_stats) is above 1.3 times its value after the last build; then it builds.
 * - REFIT refits at any cost.
 * - REBUILD builds.
 *
 * AUTO and REFIT also build where a refit cannot hold the scene:
 * - a geometry was added
 * - a box that was infinite in x or y became finite, or the reverse
 * - a primitive that was disabled or never hit at the last build can now be hit */
typedef enum slab_update { SLAB_UPDATE_AUTO, SLAB_UPDATE_REFIT, SLAB_UPDATE_REBUILD } slab_update;

/** How a scene is laid out. It changes only the speed. */
typedef struct slab_build_options {
  slab_tree tree;     /**< quality of a BVH that is built */
  slab_update update; /**< how the last commit's BVH is used; ignored at the first commit */
} slab_build_options;

/** Lays the scene out on the device, so that it can be cast on. Later it may be changed and committed again. An empty
 * scene is valid: every ray misses it. The call blocks until the layout is done.
 *
 * Other threads may cast meanwhile. Casts that begin before the commit succeeds see the previous state to their end;
 * later casts see the new one. If it fails, casts go on seeing the previous state, and the changes wait for the next
 * commit. Where neither the scene nor a model has changed, the call returns at once, except with SLAB_UPDATE_REBUILD. A
 * scene that changes takes the memory of two states.
 *
 * Errors:
 * - SLAB_OUT_OF_MEMORY: also where an array exceeds four of the device's largest allocations. The message names its
 *   bytes.
 * - SLAB_INVALID_STATE: a model has changed so that instances nest too deep, or a product of transforms would be
 *   refused.
 * - SLAB_INVALID_ARGUMENT: an option is out of range. At the first commit also: geometry is refused once the origin is
 *   subtracted (slab_scene_origin). */
SLAB_API slab_status slab_scene_commit(slab_scene *, const slab_build_options *);

/** What a scene holds, and the memory that this takes. Primitives are those of all geometries that are not removed:
 * dropped ones are included, those of models are not. */
typedef struct slab_scene_stats {
  uint32_t geometries; /**< number of ids given so far, those of instances and removed geometries included */
  uint64_t planes;     /**< number of them */
  uint64_t spheres;    /**< number of them */
  uint64_t boxes;      /**< number of them */
  uint64_t obbs;       /**< number of them */
  uint64_t triangles;  /**< number of them */
  float lower[3]; /**< minimum of the finite bounds of all geometries that are not disabled; lower > upper when there
                     are none. Relative to `origin` */
  float upper[3]; /**< maximum of the same */
  uint64_t host_bytes;    /**< memory of the host */
  uint64_t device_bytes;  /**< memory of all devices together */
  uint32_t tree_depth;    /**< depth of the BVH. Without a BVH it and the next three are 0 */
  double sah_cost;        /**< expected work of a ray, by the surface area heuristic */
  double node_occupancy;  /**< share of the BVH's places for children that are used, 0 to 1 */
  double block_occupancy; /**< share of the BVH's places for primitives that are used, 0 to 1 */
  double build_seconds;   /**< seconds that the last commit took */
  double origin[3];       /**< what the scene's floats are relative to (slab_scene_origin) */
} slab_scene_stats;

/** Reports on a scene as of its last commit. SLAB_INVALID_STATE: before commit. */
SLAB_API slab_status slab_scene_info(const slab_scene *, slab_scene_stats *);

/** Serializes a committed scene, for other processes and for machines of the same byte order.
 * - bytes: receives the scene; aligned to 8, as memory of malloc is.
 * - capacity: the size of `bytes`; with 0 the call only writes *size.
 * - size: receives the number of bytes needed.
 *
 * The bytes hold the scene's models as its commit saw them, each once, and its BVH where that is of SLAB_LAYOUT_WIDE
 * and without instances. Casts on the unpacked scene give the same bits. Equal scenes give equal bytes. Other versions
 * of the library may refuse them.
 *
 * A forked child also packs changes that wait for a commit. It then packs no BVH, nor where a driver holds it.
 *
 * Errors:
 * - SLAB_CAPACITY: capacity is too small. *size is complete, bytes are untouched.
 * - SLAB_INVALID_STATE: before commit. */
SLAB_API slab_status slab_scene_pack(const slab_scene *, void *bytes, size_t capacity, size_t *size);
/** Makes a committed scene on this context from packed bytes.
 * - bytes: `size` bytes of slab_scene_pack, aligned to 8. They are copied.
 * - scene: receives the scene, which the caller destroys.
 *
 * Forged bytes may give wrong answers, but casts stay within the scene's memory. The BVH is built again where the bytes
 * have none, or this context has another layout. The models belong to the scene; the caller gets no handle to them.
 * build_seconds of slab_scene_info is the time that unpacking took.
 *
 * SLAB_INVALID_ARGUMENT: the bytes are not a packed scene of this version, are incomplete, damaged or not aligned. */
SLAB_API slab_status slab_scene_unpack(slab_context *, const void *bytes, size_t size, slab_scene **scene);

/** @} */

/** @defgroup doubles Coordinates in double
 * Geometry and rays far from zero. A scene has an origin in double, and keeps floats relative to it. So a scene of up
 * to some 16 km resolves millimetres, wherever it lies. A ray in double, or in float where the origin is not 0, is cast
 * as a float ray near the scene. Then t is computed in double. The contract has what is rounded where.
 *
 * Coordinates are absolute in every call, in floats too. Only these are relative to the scene's origin:
 * - rays, shapes and results in a device's buffers (slabcast_cl.h, slabcast_cuda.h), and rays of kernels
 *   (slabcast_device.h)
 * - the bounds in slab_scene_stats
 *
 * A set's floats are relative to slab_rays.offset.
 *
 * Structs have the members of those in float, in the same order, except slab_hit64, slab_short_hit64 and
 * slab_closest_point64.
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

/** slab_ray in double. It is also invalid where a coordinate of the origin is beyond 2^58, or where the largest
 * component of the direction is beyond 2^960 or below 2^-960. */
typedef struct slab_ray64 {
  double origin[3];    /**< where t is 0 */
  double t_min;        /**< start of the range; may be negative or -inf */
  double direction[3]; /**< of any length but 0 */
  double t_max;        /**< end of the range; may be +inf */
} slab_ray64;

/** slab_hit of a ray in double. Hits are sorted by (order, geometry, primitive). */
typedef struct slab_hit64 {
  double t;           /**< as in slab_hit, within the ray's range */
  float normal[3];    /**< as in slab_hit */
  float u;            /**< as in slab_hit */
  float v;            /**< as in slab_hit */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
  float order;        /**< t of the float ray that was cast. Two hits may have the same t and differ in order. As
                         slab_cast_options.after copy it to slab_short_hit.t */
} slab_hit64;

/** slab_short_hit of a ray in double. */
typedef struct slab_short_hit64 {
  double t;           /**< as in slab_hit64 */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
  float order;        /**< as in slab_hit64 */
  uint32_t zero;      /**< always 0 */
} slab_short_hit64;

/** slab_interval of a ray in double. */
typedef struct slab_interval64 {
  double enter;       /**< as in slab_interval */
  double leave;       /**< as in slab_interval */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_interval64;

/** Gives a scene its origin, before its first commit.
 * - origin: three finite doubles of at most 2^58 in magnitude.
 *
 * Without this call the first commit takes the middle of the bounds of all geometry that was added in double, each
 * coordinate rounded to float; without such geometry 0. The origin never changes after that.
 *
 * Geometry in double is kept as it is until the origin is known. Then each coordinate less the origin's is rounded to
 * float once, in geometry added in float too. Of an instance's matrix the 3x3 part is rounded to float. The place where
 * it puts the model's origin, less the scene's, is computed in double and rounded once.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: a coordinate is not finite or too large.
 * - SLAB_INVALID_ARGUMENT: geometry that was added before is refused once the origin is subtracted.
 * - SLAB_INVALID_STATE: the scene has an origin already. */
SLAB_API slab_status slab_scene_origin(slab_scene *, const double origin[3]);

/** @name Adding and changing in double
 * As the calls without 64 in their names. Meshes in double are slab_mesh.vertices64.
 *
 * A value is refused where it is beyond float, or by the usual rules, after the origin is subtracted. As long as the
 * origin is not known, the call checks values as they are. slab_scene_origin or the first commit checks them again.
 * @{ */
/** Adds n planes as one geometry. */
SLAB_API slab_status slab_scene_add_planes64(slab_scene *, const slab_plane64 *, uint32_t n,
                                             const slab_geometry_options *, uint32_t *geometry);
/** Adds n spheres as one geometry. */
SLAB_API slab_status slab_scene_add_spheres64(slab_scene *, const slab_sphere64 *, uint32_t n,
                                              const slab_geometry_options *, uint32_t *geometry);
/** Adds n axis-aligned boxes as one geometry. */
SLAB_API slab_status slab_scene_add_boxes64(slab_scene *, const slab_box64 *, uint32_t n, const slab_geometry_options *,
                                            uint32_t *geometry);
/** Adds n oriented boxes as one geometry. */
SLAB_API slab_status slab_scene_add_obbs64(slab_scene *, const slab_obb64 *, uint32_t n, const slab_geometry_options *,
                                           uint32_t *geometry);
/** Replaces all planes of a geometry. */
SLAB_API slab_status slab_scene_update_planes64(slab_scene *, uint32_t geometry, const slab_plane64 *, uint32_t n);
/** Replaces all spheres of a geometry. */
SLAB_API slab_status slab_scene_update_spheres64(slab_scene *, uint32_t geometry, const slab_sphere64 *, uint32_t n);
/** Replaces all axis-aligned boxes of a geometry. */
SLAB_API slab_status slab_scene_update_boxes64(slab_scene *, uint32_t geometry, const slab_box64 *, uint32_t n);
/** Replaces all oriented boxes of a geometry. */
SLAB_API slab_status slab_scene_update_obbs64(slab_scene *, uint32_t geometry, const slab_obb64 *, uint32_t n);
/** Replaces n planes from number `first` on. */
SLAB_API slab_status slab_scene_update_some_planes64(slab_scene *, uint32_t geometry, uint32_t first,
                                                     const slab_plane64 *, uint32_t n);
/** Replaces n spheres from number `first` on. */
SLAB_API slab_status slab_scene_update_some_spheres64(slab_scene *, uint32_t geometry, uint32_t first,
                                                      const slab_sphere64 *, uint32_t n);
/** Replaces n axis-aligned boxes from number `first` on. */
SLAB_API slab_status slab_scene_update_some_boxes64(slab_scene *, uint32_t geometry, uint32_t first, const slab_box64 *,
                                                    uint32_t n);
/** Replaces n oriented boxes from number `first` on. */
SLAB_API slab_status slab_scene_update_some_obbs64(slab_scene *, uint32_t geometry, uint32_t first, const slab_obb64 *,
                                                   uint32_t n);
/** Replaces n vertices of a mesh, each three doubles, from number `first` on. */
SLAB_API slab_status slab_scene_update_some_vertices64(slab_scene *, uint32_t geometry, uint32_t first,
                                                       const double *vertices, uint32_t n);
/** Places a model n times, by transforms of 12 doubles each. */
SLAB_API slab_status slab_scene_add_instances64(slab_scene *, slab_scene *model, const double *transforms, uint32_t n,
                                                const slab_geometry_options *options, uint32_t *geometry);
/** Replaces the transforms of all n instances of a call. */
SLAB_API slab_status slab_scene_update_instances64(slab_scene *, uint32_t geometry, const double *transforms,
                                                   uint32_t n);
/** Replaces the transforms of n of a geometry's instances. */
SLAB_API slab_status slab_scene_update_some_instances64(slab_scene *, uint32_t geometry, const uint32_t *indices,
                                                        const double *transforms, uint32_t n);
/** Replaces the transforms of all instances of `count` calls. */
SLAB_API slab_status slab_scene_move_instances64(slab_scene *, const uint32_t *geometries, uint32_t count,
                                                 const double *transforms, uint32_t n);
/** @} */

/** Returns the bytes of one result for rays in double (slab_source.rays64); for SLAB_ALL of one hit.
 * - SLAB_CLOSEST, SLAB_ALL: slab_hit64
 * - SLAB_DISTANCE: double
 * - SLAB_NEAREST: slab_short_hit64
 * - SLAB_INTERVAL: slab_interval64
 * - others: as slab_result_size, which is 0 for a value that is no query */
SLAB_API size_t slab_result_size64(slab_query);
/** Returns the segment from a to b in double, as slab_segment does. */
SLAB_API slab_ray64 slab_segment64(const double a[3], const double b[3]);
/** @} */

/** @defgroup casts Casts
 * Casts from host memory to host memory. The calls block: when one returns, all its work has ended.
 * - n: the number of rays, any size.
 * - rays: n rays.
 * - results: space for n results, which must not overlap the rays.
 *
 * A CPU device reads and writes these arrays in place (but see slab_context_options.copy). For other devices rays and
 * results are copied while other rays are cast, faster from slab_host_alloc. slabcast_types.h says what a miss and an
 * invalid ray get.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: an option is refused (slab_cast_options). The message names an array's entry by index.
 * - SLAB_UNSUPPORTED: `after` is given with float rays, and the scene's origin is not 0.
 * - SLAB_BUILD_FAILED: the driver could not build a kernel. The message has the log.
 * - SLAB_CANCELLED: progress returned non-zero. Results of rays that were not done are unspecified.
 * - SLAB_DEVICE_FAILED: results are unspecified, too. The message names the device and how many rays were done.
 * @{ */

/** A callback of casts, point queries and checks, on the calling thread, while launches are in flight. A non-zero
 * return cancels the call: launches in flight end, and no more are made. */
typedef int slab_progress(void *user, uint64_t rays_done, uint64_t rays_total);

/** The options of every cast. Arrays have n entries, one for each ray. */
typedef struct slab_cast_options {
  uint32_t mask;                 /**< the ray sees geometries whose mask has a bit in common; 0: all bits */
  const slab_primitive_id *skip; /**< entry i: a plane or triangle that ray i does not see, such as the one it leaves.
                                    SLAB_MISS or another kind of primitive skips nothing. NULL: none */
  slab_cull cull;                /**< which crossings are dropped; slab_interval_of ignores it */
  int face_forward;              /**< non-zero: turns normals against the ray's direction */
  slab_progress *progress;       /**< called while the cast runs; NULL: none */
  void *user;                    /**< passed to progress */
  uint64_t *invalid;             /**< receives the number of invalid rays; NULL: not wanted */
  slab_edges edges;              /**< which triangles a ray hits at an edge */
  uint32_t max_hits; /**< slab_all lists at most the first max_hits hits of a ray; 0: all. Other queries ignore it */
  const uint32_t *masks;       /**< entry i is the mask of ray i, in place of `mask`, which must be 0. A ray with 0 sees
                                  nothing. NULL: none */
  const slab_short_hit *after; /**< ray i gets only hits that follow after[i] in the order (t, geometry, primitive), t
                                  as results report it. So closest is the next hit; count and any consider what follows.
                                  {-INFINITY, SLAB_MISS, SLAB_MISS} precedes all hits; nothing follows a miss. Refused:
                                  with slab_interval_of, and a t that is NaN. NULL: none */
  const uint32_t *worlds; /**< entry i is the world of ray i (slab_scene_set_worlds). A world that the scene lacks is
                             refused. NULL: all are 0 */
} slab_cast_options;

/** Returns the size of the type that slab_query names; for SLAB_ALL of one hit; 0 for a value that is no query. */
SLAB_API size_t slab_result_size(slab_query);

/** Writes the first hit of each ray, with its normal (SLAB_CLOSEST). */
SLAB_API slab_status slab_closest(slab_scene *, const slab_ray *rays, size_t n, slab_hit *hits,
                                  const slab_cast_options *);
/** Writes only t of the first hit of each ray; +inf on a miss (SLAB_DISTANCE). */
SLAB_API slab_status slab_distance(slab_scene *, const slab_ray *rays, size_t n, float *t, const slab_cast_options *);
/** Writes the first hit of each ray without normal, u and v (SLAB_NEAREST). */
SLAB_API slab_status slab_nearest(slab_scene *, const slab_ray *rays, size_t n, slab_short_hit *hits,
                                  const slab_cast_options *);
/** Writes 1 where a ray hits anything, else 0 (SLAB_ANY). */
SLAB_API slab_status slab_any(slab_scene *, const slab_ray *rays, size_t n, uint8_t *occluded,
                              const slab_cast_options *);
/** Writes how many primitives each ray hits (SLAB_COUNT). */
SLAB_API slab_status slab_count(slab_scene *, const slab_ray *rays, size_t n, uint32_t *counts,
                                const slab_cast_options *);
/** Writes the part of each ray inside the first solid (SLAB_INTERVAL). From inside, enter = t_min: a segment wholly
 * inside a solid has an interval although it hits no surface. */
SLAB_API slab_status slab_interval_of(slab_scene *, const slab_ray *rays, size_t n, slab_interval *intervals,
                                      const slab_cast_options *);
/** Writes all hits of each ray (SLAB_ALL). The hits of ray i are hits[offsets[i] .. offsets[i+1]-1].
 * - offsets: n + 1 entries.
 * - hits: space for `capacity` hits.
 * - capacity: with 0 the call only writes offsets and *required.
 * - required (may be NULL): receives offsets[n], also on SLAB_CAPACITY.
 *
 * With capacity > 0 rays are cast once and their hits kept, in about 512 MiB at most, until their places are known.
 * Rays whose hits do not fit there are cast again. Progress counts n rays with capacity 0, else 2 n.
 *
 * SLAB_CAPACITY: capacity is not 0, and less than the number of hits. offsets are complete, hits are untouched. */
SLAB_API slab_status slab_all(slab_scene *, const slab_ray *rays, size_t n, uint64_t *offsets, slab_hit *hits,
                              uint64_t capacity, uint64_t *required, const slab_cast_options *);

/** Intersects ray i with shape i, without a scene, on the context's first device. Edges are half open.
 * - kind: the kind of all shapes.
 * - shapes: n structs of the kind (slab_triangle for triangles).
 * - n: below 2^32 - 2.
 * - intervals: n; where hit, primitive = i and geometry = 0.
 *
 * SLAB_INVALID_ARGUMENT: a scene would refuse a shape; the message names its index. */
SLAB_API slab_status slab_pairs(slab_context *, slab_shape kind, const slab_ray *rays, const void *shapes, size_t n,
                                slab_interval *intervals);

/** @} */

/** @defgroup sets Sets of rays
 * Rays that a formula makes: of cameras, of a sensor's beams, from points into directions, from points to points. A set
 * is a description of some hundred bytes, plus tables of the caller's; its rays need not be stored. docs/contract.md
 * has the formulas.
 *
 * Ray r * columns + c of a set is in row r and column c.
 * @{ */

/** A pinhole camera. Its vectors need not have unit length or right angles. slab_camera_look_at makes one. */
typedef struct slab_camera {
  float origin[3];  /**< where it is */
  float forward[3]; /**< where it looks; its length is the distance of the image plane */
  float right[3];   /**< to the right, half as long as the image plane is wide */
  float up[3];      /**< upwards, half as long as the image plane is high */
} slab_camera;

/** Number of coefficients of a fisheye's polynomials. */
#define SLAB_FISHEYE_TERMS 8

/** A set of rays. Make it with the functions below, which give the range [0, inf), and pairs [0, 1]; afterwards t_min,
 * t_max, normals and offset may be set.
 *
 * Cameras (pinhole, orthographic, fisheye) use `camera`; rows and columns are those of the image. Other kinds use the
 * tables of_rows and of_columns. Tables are floats without gaps. They are not copied: each call that takes the set
 * reads them.
 *
 * In a fisheye, a pixel at x, y (-1 to 1, right and up) has u = x * across, v = y * along and s = u * u + v * v. s is a
 * * a, with a the angle from the axis. The ray's direction is cosine(s) * forward + sine(s) * (u * right + v * up).
 * These polynomials approximate cos a and sin a / a; coefficients begin with the constant. */
typedef struct slab_rays {
  slab_rays_kind kind; /**< the formula */
  uint32_t rows;       /**< cameras: rows of pixels from the top, at most 2^24; others: poses or points */
  uint32_t columns;   /**< cameras: pixels of a row from the left, at most 2^24; others: beams, directions or points, at
                         most 2^31 */
  float t_min;        /**< start of every ray's range; not NaN */
  float t_max;        /**< end of every ray's range; not NaN */
  slab_camera camera; /**< cameras only; for a fisheye forward, right and up have unit length */
  float across;       /**< fisheye: u at the right border of the image */
  float along;        /**< fisheye: v at the upper border */
  float limit;        /**< fisheye: pixels with s above it have rays of an empty range, which miss */
  float sine[SLAB_FISHEYE_TERMS];   /**< fisheye: coefficients of sine(s) */
  float cosine[SLAB_FISHEYE_TERMS]; /**< fisheye: coefficients of cosine(s) */
  const float *of_rows; /**< beams: rows times 12, each pose a 3x4 matrix as instances have; directions and pairs: rows
                           times 3, where rays start */
  const float *normals; /**< directions: rows times 3, a unit normal for each point, along which z of directions then is
                           (docs/contract.md has x and y). NULL: directions are in world space */
  const float *of_columns; /**< beams: columns times 6, origin and direction in the sensor's frame; directions: columns
                              times 3, of any length but 0; pairs: columns times 3, where rays end */
  double offset[3]; /**< finite; added in double to the camera's origin, the places of poses and the points. So a camera
                       far from zero loses no digits: its origin is 0, and this is its place */
} slab_rays;

/** Returns a set with one ray for each pixel of an image: the rays of slab_camera_ray. The camera is copied. Like all
 * six functions here it checks nothing: calls that take the set refuse a wrong one. */
SLAB_API slab_rays slab_rays_pinhole(const slab_camera *, uint32_t width, uint32_t height);
/** Returns a set with one parallel ray for each pixel. A ray starts at its pixel's place in the plane through the
 * camera's origin along right and up. Its direction is `forward`. */
SLAB_API slab_rays slab_rays_orthographic(const slab_camera *, uint32_t width, uint32_t height);
/** Returns a set with one ray for each pixel of a fisheye lens. The angle from the axis is proportional to the distance
 * from the centre (equidistant).
 * - camera: only the directions of its vectors count.
 * - degrees: the field of view across the image's shorter side, above 0 and at most 360. Pixels outside its circle have
 *   rays that miss.
 *
 * Directions have unit length within 5e-6; up to 180 degrees within 1e-7. */
SLAB_API slab_rays slab_rays_fisheye(const slab_camera *, uint32_t width, uint32_t height, float degrees);
/** Returns a set with each of a sensor's beams from each of its poses.
 * - pose: `poses` times 12 floats, one pose for each row. Spinning sensors have a pose for each firing.
 * - beam: `beams` times 6 floats, one beam for each column. */
SLAB_API slab_rays slab_rays_beams(const float *pose, uint32_t poses, const float *beam, uint32_t beams);
/** Returns a set with a ray from each point into each direction: skies, suns, hemispheres.
 * - point: `points` times 3 floats, one for each row.
 * - direction: `directions` times 3 floats, one for each column.
 *
 * For directions about a surface's normal set `normals` afterwards. */
SLAB_API slab_rays slab_rays_directions(const float *point, uint32_t points, const float *direction,
                                        uint32_t directions);
/** Returns a set with slab_segment from each point of `from` (rows) to each point of `to` (columns). Both have 3 floats
 * for each point. */
SLAB_API slab_rays slab_rays_pairs(const float *from, uint32_t from_count, const float *to, uint32_t to_count);

/** @name Tables for sets
 * Angles are in degrees, at most 1e6 in magnitude. Directions have unit length up to rounding.
 *
 * SLAB_INVALID_ARGUMENT: an angle is NaN or too large.
 * @{ */

/** Writes n beams, 6 floats each: origin 0 and a direction of unit length. Beam i has elevation[i] above the xy plane
 * and azimuth[i] from x towards y: with angles e and a, (cos e cos a, cos e sin a, sin e). */
SLAB_API slab_status slab_beams(const float *elevation, const float *azimuth, size_t n, float *beams);
/** Writes n poses of a spinning sensor, 12 floats each. Pose i is entry i of `pose`, turned by azimuth[i] about its own
 * z axis, from x towards y.
 * - pose: poses of 12 floats, `stride` bytes apart; stride 0: one pose for all. */
SLAB_API slab_status slab_spun_poses(const float *pose, size_t stride, const float *azimuth, size_t n, float *poses);
/** Writes n directions over the half space z >= 0, 3 floats each: a Fibonacci spiral.
 * - cosine: 0: even over the solid angle. Direction i has z = 1 - s, with s = (i + 1/2) / n.
 * - cosine: not 0: denser towards z, so that a plain mean is weighted by the cosine. z * z = 1 - s.
 *
 * The azimuth of direction i, in turns from x towards y, is the fractional part of i * 0x9E3779B97F4A7C15 / 2^64. */
SLAB_API slab_status slab_hemisphere(uint32_t n, int cosine, float *directions);
/** Writes n directions to the sun, 3 floats each, with x to the east, y to the north and z up. With azimuth az from
 * north towards east and altitude alt above the horizon, a direction is (sin az cos alt, cos az cos alt, sin alt). */
SLAB_API slab_status slab_sun_directions(const float *azimuth, const float *altitude, size_t n, float *directions);
/** Returns the number of patches of slab_sky_patches: 144 * parts * parts + 1; 0 where parts is not 1 to 64. */
SLAB_API uint32_t slab_sky_patch_count(uint32_t parts);
/** Writes the patches of a sky: with parts 1 Tregenza's 145 patches, with 2 Reinhart's 577, with 4 it has 2305.
 * - parts: rows for each of Tregenza's rows, 1 to 64.
 * - directions: 3 floats for each patch, to its middle, with x to the east, y to the north and z up. Rows go up from
 *   the horizon, each from north towards east; the zenith comes last.
 * - weights (may be NULL): a float for each patch, its solid angle; the sum is 2 pi. */
SLAB_API slab_status slab_sky_patches(uint32_t parts, float *directions, float *weights);
/** @} */

/** Writes n rays of a set, from ray `first` on. The context's first device computes them.
 * - rays: space for n rays.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: the kind is unknown, rows or columns are 0 or too many, or the set has fewer than first + n
 *   rays.
 * - SLAB_INVALID_ARGUMENT: a table is missing, normals are given for another kind than directions, or the offset is not
 *   finite.
 * - SLAB_INVALID_ARGUMENT: an end of the range, or a fisheye's limit, is NaN (as after slab_rays_fisheye with an angle
 *   out of range).
 * - SLAB_BUILD_FAILED: the driver could not build a kernel. */
SLAB_API slab_status slab_rays_write(slab_context *, const slab_rays *, uint64_t first, size_t n, slab_ray *rays);
/** @} */

/** @defgroup sources Any source of rays
 * One call for all queries. Rays come from an array or from a set. Each ray has a result, or each row of rays has one.
 * @{ */

/** Where rays come from: one of `rays`, `set` and `rays64`; the others are NULL. All zero: no rays. */
typedef struct slab_source {
  const slab_ray *rays;     /**< n rays in float */
  const slab_rays *set;     /**< a set; its n rays from ray `first` on are cast */
  uint64_t first;           /**< of the set only */
  size_t n;                 /**< number of rays */
  const slab_ray64 *rays64; /**< n rays in double; results have the types of slab_result_size64 */
  const void *reserved;     /**< NULL; for later use */
} slab_source;

/** Sums over a row of rays. Invalid rays are in no sum. Each weight is rounded to a multiple of 2^-32. docs/contract.md
 * has the order in which t are added. */
typedef struct slab_sum {
  double open;    /**< sum of the weights of the rays that hit nothing: exact, then rounded to double once */
  double blocked; /**< the same for the rays that hit something */
  uint32_t rays;  /**< number of valid rays */
  uint32_t hits;  /**< number of rays that hit something */
  float least;    /**< least t of the hits; +inf where there is none; NaN for SLAB_ANY, which has no t */
  float mean;     /**< mean t of the hits, without weights; +inf where there is none; NaN for SLAB_ANY */
} slab_sum;

/** Where results go, and in which form. */
typedef struct slab_results {
  void *memory;          /**< space for n results, or for one for each row; for SLAB_ALL for `capacity` hits */
  size_t stride;         /**< bytes from one result to the next, at least its size; 0: no gaps. For SLAB_ALL 0 */
  uint64_t *offsets;     /**< SLAB_ALL only: n + 1 entries, as in slab_all */
  uint64_t capacity;     /**< SLAB_ALL only: as in slab_all */
  uint64_t required;     /**< output, SLAB_ALL only: receives the number of hits */
  slab_result_type type; /**< the form; 0: a result for each ray */
  uint32_t columns; /**< rays of a row, for results of rows: of an array 1 to 2^31, of a set 0 or its columns. Else 0 */
  const float *weights; /**< SLAB_RESULT_SUMS: weights of the columns, 0 or more, with a sum of at most 2^31; NULL: 1 */
  uint32_t bins;        /**< SLAB_RESULT_HISTOGRAM: number of bins, 1 to 4096 */
  float t_from;         /**< SLAB_RESULT_HISTOGRAM: where the first bin begins */
  float t_to;           /**< SLAB_RESULT_HISTOGRAM: where the last bin ends, finite and above t_from */
} slab_results;

/** Casts the rays of any source, for any query. Options and errors are those of the query's own call (slab_closest and
 * so on).
 * - results: says where results go; only `required` is written in it.
 *
 * Rays of a set are made where they are cast, some hundred thousand at a time, with the bits that slab_rays_write
 * gives.
 *
 * Also SLAB_INVALID_ARGUMENT:
 * - `query` is no slab_query, the source has more than one of rays, set and rays64, or `reserved` is not NULL
 * - slab_rays_write would refuse that part of the set
 * - the query does not have that form of results, or a stride is smaller than a result, or not 0 for SLAB_ALL
 * - results of rows: n (of a set also first) is not a multiple of the columns, or columns are not the set's
 * - weights, bins, t_from or t_to are out of range, or weights, bins or columns are given without use in the form
 *
 * Also SLAB_UNSUPPORTED: sums or histograms of t for rays64, and for an array in a scene whose origin is not 0. */
SLAB_API slab_status slab_cast(slab_scene *, slab_query query, const slab_source *source, slab_results *results,
                               const slab_cast_options *);
/** @} */

/** @defgroup points Closest points
 * How far points are from surfaces, and where the closest point is.
 * - points: n times 3 floats. An invalid point (SLAB_INVALID) finds nothing.
 * - results: space for n results.
 *
 * Solids are surfaces: inside one, the distance is to its surface. Triangles without area are found, as segments or
 * points, although no ray hits them. Inverted and NaN boxes, and primitives that were dropped, are not found.
 *
 * Errors are those of casts. Also:
 * - SLAB_INVALID_ARGUMENT: a radius is NaN or negative. The message names the index in radii.
 * - SLAB_INVALID_ARGUMENT: mask is not 0 and masks are given, or radius is not 0 and radii are given.
 * - SLAB_UNSUPPORTED: an instance's transform is not made of rotation, reflection, one scale and a move, within 1e-5.
 *   The message names its geometry.
 * @{ */

/** The options of point queries. Arrays have n entries, one for each point. */
typedef struct slab_point_options {
  uint32_t mask;         /**< the point sees geometries whose mask has a bit in common; 0: all bits */
  const uint32_t *masks; /**< entry i is the mask of point i; 0 sees nothing. mask must be 0. NULL: none */
  float radius; /**< only surfaces at that distance or nearer are found; 0: no limit. For a radius of 0 use radii */
  const float *radii;      /**< entry i is the radius of point i; 0 is 0. radius must be 0. NULL: none */
  slab_progress *progress; /**< called while the query runs, and counts points; NULL: none */
  void *user;              /**< passed to progress */
  uint64_t *invalid;       /**< receives the number of invalid points; NULL: not wanted */
  const uint32_t *worlds;  /**< entry i is the world of point i, as in slab_cast_options. NULL: all are 0 */
} slab_point_options;

/** Returns the size of the type that slab_point_query names; 0 for a value that is no query. */
SLAB_API size_t slab_point_result_size(slab_point_query);

/** Writes the closest point of any surface to each point (SLAB_CLOSEST_POINTS). */
SLAB_API slab_status slab_closest_points(slab_scene *, const float *points, size_t n, slab_closest_point *results,
                                         const slab_point_options *);
/** Writes only the distances, bit for bit those of slab_closest_points; +inf where nothing is found
 * (SLAB_CLOSEST_DISTANCES). */
SLAB_API slab_status slab_closest_distances(slab_scene *, const float *points, size_t n, float *distances,
                                            const slab_point_options *);
/** Writes 1 where something is found within the radius, else 0 (SLAB_POINTS_WITHIN). Without a radius any surface is
 * found. */
SLAB_API slab_status slab_points_within(slab_scene *, const float *points, size_t n, uint8_t *within,
                                        const slab_point_options *);
/** @} */

/** slab_closest_point of a point in double. Here the point comes first. */
typedef struct slab_closest_point64 {
  double point[3];    /**< the closest point */
  float distance;     /**< as in slab_closest_point */
  float u;            /**< as in slab_closest_point */
  float v;            /**< as in slab_closest_point */
  uint32_t feature;   /**< as in slab_closest_point */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_closest_point64;

/** @defgroup winding Inside or outside
 * How often surfaces surround points.
 *
 * A ray goes from the point along +z. Each triangle that it leaves through (from its back to its front) counts 1; each
 * that it enters through counts -1. Each solid that holds the point counts 1, its border included. Planes count
 * nothing.
 * - A closed mesh that faces outward counts 1 inside and 0 outside. One that faces inward counts -1 inside.
 * - Meshes that overlap or lie in each other add up.
 * - A point is inside the union where the number is not 0, and inside by parity where it is odd.
 *
 * Counts are exact. For a closed mesh the answer is right for every point off its surface. A point on the surface has
 * the answer of a point just beside it, moved towards -z. An open mesh has an answer too, which depends on the choice
 * of +z.
 * @{ */

/** Writes a whole number for each point (SLAB_WINDING); 0 for an invalid point. Points and errors are those of closest
 * points.
 *
 * All instances are allowed. An instance counts what its model counts, with the model's facing, also where the
 * transform mirrors. Outside its gate, a box around all that it shows, it counts 0.
 *
 * Also SLAB_INVALID_ARGUMENT: a radius that is not 0, or radii. */
SLAB_API slab_status slab_winding(slab_scene *, const float *points, size_t n, int32_t *windings,
                                  const slab_point_options *);
/** Writes a distance for each point (SLAB_SIGNED_DISTANCES): that of slab_closest_distances, negated where slab_winding
 * is not 0, so inside the union.
 *
 * -inf: the point is inside, and nothing was found within the radius. A distance of 0 is +0. Where solids overlap, it
 * is the distance to the nearest surface, which may lie inside another solid.
 *
 * Points, radii, instances and errors are those of closest points. Progress counts 2 n points. The call takes 4 n bytes
 * of memory meanwhile. */
SLAB_API slab_status slab_signed_distances(slab_scene *, const float *points, size_t n, float *distances,
                                           const slab_point_options *);
/** Writes a generalized winding number for each point, also for meshes that are open or broken (SLAB_WINDING_NUMBERS).
 *
 * Where every mesh is closed by itself it is the whole number of slab_winding. Else each boundary edge adds a term, so
 * that the number does not depend on the choice of +z (docs/contract.md). It is near 1 inside and near 0 outside; 1/2
 * is a usual threshold. The error is at most 1e-5, except right beside a boundary edge.
 *
 * Edges match where the bits of their vertices do. The first call after a commit finds the boundary edges, in some 0.1
 * us for each triangle and 2 us for each such edge, and keeps them. The more there are, the longer points take.
 *
 * All else is as for slab_winding. Also SLAB_UNSUPPORTED: an instance's model has an open mesh. */
SLAB_API slab_status slab_winding_numbers(slab_scene *, const float *points, size_t n, float *numbers,
                                          const slab_point_options *);
/** @} */

/** @name Points in double
 * As the queries without 64 in their names, for points of three doubles each. Each coordinate less that of the scene's
 * origin (slab_scene_origin) is rounded to float once. The point is invalid where that is beyond 2^60. The calls take
 * 12 n bytes of memory meanwhile.
 * @{ */
/** Writes the closest point of any surface to each point. */
SLAB_API slab_status slab_closest_points64(slab_scene *, const double *points, size_t n, slab_closest_point64 *results,
                                           const slab_point_options *);
/** Writes only the distances. */
SLAB_API slab_status slab_closest_distances64(slab_scene *, const double *points, size_t n, float *distances,
                                              const slab_point_options *);
/** Writes 1 where something is found within the radius, else 0. */
SLAB_API slab_status slab_points_within64(slab_scene *, const double *points, size_t n, uint8_t *within,
                                          const slab_point_options *);
/** Writes a whole winding number for each point. */
SLAB_API slab_status slab_winding64(slab_scene *, const double *points, size_t n, int32_t *windings,
                                    const slab_point_options *);
/** Writes a signed distance for each point, negative inside. */
SLAB_API slab_status slab_signed_distances64(slab_scene *, const double *points, size_t n, float *distances,
                                             const slab_point_options *);
/** Writes a generalized winding number for each point. */
SLAB_API slab_status slab_winding_numbers64(slab_scene *, const double *points, size_t n, float *numbers,
                                            const slab_point_options *);
/** @} */

/** @defgroup programs Kernels of your own
 * Kernels that trace rays themselves, by the functions of slabcast_device.h. Only on OpenCL devices and cards.
 * @{ */

/** A program of the caller's kernels, built for a scene. It keeps the scene's context alive. */
typedef struct slab_program slab_program;

/** Builds a program for the context's first device: of OpenCL C 1.2 on an OpenCL device, of CUDA C++ on a card, where
 * NVIDIA's compiler NVRTC builds it.
 * - source: may include <slabcast_device.h> and <slabcast_types.h>, which need no file.
 * - options: those of clCompileProgram or of NVRTC, separated by blanks; no NVRTC option may contain one. NULL: none.
 * - queries: a bit 1u << slab_query for each query whose functions the source uses. Each adds to the time of the build.
 * - program: receives the program, which the caller destroys; NULL after an error.
 *
 * slab_program_kernel (slabcast_cl.h) and slab_program_function (slabcast_cuda.h) give its kernels.
 *
 * The program serves every scene of the context, and every later commit, that is like this one: in layout, and in
 * having a BVH, instances or split arrays. It must have no further kinds of primitives, and need no deeper stack. For
 * others slab_scene_bind fails and says how they differ. On a card the whole program is built with --fmad=false; fmaf
 * still fuses.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: queries is 0 or has an unknown bit.
 * - SLAB_INVALID_ARGUMENT: options change the arithmetic (-cl-fast-relaxed-math, --use_fast_math and their like).
 * - SLAB_UNSUPPORTED: the device is the processor, or there is no NVRTC.
 * - SLAB_BUILD_FAILED: the message has the compiler's log, with the source's own line numbers. */
SLAB_API slab_status slab_program_create(slab_scene *, const char *source, const char *options, uint32_t queries,
                                         slab_program **program);
/** Releases the program and what its kernels were bound to. Launches of its kernels must have ended. */
SLAB_API void slab_program_destroy(slab_program *);
/** @} */

/** @defgroup checking Checking results
 * @{ */

/** The findings of slab_check. See there for the CPU reference and the oracle. */
typedef struct slab_check_report {
  uint64_t rays;             /**< rays compared */
  uint64_t mismatches;       /**< rays whose result differs in any bit from the CPU reference's */
  uint64_t oracle_rays;      /**< rays that the oracle checked: all, or in large batches some, evenly spread */
  uint64_t oracle_wrong;     /**< rays whose result the oracle proves wrong */
  uint64_t oracle_undecided; /**< rays that the oracle cannot decide within its error bound */
  uint64_t first; /**< index of the first ray that disagrees with the reference or the oracle; meaningful only where one
                     does */
  char text[512]; /**< names that ray, its primitive, the member and both bit patterns; "" when no ray disagrees */
} slab_check_report;

/** Compares results of a cast with two references. The CPU reference is the kernels' maths in C, brute force: results
 * must have equal bits. The oracle has independent formulas.
 * - rays, results: n each, as the cast took and wrote them. SLAB_ALL: results are its hits.
 * - offsets: n + 1 for SLAB_ALL, else NULL.
 * - options: those of the cast. `invalid` is read here: it points to the count that the cast stored. A difference
 *   counts as one more mismatch. `progress` is called about every 0.1 s and at the end, with the rays compared.
 * - report: receives the findings.
 *
 * Mismatches are no failure: the call returns SLAB_OK. It takes long, because every ray is tested with every primitive.
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT, SLAB_UNSUPPORTED: an option is refused, as by the cast.
 * - SLAB_CANCELLED: progress returned non-zero. *report is then untouched. */
SLAB_API slab_status slab_check(slab_scene *, slab_query, const slab_ray *rays, size_t n, const void *results,
                                const uint64_t *offsets, const slab_cast_options *, slab_check_report *report);

/** Does the same for any source of slab_cast, with the results that it wrote. Results of rows cannot be checked.
 *
 * For rays in double, and in scenes whose origin is not 0, the oracle only checks t, of hits on planes, spheres,
 * axis-aligned boxes and triangles in no instance. Queries are those that report a primitive, and SLAB_DISTANCE.
 *
 * SLAB_UNSUPPORTED: the results are of rows. SLAB_INVALID_ARGUMENT: slab_cast would refuse source or stride. */
SLAB_API slab_status slab_check_cast(slab_scene *, slab_query, const slab_source *source, const slab_results *results,
                                     const slab_cast_options *, slab_check_report *report);

/** Does the same for results of a point query: n of the query's type. `rays` of the report counts points. */
SLAB_API slab_status slab_check_points(slab_scene *, slab_point_query, const float *points, size_t n,
                                       const void *results, const slab_point_options *, slab_check_report *report);
/** Does the same for points in double, with the results of slab_closest_points64 and its like. */
SLAB_API slab_status slab_check_points64(slab_scene *, slab_point_query, const double *points, size_t n,
                                         const void *results, const slab_point_options *, slab_check_report *report);

/** @} */

/** @defgroup explaining Explaining one answer
 * @{ */

/** A number that a test computes on the way to its answer, by the kernels' own maths in C. Texts are constants, never
 * NULL. */
typedef struct slab_step {
  const char *part;    /**< what it is a step of, such as "ray", "x", "bounds x", "edge bc" or "answer" */
  const char *name;    /**< such as "near t"; no other step of the part has it */
  const char *formula; /**< how it follows from earlier steps; "" where it is given */
  const char *note;    /**< what follows from this value, such as what becomes of a NaN; "" where nothing does */
  float value;         /**< the number; 1 for yes and 0 for no */
  int is_question;     /**< 1: the step is a question with yes or no as its answer */
} slab_step;

/** The answer that the steps lead to. */
typedef struct slab_explanation {
  slab_shape kind; /**< kind of the primitive */
  slab_hit hit;    /**< what slab_closest answers in a scene that has only this primitive, with its ids in this scene */
  slab_interval interval; /**< the same for slab_interval_of */
} slab_explanation;

/** Explains what one ray and one primitive of a committed scene give. The steps are the ray as prepared, the primitive
 * as kept, its test, and the answer. The answer has the bits of a cast.
 * - options: mask, cull, face_forward and edges count. skip, masks, after and worlds have one entry. Others are
 *   ignored.
 * - steps: receives at most `capacity` steps.
 * - count: receives the number of all steps, also where `capacity` is smaller (SLAB_OK).
 *
 * A test that rejects early has fewer steps. For a primitive in instances these come first: the ray of the scene, and
 * for each instance its gate and its transform. Then "ray" is the ray in the last model.
 *
 * Where the scene's origin is not 0 the steps are those of the float ray that is cast in the ray's place. The
 * explanation has t of the ray itself.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: the scene does not have the primitive, or an option is refused.
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_UNSUPPORTED: `after` is given where the scene's origin is not 0. */
SLAB_API slab_status slab_explain(slab_scene *, const slab_ray *ray, slab_primitive_id, const slab_cast_options *,
                                  slab_explanation *explanation, slab_step *steps, size_t capacity, size_t *count);

/** slab_explanation of a ray in double. */
typedef struct slab_explanation64 {
  slab_shape kind;          /**< kind of the primitive */
  slab_hit64 hit;           /**< as in slab_explanation, of a cast of the ray in double */
  slab_interval64 interval; /**< as in slab_explanation, likewise */
} slab_explanation64;

/** Does the same for a ray in double. An entry of `after` has slab_hit64.order of a hit as its t. */
SLAB_API slab_status slab_explain64(slab_scene *, const slab_ray64 *ray, slab_primitive_id, const slab_cast_options *,
                                    slab_explanation64 *explanation, slab_step *steps, size_t capacity, size_t *count);

/** Writes a step as one line of text, without its part: name, value in decimal and hexadecimal, formula and note. Like
 * snprintf, it writes at most `size` bytes, the terminating 0 included, and returns the length of the whole line. */
SLAB_API size_t slab_step_text(const slab_step *step, char *text, size_t size);

/** @} */

/** @defgroup helpers Helpers
 * Those for arrays work on threads of the library.
 * @{ */

/** Returns the segment from a to b: the ray with origin a, direction b - a and range [0, 1]. t is the fraction of its
 * length. Where b lies exactly on a slanted surface, rounding may put t just beyond 1, and the segment then misses it.
 */
SLAB_API slab_ray slab_segment(const float a[3], const float b[3]);
/** Writes slab_segment from point i of `from` to point i of `to` to rays[i], for i below n.
 * - from, to: points of three floats.
 * - from_stride, to_stride: bytes from point to point; 0: one point for all.
 * - rays: n rays, which overlap neither array. */
SLAB_API slab_status slab_segments(const float *from, size_t from_stride, const float *to, size_t to_stride, size_t n,
                                   slab_ray *rays);

/** Returns a ray in the plane z = 0. */
static inline slab_ray slab_ray_2d(const float origin[2], const float direction[2], float t_min, float t_max) {
  slab_ray ray = {{origin[0], origin[1], 0.0f}, t_min, {direction[0], direction[1], 0.0f}, t_max};
  return ray;
}

/** Writes n rays of the range [0, inf) from origins and directions of three doubles each.
 * - center: three doubles; NULL: 0. scale: a factor, such that the result suits float.
 * - rays: n rays. Origin i is (origins[i] - center) * scale, rounded to float once. Directions are rounded, not scaled.
 *
 * So a hit's t is `scale` times that on the ray as given. A direction shorter than 1e-12 or longer than 1e12 is first
 * divided by its largest component, because float does not hold its length well. Then t is in units of the quotient's
 * length. A NaN, a zero direction or a value beyond float gives an invalid ray. */
SLAB_API slab_status slab_rays_from_doubles(const double *origins, const double *directions, size_t n,
                                            const double center[3], double scale, slab_ray *rays);

/** Rounds rows of doubles to rows of floats, such as columns of an array to members of slab_ray.
 * - from, to: `rows` rows of `columns` numbers.
 * - from_stride, to_stride: bytes from the start of a row to that of the next; 0 repeats a row.
 * - moved: `columns` doubles, or NULL. Receives each column's largest rounding error of a finite number; infinity where
 *   one is beyond float. */
SLAB_API slab_status slab_floats_from_doubles(const double *from, size_t from_stride, size_t rows, size_t columns,
                                              float *to, size_t to_stride, double *moved);

/** Hits of rays in double on the triangles of a mesh in double, for slab_points_from_doubles. The rays were cast in
 * float, by slab_rays_from_doubles, or in double, by slab_source.rays64 with scale 1. */
typedef struct slab_double_hits {
  const double *origins;     /**< three for each ray, as slab_rays_from_doubles took them */
  const double *directions;  /**< three for each ray, as it took them */
  double scale;              /**< as slab_rays_from_doubles took it */
  const double *vertices;    /**< three for each vertex, in the coordinates of `origins` */
  const uint32_t *indices;   /**< three for each triangle; NULL: triangle i has the vertices 3i .. 3i + 2 */
  const uint64_t *rays;      /**< for each hit the number of its ray */
  const uint64_t *triangles; /**< for each hit the number of its triangle */
  const float *t;            /**< t of hit 0; not read where t64 is given */
  size_t t_stride;           /**< bytes from one t to the next: sizeof(slab_hit) where t points into hits of slab_all */
  const double *t64;         /**< t of hit 0 of rays in double, such as slab_hit64.t; NULL: they are in t */
} slab_double_hits;

/** Writes where n hits lie, in double.
 * - points: three doubles for each hit.
 *
 * A point is where the line of the ray as given meets the plane of the triangle as given, to the rounding of double. A
 * hit's t cannot say as much: it is the float's of a scene whose vertices are rounded. Where the sine of the angle
 * between both is below 1e-9, it is the point at t on the ray as it was cast. The call does not check the numbers of
 * rays, triangles and vertices: one that does not exist is undefined behaviour. */
SLAB_API slab_status slab_points_from_doubles(const slab_double_hits *hits, size_t n, double *points);

/** Returns a rectangle: a box unbounded in z. */
static inline slab_box slab_box_2d(const float lower[2], const float upper[2]) {
  slab_box box = {{lower[0], lower[1], -INFINITY}, {upper[0], upper[1], INFINITY}};
  return box;
}

/** Returns the plane through a point with this normal, of any length but 0: offset = normal . point, in float. */
SLAB_API slab_plane slab_plane_through(const float point[3], const float normal[3]);

/** Returns the box -half_size .. +half_size, transformed by a rigid 4x4 matrix: row-major, for points as columns. Axis
 * i is column i of the upper 3x3, the centre is column 3. A box from a matrix that scales is refused when it is added.
 */
static inline slab_obb slab_obb_from_matrix(const float m[16], const float half_size[3]) {
  slab_obb box = {{m[3], m[7], m[11]},
                  {half_size[0], half_size[1], half_size[2]},
                  {{m[0], m[4], m[8]}, {m[1], m[5], m[9]}, {m[2], m[6], m[10]}}};
  return box;
}

/** Returns a camera at `from` that looks at `to`; forward has unit length.
 * - up: any length. Where it is parallel to the view, z takes its place, or y where the view is close to z.
 * - fov_degrees: vertical field of view, above 0 and below 180.
 * - aspect: width / height.
 *
 * Nothing is checked. Where from = to its rays are invalid. */
SLAB_API slab_camera slab_camera_look_at(const float from[3], const float to[3], const float up[3], float fov_degrees,
                                         float aspect);

/** Returns the ray through the centre of pixel (x, y) of a width x height image, x to the right and y downward. Its
 * range is [0, inf), and its direction is not normalised. */
SLAB_API slab_ray slab_camera_ray(const slab_camera *camera, uint32_t x, uint32_t y, uint32_t width, uint32_t height);

/** Writes origin + t * direction, in float. `point` may be the ray's own origin or direction. */
SLAB_API void slab_point_at(const slab_ray *ray, float t, float point[3]);
/** @} */

#ifdef __cplusplus
}
#endif
#endif
#endif
