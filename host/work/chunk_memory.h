/* Host memory that a chunk takes on any device, from its begin to its end. */
#ifndef SLABCAST_WORK_CHUNK_MEMORY_H
#define SLABCAST_WORK_CHUNK_MEMORY_H

#include "data/types.h"
#include "record/chunk.h"
#include "record/device.h"
#include "slabcast.h"
#include "work/hit_batch.h"
#include "work/uniforms.h"

/* NULL where the chunk has none. All zero before the first begin. */
typedef struct chunk_memory {
  uint32_t *offsets; /* SLAB_ALL: where the hits of each ray are, relative to the chunk's first hit */
  uint32_t *sorted;  /* the rays in the order in which they are cast */
  hit_batch *batch;  /* the collected hits; the caller may take them at the end */
} chunk_memory;

/* The offsets of a chunk of SLAB_ALL whose numbers of hits are known. */
slab_status chunk_memory_offsets(chunk_memory *, const cast *, const chunk *);
/* Sorts the chunk's rays. */
slab_status chunk_memory_sort(chunk_memory *, const cast *, const chunk *, const slab_ray *rays, uint32_t threads);
/* Space for hits that are collected, whose number is not known yet. The uniforms get it, for the kernels. walks: the
 * lists that they have in progress at once. */
slab_status chunk_memory_hits(chunk_memory *, device *, const chunk *, uint32_t walks, cast_uniforms *);
void chunk_memory_free(chunk_memory *);

/* Size of the array that notes which packets have left rays: a byte each. */
static inline size_t fallback_size(uint32_t rays, uint32_t packet) { return rays / packet + 1; }

#endif
