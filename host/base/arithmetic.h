/* Sets a thread's floating-point state while it is in the library: IEEE 754's defaults, independent of its caller's
 * settings.
 *
 * Rounding is to nearest, subnormal numbers are kept, nothing traps. On return the caller's control bits and exception
 * flags are restored. The threads of the pool are in this state for good (pool.h). */
#ifndef SLABCAST_BASE_ARITHMETIC_H
#define SLABCAST_BASE_ARITHMETIC_H

#if defined(__x86_64__) && !defined(SLAB_ARITHMETIC_BY_FENV)

#include <xmmintrin.h>

/* MXCSR, which controls float and double, flushing included. x87 is not used here and keeps the caller's state.
 * <fenv.h> would save and restore both and take 10 times as long, more than all arithmetic of a camera ray. */
typedef unsigned arithmetic;

#define ARITHMETIC_FLAGS 0x3Fu

/* A register that already holds the right value is not written. Reading it waits some 70 ns (Xeon) for an earlier write
 * that changed it, and a call of one ray takes 250 ns. So kernels avoid to raise other flags than inexact, which most
 * callers have raised long before, for the sake of a lane that nobody needs. */
static inline arithmetic arithmetic_begin(void) {
  const arithmetic callers = _mm_getcsr();
  /* all exceptions masked, round to nearest, no flushing */
  if ((callers & ~ARITHMETIC_FLAGS) != 0x1F80) _mm_setcsr(0x1F80);
  __asm__ volatile("" ::: "memory");
  return callers;
}

static inline void arithmetic_end(const arithmetic *callers) {
  __asm__ volatile("" ::: "memory");
  if (_mm_getcsr() != *callers) _mm_setcsr(*callers);
}

#else

#include <fenv.h>

/* glibc's default environment flushes nothing, on x86 and on ARM. */
typedef fenv_t arithmetic;

static inline arithmetic arithmetic_begin(void) {
  arithmetic callers;
  fegetenv(&callers);
  fesetenv(FE_DFL_ENV);
  return callers;
}

static inline void arithmetic_end(const arithmetic *callers) { fesetenv(callers); }

#endif

/* `ARITHMETIC callers = arithmetic_begin();` holds until the end of the block, however the block is left. Compilers may
 * move an expression out of the block, but not a call of a function that writes memory. So what a block returns is
 * computed in an ARITHMETIC_BODY function, which is not inlined. */
#define ARITHMETIC __attribute__((cleanup(arithmetic_end), unused)) arithmetic
#define ARITHMETIC_BODY __attribute__((noinline))

#endif
