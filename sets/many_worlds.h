/* Random worlds that change, with geometries that all of them share; and the same scene with one world at a time. */
#ifndef SLABCAST_SETS_MANY_WORLDS_H
#define SLABCAST_SETS_MANY_WORLDS_H

#include <stdbool.h>

#include "sets/adversarial.h"

enum { MANY_WORLDS = 5, MANY_WORLDS_MEMBERS = 400, MANY_WORLDS_SHAPES = 8 };

/* A geometry, or one instance, of which the plain scene has a geometry of its own with the same ids. */
typedef struct worlds_member {
  uint32_t id, world;
  uint32_t of;   /* id of the geometry in the scene with worlds; of instances that of the first of them */
  uint32_t kind; /* a slab_shape or SHAPE_INSTANCE */
  uint32_t count;
  bool enabled, removed;
} worlds_member;

typedef struct many_worlds {
  random_state random;
  unsigned kinds;
  bool is_rigid;  /* as in nested */
  bool is_listed; /* worlds have a few instances, and nothing else */
  adversarial points;
  slab_scene *models[2];
  slab_scene *scene; /* with worlds */
  slab_scene *plain; /* without, which shows one of them */
  uint32_t worlds;   /* most of them have something */
  uint32_t ids;      /* geometry ids given so far */
  slab_tree tree;
  uint32_t count;
  worlds_member members[MANY_WORLDS_MEMBERS];
} many_worlds;

/* Adds models and things of all kinds (as in adversarial_fill) to worlds and to all, and commits. After a failure
 * many_worlds_end too. */
slab_status many_worlds_begin(many_worlds *, slab_context *, uint64_t seed, unsigned kinds);
/* The same with transforms that points can go into. */
slab_status many_worlds_begin_rigid(many_worlds *, slab_context *, uint64_t seed, unsigned kinds);
/* Changes something at random: moves instances, some of them or all, replaces shapes, disables, removes or adds. The
 * scene with worlds is committed. */
slab_status many_worlds_change(many_worlds *);
/* Moves instances alone. */
slab_status many_worlds_move(many_worlds *);
/* Makes the plain scene show the members of a world and of all worlds. */
slab_status many_worlds_show(many_worlds *, uint32_t world);
/* A ray at something in the scene. */
slab_ray many_worlds_ray(many_worlds *);
/* A world at random, 0 among them. */
uint32_t many_worlds_any(many_worlds *);
void many_worlds_end(many_worlds *);

#endif
