/* An independent check of a BVH: it visits every node and leaf, and computes again what the builder reports. */
#ifndef BVH_LOOK_H
#define BVH_LOOK_H

#include "bvh.h"

/* Checks that every primitive of the input is in exactly one block of its kind, that every block and node is reached
 * once, that bounds are exactly those of their contents, that depth, occupancy and cost are as reported, that leaves
 * hold what `leaves` allows, and that children come in the order of their worth. */
void assert_tree_sound(const bvh_input *input, const bvh *t, bvh_leaves leaves);

/* Compares bit by bit. */
void assert_same_tree(const bvh *a, const bvh *b);

#endif
