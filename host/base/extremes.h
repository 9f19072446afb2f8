/* The lesser and the greater of two numbers, neither of which is NaN, without calls of libm. */
#ifndef SLABCAST_BASE_EXTREMES_H
#define SLABCAST_BASE_EXTREMES_H

static inline double lesser(double a, double b) { return a < b ? a : b; }
static inline double greater(double a, double b) { return a > b ? a : b; }

#endif
