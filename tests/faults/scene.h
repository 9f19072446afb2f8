/* The scene of every fault, and rays at it. */
#ifndef FAULTS_SCENE_H
#define FAULTS_SCENE_H

#include "harness.h"

/* Adds one geometry; `count` boxes, where that is more than a dozen. */
slab_status scene_add(slab_scene *, slab_shape, uint32_t count, uint32_t *geometry);
/* A geometry of each kind, in the order of slab_shape. */
void scene_fill(slab_scene *, uint32_t boxes);
/* Hits, misses and invalid rays, and a primitive that each does not see. */
void scene_rays(slab_ray *rays, slab_primitive_id *skips, size_t n);
/* Spheres or boxes for slab_pairs. */
void scene_shapes(slab_shape, size_t n, void *shapes);

#endif
