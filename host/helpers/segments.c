/* Many segments at once, on the threads of the pool. */
#include "helpers/segment.h"

#include "base/pool.h"
#include "base/status.h"

/* Some 50 us. */
#define SEGMENTS_A_PIECE 16384

/* Points that are `stride` bytes apart. */
typedef struct points {
  const char *first;
  size_t stride;
} points;

typedef struct segments {
  points from, to;
  slab_ray *rays;
} segments;

static const float *point_of(const points *p, size_t i) { return (const void *)(p->first + i * p->stride); }

static void make_segments(void *argument, size_t begin, size_t end) {
  const segments *s = argument;
  for (size_t i = begin; i < end; i++) {
    s->rays[i] = (slab_ray){.t_max = 1.0f};
    segment(&s->rays[i], point_of(&s->from, i), point_of(&s->to, i));
  }
}

slab_status slab_segments(const float *from, size_t from_stride, const float *to, size_t to_stride, size_t n,
                          slab_ray *rays) {
  ARITHMETIC callers = arithmetic_begin();
  const char *missing = from == NULL ? "from" : to == NULL ? "to" : rays == NULL ? "rays" : NULL;
  if (n > 0 && missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_segments: %s is NULL", missing);
  segments s = {{(const char *)from, from_stride}, {(const char *)to, to_stride}, rays};
  pool_loop(0, n, SEGMENTS_A_PIECE, make_segments, &s);
  return SLAB_OK;
}
