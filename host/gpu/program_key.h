/* Which program of the kernels is meant, and its specialisation. */
#ifndef SLABCAST_GPU_PROGRAM_KEY_H
#define SLABCAST_GPU_PROGRAM_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "record/device.h"
#include "slabcast.h"

typedef enum program_source {
  PROGRAM_FLAT,
  PROGRAM_WIDE,
  PROGRAM_COMPRESSED,
  PROGRAM_PACKET,
  PROGRAM_ATTRIBUTES,
  PROGRAM_PAIRS,
  PROGRAM_RAYS,
  PROGRAM_SUMS,
  PROGRAM_BOUNDARY,
  PROGRAM_POINTS_FLAT,
  PROGRAM_POINTS_WIDE,
  PROGRAM_POINTS_COMPRESSED,
  PROGRAM_REFIT
} program_source;

/* The parameters that a program is specialised for. */
typedef struct program_key {
  program_source source;
  slab_query query;
  uint32_t kinds; /* bit k: slab_shape k */
  uint32_t stack; /* entries of the traversal stack, for BVHs */
  bool deferred;  /* PROGRAM_WIDE: PROGRAM_ATTRIBUTES computes the attributes of closest hits later */
  bool cut;       /* the scene is split over several buffers */
  bool instances; /* PROGRAM_WIDE: the scene has some */
  bool own;       /* rays have masks, worlds or hits to begin after of their own */
  bool closed;    /* programs of one kind of edges: triangles have closed ones */
  bool counted;   /* a buffer holds the number of rays; of PROGRAM_FLAT, PROGRAM_WIDE and PROGRAM_COMPRESSED */
} program_key;

/* The kernels of PROGRAM_WIDE and of PROGRAM_REFIT; other programs have one. */
enum { KERNEL_MAIN, KERNEL_INTERLEAVED };
enum { KERNEL_PLACES, KERNEL_TRIANGLES, KERNEL_NODES, PROGRAM_KERNELS };

/* Whether there is one program of it for all scenes: it reads none. */
static inline bool program_is_alone(program_source source) {
  return source == PROGRAM_PAIRS || source == PROGRAM_RAYS || source == PROGRAM_SUMS || source == PROGRAM_BOUNDARY;
}

/* The nth kernel's name. */
const char *program_kernel_name(program_source, uint32_t nth);
/* Primitives per block that a program reads. */
uint32_t program_lanes(const device *, program_source);
/* Whether a program is for half open edges or for closed ones: at one lane, as GPUs get it. Others are for both. */
bool program_has_one_edges(const device *, program_source);

#endif
