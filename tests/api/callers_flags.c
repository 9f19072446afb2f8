#include "callers_flags.h"

slab_ray flagged_camera_ray(const slab_camera *camera, uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
  return slab_camera_ray(camera, x, y, width, height);
}

slab_ray flagged_segment(const float a[3], const float b[3]) { return slab_segment(a, b); }

slab_plane flagged_plane_through(const float point[3], const float normal[3]) {
  return slab_plane_through(point, normal);
}

void flagged_point_at(const slab_ray *ray, float t, float point[3]) { slab_point_at(ray, t, point); }
