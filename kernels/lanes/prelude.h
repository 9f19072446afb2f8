/* Included before a kernel's text where it is compiled ahead of time, for a processor. It declares the types of OpenCL
 * C and defines the functions of it that the kernels call. No header and no library of an OpenCL implementation is
 * needed. clang compiles the text as OpenCL C, at the width of the registers. Any C11 compiler compiles it at one lane.
 *
 * A kernel becomes a function of the name that NATIVE_NAME gives, and the work-item's index becomes its first
 * parameter. */
#ifndef LANES_PRELUDE_H
#define LANES_PRELUDE_H

#define KERNEL_NAME(name) NATIVE_NAME(name)
#define WORK_ITEM const size_t work_item,
#define get_global_id(axis) (work_item)

#ifdef SLAB_COUNTS
#include "lanes/steps.h"
#define COUNT(what, n) steps_count(STEP_##what, n)
#endif

#ifdef __OPENCL_C_VERSION__

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef char char8 __attribute__((ext_vector_type(8)));
typedef uchar uchar8 __attribute__((ext_vector_type(8)));
typedef short short8 __attribute__((ext_vector_type(8)));
typedef ushort ushort8 __attribute__((ext_vector_type(8)));
typedef int int2 __attribute__((ext_vector_type(2)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef int int8 __attribute__((ext_vector_type(8)));
typedef int int16 __attribute__((ext_vector_type(16)));
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef uint uint4 __attribute__((ext_vector_type(4)));
typedef uint uint8 __attribute__((ext_vector_type(8)));
typedef uint uint16 __attribute__((ext_vector_type(16)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float8 __attribute__((ext_vector_type(8)));
typedef float float16 __attribute__((ext_vector_type(16)));
/* OpenCL C has none of these. Packets may have as many lanes, in two registers or four. */
typedef int int32 __attribute__((ext_vector_type(32)));
typedef uint uint32 __attribute__((ext_vector_type(32)));
typedef float float32 __attribute__((ext_vector_type(32)));

/* All memory is the process's own. Kernels are functions like others. */
#define global
#define kernel
#define vec_type_hint(type)
#define constant static __constant

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define INT_MAX __INT_MAX__

#define PRELUDE static inline __attribute__((always_inline, overloadable))

#define as_int(x) __builtin_astype(x, int)
#define as_uint(x) __builtin_astype(x, uint)
#define as_ulong(x) __builtin_astype(x, ulong)
#define as_float(x) __builtin_astype(x, float)
#define as_short8(x) __builtin_astype(x, short8)
#define as_ushort8(x) __builtin_astype(x, ushort8)
#define as_int8(x) __builtin_astype(x, int8)
#define as_uint4(x) __builtin_astype(x, uint4)
#define as_uint8(x) __builtin_astype(x, uint8)
#define as_uchar8(x) __builtin_astype(x, uchar8)
#define as_float8(x) __builtin_astype(x, float8)
#define as_int16(x) __builtin_astype(x, int16)
#define as_uint16(x) __builtin_astype(x, uint16)
#define as_float16(x) __builtin_astype(x, float16)
#define as_int32(x) __builtin_astype(x, int32)
#define as_uint32(x) __builtin_astype(x, uint32)
#define as_float32(x) __builtin_astype(x, float32)

#define convert_char8(x) __builtin_convertvector(x, char8)
#define convert_int8(x) __builtin_convertvector(x, int8)
#define convert_uint8(x) __builtin_convertvector(x, uint8)
#define convert_float8(x) __builtin_convertvector(x, float8)
#define convert_float16(x) __builtin_convertvector(x, float16)
#define convert_float32(x) __builtin_convertvector(x, float32)
#define convert_ushort8_sat(x) __builtin_convertvector(max(min(x, 0xFFFF), 0), ushort8)

/* Vectors in memory are aligned like their elements. */
#define PRELUDE_MEMORY(width, element)                                                                          \
  typedef element element##width##_in_memory __attribute__((ext_vector_type(width), aligned(sizeof(element)))); \
  PRELUDE element##width vload##width(size_t i, const element *p) {                                             \
    return *(const element##width##_in_memory *)(p + i * width);                                                \
  }                                                                                                             \
  PRELUDE void vstore##width(element##width v, size_t i, element *p) {                                          \
    *(element##width##_in_memory *)(p + i * width) = v;                                                         \
  }
PRELUDE_MEMORY(8, uchar)
PRELUDE_MEMORY(8, float)
PRELUDE_MEMORY(16, float)
PRELUDE_MEMORY(8, uint)
PRELUDE_MEMORY(16, uint)
PRELUDE_MEMORY(32, float)
PRELUDE_MEMORY(32, uint)

PRELUDE int min(int a, int b) { return a < b ? a : b; }
PRELUDE int max(int a, int b) { return a > b ? a : b; }
PRELUDE uint min(uint a, uint b) { return a < b ? a : b; }
PRELUDE uint2 min(uint2 a, uint2 b) { return a < b ? a : b; }
PRELUDE uint4 min(uint4 a, uint4 b) { return a < b ? a : b; }
PRELUDE int8 min(int8 a, int8 b) { return a < b ? a : b; }
PRELUDE int8 max(int8 a, int8 b) { return a > b ? a : b; }
PRELUDE int any(int8 m) {
  const uint4 four = as_uint8(m).lo | as_uint8(m).hi;
  const uint2 two = four.lo | four.hi;
  return (two.x | two.y) >> 31;
}
PRELUDE int any(int16 m) { return any(m.lo | m.hi); }
PRELUDE int any(int32 m) { return any(m.lo | m.hi); }
PRELUDE int any(short8 m) { return any(__builtin_convertvector(m, int8)); }

PRELUDE float fabs(float x) { return __builtin_fabsf(x); }
PRELUDE float4 fabs(float4 x) { return __builtin_astype(__builtin_astype(x, int4) & INT_MAX, float4); }
PRELUDE float8 fabs(float8 x) { return as_float8(as_int8(x) & INT_MAX); }
PRELUDE float16 fabs(float16 x) { return as_float16(as_int16(x) & INT_MAX); }
PRELUDE float32 fabs(float32 x) { return as_float32(as_int32(x) & INT_MAX); }

/* Fused by definition: contraction is off, so none of these may be written as a product and a sum. */
PRELUDE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
PRELUDE float sqrt(float x) { return __builtin_sqrtf(x); }
/* At 8 and 16 lanes: one operation each, by whatever name the compiler's version has for it. */
#if __has_builtin(__builtin_elementwise_fma) && __has_builtin(__builtin_elementwise_sqrt)
PRELUDE float8 fma(float8 a, float8 b, float8 c) { return __builtin_elementwise_fma(a, b, c); }
PRELUDE float16 fma(float16 a, float16 b, float16 c) { return __builtin_elementwise_fma(a, b, c); }
PRELUDE float8 sqrt(float8 x) { return __builtin_elementwise_sqrt(x); }
PRELUDE float16 sqrt(float16 x) { return __builtin_elementwise_sqrt(x); }
#else
#ifdef __AVX2__
typedef float prelude_float8 __attribute__((vector_size(32)));
#define PRELUDE_EIGHT(x) __builtin_astype(x, prelude_float8)
PRELUDE float8 fma(float8 a, float8 b, float8 c) {
  return __builtin_astype(__builtin_ia32_vfmaddps256(PRELUDE_EIGHT(a), PRELUDE_EIGHT(b), PRELUDE_EIGHT(c)), float8);
}
PRELUDE float8 sqrt(float8 x) { return __builtin_astype(__builtin_ia32_sqrtps256(PRELUDE_EIGHT(x)), float8); }
#else
PRELUDE float8 fma(float8 a, float8 b, float8 c) {
  float8 d;
  for (int i = 0; i < 8; i++) d[i] = fma(a[i], b[i], c[i]);
  return d;
}
PRELUDE float8 sqrt(float8 x) {
  float8 d;
  for (int i = 0; i < 8; i++) d[i] = sqrt(x[i]);
  return d;
}
#endif
#ifdef __AVX512F__
typedef float prelude_float16 __attribute__((vector_size(64)));
#define PRELUDE_SIXTEEN(x) __builtin_astype(x, prelude_float16)
#define PRELUDE_ROUNDING 4 /* as the thread's mode says */
PRELUDE float16 fma(float16 a, float16 b, float16 c) {
  return __builtin_astype(__builtin_ia32_vfmaddps512_mask(PRELUDE_SIXTEEN(a), PRELUDE_SIXTEEN(b), PRELUDE_SIXTEEN(c),
                                                          (ushort)0xFFFF, PRELUDE_ROUNDING),
                          float16);
}
PRELUDE float16 sqrt(float16 x) {
  return __builtin_astype(__builtin_ia32_sqrtps512(PRELUDE_SIXTEEN(x), PRELUDE_ROUNDING), float16);
}
#else
PRELUDE float16 fma(float16 a, float16 b, float16 c) { return (float16)(fma(a.lo, b.lo, c.lo), fma(a.hi, b.hi, c.hi)); }
PRELUDE float16 sqrt(float16 x) { return (float16)(sqrt(x.lo), sqrt(x.hi)); }
#endif
#endif
PRELUDE float32 fma(float32 a, float32 b, float32 c) { return (float32)(fma(a.lo, b.lo, c.lo), fma(a.hi, b.hi, c.hi)); }
PRELUDE float32 sqrt(float32 x) { return (float32)(sqrt(x.lo), sqrt(x.hi)); }

#else /* C11 */

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lanes/fused.h"

#define global
#define local
#define kernel
#define constant static const
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef uint64_t ulong;
typedef struct uint4 {
  uint x, y, z, w;
} uint4;

#define PRELUDE static inline __attribute__((always_inline))

PRELUDE uint prelude_bits(float x) {
  uint bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
PRELUDE uint prelude_same(uint x) { return x; }
PRELUDE float as_float(uint bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
#define as_uint(x) _Generic((x), float : prelude_bits, default : prelude_same)(x)
#define as_int(x) ((int)as_uint(x))
#define fma(a, b, c) fused(a, b, c)
#define fabs(x) fabsf(x)
#define sqrt(x) sqrtf(x)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))

#endif

#define popcount(x) ((uint)__builtin_popcount(x))
#define clz(x) ((x) == 0 ? 32u : (uint)__builtin_clz(x))
/* Threads count together, and order nothing by it. */
#define atomic_add(p, n) __atomic_fetch_add(p, n, __ATOMIC_RELAXED)
#define atomic_inc(p) __atomic_fetch_add(p, 1u, __ATOMIC_RELAXED)

#endif
