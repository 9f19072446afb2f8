/* How a thread computes while it is in the library: with IEEE 754's defaults, whatever its caller has set.
 *
 * Rounding is to nearest, subnormal numbers are kept, nothing traps. On the way out the caller's control bits come
 * back, and its exception flags as they were. Threads inherit what the thread that starts them has, but threads that
 * OpenMP has already do not: a parallel region that computes begins and ends for each of its threads. */
#ifndef SLABCAST_ARITHMETIC_H
#define SLABCAST_ARITHMETIC_H

#if defined(__x86_64__) && !defined(SLAB_ARITHMETIC_BY_FENV)

#include <xmmintrin.h>

/* MXCSR, which rules float and double, flushing included; x87, which nothing here uses, stays the caller's. <fenv.h>
 * would save and restore both: 10 times as long, for a ray of a camera more than all its arithmetic. */
typedef unsigned arithmetic;

static inline arithmetic arithmetic_begin(void) {
  const arithmetic callers = _mm_getcsr();
  _mm_setcsr(0x1F80); /* every exception masked, no flag, nothing else */
  __asm__ volatile("" ::: "memory");
  return callers;
}

static inline void arithmetic_end(const arithmetic *callers) {
  __asm__ volatile("" ::: "memory");
  _mm_setcsr(*callers);
}

#else

#include <fenv.h>

/* glibc's default environment flushes nothing, on x86 as on ARM. */
typedef fenv_t arithmetic;

static inline arithmetic arithmetic_begin(void) {
  arithmetic callers;
  fegetenv(&callers);
  fesetenv(FE_DFL_ENV);
  return callers;
}

static inline void arithmetic_end(const arithmetic *callers) { fesetenv(callers); }

#endif

/* `ARITHMETIC callers = arithmetic_begin();` holds to the end of the block, whichever way that is left. Compilers may
 * move an expression out of it, but not a call of a function that writes memory: what a block returns is computed in
 * ARITHMETIC_BODY, which is not inlined. */
#define ARITHMETIC __attribute__((cleanup(arithmetic_end), unused)) arithmetic
#define ARITHMETIC_BODY __attribute__((noinline))

#endif
