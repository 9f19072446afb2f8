/* The public calls that place models: instances that are added, and their transforms. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/status.h"
#include "scene/origin.h"
#include "scene/scene.h"
#include "scene/worlds.h"

static bool contains(const slab_scene *scene, const slab_scene *model);

static bool snapshots_contain(const snapshot *s, const slab_scene *model) {
  for (; s != NULL; s = s->older)
    for (uint32_t g = 0; g < s->geometries; g++)
      if (s->models[g].snapshot != NULL && contains(s->models[g].scene, model)) return true;
  return false;
}

/* Whether a scene is this one, or has it as a model, or a snapshot of it that is still there has it. Scenes that retain
 * each other would live for ever. */
static bool contains(const slab_scene *scene, const slab_scene *model) {
  if (scene == model) return true;
  for (uint32_t g = 0; g < scene->geometries; g++)
    if (scene->added[g].group != NULL && contains(scene->added[g].group->model, model)) return true;
  return snapshots_contain(atomic_load(&scene->committed), model) || snapshots_contain(scene->replaced, model) ||
         snapshots_contain(scene->resting, model);
}

static slab_status check_transforms(const slab_scene *scene, const char *function, const given_transforms *t,
                                    uint32_t n) {
  const slab_status status = scene_check(scene, function);
  if (status == SLAB_OK && n > 0 && t->floats == NULL && t->doubles == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "%s: the array of %u transforms is NULL", function, n);
  return status;
}

static slab_status check_model(const slab_scene *scene, const char *function, const slab_scene *model) {
  if (model == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: model is NULL", function);
  if (model->context != scene->context)
    return fail(SLAB_INVALID_ARGUMENT, "%s: model is a scene of another context", function);
  if (contains(model, scene))
    return fail(SLAB_INVALID_ARGUMENT, "%s: model is the scene itself, or contains it, now or at its last commit",
                function);
  if (atomic_load(&model->committed) == NULL) return fail(SLAB_INVALID_STATE, "%s: model is not committed", function);
  if (model->worlds > 0)
    return fail(SLAB_INVALID_ARGUMENT, "%s: model has %u worlds, and a model has none", function, model->worlds);
  if (model->grown) return fail(SLAB_INVALID_STATE, "%s: model has geometries that are not committed", function);
  return SLAB_OK;
}

slab_status scene_check_depth(const char *function, slab_scene *model) {
  scene_reading reading;
  const slab_status status = scene_enter(model, function, &reading);
  if (status != SLAB_OK) return status;
  const uint32_t depths = reading.scene->depths;
  scene_leave(&reading);
  if (depths >= SCENE_DEPTHS)
    return fail(SLAB_INVALID_ARGUMENT, "%s: model is %u models deep, of at most %u", function, depths - 1,
                SCENE_DEPTHS - 2);
  return SLAB_OK;
}

static slab_status check_instance_worlds(const slab_scene *scene, const char *function,
                                         const slab_geometry_options *options, uint32_t n, instance_worlds *worlds) {
  *worlds = (instance_worlds){.all = options == NULL ? 0 : options->world};
  slab_status status = scene_check_world(scene, function, worlds->all);
  if (status != SLAB_OK || options == NULL || options->worlds == NULL) return status;
  if (worlds->all != 0)
    return fail(SLAB_INVALID_ARGUMENT, "%s: world is %u, and worlds are given; it must be 0 then", function,
                worlds->all);
  worlds->each = options->worlds;
  for (uint32_t i = 0; i < n; i++)
    if (options->worlds[i] > scene->worlds)
      return fail(SLAB_INVALID_ARGUMENT, "%s: worlds[%u] is %u, and the scene has %u", function, i, options->worlds[i],
                  scene->worlds);
  return SLAB_OK;
}

/* The near transforms of n instances of one model. near_transforms_free follows, also after a failure. */
static slab_status near_of_model(const slab_scene *scene, const slab_scene *model, const given_transforms *t,
                                 uint32_t n, near_transforms *near) {
  const slab_status status = origin_near_space(scene, t, n, origin_moves(scene, model), near);
  if (status == SLAB_OK) origin_near_fill(scene, model, t, 0, n, near);
  return status;
}

static slab_status add_instances(const char *function, slab_scene *scene, slab_scene *model, const given_transforms *t,
                                 uint32_t n, const slab_geometry_options *options, uint32_t *geometry) {
  ARITHMETIC callers = arithmetic_begin();
  slab_status status = check_transforms(scene, function, t, n);
  if (status == SLAB_OK) status = check_model(scene, function, model);
  if (status == SLAB_OK) status = scene_check_depth(function, model);
  instance_worlds worlds;
  if (status == SLAB_OK) status = check_instance_worlds(scene, function, options, n, &worlds);
  if (status == SLAB_OK) status = scene_check_space(scene, function, n, n * model->ids);
  if (status == SLAB_OK) status = scene_reserve(scene, scene->geometries + 1);
  if (status != SLAB_OK) return status;
  added_geometry added = {.kind = SHAPE_INSTANCE, .count = n, .enabled = true};
  const uint32_t visible = options == NULL || options->mask == 0 ? UINT32_MAX : options->mask;
  near_transforms near;
  status = near_of_model(scene, model, t, n, &near);
  if (status == SLAB_OK)
    status = instances_take(function, model, (uint32_t)model->ids, near.transforms, n, visible, &worlds, &added.group);
  if (status == SLAB_OK && (status = origin_far_space(&added, &near)) != SLAB_OK) instances_release(added.group);
  if (status == SLAB_OK) origin_far_put(&added, &near, 0, NULL, n);
  near_transforms_free(&near);
  if (status != SLAB_OK) return status;
  model->is_model = true;
  if (geometry != NULL) *geometry = (uint32_t)scene->ids;
  if (options != NULL && options->skipped != NULL) *options->skipped = 0;
  scene_append(scene, &added, n * model->ids);
  return SLAB_OK;
}

static slab_status find_instances(const slab_scene *scene, const char *function, uint32_t geometry,
                                  added_geometry **found) {
  const slab_status status = scene_find(scene, function, geometry, found);
  if (status != SLAB_OK || (*found)->group != NULL) return status;
  return scene_fail_kind(function, geometry, (*found)->kind, "instance");
}

/* Takes new transforms beside those that a geometry has, or where nobody shares these only looks at them. */
static slab_status take_moved(const char *function, added_geometry *of, const float *transforms) {
  const instance_group *last = of->group;
  of->moves = last->references == 1;
  if (of->moves) return instances_accept(function, last, NULL, transforms, of->count);
  const instance_worlds worlds = {.last = last};
  return instances_take(function, last->model, last->geometries, transforms, of->count, last->mask, &worlds,
                        &of->moved);
}

/* Notes which worlds instances have moved in, those at these indices (NULL: all). */
static void note_moves(slab_scene *scene, const instance_group *group, const uint32_t *indices, uint32_t n) {
  const snapshot *last = atomic_load(&scene->committed);
  const world_lists *lists = last != NULL ? last->lists : NULL;
  scene->changed = true;
  scene->rearranged = scene->rearranged || lists == NULL || last->worlds != scene->worlds;
  for (uint32_t i = 0; scene->worlds > 0 && i < n; i++) {
    const uint32_t world = group->instances[indices != NULL ? indices[i] : i].world;
    scene->moved_in[world] = scene->frame + 1;
    scene->rearranged = scene->rearranged || !world_is_listed(lists, world);
  }
}

/* first: the number of its first transform. */
static void put_moved(slab_scene *scene, added_geometry *of, const near_transforms *t, size_t first) {
  if (of->moves) {
    instances_change(of->group, NULL, t->transforms + 12 * first, of->count);
  } else {
    instances_release(of->group);
    of->group = of->moved;
    scene->rearranged = true;
  }
  origin_far_put(of, t, first, NULL, of->count);
  note_moves(scene, of->group, NULL, of->count);
  of->moved = NULL;
  of->moves = false;
}

slab_status scene_update_instances(slab_scene *scene, const char *function, uint32_t geometry,
                                   const given_transforms *t, uint32_t n) {
  added_geometry *of = NULL;
  near_transforms near;
  ARITHMETIC callers = arithmetic_begin();
  slab_status status = check_transforms(scene, function, t, n);
  if (status == SLAB_OK) status = find_instances(scene, function, geometry, &of);
  if (status != SLAB_OK) return status;
  if (of->count != n)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %u transforms for geometry %u, which has %u instances", function, n,
                geometry, of->count);
  status = near_of_model(scene, of->group->model, t, n, &near);
  if (status == SLAB_OK) status = origin_far_space(of, &near);
  if (status == SLAB_OK) status = take_moved(function, of, near.transforms);
  if (status == SLAB_OK) put_moved(scene, of, &near, 0);
  of->moves = false;
  near_transforms_free(&near);
  return status;
}

/* The function, as messages about one of many geometries begin. */
typedef struct place_of_many {
  char text[64];
} place_of_many;

static place_of_many place_of(const char *function, uint32_t k) {
  place_of_many place;
  snprintf(place.text, sizeof place.text, "%s: geometries[%u]", function, k);
  return place;
}

/* How many instances many geometries have, which all have some. */
static slab_status count_instances(const slab_scene *scene, const char *function, const uint32_t *geometries,
                                   uint32_t count, uint64_t *instances) {
  *instances = 0;
  for (uint32_t k = 0; k < count; k++) {
    added_geometry *of = NULL;
    const slab_status status = find_instances(scene, place_of(function, k).text, geometries[k], &of);
    if (status != SLAB_OK) return status;
    *instances += of->count;
  }
  return SLAB_OK;
}

static slab_status change_some(slab_scene *scene, const char *function, added_geometry *of, const uint32_t *indices,
                               const near_transforms *t, uint32_t n) {
  slab_status status = instances_accept(function, of->group, indices, t->transforms, n);
  if (status == SLAB_OK) status = origin_far_space(of, t);
  if (status != SLAB_OK || n == 0) return status;
  if (of->group->references > 1) {
    instance_group *own = instances_copy(of->group);
    if (own == NULL) return fail_memory(of->count * sizeof(instance_entry), "instances");
    instances_release(of->group);
    of->group = own;
    scene->rearranged = true;
  }
  instances_change(of->group, indices, t->transforms, n);
  origin_far_put(of, t, 0, indices, n);
  note_moves(scene, of->group, indices, n);
  return SLAB_OK;
}

slab_status scene_update_some_instances(slab_scene *scene, const char *function, uint32_t geometry,
                                        const uint32_t *indices, const given_transforms *t, uint32_t n) {
  added_geometry *of = NULL;
  near_transforms near;
  ARITHMETIC callers = arithmetic_begin();
  slab_status status = check_transforms(scene, function, t, n);
  if (status == SLAB_OK && n > 0 && indices == NULL)
    status = fail(SLAB_INVALID_ARGUMENT, "%s: the array of %u indices is NULL", function, n);
  if (status == SLAB_OK) status = find_instances(scene, function, geometry, &of);
  if (status != SLAB_OK) return status;
  status = near_of_model(scene, of->group->model, t, n, &near);
  if (status == SLAB_OK) status = change_some(scene, function, of, indices, &near, n);
  near_transforms_free(&near);
  return status;
}

/* The transforms of many geometries, one after the other. near_transforms_free follows, also after a failure. */
static slab_status near_of_many(const slab_scene *scene, const uint32_t *geometries, uint32_t count,
                                const given_transforms *t, uint32_t n, near_transforms *near) {
  bool moves = false;
  for (uint32_t k = 0; k < count; k++)
    moves = moves || origin_moves(scene, scene_added(scene, geometries[k])->group->model);
  const slab_status status = origin_near_space(scene, t, n, moves, near);
  size_t first = 0;
  for (uint32_t k = 0; status == SLAB_OK && k < count; k++) {
    const added_geometry *of = scene_added(scene, geometries[k]);
    origin_near_fill(scene, of->group->model, t, first, of->count, near);
    first += of->count;
  }
  return status;
}

/* Takes new transforms beside those that many geometries have; *taken: of the first so many. */
static slab_status take_all_moved(slab_scene *scene, const char *function, const uint32_t *geometries, uint32_t count,
                                  const near_transforms *t, uint32_t *taken) {
  const float *transforms = t->transforms;
  for (; *taken < count; ++*taken) {
    added_geometry *of = scene_added(scene, geometries[*taken]);
    const place_of_many place = place_of(function, *taken);
    if (of->moved != NULL || of->moves)
      return fail(SLAB_INVALID_ARGUMENT, "%s: geometry %u is one of them already", place.text, geometries[*taken]);
    slab_status status = origin_far_space(of, t);
    if (status == SLAB_OK) status = take_moved(place.text, of, transforms);
    if (status != SLAB_OK) {
      of->moves = false;
      return status;
    }
    transforms += 12 * (size_t)of->count;
  }
  return SLAB_OK;
}

slab_status scene_move_instances(slab_scene *scene, const char *function, const uint32_t *geometries, uint32_t count,
                                 const given_transforms *t, uint32_t n) {
  uint64_t instances;
  uint32_t taken = 0;
  near_transforms near;
  ARITHMETIC callers = arithmetic_begin();
  slab_status status = check_transforms(scene, function, t, n);
  if (status == SLAB_OK && count > 0 && geometries == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "%s: the array of %u geometries is NULL", function, count);
  if (status == SLAB_OK) status = count_instances(scene, function, geometries, count, &instances);
  if (status != SLAB_OK) return status;
  if (instances != n)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %u transforms for %u geometries, which have %llu instances", function, n,
                count, (unsigned long long)instances);
  status = near_of_many(scene, geometries, count, t, n, &near);
  if (status == SLAB_OK) status = take_all_moved(scene, function, geometries, count, &near, &taken);
  size_t first = 0;
  for (uint32_t k = 0; k < taken; k++) {
    added_geometry *of = scene_added(scene, geometries[k]);
    if (status == SLAB_OK) {
      put_moved(scene, of, &near, first);
      first += of->count;
    } else {
      instances_release(of->moved);
      of->moved = NULL;
      of->moves = false;
    }
  }
  near_transforms_free(&near);
  return status;
}

/* ---- the public calls, in either type ---- */

#define PLACEMENTS(suffix, type, member)                                                                               \
  slab_status slab_scene_add_instances##suffix(slab_scene *scene, slab_scene *model, const type *transforms,           \
                                               uint32_t n, const slab_geometry_options *options, uint32_t *geometry) { \
    const given_transforms t = {.member = transforms};                                                                 \
    return add_instances("slab_scene_add_instances" #suffix, scene, model, &t, n, options, geometry);                  \
  }                                                                                                                    \
  slab_status slab_scene_update_instances##suffix(slab_scene *scene, uint32_t geometry, const type *transforms,        \
                                                  uint32_t n) {                                                        \
    const given_transforms t = {.member = transforms};                                                                 \
    return scene_update_instances(scene, "slab_scene_update_instances" #suffix, geometry, &t, n);                      \
  }                                                                                                                    \
  slab_status slab_scene_update_some_instances##suffix(slab_scene *scene, uint32_t geometry, const uint32_t *indices,  \
                                                       const type *transforms, uint32_t n) {                           \
    const given_transforms t = {.member = transforms};                                                                 \
    return scene_update_some_instances(scene, "slab_scene_update_some_instances" #suffix, geometry, indices, &t, n);   \
  }                                                                                                                    \
  slab_status slab_scene_move_instances##suffix(slab_scene *scene, const uint32_t *geometries, uint32_t count,         \
                                                const type *transforms, uint32_t n) {                                  \
    const given_transforms t = {.member = transforms};                                                                 \
    return scene_move_instances(scene, "slab_scene_move_instances" #suffix, geometries, count, &t, n);                 \
  }
PLACEMENTS(, float, floats)
PLACEMENTS(64, double, doubles)
#undef PLACEMENTS
