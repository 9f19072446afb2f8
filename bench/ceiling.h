/* What this machine could reach at most: the SIMD baseline's arithmetic without loads and branches, the best of several
 * short bursts, so that a neighbour does not slow all of them. */
#ifndef SLABCAST_BENCH_CEILING_H
#define SLABCAST_BENCH_CEILING_H

#include "simd_baseline.h"

/* Tests a second of `arithmetic`: the sum over threads, at once, of each one's best. */
double ceiling_tests(const simd_baseline *, uint32_t threads);

#endif
