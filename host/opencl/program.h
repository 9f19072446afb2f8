/* Kernels, built once for each specialisation. */
#ifndef SLABCAST_OPENCL_PROGRAM_H
#define SLABCAST_OPENCL_PROGRAM_H

#include <stdbool.h>

#include "opencl/opencl.h"
#include "slabcast.h"

typedef enum program_source {
  PROGRAM_FLAT,
  PROGRAM_WIDE,
  PROGRAM_COMPRESSED,
  PROGRAM_PACKET,
  PROGRAM_ATTRIBUTES,
  PROGRAM_PAIRS,
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
  bool closed;    /* programs of one kind of edges: triangles have closed ones */
} program_key;

/* The kernels of PROGRAM_WIDE and of PROGRAM_REFIT; other programs have one. */
enum { KERNEL_MAIN, KERNEL_INTERLEAVED };
enum { KERNEL_PLACES, KERNEL_TRIANGLES, KERNEL_NODES, PROGRAM_KERNELS };

/* A kernel that is ready for its arguments. */
typedef struct ready_kernel {
  cl_kernel kernel;
  size_t group;   /* maximum work-items per group */
  bool first_use; /* not used before, or the caller has waited for its build */
} ready_kernel;

/* Finds the nth kernel of a program, and builds the program where needed. The caller must hold the device's lock, and
 * keep it while it sets arguments and launches the kernel. The lock is released while the program is being built, here
 * or by another thread. */
slab_status program_find(device *, const program_key *, uint32_t nth, ready_kernel *found);
/* Whether a program is for half open edges or for closed ones: at one lane, as GPUs get it. Others are for both. */
bool program_has_one_edges(const device *, program_source);
/* Whether a cast should use an optional kernel that only makes it faster: the kernel exists already, or building it
 * pays. The device's lock must be held. */
bool program_pays(const device *, const program_key *, uint32_t nth);
/* Work-items per group: `wanted`, or the largest power of two that the kernel allows. */
size_t program_group(const ready_kernel *, size_t wanted);
/* ours: this process built them, and releases them too. */
void programs_free(program *, bool ours);
/* Builds the probe (probe.h) like the device's kernels; the caller releases it. */
slab_status program_of_probe(const device *, cl_program *);

#endif
