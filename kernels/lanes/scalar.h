/* lanes.h for OpenCL: definitions for compilers and scalars, which every device needs, and the lane types where LANES
 * is 1. Vector devices need the scalars too, for values that depend on a ray alone. lanes/vector.h adds their lanes. */
#ifndef LANES_SCALAR_H
#define LANES_SCALAR_H

#pragma OPENCL FP_CONTRACT OFF
/* With sixteen lanes on a processor that has eight, clang warns of each function's ABI. All functions are inlined, so
 * the ABI does not matter. */
#if defined(__clang__) && defined(__has_warning)
#if __has_warning("-Wpsabi")
#pragma clang diagnostic ignored "-Wpsabi"
#endif
#endif
/* Two conditions, since some compilers do not have __has_builtin: there its use in an #if is a syntax error. NVIDIA's
 * takes no pointer that a number became. */
#if defined(__has_builtin) && !defined(__NV_CL_C_VERSION)
#if __has_builtin(__builtin_prefetch)
#define HAS_PREFETCH
#endif
#endif
/* Whether inline assembly is PTX. */
#if defined(__NVPTX__) || defined(__NV_CL_C_VERSION) || defined(__CUDA_ARCH__)
#define HAS_PTX
#endif
#define GLOBAL global
/* Forces inlining. PoCL does not inline functions that are used twice, and a call passes vectors through memory. */
#if SLAB_RAY_PAIRS > 1 || defined(SLAB_PACKET)
#define INLINE static inline __attribute__((always_inline, overloadable)) /* ray_pair.h, packet_hull.h */
#elif defined(SLAB_SMALL)
#define INLINE static inline /* the compiler calls large functions (cmake/native.cmake) */
#else
#define INLINE static inline __attribute__((always_inline))
#endif
/* For loops over axes and vertices. Without it PoCL does not unroll them and keeps their arrays in memory, which is
 * half as fast. */
#define UNROLL _Pragma("unroll")
/* Before a loop that goes round again in rare cases. Where it is unrolled compilers work out the rare part in advance,
 * for it may be the same each time. Interleaved rays of terrain:100000 take 1.02 to 1.03 times as long as a loop. */
#if defined(SLAB_NATIVE) && defined(__clang__) && SLAB_WALKERS == 1
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define ROLLED UNROLL
#endif

/* ---- scalars ---- */

#define scalar_bits(x) as_uint(x)
#define scalar_float(bits) as_float(bits)

/* Index of the lowest bit that is set in bits, which is not 0. OpenCL C 1.2 has no ctz. */
INLINE uint lowest_lane(uint bits) { return popcount(~bits & (bits - 1)); }

/* Four bytes, from the highest: that of `top`, 0, byte k of `bytes`, 0. One instruction on GPUs, whose compilers do not
 * find it. k is a constant. The highest bit of `top` is 0. */
INLINE uint scalar_bytes(uint top, uint bytes, uint k) {
#ifdef HAS_PTX
  uint four;
  __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(four) : "r"(bytes), "r"(top), "r"(0x7F0F + 16 * k)); /* F: the sign of 7 */
  return four;
#elif defined(__AMDGCN__)
  return __builtin_amdgcn_perm(top, bytes, 0x070C000Cu + 256 * k); /* C: 0 */
#else
  return (top & 0xFF000000u) | (bytes >> (8 * k) & 0xFFu) << 8;
#endif
}

/* sum + more where a <= b, else sum. NVIDIA's compilers do not find the addition under a condition: they select, then
 * add. */
INLINE float scalar_add_where(float sum, float more, float a, float b) {
#ifdef HAS_PTX
  __asm__("{.reg .pred p; setp.le.f32 p, %1, %2; @p add.rn.f32 %0, %0, %3;}" : "+f"(sum) : "f"(a), "f"(b), "f"(more));
  return sum;
#else
  return a <= b ? sum + more : sum;
#endif
}

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
#if defined(SLAB_DIVIDE_BY_INTEGERS) || defined(SLAB_CLOSED) || defined(SLAB_TRACE) || SLAB_OWN || LANES > 1
#include "lanes/exact.h" /* touch.h rounds by it too */
#endif
#if defined(SLAB_DIVIDE_BY_INTEGERS)
#define scalar_divide(a, b) exact_divide(a, b)
#define scalar_sqrt(a) exact_sqrt(a)
#elif defined(SLAB_DIVIDE_THROUGH_DOUBLE)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define scalar_divide(a, b) ((float)((double)(a) / (double)(b)))
#define scalar_sqrt(a) ((float)sqrt((double)(a)))
#else
#define scalar_divide(a, b) ((a) / (b))
#define scalar_sqrt(a) sqrt(a)
#define EXACT_LANES /* at every width */
#define lanes_divide(a, b) ((a) / (b))
#define lanes_sqrt(a) sqrt(a)
#if LANES > 1 && !defined(SLAB_PACKET)
#define RAY_ACROSS /* ray_prepare_alone */
#endif
#endif

/* ---- values that depend on a ray alone ---- */

#ifndef SLAB_PACKET
typedef float ray_real;
typedef int ray_mask;
typedef uint ray_word;
#define ray_bits(x) scalar_bits(x)
#define ray_float(bits) scalar_float(bits)
#define ray_signed(x) as_int(x)
#define ray_unsigned(x) as_uint(x)
#define ray_any(m) ((m) != 0)
#define ray_divide(a, b) scalar_divide(a, b)
#define ray_sqrt(a) scalar_sqrt(a)
#endif

/* ---- lanes: one ---- */

#if LANES == 1
#define KERNEL_HINT
typedef float real;
typedef int mask;
typedef uint word;
#define lanes_load(p) (*(p))
#define lanes_any(m) ((m) != 0)
#define lanes_bits(m) ((uint)((m)&1))
#define lanes_at(v, i) (v)
#define lanes_from(p) (*(p))
#define lanes_store(v, p) (*(p) = (v))
#define lanes_first(v) (v)
#define lanes_kept(m) (m)
#define lanes_as_word(x) as_uint(x)
#define lanes_as_real(x) as_float(x)
#define lanes_to_int(x) ((int)(x))
#define lanes_sum(v) (v)
#ifndef EXACT_LANES
#define lanes_divide(a, b) scalar_divide(a, b)
#define lanes_sqrt(a) scalar_sqrt(a)
#endif
#endif

#endif
