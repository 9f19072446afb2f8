/* The SIMD baseline in AVX2: 8 boxes, stored by component, against one ray. */
#include <immintrin.h>

#define WIDTH 8
typedef __m256 vec;
typedef __m256 lanes;

#define vec_all(x) _mm256_set1_ps(x)
#define vec_load(p) _mm256_load_ps(p)
#define vec_sub(a, b) _mm256_sub_ps(a, b)
#define vec_mul(a, b) _mm256_mul_ps(a, b)
/* Returns the second operand where one is NaN. */
#define vec_max(fresh, kept) _mm256_max_ps(fresh, kept)
#define vec_min(fresh, kept) _mm256_min_ps(fresh, kept)
#define vec_le(a, b) _mm256_cmp_ps(a, b, _CMP_LE_OQ)
#define lanes_or(a, b) _mm256_or_ps(a, b)
#define lanes_none(m) (_mm256_movemask_ps(m) == 0)
#define lanes_mask(m) ((uint32_t)_mm256_movemask_ps(m))
#define vec_opaque(x) __asm__ volatile("" : "+x"(x))
#define lanes_used(m) __asm__ volatile("" : : "x"(m))

#define SIMD_BASELINE simd_baseline_avx2
#define SIMD_BASELINE_NAME "AVX2"
#include "simd_baseline_loop.h"
