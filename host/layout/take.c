/* Takes a part of the last commit's BVH over, where its primitives have not changed. Its primitives may have other ids
 * by now, since geometries with lower ids may have more primitives, or fewer. */
#include <string.h>

#include "base/status.h"
#include "bvh/memory.h"
#include "bvh/refit.h"
#include "device/context.h"
#include "layout/blocks.h"
#include "layout/layout.h"
#include "maths/answer.h"

typedef struct renumbering {
  const snapshot *scene, *last;
  block_form form;
  float *blocks;
  geometry_entry found; /* that of the last primitive, as it was */
  uint32_t shift;       /* of its ids, modulo 2^32 */
} renumbering;

static uint32_t number_now(renumbering *r, uint32_t id) {
  if (id == SLAB_MISS) return id;
  if (id - r->found.global_id_base >= r->found.count) {
    const uint32_t g = geometry_of(r->last->table, r->last->geometries, id);
    r->found = r->last->table[g];
    r->shift = r->scene->table[g].global_id_base - r->found.global_id_base;
  }
  return id + r->shift;
}

static void renumber_blocks(void *argument, uint32_t kind, uint32_t first, uint32_t count, uint32_t place) {
  renumbering *r = argument;
  (void)place;
  for (uint32_t b = 0; b < count; b++, first += block_units(r->form, kind)) {
    uint32_t *ids = block_ids(r->form, kind, r->blocks + (size_t)first * r->form.unit);
    for (uint32_t k = 0; k < r->form.width; k++) ids[k] = number_now(r, ids[k]);
  }
}

bool layout_keeps_ids(const snapshot *scene, const snapshot *last) {
  for (uint32_t g = 0; g < last->geometries; g++)
    if (scene->table[g].global_id_base != last->table[g].global_id_base) return false;
  return true;
}

void bvh_layout_renumber(const snapshot *scene, const snapshot *last, bvh_layout *t) {
  const slab_layout layout = scene->context->layout;
  renumbering r = {scene, last, block_form_of(layout), t->blocks, {.count = 0}, 0};
  bvh_each_leaf(layout == SLAB_LAYOUT_COMPRESSED, t->nodes, t->node_bytes / layout_node_size(layout), renumber_blocks,
                &r);
  for (int k = 0; k < OUTSIDE_LISTS; k++)
    renumber_blocks(&r, layout_outside_kinds[k], t->outside[k].first, t->outside[k].blocks, 0);
}

slab_status bvh_layout_take(const snapshot *last, const bvh_layout *kept, size_t node, size_t unit, bvh_layout *out) {
  const slab_layout layout = last->context->layout;
  const size_t nodes = kept->node_bytes / layout_node_size(layout);
  *out = *kept;
  out->nodes = bvh_allocate(kept->node_bytes, 1);
  out->blocks = bvh_allocate(kept->floats + 1, sizeof *out->blocks);
  if (out->nodes == NULL || out->blocks == NULL)
    return fail_memory(kept->node_bytes + kept->floats * sizeof *out->blocks, "the tree");
  layout_copy_nodes(layout, layout_node(layout, last->bvh.nodes, node), nodes, out->nodes, 0 - node, 0 - unit);
  memcpy(out->blocks, last->bvh.blocks + unit * block_form_of(layout).unit, kept->floats * sizeof *out->blocks);
  return SLAB_OK;
}
