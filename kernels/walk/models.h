/* The models of a scene with instances, as its memory has them: see the end of data/types.h. */
#ifndef WALK_MODELS_H
#define WALK_MODELS_H

#include "data/scene_memory.h"
#include "maths/answer.h"

INLINE GLOBAL const model_entry *scene_model(const scene_view *scene, uint index) {
  return (GLOBAL const model_entry *)block_at(scene->blocks, ((size_t)scene->cast->models + index) * BLOCK_UNIT);
}

INLINE GLOBAL const instance_entry *scene_instance(const scene_view *scene, uint index) {
  return (GLOBAL const instance_entry *)block_at(scene->blocks, ((size_t)scene->cast->instances + index) * BLOCK_UNIT);
}

/* The entry of a model's geometry, given by the global primitive id of a primitive. */
INLINE GLOBAL const geometry_entry *model_entry_of(const scene_view *scene, GLOBAL const model_entry *m,
                                                   uint global_id) {
  GLOBAL const geometry_entry *table = scene->table + m->table;
  return table + geometry_of(table, m->entries, global_id);
}

/* The instances that a geometry's id lies in, the outermost first, and its entry in the model's table. */
typedef struct instance_path {
  uint instances[SCENE_DEPTHS];
  uint count;
  geometry_entry entry; /* count 0: there is no such geometry */
} instance_path;

INLINE instance_path path_to(const scene_view *scene, uint geometry) {
  instance_path path;
  path.count = 0;
  GLOBAL const model_entry *m = scene_model(scene, 0);
  while (geometry < m->geometries) {
    GLOBAL const geometry_entry *table = scene->table + m->table;
    path.entry = table[entry_of_id(table, m->entries, geometry)];
    if (path.entry.kind != SHAPE_INSTANCE || path.entry.count == 0 || path.count == SCENE_DEPTHS) return path;
    geometry -= path.entry.id;
    m = scene_model(scene, scene_instance(scene, path.entry.first)->model);
    const uint each = m->geometries, nth = each == 1 ? geometry : geometry / each; /* most have one: no division */
    path.instances[path.count++] = path.entry.first + nth;
    geometry -= nth * each;
  }
  path.entry.count = 0;
  return path;
}

#endif
