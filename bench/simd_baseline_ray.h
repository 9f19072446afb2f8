/* Prepares rays for the SIMD baseline: the contract's rules in SSE, without branches that random rays would
 * mispredict. */
#ifndef SLABCAST_BENCH_SIMD_BASELINE_RAY_H
#define SLABCAST_BENCH_SIMD_BASELINE_RAY_H

#include <float.h>
#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "simd_baseline.h"

/* A ray in a group, and its best hit so far. */
typedef struct state {
  float origin[4], inverse[4]; /* inverse: of the direction scaled by a power of two to a largest component in [1, 2) */
  float t_min, back[2];        /* t * back[0] * back[1] is t in units of the caller's direction */
  float limit;                 /* t_max, then the best t: the end of the search range */
  uint32_t primitive;          /* the best hit; SLAB_MISS before there is one */
  uint32_t octant;             /* bit i: the direction is negative in component i */
  int live;
} state;

static inline __m128 magnitude(__m128 x) { return _mm_and_ps(x, _mm_castsi128_ps(_mm_set1_epi32(0x7FFFFFFF))); }

static inline float float_from_bits(int32_t bits) { return _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(bits))); }

/* 2^e as a product, -252 <= e <= 254. */
static inline void split_power(int e, float factor[2]) {
  factor[0] = float_from_bits((e / 2 + 127) << 23);
  factor[1] = float_from_bits((e - e / 2 + 127) << 23);
}

/* The exponent of the largest of the first three magnitudes, which is not 0. */
static inline int largest_exponent(__m128 sizes) {
  const __m128 xy = _mm_max_ss(sizes, _mm_shuffle_ps(sizes, sizes, 1));
  __m128 largest = _mm_max_ss(xy, _mm_shuffle_ps(sizes, sizes, 2));
  int shift = 0;
  if (_mm_cvtss_f32(largest) < FLT_MIN) {
    largest = _mm_mul_ss(largest, _mm_set_ss(0x1p64f));
    shift = 64;
  }
  return (_mm_cvtsi128_si32(_mm_castps_si128(largest)) >> 23) - 127 - shift;
}

/* False for NaN too. */
static inline int ray_is_sound(__m128 origin, __m128 direction, float t_min, float t_max) {
  const __m128 near = _mm_cmple_ps(magnitude(origin), _mm_set1_ps(0x1p60f));
  const __m128 finite = _mm_cmple_ps(magnitude(direction), _mm_set1_ps(FLT_MAX));
  const __m128 moves = _mm_cmpneq_ps(direction, _mm_setzero_ps());
  const __m128 range = _mm_cmpord_ss(_mm_set_ss(t_min), _mm_set_ss(t_max));
  const int sound = _mm_movemask_ps(_mm_and_ps(near, finite)) & 7, moving = _mm_movemask_ps(moves) & 7;
  return sound == 7 && moving != 0 && (_mm_movemask_ps(range) & 1) != 0;
}

static inline float clamped(float t, float limit) {
  const __m128 x = _mm_max_ss(_mm_set_ss(t), _mm_set_ss(-limit));
  return _mm_cvtss_f32(_mm_min_ss(x, _mm_set_ss(limit)));
}

static state state_begin(const slab_ray *given) {
  state s = {.primitive = SLAB_MISS};
  const __m128 origin = _mm_loadu_ps(given->origin), direction = _mm_loadu_ps(given->direction);
  const float t_min = given->t_min, t_max = given->t_max;
  float forth[2];
  if (!ray_is_sound(origin, direction, t_min, t_max)) return s;
  const int e = largest_exponent(magnitude(direction));
  split_power(-e, s.back);
  split_power(e, forth);
  __m128 d = _mm_mul_ps(_mm_mul_ps(direction, _mm_set1_ps(s.back[0])), _mm_set1_ps(s.back[1]));
  d = _mm_and_ps(d, _mm_cmpge_ps(magnitude(d), _mm_set1_ps(FLT_MIN)));
  _mm_storeu_ps(s.origin, origin);
  _mm_storeu_ps(s.inverse, _mm_div_ps(_mm_set1_ps(1.0f), d));
  s.octant = (uint32_t)_mm_movemask_ps(d) & 7;
  const float limit = e < 0 ? FLT_MAX * forth[0] * forth[1] : FLT_MAX;
  s.t_min = clamped(t_min * forth[0] * forth[1], limit);
  s.limit = clamped(t_max * forth[0] * forth[1], limit);
  s.live = t_min <= t_max && t_min <= FLT_MAX && t_max >= -FLT_MAX;
  return s;
}

static inline simd_baseline_answer state_end(const state *s) {
  const int found = s->primitive != SLAB_MISS;
  return (simd_baseline_answer){found ? s->limit * s->back[0] * s->back[1] + 0.0f : INFINITY, s->primitive};
}

/* Sorts the valid rays by octant, so that later branches on the octant are predicted. */
static inline uint32_t sort_by_octant(const state *states, uint32_t count, uint8_t *order) {
  uint32_t first[9] = {0}, live = 0;
  for (uint32_t i = 0; i < count; i++) first[states[i].octant + 1] += states[i].live != 0;
  for (uint32_t o = 0; o < 8; o++) first[o + 1] += first[o];
  live = first[8];
  for (uint32_t i = 0; i < count; i++)
    if (states[i].live) order[first[states[i].octant]++] = (uint8_t)i;
  return live;
}

#endif
