/* One launch of a cast. */
#ifndef SLABCAST_GPU_LAUNCH_H
#define SLABCAST_GPU_LAUNCH_H

#include <stdbool.h>

#include "data/types.h"
#include "gpu/gpu.h"
#include "gpu/program_key.h"
#include "record/snapshot.h"
#include "slabcast.h"

typedef struct launch {
  gpu_buffer *rays, *results, *offsets, *skips, *invalid; /* NULL where the query or the options need none */
  gpu_buffer *masks, *after, *worlds;                     /* of rays' own */
  gpu_buffer *radii;                                      /* of points, which are in place of rays */
  gpu_buffer
      *fallback;      /* a byte per packet: whether its rays are still to be cast; NULL unless uniforms.packet is set */
  gpu_buffer *sorted; /* BVHs: indices of the rays in the order in which they are cast; NULL: in their given order */
  gpu_buffer *counted; /* the number of rays, uniforms.rays at most; NULL: that many */
  uint32_t counted_at; /* where in it, in units of 4 bytes */
  bool interleaved;    /* BVHs: work-items cast interleaved rays */
  bool deferred;       /* launch_attributes computes the attributes afterwards */
  bool first_use;      /* output: some kernel was used for the first time; a driver may finish compiling it only then */
  cast_uniforms uniforms;
} launch;

/* Launches a query of points. query: point_programs'. radius: where they have none of their own. */
slab_status launch_points(const device_scene *, slab_query query, float radius, launch *, gpu_queue *, gpu_order);
/* Adds the terms of a boundary to the results of launch_points, on the same queue, which must be in order. tables: the
 * call's. */
slab_status launch_boundary(const device_scene *, const boundary *, const void *tables, launch *, gpu_queue *,
                            gpu_order);
/* Rays per packet; 0 where this query on this scene has no packets. */
uint32_t launch_packet(const device_scene *, slab_query);
/* Rays that the work-items of launch_enqueue walk at once. */
uint32_t launch_walkers(const device_scene *, const launch *);
/* Launches the main or the interleaved kernel. Sets rays_each, as launch_packets does. */
slab_status launch_enqueue(const device_scene *, slab_query, launch *, gpu_queue *, gpu_order);
/* Whether launches of this query may leave the attributes of hits to launch_attributes. */
bool launch_defers(const device_scene *, slab_query);
/* Computes the attributes of the closest hits that launch_enqueue found, on the same queue, which must be in order. */
slab_status launch_attributes(const device_scene *, slab_query, launch *, gpu_queue *, gpu_order);
/* Casts the packets whose rays agree, and marks the others in launch.fallback. launch_enqueue then casts those, on the
 * same queue, which must be in order. */
slab_status launch_packets(const device_scene *, slab_query, launch *, gpu_queue *, gpu_order);
/* The key of kernels of the user's that trace rays of a scene, in any query. Then the scene's buffers in the order of
 * their parameters, after the uniforms. Returns the number of buffers. */
program_key launch_trace_key(const device_scene *);
uint32_t launch_trace_buffers(const device_scene *, gpu_buffer *list[1 + 2 * SCENE_BUFFERS]);

#endif
