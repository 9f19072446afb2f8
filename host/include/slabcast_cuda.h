/** @file
 * Slabcast on the caller's own CUDA objects: context, stream and device memory.
 *
 * This header needs no CUDA header. A program that uses it links only the library; the file slabcast-cuda, which holds
 * the kernels, must lie beside the library. A cudaStream_t is a CUstream. For pointers of the CUDA runtime, PyTorch,
 * CuPy, JAX or Warp, make the slab_context with CUcontext NULL. They are of the card's primary context.
 *
 * Everything that slabcast.h states applies. With several devices, calls here use the context's first. The caller keeps
 * its objects until the slab_context is destroyed and all enqueued work has ended. In slab_context_create_cuda a NULL
 * stream is one of the library's own. In all other calls it is CUDA's legacy default stream. */
#ifndef SLABCAST_CUDA_H
#define SLABCAST_CUDA_H

#include "slabcast.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup cuda CUDA objects of your own
 * @{ */

struct CUctx_st;    /**< what a CUcontext points to */
struct CUstream_st; /**< what a CUstream points to */
struct CUfunc_st;   /**< what a CUfunction points to */

/** Makes a slab_context on the caller's CUDA context. The caller destroys *context.
 * - CUcontext (first parameter): NULL: the primary context of this thread's current card, or of card 0 if there is
 *   none.
 * - stream: the calls of slabcast.h run on it, and wait for their own commands. NULL: a stream of the library's own.
 * - options: as in slab_context_create; `device` is ignored.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: the stream is of another context, or an option is out of range.
 * - SLAB_UNSUPPORTED: the card is too old (compute capability 6.0 is needed), or the options have SLAB_LAYOUT_WIDE or a
 *   lane_width above 1.
 * - SLAB_NO_DEVICE: there is no driver, no card or no slabcast-cuda.
 * - SLAB_INVALID_STATE: this process was forked from one that had used OpenCL or CUDA through the library (slabcast.h).
 *   If it had used CUDA by itself: SLAB_NO_DEVICE. */
SLAB_API slab_status slab_context_create_cuda(struct CUctx_st *, struct CUstream_st *stream,
                                              const slab_context_options *, slab_context **context);

/** Gives the CUDA context of a slab_context, and its card's number, as in cuDeviceGet. Either pointer may be NULL. The
 * CUDA context is valid until the slab_context is destroyed. SLAB_UNSUPPORTED: the first device is not a card. */
SLAB_API slab_status slab_context_card(const slab_context *, struct CUctx_st **cuda, int *card);

/** One cast over device memory that the scene's context can read: of cuMemAlloc, a memory pool, or managed. Pointers
 * must be aligned to 4 bytes; SLAB_ANY's results need not be. Members that slab_cast_options has mean the same. Rays
 * are relative to the scene's origin (slab_scene_origin). Sets, rays in double and results of rows are not supported.
 */
typedef struct slab_cuda_batch {
  slab_query query;     /**< which query to run */
  size_t count;         /**< number of rays, below 2^32 - 64; 0 is allowed */
  const slab_ray *rays; /**< `count` rays */
  void *results;        /**< `count` results of the query's type; for SLAB_ALL the hits of all rays */
  const uint32_t
      *offsets; /**< SLAB_ALL only: count + 1 numbers. offsets[i] is the sum of the SLAB_COUNT results of the rays
                   before i, each limited to max_hits where that is not 0. Others are undefined behaviour */
  const slab_primitive_id *skip; /**< `count` entries; NULL: none */
  uint32_t *invalid;             /**< one number; the cast adds the number of invalid rays to it. NULL: not wanted */
  uint32_t mask;                 /**< 0: all bits */
  slab_cull cull;                /**< as there */
  int face_forward;              /**< as there */
  slab_edges edges;              /**< as there */
  uint32_t max_hits;             /**< as there */
  const uint32_t
      *counted; /**< one number, read when the cast runs: only that many of the `count` rays are cast, all if it is
                   larger. Other results, the invalid count and later offsets are not touched. NULL: all */
  const uint32_t *masks;       /**< `count` entries; NULL: none */
  const slab_short_hit *after; /**< `count` entries; a t of NaN makes the ray invalid; NULL: none */
  const uint32_t *worlds;      /**< `count` entries; a world that the scene lacks makes the ray invalid; NULL: none */
} slab_cuda_batch;

/** Enqueues one cast after the work on a stream, and returns. The results equal those of the call of slabcast.h bit for
 * bit.
 * - stream: of the scene's CUDA context.
 *
 * The call blocks only while it loads a kernel that was not used before. The cast is one launch, on the scene as of its
 * last commit. It must have ended (synchronise the stream) before the scene is committed again or destroyed.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: a required pointer is NULL, or one is not aligned or not memory that the card reaches.
 * - SLAB_INVALID_ARGUMENT: the stream is of another context, there are too many rays, or an option is refused.
 * - SLAB_UNSUPPORTED: the scene is not on a card.
 * - SLAB_BUILD_FAILED: the driver could not load the kernel. */
SLAB_API slab_status slab_enqueue_cuda(slab_scene *, const slab_cuda_batch *, struct CUstream_st *stream);

/** @name Kernels of your own
 * Kernels of a slab_program, by CUDA.
 * @{ */

/** Gives a kernel of the program, which is valid until the program is destroyed.
 * - name: as in the source, where `extern "C"` keeps it from being mangled.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: the program has no kernel of that name.
 * - SLAB_UNSUPPORTED: the program is not on a card. */
SLAB_API slab_status slab_program_function(slab_program *, const char *name, struct CUfunc_st **function);

/** The most parameters that SLAB_SCENE_PARAMETERS contains (slabcast_device.h). */
#define SLAB_SCENE_PARAMETERS_MOST 10

/** Binds a kernel of slab_program_function to the scene as of its last commit. It fills in a part of the array of
 * addresses for cuLaunchKernel; the caller fills in those of the kernel's other parameters.
 * - parameters: the place in that array for the first of SLAB_SCENE_PARAMETERS: &array[0] if the kernel begins with
 *   them. It has space for SLAB_SCENE_PARAMETERS_MOST addresses.
 * - count (may be NULL): receives the number filled in, 4 or 10; the caller's later ones follow.
 *
 * The values, and the device memory behind them, stay as they are until the kernel is bound again or its program is
 * destroyed, whatever is committed or destroyed. Bind it again to use a later commit. Do not bind a kernel while
 * another thread binds or launches it.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: the kernel is not of slab_program_function, or is of another context. Or it was built for
 *   scenes that differ from this one; the message says how.
 * - SLAB_UNSUPPORTED: the scene is not on a card. */
SLAB_API slab_status slab_scene_bind_cuda(slab_scene *, struct CUfunc_st *kernel, void **parameters, unsigned *count);
/** @} */

/** @name Changing geometry
 * The updates of slabcast.h, from device memory as in slab_cuda_batch. Coordinates are relative to the scene's origin.
 * - shapes: n structs of the kind.
 * - stream: of the scene's CUDA context; the arrays are read after the work on it.
 *
 * The calls return when the arrays are read: the caller may write them again at once. The values are then checked and
 * kept in host memory as by slabcast.h. There are no calls for ranges.
 *
 * Errors, besides those of slabcast.h:
 * - SLAB_INVALID_ARGUMENT: a pointer is NULL, not aligned to 4 bytes, or its first or last byte is not in memory that
 *   the card reaches.
 * - SLAB_INVALID_ARGUMENT: the stream is of another context.
 * - SLAB_UNSUPPORTED: the scene is not on a card.
 * @{ */
/** Replaces all planes of a geometry. */
SLAB_API slab_status slab_scene_update_planes_cuda(slab_scene *, uint32_t geometry, const slab_plane *shapes,
                                                   uint32_t n, struct CUstream_st *stream);
/** Replaces all spheres of a geometry. */
SLAB_API slab_status slab_scene_update_spheres_cuda(slab_scene *, uint32_t geometry, const slab_sphere *shapes,
                                                    uint32_t n, struct CUstream_st *stream);
/** Replaces all axis-aligned boxes of a geometry. */
SLAB_API slab_status slab_scene_update_boxes_cuda(slab_scene *, uint32_t geometry, const slab_box *shapes, uint32_t n,
                                                  struct CUstream_st *stream);
/** Replaces all oriented boxes of a geometry. */
SLAB_API slab_status slab_scene_update_obbs_cuda(slab_scene *, uint32_t geometry, const slab_obb *shapes, uint32_t n,
                                                 struct CUstream_st *stream);
/** Replaces all triangles of a geometry. The slab_mesh is in host memory, its arrays are in device memory. vertices64
 * is not read; with indices NULL the geometry keeps its indices.
 *
 * The next commit refits the BVH on the card, and uploads nothing of it, if only this call has changed the scene since
 * the last commit. That takes a context of one card, and only triangles. Else the host does the work. Until the commit
 * the card keeps a copy of the vertices. A second update before it frees the first one's copy, which waits until the
 * card is idle. */
SLAB_API slab_status slab_scene_update_mesh_cuda(slab_scene *, uint32_t geometry, const slab_mesh *,
                                                 struct CUstream_st *stream);
/** Replaces the transforms of all n instances of a call. transforms: n times 12 floats, as in
 * slab_scene_update_instances. */
SLAB_API slab_status slab_scene_update_instances_cuda(slab_scene *, uint32_t geometry, const float *transforms,
                                                      uint32_t n, struct CUstream_st *stream);
/** Replaces the transforms of n of a geometry's instances, as slab_scene_update_some_instances does.
 * - indices: n numbers. transforms: n times 12 floats. */
SLAB_API slab_status slab_scene_update_some_instances_cuda(slab_scene *, uint32_t geometry, const uint32_t *indices,
                                                           const float *transforms, uint32_t n,
                                                           struct CUstream_st *stream);
/** Replaces the transforms of all instances of `count` calls, as slab_scene_move_instances does.
 * - geometries: `count` ids, in host memory.
 * - transforms: n times 12 floats, in the order of geometries. */
SLAB_API slab_status slab_scene_move_instances_cuda(slab_scene *, const uint32_t *geometries, uint32_t count,
                                                    const float *transforms, uint32_t n, struct CUstream_st *stream);
/** @} */
/** @} */

#ifdef __cplusplus
}
#endif
#endif
