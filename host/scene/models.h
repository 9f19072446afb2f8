/* The models of a scene's instances, held while a snapshot reads them, and the facts about them that scenes need. */
#ifndef SLABCAST_SCENE_MODELS_H
#define SLABCAST_SCENE_MODELS_H

#include "record/snapshot.h"
#include "scene/instances.h"
#include "scene/transforms.h"
#include "slabcast.h"

/* The directions of {-1, 0, 1}^3: gates follow from how far a model reaches in each. The index of one has a digit to
 * base 3 for each axis, its component + 1. The opposite one's is the rest to 26. */
enum { DIRECTIONS = 27, DIRECTION_NONE = 13 };

/* The facts about a model that scenes need. */
typedef struct model_measure {
  double extent[DIRECTIONS]; /* the most of direction . point, of padded bounds; -inf: it shows nothing */
  bool bounded;              /* else it has planes or infinite bounds */
  transform_reach reach;     /* of its instances */
} model_measure;

/* The snapshots of models, held for a snapshot. */
typedef struct held_model {
  slab_scene *scene;
  snapshot *snapshot; /* NULL: the group is removed, or none */
  model_measure measure;
} held_model;

/* Holds the snapshot that a group's model has now. last: the snapshots that the last commit held, or none.
 * SLAB_INVALID_STATE where the model has changed so that a transform with one of its own is refused now. */
slab_status model_hold(const char *function, const instance_group *, const held_model *last, held_model *);
/* Holds the same snapshots once more. */
void model_share(const held_model *, held_model *);
void model_drop(held_model *);

/* The greatest reach of the transforms of a model's instances. */
transform_reach model_reach(const snapshot *model);
/* Fails with `status` where a transform of the group is refused together with one in the model. reach: the model's. */
slab_status model_allows(const char *function, slab_status status, const instance_group *, const snapshot *model,
                         const transform_reach *reach);

/* Whether an instance is not rigid but for a scale, or has such a one in its model; *geometry: which, as
 * snapshot.skewed. */
static inline bool instance_is_skewed(const snapshot *s, uint32_t g, uint32_t i, uint32_t *geometry) {
  const instance_group *group = s->groups[g];
  const snapshot *model = s->models[g].snapshot;
  const bool within = model != NULL && model->skewed != SLAB_MISS;
  *geometry = s->table[g].id + i * group->geometries + (within ? model->skewed : 0);
  return within || !(group->instances[i].scale > 0.0f);
}

/* The gate of one instance. */
void gate_write(const instance_entry *, const model_measure *, float gate[BOX_FLOATS]);
/* The gate of instance i of a geometry, by a snapshot. */
void gate_in(const snapshot *, uint32_t geometry, uint32_t i, float gate[BOX_FLOATS]);
/* The gates of a group's instances, the boxes that rays enter before they are cast in its model: values of
 * SHAPE_INSTANCE. NULL: memory is short. */
geometry_values *gates_of(const slab_context *, const instance_group *, const model_measure *);

struct world_lists;

/* Adds the models of a scene with instances to its table and to its BVH, whose arrays begin with that scene's own and
 * its worlds' parts. They may have the size of the whole, and its models already. worlds: NULL where it has none. */
slab_status assembly_append(snapshot *, struct world_lists *, bvh_layout *);

#endif
