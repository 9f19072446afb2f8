/* The scene that all fault tests use, and rays at it. */
#ifndef FAULTS_SCENE_H
#define FAULTS_SCENE_H

#include "harness.h"

/* Adds one geometry. For boxes, `count` is their number if it is more than a dozen. */
slab_status scene_add(slab_scene *, slab_shape, uint32_t count, uint32_t *geometry);
/* Adds a geometry of each kind, in the order of slab_shape. */
void scene_fill(slab_scene *, uint32_t boxes);
/* Updates the geometry of that kind in a scene that was filled. */
slab_status scene_change(slab_scene *, slab_shape, uint32_t boxes);
/* Hits, misses and invalid rays, and for each ray a primitive that it skips. */
void scene_rays(slab_ray *rays, slab_primitive_id *skips, size_t n);
/* Masks of rays, some of which see nothing, and hits to begin after, some of which come before all. */
void scene_own(uint32_t *masks, slab_short_hit *after, size_t n);
/* Writes n spheres or boxes for slab_pairs. */
void scene_shapes(slab_shape, size_t n, void *shapes);

#endif
