/** @file
 * Slabcast on the caller's own CUDA objects: context, stream and device memory.
 *
 * This header needs no header of CUDA's. A cudaStream_t is a CUstream, and pointers of the runtime, of PyTorch, CuPy,
 * JAX or Warp are device pointers of the card's primary context. Everything that slabcast.h states applies. The caller
 * keeps its objects until the slab_context is destroyed and what was enqueued has ended. */
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

/** Makes a slab_context on the caller's context. NULL: the primary context of the card that is current, else of the
 * first.
 * - stream: the calls of slabcast.h run on it; NULL: on one of the library's own.
 * - options: `device` is ignored.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: the stream is of another context, or an option is wrong.
 * - SLAB_UNSUPPORTED: the card is too old (compute capability 6.0 is needed), or the options ask for SLAB_LAYOUT_WIDE
 *   or several lanes.
 * - SLAB_NO_DEVICE: there is no driver, no card or no slabcast-cuda, or the process was forked from one that had begun
 *   CUDA.
 * - SLAB_OUT_OF_MEMORY, SLAB_DEVICE_FAILED. */
SLAB_API slab_status slab_context_create_cuda(struct CUctx_st *, struct CUstream_st *stream,
                                              const slab_context_options *, slab_context **context);

/** Gives the CUDA context and the number of the card of a slab_context; of several devices the first one's. Either
 * pointer may be NULL. The context is valid until the slab_context is destroyed.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: context is NULL.
 * - SLAB_UNSUPPORTED: the device is not a card by CUDA. */
SLAB_API slab_status slab_context_card(const slab_context *, struct CUctx_st **cuda, int *card);

/** One cast over device memory that the scene's context can read, of cuMemAlloc, of a pool or managed.
 * Pointers are multiples of 4 (results of SLAB_ANY: of 1), and are not read by the host. */
typedef struct slab_cuda_batch {
  slab_query query;        /**< what is asked */
  size_t count;            /**< rays, below 2^32 - 64 */
  const slab_ray *rays;    /**< count */
  void *results;           /**< count results of the query's type; for SLAB_ALL the hits of all rays */
  const uint32_t *offsets; /**< SLAB_ALL only: count + 1, the exclusive sum of the counts that SLAB_COUNT gives, of
                              which none counts for more than max_hits */
  const slab_primitive_id *skip; /**< count; NULL: none */
  uint32_t *invalid;             /**< one, to which the number of invalid rays is added; NULL: not wanted */
  uint32_t mask;                 /**< 0: all bits */
  slab_cull cull;                /**< as in slab_cast_options */
  int face_forward;              /**< as in slab_cast_options */
  slab_edges edges;              /**< as in slab_cast_options */
  uint32_t max_hits;             /**< SLAB_ALL only: the first hits of a ray that are listed, at most; 0: all */
  const uint32_t *counted;       /**< one, the number of rays, which is read when the cast runs; `count` is then the
                                    most, and what is above it is taken as `count`. The arrays have room for `count`.
                                    Results beyond the number stay as they are, and invalid rays there are not counted;
                                    of SLAB_ALL the offsets beyond number + 1 are not read. NULL: none */
  const uint32_t *masks;         /**< count masks of the rays, as in slab_cast_options; NULL: none */
  const slab_short_hit *after; /**< count, as in slab_cast_options; a ray whose t is NaN there is invalid; NULL: none */
  const uint32_t *worlds; /**< count worlds of the rays, as in slab_cast_options; a ray of a world that the scene does
                             not have is invalid; NULL: none */
} slab_cuda_batch;

/** Enqueues the cast on a stream of the scene's context, after the work that is on it. NULL: CUDA's default stream.
 *
 * The call waits for nothing, except to load a kernel that was not used before. The cast is one launch. The results
 * equal those of the call of slabcast.h bit for bit. The cast answers the last commit; it must have ended before the
 * scene is committed again or destroyed. Several threads may enqueue at once.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: a pointer is NULL, not aligned or not memory that the card reaches, or the stream is of
 *   another context.
 * - SLAB_UNSUPPORTED: the scene is not on a card by CUDA.
 * - SLAB_BUILD_FAILED, SLAB_OUT_OF_MEMORY, SLAB_DEVICE_FAILED. */
SLAB_API slab_status slab_enqueue_cuda(slab_scene *, const slab_cuda_batch *, struct CUstream_st *stream);

/** @name Kernels of your own
 * Kernels of a slab_program, by CUDA.
 * @{ */

/** Gives a kernel of the program, which is valid until the program is destroyed.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: there is none of that name (extern "C" keeps it as it is written).
 * - SLAB_UNSUPPORTED: the program is not on a card by CUDA. */
SLAB_API slab_status slab_program_function(slab_program *, const char *name, struct CUfunc_st **function);

/** The most parameters that SLAB_SCENE_PARAMETERS are. */
#define SLAB_SCENE_PARAMETERS_MOST 10

/** Binds a kernel of slab_program_function to the scene as its last commit has it.
 * - parameters: room for SLAB_SCENE_PARAMETERS_MOST addresses. The first *count of them become those of the values of
 *   SLAB_SCENE_PARAMETERS, in their order, as cuLaunchKernel takes them.
 * - count (NULL: not wanted): receives their number.
 *
 * The values, and the memory of the card that they point to, stay as they are, whatever is committed or destroyed. They
 * stay until the kernel is bound again or its program is destroyed. To see a later commit bind it again. Do not bind a
 * kernel while another thread binds or launches it.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: an argument is NULL, or the kernel is not of slab_program_function or is of another context
 *   than the scene.
 * - SLAB_INVALID_ARGUMENT: the kernel was built for scenes that are not like this one. The message says how they
 *   differ.
 * - SLAB_UNSUPPORTED: the scene is not on a card by CUDA.
 * - SLAB_OUT_OF_MEMORY. */
SLAB_API slab_status slab_scene_bind_cuda(slab_scene *, struct CUfunc_st *kernel, void **parameters, unsigned *count);
/** @} */

/** @name Changing geometry
 * The updates of slabcast.h, from device memory as a slab_cuda_batch has it.
 *
 * Each call reads its arrays on a stream of the scene's context, after the work that is on it (NULL: CUDA's default
 * stream). It returns when they are read: the caller may write them again at once. It waits for no other stream. The
 * values are then checked and kept in host memory, as those of slabcast.h are, and the same values are refused. One
 * thread at a time changes a scene.
 *
 * Errors, besides those of slabcast.h, after which the scene is as it was:
 * - SLAB_INVALID_ARGUMENT: a pointer is NULL, no multiple of 4 or not memory that the card reaches. The call tests the
 *   first and the last byte of an array.
 * - SLAB_INVALID_ARGUMENT: the stream is of another context.
 * - SLAB_UNSUPPORTED: the scene is not on a card by CUDA.
 * - SLAB_OUT_OF_MEMORY, SLAB_DEVICE_FAILED.
 * @{ */
/** Replaces planes. */
SLAB_API slab_status slab_scene_update_planes_cuda(slab_scene *, uint32_t geometry, const slab_plane *shapes,
                                                   uint32_t n, struct CUstream_st *stream);
/** Replaces spheres. */
SLAB_API slab_status slab_scene_update_spheres_cuda(slab_scene *, uint32_t geometry, const slab_sphere *shapes,
                                                    uint32_t n, struct CUstream_st *stream);
/** Replaces axis-aligned boxes. */
SLAB_API slab_status slab_scene_update_boxes_cuda(slab_scene *, uint32_t geometry, const slab_box *shapes, uint32_t n,
                                                  struct CUstream_st *stream);
/** Replaces oriented boxes. */
SLAB_API slab_status slab_scene_update_obbs_cuda(slab_scene *, uint32_t geometry, const slab_obb *shapes, uint32_t n,
                                                 struct CUstream_st *stream);
/** Replaces triangles. The arrays of the slab_mesh are device memory; indices NULL: those of the geometry.
 *
 * The card keeps a copy of the vertices until the commit. The card refits the BVH itself, and nothing of it is
 * uploaded, where meshes updated so are all that has changed. The scene must have triangles alone, on one card. A
 * second update before a commit frees the first one's copy, for which the driver waits until the card is idle. */
SLAB_API slab_status slab_scene_update_mesh_cuda(slab_scene *, uint32_t geometry, const slab_mesh *,
                                                 struct CUstream_st *stream);
/** Replaces the transforms of n instances. transforms: n times 12, as in slab_scene_update_instances. */
SLAB_API slab_status slab_scene_update_instances_cuda(slab_scene *, uint32_t geometry, const float *transforms,
                                                      uint32_t n, struct CUstream_st *stream);
/** Replaces the transforms of n instances of a geometry, as slab_scene_update_some_instances does. indices: n,
 * transforms: n times 12, both in device memory. */
SLAB_API slab_status slab_scene_update_some_instances_cuda(slab_scene *, uint32_t geometry, const uint32_t *indices,
                                                           const float *transforms, uint32_t n,
                                                           struct CUstream_st *stream);
/** Replaces the transforms of all instances of `count` geometries, or of none, as slab_scene_move_instances does.
 * - geometries: `count`, in host memory.
 * - transforms: n times 12 in device memory, in the order of geometries. */
SLAB_API slab_status slab_scene_move_instances_cuda(slab_scene *, const uint32_t *geometries, uint32_t count,
                                                    const float *transforms, uint32_t n, struct CUstream_st *stream);
/** @} */
/** @} */

#ifdef __cplusplus
}
#endif
#endif
