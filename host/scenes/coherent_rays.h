/* Rays in bundles that go one way, as pictures, scans and parallel light have them: what neighbours share, a CPU takes
 * through a BVH together. bvh_scene_ray makes the others, which have nothing in common. */
#ifndef SLABCAST_BENCH_COHERENT_RAYS_H
#define SLABCAST_BENCH_COHERENT_RAYS_H

#include <stddef.h>

#include "random.h"
#include "slabcast.h"

enum { BUNDLE_RAYS = 64 };

/* n rays at a committed scene, BUNDLE_RAYS of a bundle one after the other. A bundle is a picture, parallel rays on a
 * lattice, or rays from one point; often on few coordinates, so that rays run along faces and meet edges and corners
 * exactly, in directions that are small integers, some of them 0. It is endless, begins later than 0, or is made of
 * segments; one in 16 begins below 0; in half of them each ray begins and ends on its own. One ray in 40 is unlike its
 * neighbours: invalid, empty, short, of another length, or going another way. */
void coherent_rays_fill(random_state *, const slab_scene_stats *, size_t n, slab_ray *rays);

#endif
