/* Refits the BVH of the last commit: writes the blocks anew, at their places, and bounds the nodes by their
 * primitives. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bvh/memory.h"
#include "bvh/refit.h"
#include "device/backend.h"
#include "device/context.h"
#include "device/tuning.h"
#include "layout/blocks.h"
#include "layout/layout.h"
#include "os/memory.h"
#include "record/snapshot.h"
#include "shapes/values.h"

typedef struct leaf_refit {
  block_writing blocks;
  atomic_uint_fast64_t collapsed; /* triangles so far */
} leaf_refit;

static uint32_t refit_leaf(void *argument, uint32_t kind, uint32_t first, uint32_t count, aabb *bounds) {
  leaf_refit *r = argument;
  *bounds = aabb_empty();
  const blocks_held held = blocks_write(&r->blocks, kind, first, count, bounds);
  if (held.collapsed > 0) atomic_fetch_add_explicit(&r->collapsed, held.collapsed, memory_order_relaxed);
  return held.there;
}

/* ---- the whole ---- */

/* The primitives that a BVH of this scene has to hold, those outside, and collapsed triangles, of which it or the other
 * BVH has to hold each. */
typedef struct wanted {
  uint64_t in, out, collapsed;
} wanted;

static wanted wanted_of(const snapshot *scene) {
  wanted w = {0, 0, 0};
  for (uint32_t g = 0; g < scene->geometries; g++) {
    if (is_hidden(scene, g)) continue;
    const geometry_values *v = scene->values[g];
    w.out += v->outside;
    w.in += scene->table[g].count - v->unhit - v->outside;
    w.collapsed += values_collapsed(v);
  }
  return w;
}

/* The arrays of the last commit: the host's, or read from the first device. */
static slab_status arrays_of(const snapshot *last, bvh_layout *arrays) {
  const device *d = &last->context->devices[0];
  *arrays = last->bvh;
  if (arrays->nodes != NULL) return SLAB_OK;
  arrays->nodes = bvh_allocate(arrays->node_bytes, 1);
  arrays->blocks = bvh_allocate(arrays->floats + 1, sizeof *arrays->blocks);
  if (arrays->nodes == NULL || arrays->blocks == NULL)
    return fail_memory(arrays->node_bytes + arrays->floats * sizeof *arrays->blocks, "the tree");
  return d->backend->fetch(d, &last->states[0], last->context->layout, arrays->node_bytes, arrays->floats,
                           arrays->nodes, arrays->blocks);
}

/* Whether the primitives outside the BVH are those that have to be. Where the BVH has as many primitives as it has to,
 * none of them has to be outside: as many would be missing here. */
static bool refit_outside(const block_writing *blocks, const bvh_layout *t, uint64_t all) {
  uint64_t there = 0, outside = 0;
  for (int k = 0; k < OUTSIDE_LISTS; k++) {
    const blocks_held held =
        blocks_write(blocks, layout_outside_kinds[k], t->outside[k].first, t->outside[k].blocks, NULL);
    there += held.there;
    outside += held.outside;
  }
  return there == all && outside == all;
}

static slab_status refit(const snapshot *scene, const bvh_layout *from, bvh_layout *to, bool *holds) {
  const slab_layout layout = scene->context->layout;
  const bool compressed = layout == SLAB_LAYOUT_COMPRESSED;
  if (from->lacks_some)
    layout_look_through(scene);
  else
    layout_look_closer(scene);
  const wanted w = wanted_of(scene);
  leaf_refit leaves = {
      .blocks = {.scene = scene, .form = block_form_of(layout), .from = from->blocks, .to = to->blocks}};
  block_writing *blocks = &leaves.blocks;
  bvh_refit_input input = {.compressed = compressed,
                           .nodes = from->nodes,
                           .refitted = to->nodes,
                           .bounds = layout_bounds(scene),
                           .leaves = tuning_of(compressed ? SLAB_DEVICE_GPU : SLAB_DEVICE_CPU)->leaves,
                           .threads = scene->context->threads,
                           .leaf = refit_leaf,
                           .argument = &leaves};
  if (!scene->has_instances && scene->kinds == 1u << SLAB_TRIANGLE) blocks->alike = from->floats;
  bvh_refit_outcome outcome, beside;
  if (!bvh_refit(&input, &outcome)) return fail_memory(from->node_bytes, "refitting the tree");
  input.root = from->collapsed_root;
  if (input.root != 0 && !bvh_refit(&input, &beside)) return fail_memory(from->node_bytes, "refitting the tree");
  to->sah_cost = outcome.sah_cost;
  *holds = refit_outside(blocks, from, w.out) && outcome.primitives == w.in && leaves.collapsed == w.collapsed;
  return SLAB_OK;
}

slab_status bvh_layout_refit(const snapshot *scene, const snapshot *last, bvh_layout *out, bool *holds) {
  bvh_layout from, again = *out;
  *out = last->bvh;
  if (again.node_bytes != out->node_bytes || again.floats != out->floats) layout_free_arrays(&again);
  out->build = scene->build;
  const bool again_there = again.nodes != NULL && again.blocks != NULL && again.build == last->build;
  out->model_set = again_there ? again.model_set : 0; /* of another build they may lie elsewhere in as many bytes */
  out->nodes = again.nodes != NULL ? again.nodes : bvh_allocate(out->node_bytes, 1);
  out->blocks = again.blocks != NULL ? again.blocks : bvh_allocate(out->floats + 1, sizeof *out->blocks);
  if (out->nodes == NULL || out->blocks == NULL)
    return fail_memory(out->node_bytes + out->floats * sizeof *out->blocks, "the tree");
  if (again_there) return refit(scene, out, out, holds);
  memset(out->blocks + out->floats - out->space, 0, out->space * sizeof *out->blocks);
  slab_status status = arrays_of(last, &from);
  if (status == SLAB_OK) status = refit(scene, &from, out, holds);
  if (from.nodes != last->bvh.nodes) os_free(from.nodes);
  if (from.blocks != last->bvh.blocks) os_free(from.blocks);
  return status;
}

/* ---- on a device ---- */

/* Whether a BVH that lacks none but triangles that have a vertex twice lacks none of these now. */
static bool has_all(const geometry_values *now, const geometry_values *last) {
  return now->unhit == collapsed_by_index(now) && (collapsed_by_index(last) == 0 || now->indices == last->indices);
}

/* Whether all that has moved are triangles that the BVH has, whose vertices are on the device. */
static bool can_refit_there(const snapshot *scene, const snapshot *last) {
  bool any = false;
  if (scene->has_instances || scene->kinds != 1u << SLAB_TRIANGLE || last->bvh.lacks_some) return false;
  for (uint32_t g = 0; g < scene->geometries; g++) {
    if (is_hidden(scene, g) != is_hidden(last, g)) return false;
    if (!has_moved(scene, last, g)) continue;
    const geometry_values *now = scene->values[g];
    if (now->copy.memory == NULL || !has_all(now, last->values[g])) return false;
    any = true;
  }
  return any;
}

slab_status bvh_layout_refit_there(snapshot *scene, const snapshot *last, bvh_layout *out, bool *holds) {
  device *d = &scene->context->devices[0];
  if (!can_refit_there(scene, last)) return SLAB_OK;
  *out = last->bvh;
  out->nodes = out->blocks = NULL;
  out->build = scene->build;
  out->model_set = 0;
  refit_outcome outcome = {.done = false};
  const slab_status status = d->backend->refit(d, scene, last, &scene->states[0], &outcome);
  out->sah_cost = outcome.sah_cost;
  scene->stats.device_bytes += outcome.bytes;
  *holds = outcome.done;
  return status;
}
