/** @file
 * Kernels of your own that trace rays: functions for the device, in OpenCL C and in CUDA C++.
 *
 * slab_program_create supplies this header: it needs no file and no -I. A kernel has SLAB_SCENE_PARAMETERS among its
 * parameters, first or later. This one has a work-item for each point, and needs `queries` 1u << SLAB_ANY:
 *
 *     #include <slabcast_device.h>
 *     kernel void sky(SLAB_SCENE_PARAMETERS, const global float4 *points, global float *open_share) {
 *       SLAB_SCENE(scene);
 *       const slab_ray ray = slab_ray_of(points[get_global_id(0)].xyz, 0.0f, (float3)(0.0f, 0.0f, 1.0f), INFINITY);
 *       open_share[get_global_id(0)] = slab_trace_any(&scene, &ray) ? 0.0f : 1.0f;
 *     }
 *
 * In CUDA C++ it begins with `extern "C" __global__ void sky(SLAB_SCENE_PARAMETERS, const float3 *points, ...)`. The
 * host sets the scene's parameters with slab_scene_bind or slab_scene_bind_cuda; docs/use.md has it in full.
 * - Results have the bits of slab_enqueue. Rays are relative to the scene's origin (slab_scene_origin).
 * - The functions have no barriers and use no local memory, so work-items may call them in any control flow.
 * - On OpenCL, pointers to rays, options and hits must point to private memory.
 *
 * Names begin with slab_ or SLAB_. On the host this file has only the types. */
#ifndef SLABCAST_DEVICE_H
#define SLABCAST_DEVICE_H

#include "slabcast_types.h"

/** Increases when a kernel that compiled before may no longer compile. */
#define SLAB_DEVICE_VERSION 1

/** @defgroup device Rays from your own kernels
 * @{ */

/** How one ray is traced, as in slab_cast_options. Begin with slab_trace_defaults(): zeros would skip primitive 0 of
 * geometry 0. */
typedef struct slab_trace_options {
  uint32_t mask;          /**< 0: all bits */
  slab_cull cull;         /**< as there */
  slab_edges edges;       /**< as there */
  uint32_t face_forward;  /**< 0 or 1 */
  slab_primitive_id skip; /**< a plane or triangle that the ray does not see; SLAB_MISS in both: none */
  uint32_t world; /**< the ray sees geometries of this world and of world 0. A world that the scene lacks makes the ray
                     invalid */
} slab_trace_options;

#ifdef SLAB_VIEW_WORDS /* on the device */

#ifdef __OPENCL_C_VERSION__
#define SLAB_FUNCTION static
#define SLAB_GLOBAL global
#else
#define SLAB_FUNCTION static __device__
#define SLAB_GLOBAL
#ifndef INFINITY
#define INFINITY __int_as_float(0x7F800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7FFFFFFF)
#endif
#endif

/* ---- the scene ---- */

/* The library's own. */
typedef struct slab_view_cast {
  uint32_t words[SLAB_VIEW_WORDS];
} slab_view_cast;

/** The scene inside a kernel. Its members are private. The kernel may pass a pointer to it to functions. */
typedef struct slab_view {
  const SLAB_GLOBAL void *table;
  const SLAB_GLOBAL float *blocks[SLAB_VIEW_BUFFERS];
  const SLAB_GLOBAL void *nodes[SLAB_VIEW_BUFFERS];
  const slab_view_cast *cast;
} slab_view;

/** The kernel's parameters that describe the scene. SLAB_SCENE_ARGUMENTS is their number: 4, or 10 where an array of
 * the scene is split over buffers. */
#if SLAB_VIEW_BUFFERS == 1
#define SLAB_SCENE_ARGUMENTS 4
#define SLAB_SCENE_PARAMETERS                                                                                 \
  const slab_view_cast slab_cast, const SLAB_GLOBAL void *slab_table, const SLAB_GLOBAL float *slab_blocks_0, \
      const SLAB_GLOBAL void *slab_nodes_0
/** Declares the scene as `name`, at the start of the kernel. */
#define SLAB_SCENE(name) const slab_view name = {slab_table, {slab_blocks_0}, {slab_nodes_0}, &slab_cast}
#else
#define SLAB_SCENE_ARGUMENTS 10
#define SLAB_SCENE_PARAMETERS                                                                                 \
  const slab_view_cast slab_cast, const SLAB_GLOBAL void *slab_table, const SLAB_GLOBAL float *slab_blocks_0, \
      const SLAB_GLOBAL float *slab_blocks_1, const SLAB_GLOBAL float *slab_blocks_2,                         \
      const SLAB_GLOBAL float *slab_blocks_3, const SLAB_GLOBAL void *slab_nodes_0,                           \
      const SLAB_GLOBAL void *slab_nodes_1, const SLAB_GLOBAL void *slab_nodes_2, const SLAB_GLOBAL void *slab_nodes_3
#define SLAB_SCENE(name)                                                                \
  const slab_view name = {slab_table,                                                   \
                          {slab_blocks_0, slab_blocks_1, slab_blocks_2, slab_blocks_3}, \
                          {slab_nodes_0, slab_nodes_1, slab_nodes_2, slab_nodes_3},     \
                          &slab_cast}
#endif

/* ---- rays ---- */

/** Returns a ray from its parts, in the order of slab_ray's members. */
SLAB_FUNCTION inline slab_ray slab_ray_of(float3 origin, float t_min, float3 direction, float t_max) {
  const slab_ray ray = {{origin.x, origin.y, origin.z}, t_min, {direction.x, direction.y, direction.z}, t_max};
  return ray;
}

/** Returns the defaults: all masks, no culling, half open edges, normals not turned, nothing skipped, world 0. */
SLAB_FUNCTION inline slab_trace_options slab_trace_defaults(void) {
  const slab_trace_options options = {0, SLAB_CULL_NONE, SLAB_EDGES_HALF_OPEN, 0, {SLAB_MISS, SLAB_MISS}, 0};
  return options;
}

/** Returns the start of a walk (slab_trace_next), before all hits. */
SLAB_FUNCTION inline slab_short_hit slab_trace_begin(void) {
  const slab_short_hit begin = {-INFINITY, SLAB_MISS, SLAB_MISS};
  return begin;
}

/* The library's own. */
SLAB_FUNCTION inline uint32_t slab_trace_mask(const slab_trace_options *options) {
  return options->mask == 0 ? 0xFFFFFFFFu : options->mask;
}

/* ---- tracing: functions of the queries that slab_program_create was given; those in _with take options ---- */

#if SLAB_QUERIES >> 0 & 1 /* SLAB_CLOSEST */
/** Returns the closest hit, or a miss (slab_hit). */
SLAB_FUNCTION slab_hit slab_trace_closest(const slab_view *, const slab_ray *);
/** With options. */
SLAB_FUNCTION slab_hit slab_trace_closest_with(const slab_view *, const slab_ray *, const slab_trace_options *);
#endif
#if SLAB_QUERIES >> 1 & 1 /* SLAB_DISTANCE and SLAB_NEAREST */
/** Returns t of the closest hit; else +inf. The bit of SLAB_DISTANCE or of SLAB_NEAREST gives this and the next. */
SLAB_FUNCTION float slab_trace_distance(const slab_view *, const slab_ray *);
/** With options. */
SLAB_FUNCTION float slab_trace_distance_with(const slab_view *, const slab_ray *, const slab_trace_options *);
/** Returns t, primitive and geometry of the closest hit. */
SLAB_FUNCTION slab_short_hit slab_trace_nearest(const slab_view *, const slab_ray *);
/** With options. */
SLAB_FUNCTION slab_short_hit slab_trace_nearest_with(const slab_view *, const slab_ray *, const slab_trace_options *);
#endif
#if SLAB_QUERIES >> 2 & 1 /* SLAB_ANY */
/** Returns whether the ray hits anything. */
SLAB_FUNCTION bool slab_trace_any(const slab_view *, const slab_ray *);
/** With options. */
SLAB_FUNCTION bool slab_trace_any_with(const slab_view *, const slab_ray *, const slab_trace_options *);
#endif
#if SLAB_QUERIES >> 3 & 1 /* SLAB_COUNT */
/** Returns the number of primitives that the ray hits. */
SLAB_FUNCTION uint32_t slab_trace_count(const slab_view *, const slab_ray *);
/** With options. */
SLAB_FUNCTION uint32_t slab_trace_count_with(const slab_view *, const slab_ray *, const slab_trace_options *);
#endif
#if SLAB_QUERIES >> 4 & 1 /* SLAB_ALL */
/** Walks all hits of a ray, in the order of slab_all, and stores none. *hit begins as slab_trace_begin(). Each call
 * traces the ray anew, and sets *hit to the hit that follows it by (t, geometry, primitive). Where none follows it
 * returns false, and *hit has SLAB_MISS or SLAB_INVALID. A *hit whose t is NaN makes the ray invalid. */
SLAB_FUNCTION bool slab_trace_next(const slab_view *, const slab_ray *, slab_short_hit *hit);
/** With options. */
SLAB_FUNCTION bool slab_trace_next_with(const slab_view *, const slab_ray *, const slab_trace_options *,
                                        slab_short_hit *hit);
#endif
#if SLAB_QUERIES >> 5 & 1 /* SLAB_INTERVAL */
/** Returns the part of the ray inside the first solid, or a miss (slab_interval). */
SLAB_FUNCTION slab_interval slab_trace_interval(const slab_view *, const slab_ray *);
/** With options. */
SLAB_FUNCTION slab_interval slab_trace_interval_with(const slab_view *, const slab_ray *, const slab_trace_options *);
#endif

#endif
/** @} */
#endif
