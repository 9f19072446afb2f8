/* The boundary of a scene's meshes: the edges where surfaces end, as kernels read them. */
#ifndef SLABCAST_RECORD_BOUNDARY_H
#define SLABCAST_RECORD_BOUNDARY_H

#include <stddef.h>
#include <stdint.h>

#include "data/boundary.h"

typedef struct boundary {
  size_t nodes;            /* of all trees; 1 where there is none */
  uint32_t trees;          /* one for each mask and world of geometries with edges; 0: all meshes are closed */
  float *values;           /* BOUNDARY_FLOATS of each node */
  boundary_tree *of_trees; /* and an empty one behind them, so that buffers are never empty */
} boundary;

#endif
