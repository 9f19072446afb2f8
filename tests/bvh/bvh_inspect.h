/* An independent check of a BVH: it visits every node and leaf, and computes again what the builder reports. */
#ifndef BVH_INSPECT_H
#define BVH_INSPECT_H

#include "bvh/bvh.h"

/* The bounds and kinds of the primitives of a BVH. */
typedef struct boxes {
  uint32_t count;
  const bvh_bounds *bounds;
  const uint8_t *kinds; /* NULL: all kind 0 */
} boxes;

/* The boxes as input of the builder, valid as long as they are. */
bvh_input boxes_input(const boxes *);

/* Checks that every primitive of the input is in exactly one block of its kind, and that every block and node is
 * reached once. Bounds must be exactly those of their contents, and depth, occupancy and cost as reported. Leaves must
 * hold the number that `leaves` allows, and children come in the order of their worth. */
void assert_tree_sound(const boxes *input, const bvh *t, bvh_leaves leaves);

/* Compares bit by bit. */
void assert_same_tree(const bvh *a, const bvh *b);

#endif
