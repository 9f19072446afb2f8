/* Splits polygons into triangles. */
#ifndef SLABCAST_PROGRAM_MESH_POLYGON_H
#define SLABCAST_PROGRAM_MESH_POLYGON_H

#include <stddef.h>
#include <stdint.h>

/* Splits the polygon with these corners (three coordinates each, in order) into exactly n - 2 triangles. Triangles have
 * three corner indices each, counted from 0, and the polygon's winding. A convex polygon becomes the fan around corner
 * 0. For any shape, the outer edges of the triangles are the polygon's edges, so that a closed mesh stays closed. n >=
 * 3. Returns 0, or -1 if out of memory. */
int polygon_split(const float *points, size_t n, uint32_t *triangles);

#endif
