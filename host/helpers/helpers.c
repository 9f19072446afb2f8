/* The header's helpers that compute, except those for the camera, and rays of doubles. */
#include "base/arithmetic.h"
#include "helpers/segment.h"
#include "slabcast.h"

slab_ray slab_segment(const float a[3], const float b[3]) {
  ARITHMETIC callers = arithmetic_begin();
  slab_ray ray = {.t_max = 1.0f};
  segment(&ray, a, b);
  return ray;
}

ARITHMETIC_BODY static void segment64(slab_ray64 *ray, const double a[3], const double b[3]) {
  for (int i = 0; i < 3; i++) {
    ray->origin[i] = a[i];
    ray->direction[i] = b[i] - a[i];
  }
}

slab_ray64 slab_segment64(const double a[3], const double b[3]) {
  ARITHMETIC callers = arithmetic_begin();
  slab_ray64 ray = {.t_max = 1.0};
  segment64(&ray, a, b);
  return ray;
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

size_t slab_result_size64(slab_query query) {
  switch (query) {
    case SLAB_CLOSEST:
    case SLAB_ALL:
      return sizeof(slab_hit64);
    case SLAB_DISTANCE:
      return sizeof(double);
    case SLAB_INTERVAL:
      return sizeof(slab_interval64);
    case SLAB_NEAREST:
      return sizeof(slab_short_hit64);
    case SLAB_ANY:
    case SLAB_COUNT:
      break;
  }
  return slab_result_size(query);
}
