/* One lane type for all geometry maths: a scalar on GPUs and in C11 (the mirror),
 * 8 or 16 floats wide on CPU devices, where one ray meets LANES primitives at once.
 *
 * Code written with real, mask and word reads like scalar code and means the same at
 * every width: + - *, comparisons, ?: and & | ! work on all of them, and a mask is
 * zero or all ones per lane (1 in scalars). Nothing here rounds differently from C11:
 * contraction is off, and no function of the common-function or native kind is used. */
#ifndef LANES_H
#define LANES_H

#ifndef LANES
#define LANES 1
#endif

/* Floats from one row of a block to the next: more than LANES where a block is met in parts. */
#ifndef STRIDE
#define STRIDE LANES
#endif

#ifdef __OPENCL_C_VERSION__

#pragma OPENCL FP_CONTRACT OFF
#define GLOBAL global
/* A call would pass vectors through memory: PoCL leaves functions that are used twice out of line. */
#define INLINE static inline __attribute__((always_inline))
/* For loops over axes and vertices: without it PoCL leaves them rolled and keeps their arrays in memory, half as fast.
 */
#define UNROLL _Pragma("unroll")

#if LANES == 1
typedef float real;
typedef int mask;
typedef uint word;
#define lanes_load(p) (*(p))
#define lanes_any(m) ((m) != 0)
#define lanes_bits(m) ((uint)((m)&1))
#define lanes_at(v, i) (v)
#define lanes_store(v, p) (*(p) = (v))
#elif LANES == 8
typedef float8 real;
typedef int8 mask;
typedef uint8 word;
#define lanes_load(p) vload8(0, p)
#define lanes_store(v, p) vstore8(v, 0, p)
#else
typedef float16 real;
typedef int16 mask;
typedef uint16 word;
#define lanes_load(p) vload16(0, p)
#define lanes_store(v, p) vstore16(v, 0, p)
#endif

#if LANES > 1
/* The sign bit of every lane, lane 0 lowest: one instruction where the compiler offers it. */
static inline uint lanes_bits(mask m) {
#if LANES == 8 && defined(__AVX__)
  return (uint)__builtin_ia32_movmskps256(as_float8(m));
#elif LANES == 16 && defined(__AVX512DQ__)
  return (uint)(ushort)__builtin_ia32_cvtd2mask512(m);
#else
  const int8 weights = (int8)(1, 2, 4, 8, 16, 32, 64, 128);
#if LANES == 16
  int8 w = (m.lo & weights) | ((m.hi & weights) << 8);
#else
  int8 w = m & weights;
#endif
  int4 x = w.lo | w.hi;
  int2 y = x.lo | x.hi;
  return (uint)(y.x | y.y);
#endif
}

static inline bool lanes_any(mask m) { return lanes_bits(m) != 0; }

static inline float lanes_at(real v, uint lane) {
  float values[LANES];
  lanes_store(v, values);
  return values[lane];
}
#endif

#define bits_of(x) as_uint(x)
#define float_of(x) as_float(x)
#define scalar_fma(a, b, c) fma(a, b, c)
#define lanes_fma(a, b, c) fma(a, b, c)
#define lanes_abs(x) fabs(x)

/* Correctly rounded quotient and root. The host states how the device gets them: by its own instructions
 * (it reports CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT), or through double, which is exact for both. */
#ifdef SLAB_DIVIDE_THROUGH_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define scalar_divide(a, b) ((float)((double)(a) / (double)(b)))
#define scalar_sqrt(a) ((float)sqrt((double)(a)))
#if LANES == 1
#define lanes_divide(a, b) scalar_divide(a, b)
#define lanes_sqrt(a) scalar_sqrt(a)
#elif LANES == 8
#define lanes_divide(a, b) convert_float8(convert_double8(a) / convert_double8(b))
#define lanes_sqrt(a) convert_float8(sqrt(convert_double8(a)))
#else
#define lanes_divide(a, b) convert_float16(convert_double16(a) / convert_double16(b))
#define lanes_sqrt(a) convert_float16(sqrt(convert_double16(a)))
#endif
#else
#define scalar_divide(a, b) ((a) / (b))
#define scalar_sqrt(a) sqrt(a)
#define lanes_divide(a, b) ((a) / (b))
#define lanes_sqrt(a) sqrt(a)
#endif

#else /* C11: the mirror and the host's use of the same formulas */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GLOBAL
#define INLINE static inline
#define UNROLL
typedef unsigned int uint;
typedef float real;
typedef int32_t mask;
typedef uint32_t word;
#define lanes_load(p) (*(p))
#define lanes_any(m) ((m) != 0)
#define lanes_bits(m) ((uint)((m)&1))
#define lanes_at(v, i) ((void)(i), (v))

static inline uint bits_of(float x) {
  uint bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float float_of(uint bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

#define scalar_fma(a, b, c) fmaf(a, b, c)
#define lanes_fma(a, b, c) fmaf(a, b, c)
#define lanes_abs(x) fabsf(x)
#define scalar_divide(a, b) ((a) / (b))
#define scalar_sqrt(a) sqrtf(a)
#define lanes_divide(a, b) ((a) / (b))
#define lanes_sqrt(a) sqrtf(a)

#endif

/* The fresh value first: where it is NaN the accumulated one, which never is, stays. One instruction
 * on x86 as a comparison, one on GPUs as fmax (which may swap zeros of either sign: no answer shows it). */
#ifdef SLAB_FMAX
INLINE real lanes_max(real fresh, real kept) { return fmax(fresh, kept); }
INLINE real lanes_min(real fresh, real kept) { return fmin(fresh, kept); }
#else
INLINE real lanes_max(real fresh, real kept) { return fresh > kept ? fresh : kept; }
INLINE real lanes_min(real fresh, real kept) { return fresh < kept ? fresh : kept; }
#endif
INLINE float scalar_max(float fresh, float kept) { return fresh > kept ? fresh : kept; }
INLINE float scalar_min(float fresh, float kept) { return fresh < kept ? fresh : kept; }

#endif
