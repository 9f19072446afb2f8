/* The SIMD baseline in AVX-512: 16 boxes, stored by component, against one ray. */
#include <immintrin.h>

#define WIDTH 16
typedef __m512 vec;
typedef __mmask16 lanes;

#define vec_all(x) _mm512_set1_ps(x)
#define vec_load(p) _mm512_load_ps(p)
#define vec_sub(a, b) _mm512_sub_ps(a, b)
#define vec_mul(a, b) _mm512_mul_ps(a, b)
/* Returns the second operand where one is NaN. */
#define vec_max(fresh, kept) _mm512_max_ps(fresh, kept)
#define vec_min(fresh, kept) _mm512_min_ps(fresh, kept)
#define vec_le(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ)
#define lanes_or(a, b) _mm512_kor(a, b)
#define lanes_none(m) _mm512_kortestz(m, m)
#define lanes_mask(m) ((uint32_t)(m))
#define vec_opaque(x) __asm__ volatile("" : "+v"(x))
#define lanes_used(m) __asm__ volatile("" : : "k"(m))

#define SIMD_BASELINE simd_baseline_avx512
#define SIMD_BASELINE_NAME "AVX-512"
#include "simd_baseline_loop.h"
