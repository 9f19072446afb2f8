/* Vectors of four floats in the portable vector extension of GCC and Clang. */
#ifndef SLABCAST_TREE_FLOAT4_H
#define SLABCAST_TREE_FLOAT4_H

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef float float4 __attribute__((vector_size(16)));
typedef int32_t int4 __attribute__((vector_size(16)));
typedef uint32_t uint4 __attribute__((vector_size(16)));

/* a where the mask is set, otherwise b. */
static inline float4 float4_select(int4 mask, float4 a, float4 b) {
  return (float4)((mask & (int4)a) | (~mask & (int4)b));
}

/* SSE2 intrinsics: the compilers do not generate these instructions for the plain expressions. */
#ifdef __SSE2__
static inline float4 float4_min(float4 a, float4 b) { return (float4)_mm_min_ps((__m128)a, (__m128)b); }
static inline float4 float4_max(float4 a, float4 b) { return (float4)_mm_max_ps((__m128)a, (__m128)b); }
#else
static inline float4 float4_min(float4 a, float4 b) { return float4_select(a < b, a, b); }
static inline float4 float4_max(float4 a, float4 b) { return float4_select(a > b, a, b); }
#endif

static inline float4 float4_all(float a) { return (float4){a, a, a, a}; }
static inline float4 float4_xyz(const float a[3]) { return (float4){a[0], a[1], a[2], 0.0f}; }

#endif
