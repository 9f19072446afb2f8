/** @file
 * Slabcast on the caller's own OpenCL objects: context, device, queue, buffers and events.
 *
 * This header needs the OpenCL headers (Debian: opencl-c-headers). A program that calls OpenCL links slabcast::cl
 * (CMake) or slabcast-cl (pkg-config), which add its loader. slabcast.h alone needs neither.
 *
 * Everything that slabcast.h states applies. With several devices, calls here use the context's first. The library
 * retains the caller's objects where it keeps them, so the caller may release them at any time. */
#ifndef SLABCAST_CL_H
#define SLABCAST_CL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120 /**< the default; define it before to change it */
#endif
#include <CL/cl.h>

#include "slabcast.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup opencl OpenCL objects of your own
 * @{ */

/** Makes a slab_context, which the caller destroys, on the caller's context and device (or sub-device).
 * - queue (third parameter): an in-order queue on which the calls of slabcast.h run, after what is enqueued already.
 *   With NULL, or a queue that runs out of order, they run on a queue of the library's own.
 * - options: as in slab_context_create; `device` is ignored.
 *
 * The call does not wait for the caller's queue.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: an option is out of range, or device or queue do not belong to the context.
 * - SLAB_UNSUPPORTED: the device does not round to nearest, or failed the probe.
 * - SLAB_NO_DEVICE: no OpenCL loader can be found.
 * - SLAB_BUILD_FAILED: the driver could not build the probe.
 * - SLAB_INVALID_STATE: after a fork (slabcast.h). */
SLAB_API slab_status slab_context_create_cl(cl_context, cl_device_id, cl_command_queue, const slab_context_options *,
                                            slab_context **context);

/** Gives the OpenCL context and device of a slab_context. Either pointer may be NULL. They belong to the slab_context:
 * retain them to use them after it is destroyed. SLAB_UNSUPPORTED: the first device is not an OpenCL device. */
SLAB_API slab_status slab_context_objects(const slab_context *, cl_context *, cl_device_id *);

/** Part of a buffer, from `offset` on, that holds all values; NULL with buffer NULL. */
typedef struct slab_span {
  cl_mem buffer; /**< of the scene's OpenCL context */
  size_t offset; /**< bytes, a multiple of 4, below 16 GiB; for SLAB_ANY's results any number below 4 GiB */
} slab_span;

/** One cast over buffers of the scene's OpenCL context. Members that slab_cast_options has mean the same. Rays are
 * relative to the scene's origin (slab_scene_origin). There are no sets, rays in double or results of rows. */
typedef struct slab_batch {
  slab_query query;  /**< which query to run */
  size_t count;      /**< number of rays, below 2^32 - 64; 0 is allowed */
  slab_span rays;    /**< `count` slab_ray */
  slab_span results; /**< `count` results of the query's type; for SLAB_ALL the hits of all rays */
  slab_span offsets; /**< SLAB_ALL only: count + 1 cl_uint. offsets[i] is the sum of the SLAB_COUNT results of the rays
                        before i, each at most max_hits where that is not 0 (else undefined behaviour) */
  slab_span skip;    /**< `count` slab_primitive_id; NULL: none */
  slab_span invalid; /**< one cl_uint; the cast adds the number of invalid rays to it. NULL: not wanted */
  uint32_t mask;     /**< 0: all bits */
  slab_cull cull;    /**< as there */
  int face_forward;  /**< as there */
  slab_edges edges;  /**< as there */
  uint32_t max_hits; /**< as there */
  slab_span counted; /**< one cl_uint, read when the cast runs: only that many of the `count` rays are cast, all if it
                        is larger. Other results, the invalid count and later offsets are not touched. NULL: all */
  slab_span masks;   /**< `count` cl_uint; NULL: none */
  slab_span after;   /**< `count` slab_short_hit; a t of NaN makes the ray invalid; NULL: none */
  slab_span worlds;  /**< `count` cl_uint; a world that the scene lacks makes the ray invalid; NULL: none */
} slab_batch;

/** Enqueues one cast and returns. The results equal those of the call of slabcast.h bit for bit (but see its Floating
 * point).
 * - queue: of the scene's context and device; in order or not.
 * - wait: `wait_count` events that the cast waits for; NULL with 0.
 * - done (may be NULL): receives an event of the cast, which the caller releases.
 *
 * The call blocks only while it builds a kernel that was not used before. The cast is one launch: keep `count` small
 * where a watchdog may interrupt it.
 *
 * The cast sees the scene as of its last commit before this call. On a context of slab_context_create_cl the scene may
 * be committed or destroyed at any time; on another one only after the cast has ended.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: a required buffer is NULL, or one is too small, not aligned or of another context.
 * - SLAB_INVALID_ARGUMENT: the queue is of another context or device, there are too many rays, or an option is refused.
 * - SLAB_UNSUPPORTED: the scene is not on an OpenCL device.
 * - SLAB_BUILD_FAILED: the driver could not build the kernel. */
SLAB_API slab_status slab_enqueue(slab_scene *, const slab_batch *, cl_command_queue, cl_uint wait_count,
                                  const cl_event *wait, cl_event *done);

/** @name Kernels of your own
 * Kernels of a slab_program, by OpenCL.
 * @{ */

/** Gives a new kernel object of the program, which the caller releases (clReleaseKernel). SLAB_INVALID_ARGUMENT: it has
 * no kernel of that name. SLAB_UNSUPPORTED: it is not on OpenCL. */
SLAB_API slab_status slab_program_kernel(const slab_program *, const char *name, cl_kernel *kernel);
/** Binds a kernel of slab_program_create to the scene as of its last commit: sets the arguments of
 * SLAB_SCENE_PARAMETERS (slabcast_device.h).
 * - first_argument: the index of the first of these among the kernel's arguments.
 * - count (may be NULL): receives their number, 4 or 10.
 *
 * The kernel keeps these values and the memory behind them until it is bound again or its program is destroyed,
 * whatever is committed or destroyed. Bind it again to use a later commit. No other thread may set arguments of this
 * kernel meanwhile.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: the kernel is not of slab_program_create, is of another context, or lacks the parameters at
 *   first_argument. Or it was built for scenes that differ from this one; the message says how.
 * - SLAB_UNSUPPORTED: the scene is not on an OpenCL device. */
SLAB_API slab_status slab_scene_bind(slab_scene *, cl_kernel, cl_uint first_argument, cl_uint *count);
/** @} */

/** @name Changing geometry
 * The updates of slabcast.h, from buffers of the scene's OpenCL context. Coordinates are relative to the scene's
 * origin.
 * - shapes: n structs of the kind.
 * - wait: `wait_count` events, after which the buffers are read; NULL with 0.
 *
 * The calls read on the queue of the slab_context, and block until that is done. The values are then checked and kept
 * as by slabcast.h. There are no calls for ranges.
 *
 * Errors, besides those of slabcast.h:
 * - SLAB_INVALID_ARGUMENT: a required buffer is NULL, or one is too small, not aligned or of another context.
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
  slab_span vertices;      /**< three cl_float for each vertex */
  size_t vertex_stride;    /**< bytes from vertex to vertex, at least 12; 0: no gaps */
  uint32_t vertex_count;   /**< as in slab_mesh */
  slab_span indices;       /**< 3 * triangle_count cl_uint; NULL: the geometry keeps its indices */
  uint32_t triangle_count; /**< as in slab_mesh */
} slab_mesh_spans;

/** Replaces all triangles of a geometry. The next commit refits the BVH on the device, and uploads nothing of it, if
 * only this call has changed the scene since the last commit. That takes one device that keeps subnormal numbers,
 * SLAB_LAYOUT_COMPRESSED, and only triangles. Else the host does the work. Until the commit the device keeps a copy of
 * the vertices (SLAB_OUT_OF_MEMORY if it lacks the memory). */
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
/** Replaces the transforms of all instances of `count` calls, as slab_scene_move_instances does.
 * - geometries: in host memory.
 * - transforms: n times 12 cl_float. */
SLAB_API slab_status slab_scene_move_instances_cl(slab_scene *, const uint32_t *geometries, uint32_t count,
                                                  const slab_span *transforms, uint32_t n, cl_uint wait_count,
                                                  const cl_event *wait);
/** @} */
/** @} */

#ifdef __cplusplus
}
#endif
#endif
