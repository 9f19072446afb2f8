/* What this machine could reach at most: the opponent's arithmetic without loads and branches, the best of several
 * short bursts, so that a neighbour does not slow all of them. */
#ifndef SLABCAST_BENCH_CEILING_H
#define SLABCAST_BENCH_CEILING_H

#include "opponent.h"

/* Tests a second of `arithmetic`: the sum over threads, at once, of each one's best. */
double ceiling_tests(const opponent *, uint32_t threads);

#endif
