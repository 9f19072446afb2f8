/* Scenes and rays of the verdict sets that bench/scenes.h does not have. */
#ifndef VERDICT_SETS_H
#define VERDICT_SETS_H

#include "verdict.h"

/* ---- rays ---- */

/* From around the scene to anywhere in it: mostly half-lines, also whole lines, ranges that start late or before the
 * origin, segments, empty ranges, invalid rays; directions of any length from 2^-4 to 2^4. */
slab_ray ray_anywhere(const verdict_set *, harness_random *);
/* The same along one axis, the other components zeros of either sign. */
slab_ray ray_along_an_axis(const verdict_set *, harness_random *);
/* From point to point, t from 0 to 1. */
slab_ray ray_segment(const verdict_set *, harness_random *);
/* Directions of lengths from 2^-128 to 2^120: some have subnormal components, some hits a t beyond all floats. */
slab_ray ray_of_extreme_length(const verdict_set *, harness_random *);
/* For the scene "room": from anywhere inside to anywhere; to within 4e-5 (after scaling) of one of the long edges. */
slab_ray ray_in_room(const verdict_set *, harness_random *);
slab_ray ray_at_long_edge(const verdict_set *, harness_random *);

/* For the scene of cornered boxes, dyadic too: exactly through a corner. */
slab_ray ray_at_box_corner(const verdict_set *, harness_random *);
/* For the scenes of needles: to within 1e-6 of the long side of one. */
slab_ray ray_at_needle(const verdict_set *, harness_random *);

/* Rays of small dyadic numbers, so that the oracle is exact.
 *  - slanted: the direction's largest component is 4, so that the shear is exact;
 *  - diagonal: along an axis or the diagonal of two, so that d.d is a power of two, for spheres;
 * both begin or end outside of the bounded primitives, or nowhere, since t on a slanted face has rounding errors.
 *  - even: components are 0 or powers of two, so that faces across an axis are met at exact times, and origins and
 *    ends of the range may lie on them, and often do;
 *  - diagonal_even: both. */
slab_ray ray_slanted(const verdict_set *, harness_random *);
slab_ray ray_diagonal(const verdict_set *, harness_random *);
slab_ray ray_even(const verdict_set *, harness_random *);
slab_ray ray_diagonal_even(const verdict_set *, harness_random *);

/* ---- scenes ---- */

/* Triangles whose third corner is within 1e-6 of the opposite side: a soup, and tetrahedra (closed) whose third and
 * fourth corners are. */
uint32_t build_needles(const verdict_set *, harness_random *, scene_geometry *);
uint32_t build_closed_needles(const verdict_set *, harness_random *, scene_geometry *);

/* Boxes whose coordinates have eight bits. */
uint32_t build_cornered_boxes(const verdict_set *, harness_random *, scene_geometry *);

/* Primitives at small integers, degenerate ones among them; triangles as closed tetrahedra. */
uint32_t build_dyadic_planes(const verdict_set *, harness_random *, scene_geometry *);
uint32_t build_dyadic_spheres(const verdict_set *, harness_random *, scene_geometry *);
uint32_t build_dyadic_boxes(const verdict_set *, harness_random *, scene_geometry *);
uint32_t build_dyadic_obbs(const verdict_set *, harness_random *, scene_geometry *);
uint32_t build_dyadic_tetrahedra(const verdict_set *, harness_random *, scene_geometry *);
/* All of these; with axis-parallel triangles alone, the scene "lattice" in place of the tetrahedra. */
uint32_t build_dyadic_mix(const verdict_set *, harness_random *, scene_geometry *);
uint32_t build_dyadic_even_mix(const verdict_set *, harness_random *, scene_geometry *);

#endif
