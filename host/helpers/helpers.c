/* The header's helpers that compute, except those for the camera, and rays of doubles. */
#include "base/arithmetic.h"
#include "base/pool.h"
#include "base/status.h"
#include "slabcast.h"

/* Some 50 us. */
#define SEGMENTS_A_PIECE 16384

ARITHMETIC_BODY static void segment(slab_ray *ray, const float a[3], const float b[3]) {
  for (int i = 0; i < 3; i++) {
    ray->origin[i] = a[i];
    ray->direction[i] = b[i] - a[i];
  }
}

slab_ray slab_segment(const float a[3], const float b[3]) {
  ARITHMETIC callers = arithmetic_begin();
  slab_ray ray = {.t_max = 1.0f};
  segment(&ray, a, b);
  return ray;
}

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

ARITHMETIC_BODY static void plane_through(slab_plane *plane, const float point[3], const float normal[3]) {
  for (int i = 0; i < 3; i++) plane->normal[i] = normal[i];
  plane->offset = (normal[0] * point[0] + normal[1] * point[1]) + normal[2] * point[2];
}

slab_plane slab_plane_through(const float point[3], const float normal[3]) {
  ARITHMETIC callers = arithmetic_begin();
  slab_plane plane;
  plane_through(&plane, point, normal);
  return plane;
}

ARITHMETIC_BODY static void point_at(const slab_ray *ray, float t, float point[3]) {
  for (int i = 0; i < 3; i++) point[i] = ray->origin[i] + t * ray->direction[i];
}

void slab_point_at(const slab_ray *ray, float t, float point[3]) {
  ARITHMETIC callers = arithmetic_begin();
  point_at(ray, t, point);
}

size_t slab_result_size(slab_query query) {
  switch (query) {
    case SLAB_CLOSEST:
    case SLAB_ALL:
      return sizeof(slab_hit);
    case SLAB_DISTANCE:
      return sizeof(float);
    case SLAB_ANY:
      return sizeof(uint8_t);
    case SLAB_COUNT:
      return sizeof(uint32_t);
    case SLAB_INTERVAL:
      return sizeof(slab_interval);
    case SLAB_NEAREST:
      return sizeof(slab_short_hit);
  }
  return 0;
}
