/* Prepares LANES rays at once, which are then taken one by one. The loop that prepares them has no branches, so
 * compilers vectorise it. */
#ifndef WALK_PREPARED_RAYS_H
#define WALK_PREPARED_RAYS_H

#include "walk/columns.h"
#include "walk/query.h"

/* Makes the compiler read a ray from memory wherever it is needed. Otherwise compilers broadcast each number of it to
 * the lanes of a register. There are not enough registers, so they would spill the numbers to memory at eight times
 * their size. */
#if LANES > 1 && defined(SLAB_ASSEMBLY)
INLINE const prepared_ray *prepared_kept(const prepared_ray *ray) {
  __asm__("" : "+r"(ray));
  return ray;
}
#else
#define prepared_kept(ray) (ray)
#endif

#define PREPARED_WORDS (sizeof(prepared_ray) / sizeof(uint))
#define PREPARED_PARTS ((PREPARED_WORDS + 7) / 8) /* groups of eight words, which are transposed together */

typedef union prepared_words {
  prepared_ray ray;
  uint word[PREPARED_WORDS];
  float part[8 * PREPARED_PARTS];
} prepared_words;

typedef struct prepared_rays {
  size_t first; /* number n (of prepared_rays_take) of the ray in lane 0 */
  size_t count;
  prepared_words of[LANES];
} prepared_rays;

#if LANES > 1
/* Copies a ray by the parts in which it was stored, just before. Copied as a struct its last part is loaded from two of
 * them, and a load of what two stores have written has to wait until they are done. */
INLINE void prepared_rays_copy(prepared_words *to, const prepared_words *from) {
  UNROLL for (uint p = 0; p < PREPARED_PARTS; p++) vstore8(vload8(p, from->part), p, to->part);
}

/* Stores a vector as a whole. Otherwise compilers store the halves and quarters that a transposition combines one by
 * one, and a load of the whole has to wait for such stores. */
INLINE void prepared_rays_store(float8 part, float *to) {
#if defined(SLAB_ASSEMBLY) && defined(__AVX__)
  __asm__("" : "+x"(part));
#endif
  vstore8(part, 0, to);
}

/* Prepares `count` rays from the first on and transposes them, so that a ray is copied by a few loads. Copied number by
 * number, interleaved rays take 1.05 to 1.15 times as long (PoCL 3.1, Zen 3). */
INLINE void prepared_rays_fill(prepared_rays *f, const cast_arrays *arrays, const cast_uniforms *cast, size_t first,
                               size_t count) {
  real column[RAY_WORDS];
  float field[RAY_WORDS][LANES], word[PREPARED_WORDS][LANES];
  f->first = first;
  f->count = count;
  columns_of_rays(arrays, cast, first, count, column);
  UNROLL for (uint i = 0; i < RAY_WORDS; i++) lanes_store(column[i], field[i]);
  for (size_t k = 0; SLAB_OWN && k < count; k++)
    own_spoils(arrays, cast, ray_number(arrays->sorted, first + k), &field[3][k]);
  for (size_t k = 0; k < LANES; k++) {
    const slab_ray given = {
        {field[0][k], field[1][k], field[2][k]}, field[3][k], {field[4][k], field[5][k], field[6][k]}, field[7][k]};
    const prepared_words w = {.ray = ray_prepare(&given)};
    UNROLL for (uint i = 0; i < PREPARED_WORDS; i++) word[i][k] = as_float(w.word[i]);
  }
  UNROLL for (uint p = 0; p < PREPARED_PARTS; p++) {
    UNROLL for (uint i = 0; i < 8; i++) column[i] =
        8 * p + i < PREPARED_WORDS ? lanes_load(word[8 * p + i]) : (real)(0.0f);
    lanes_transpose(column);
    UNROLL for (uint k = 0; k < LANES; k += 8) UNROLL for (uint i = 0; i < 8; i++)
        prepared_rays_store(lanes_eight_of(column[i], k), f->of[k + i].part + 8 * p);
  }
}
#endif

/* Prefetches the next rays of a sorted cast, which are scattered in memory. */
INLINE void prepared_rays_fetch(const cast_arrays *arrays, const cast_uniforms *cast, size_t from, size_t end) {
  for (size_t nth = from; nth < end && nth < from + LANES; nth++)
    memory_fetch(
        (size_t)((const global uint *)arrays->rays + cast->at[AT_RAYS]) + arrays->sorted[nth] * sizeof(slab_ray),
        sizeof(slab_ray));
}

/* The nth ray of those before `end`. n is larger in each call. */
INLINE const prepared_words *prepared_rays_take(prepared_rays *f, const cast_arrays *arrays, const cast_uniforms *cast,
                                                size_t nth, size_t end) {
#if LANES == 1
  (void)end;
  const slab_ray given = query_ray(arrays, cast, ray_number(arrays->sorted, nth));
  f->of[0].ray = ray_prepare(&given);
  return &f->of[0];
#else
  if (nth - f->first >= f->count) {
    if (end - nth == 1) { /* alone: LANES at once take 750 instructions, this one fewer than 500 */
      const slab_ray given = query_ray(arrays, cast, ray_number(arrays->sorted, nth));
      ray_prepare_alone(ray_across(given.origin), ray_across(given.direction), given.t_min, given.t_max, &f->of[0].ray);
      return &f->of[0];
    }
    prepared_rays_fill(f, arrays, cast, nth, end - nth < LANES ? end - nth : LANES);
    if (arrays->sorted != 0) prepared_rays_fetch(arrays, cast, nth + LANES, end);
  }
  return &f->of[nth - f->first];
#endif
}

#endif
