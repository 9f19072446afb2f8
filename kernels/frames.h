/* Rays that are prepared by LANES at once and taken one by one: a loop without branches, of which compilers make
 * vectors. */
#ifndef FRAMES_H
#define FRAMES_H

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

/* The number of the nth ray that is cast. sorted: all numbers in that order; NULL: as rays stand. */
INLINE size_t ray_number(const global uint *sorted, size_t nth) { return sorted != 0 ? sorted[nth] : nth; }

INLINE void frames_prepare(frames *f, const global slab_ray *rays, const global uint *sorted, const cast_uniforms *cast,
                           size_t first, size_t count) {
  f->first = first;
  f->count = count;
  for (size_t k = 0; k < count; k++) {
    const slab_ray given = query_ray(rays, cast, ray_number(sorted, first + k));
    const frame_words w = {.frame = ray_prepare(&given)};
    UNROLL for (uint i = 0; i < FRAME_WORDS; i++) f->word[i][k] = w.word[i];
  }
}

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
  frame_words w;
  if (LANES == 1) {
    const slab_ray given = query_ray(rays, cast, ray_number(sorted, nth));
    return ray_prepare(&given);
  }
  if (nth - f->first >= f->count) {
    frames_prepare(f, rays, sorted, cast, nth, end - nth < LANES ? end - nth : LANES);
    if (sorted != 0) frames_fetch(rays, sorted, cast, nth + LANES, end);
  }
  UNROLL for (uint i = 0; i < FRAME_WORDS; i++) w.word[i] = f->word[i][nth - f->first];
  return w.frame;
}

#endif
