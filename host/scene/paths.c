/* The ids of geometries in instances, as paths through the models, and back. */
#include "base/status.h"
#include "scene/models.h"
#include "scene/scene.h"

_Static_assert(SLAB_LEVELS == SCENE_DEPTHS - 1, "a path leads from a scene through all its levels of models");

/* The last entry whose id is not above. An empty group of instances takes no id, and comes before the geometry that has
 * it. */
static uint32_t entry_of(const snapshot *s, uint32_t id) {
  uint32_t first = 0, end = s->geometries;
  while (end - first > 1) {
    const uint32_t middle = first + (end - first) / 2;
    if (s->table[middle].id > id)
      end = middle;
    else
      first = middle;
  }
  return first;
}

static slab_status enter(const slab_scene *scene, const char *function, const uint32_t *geometries,
                         const slab_path *paths, size_t n, scene_reading *reading) {
  if (scene == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: scene is NULL", function);
  if (n > 0 && (geometries == NULL || paths == NULL))
    return fail(SLAB_INVALID_ARGUMENT, "%s: %s is NULL", function, paths == NULL ? "paths" : "geometries");
  return scene_enter(scene, function, reading);
}

/* ---- from ids ---- */

static slab_status path_of(const snapshot *s, uint32_t geometry, size_t i, slab_path *path) {
  *path = (slab_path){.geometry = geometry};
  while (geometry != SLAB_MISS && geometry != SLAB_INVALID) {
    if (geometry >= s->ids)
      return fail(SLAB_INVALID_ARGUMENT, "slab_scene_paths: entry %zu is geometry %u: the scene has %u", i, geometry,
                  s->ids);
    const uint32_t g = entry_of(s, geometry);
    if (s->values[g] == NULL)
      return fail(SLAB_INVALID_ARGUMENT, "slab_scene_paths: entry %zu is geometry %u, which is removed", i, geometry);
    path->geometry = geometry;
    if (s->groups[g] == NULL) break;
    const uint32_t within = geometry - s->table[g].id, each = s->groups[g]->geometries;
    path->instances[path->levels] = s->table[g].id;
    path->index[path->levels++] = within / each;
    geometry = within % each;
    s = s->models[g].snapshot;
  }
  return SLAB_OK;
}

/* Two rounds: after a refusal nothing is written. */
slab_status slab_scene_paths(const slab_scene *scene, const uint32_t *geometries, size_t n, slab_path *paths) {
  scene_reading reading;
  slab_path path;
  slab_status status = enter(scene, "slab_scene_paths", geometries, paths, n, &reading);
  if (status != SLAB_OK) return status;
  for (size_t i = 0; i < n && status == SLAB_OK; i++) status = path_of(reading.scene, geometries[i], i, &path);
  for (size_t i = 0; i < n && status == SLAB_OK; i++) path_of(reading.scene, geometries[i], i, &paths[i]);
  scene_leave(&reading);
  return status;
}

/* ---- to ids ---- */

static slab_status id_of(const snapshot *s, const slab_path *path, size_t i, uint32_t *geometry) {
  const char *function = "slab_scene_path_ids";
  *geometry = path->geometry;
  if (path->levels > SLAB_LEVELS)
    return fail(SLAB_INVALID_ARGUMENT, "%s: path %zu has %u levels, of at most %d", function, i, path->levels,
                SLAB_LEVELS);
  if (path->levels == 0 && (path->geometry == SLAB_MISS || path->geometry == SLAB_INVALID)) return SLAB_OK;
  uint32_t id = 0;
  for (uint32_t l = 0; l < path->levels; l++) {
    const uint32_t instances = path->instances[l], g = instances < s->ids ? entry_of(s, instances) : 0;
    if (instances >= s->ids || s->groups[g] == NULL || s->table[g].id != instances)
      return fail(SLAB_INVALID_ARGUMENT, "%s: path %zu: geometry %u of level %u is no instances", function, i,
                  instances, l);
    if (path->index[l] >= s->groups[g]->count)
      return fail(SLAB_INVALID_ARGUMENT, "%s: path %zu: index %u of level %u: geometry %u has %u instances", function,
                  i, path->index[l], l, instances, s->groups[g]->count);
    id += instances + path->index[l] * s->groups[g]->geometries;
    s = s->models[g].snapshot;
  }
  if (path->geometry >= s->ids)
    return fail(SLAB_INVALID_ARGUMENT, "%s: path %zu ends at geometry %u: the %s has %u", function, i, path->geometry,
                path->levels == 0 ? "scene" : "model", s->ids);
  *geometry = id + path->geometry;
  return SLAB_OK;
}

slab_status slab_scene_path_ids(const slab_scene *scene, const slab_path *paths, size_t n, uint32_t *geometries) {
  scene_reading reading;
  uint32_t id;
  slab_status status = enter(scene, "slab_scene_path_ids", geometries, paths, n, &reading);
  if (status != SLAB_OK) return status;
  for (size_t i = 0; i < n && status == SLAB_OK; i++) status = id_of(reading.scene, &paths[i], i, &id);
  for (size_t i = 0; i < n && status == SLAB_OK; i++) id_of(reading.scene, &paths[i], i, &geometries[i]);
  scene_leave(&reading);
  return status;
}
