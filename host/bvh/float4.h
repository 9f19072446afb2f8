/* Vectors of four floats in the portable vector extension of GCC and Clang, and bounds of two of them. */
#ifndef SLABCAST_BVH_FLOAT4_H
#define SLABCAST_BVH_FLOAT4_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef float float4 __attribute__((vector_size(16)));
typedef int32_t int4 __attribute__((vector_size(16)));
typedef uint32_t uint4 __attribute__((vector_size(16)));

/* a where chosen is set, otherwise b. */
static inline float4 float4_select(int4 chosen, float4 a, float4 b) {
  return (float4)((chosen & (int4)a) | (~chosen & (int4)b));
}

/* Whether some lane is not 0. */
static inline bool int4_any(int4 a) {
#ifdef __SSE2__
  return _mm_movemask_ps((__m128)a) != 0;
#else
  return (a[0] | a[1] | a[2] | a[3]) != 0;
#endif
}

/* Whether the first three lanes, which are 0 or -1, are -1. */
static inline bool int4_all_xyz(int4 a) {
#ifdef __SSE2__
  return (_mm_movemask_ps((__m128)a) & 7) == 7;
#else
  return (a[0] & a[1] & a[2]) != 0;
#endif
}

/* Whether the first three lanes have the same bits. */
static inline bool float4_same_xyz(float4 a, float4 b) { return int4_all_xyz((int4)a == (int4)b); }

/* SSE2 intrinsics: the compilers do not generate these instructions for the plain expressions. */
#ifdef __SSE2__
static inline float4 float4_min(float4 a, float4 b) { return (float4)_mm_min_ps((__m128)a, (__m128)b); }
static inline float4 float4_max(float4 a, float4 b) { return (float4)_mm_max_ps((__m128)a, (__m128)b); }
#else
static inline float4 float4_min(float4 a, float4 b) { return float4_select(a < b, a, b); }
static inline float4 float4_max(float4 a, float4 b) { return float4_select(a > b, a, b); }
#endif

/* Swaps rows and columns of a, b, c, d. */
static inline void float4_transpose(float4 *a, float4 *b, float4 *c, float4 *d) {
#ifdef __SSE2__
  _MM_TRANSPOSE4_PS(*(__m128 *)a, *(__m128 *)b, *(__m128 *)c, *(__m128 *)d);
#else
  const float4 rows[4] = {*a, *b, *c, *d};
  for (int i = 0; i < 4; i++) {
    (*a)[i] = rows[i][0];
    (*b)[i] = rows[i][1];
    (*c)[i] = rows[i][2];
    (*d)[i] = rows[i][3];
  }
#endif
}

/* Of four floats at any address. */
static inline float4 float4_load(const float *from) {
  float4 v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
static inline void float4_store(float4 v, float *to) { __builtin_memcpy(to, &v, sizeof v); }

static inline float4 float4_all(float a) { return (float4){a, a, a, a}; }
static inline float4 float4_xyz(const float a[3]) { return (float4){a[0], a[1], a[2], 0.0f}; }

/* Lane 3 means nothing. */
typedef struct aabb {
  float4 lower, upper;
} aabb;

static inline aabb aabb_empty(void) { return (aabb){float4_all(INFINITY), float4_all(-INFINITY)}; }
static inline aabb aabb_join(aabb a, aabb b) {
  return (aabb){float4_min(a.lower, b.lower), float4_max(a.upper, b.upper)};
}
static inline aabb aabb_add(aabb a, float4 point) {
  return (aabb){float4_min(a.lower, point), float4_max(a.upper, point)};
}

#endif
