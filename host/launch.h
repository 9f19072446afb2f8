/* One launch of a cast. */
#ifndef SLABCAST_LAUNCH_H
#define SLABCAST_LAUNCH_H

#include <stdbool.h>

#include "scene.h"
#include "slabcast.h"
#include "types.h"

/* The largest group size in tuning.c, in work-items. */
#define WORK_GROUP 64

typedef struct launch {
  cl_mem rays, results, offsets, skips, invalid; /* NULL where the query or the options need none */
  cl_mem fallback;  /* a byte per packet: whether its rays are still to be cast; NULL unless uniforms.packet is set */
  cl_mem sorted;    /* BVHs: indices of the rays in the order in which they are cast; NULL: in their given order */
  bool interleaved; /* BVHs: work-items cast interleaved rays */
  bool deferred;    /* launch_attributes computes the attributes afterwards */
  bool first_use;   /* output: some kernel was used for the first time; a driver may finish compiling it only then */
  cast_uniforms uniforms;
} launch;

/* The uniforms of a cast with these options (NULL: none), without the number of rays. */
cast_uniforms cast_uniforms_of(const slab_scene *, const slab_cast_options *);
slab_status check_cull(const char *function, slab_cull);
/* Rays that the work-items of launch_enqueue have in flight together; and the largest share of the rays that this can
 * be. */
uint32_t launch_in_flight(const device_scene *, const launch *);
double launch_in_flight_each(const device_scene *);
/* Launches the main or the interleaved kernel. Sets rays_each, as launch_packets does. */
slab_status launch_enqueue(const device_scene *, slab_query, launch *, cl_command_queue, cl_uint wait_count,
                           const cl_event *wait, cl_event *done);
/* Whether the scene has a wide BVH, to which slab_traversal applies. */
bool has_traversals(const device_scene *);
/* Rays per packet; 0 where this query on this scene has no packets. */
uint32_t packet_rays(const device_scene *, slab_query);
/* Traversals that a cast may choose from: bit t for slab_traversal t. SLAB_TRAVERSAL_SINGLE is always available; others
 * where the device supports them and their kernels pay by now. */
uint32_t launch_traversals(const device_scene *, slab_query);
/* Whether launches of this query may leave the attributes of hits to launch_attributes. */
bool defers_attributes(const device_scene *, slab_query);
/* Computes the attributes of the closest hits that launch_enqueue found, on the same queue, which must be in order. */
slab_status launch_attributes(const device_scene *, slab_query, launch *, cl_command_queue, cl_event *done);
/* Casts the packets whose rays agree, and marks the others in launch.fallback. launch_enqueue then casts those, on the
 * same queue, which must be in order. */
slab_status launch_packets(const device_scene *, slab_query, launch *, cl_command_queue, cl_uint wait_count,
                           const cl_event *wait, cl_event *done);

#endif
