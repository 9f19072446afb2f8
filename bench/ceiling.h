/* What this machine could reach at most: its clock, and the opponent's arithmetic without loads and branches. Both
 * are the best of several short bursts, so that a neighbour does not slow all of them. */
#ifndef SLABCAST_BENCH_CEILING_H
#define SLABCAST_BENCH_CEILING_H

#include "opponent.h"

/* Cycles a second, from a chain of additions that take one each. */
double ceiling_clock(void);

/* Tests a second of `arithmetic`: the sum over threads, at once, of each one's best. */
double ceiling_tests(const opponent *, uint32_t threads);

#endif
