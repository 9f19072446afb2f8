/* Copies of snapshots. */
#include "scene/copies.h"

#include <string.h>

#include "base/pool.h"
#include "base/status.h"
#include "bvh/memory.h"
#include "device/context.h"
#include "layout/layout.h"
#include "layout/places.h"
#include "scene/models.h"
#include "scene/snapshot.h"
#include "scene/worlds.h"
#include "shapes/values.h"

static slab_status copy_arrays(const snapshot *from, size_t floats, bvh_layout *spare, snapshot *to) {
  bvh_layout *t = &to->bvh;
  const uint32_t threads = from->context->threads;
  *t = from->bvh;
  t->floats = floats;
  t->space += floats - from->bvh.floats;
  if (spare->node_bytes != t->node_bytes || spare->floats != t->floats) layout_free_arrays(spare);
  t->nodes = spare->nodes != NULL ? spare->nodes : bvh_allocate(t->node_bytes, 1);
  t->blocks = spare->blocks != NULL ? spare->blocks : bvh_allocate(t->floats + 1, sizeof *t->blocks);
  *spare = (bvh_layout){0};
  if (t->nodes == NULL || t->blocks == NULL)
    return fail_memory(t->node_bytes + t->floats * sizeof *t->blocks, "the tree");
  pool_copy(threads, t->nodes, from->bvh.nodes, t->node_bytes);
  pool_copy(threads, t->blocks, from->bvh.blocks, from->bvh.floats * sizeof *t->blocks);
  memset(t->blocks + from->bvh.floats, 0, (floats - from->bvh.floats) * sizeof *t->blocks);
  return SLAB_OK;
}

/* Takes the parts that a snapshot shares with another. */
static void share(const snapshot *from, snapshot *to) {
  to->lists = from->lists != NULL ? worlds_retain(from->lists) : NULL;
  to->places = from->places;
  if (to->places != NULL) to->places->references++;
  for (uint32_t g = 0; g < from->geometries; g++) {
    to->values[g] = from->values[g];
    if (to->values[g] != NULL) to->values[g]->references++;
    if (from->groups[g] != NULL) {
      to->groups[g] = from->groups[g];
      to->groups[g]->references++;
    }
    model_share(&from->models[g], &to->models[g]);
  }
}

slab_status snapshot_copy(const snapshot *from, size_t floats, bvh_layout *spare, snapshot **made) {
  snapshot *s = *made = snapshot_create(from->context, from->entries);
  if (s == NULL) return fail_memory(from->entries * sizeof *s->table, "the geometry table");
  snapshot kept = *s;
  *s = *from;
  s->table = kept.table;
  s->values = kept.values;
  s->states = kept.states;
  s->models = kept.models;
  s->groups = kept.groups;
  s->world_states = NULL;
  s->boundary = NULL;
  s->older = NULL;
  s->crowd = 0;
  atomic_init(&s->held, 0);
  s->bvh.nodes = s->bvh.blocks = NULL;
  memcpy(s->table, from->table, from->entries * sizeof *s->table);
  share(from, s);
  return copy_arrays(from, floats, spare, s);
}

slab_status snapshot_upload_copy(snapshot *s) {
  s->stats.device_bytes = 0;
  const bvh_layout t = s->bvh;
  return snapshot_upload_tree(s, &t);
}
