/* Commits: additions, changes and removals become a snapshot that casts see, by a refit of the last BVH where that
 * holds the scene, else by a new BVH. */
#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/status.h"
#include "device/context.h"
#include "layout/layout.h"
#include "os/clock.h"
#include "os/thread.h"
#include "scene/models.h"
#include "scene/moves.h"
#include "scene/origin.h"
#include "scene/scene.h"
#include "scene/snapshot.h"
#include "scene/worlds.h"
#include "shapes/values.h"

/* ---- snapshots of a scene ---- */

/* Ids never shift, so a removed geometry keeps its place. Its primitives keep theirs in numbers that are kept, and lose
 * them else. Of removed instances, whose models nobody holds, none are left: no id leads into them. */
static geometry_entry entry_of(const slab_scene *scene, const snapshot *numbered, uint32_t g, uint64_t base) {
  const added_geometry *a = &scene->added[g];
  const bool removed = is_removed(a);
  geometry_entry entry = {.kind = a->kind, .count = removed ? 0 : a->count, .global_id_base = (uint32_t)base};
  if (numbered != NULL) entry = numbered->table[g];
  if (removed && a->kind == SHAPE_INSTANCE) entry.count = 0;
  entry.mask = removed || !a->enabled ? 0 : a->group != NULL ? a->group->mask : a->values->mask;
  entry.id = a->id;
  return entry;
}

/* Takes the parts that a snapshot shares with the scene: values, or instances with their model as it is now. */
static slab_status share(const slab_scene *scene, uint32_t g, snapshot *s) {
  static const held_model nothing = {.snapshot = NULL};
  const added_geometry *a = &scene->added[g];
  const snapshot *last = atomic_load(&scene->committed);
  if (a->values != NULL) {
    s->values[g] = a->values;
    s->values[g]->references++;
  }
  if (a->group == NULL) {
    s->shown += s->table[g].count;
    return SLAB_OK;
  }
  s->has_instances = true;
  s->groups[g] = a->group;
  s->groups[g]->references++;
  char function[48];
  snprintf(function, sizeof function, "slab_scene_commit: geometry %u", a->id);
  const held_model *before = last != NULL && g < last->geometries ? &last->models[g] : &nothing;
  const slab_status status = model_hold(function, a->group, before, &s->models[g]);
  if (status != SLAB_OK) return status;
  const snapshot *model = s->models[g].snapshot;
  s->shown += s->table[g].count * model->shown;
  if (1 + model->depths > s->depths) s->depths = 1 + model->depths;
  if (s->depths > SCENE_DEPTHS)
    return fail(SLAB_INVALID_STATE,
                "slab_scene_commit: the model of geometry %u is %u models deep by now, of at "
                "most %u",
                a->id, model->depths - 1, SCENE_DEPTHS - 2);
  s->values[g] = gates_of(scene->context, a->group, &s->models[g].measure);
  return s->values[g] != NULL ? SLAB_OK : fail_memory(a->count * BOX_FLOATS * sizeof(float), "the gates of instances");
}

/* Whether all models of a snapshot are those of the last one. */
static bool has_models_of(const snapshot *s, const snapshot *last) {
  bool same = s->geometries == last->geometries;
  for (uint32_t g = 0; same && g < s->geometries; g++) same = s->models[g].snapshot == last->models[g].snapshot;
  return same;
}

slab_status scene_snapshot(const slab_scene *scene, const snapshot *numbered, snapshot **made) {
  const snapshot *last = atomic_load(&scene->committed);
  snapshot *s = snapshot_create(scene->context, scene->geometries);
  if (s == NULL) return fail_memory(scene->geometries * sizeof *s->table + sizeof *s, "the geometry table");
  s->geometries = s->entries = scene->geometries;
  s->ids = (uint32_t)scene->ids;
  s->depths = s->model_count = 1;
  s->worlds = scene->worlds;
  memcpy(s->stats.origin, scene->origin, sizeof s->stats.origin);
  /* also where all were removed: kernels for others take indices for ids */
  s->has_instances = s->ids != s->geometries || s->worlds > 0;
  s->kinds = numbered == NULL ? 0 : numbered->kinds; /* the kinds that leaves have space for */
  for (uint32_t g = 0; g < s->geometries; g++) {
    s->table[g] = entry_of(scene, numbered, g, s->primitives);
    s->primitives += s->table[g].count;
    if (s->table[g].count > 0 && s->table[g].kind != SHAPE_INSTANCE) s->kinds |= 1u << s->table[g].kind;
    const slab_status status = share(scene, g, s);
    if (status == SLAB_OK) continue;
    snapshot_destroy(s);
    return status;
  }
  if (numbered != NULL) s->primitives = numbered->primitives;
  s->model_set = 1;
  if (last != NULL) s->model_set = last->model_set + !has_models_of(s, last);
  if (last != NULL) s->build = last->build + (numbered == NULL);
  *made = s;
  return SLAB_OK;
}

static bool is_read(slab_scene *scene, const snapshot *s) {
  for (int i = 0; i < READER_PLACES; i++)
    if (atomic_load(&scene->places[i].reads) == s) return true;
  os_mutex_lock(&scene->crowd);
  const uint32_t crowd = s->crowd;
  os_mutex_unlock(&scene->crowd);
  return crowd > 0 || atomic_load(&s->held) > 0; /* last: a holder was a reader until then */
}

/* Whether a model was committed anew since the last commit. */
static bool models_changed(const slab_scene *scene, const snapshot *last) {
  for (uint32_t g = 0; g < last->geometries; g++) {
    const instance_group *group = scene->added[g].group;
    if (group != NULL && last->models[g].snapshot != atomic_load(&group->model->committed)) return true;
  }
  return false;
}

/* Whether the next commit of moves alone may write them to a snapshot. */
static bool may_rest(const slab_scene *scene, const snapshot *s) {
  if (s->lists == NULL) return moves_may_follow(scene, s);
  return s->lists == atomic_load(&scene->committed)->lists;
}

/* Frees snapshots that nobody reads any more. */
static void forget_replaced(slab_scene *scene) {
  for (snapshot **at = &scene->replaced; *at != NULL;) {
    snapshot *s = *at;
    if (is_read(scene, s)) {
      at = &s->older;
      continue;
    }
    *at = s->older;
    if (scene->resting == NULL && may_rest(scene, s)) {
      scene->resting = s;
      s->older = NULL;
    } else if (s->moves) {
      snapshot_salvage(s, &scene->spare);
    } else {
      snapshot_destroy(s);
    }
  }
}

void scene_publish(slab_scene *scene, snapshot *next) {
  snapshot *last = atomic_exchange(&scene->committed, next);
  scene->changed = scene->grown = scene->rearranged = false;
  next->frame = ++scene->frame;
  if (scene->resting != NULL && !may_rest(scene, scene->resting)) {
    snapshot_destroy(scene->resting);
    scene->resting = NULL;
  }
  if (last != NULL) {
    last->older = scene->replaced;
    scene->replaced = last;
    forget_replaced(scene);
  }
  moves_forget(scene, next->places != NULL); /* which no other commit looks for */
}

/* ---- committing ---- */

static slab_status build(const slab_scene *scene, slab_tree tree, snapshot **made) {
  snapshot *s = NULL;
  const snapshot *last = atomic_load(&scene->committed);
  slab_status status = scene_snapshot(scene, NULL, &s);
  if (status != SLAB_OK) return status;
  s->moves = last != NULL && last->moves;
  status = snapshot_upload(s, &(worlds_before){last, scene->moved_in}, tree);
  if (status == SLAB_OK)
    *made = s;
  else
    snapshot_destroy(s);
  return status;
}

/* Refits the last BVH. Leaves *made where it does not hold the scene any more, or would cost too much. */
static slab_status refit(slab_scene *scene, slab_update update, snapshot **made) {
  const snapshot *last = atomic_load(&scene->committed);
  snapshot *s = NULL;
  bool holds = false;
  slab_status status = scene_snapshot(scene, last, &s);
  if (status != SLAB_OK) return status;
  if (s->has_instances != last->has_instances) { /* the kernels for others know no leaves of instances */
    snapshot_destroy(s);
    return SLAB_OK;
  }
  s->tree = last->tree;
  s->built_cost = last->built_cost;
  s->own_nodes = last->own_nodes;
  s->own_units = last->own_units;
  bvh_layout t = {0};
  status = bvh_layout_refit_there(s, last, &t, &holds);
  if (status == SLAB_OK && !holds) {
    s->moves = true;
    t = scene->spare;
    scene->spare = (bvh_layout){0};
    status = bvh_layout_refit(s, last, &t, &holds);
  }
  holds = holds && (update == SLAB_UPDATE_REFIT || t.sah_cost <= REFIT_COST_MOST * s->built_cost);
  if (status == SLAB_OK && holds && s->has_instances) status = assembly_append(s, NULL, &t);
  if (status == SLAB_OK && holds) {
    status = snapshot_upload_tree(s, &t);
    if (status == SLAB_OK) *made = s;
  } else {
    layout_free_arrays(&t);
  }
  if (*made == s)
    snapshot_learn(s, last);
  else
    snapshot_destroy(s);
  return status;
}

/* Whether nothing has changed but the places of instances that worlds list. */
static bool is_frame(const slab_scene *scene, const slab_build_options *options) {
  const snapshot *last = atomic_load(&scene->committed);
  return last != NULL && last->lists != NULL && scene->changed && !scene->rearranged &&
         options->update != SLAB_UPDATE_REBUILD && !models_changed(scene, last);
}

/* Whether the last BVH may hold the scene. */
static bool may_refit(const slab_scene *scene, const slab_build_options *options) {
  const snapshot *last = atomic_load(&scene->committed);
  return last != NULL && last->has_bvh && last->tree != SLAB_TREE_FLAT && !scene->grown && scene->worlds == 0 &&
         options->update != SLAB_UPDATE_REBUILD && options->tree != SLAB_TREE_FLAT;
}

/* Brings the last BVH up to date. Leaves *made where it does not hold the scene. */
static slab_status renew(slab_scene *scene, slab_update update, snapshot **made) {
  bool builds = false;
  slab_status status = SLAB_OK;
  if (moves_are_all(scene)) status = moves_make(scene, update, made, &builds);
  return status == SLAB_OK && *made == NULL && !builds ? refit(scene, update, made) : status;
}

static void finish(snapshot *s, bool frame, double begin) {
  if (frame)
    frames_finish(s, begin);
  else if (s->places != NULL)
    moves_finish(s, begin);
  else
    snapshot_finish(s, begin);
}

static slab_status check_options(const slab_build_options *o) {
  if ((unsigned)o->tree > SLAB_TREE_HIGH)
    return fail(SLAB_INVALID_ARGUMENT, "slab_scene_commit: tree is %d, not a slab_tree", (int)o->tree);
  if ((unsigned)o->update > SLAB_UPDATE_REBUILD)
    return fail(SLAB_INVALID_ARGUMENT, "slab_scene_commit: update is %d, not a slab_update", (int)o->update);
  return SLAB_OK;
}

slab_status slab_scene_commit(slab_scene *scene, const slab_build_options *options) {
  static const slab_build_options defaults;
  if (options == NULL) options = &defaults;
  ARITHMETIC callers = arithmetic_begin();
  slab_status status = scene_check(scene, "slab_scene_commit");
  if (status == SLAB_OK) status = check_options(options);
  if (status == SLAB_OK) status = origin_settle(scene, "slab_scene_commit");
  if (status != SLAB_OK) return status;
  const double begin = seconds_now();
  const snapshot *last = atomic_load(&scene->committed);
  forget_replaced(scene);
  if (last != NULL && !scene->changed && options->update != SLAB_UPDATE_REBUILD && !models_changed(scene, last))
    return SLAB_OK;
  snapshot *next = NULL;
  moves_settle(scene);
  const bool frame = is_frame(scene, options);
  if (frame) status = frames_make(scene, &next);
  if (!frame && may_refit(scene, options)) status = renew(scene, options->update, &next);
  if (status == SLAB_OK && next == NULL) status = build(scene, options->tree, &next);
  if (status != SLAB_OK) return status;
  finish(next, frame, begin);
  for (uint32_t g = 0; g < next->geometries; g++)
    if (next->values[g] != NULL) values_drop_copy(&next->values[g]->copy); /* the device has them in its blocks */
  scene_publish(scene, next);
  return SLAB_OK;
}

slab_status slab_scene_info(const slab_scene *scene, slab_scene_stats *stats) {
  if (scene == NULL || stats == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_scene_info: %s is NULL", scene == NULL ? "scene" : "stats");
  scene_reading reading;
  const slab_status status = scene_enter(scene, "slab_scene_info", &reading);
  if (status != SLAB_OK) return status;
  *stats = reading.scene->stats;
  scene_leave(&reading);
  return SLAB_OK;
}
