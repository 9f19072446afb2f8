/* Closest points by Embree 4, of triangles. */
#ifndef SLABCAST_BENCH_EMBREE_POINTS_H
#define SLABCAST_BENCH_EMBREE_POINTS_H

#include <stddef.h>
#include <stdint.h>

#include "sets/scenes.h"

typedef struct embree_points embree_points;

/* A scene of build quality HIGH, which `threads` threads query. The geometry is the caller's, and stays. Returns NULL
 * with a message on stderr where there is no device or no memory. */
embree_points *embree_points_open(const scene_geometry *, uint32_t threads, int robust);
void embree_points_close(embree_points *);
/* n points of 3 floats. Of the results distance, point and primitive count. Returns false with a message on stderr. */
int embree_points_ask(const embree_points *, const float *points, size_t n, slab_closest_point *results);

#endif
