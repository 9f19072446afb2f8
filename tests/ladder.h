/* A scene whose answers are known by counting: column k is a stack of k + 1 unit cubes with gaps of one, rays look
 * straight down a column, and every number is exact. So results of any number of rays are compared with
 * arithmetic, not with a second run of the library. */
#ifndef LADDER_H
#define LADDER_H

#include "answers.h"
#include "harness.h"

enum { LADDER_COLUMNS = 12, LADDER_BOXES = LADDER_COLUMNS * (LADDER_COLUMNS + 1) / 2 };

/* Geometry of the boxes; geometry 0 is an empty mesh. */
#define LADDER_GEOMETRY 1u

/* Committed. The caller destroys it. */
slab_scene *ladder_scene(slab_context *context);

/* Ray i of an endless sequence: most meet a column, some miss, some are invalid. */
slab_ray ladder_ray(size_t i);
/* Malloc'ed; n may be 0. */
slab_ray *ladder_rays(size_t n);

/* What ray i meets: the number of boxes, */
uint32_t ladder_count(size_t i);
/* and hit number j of them, by distance. */
slab_hit ladder_hit(size_t i, uint32_t j);
/* How many of the first n rays are invalid. */
uint64_t ladder_invalid(size_t n);

/* Fails the test unless results[0 .. n-1] are what rays `first`, first + 1, ... must give. Not for SLAB_ALL. */
void ladder_verify(slab_query query, size_t first, size_t n, const void *results);

/* The queries with one result a ray. */
#define EACH_QUERY_COUNT 5
slab_query each_query(int i);

#endif
