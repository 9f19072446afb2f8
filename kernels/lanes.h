/* One lane type for all geometry maths. It is a scalar on GPUs and in C11 (the CPU reference). On CPU devices it is 8
 * or 16 floats wide: one ray is tested against LANES primitives at once, or (SLAB_PACKET) LANES rays against one
 * primitive.
 *
 * real, mask and word are the types of values that depend on a ray and a primitive. ray_real, ray_mask and ray_word are
 * the types of values that depend on a ray alone: as wide in packets, else scalars.
 *
 * Code written with these types reads like scalar code and means the same at every width. + - *, comparisons, ?: and &
 * | ! work on all of them. A mask is zero or all ones per lane (1 in scalars). Rounding is the same as in C11:
 * contraction is off, and no function of the common-function or native kind is used. */
#ifndef LANES_H
#define LANES_H

#ifndef LANES
#define LANES 1
#endif

/* States that the vectors are explicit. Without this hint Intel's runtime splits them to vectorise across work-items,
 * and builds take seven times as long. */
#if LANES > 1
#define KERNEL_HINT __attribute__((vec_type_hint(real)))
#else
#define KERNEL_HINT
#endif

/* Floats from one row of a block to the next. More than LANES where a block is tested in parts. */
#ifndef STRIDE
#define STRIDE LANES
#endif

/* Rays that are tested at once, each against a block of triangles: 1 or 2. */
#ifndef SLAB_RAY_PAIRS
#define SLAB_RAY_PAIRS 1
#endif

#ifdef __OPENCL_C_VERSION__

#pragma OPENCL FP_CONTRACT OFF
/* With sixteen lanes on a processor that has eight, clang warns of each function's ABI. All functions are inlined, so
 * the ABI does not matter. */
#if defined(__clang__) && defined(__has_warning)
#if __has_warning("-Wpsabi")
#pragma clang diagnostic ignored "-Wpsabi"
#endif
#endif
/* Two conditions, since some compilers do not have __has_builtin: there its use in an #if is a syntax error. */
#ifdef __has_builtin
#if __has_builtin(__builtin_prefetch)
#define HAS_PREFETCH
#endif
#endif
#define GLOBAL global
/* Forces inlining. PoCL does not inline functions that are used twice, and a call passes vectors through memory. */
#if SLAB_RAY_PAIRS > 1 || defined(SLAB_PACKET)
#define INLINE static inline __attribute__((always_inline, overloadable)) /* ray_pair.h, packet_interval.h */
#else
#define INLINE static inline __attribute__((always_inline))
#endif
/* For loops over axes and vertices. Without it PoCL does not unroll them and keeps their arrays in memory, which is
 * half as fast. */
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
#define lanes_from(p) vload8(0, p)
#define lanes_eight(p) vload8(0, p)
#define lanes_of_two(p, q) ((void)(q), vload8(0, p))
#define lanes_low(v) (v)
#define lanes_high(v) (v)
#define lanes_store(v, p) vstore8(v, 0, p)
#define lanes_as_word(x) as_uint8(x)
#define lanes_as_mask(x) as_int8(x)
#define lanes_as_real(x) as_float8(x)
#else
typedef float16 real;
typedef int16 mask;
typedef uint16 word;
#define lanes_load(p) vload16(0, p)
#define lanes_from(p) vload16(0, p)
#define lanes_eight(p) ((float16)(vload8(0, p), vload8(0, p)))
#define lanes_of_two(p, q) ((float16)(vload8(0, p), vload8(0, q)))
#define lanes_low(v) ((v).lo)
#define lanes_high(v) ((v).hi)
#define lanes_store(v, p) vstore16(v, 0, p)
#define lanes_as_word(x) as_uint16(x)
#define lanes_as_mask(x) as_int16(x)
#define lanes_as_real(x) as_float16(x)
#endif

#ifdef SLAB_PACKET
#undef lanes_load
#define lanes_load(p) ((real)(*(p)))
typedef real ray_real;
typedef mask ray_mask;
typedef word ray_word;
#define ray_bits(x) lanes_as_word(x)
#define ray_float(bits) lanes_as_real(bits)
#define ray_signed(x) lanes_as_mask(x)
#define ray_unsigned(x) lanes_as_word(x)
#define ray_any(m) lanes_any(m)
#define lanes_first(v) (v)
#else
typedef float ray_real;
typedef int ray_mask;
typedef uint ray_word;
#define ray_bits(x) as_uint(x)
#define ray_float(bits) as_float(bits)
#define ray_signed(x) as_int(x)
#define ray_unsigned(x) as_uint(x)
#define ray_any(m) ((m) != 0)
#if LANES == 1
#define lanes_first(v) (v)
#else
#define lanes_first(v) ((v).s0) /* of values that depend on a ray and one primitive, the same in all lanes */
#endif
#endif

/* SLAB_ASSEMBLY: the driver supports inline assembly (program.c). */

/* Keeps a mask that is used after a branch in its vector form. On processors without mask registers LLVM packs it to 16
 * bits a lane before the branch and unpacks it after, eight instructions in all. Without this rays are 3 to 10 % slower
 * (PoCL 3.1, Zen 3). */
#if LANES == 8 && SLAB_RAY_PAIRS == 1 && defined(SLAB_ASSEMBLY) && defined(__AVX__) && !defined(__AVX512VL__)
INLINE int8 lanes_kept(int8 m) {
  __asm__("" : "+x"(m));
  return m;
}
#else
#define lanes_kept(m) (m)
#endif

/* The sign bit of every lane; bit 0 is lane 0. One instruction where the compiler offers it, written so that the
 * compiler cannot split it. */
INLINE uint eight_bits(int8 m) {
#if defined(SLAB_ASSEMBLY) && defined(__AVX__) && !defined(__AVX512VL__)
  uint bits;
  __asm__("vmovmskps %1, %0" : "=r"(bits) : "x"(m));
  return bits;
#elif defined(__clang__) && defined(__AVX__)
  return (uint)__builtin_ia32_movmskps256(as_float8(m));
#else
  /* Byte k keeps bit k. The product collects all of them in its highest byte. */
  return (uint)((as_ulong(convert_char8(m)) & 0x8040201008040201UL) * 0x0101010101010101UL >> 56);
#endif
}

INLINE uint sixteen_bits(int16 m) {
#if defined(__clang__) && defined(__AVX512DQ__)
  return (uint)(ushort)__builtin_ia32_cvtd2mask512(m);
#else
  return eight_bits(m.lo) | eight_bits(m.hi) << 8;
#endif
}

#if LANES > 1
#if LANES == 8
INLINE uint lanes_bits(mask m) { return eight_bits(m); }
#else
INLINE uint lanes_bits(mask m) { return sixteen_bits(m); }
#endif

/* Intel's runtime does not define __AVX__ for kernels. Brute force there took 1.3 times as long with lanes_bits as with
 * any(). any() gets a comparison, since of a mask it would test the sign bits. */
INLINE bool lanes_any(mask m) {
#if defined(__clang__) && defined(__AVX__)
  return lanes_bits(m) != 0;
#else
  return any(m != 0) != 0;
#endif
}

static inline float lanes_at(real v, uint lane) {
  float values[LANES];
  lanes_store(v, values);
  return values[lane];
}

/* PICK: of each eight elements of a and b, those at i to p. Indices from 8 on are elements of b. */
#ifdef __clang__
#define SHUFFLE8(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define SHUFFLE16(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE8(a, b, ...) shuffle2(a, b, (uint8)(__VA_ARGS__))
#define SHUFFLE16(a, b, ...) shuffle2(a, b, (uint16)(__VA_ARGS__))
#endif
#if LANES == 16
#define PICK(a, b, i, j, k, l, m, n, o, p)                                                                           \
  SHUFFLE16(a, b, PICK16(i), PICK16(j), PICK16(k), PICK16(l), PICK16(m), PICK16(n), PICK16(o), PICK16(p),            \
            PICK16(i) + 8, PICK16(j) + 8, PICK16(k) + 8, PICK16(l) + 8, PICK16(m) + 8, PICK16(n) + 8, PICK16(o) + 8, \
            PICK16(p) + 8)
#define PICK16(i) ((i) < 8 ? (i) : (i) + 8)
#else
#define PICK(a, b, i, j, k, l, m, n, o, p) SHUFFLE8(a, b, i, j, k, l, m, n, o, p)
#endif

/* Transposes eight rows of eight. Where LANES is 16, it transposes two such matrices side by side. Only the last step
 * moves values between 128-bit halves. */
INLINE void lanes_transpose(real row[8]) {
  real two[8], four[8];
  UNROLL for (int i = 0; i < 8; i += 2) {
    two[i] = PICK(row[i], row[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    two[i + 1] = PICK(row[i], row[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  UNROLL for (int i = 0; i < 8; i += 4) UNROLL for (int k = 0; k < 2; k++) {
    four[i + 2 * k] = PICK(two[i + k], two[i + k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    four[i + 2 * k + 1] = PICK(two[i + k], two[i + k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  UNROLL for (int i = 0; i < 4; i++) {
    row[i] = PICK(four[i], four[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    row[i + 4] = PICK(four[i], four[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}
#endif

/* Index of the lowest bit that is set in bits, which is not 0. OpenCL C 1.2 has no ctz. */
INLINE uint lowest_lane(uint bits) { return popcount(~bits & (bits - 1)); }

#define lanes_fma(a, b, c) fma(a, b, c)
#define lanes_abs(x) fabs(x)

/* Prefetches memory that is read soon. */
INLINE void memory_fetch(size_t address, uint bytes) {
#if LANES > 1 && defined(HAS_PREFETCH)
  UNROLL for (uint line = 0; line < bytes; line += 64) __builtin_prefetch((const void *)(address + line));
#else
  (void)address, (void)bytes;
#endif
}

/* Correctly rounded quotient and square root. The host chooses how the device computes them: by its own instructions
 * (where it reports CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT), through double, which is exact for both, or with integers. */
#if defined(SLAB_DIVIDE_BY_INTEGERS)
#include "exact.h"
#define scalar_divide(a, b) exact_divide(a, b)
#define scalar_sqrt(a) exact_sqrt(a)
#if LANES == 1
#define lanes_divide(a, b) exact_divide(a, b)
#define lanes_sqrt(a) exact_sqrt(a)
#else
static inline real lanes_divide(real a, real b) {
  float x[LANES], y[LANES];
  lanes_store(a, x);
  lanes_store(b, y);
  for (int i = 0; i < LANES; i++) x[i] = exact_divide(x[i], y[i]);
  return lanes_from(x);
}

static inline real lanes_sqrt(real a) {
  float x[LANES];
  lanes_store(a, x);
  for (int i = 0; i < LANES; i++) x[i] = exact_sqrt(x[i]);
  return lanes_from(x);
}
#endif
#elif defined(SLAB_DIVIDE_THROUGH_DOUBLE)
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

#ifdef SLAB_PACKET
#define ray_divide(a, b) lanes_divide(a, b)
#define ray_sqrt(a) lanes_sqrt(a)
#else
#define ray_divide(a, b) scalar_divide(a, b)
#define ray_sqrt(a) scalar_sqrt(a)
#endif

#else /* C11: the CPU reference and the host's use of the same formulas */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GLOBAL
#define INLINE static inline __attribute__((always_inline))
#define UNROLL
typedef unsigned int uint;
typedef float real;
typedef int32_t mask;
typedef uint32_t word;
typedef float ray_real;
typedef int32_t ray_mask;
typedef uint32_t ray_word;
#define lanes_load(p) (*(p))
#define lanes_any(m) ((m) != 0)
#define lanes_bits(m) ((uint)((m)&1))
#define lanes_at(v, i) ((void)(i), (v))

static inline uint ray_bits(float x) {
  uint bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float ray_float(uint bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

#define ray_signed(x) ((int32_t)(x))
#define ray_unsigned(x) ((uint32_t)(x))
#define ray_any(m) ((m) != 0)
#define lanes_first(v) (v)
#define lanes_kept(m) (m)
#define lanes_fma(a, b, c) fmaf(a, b, c)
#define lanes_abs(x) fabsf(x)
#define lanes_divide(a, b) ((a) / (b))
#define lanes_sqrt(a) sqrtf(a)
#define ray_divide(a, b) ((a) / (b))
#define ray_sqrt(a) sqrtf(a)

#endif

/* The next of three axes or vertices, in cyclic order. */
INLINE int next_of_three(int i) { return i == 2 ? 0 : i + 1; }

/* Maximum and minimum of a fresh value, which may be NaN, and an accumulated one, which never is. Where the fresh value
 * is NaN the accumulated one is kept. As a comparison this is one instruction on x86, as fmax one on GPUs. fmax may
 * swap zeros of either sign; no answer shows it. */
#ifdef SLAB_FMAX
INLINE real lanes_max(real fresh, real kept) { return fmax(fresh, kept); }
INLINE real lanes_min(real fresh, real kept) { return fmin(fresh, kept); }
#else
INLINE real lanes_max(real fresh, real kept) { return fresh > kept ? fresh : kept; }
INLINE real lanes_min(real fresh, real kept) { return fresh < kept ? fresh : kept; }
#endif
INLINE ray_real ray_max(ray_real fresh, ray_real kept) { return fresh > kept ? fresh : kept; }
INLINE ray_real ray_min(ray_real fresh, ray_real kept) { return fresh < kept ? fresh : kept; }

#endif
