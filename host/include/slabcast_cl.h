/** @file
 * Slabcast on the caller's own OpenCL objects: context, device, queue, buffers and events.
 *
 * This header needs the OpenCL headers (Debian: opencl-c-headers). A program that creates such objects links the
 * loader too: slabcast::cl in CMake and slabcast-cl in pkg-config have both. slabcast.h alone needs neither. The
 * library uses the loader that the process has. Everything that slabcast.h states applies. The library retains the
 * caller's objects where it keeps them, so they may be released in any order, with work in flight. */
#ifndef SLABCAST_CL_H
#define SLABCAST_CL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120 /**< unless the caller asks for another */
#endif
#include <CL/cl.h>

#include "slabcast.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup opencl OpenCL objects of your own
 * @{ */

/** Makes a slab_context on the caller's context and device.
 * - queue: the in-order queue on which the calls of slabcast.h run. With NULL, or a queue that runs out of order, they
 *   run on a queue of the library's own in that context.
 * - options: `device` is ignored.
 *
 * The probe runs on a queue of the library's own, so commands that wait on the caller's queue do not matter.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: the device is not one of the context's, or the queue belongs to another context or device.
 * - SLAB_UNSUPPORTED: the device does not round to nearest, or the probe found a wrong result.
 * - SLAB_NO_DEVICE: no OpenCL loader can be found. */
SLAB_API slab_status slab_context_create_cl(cl_context, cl_device_id, cl_command_queue, const slab_context_options *,
                                            slab_context **context);

/** Gives the OpenCL context and device of a slab_context, for making buffers and queues for slab_enqueue. Either
 * pointer may be NULL. They belong to the slab_context: retain them to use them after it is destroyed.
 * SLAB_INVALID_ARGUMENT. */
SLAB_API slab_status slab_context_objects(const slab_context *, cl_context *, cl_device_id *);

/** Part of a buffer. */
typedef struct slab_span {
  cl_mem buffer; /**< of the scene's OpenCL context */
  size_t offset; /**< bytes, below 16 GiB, a multiple of 4 (of 1 for the results of SLAB_ANY) */
} slab_span;

/** One cast over buffers of the scene's OpenCL context. */
typedef struct slab_batch {
  slab_query query;  /**< what is asked */
  size_t count;      /**< rays, below 2^32 - 64 */
  slab_span rays;    /**< count slab_ray */
  slab_span results; /**< count results of the query's type; for SLAB_ALL the hits of all rays */
  slab_span offsets; /**< SLAB_ALL only: count + 1 cl_uint, the exclusive sum of the counts that SLAB_COUNT gives, of
                        which none counts for more than max_hits */
  slab_span skip;    /**< count slab_primitive_id; buffer NULL: none */
  slab_span invalid; /**< one cl_uint, to which the number of invalid rays is added; buffer NULL: not wanted */
  uint32_t mask;     /**< 0: all bits */
  slab_cull cull;    /**< as in slab_cast_options */
  int face_forward;  /**< as in slab_cast_options */
  slab_edges edges;  /**< as in slab_cast_options */
  uint32_t max_hits; /**< SLAB_ALL only: the first hits of a ray that are listed, at most; 0: all */
  slab_span counted; /**< one cl_uint, the number of rays, which is read when the cast runs; `count` is then the most,
                        and what is above it is taken as `count`. The arrays have room for `count`. Results beyond the
                        number stay as they are, and invalid rays there are not counted; of SLAB_ALL the offsets beyond
                        number + 1 are not read. Buffer NULL: none */
  slab_span masks;   /**< count cl_uint, the masks of the rays as in slab_cast_options; buffer NULL: none */
  slab_span after;   /**< count slab_short_hit, as in slab_cast_options; a ray whose t is NaN there is invalid; buffer
                        NULL: none */
  slab_span worlds;  /**< count cl_uint, the worlds of the rays as in slab_cast_options; a ray of a world that the scene
                        does not have is invalid; buffer NULL: none */
} slab_batch;

/** Enqueues the cast on a queue of the scene's context and device, after `wait_count` events of `wait`. The caller
 * releases *done (NULL: not wanted).
 *
 * The call does not block, except to build a kernel that was not used before. The cast is one launch: bound `count`
 * where a display watchdog may interrupt it. The results equal those of the call of slabcast.h bit for bit. The cast
 * answers the last commit, whatever is committed before it runs. On a slab_context that is not on the caller's objects,
 * the cast must have ended before the scene is committed again or destroyed.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: a buffer is too small, an offset is not aligned, or the queue does not belong to the scene's
 *   context and device.
 * - SLAB_BUILD_FAILED: the driver could not build the kernel. */
SLAB_API slab_status slab_enqueue(slab_scene *, const slab_batch *, cl_command_queue, cl_uint wait_count,
                                  const cl_event *wait, cl_event *done);

/** @name Kernels of your own
 * Kernels of a slab_program, by OpenCL.
 * @{ */

/** Gives a kernel of the program, which the caller releases (clReleaseKernel). SLAB_INVALID_ARGUMENT: there is none of
 * that name. SLAB_UNSUPPORTED: the program is not on OpenCL. */
SLAB_API slab_status slab_program_kernel(const slab_program *, const char *name, cl_kernel *kernel);
/** Binds a kernel of slab_program_create to the scene as its last commit has it: sets the arguments of
 * SLAB_SCENE_PARAMETERS.
 * - first_argument: the first of these among the kernel's arguments.
 * - count (NULL: not wanted): receives their number.
 *
 * The kernel keeps these values, whatever is committed or destroyed, until it is bound again or its program is
 * destroyed. To see a later commit bind it again. No other thread may set arguments of this kernel meanwhile.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: the kernel is not of such a program, is of another context than the scene, or lacks the
 *   parameters at first_argument.
 * - SLAB_INVALID_ARGUMENT: the kernel was built for scenes that are not like this one. The message says how they
 *   differ. */
SLAB_API slab_status slab_scene_bind(slab_scene *, cl_kernel, cl_uint first_argument, cl_uint *count);
/** @} */

/** @name Changing geometry
 * The updates of slabcast.h, from buffers of the scene's OpenCL context, after `wait_count` events of `wait`. shapes: n
 * values of the struct.
 *
 * The calls block until the buffers are read. The values are then checked and kept in host memory, as those of
 * slabcast.h are, and the same values are refused.
 *
 * Errors, besides those of slabcast.h:
 * - SLAB_INVALID_ARGUMENT: a buffer is too small or of another context, or an offset is not aligned.
 * - SLAB_UNSUPPORTED: the device is not of OpenCL.
 * @{ */
/** Replaces planes. */
SLAB_API slab_status slab_scene_update_planes_cl(slab_scene *, uint32_t geometry, const slab_span *shapes, uint32_t n,
                                                 cl_uint wait_count, const cl_event *wait);
/** Replaces spheres. */
SLAB_API slab_status slab_scene_update_spheres_cl(slab_scene *, uint32_t geometry, const slab_span *shapes, uint32_t n,
                                                  cl_uint wait_count, const cl_event *wait);
/** Replaces axis-aligned boxes. */
SLAB_API slab_status slab_scene_update_boxes_cl(slab_scene *, uint32_t geometry, const slab_span *shapes, uint32_t n,
                                                cl_uint wait_count, const cl_event *wait);
/** Replaces oriented boxes. */
SLAB_API slab_status slab_scene_update_obbs_cl(slab_scene *, uint32_t geometry, const slab_span *shapes, uint32_t n,
                                               cl_uint wait_count, const cl_event *wait);

/** A slab_mesh in buffers. */
typedef struct slab_mesh_spans {
  slab_span vertices;      /**< vertex_count times three cl_float */
  size_t vertex_stride;    /**< bytes from one vertex to the next; 0: 12 */
  uint32_t vertex_count;   /**< as in slab_mesh */
  slab_span indices;       /**< 3 * triangle_count cl_uint; buffer NULL: those that the geometry has */
  uint32_t triangle_count; /**< as in slab_mesh */
} slab_mesh_spans;

/** Replaces triangles. Also SLAB_OUT_OF_MEMORY: the device has no room for the copy.
 *
 * In the compressed layout the device keeps a copy of the vertices until the commit. The device refits the BVH itself,
 * and nothing of it is uploaded, where meshes updated so are all that has changed. The scene must have triangles alone,
 * on one device. */
SLAB_API slab_status slab_scene_update_mesh_cl(slab_scene *, uint32_t geometry, const slab_mesh_spans *,
                                               cl_uint wait_count, const cl_event *wait);
/** Replaces the transforms of n instances. transforms: n times 12 cl_float, as in slab_scene_update_instances. */
SLAB_API slab_status slab_scene_update_instances_cl(slab_scene *, uint32_t geometry, const slab_span *transforms,
                                                    uint32_t n, cl_uint wait_count, const cl_event *wait);
/** Replaces the transforms of n instances of a geometry, as slab_scene_update_some_instances does. indices: n cl_uint,
 * transforms: n times 12 cl_float. Both are read after the events. */
SLAB_API slab_status slab_scene_update_some_instances_cl(slab_scene *, uint32_t geometry, const slab_span *indices,
                                                         const slab_span *transforms, uint32_t n, cl_uint wait_count,
                                                         const cl_event *wait);
/** Replaces the transforms of all instances of `count` geometries, or of none, as slab_scene_move_instances does.
 * - geometries: `count`, in host memory.
 * - transforms: n times 12 cl_float, in the order of geometries. */
SLAB_API slab_status slab_scene_move_instances_cl(slab_scene *, const uint32_t *geometries, uint32_t count,
                                                  const slab_span *transforms, uint32_t n, cl_uint wait_count,
                                                  const cl_event *wait);
/** @} */
/** @} */

#ifdef __cplusplus
}
#endif
#endif
