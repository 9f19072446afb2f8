/** @file
 * Slabcast on the caller's own CUDA objects: context, stream and device memory.
 *
 * This header needs no CUDA header, and a program that uses it links only the library; slabcast-cuda, which holds the
 * kernels, lies beside it. A cudaStream_t is a CUstream. Pointers of the CUDA runtime, PyTorch, CuPy, JAX or Warp are
 * device pointers of the card's primary context: with NULL as context they are passed as they are.
 *
 * Everything that slabcast.h states applies. With several devices, calls here use the context's first. The caller keeps
 * its objects until the slab_context is destroyed and all enqueued work has ended. In slab_context_create_cuda a NULL
 * stream is one of the library's own. In all other calls it is CUDA's default stream. */
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
 * - CUcontext (first parameter): NULL: the primary context of the card that is current on this thread, else of the
 *   first.
 * - stream: the calls of slabcast.h run on it, and wait for their own commands. NULL: a stream of the library's own.
 * - options: as in slab_context_create; `device` is ignored.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: the stream is of another context, or an option is out of range.
 * - SLAB_UNSUPPORTED: the card is too old (compute capability 6.0 is needed), or the options have SLAB_LAYOUT_WIDE or a
 *   lane_width above 1.
 * - SLAB_NO_DEVICE: there is no driver, no card or no slabcast-cuda.
 * - SLAB_INVALID_STATE: this process was forked from one that had used OpenCL or CUDA through the library (slabcast.h).
 *   Where that process had used CUDA by itself, the status is SLAB_NO_DEVICE. */
SLAB_API slab_status slab_context_create_cuda(struct CUctx_st *, struct CUstream_st *stream,
                                              const slab_context_options *, slab_context **context);

/** Gives the CUDA context of a slab_context, and the number of its card. Either pointer may be NULL. The CUDA context
 * is valid until the slab_context is destroyed. Any thread may call. SLAB_UNSUPPORTED: the first device is not a card
 * by CUDA. */
SLAB_API slab_status slab_context_card(const slab_context *, struct CUctx_st **cuda, int *card);

/** One cast over device memory that the scene's context can read: of cuMemAlloc, of a memory pool, or managed. Pointers
 * are aligned to 4 bytes, the results of SLAB_ANY to 1. The host does not read the arrays. Rays count from the scene's
 * origin (slab_scene_origin). Sets, rays in double and results of rows have no place here.
 *
 * Where `counted` is not NULL it has the number of rays; a number above `count` is taken as `count`. All arrays still
 * have `count` entries. Results from that number on stay as they are, and invalid rays there are not counted. For
 * SLAB_ALL, offsets after offsets[number] are not read. */
typedef struct slab_cuda_batch {
  slab_query query;        /**< which query to run */
  size_t count;            /**< number of rays, below 2^32 - 64; 0 is allowed */
  const slab_ray *rays;    /**< `count` rays */
  void *results;           /**< `count` results of the query's type; for SLAB_ALL the hits of all rays */
  const uint32_t *offsets; /**< SLAB_ALL only: count + 1 numbers. offsets[i] is the number of hits of the rays before i,
                              each ray's number being that of SLAB_COUNT, but at most max_hits. The call cannot check
                              them: other numbers are undefined behaviour */
  const slab_primitive_id *skip; /**< `count` entries, as in slab_cast_options; NULL: none */
  uint32_t *invalid; /**< one number, to which the cast adds that of invalid rays: the caller sets it before; NULL: not
                        wanted */
  uint32_t mask;     /**< as in slab_cast_options; 0: all bits */
  slab_cull cull;    /**< as in slab_cast_options */
  int face_forward;  /**< as in slab_cast_options */
  slab_edges edges;  /**< as in slab_cast_options */
  uint32_t max_hits; /**< SLAB_ALL only: lists at most the first max_hits hits of a ray; 0: all */
  const uint32_t *counted;     /**< the number of rays, read when the cast runs (see above); NULL: it is `count` */
  const uint32_t *masks;       /**< `count` entries, as in slab_cast_options; mask must be 0 then; NULL: none */
  const slab_short_hit *after; /**< `count`, as in slab_cast_options; a t of NaN makes the ray invalid; NULL: none */
  const uint32_t *worlds; /**< `count` entries, as in slab_cast_options; a ray of a world that the scene does not have
                             is invalid; NULL: none */
} slab_cuda_batch;

/** Enqueues one cast after the work on a stream, and returns. The results equal those of the call of slabcast.h bit for
 * bit.
 * - stream: of the scene's CUDA context; NULL: CUDA's default stream.
 *
 * The call only blocks to load a kernel that was not used before. The cast is one launch. It answers the last commit,
 * and must have ended before the scene is committed again or destroyed. Several threads may enqueue at once.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: a pointer is NULL, not aligned or not memory that the card reaches.
 * - SLAB_INVALID_ARGUMENT: there are too many rays, an option is refused (slab_cast_options), or the stream is of
 *   another context.
 * - SLAB_UNSUPPORTED: the scene is not on a card by CUDA.
 * - SLAB_BUILD_FAILED: the driver could not load the kernel. */
SLAB_API slab_status slab_enqueue_cuda(slab_scene *, const slab_cuda_batch *, struct CUstream_st *stream);

/** @name Kernels of your own
 * Kernels of a slab_program, by CUDA.
 * @{ */

/** Gives a kernel of the program, which is valid until the program is destroyed. Any thread may call.
 * - name: as in the source, where `extern "C"` keeps it from being mangled.
 *
 * Errors:
 * - SLAB_INVALID_ARGUMENT: the program has no kernel of that name.
 * - SLAB_UNSUPPORTED: the program is not on a card by CUDA. */
SLAB_API slab_status slab_program_function(slab_program *, const char *name, struct CUfunc_st **function);

/** The largest number of parameters that SLAB_SCENE_PARAMETERS can be. */
#define SLAB_SCENE_PARAMETERS_MOST 10

/** Binds a kernel of slab_program_function to the scene as of its last commit. It fills in the start of an array for
 * cuLaunchKernel; the caller appends the addresses of the kernel's other parameters.
 * - parameters: space for SLAB_SCENE_PARAMETERS_MOST addresses. The first *count become those of the values of
 *   SLAB_SCENE_PARAMETERS, in order. Where these are not the kernel's first parameters, pass the address of their
 *   place.
 * - count (may be NULL): receives their number, SLAB_SCENE_ARGUMENTS.
 *
 * The values, and the device memory behind them, stay as they are, whatever is committed or destroyed, until the kernel
 * is bound again or its program is destroyed. After a commit bind it again, to see that. Do not bind a kernel while
 * another thread binds or launches it.
 *
 * Errors:
 * - SLAB_INVALID_STATE: before commit.
 * - SLAB_INVALID_ARGUMENT: the kernel is not of slab_program_function, or is of another context than the scene.
 * - SLAB_INVALID_ARGUMENT: the kernel was built for scenes that are not like this one. The message says how they
 *   differ.
 * - SLAB_UNSUPPORTED: the scene is not on a card by CUDA. */
SLAB_API slab_status slab_scene_bind_cuda(slab_scene *, struct CUfunc_st *kernel, void **parameters, unsigned *count);
/** @} */

/** @name Changing geometry
 * The updates of slabcast.h, from device memory as in slab_cuda_batch. Coordinates count from the scene's origin.
 * - geometry: as there.
 * - shapes: n values.
 * - stream: of the scene's CUDA context; the arrays are read after the work on it. NULL: CUDA's default stream.
 *
 * The calls return when the arrays are read: the caller may write them again at once. The values are then checked and
 * kept in host memory as by slabcast.h. One thread at a time builds a scene. Ranges of primitives or vertices have no
 * call here.
 *
 * Errors, besides those of slabcast.h, after which the scene is as it was:
 * - SLAB_INVALID_ARGUMENT: a pointer is NULL, not aligned to 4 bytes, or its first or last byte is not in memory that
 *   the card reaches.
 * - SLAB_INVALID_ARGUMENT: the stream is of another context.
 * - SLAB_UNSUPPORTED: the scene is not on a card by CUDA.
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
 * On a context with one card the card keeps a copy of the vertices until the commit. At a commit after which only
 * meshes were updated so, in a scene that has only triangles, the card refits the BVH itself. Then nothing of the BVH
 * is uploaded. Else the host does the work. A second update before a commit frees the first one's copy; for that the
 * driver waits until the card is idle. */
SLAB_API slab_status slab_scene_update_mesh_cuda(slab_scene *, uint32_t geometry, const slab_mesh *,
                                                 struct CUstream_st *stream);
/** Replaces the transforms of all n instances of a call. transforms: n times 12, as in slab_scene_update_instances, in
 * device memory. */
SLAB_API slab_status slab_scene_update_instances_cuda(slab_scene *, uint32_t geometry, const float *transforms,
                                                      uint32_t n, struct CUstream_st *stream);
/** Replaces the transforms of n of a geometry's instances, as slab_scene_update_some_instances does.
 * - indices: n. transforms: n times 12. Both are in device memory. */
SLAB_API slab_status slab_scene_update_some_instances_cuda(slab_scene *, uint32_t geometry, const uint32_t *indices,
                                                           const float *transforms, uint32_t n,
                                                           struct CUstream_st *stream);
/** Replaces the transforms of all instances of `count` calls, or of none after an error, as slab_scene_move_instances
 * does.
 * - geometries: `count` ids, in host memory.
 * - transforms: n times 12 in device memory, in the order of geometries. */
SLAB_API slab_status slab_scene_move_instances_cuda(slab_scene *, const uint32_t *geometries, uint32_t count,
                                                    const float *transforms, uint32_t n, struct CUstream_st *stream);
/** @} */
/** @} */

#ifdef __cplusplus
}
#endif
#endif
