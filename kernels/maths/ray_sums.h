/* Sums over the results of a row's rays (docs/contract.md, "Sums over rows of rays"). Integers are added in any order,
 * t in one order, so that all devices give the same bits. */
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

INLINE uint sum_is_t(const summed_rays *of, uint i) { return of->t[i] < (float)INFINITY ? 1u : 0u; }

INLINE bool sum_is_valid(const summed_rays *of, uint i) {
  const slab_ray ray = of->rays[i];
  return ray_is_valid(&ray) != 0;
}

/* ---- shares. Loops take all rays for valid and have no branches; the few that are not leave their sums later. Bytes
 * and t have loops of their own: one that selects reads both, by masked loads, and those of no array take 20 times as
 * long. ---- */

INLINE uint sum_hits(const summed_rays *of) {
  uint hits = 0;
  if (of->any != 0) {
    for (uint i = 0; i < of->count; i++) hits += of->any[i];
  } else {
    for (uint i = 0; i < of->count; i++) hits += sum_is_t(of, i);
  }
  return hits;
}

INLINE ulong sum_blocked(const summed_rays *of) {
  ulong blocked = 0;
  if (of->any != 0) {
    for (uint i = 0; i < of->count; i++) blocked += of->weights[i] & (0 - (ulong)of->any[i]);
  } else {
    for (uint i = 0; i < of->count; i++) blocked += of->weights[i] & (0 - (ulong)sum_is_t(of, i));
  }
  return blocked;
}

INLINE ulong sum_weights(const summed_rays *of) {
  ulong all = 0;
  for (uint i = 0; i < of->count; i++) all += of->weights[i];
  return all;
}

/* No invalid ray hits, so it was counted as open. */
INLINE void sum_without_invalid(const summed_rays *of, sum_part *sum) {
  for (uint i = 0; i < of->count; i++) {
    if (sum_is_valid(of, i)) continue;
    sum->rays--;
    sum->open -= of->weights != 0 ? of->weights[i] : (ulong)1 << 32;
  }
}

/* ---- t ---- */

/* Adds the t of rays that follow each other to the strands; beyond `count` there are none. */
INLINE void sum_strands(const global float *t, uint count, float strands[SUM_STRANDS]) {
  UNROLL for (uint j = 0; j < SUM_STRANDS; j++) {
    const float x = j < count ? t[j] : (float)INFINITY;
    strands[j] += x < (float)INFINITY ? x : 0.0f;
  }
}

INLINE float sum_block(const global float *t, uint count) {
  float strands[SUM_STRANDS] = {0};
  uint i = 0;
  for (; i + SUM_STRANDS <= count; i += SUM_STRANDS) sum_strands(t + i, SUM_STRANDS, strands);
  if (i < count) sum_strands(t + i, count - i, strands);
  UNROLL for (uint apart = SUM_STRANDS / 2; apart > 0; apart /= 2) UNROLL for (uint j = 0; j < apart; j++) strands[j] +=
      strands[j + apart];
  return strands[0];
}

INLINE void sum_t(const summed_rays *of, sum_part *sum) {
  float least = (float)INFINITY, all = 0.0f;
  for (uint i = 0; i < of->count; i++) least = of->t[i] < least ? of->t[i] : least;
  for (uint i = 0; i < of->count; i += SUM_BLOCK)
    all += sum_block(of->t + i, of->count - i < SUM_BLOCK ? of->count - i : SUM_BLOCK);
  sum->least = least;
  sum->sum = all;
}

INLINE void sum_shares(const summed_rays *of, global sum_part *to) {
  sum_part sum;
  sum.rays = of->count;
  sum.hits = sum_hits(of);
  sum.blocked = of->weights != 0 ? sum_blocked(of) : (ulong)sum.hits << 32;
  sum.open = (of->weights != 0 ? sum_weights(of) : (ulong)of->count << 32) - sum.blocked;
  sum.least = sum.sum = NAN;
  if (of->rays != 0) sum_without_invalid(of, &sum);
  if (of->any == 0) sum_t(of, &sum);
  *to = sum;
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
    for (uint i = 0; i < count; i++) word |= (1u - of->any[first + i]) << i;
    for (uint i = 0; i < count && of->rays != 0; i++) word &= sum_is_valid(of, first + i) ? ~0u : ~(1u << i);
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
