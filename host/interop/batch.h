/* A cast over the caller's device memory: the code that slab_enqueue and slab_enqueue_cuda share. */
#ifndef SLABCAST_INTEROP_BATCH_H
#define SLABCAST_INTEROP_BATCH_H

#include "gpu/launch.h"
#include "slabcast.h"

/* Spans of the caller's memory begin at a multiple of so many bytes. */
#define SPAN_UNIT 4

/* Checks a batch's query and options, without its memory. */
slab_status batch_check(const char *function, slab_query, size_t count, slab_cull, slab_edges);
/* Enqueues it. launch: has the buffers, and where in them the spans begin (uniforms.at). */
slab_status batch_enqueue(slab_scene *, const char *function, slab_query, size_t count, const slab_cast_options *,
                          launch *, gpu_queue *, gpu_order);

#endif
