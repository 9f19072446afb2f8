/* An independent look at a BVH: it walks every node and leaf and works out again what the builder states. */
#ifndef BVH_LOOK_H
#define BVH_LOOK_H

#include "build.h"

/* Every primitive of the input stands in one block of its kind and every block and node is met once, bounds are exactly
 * those of what is below, and depth, occupancy and cost are as stated; leaves hold what `leaves` allows. */
void assert_tree_sound(const bvh_input *input, const bvh *t, bvh_leaves leaves);

/* Bit by bit. */
void assert_same_tree(const bvh *a, const bvh *b);

#endif
