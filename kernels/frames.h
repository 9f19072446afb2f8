/* Rays that are prepared by LANES at once and taken one by one: a loop without branches, of which compilers make
 * vectors. */
#ifndef FRAMES_H
#define FRAMES_H

#include "columns.h"
#include "query.h"

#define FRAME_WORDS (sizeof(ray_frame) / sizeof(uint))

typedef union frame_words {
  ray_frame frame;
  uint word[FRAME_WORDS];
} frame_words;

typedef struct frames {
  size_t first; /* n of the ray in lane 0 */
  size_t count;
  uint word[FRAME_WORDS][LANES];
} frames;

#if LANES > 1
INLINE void frames_prepare(frames *f, const global slab_ray *rays, const global uint *sorted, const cast_uniforms *cast,
                           size_t first, size_t count) {
  real column[RAY_WORDS];
  float field[RAY_WORDS][LANES];
  f->first = first;
  f->count = count;
  columns_load(rays, sorted, cast, first, count, column);
  UNROLL for (uint i = 0; i < RAY_WORDS; i++) lanes_store(column[i], field[i]);
  for (size_t k = 0; k < LANES; k++) {
    const slab_ray given = {
        {field[0][k], field[1][k], field[2][k]}, field[3][k], {field[4][k], field[5][k], field[6][k]}, field[7][k]};
    const frame_words w = {.frame = ray_prepare(&given)};
    UNROLL for (uint i = 0; i < FRAME_WORDS; i++) f->word[i][k] = w.word[i];
  }
}
#endif

/* Rays to come, that lie anywhere. */
INLINE void frames_fetch(const global slab_ray *rays, const global uint *sorted, const cast_uniforms *cast, size_t from,
                         size_t end) {
  for (size_t nth = from; nth < end && nth < from + LANES; nth++)
    memory_fetch((size_t)((const global uint *)rays + cast->at[AT_RAYS]) + sorted[nth] * sizeof(slab_ray),
                 sizeof(slab_ray));
}

/* The nth ray, the next or one after it, of those before `end`. */
INLINE ray_frame frames_take(frames *f, const global slab_ray *rays, const global uint *sorted,
                             const cast_uniforms *cast, size_t nth, size_t end) {
#if LANES == 1
  (void)f, (void)end;
  const slab_ray given = query_ray(rays, cast, ray_number(sorted, nth));
  return ray_prepare(&given);
#else
  frame_words w;
  if (nth - f->first >= f->count) {
    frames_prepare(f, rays, sorted, cast, nth, end - nth < LANES ? end - nth : LANES);
    if (sorted != 0) frames_fetch(rays, sorted, cast, nth + LANES, end);
  }
  UNROLL for (uint i = 0; i < FRAME_WORDS; i++) w.word[i] = f->word[i][nth - f->first];
  return w.frame;
#endif
}

#endif
