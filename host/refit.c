/* Refits the BVH of the last commit: writes the blocks anew, at their places, and bounds the nodes by what is in them.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "backend.h"
#include "base/per_processor.h"
#include "base/status.h"
#include "bvh/memory.h"
#include "bvh/refit.h"
#include "context.h"
#include "geometry.h"
#include "layout.h"
#include "snapshot.h"
#include "tuning.h"

typedef struct refitting {
  const snapshot *scene;
  block_form form;
  const float *from; /* the blocks of the last commit, for their global primitive ids */
  float *to;
  atomic_bool misplaced; /* some primitive is in the BVH and would stand outside it, or the reverse */
} refitting;

/* The geometry that was found last: neighbours in a leaf mostly have the same. */
typedef struct found {
  const geometry_values *values; /* NULL: none of its primitives is there */
  uint32_t first, end; /* global primitive ids */
} found;

static void find(const snapshot *scene, uint32_t id, found *f) {
  if (id >= f->first && id < f->end) return;
  const uint32_t g = geometry_of(scene->table, scene->geometries, id);
  const geometry_entry *entry = &scene->table[g];
  *f = (found){is_hidden(scene, g) ? NULL : scene->values[g], entry->global_id_base,
               entry->global_id_base + entry->count};
}

static inline void write_lane(float *block, uint32_t width, uint32_t lane, const float *values, uint32_t rows) {
  for (uint32_t r = 0; r < rows; r++) block[r * width + lane] = values[r];
}

static inline void grow(bvh_bounds *b, const float lower[3], const float upper[3]) {
  for (int i = 0; i < 3; i++) {
    b->lower[i] = lower[i] < b->lower[i] ? lower[i] : b->lower[i];
    b->upper[i] = upper[i] > b->upper[i] ? upper[i] : b->upper[i];
  }
}

/* Writes `count` blocks of a kind, the first at `first`. Returns how many primitives are there, and grows *b, unless it
 * is NULL, by their padded bounds. */
static inline __attribute__((always_inline)) uint32_t write_blocks(refitting *r, slab_shape kind, uint32_t rows,
                                                                   uint32_t first, uint32_t count, bvh_bounds *b) {
  const uint32_t width = r->form.width;
  const size_t floats = (size_t)block_units(r->form, kind) * r->form.unit;
  found geometry = {NULL, 0, 0};
  uint32_t there = 0;
  float none[ROWS_MOST], room[ROWS_MOST];
  primitive_void(kind, none);
  for (uint32_t i = 0; i < count; i++) {
    const size_t at = (size_t)first * r->form.unit + i * floats;
    uint32_t ids[BVH_WIDTH];
    memcpy(ids, r->from + at + (size_t)rows * width, width * sizeof *ids);
    for (uint32_t lane = 0; lane < width; lane++) {
      const float *values = none;
      if (ids[lane] != SLAB_MISS) {
        find(r->scene, ids[lane], &geometry);
        if (geometry.values != NULL) values = values_at(geometry.values, rows, ids[lane] - geometry.first, room);
      }
      write_lane(r->to + at, width, lane, values, rows);
      if (values == none || values_are_void(geometry.values, kind, values)) continue;
      there++;
      if (primitive_is_outside(kind, values) == (b != NULL)) atomic_store(&r->misplaced, true);
      if (b == NULL) continue;
      float lower[3], upper[3];
      primitive_bounds(kind, values, lower, upper);
      grow(b, lower, upper);
    }
    const size_t used = (size_t)rows * width;
    memcpy(r->to + at + used, r->from + at + used, (floats - used) * sizeof *r->to);
  }
  return there;
}

PER_PROCESSOR static uint32_t write_kind(refitting *r, uint32_t kind, uint32_t first, uint32_t count, bvh_bounds *b) {
#define WRITE_KIND(shape, name, names, noun, rows, form, place, source) \
  if (kind == (shape)) return write_blocks(r, shape, rows, first, count, b);
  SHAPES(WRITE_KIND)
#undef WRITE_KIND
  return 0;
}

static uint32_t refit_leaf(void *argument, uint32_t kind, uint32_t first, uint32_t count, bvh_bounds *b) {
  *b = (bvh_bounds){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  return write_kind(argument, kind, first, count, b);
}

/* ---- the whole ---- */

/* The primitives that a BVH of this scene has to hold, and those outside. */
typedef struct wanted {
  uint64_t in, out;
} wanted;

static wanted wanted_of(const snapshot *scene) {
  wanted w = {0, 0};
  for (uint32_t g = 0; g < scene->geometries; g++) {
    if (is_hidden(scene, g)) continue;
    const geometry_values *v = scene->values[g];
    w.out += v->outside;
    w.in += scene->table[g].count - v->voids - v->outside;
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

static uint64_t refit_outside(refitting *r, const bvh_layout *t) {
  uint64_t there = 0;
  for (int k = 0; k < OUTSIDE_KINDS; k++)
    there += write_kind(r, outside_kinds[k], t->outside[k].first, t->outside[k].blocks, NULL);
  return there;
}

static slab_status refit(const snapshot *scene, const bvh_layout *from, bvh_layout *to, bool *holds) {
  const bool compressed = scene->context->layout == SLAB_LAYOUT_COMPRESSED;
  const wanted w = wanted_of(scene);
  refitting r = {.scene = scene, .form = block_form_of(scene->context->layout), .from = from->blocks, .to = to->blocks};
  const bvh_refit_input input = {.compressed = compressed,
                                 .nodes = from->nodes,
                                 .refitted = to->nodes,
                                 .bounds = snapshot_bounds(scene),
                                 .leaves = tuning_of(compressed ? SLAB_DEVICE_GPU : SLAB_DEVICE_CPU)->leaves,
                                 .threads = scene->context->threads,
                                 .leaf = refit_leaf,
                                 .argument = &r};
  bvh_refit_outcome outcome;
  if (!bvh_refit(&input, &outcome)) return fail_memory(from->node_bytes, "refitting the tree");
  to->sah_cost = outcome.sah_cost;
  *holds = refit_outside(&r, from) == w.out && outcome.primitives == w.in && !atomic_load(&r.misplaced);
  return SLAB_OK;
}

slab_status bvh_layout_refit(const snapshot *scene, const snapshot *last, bvh_layout *out, bool *holds) {
  bvh_layout from;
  *out = last->bvh;
  out->nodes = bvh_allocate(out->node_bytes, 1);
  out->blocks = bvh_allocate(out->floats + 1, sizeof *out->blocks);
  if (out->nodes == NULL || out->blocks == NULL)
    return fail_memory(out->node_bytes + out->floats * sizeof *out->blocks, "the tree");
  slab_status status = arrays_of(last, &from);
  if (status == SLAB_OK) status = refit(scene, &from, out, holds);
  if (from.nodes != last->bvh.nodes) free(from.nodes);
  if (from.blocks != last->bvh.blocks) free(from.blocks);
  return status;
}
