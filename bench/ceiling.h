/* The ceiling: the highest rate that this machine can reach. It is measured as the SIMD baseline's arithmetic without
 * loads and branches, the best of several short bursts, so that other load does not slow all of them. */
#ifndef SLABCAST_BENCH_CEILING_H
#define SLABCAST_BENCH_CEILING_H

#include "simd_baseline.h"

/* Tests per second of `arithmetic`: the sum of each thread's best. The threads run at the same time. */
double ceiling_tests(const simd_baseline *, uint32_t threads);

#endif
