/* Coherent rays: bundles of similar directions, as in pictures, scans and parallel light. A CPU traverses a BVH with
 * neighbouring rays as a packet. bvh_scene_ray makes incoherent rays. */
#ifndef SLABCAST_SETS_COHERENT_RAYS_H
#define SLABCAST_SETS_COHERENT_RAYS_H

#include <stddef.h>

#include "sets/random.h"
#include "slabcast.h"

enum { BUNDLE_RAYS = 64 };

/* Fills n rays for a committed scene; each bundle has BUNDLE_RAYS consecutive rays. A bundle is a picture, parallel
 * rays on a lattice, or rays from one point. Many bundles use few coordinates and directions of small integers, some of
 * them 0, so that rays run along faces and hit edges and corners exactly. A bundle is unbounded, begins later than 0,
 * or consists of segments. One bundle in 16 begins below 0. In half of the bundles each ray has its own begin and end.
 * One ray in 40 differs from its neighbours: invalid, empty, short, of another length, or in another direction. */
void coherent_rays_fill(random_state *, const slab_scene_stats *, size_t n, slab_ray *rays);

#endif
