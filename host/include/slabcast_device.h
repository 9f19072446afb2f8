/** @file
 * Kernels of your own that trace rays: functions for the device, in OpenCL C and in CUDA C++.
 *
 * slab_program_create gives this header to the compiler of kernels, in memory, with the functions that it declares, for
 * the scene at hand: no file is needed, and no -I. A kernel takes the scene as its first parameters, or from some
 * parameter on:
 *
 *     #include <slabcast_device.h>
 *     kernel void sky(SLAB_SCENE_PARAMETERS, const global float4 *points, global float *open_share) {
 *       SLAB_SCENE(scene);
 *       const slab_ray ray = slab_ray_of(points[get_global_id(0)].xyz, 0.0f, (float3)(0.0f, 0.0f, 1.0f), INFINITY);
 *       open_share[get_global_id(0)] = slab_trace_any(&scene, &ray) ? 0.0f : 1.0f;
 *     }
 *
 * In CUDA C++ it begins with `extern "C" __global__ void sky(SLAB_SCENE_PARAMETERS, const float4 *points, ...`.
 *
 * The host sets them by slab_scene_bind (slabcast_cl.h) or slab_scene_bind_cuda (slabcast_cuda.h). Answers have the
 * bits that a cast of the same ray from an array has.
 *
 * Names begin with slab_ or SLAB_. On the host this file has the types alone. */
#ifndef SLABCAST_DEVICE_H
#define SLABCAST_DEVICE_H

#include "slabcast_types.h"

/** Changes where a kernel that compiled before may not compile any more. */
#define SLAB_DEVICE_VERSION 1

/** @defgroup device Rays from your own kernels
 * @{ */

/** How one ray is traced: as slab_cast_options has it for a cast. slab_trace_defaults() gives the defaults; all members
 * zero would skip primitive 0 of geometry 0. */
typedef struct slab_trace_options {
  uint32_t mask;          /**< sees geometries with a common bit; 0: all */
  slab_cull cull;         /**< not of slab_trace_interval */
  slab_edges edges;       /**< of triangles */
  uint32_t face_forward;  /**< 1: normals face the ray's origin */
  slab_primitive_id skip; /**< a primitive that the ray does not see; SLAB_MISS in both: none */
  uint32_t world;         /**< that the ray sees beside what belongs to all; 0: none. One that the scene does not have
                             makes the ray invalid */
} slab_trace_options;

#ifdef SLAB_VIEW_WORDS /* on the device */

#ifdef __OPENCL_C_VERSION__
#define SLAB_FUNCTION static
#define SLAB_GLOBAL global
#else
#define SLAB_FUNCTION static __device__
#define SLAB_GLOBAL
#ifndef INFINITY /* as OpenCL C has them */
#define INFINITY __int_as_float(0x7F800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7FFFFFFF)
#endif
#endif

/* ---- the scene ---- */

/* The uniforms of a cast, by value. */
typedef struct slab_view_cast {
  uint32_t words[SLAB_VIEW_WORDS];
} slab_view_cast;

/** A scene as a kernel has it. Its members are the library's own. */
typedef struct slab_view {
  const SLAB_GLOBAL void *table;
  const SLAB_GLOBAL float *blocks[SLAB_VIEW_BUFFERS];
  const SLAB_GLOBAL void *nodes[SLAB_VIEW_BUFFERS];
  const slab_view_cast *cast;
} slab_view;

/** The kernel's parameters that are the scene. SLAB_SCENE_ARGUMENTS: their number. */
#if SLAB_VIEW_BUFFERS == 1
#define SLAB_SCENE_ARGUMENTS 4
#define SLAB_SCENE_PARAMETERS                                                                                 \
  const slab_view_cast slab_cast, const SLAB_GLOBAL void *slab_table, const SLAB_GLOBAL float *slab_blocks_0, \
      const SLAB_GLOBAL void *slab_nodes_0
/** Declares the scene as `name`, at the kernel's begin. */
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

/** A ray from its parts. */
SLAB_FUNCTION inline slab_ray slab_ray_of(float3 origin, float t_min, float3 direction, float t_max) {
  const slab_ray ray = {{origin.x, origin.y, origin.z}, t_min, {direction.x, direction.y, direction.z}, t_max};
  return ray;
}

/** No mask, no culling, half open edges, nothing skipped, normals outward, no world. */
SLAB_FUNCTION inline slab_trace_options slab_trace_defaults(void) {
  const slab_trace_options options = {0, SLAB_CULL_NONE, SLAB_EDGES_HALF_OPEN, 0, {SLAB_MISS, SLAB_MISS}, 0};
  return options;
}

/** The place before all hits, at which a walk begins: (-inf, SLAB_MISS, SLAB_MISS). */
SLAB_FUNCTION inline slab_short_hit slab_trace_begin(void) {
  const slab_short_hit begin = {-INFINITY, SLAB_MISS, SLAB_MISS};
  return begin;
}

/* For the definitions: `mask` is a name of theirs. */
SLAB_FUNCTION inline uint32_t slab_trace_mask(const slab_trace_options *options) {
  return options->mask == 0 ? 0xFFFFFFFFu : options->mask;
}

/* ---- tracing: those of the program's queries ---- */

#if SLAB_QUERIES >> 0 & 1 /* SLAB_CLOSEST */
/** The closest hit. */
SLAB_FUNCTION slab_hit slab_trace_closest(const slab_view *, const slab_ray *);
/** The same, with options. */
SLAB_FUNCTION slab_hit slab_trace_closest_with(const slab_view *, const slab_ray *, const slab_trace_options *);
#endif
#if SLAB_QUERIES >> 1 & 1 /* SLAB_DISTANCE and SLAB_NEAREST */
/** t of the closest hit, +inf on a miss. */
SLAB_FUNCTION float slab_trace_distance(const slab_view *, const slab_ray *);
/** The same, with options. */
SLAB_FUNCTION float slab_trace_distance_with(const slab_view *, const slab_ray *, const slab_trace_options *);
/** t, primitive and geometry of the closest hit. */
SLAB_FUNCTION slab_short_hit slab_trace_nearest(const slab_view *, const slab_ray *);
/** The same, with options. */
SLAB_FUNCTION slab_short_hit slab_trace_nearest_with(const slab_view *, const slab_ray *, const slab_trace_options *);
#endif
#if SLAB_QUERIES >> 2 & 1 /* SLAB_ANY */
/** Whether anything is hit. */
SLAB_FUNCTION bool slab_trace_any(const slab_view *, const slab_ray *);
/** The same, with options. */
SLAB_FUNCTION bool slab_trace_any_with(const slab_view *, const slab_ray *, const slab_trace_options *);
#endif
#if SLAB_QUERIES >> 3 & 1 /* SLAB_COUNT */
/** The number of primitives that are hit. */
SLAB_FUNCTION uint32_t slab_trace_count(const slab_view *, const slab_ray *);
/** The same, with options. */
SLAB_FUNCTION uint32_t slab_trace_count_with(const slab_view *, const slab_ray *, const slab_trace_options *);
#endif
#if SLAB_QUERIES >> 4 & 1 /* SLAB_ALL */
/** Walks all hits of a ray, in the order of slab_all, and stores none: *hit becomes what follows it by (t, geometry,
 * primitive). It begins with slab_trace_begin(). False, and a miss in *hit, where nothing follows. A hit whose t is NaN
 * makes the ray invalid. */
SLAB_FUNCTION bool slab_trace_next(const slab_view *, const slab_ray *, slab_short_hit *hit);
/** The same, with options. */
SLAB_FUNCTION bool slab_trace_next_with(const slab_view *, const slab_ray *, const slab_trace_options *,
                                        slab_short_hit *hit);
#endif
#if SLAB_QUERIES >> 5 & 1 /* SLAB_INTERVAL */
/** The interval of the primitive that is entered first. */
SLAB_FUNCTION slab_interval slab_trace_interval(const slab_view *, const slab_ray *);
/** The same, with options. */
SLAB_FUNCTION slab_interval slab_trace_interval_with(const slab_view *, const slab_ray *, const slab_trace_options *);
#endif

#endif
/** @} */
#endif
