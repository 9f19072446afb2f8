/* The SIMD baseline of the flat benchmark: the same box test, hand-written in the machine's widest intrinsics.
 *
 * It gives the library's answers bit for bit (the benchmark checks that) and is as fast as we can make it. Boxes are
 * stored by component. A group of rays has a tile of boxes in the first-level cache; a block takes 19 operations. */
#ifndef SLABCAST_BENCH_SIMD_BASELINE_H
#define SLABCAST_BENCH_SIMD_BASELINE_H

#include <stdint.h>

#include "slabcast.h"

/* Boxes in the layout of the SIMD baseline: blocks of `lanes` boxes, six rows (lower x, y, z, upper x, y, z) in a
 * block. */
typedef struct simd_baseline_boxes {
  float *rows;     /* 64-byte aligned */
  uint32_t blocks; /* a multiple of SIMD_BASELINE_UNROLLED; the filling boxes are never hit */
} simd_baseline_boxes;

/* Answers of rays [0, n): t is +inf and primitive SLAB_MISS on a miss. For SLAB_ANY the first box that is hit in the
 * order of adding; the search ends there. */
typedef struct simd_baseline_answer {
  float t;
  uint32_t primitive;
} simd_baseline_answer;

typedef struct simd_baseline {
  const char *name;
  uint32_t lanes; /* boxes tested at once */
  /* Casts the given rays one after the other on the calling thread. */
  void (*cast)(const simd_baseline_boxes *, slab_query, const slab_ray *, uint32_t count, simd_baseline_answer *);
  /* The arithmetic of `blocks` blocks in registers: the rate of a loop without loads and branches. */
  void (*arithmetic)(uint64_t blocks);
} simd_baseline;

/* Most rays that `cast` takes at once. */
#define SIMD_BASELINE_GROUP 128
/* Blocks in a tile: with 16 lanes 24 KiB, half of a usual first-level cache. */
#define SIMD_BASELINE_TILE 64
/* Blocks between two branches; divides SIMD_BASELINE_TILE. */
#define SIMD_BASELINE_UNROLLED 4
/* Operations of `arithmetic` for a block: 6 subtractions, 6 products, 3 maxima, 3 minima, 1 comparison. */
#define SIMD_BASELINE_OPERATIONS 19

/* The widest baseline that this machine can run; NULL where there is none. */
const simd_baseline *simd_baseline_widest(void);

/* Returns false when memory runs out. Release with free(rows). */
int simd_baseline_pack(const simd_baseline *, const slab_box *, uint32_t count, simd_baseline_boxes *);

/* Casts all rays on `threads` threads. Each thread takes groups of rays until none is left. Returns false when no
 * thread starts. */
int simd_baseline_cast(const simd_baseline *, const simd_baseline_boxes *, slab_query, const slab_ray *, size_t n,
                       uint32_t threads, simd_baseline_answer *);

#endif
