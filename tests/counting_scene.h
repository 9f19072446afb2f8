/* A scene whose answers are known by counting: column k is a stack of k + 1 unit cubes with gaps of one, rays look
 * straight down a column, and every number is exact. So results of any number of rays are compared with
 * arithmetic, not with a second run of the library. */
#ifndef COUNTING_SCENE_H
#define COUNTING_SCENE_H

#include "answers.h"
#include "harness.h"

enum { COUNTING_COLUMNS = 12, COUNTING_BOXES = COUNTING_COLUMNS * (COUNTING_COLUMNS + 1) / 2 };

/* Geometry of the boxes; geometry 0 is an empty mesh. */
#define COUNTING_GEOMETRY 1u

/* Committed. The caller destroys it. */
slab_scene *counting_scene(slab_context *context);

/* Ray i of an endless sequence: most meet a column, some miss, some are invalid. */
slab_ray counting_ray(size_t i);
/* Malloc'ed; n may be 0. */
slab_ray *counting_rays(size_t n);

/* What ray i meets: the number of boxes, */
uint32_t counting_count(size_t i);
/* and hit number j of them, by distance. */
slab_hit counting_hit(size_t i, uint32_t j);
/* How many of the first n rays are invalid. */
uint64_t counting_invalid(size_t n);

/* Fails the test unless results[0 .. n-1] are what rays `first`, first + 1, ... must give. Not for SLAB_ALL. */
void counting_verify(slab_query query, size_t first, size_t n, const void *results);

/* The queries with one result a ray. */
#define EACH_QUERY_COUNT 5
slab_query each_query(int i);

#endif
