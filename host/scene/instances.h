/* Instances as a scene keeps them: transforms of a model, as they were added or updated. */
#ifndef SLABCAST_SCENE_INSTANCES_H
#define SLABCAST_SCENE_INSTANCES_H

#include "data/types.h"
#include "slabcast.h"

/* n instances of a model, as they were added or updated. Scene and snapshots share them, so they do not change. */
typedef struct instance_group {
  uint32_t references; /* of the scene and its snapshots, which one thread at a time changes */
  uint32_t count;
  uint32_t mask;
  slab_scene *model;          /* which the group retains */
  uint32_t geometries;        /* ids that an instance takes */
  instance_entry instances[]; /* model and geometry are not set */
} instance_group;

/* The worlds of instances: one each, or the same of all. */
typedef struct instance_worlds {
  const uint32_t *each; /* NULL: all are of `all` */
  uint32_t all;
  const instance_group *last; /* those that instances had before; NULL: they are new */
} instance_worlds;

/* SLAB_INVALID_ARGUMENT names the first transform that is refused, and why: by itself, or with one in the model. */
slab_status instances_take(const char *function, slab_scene *model, uint32_t geometries, const float *transforms,
                           uint32_t n, uint32_t visible, const instance_worlds *, instance_group **);
/* The same of instances as a group has them, which may lie anywhere in memory. */
slab_status instances_restore(const char *function, slab_scene *model, const instance_entry *, uint32_t n,
                              uint32_t visible, instance_group **);
/* Drops a reference; the last one frees. NULL is accepted. */
void instances_release(instance_group *);

#endif
