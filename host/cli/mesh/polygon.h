/* Polygons into triangles. */
#ifndef SLABCAST_CLI_POLYGON_H
#define SLABCAST_CLI_POLYGON_H

#include <stddef.h>
#include <stdint.h>

/* Splits the polygon with corners at these points (three coordinates each, in order) into exactly
 * n - 2 triangles: corners counted from 0, three to each triangle, same winding. A convex one
 * becomes the fan around corner 0. Whatever its shape, the triangles' outer edges are the
 * polygon's, so that a closed mesh stays closed. n >= 3; 0 done, -1 no memory. */
int polygon_split(const float *points, size_t n, uint32_t *triangles);

#endif
