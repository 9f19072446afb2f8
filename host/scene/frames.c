/* Frames: a commit of a scene with worlds of which instances have moved and nothing else has changed. Two snapshots
 * take turns, and of each those worlds are written that have moved since it was the scene's. */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/status.h"
#include "bvh/memory.h"
#include "device/backend.h"
#include "device/context.h"
#include "layout/layout.h"
#include "os/clock.h"
#include "scene/copies.h"
#include "scene/scene.h"
#include "scene/snapshot.h"
#include "scene/worlds.h"

/* Fewer worlds are written by one thread. */
enum { WORLDS_ALONE = 8 };

/* ---- writing moves ---- */

typedef struct frame_writing {
  const slab_scene *scene;
  snapshot *to;
} frame_writing;

static bool has_moved_since(const frame_writing *w, uint32_t world) { return w->scene->moved_in[world] > w->to->frame; }

static void write_some(void *argument, size_t first, size_t end) {
  const frame_writing *w = argument;
  for (uint32_t world = (uint32_t)first + 1; world <= end; world++)
    if (has_moved_since(w, world)) worlds_write(w->to, world);
}

/* The worlds that were written. */
typedef struct frame_worlds {
  uint32_t list[WORLDS_ALONE], count; /* a count above WORLDS_ALONE: more than are listed */
} frame_worlds;

static void write_moved(const slab_scene *scene, snapshot *to, frame_worlds *moved) {
  frame_writing w = {scene, to};
  moved->count = 0;
  for (uint32_t world = 1; world <= scene->worlds && moved->count <= WORLDS_ALONE; world++) {
    if (!has_moved_since(&w, world)) continue;
    if (moved->count < WORLDS_ALONE) moved->list[moved->count] = world;
    moved->count++;
  }
  if (moved->count <= WORLDS_ALONE)
    for (uint32_t k = 0; k < moved->count; k++) worlds_write(to, moved->list[k]);
  else
    pool_loop(scene->context->threads, scene->worlds, WORLDS_SUMMED, write_some, &w);
}

/* ---- snapshots ---- */

/* A snapshot that is like another, in arrays of its own. *made: also after a failure, to be destroyed. */
static slab_status copy_worlds(const snapshot *from, snapshot **made) {
  const size_t states = worlds_states_size(from->worlds);
  bvh_layout none = {0};
  slab_status status = snapshot_copy(from, from->bvh.floats, &none, made);
  snapshot *s = *made;
  if (status != SLAB_OK) return status;
  s->world_states = bvh_allocate(states, 1);
  if (s->world_states == NULL) return fail_memory(states, "the scene's worlds");
  memcpy(s->world_states, from->world_states, states);
  return worlds_take_groups(s);
}

/* Writes the worlds to a device that has copies of the arrays. */
static slab_status rewrite(const snapshot *s, uint32_t nth, const frame_worlds *moved, bool *done) {
  const device *d = &s->context->devices[nth];
  const scene_arrays arrays = {.blocks = s->bvh.blocks, .floats = s->bvh.floats};
  blocks_part parts[WORLDS_ALONE * WORLD_PARTS];
  uint32_t count = 0;
  if (moved->count > WORLDS_ALONE)
    count = worlds_all_parts(s, parts);
  else
    for (uint32_t k = 0; k < moved->count; k++) count += worlds_parts(s, moved->list[k], parts + count);
  return d->backend->rewrite(d, &arrays, parts, count, &s->states[nth], done);
}

/* Brings a snapshot that devices had before to them. A copy that cannot be written there is dropped, and uploaded. */
static slab_status upload_again(snapshot *s, const frame_worlds *moved) {
  bool uploaded = true;
  for (uint32_t i = 0; i < s->context->device_count; i++) {
    const backend *of = s->context->devices[i].backend;
    bool done = of->at_hand;
    const slab_status status = done ? SLAB_OK : rewrite(s, i, moved, &done);
    if (status != SLAB_OK) return status;
    if (!done) of->release(&s->context->devices[i], &s->states[i]);
    uploaded = uploaded && done;
  }
  return uploaded ? SLAB_OK : snapshot_upload_copy(s);
}

slab_status frames_make(slab_scene *scene, snapshot **made) {
  const snapshot *last = atomic_load(&scene->committed);
  snapshot *s = scene->resting;
  const bool is_new = s == NULL;
  slab_status status = SLAB_OK;
  frame_worlds moved;
  scene->resting = NULL;
  if (is_new) status = copy_worlds(last, &s);
  if (status == SLAB_OK) {
    write_moved(scene, s, &moved);
    status = is_new ? snapshot_upload_copy(s) : upload_again(s, &moved);
  }
  if (status != SLAB_OK) {
    snapshot_destroy(s);
    return status;
  }
  snapshot_learn(s, last);
  *made = s;
  return SLAB_OK;
}

void frames_finish(snapshot *s, double begin) {
  worlds_sum_up(s);
  s->stats.build_seconds = seconds_now() - begin;
}
