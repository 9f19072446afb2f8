/* Closed tetrahedra whose corners are whole numbers of TETRAHEDRA_UNIT, points at their corners, edges and faces, and
 * exactly how often the tetrahedra surround a point. No ray is cast for that: a point is inside where it is on the same
 * side of four planes. */
#ifndef SLABCAST_SETS_TETRAHEDRA_H
#define SLABCAST_SETS_TETRAHEDRA_H

#include <stdbool.h>

#include "sets/random.h"
#include "slabcast.h"

enum { TETRAHEDRA_MOST = 64 };
#define TETRAHEDRA_UNIT 0x1p-24f

/* Which corners: small whole numbers, which touch each other often; anywhere in -1..1; or some of them up to 2^13 away,
 * so that differences from a point are rounded. */
typedef enum tetrahedra_sort {
  TETRAHEDRA_TOUCHING,
  TETRAHEDRA_ANYWHERE,
  TETRAHEDRA_FAR,
  TETRAHEDRA_SORTS
} tetrahedra_sort;

typedef struct tetrahedra {
  uint32_t count;
  float corners[TETRAHEDRA_MOST][4][3];
} tetrahedra;

void tetrahedra_make(random_state *, tetrahedra_sort, uint32_t count, tetrahedra *);
/* The same after x, y, z are exchanged, in one of 48 ways, and some turned round. The points too, n of them. */
void tetrahedra_turn(uint32_t way, tetrahedra *, float *points, size_t n);
/* One mesh of them all. Half of them, by chance, face inward. */
slab_status tetrahedra_add(const tetrahedra *, slab_scene *);

/* On a corner, an edge, a face or anywhere, then often moved by the last place of a coordinate. */
void tetrahedra_aim(random_state *, const tetrahedra *, float point[3]);
/* The right answer of slab_winding. on_plane, where it is not NULL: whether the point is in the plane of a face. */
int32_t tetrahedra_winding(const tetrahedra *, const float point[3], bool *on_plane);

#endif
