/* The header's helpers, compiled as a caller may compile them: with a compiler that contracts a * b + c, for a
 * processor with fma. */
#ifndef CALLERS_FLAGS_H
#define CALLERS_FLAGS_H

#include "slabcast.h"

slab_ray flagged_camera_ray(const slab_camera *camera, uint32_t x, uint32_t y, uint32_t width, uint32_t height);
slab_ray flagged_segment(const float a[3], const float b[3]);
slab_plane flagged_plane_through(const float point[3], const float normal[3]);
void flagged_point_at(const slab_ray *ray, float t, float point[3]);

#endif
