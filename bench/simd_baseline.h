/* The SIMD baseline of the flat benchmark: the same box test written by hand in the machine's widest intrinsics.
 *
 * It gives the library's answers bit for bit (the benchmark holds it to that) and is as fast as we can make it:
 * boxes by component, a tile of them in the first-level cache for a group of rays, 19 operations a block. */
#ifndef SLABCAST_BENCH_SIMD_BASELINE_H
#define SLABCAST_BENCH_SIMD_BASELINE_H

#include <stdint.h>

#include "slabcast.h"

/* Boxes as the SIMD baseline likes them: blocks of `lanes` boxes, six rows (lower x, y, z, upper x, y, z) a block. */
typedef struct simd_baseline_boxes {
  float *rows;     /* 64-byte aligned */
  uint32_t blocks; /* a multiple of SIMD_BASELINE_UNROLLED; what fills them up is never hit */
} simd_baseline_boxes;

/* Answers of rays [0, n): t is +inf and primitive SLAB_MISS on a miss. For SLAB_ANY the first box that is hit
 * in the order of adding, which is where the search ended. */
typedef struct simd_baseline_answer {
  float t;
  uint32_t primitive;
} simd_baseline_answer;

typedef struct simd_baseline {
  const char *name;
  uint32_t lanes; /* boxes at once */
  /* The rays given, one after the other, on the calling thread. */
  void (*cast)(const simd_baseline_boxes *, slab_query, const slab_ray *, uint32_t count, simd_baseline_answer *);
  /* The arithmetic of `blocks` blocks in registers alone: what a loop without loads and branches would reach. */
  void (*arithmetic)(uint64_t blocks);
} simd_baseline;

/* Most rays `cast` takes at once. */
#define SIMD_BASELINE_GROUP 128
/* Blocks come in tiles of so many: 16 lanes make 24 KiB, half of a usual first-level cache. */
#define SIMD_BASELINE_TILE 64
/* Blocks between two branches; divides SIMD_BASELINE_TILE. */
#define SIMD_BASELINE_UNROLLED 4
/* Of `arithmetic`, a block: 6 subtractions, 6 products, 3 maxima, 3 minima, 1 comparison. */
#define SIMD_BASELINE_OPERATIONS 19

/* The widest this machine runs; NULL where none was written for it. */
const simd_baseline *simd_baseline_widest(void);

/* False without memory. Release with free(rows). */
int simd_baseline_pack(const simd_baseline *, const slab_box *, uint32_t count, simd_baseline_boxes *);

/* All rays on `threads` threads; groups of rays are handed out as threads come free. False when no thread starts. */
int simd_baseline_cast(const simd_baseline *, const simd_baseline_boxes *, slab_query, const slab_ray *, size_t n,
                       uint32_t threads, simd_baseline_answer *);

#endif
