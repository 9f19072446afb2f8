/* The boundary of a scene's meshes as kernels read it: trees over the edges at which surfaces end. */
#ifndef DATA_BOUNDARY_H
#define DATA_BOUNDARY_H

#include "data/types.h"

/* Children of a node. Its values lie in rows of as many floats. */
#define BOUNDARY_WIDTH 8

/* Rows of a node. A child is a chain of edges, or some loops of them. */
enum {
  BOUNDARY_FROM,            /* x, y, z: where the chain begins. Of loops both ends are the same */
  BOUNDARY_TO = 3,          /* where it ends */
  BOUNDARY_CENTER = 6,      /* about which the terms are */
  BOUNDARY_REACH = 9,       /* beyond this distance from the centre the terms replace the edges */
  BOUNDARY_DIPOLE = 10,     /* in units of reach^2 */
  BOUNDARY_QUADRUPOLE = 13, /* xx, yy, xy, xz, yz, of trace 0, in units of reach^3 */
  BOUNDARY_OCTUPOLE = 18,   /* xxx, xyy, yyy, xxy, xxz, yyz, xyz, of traces 0, in units of reach^4 */
  BOUNDARY_LOWER = 25,      /* x, y: bounds of the edges */
  BOUNDARY_UPPER = 27,      /* x, y, z */
  BOUNDARY_CHILD = 30,      /* bits: index of the node with its edges; 0: it is one edge, or none */
  BOUNDARY_ROWS = 31
};
#define BOUNDARY_FLOATS (BOUNDARY_ROWS * BOUNDARY_WIDTH)

/* Nodes that wait at most, where each depth leaves all but one. */
#define BOUNDARY_DEPTH 36
#define BOUNDARY_STACK ((BOUNDARY_WIDTH - 1) * BOUNDARY_DEPTH + 1)

/* A tree over the edges of all geometries of one mask and one world. */
typedef struct boundary_tree {
  uint32_t root, mask;
  uint32_t world; /* 0: all */
} boundary_tree;

#endif
