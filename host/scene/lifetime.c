/* The lifetime of scenes, snapshots and models: their readers and holders, and the memory that goes with the last
 * one. */
#include <stdlib.h>

#include "base/status.h"
#include "device/backend.h"
#include "device/context.h"
#include "layout/layout.h"
#include "layout/places.h"
#include "os/memory.h"
#include "os/thread.h"
#include "scene/boundary.h"
#include "scene/models.h"
#include "scene/scene.h"
#include "scene/snapshot.h"
#include "scene/worlds.h"
#include "shapes/values.h"

/* ---- snapshots ---- */

static void release_states(snapshot *s) {
  const uint32_t count = s->states == NULL ? 0 : s->context->device_count;
  for (uint32_t i = 0; i < count; i++) {
    const device *d = &s->context->devices[i];
    d->backend->release(d, &s->states[i]);
    if (s->states[i].beside == NULL) continue;
    s->states[i].uploaded = s->states[i].beside;
    d->backend->release(d, &s->states[i]);
  }
  for (uint32_t i = 0; i < count; i++) {
    free(s->states[i].kept[0]);
    os_free(s->states[i].kept[1]);
  }
  free(s->states);
}

void snapshot_destroy(snapshot *s) {
  if (s == NULL) return;
  release_states(s);
  layout_free_arrays(&s->bvh);
  boundary_free(s->boundary);
  for (uint32_t g = 0; g < s->geometries; g++) {
    values_release(s->values[g]);
    instances_release(s->groups[g]);
    model_drop(&s->models[g]);
  }
  worlds_release(s->lists);
  places_release(s->places);
  os_free(s->world_states);
  free(s->models);
  free(s->groups);
  free(s->values);
  free(s->table);
  free(s);
}

void snapshot_salvage(snapshot *s, bvh_layout *arrays) {
  const bvh_layout kept = s->bvh;
  s->bvh.nodes = s->bvh.blocks = NULL;
  snapshot_destroy(s); /* the users of the arrays in place are gone after that */
  layout_free_arrays(arrays);
  *arrays = kept;
}

/* ---- worlds ---- */

world_lists *worlds_retain(world_lists *l) {
  l->references++;
  return l;
}

void worlds_release(world_lists *l) {
  if (l == NULL || --l->references > 0) return;
  free(l->runs);
  free(l->runs_begin);
  free(l->parts);
  free(l->lanes);
  free(l->begin);
  free(l);
}

/* ---- models ---- */

void instances_release(instance_group *g) {
  if (g == NULL || --g->references > 0) return;
  if (g->of == NULL) slab_scene_destroy(g->model); /* a snapshot's holds its models otherwise */
  free(g);
}

void scene_hold(const scene_reading *reading, snapshot **held) {
  *held = (snapshot *)reading->scene;
  atomic_fetch_add(&(*held)->held, 1);
  scene_retain(reading->of);
}

void scene_let_go(slab_scene *scene, snapshot **held) {
  if (*held == NULL) return;
  atomic_fetch_sub(&(*held)->held, 1);
  *held = NULL;
  slab_scene_destroy(scene);
}

void model_share(const held_model *from, held_model *to) {
  *to = *from;
  if (from->snapshot == NULL) return;
  atomic_fetch_add(&from->snapshot->held, 1);
  scene_retain(from->scene);
}

void model_drop(held_model *held) { scene_let_go(held->scene, &held->snapshot); }

/* ---- scenes ---- */

void scene_retain(slab_scene *scene) { atomic_fetch_add(&scene->references, 1); }

void slab_scene_destroy(slab_scene *scene) {
  if (scene == NULL || atomic_fetch_sub(&scene->references, 1) != 1) return;
  for (snapshot *s = scene->replaced, *older; s != NULL; s = older) {
    older = s->older;
    snapshot_destroy(s);
  }
  snapshot_destroy(atomic_load(&scene->committed));
  layout_free_arrays(&scene->spare);
  snapshot_destroy(scene->resting);
  free(scene->moved_in);
  free(scene->moves.list);
  for (uint32_t g = 0; g < scene->geometries; g++) {
    values_release(scene->added[g].values);
    instances_release(scene->added[g].group);
    free(scene->added[g].far);
  }
  free(scene->added);
  os_mutex_destroy(&scene->crowd);
  context_release(scene->context);
  free(scene);
}

/* ---- readers ---- */

slab_status scene_enter_slowly(slab_scene *scene, const char *function, scene_reading *r) {
  const snapshot *s = atomic_load(&scene->committed);
  if (s == NULL) return fail(SLAB_INVALID_STATE, "%s: the scene is not committed", function);
  for (int i = 0; i < READER_PLACES; i++)
    if (scene_take_place(scene, &scene->places[i], atomic_load(&scene->committed), r)) return SLAB_OK;
  os_mutex_lock(&scene->crowd);
  snapshot *now = atomic_load(&scene->committed);
  now->crowd++;
  os_mutex_unlock(&scene->crowd);
  *r = (scene_reading){now, scene, NULL};
  return SLAB_OK;
}

void scene_leave_crowd(const scene_reading *r) {
  os_mutex_lock(&r->of->crowd);
  ((snapshot *)r->scene)->crowd--;
  os_mutex_unlock(&r->of->crowd);
}
