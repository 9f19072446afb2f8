/* Sums over the results of a row's rays (docs/contract.md, "Sums over rows of rays"): of integers in any order, of t in
 * one order, so that all devices give the same bits. */
#ifndef MATHS_RAY_SUMS_H
#define MATHS_RAY_SUMS_H

#include "data/ray_sums.h"
#include "maths/ray.h"

/* The rays of a part: some columns of one row. */
typedef struct summed_rays {
  const global slab_ray *rays; /* NULL: all are valid */
  const global uchar *any;     /* results, where they are bytes */
  const global float *t;       /* results, where they are t */
  const global ulong *weights; /* NULL: each is 1 */
  uint count;
} summed_rays;

INLINE bool sum_is_valid(const summed_rays *of, uint i) {
  if (of->rays == 0) return true;
  const slab_ray ray = of->rays[i];
  return ray_is_valid(&ray) != 0;
}

INLINE bool sum_is_hit(const summed_rays *of, uint i) {
  return of->any != 0 ? of->any[i] != 0 : of->t[i] < (float)INFINITY;
}

/* ---- shares ---- */

/* Rays of weight 1. */
INLINE void sum_counts(const summed_rays *of, global sum_part *to) {
  uint rays = 0, hits = 0;
  for (uint i = 0; i < of->count; i++) {
    rays += sum_is_valid(of, i) ? 1u : 0u;
    hits += sum_is_hit(of, i) ? 1u : 0u; /* no invalid ray is */
  }
  to->rays = rays;
  to->hits = hits;
  to->open = (ulong)(rays - hits) << 32;
  to->blocked = (ulong)hits << 32;
}

INLINE void sum_weights(const summed_rays *of, global sum_part *to) {
  ulong open = 0, blocked = 0;
  for (uint i = 0; i < of->count; i++) {
    const ulong weight = of->weights[i];
    const bool hit = sum_is_hit(of, i);
    blocked += hit ? weight : 0;
    open += !hit && sum_is_valid(of, i) ? weight : 0;
  }
  to->open = open;
  to->blocked = blocked;
}

/* ---- t ---- */

INLINE float sum_block(const summed_rays *of, uint first) {
  const uint rest = of->count - first, end = first + (rest < SUM_BLOCK ? rest : SUM_BLOCK);
  float strands[SUM_STRANDS] = {0};
  for (uint i = first; i < end; i += SUM_STRANDS) UNROLL for (uint j = 0; j < SUM_STRANDS; j++) {
      const float t = i + j < end ? of->t[i + j] : (float)INFINITY;
      strands[j] += t < (float)INFINITY ? t : 0.0f;
    }
  UNROLL for (uint apart = SUM_STRANDS / 2; apart > 0; apart /= 2) UNROLL for (uint j = 0; j < apart; j++) strands[j] +=
      strands[j + apart];
  return strands[0];
}

INLINE void sum_t(const summed_rays *of, global sum_part *to) {
  float least = (float)INFINITY, sum = 0.0f;
  for (uint i = 0; i < of->count; i++) least = of->t[i] < least ? of->t[i] : least;
  for (uint i = 0; i < of->count; i += SUM_BLOCK) sum += sum_block(of, i);
  to->least = least;
  to->sum = sum;
}

INLINE void sum_shares(const summed_rays *of, global sum_part *to) {
  sum_counts(of, to);
  if (of->weights != 0) sum_weights(of, to);
  if (of->any != 0) {
    to->least = to->sum = NAN;
  } else {
    sum_t(of, to);
  }
}

/* ---- histograms, bits ---- */

INLINE void sum_histogram(const ray_sums *sums, const summed_rays *of, global uint *bins) {
  for (uint i = 0; i < sums->bins; i++) bins[i] = 0;
  for (uint i = 0; i < of->count; i++) {
    const float place = (of->t[i] - sums->from) * sums->scale;
    if (of->t[i] < (float)INFINITY && place >= 0.0f && place < (float)sums->bins) bins[(uint)place]++;
  }
}

INLINE void sum_bits(const summed_rays *of, global uint *words) {
  for (uint first = 0; first < of->count; first += 32) {
    const uint rest = of->count - first, count = rest < 32 ? rest : 32;
    uint word = 0;
    for (uint i = 0; i < count; i++) word |= !sum_is_hit(of, first + i) && sum_is_valid(of, first + i) ? 1u << i : 0u;
    words[first / 32] = word;
  }
}

INLINE void sum_part_of(const ray_sums *sums, const summed_rays *of, global uint *to) {
  if (sums->type == SLAB_RESULT_SUMS)
    sum_shares(of, (global sum_part *)to);
  else if (sums->type == SLAB_RESULT_HISTOGRAM)
    sum_histogram(sums, of, to);
  else
    sum_bits(of, to);
}

#endif
