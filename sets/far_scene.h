/* A scene in doubles, far from 0, and the same in floats near 0: each coordinate of the one is the other's plus that of
 * the origin, without rounding. So answers of the two can be compared bit by bit. */
#ifndef SLABCAST_SETS_FAR_SCENE_H
#define SLABCAST_SETS_FAR_SCENE_H

#include <stdbool.h>

#include "sets/random.h"
#include "slabcast.h"

/* Coordinates near 0 are multiples of FAR_STEP within FAR_REACH. */
#define FAR_STEP 0x1p-8
#define FAR_REACH 64.0

typedef struct far_scene {
  random_state random;
  double origin[3];
  slab_scene *far, *near;
} far_scene;

/* Two empty scenes on a context. given: far has its origin; else its first commit takes one. */
slab_status far_scene_open(far_scene *, slab_context *, uint64_t seed, bool given);
void far_scene_close(far_scene *);
/* Adds n shapes of a kind to both. Of triangles a mesh with indices, or a soup where n is odd. */
slab_status far_scene_add(far_scene *, slab_shape kind, uint32_t n, uint32_t *geometry);
/* Replaces all n of them, or some. */
slab_status far_scene_update(far_scene *, uint32_t geometry, slab_shape kind, uint32_t n);
slab_status far_scene_update_some(far_scene *, uint32_t geometry, slab_shape kind, uint32_t first, uint32_t n);
/* Adds a model of shapes of all kinds to both, with an origin of its own in the far one, at n places. */
slab_status far_scene_place(far_scene *, slab_context *, uint32_t n, uint32_t *geometry);
slab_status far_scene_move(far_scene *, uint32_t geometry, uint32_t n);
slab_status far_scene_commit(far_scene *);
/* n rays that begin within the bounds of both, which are committed; some have a range. The far ones begin where they
 * are given, so that t is the same. */
slab_status far_scene_rays(far_scene *, size_t n, slab_ray *near, slab_ray64 *far);

#endif
