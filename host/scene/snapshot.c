/* Snapshots: laying a scene out, and uploading it to the devices. */
#include "record/snapshot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bvh/compressed.h"
#include "device/backend.h"
#include "device/context.h"
#include "layout/layout.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/thread.h"
#include "scene/models.h"
#include "scene/snapshot.h"
#include "scene/worlds.h"
#include "shapes/values.h"

/* ---- creating ---- */

snapshot *snapshot_create(slab_context *context, uint32_t geometries) {
  snapshot *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  s->context = context;
  s->table = malloc((geometries + (size_t)1) * sizeof *s->table); /* + 1: an empty scene is no failure */
  s->values = calloc(geometries + (size_t)1, sizeof *s->values);
  s->states = calloc(context->device_count, sizeof *s->states);
  s->models = calloc(geometries + (size_t)1, sizeof *s->models);
  s->groups = calloc(geometries + (size_t)1, sizeof *s->groups);
  if (s->table != NULL && s->values != NULL && s->states != NULL && s->models != NULL && s->groups != NULL) return s;
  snapshot_destroy(s);
  return NULL;
}

/* ---- uploading ---- */

static slab_status upload(snapshot *scene, uint32_t nth, const scene_arrays *a, scene_state *to, bool *in_place) {
  const device *d = &scene->context->devices[nth];
  scene->stats.device_bytes += a->geometries * sizeof *a->table + a->floats * sizeof *a->blocks + a->node_bytes;
  if (to->uploaded != NULL) return SLAB_OK; /* a refit there has written it */
  return d->backend->upload(d, a, to, in_place);
}

/* to: the state, or one for brute force beside a BVH. */
static slab_status upload_flat(snapshot *scene, uint32_t nth, scene_state *to) {
  geometry_entry *table = NULL;
  float *blocks = NULL;
  size_t floats = 0;
  bool in_place = false;
  slab_status status = pack_scene(scene, flat_lanes(&scene->context->devices[nth]), &table, &blocks, &floats);
  if (status != SLAB_OK) return status;
  const scene_arrays a = {.table = table, .geometries = scene->geometries, .blocks = blocks, .floats = floats};
  status = upload(scene, nth, &a, to, &in_place);
  if (in_place) {
    to->kept[0] = table;
    to->kept[1] = blocks;
    return status;
  }
  free(table);
  os_free(blocks);
  return status;
}

/* ---- small scenes ---- */

/* Whether casts on the device can choose between a BVH and brute force beside it. */
static bool chooses(const snapshot *scene, const device *d) {
  return d->backend->mixes && d->info.lane_width > 1 && scene->context->layout == SLAB_LAYOUT_WIDE;
}

/* The work of brute force on a device, as a table of tuning.h counts it. A block that is not full takes as long as a
 * full one. */
static uint64_t flat_work(const snapshot *scene, const device *d, const uint32_t each[SLAB_SHAPE_COUNT]) {
  const uint32_t lanes = flat_lanes(d) < BVH_WIDTH ? flat_lanes(d) : BVH_WIDTH;
  uint64_t work = 0;
  for (uint32_t g = 0; g < scene->geometries; g++) {
    const geometry_entry *entry = &scene->table[g];
    const uint32_t blocks = entry->count / lanes + (entry->count % lanes != 0);
    if (!is_hidden(scene, g)) work += (uint64_t)blocks * lanes * each[entry->kind];
  }
  return work;
}

/* Whether SLAB_TREE_DEFAULT builds no BVH: each device does without. */
static bool is_flat_best(const snapshot *scene) {
  for (uint32_t i = 0; i < scene->context->device_count; i++) {
    const device *d = &scene->context->devices[i];
    const uint32_t *each = d->backend->ready ? d->tuning->ready_work : d->tuning->flat_work;
    if (flat_work(scene, d, each) > (chooses(scene, d) ? 0 : FLAT_MOST)) return false;
  }
  return !scene->has_instances;
}

static bool has_unbounded(const snapshot *scene) {
  bool found = false;
  for (uint32_t g = 0; g < scene->geometries; g++) found |= layout_is_unbounded(scene, g);
  return found;
}

/* Brute force beside a BVH of SLAB_TREE_DEFAULT, which may be faster for some rays. In 1,024 boxes of 2D, which have no
 * bounds along an axis, it is 1.1 times as fast for some; in 3D there are none such from 512 on. */
static slab_status upload_beside(snapshot *scene, uint32_t nth) {
  const device *d = &scene->context->devices[nth];
  scene_state *state = &scene->states[nth], beside = {0};
  if (scene->tree != SLAB_TREE_DEFAULT || scene->has_instances || !chooses(scene, d)) return SLAB_OK;
  scene->beside_work = flat_work(scene, d, d->tuning->beside_work);
  if (scene->beside_work > beside_most(d) * (has_unbounded(scene) ? 2 : 1)) return SLAB_OK;
  const slab_status status = upload_flat(scene, nth, &beside);
  state->beside = beside.uploaded;
  memcpy(state->kept, beside.kept, sizeof state->kept);
  return status;
}

static void few_time_copy(few_time *to, const few_time *from) {
  atomic_store_explicit(&to->mean, atomic_load_explicit(&from->mean, memory_order_relaxed), memory_order_relaxed);
  atomic_store_explicit(&to->calls, atomic_load_explicit(&from->calls, memory_order_relaxed), memory_order_relaxed);
}

/* Casts on the last snapshot may go on. */
static void few_memory_copy(few_memory *to, const few_memory *from) {
  for (int query = 0; query < SLAB_QUERY_COUNT; query++)
    for (int k = 0; k < FEW_CLASSES; k++) {
      few_time_copy(&to->of[query][k].tree, &from->of[query][k].tree);
      few_time_copy(&to->of[query][k].flat, &from->of[query][k].flat);
    }
}

void snapshot_learn(snapshot *scene, const snapshot *last) {
  for (uint32_t i = 0; i < scene->context->device_count; i++) {
    device *d = &scene->context->devices[i];
    os_mutex_lock(&d->lock);
    scene->states[i].learned = last->states[i].learned;
    scene->states[i].hits = last->states[i].hits;
    os_mutex_unlock(&d->lock);
    few_memory_copy(&scene->states[i].few, &last->states[i].few);
  }
}

slab_status snapshot_upload_tree(snapshot *scene, const bvh_layout *t) {
  const scene_arrays a = {.table = scene->table,
                          .geometries = scene->entries,
                          .blocks = t->blocks,
                          .floats = t->floats,
                          .nodes = t->nodes,
                          .node_bytes = t->node_bytes,
                          .layout = scene->context->layout};
  slab_status status = SLAB_OK;
  bool in_place = false;
  for (uint32_t i = 0; i < scene->context->device_count && status == SLAB_OK; i++) {
    bool used = false;
    status = upload(scene, i, &a, &scene->states[i], &used);
    in_place = in_place || used;
    if (status == SLAB_OK) status = upload_beside(scene, i);
  }
  scene->has_bvh = true;
  scene->bvh = *t;
  memcpy(scene->uniforms.outside, t->outside, sizeof scene->uniforms.outside); /* instances: in the array of models */
  if (scene->context->layout == SLAB_LAYOUT_WIDE) scene->uniforms.units = (uint32_t)(t->floats / BLOCK_UNIT);
  scene->stats.tree_depth = t->depth;
  scene->stats.sah_cost = t->sah_cost;
  scene->stats.node_occupancy = t->node_occupancy;
  scene->stats.block_occupancy = t->block_occupancy;
  if (!in_place && !scene->moves && !scene->has_instances) layout_free_arrays(&scene->bvh);
  return status;
}

/* Opens the bounds of every child, so that nothing is culled by them. So SLAB_TREE_FLAT works for a scene with
 * instances: a ray is tested against every primitive of each instance whose gate it enters. */
static void open_bounds(slab_layout layout, bvh_layout *t) {
  bvh_node *nodes = t->nodes;
  t->model_set = 0;
  if (layout == SLAB_LAYOUT_COMPRESSED) {
    compressed_open(t->nodes, t->node_bytes / sizeof(compressed_node));
    return;
  }
  for (size_t n = 0; n < t->node_bytes / sizeof *nodes; n++)
    for (int k = 0; k < BVH_WIDTH; k++)
      for (int axis = 0; axis < 3 && nodes[n].meta[k] != 0; axis++) {
        nodes[n].bounds[axis][k] = -INFINITY;
        nodes[n].bounds[axis + 3][k] = INFINITY;
      }
}

/* Builds the scene's own BVH, of the primitives that all worlds share, and those of its worlds. */
static slab_status build_worlds(snapshot *scene, const worlds_before *before, bvh_layout *t) {
  slab_status status = worlds_list(scene, &scene->lists);
  if (status != SLAB_OK) return status;
  status = worlds_build(scene, before, scene->lists);
  if (scene->lists->part_count == 0) return status;
  bvh_layout *common = &scene->lists->parts[0].tree;
  *t = *common;
  common->nodes = common->blocks = NULL;
  return status;
}

/* Builds the BVH once, for all devices. */
static slab_status upload_built(snapshot *scene, const worlds_before *before) {
  bvh_layout t = {0};
  slab_status status = scene->worlds > 0 ? build_worlds(scene, before, &t)
                                         : bvh_layout_build(scene, NULL, scene->tree, scene->context->layout, &t);
  if (status == SLAB_OK && scene->has_instances) {
    scene->own_nodes = t.node_bytes / layout_node_size(scene->context->layout);
    scene->own_units = t.floats / block_form_of(scene->context->layout).unit;
    status = assembly_append(scene, scene->lists, &t);
  }
  if (scene->lists != NULL) worlds_free_trees(scene->lists);
  if (status == SLAB_OK && scene->tree == SLAB_TREE_FLAT) open_bounds(scene->context->layout, &t);
  scene->built_cost = t.sah_cost;
  t.build = scene->build;
  if (status != SLAB_OK) {
    layout_free_arrays(&t);
    return status;
  }
  status = snapshot_upload_tree(scene, &t);
  return status == SLAB_OK && scene->worlds > 0 ? worlds_settle(scene) : status;
}

slab_status snapshot_upload(snapshot *scene, const worlds_before *before, slab_tree tree) {
  slab_status status = SLAB_OK;
  scene->tree = tree == SLAB_TREE_DEFAULT && is_flat_best(scene) ? SLAB_TREE_FLAT : tree;
  if (scene->tree != SLAB_TREE_FLAT || scene->has_instances) return upload_built(scene, before);
  for (uint32_t i = 0; status == SLAB_OK && i < scene->context->device_count; i++)
    status = upload_flat(scene, i, &scene->states[i]);
  return status;
}

/* ---- statistics ---- */

static uint64_t *kind_count(slab_scene_stats *stats, uint32_t kind) {
#define COUNT_OF_KIND(shape, name, names, noun, floats, form, place, source) [shape] = &stats->names,
  uint64_t *const counts[] = {SHAPES(COUNT_OF_KIND)};
#undef COUNT_OF_KIND
  return counts[kind];
}

/* As snapshot.skewed. */
static uint32_t first_skewed(const snapshot *scene) {
  for (uint32_t g = 0; g < scene->geometries; g++) {
    uint32_t geometry;
    if (scene->groups[g] == NULL || is_hidden(scene, g)) continue;
    for (uint32_t i = 0; i < scene->groups[g]->count; i++)
      if (instance_is_skewed(scene, g, i, &geometry)) return geometry;
  }
  return SLAB_MISS;
}

void snapshot_measure(snapshot *scene) {
  const bvh_bounds bounds = layout_bounds(scene);
  memcpy(scene->stats.lower, bounds.lower, sizeof scene->stats.lower);
  memcpy(scene->stats.upper, bounds.upper, sizeof scene->stats.upper);
  scene->unbounded = has_unbounded(scene);
}

void snapshot_finish(snapshot *scene, double begin) {
  slab_scene_stats *stats = &scene->stats;
  stats->geometries = scene->ids;
  stats->host_bytes = scene->entries * (sizeof *scene->table + sizeof *scene->values) + sizeof *scene;
  for (uint32_t g = 0; g < scene->geometries; g++) {
    if (scene->values[g] == NULL) continue;
    if (scene->groups[g] == NULL) *kind_count(stats, scene->table[g].kind) += scene->table[g].count;
    const geometry_values *v = scene->values[g];
    stats->host_bytes += v->floats * sizeof *v->values + sizeof *v;
    if (scene->groups[g] != NULL)
      stats->host_bytes += scene->groups[g]->count * sizeof(instance_entry) + sizeof *scene->groups[g];
    if (v->indices != NULL)
      stats->host_bytes += 3 * (uint64_t)scene->table[g].count * sizeof *v->indices->list + sizeof *v->indices;
  }
  stats->build_seconds = seconds_now() - begin;
  scene->uniforms.geometries = scene->entries;
  scene->uniforms.mask = UINT32_MAX;
  if (scene->lists != NULL) {
    worlds_sum_up(scene);
    return;
  }
  snapshot_measure(scene);
  scene->skewed = first_skewed(scene);
}
