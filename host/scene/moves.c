/* Commits of a scene of which ranges of primitives have changed and nothing else has. Two snapshots take turns, each
 * with values of its own for the geometries that change. Each gets the moves since it was the scene's. */
#include "scene/moves.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "device/backend.h"
#include "device/context.h"
#include "layout/layout.h"
#include "layout/places.h"
#include "os/clock.h"
#include "scene/boundary.h"
#include "scene/copies.h"
#include "scene/snapshot.h"

/* ---- moves ---- */

/* Of more than one in so many primitives, in the moves that are listed, a refit of all is as fast. */
enum { MOVES_SHARE = 16, MOVES_ALWAYS = 1024 };

static void count_run(void *argument, uint32_t first, uint32_t count) {
  (void)first, (void)count;
  ++*(uint64_t *)argument;
}

static slab_status reserve(moved_list *m, uint64_t runs) {
  if (m->count + runs <= m->space) return SLAB_OK;
  const uint64_t space = m->count + runs > 2 * (uint64_t)m->space ? m->count + runs : 2 * (uint64_t)m->space;
  moved_run *grown = space > UINT32_MAX ? NULL : realloc(m->list, space * sizeof *grown);
  if (grown == NULL) return fail_memory(space * sizeof *grown, "the list of what has moved");
  m->list = grown;
  m->space = (uint32_t)space;
  return SLAB_OK;
}

slab_status moves_reserve(slab_scene *scene, const geometry_values *v, const values_range *r) {
  uint64_t runs = 0;
  values_range_runs(v, r, count_run, &runs);
  return scene->rearranged ? SLAB_OK : reserve(&scene->moves, runs);
}

typedef struct run_noting {
  slab_scene *scene;
  uint32_t geometry;
} run_noting;

/* A run that continues the last one lengthens it. */
static void note_run(void *argument, uint32_t first, uint32_t count) {
  const run_noting *n = argument;
  moved_list *m = &n->scene->moves;
  const uint64_t frame = n->scene->frame + 1;
  moved_run *last = m->count > 0 ? &m->list[m->count - 1] : NULL;
  m->elements += count;
  if (last != NULL && last->frame == frame && last->geometry == n->geometry && last->first + last->count == first)
    last->count += count;
  else
    m->list[m->count++] = (moved_run){frame, n->geometry, first, count};
}

/* A leaf whose primitives were mended. */
static void note_leaf(void *argument, uint32_t leaf) {
  slab_scene *scene = argument;
  scene->moves.elements++;
  scene->moves.list[scene->moves.count++] = (moved_run){scene->frame + 1, MOVED_LEAF, leaf, 1};
}

/* Drops the runs of the commits up to this one. */
static void drop_until(moved_list *m, uint64_t frame) {
  uint32_t from = 0;
  for (; from < m->count && m->list[from].frame <= frame; from++) m->elements -= m->list[from].count;
  m->count -= from;
  if (from > 0) memmove(m->list, m->list + from, m->count * sizeof *m->list);
  if (frame > m->since) m->since = frame;
}

void moves_note(slab_scene *scene, uint32_t geometry, const values_range *r) {
  run_noting n = {scene, geometry};
  scene->changed = true;
  scene->rearranged = scene->rearranged || scene->worlds > 0;
  if (scene->rearranged) return;
  values_range_runs(scene->added[geometry].values, r, note_run, &n);
  const uint64_t share = scene->primitives / MOVES_SHARE, most = share > MOVES_ALWAYS ? share : MOVES_ALWAYS;
  if (scene->moves.elements > most) drop_until(&scene->moves, scene->frame);
  scene->rearranged = scene->moves.elements > most;
}

void moves_settle(slab_scene *scene) {
  for (uint32_t g = 0; g < scene->geometries; g++)
    if (scene->added[g].values != NULL) values_settle(scene->added[g].values);
}

/* ---- which commits ---- */

/* Whether devices read the arrays of the host, and none has arrays beside them. */
static bool arrays_are_all(const snapshot *s) {
  for (uint32_t i = 0; i < s->context->device_count; i++)
    if (!s->context->devices[i].backend->at_hand || s->states[i].beside != NULL) return false;
  return s->bvh.nodes != NULL;
}

bool moves_are_all(const slab_scene *scene) {
  const snapshot *last = atomic_load(&scene->committed);
  return last != NULL && scene->changed && !scene->rearranged && last->has_bvh && last->tree != SLAB_TREE_FLAT &&
         !last->has_instances && last->context->layout == SLAB_LAYOUT_WIDE && arrays_are_all(last);
}

bool moves_may_follow(const slab_scene *scene, const snapshot *s) {
  const snapshot *last = atomic_load(&scene->committed);
  return s->places != NULL && s->places == last->places && s->frame >= scene->moves.since &&
         s->bvh.floats == last->places->units * BLOCK_UNIT;
}

void moves_forget(slab_scene *scene, bool moves) {
  uint64_t oldest = scene->frame;
  if (!moves) {
    drop_until(&scene->moves, scene->frame);
    return;
  }
  if (scene->resting != NULL) oldest = scene->resting->frame;
  for (const snapshot *s = scene->replaced; s != NULL; s = s->older)
    if (moves_may_follow(scene, s) && s->frame < oldest) oldest = s->frame;
  drop_until(&scene->moves, oldest);
}

/* ---- writing moves ---- */

typedef struct moves_writing {
  snapshot *to;
  uint32_t geometry;
  bool anew;  /* in the commit that is being made */
  bool holds; /* so far */
} moves_writing;

static void touch(void *argument, uint32_t primitive) {
  moves_writing *w = argument;
  if (!places_touch(w->to->places, w->to, w->geometry, primitive)) w->holds = false;
  if (w->anew) places_note(w->to->places, w->to, w->geometry, primitive);
}

/* Gives the snapshot values of its own of a geometry that others share. */
static slab_status own_values(const slab_scene *scene, snapshot *s, uint32_t g) {
  if (s->values[g]->references == 1) return SLAB_OK;
  geometry_values *own = values_copy(scene->context->threads, s->values[g]);
  if (own == NULL) return fail_memory(s->values[g]->floats * sizeof(float), "geometry");
  values_release(s->values[g]);
  s->values[g] = own;
  return SLAB_OK;
}

/* Writes the runs since the snapshot was the scene's. */
static slab_status write_values(const slab_scene *scene, snapshot *s) {
  slab_status status = SLAB_OK;
  for (uint32_t i = 0; status == SLAB_OK && i < scene->moves.count; i++) {
    const moved_run *run = &scene->moves.list[i];
    if (run->frame <= s->frame || run->geometry == MOVED_LEAF) continue;
    const added_geometry *of = &scene->added[run->geometry];
    status = own_values(scene, s, run->geometry);
    if (status == SLAB_OK)
      values_follow(s->values[run->geometry], of->values, (slab_shape)of->kind, run->first, run->count);
  }
  return status;
}

/* Returns whether the BVH can hold all that has moved. */
static bool touch_all(const slab_scene *scene, const snapshot *last, snapshot *s) {
  moves_writing w = {.to = s, .holds = true};
  for (uint32_t i = 0; i < scene->moves.count; i++) {
    const moved_run *run = &scene->moves.list[i];
    w.geometry = run->geometry;
    w.anew = run->frame > last->frame;
    if (run->frame <= s->frame) continue;
    if (run->geometry == MOVED_LEAF)
      places_follow(s->places, last, s, run->first);
    else
      values_run_primitives(s->values[w.geometry], run->first, run->count, touch, &w);
  }
  return w.holds;
}

/* ---- the commit ---- */

/* Of this cost of a build on the tree is mended. */
#define MEND_COST_LEAST 1.1

/* The places of the last snapshot, which it keeps for those after it. */
static slab_status find_places(snapshot *last) {
  if (last->places != NULL && last->places->fails) {
    places_release(last->places);
    last->places = NULL;
  }
  return last->places != NULL ? SLAB_OK : places_create(last, &last->places);
}

/* A snapshot to write to. */
static slab_status take_resting(slab_scene *scene, snapshot *last, snapshot **made) {
  snapshot *s = scene->resting;
  slab_status status = SLAB_OK;
  scene->resting = NULL;
  if (s != NULL && !moves_may_follow(scene, s)) {
    snapshot_salvage(s, &scene->spare);
    s = NULL;
  }
  if (s == NULL) {
    status = snapshot_copy(last, last->places->units * BLOCK_UNIT, &scene->spare, &s);
    if (status == SLAB_OK) status = snapshot_upload_copy(s);
    if (status == SLAB_OK) s->moves = true;
  } else {
    boundary_free(atomic_load(&s->boundary));
    atomic_init(&s->boundary, NULL);
  }
  *made = s;
  return status;
}

/* Mends the tree where it has become worse, before that is worth a build. Some primitives that have moved far stretch
 * all nodes above them, and the others are good. Returns whether a build is due: it costs too much even where all that
 * moved is mended, or more moves than can be. */
static bool keep_good(slab_scene *scene, slab_update update, snapshot *s) {
  if (s->bvh.sah_cost > MEND_COST_LEAST * s->built_cost && s->places->moved_count > 0) {
    places_mend(s->places, s, note_leaf, scene);
    s->build++;
  }
  return update != SLAB_UPDATE_REFIT && (s->places->moved_count == 0 || s->places->overrun) &&
         s->bvh.sah_cost > REFIT_COST_MOST * s->built_cost;
}

/* Writes all that has moved. Returns whether that is the next commit. */
static bool write_moves(slab_scene *scene, slab_update update, const snapshot *last, snapshot *s) {
  s->build = last->build;
  s->bvh.build = UINT64_MAX; /* until the leaves are whole */
  s->places->fails = true;
  if (!touch_all(scene, last, s)) return false;
  places_refit(s->places, s);
  if (keep_good(scene, update, s)) return false;
  s->bvh.build = s->build;
  s->places->fails = false;
  return true;
}

slab_status moves_make(slab_scene *scene, slab_update update, snapshot **made, bool *builds) {
  snapshot *last = atomic_load(&scene->committed), *s = NULL;
  slab_status status = find_places(last);
  *builds = false;
  if (status != SLAB_OK || last->places == NULL) return status;
  status = reserve(&scene->moves, 2 * MENDED_MOST);
  if (status == SLAB_OK) status = take_resting(scene, last, &s);
  if (status == SLAB_OK) status = write_values(scene, s);
  if (status == SLAB_OK) *builds = !write_moves(scene, update, last, s);
  if (status == SLAB_OK && !*builds) {
    snapshot_learn(s, last);
    *made = s;
  } else if (s != NULL) {
    snapshot_salvage(s, &scene->spare);
  }
  return status;
}

void moves_finish(snapshot *s, double begin) {
  snapshot_measure(s);
  s->stats.sah_cost = s->bvh.sah_cost;
  s->stats.build_seconds = seconds_now() - begin;
}
