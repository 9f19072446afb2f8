/* The CPU reference of points: the kernels' own maths headers compiled as C11, by brute force. */
#ifndef SLABCAST_CHECK_REFERENCE_POINTS_H
#define SLABCAST_CHECK_REFERENCE_POINTS_H

#include <stdbool.h>

#include "check/ray_own.h"
#include "record/boundary.h"
#include "record/snapshot.h"
#include "slabcast.h"

/* The answer of slab_closest_points to one point. sees: of the point. radius: INFINITY for none. */
slab_closest_point reference_closest_point(const snapshot *, const float point[3], visibility sees, float radius);

bool reference_point_is_valid(const float point[3]);
/* The answer of slab_winding to one. */
int32_t reference_winding(const snapshot *, const float point[3], visibility sees);
/* The same of slab_winding_numbers, with the scene's boundary. */
float reference_winding_number(const snapshot *, const boundary *, const float point[3], visibility sees);

#endif
