/* Functions that are compiled a second time, for processors with AVX2 and fma in hardware: several times the speed
 * where fmaf would be a call. Same bits, since contraction is off.
 *
 *   ALWAYS_INLINE int f(int x) { ... }
 *   WITH_FMA static int f_fma(int x) { return f(x); }
 *   int called(int x) { return PER_PROCESSOR(f)(x); }
 *
 * Not by target_clones: outside of glibc, and with compilers that bring their own libraries, it never chooses the
 * clone. On Windows fma is arithmetic of doubles anyway (lanes/fused.h). */
#ifndef SLABCAST_BASE_PER_PROCESSOR_H
#define SLABCAST_BASE_PER_PROCESSOR_H

#include "base/processors.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__) && !defined(__FMA__) && !defined(_WIN32)
#define WITH_FMA __attribute__((target("avx2,fma")))
#define PER_PROCESSOR(f) (x86_has_fma ? f##_fma : f)
#else
#define WITH_FMA __attribute__((unused))
#define PER_PROCESSOR(f) f
#endif

#endif
