/* Instances: what a scene keeps of the transforms of a model, and the arrays of a snapshot whose scene has some. */
#ifndef SLABCAST_SCENE_MODELS_H
#define SLABCAST_SCENE_MODELS_H

#include "data/types.h"
#include "record/snapshot.h"
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

/* The most that transforms of instances come to, each with those that lead to it: norms of A, of B, and of |A| |B|. */
typedef struct transform_reach {
  double a, b, skew;
} transform_reach;

/* Those of {-1, 0, 1}^3: gates follow from how far a model reaches in each. */
enum { DIRECTIONS = 27 };

/* What scenes need to know of a model. */
typedef struct model_measure {
  double extent[DIRECTIONS]; /* the most of direction . point, of padded bounds; -inf: it shows nothing */
  bool bounded;              /* else it has planes or infinite bounds */
  transform_reach reach;     /* of its instances */
} model_measure;

/* SLAB_INVALID_ARGUMENT names the first transform that is refused, and why: by itself, or with one in the model. */
slab_status instances_take(const char *function, slab_scene *model, uint32_t geometries, const float *transforms,
                           uint32_t n, uint32_t visible, instance_group **);
/* The same of instances as a group has them, which may lie anywhere in memory. */
slab_status instances_restore(const char *function, slab_scene *model, const instance_entry *, uint32_t n,
                              uint32_t visible, instance_group **);
/* Drops a reference; the last one frees. NULL is accepted. */
void instances_release(instance_group *);

/* The snapshots of models, held for a snapshot. */
typedef struct held_model {
  slab_scene *scene;
  snapshot *snapshot; /* NULL: the group is removed, or none */
  model_measure measure;
} held_model;

/* Holds the snapshot that a group's model has now. last: what the last commit held, or nothing. SLAB_INVALID_STATE
 * where the model has changed so that a transform with one of its own is refused now. */
slab_status model_hold(const char *function, const instance_group *, const held_model *last, held_model *);
void model_drop(held_model *);

/* The gates of a group's instances, as values of SHAPE_INSTANCE. NULL: memory is short. */
geometry_values *instances_gates(const slab_context *, const instance_group *, const model_measure *);

/* Stack entries that a traversal can need, where the models need `models` of them. */
uint32_t instances_stack(slab_layout, uint32_t depth, uint32_t models);
/* Adds the models of a scene with instances to its table and to its BVH, whose arrays begin with that scene's own. They
 * may have the size of the whole, and its models already. */
slab_status instances_append(snapshot *, bvh_layout *);

#endif
