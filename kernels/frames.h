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
  size_t first; /* number of the ray in lane 0 */
  size_t count;
  uint word[FRAME_WORDS][LANES];
} frames;

INLINE void frames_prepare(frames *f, const global slab_ray *rays, const cast_uniforms *cast, size_t first,
                           size_t count) {
  f->first = first;
  f->count = count;
  for (size_t k = 0; k < count; k++) {
    const slab_ray given = query_ray(rays, cast, first + k);
    const frame_words w = {.frame = ray_prepare(&given)};
    UNROLL for (uint i = 0; i < FRAME_WORDS; i++) f->word[i][k] = w.word[i];
  }
}

/* Ray `number`, the next or one after it, of those before `end`. */
INLINE ray_frame frames_take(frames *f, const global slab_ray *rays, const cast_uniforms *cast, size_t number,
                             size_t end) {
  frame_words w;
  if (LANES == 1) {
    const slab_ray given = query_ray(rays, cast, number);
    return ray_prepare(&given);
  }
  if (number - f->first >= f->count) frames_prepare(f, rays, cast, number, end - number < LANES ? end - number : LANES);
  UNROLL for (uint i = 0; i < FRAME_WORDS; i++) w.word[i] = f->word[i][number - f->first];
  return w.frame;
}

#endif
