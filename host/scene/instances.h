/* Instances as a scene keeps them: transforms of a model, as they were added or updated. */
#ifndef SLABCAST_SCENE_INSTANCES_H
#define SLABCAST_SCENE_INSTANCES_H

#include "data/types.h"
#include "slabcast.h"

/* n instances of a model, as they were added or updated. Scene and snapshots share them, and then they do not change.
 * Where a snapshot has a group of its own, whose instances are those in its arrays, the scene's may change in place. */
typedef struct instance_group {
  uint32_t references; /* of the scene and its snapshots, which one thread at a time changes */
  uint32_t count;
  uint32_t mask;
  slab_scene *model;         /* which the group retains */
  uint32_t geometries;       /* ids that an instance takes */
  instance_entry *instances; /* model and geometry are set in a snapshot's arrays alone */
  struct instance_group *of; /* the scene's, which the snapshot's has in its arrays; NULL: it is the scene's */
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
/* Whether the transforms of n instances are accepted, those at these indices (NULL: of all). */
slab_status instances_accept(const char *function, const instance_group *, const uint32_t *indices,
                             const float *transforms, uint32_t n);
/* Changes them, which were accepted, in a group that is not shared. */
void instances_change(instance_group *, const uint32_t *indices, const float *transforms, uint32_t n);
/* A copy that is not shared. NULL: memory is short. */
instance_group *instances_copy(const instance_group *);
/* A snapshot's group, of instances that are in its arrays. NULL: memory is short. */
instance_group *instances_view(instance_group *, instance_entry *instances);
/* Drops a reference; the last one frees. NULL is accepted. */
void instances_release(instance_group *);

#endif
