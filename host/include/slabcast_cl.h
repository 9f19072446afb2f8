/** @file
 * Slabcast on the caller's own OpenCL objects: context, device, queue, buffers and events.
 *
 * This header needs the OpenCL headers (Debian: opencl-c-headers). A program that creates such objects also links the
 * OpenCL loader: slabcast::cl in CMake and slabcast-cl in pkg-config are the library with the loader. slabcast.h alone
 * needs neither. The library uses the loader that the process has.
 *
 * Everything that slabcast.h states applies. With several devices, calls here use the context's first. The library
 * retains the caller's objects where it keeps them. So the caller may release them in any order, with work in flight.
 */
#ifndef SLABCAST_CL_H
#define SLABCAST_CL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120 /**< unless the caller defines it */
#endif
#include <CL/cl.h>

#include "slabcast.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup opencl OpenCL objects of your own
 * @{ */

/** Makes a slab_context on the caller's OpenCL context and device, which may be a sub-device. The caller destroys
 * *context.
 * - queue (third parameter): the in-order queue on which the calls of slabcast.h run; they wait for their own commands.
 *   With NULL, or a queue that runs out of order, they run on a queue of the library's own in that context.
 * - options: as in slab_context_create; `device` is ignored.
 *
 * The call runs the probe on a queue of the library's own, so it does not wait for the caller's queue.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: an option is out of range, the device is not in the context, or the queue belongs to another
 *   context or device.
 * - SLAB_UNSUPPORTED: the device does not round to nearest, or the probe found a wrong result.
 * - SLAB_NO_DEVICE: no OpenCL loader can be found.
 * - SLAB_BUILD_FAILED: the driver could not build the probe.
 * - SLAB_INVALID_STATE: this process was forked from one that had used OpenCL or CUDA (slabcast.h). */
SLAB_API slab_status slab_context_create_cl(cl_context, cl_device_id, cl_command_queue, const slab_context_options *,
                                            slab_context **context);

/** Gives the OpenCL context and device of a slab_context, so that the caller can make buffers and queues for
 * slab_enqueue. Either pointer may be NULL. The objects belong to the slab_context: retain them to use them after it
 * is destroyed. Any thread may call. SLAB_UNSUPPORTED: the first device is not an OpenCL device. */
SLAB_API slab_status slab_context_objects(const slab_context *, cl_context *, cl_device_id *);

/** Part of a buffer, from `offset` on. Every value of the batch or update must lie inside the buffer. */
typedef struct slab_span {
  cl_mem buffer; /**< of the scene's OpenCL context */
  size_t offset; /**< bytes, a multiple of 4, below 16 GiB; for the results of SLAB_ANY any number below 4 GiB */
} slab_span;

/** One cast over buffers of the scene's OpenCL context. Rays count from the scene's origin (slab_scene_origin). Sets,
 * rays in double and results of rows have no place here. */
typedef struct slab_batch {
  slab_query query;  /**< which query to run */
  size_t count;      /**< number of rays, below 2^32 - 64; 0 is allowed */
  slab_span rays;    /**< `count` slab_ray */
  slab_span results; /**< `count` results of the query's type; for SLAB_ALL the hits of all rays */
  slab_span offsets; /**< SLAB_ALL only: count + 1 cl_uint. offsets[i] is the number of hits of the rays before i, each
                        ray's number being that of SLAB_COUNT, but at most max_hits. The call cannot check them: other
                        numbers are undefined behaviour */
  slab_span skip;    /**< `count` slab_primitive_id, as in slab_cast_options; buffer NULL: none */
  slab_span invalid; /**< one cl_uint, to which the cast adds the number of invalid rays: the caller sets it before;
                        buffer NULL: not wanted */
  uint32_t mask;     /**< as in slab_cast_options; 0: all bits */
  slab_cull cull;    /**< as in slab_cast_options */
  int face_forward;  /**< as in slab_cast_options */
  slab_edges edges;  /**< as in slab_cast_options */
  uint32_t max_hits; /**< SLAB_ALL only: lists at most the first max_hits hits of a ray; 0: all */
  slab_span counted; /**< one cl_uint, the number of rays, read when the cast runs; a number above `count` is taken as
                        `count`. All arrays still have `count` entries. Results from that number on stay as they are,
                        and invalid rays there are not counted. For SLAB_ALL, offsets after offsets[number] are not
                        read. Buffer NULL: none */
  slab_span masks;   /**< `count` cl_uint, as in slab_cast_options; mask must be 0 then; buffer NULL: none */
  slab_span after;   /**< `count` slab_short_hit, as in slab_cast_options; a ray whose t is NaN there is invalid; buffer
                        NULL: none */
  slab_span worlds;  /**< `count` cl_uint, as in slab_cast_options; a ray of a world that the scene does not have is
                        invalid; buffer NULL: none */
} slab_batch;

/** Enqueues one cast and returns. The results equal those of the call of slabcast.h bit for bit.
 * - queue: of the scene's context and device; in order or not.
 * - wait: `wait_count` events that the cast waits for; NULL with 0.
 * - done (may be NULL): receives an event of the cast, which the caller releases.
 *
 * The call only blocks to build a kernel that was not used before. The cast is one launch: where a display watchdog may
 * interrupt long launches, keep `count` small. Several threads may enqueue on one scene at once.
 *
 * The cast answers the last commit before this call. On a context of slab_context_create_cl the scene may be committed
 * or destroyed while the cast is in flight. On another one the scene's buffers may be host memory in place, so the cast
 * must have ended before.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: a buffer is NULL, too small or of another context, or an offset is not aligned.
 * - SLAB_INVALID_ARGUMENT: the queue does not belong to the scene's context and device.
 * - SLAB_INVALID_ARGUMENT: there are too many rays, or an option is refused (slab_cast_options).
 * - SLAB_UNSUPPORTED: the scene is not on an OpenCL device.
 * - SLAB_BUILD_FAILED: the driver could not build the kernel. */
SLAB_API slab_status slab_enqueue(slab_scene *, const slab_batch *, cl_command_queue, cl_uint wait_count,
                                  const cl_event *wait, cl_event *done);

/** @name Kernels of your own
 * Kernels of a slab_program, by OpenCL.
 * @{ */

/** Gives a new kernel object of the program, which the caller releases (clReleaseKernel). Any thread may call.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: the program has no kernel of that name.
 * - SLAB_UNSUPPORTED: the program is not on OpenCL. */
SLAB_API slab_status slab_program_kernel(const slab_program *, const char *name, cl_kernel *kernel);
/** Binds a kernel of slab_program_create to the scene as of its last commit: sets the arguments of
 * SLAB_SCENE_PARAMETERS.
 * - first_argument: the index of the first of these among the kernel's arguments.
 * - count (may be NULL): receives their number, SLAB_SCENE_ARGUMENTS.
 *
 * The kernel keeps these values and the memory behind them, whatever is committed or destroyed, until it is bound again
 * or its program is destroyed. After a commit bind it again, to see that. No other thread may set arguments of this
 * kernel meanwhile.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: the kernel is not of slab_program_create, is of another context than the scene, or does not
 *   have the parameters at first_argument.
 * - SLAB_INVALID_ARGUMENT: the kernel was built for scenes that are not like this one. The message says how they
 *   differ.
 * - SLAB_UNSUPPORTED: the scene is not on an OpenCL device. */
SLAB_API slab_status slab_scene_bind(slab_scene *, cl_kernel, cl_uint first_argument, cl_uint *count);
/** @} */

/** @name Changing geometry
 * The updates of slabcast.h, from buffers of the scene's OpenCL context. Coordinates count from the scene's origin.
 * - geometry: as there.
 * - shapes: n values of the kind's struct.
 * - wait: `wait_count` events, after which the buffers are read; NULL with 0.
 *
 * The calls read on the queue of the slab_context, and block until the buffers are read. The values are then checked
 * and kept in host memory as by slabcast.h. One thread at a time builds a scene. Ranges of primitives or vertices have
 * no call here.
 *
 * Errors, besides those of slabcast.h:
 * - SLAB_INVALID_ARGUMENT: a buffer is NULL, too small or of another context, or an offset is not aligned.
 * - SLAB_UNSUPPORTED: the scene is not on an OpenCL device.
 * @{ */
/** Replaces all planes of a geometry. */
SLAB_API slab_status slab_scene_update_planes_cl(slab_scene *, uint32_t geometry, const slab_span *shapes, uint32_t n,
                                                 cl_uint wait_count, const cl_event *wait);
/** Replaces all spheres of a geometry. */
SLAB_API slab_status slab_scene_update_spheres_cl(slab_scene *, uint32_t geometry, const slab_span *shapes, uint32_t n,
                                                  cl_uint wait_count, const cl_event *wait);
/** Replaces all axis-aligned boxes of a geometry. */
SLAB_API slab_status slab_scene_update_boxes_cl(slab_scene *, uint32_t geometry, const slab_span *shapes, uint32_t n,
                                                cl_uint wait_count, const cl_event *wait);
/** Replaces all oriented boxes of a geometry. */
SLAB_API slab_status slab_scene_update_obbs_cl(slab_scene *, uint32_t geometry, const slab_span *shapes, uint32_t n,
                                               cl_uint wait_count, const cl_event *wait);

/** A slab_mesh in buffers, of floats. */
typedef struct slab_mesh_spans {
  slab_span vertices;      /**< vertex_count times three cl_float */
  size_t vertex_stride;    /**< bytes from vertex to vertex, at least 12; 0: no gaps */
  uint32_t vertex_count;   /**< as in slab_mesh */
  slab_span indices;       /**< 3 * triangle_count cl_uint; buffer NULL: the geometry keeps its indices */
  uint32_t triangle_count; /**< as in slab_mesh */
} slab_mesh_spans;

/** Replaces all triangles of a geometry. SLAB_OUT_OF_MEMORY: also where the device lacks memory for a copy of the
 * vertices.
 *
 * On a context with one device that keeps subnormal numbers, in SLAB_LAYOUT_COMPRESSED, the device keeps that copy
 * until the commit. At a commit after which only meshes were updated so, in a scene that has only triangles, the device
 * refits the BVH itself. Then nothing of the BVH is uploaded. Else the host does the work. */
SLAB_API slab_status slab_scene_update_mesh_cl(slab_scene *, uint32_t geometry, const slab_mesh_spans *,
                                               cl_uint wait_count, const cl_event *wait);
/** Replaces the transforms of all n instances of a call. transforms: n times 12 cl_float, as in
 * slab_scene_update_instances. */
SLAB_API slab_status slab_scene_update_instances_cl(slab_scene *, uint32_t geometry, const slab_span *transforms,
                                                    uint32_t n, cl_uint wait_count, const cl_event *wait);
/** Replaces the transforms of n of a geometry's instances, as slab_scene_update_some_instances does.
 * - indices: n cl_uint. transforms: n times 12 cl_float. */
SLAB_API slab_status slab_scene_update_some_instances_cl(slab_scene *, uint32_t geometry, const slab_span *indices,
                                                         const slab_span *transforms, uint32_t n, cl_uint wait_count,
                                                         const cl_event *wait);
/** Replaces the transforms of all instances of `count` calls, or of none after an error, as slab_scene_move_instances
 * does.
 * - geometries: `count` ids, in host memory.
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
