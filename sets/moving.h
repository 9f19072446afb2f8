/* Scenes that change, step by step, in every way that the API has, and the same scene made anew from nothing at any
 * step. Casts on both must have the same answers. */
#ifndef SLABCAST_SETS_MOVING_H
#define SLABCAST_SETS_MOVING_H

#include <stdbool.h>

#include "sets/adversarial.h"

enum { MOVING_GEOMETRIES = 24, MOVING_FIRST = SHAPE_KINDS };

/* The changes that a step may make; a set of bits. */
typedef enum moving_change {
  MOVING_SHIFT = 1,   /* shapes move a little, together */
  MOVING_SCATTER = 2, /* shapes are replaced by others; boxes become infinite, void or finite */
  MOVING_SWITCH = 4,  /* geometries are disabled and enabled */
  MOVING_REMOVE = 8,  /* a geometry is removed */
  MOVING_ADD = 16,    /* a geometry is added */
  MOVING_ANY = 31,
  MOVING_SOME = 32 /* ranges of shapes are replaced */
} moving_change;

typedef struct moving_geometry {
  slab_shape kind;
  uint32_t count, mask;
  bool enabled, removed;
  float *shapes; /* as the caller of the API has them */
} moving_geometry;

typedef struct moving {
  random_state random;
  adversarial points; /* rays aim at these */
  slab_scene *scene;  /* not committed by any function here */
  uint32_t geometries;
  moving_geometry of[MOVING_GEOMETRIES]; /* geometry i is MOVING_FIRST + i in the scene */
} moving;

/* A scene of two geometries of each kind, of about `each` shapes, and of those that bvh_scene_add_nothing adds, which
 * never change and come first. Shapes that would be refused are dropped. After a
 * failure moving_end too. SLAB_OUT_OF_MEMORY also without a message. */
slab_status moving_begin(moving *, slab_context *, uint64_t seed, uint32_t each);
/* Changes the scene in one or several of these ways. */
slab_status moving_step(moving *, unsigned changes);
/* Makes a scene like the one that moves, with the same ids, and commits it. Nothing in it was ever changed. */
slab_status moving_anew(const moving *, slab_context *, slab_tree, slab_scene **);
void moving_end(moving *);

#endif
