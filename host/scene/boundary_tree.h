/* Trees over the loops of a boundary. */
#ifndef SLABCAST_SCENE_BOUNDARY_TREE_H
#define SLABCAST_SCENE_BOUNDARY_TREE_H

#include "base/status.h"
#include "record/boundary.h"

typedef struct loop {
  size_t begin; /* of its vertices, of which the last is the first again */
  size_t edges;
  uint32_t mask, world;
  double center[3], key; /* key: by which loops are sorted */
} loop;

/* The loops of all geometries. */
typedef struct loops {
  float (*at)[3];
  size_t points, space;
  loop *list;
  size_t count, list_space;
} loops;

/* Space for one element more, of `each` bytes, in a list that is full or not. NULL after a failure, which leaves it. */
void *boundary_space(void *list, size_t count, size_t *space, size_t each);

/* Makes a tree for each mask in each world. Sorts the loops. After a failure the caller frees what there is. */
slab_status boundary_build(loops *, boundary *);

#endif
