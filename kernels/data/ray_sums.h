/* Sums over rows of rays, as their kernel gets them. */
#ifndef DATA_RAY_SUMS_H
#define DATA_RAY_SUMS_H

#include "slabcast_types.h"

/* A row is summed in parts, of so many rays but for the last. Each part has a work-item, and is never split. */
#define SUM_PART 1024u
/* The t of so many rays are added in one tree, whose leaves are sums of every SUM_STRANDS-th ray. */
#define SUM_BLOCK 256u
#define SUM_STRANDS 16u

#ifdef __OPENCL_C_VERSION__
typedef ulong sum_weight;
#else
typedef uint64_t sum_weight;
#endif

/* A part of a slab_sum, as large as that: weights are in units of 2^-32, and t are not divided yet. */
typedef struct sum_part {
  sum_weight open, blocked;
  uint32_t rays, hits;
  float least, sum;
} sum_part;

typedef struct ray_sums {
  uint32_t type;     /* slab_result_type */
  uint32_t has_t;    /* 1: results are t; 0: bytes, 1 where something is hit */
  uint32_t weighted; /* 1: columns have weights */
  uint32_t columns;  /* rays of a row */
  uint32_t words;    /* 32-bit words of a part's sum */
  uint32_t row;      /* 32-bit words from a row's sums to the next's */
  uint32_t bins;     /* of a histogram */
  float from, scale; /* of a histogram */
} ray_sums;

#endif
