/* Staging buffers, which a device keeps between the chunks that pass through it. */
#ifndef SLABCAST_GPU_STAGING_H
#define SLABCAST_GPU_STAGING_H

#include "gpu/gpu.h"
#include "record/chunk.h"

/* The arrays in host memory that a chunk reads and writes. */
typedef enum part {
  PART_RAYS,
  PART_RESULTS,
  PART_SUMS,
  PART_OFFSETS,
  PART_SKIPS,
  PART_MASKS,
  PART_AFTER,
  PART_WORLDS,
  PART_RADII,
  PART_SORTED,
  PARTS
} part;

/* Device memory for arrays that cannot be used in place, and pinned host memory of the same size that copies go
 * through. From pageable memory a GPU copies at half the bus speed, and the copy blocks the calling thread. */
typedef struct staging {
  gpu_buffer *buffer;
  size_t size;
  gpu_buffer *host; /* NULL: no pinned memory, copies are direct */
  void *pinned;     /* mapping of `host`, until that is released */
  bool was_asked;   /* whether pinned memory of this size was requested */
} staging;

struct staging_buffers {
  staging_buffers *next;
  gpu_queue *queue;      /* in order, for transfers; the device's own queue where nothing is copied */
  staging staged[PARTS]; /* used where the caller's memory cannot be used in place */
  gpu_buffer *invalid;   /* counts invalid rays */
  gpu_buffer *fallback;  /* a byte per packet: whether its rays are still to be cast */
  size_t fallback_size;
};

/* Staging buffers that no other chunk uses, until they are given back. */
slab_status staging_buffers_take(device *, staging_buffers **taken);
void staging_buffers_give_back(device *, staging_buffers *);
/* The list that starts here. */
void staging_buffers_free_all(const device *, staging_buffers *);
/* Makes space for `size` bytes in staged[part]; direct: without pinned memory, else with it where there is some. */
slab_status staging_reserve(const device *, staging_buffers *, part, size_t size, bool direct, const char *what);

#endif
