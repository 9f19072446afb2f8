/* Finds the leaf of each primitive, and brings those up to date that were touched. */
#include "layout/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "device/tuning.h"
#include "layout/blocks.h"
#include "layout/layout.h"
#include "maths/answer.h"
#include "maths/primitive.h"
#include "shapes/primitive.h"
#include "shapes/values.h"

/* Of one in so many primitives it is known that they have moved. */
enum { MOVED_SHARE = 16 };

/* Space for new leaves, of so many units one, and always some. */
enum { SPACE_SHARE = 8, SPACE_LEAST = 64 };

/* ---- making ---- */

static const block_form wide = {BVH_WIDTH, BLOCK_UNIT};

typedef struct places_noting {
  tree_places *to;
  float *blocks;
} places_noting;

/* Notes the place of all primitives of `count` blocks. */
static void note_blocks(void *argument, uint32_t kind, uint32_t first, uint32_t count, uint32_t place) {
  const places_noting *n = argument;
  tree_places *p = n->to;
  const uint32_t units = block_units(wide, kind);
  const size_t end = first + count * (size_t)units;
  if (end > p->free) p->free = end;
  for (uint32_t b = 0; b < count; b++, first += units) {
    const uint32_t *ids = block_ids(wide, kind, n->blocks + (size_t)first * wide.unit);
    for (int k = 0; k < BVH_WIDTH; k++)
      if (ids[k] != SLAB_MISS) p->of[ids[k]] = place;
  }
}

static void note_leaves(tree_places *p, const bvh_layout *t) {
  places_noting n = {p, t->blocks};
  bvh_each_leaf(false, t->nodes, p->tree.count, note_blocks, &n);
  for (int k = 0; k < OUTSIDE_KINDS; k++)
    note_blocks(&n, layout_outside_kinds[k], t->outside[k].first, t->outside[k].blocks, PLACE_OUTSIDE);
}

slab_status places_create(const snapshot *s, tree_places **made) {
  const size_t nodes = s->bvh.node_bytes / sizeof(bvh_node);
  *made = NULL;
  if (nodes >= PLACE_OUTSIDE / BVH_WIDTH) return SLAB_OK;
  tree_places *p = calloc(1, sizeof *p);
  if (p == NULL) return fail_memory(sizeof *p, "where primitives lie");
  p->references = 1;
  p->of = malloc((s->primitives + 1) * sizeof *p->of);
  p->listed = calloc(s->primitives + 1, sizeof *p->listed);
  p->moved_space = (uint32_t)(s->primitives / MOVED_SHARE) + MENDED_MOST;
  p->moved = malloc(p->moved_space * sizeof *p->moved);
  if (p->of == NULL || p->listed == NULL || p->moved == NULL ||
      !bvh_touched_create(s->bvh.nodes, (uint32_t)nodes, layout_bounds(s), &tuning_of(SLAB_DEVICE_CPU)->leaves,
                          &p->tree)) {
    places_release(p);
    return fail_memory(s->primitives * sizeof *p->of + nodes * sizeof *p->tree.costs, "where primitives lie");
  }
  for (uint64_t i = 0; i < s->primitives; i++) p->of[i] = PLACE_NONE;
  note_leaves(p, &s->bvh);
  p->units = p->free + p->free / SPACE_SHARE + SPACE_LEAST;
  if (p->units > UINT32_MAX || p->units < s->bvh.floats / BLOCK_UNIT) p->units = s->bvh.floats / BLOCK_UNIT;
  *made = p;
  return SLAB_OK;
}

void places_release(tree_places *p) {
  if (p == NULL || --p->references > 0) return;
  bvh_touched_free(&p->tree);
  free(p->of);
  free(p->listed);
  free(p->moved);
  free(p);
}

/* ---- touching ---- */

/* Of collapsed triangles, which no ray hits, the BVH of rays may have some: those that became so. */
static bool is_beside(const snapshot *s, uint32_t place) {
  return s->bvh.collapsed_root != 0 && place / BVH_WIDTH >= s->bvh.collapsed_root;
}

bool places_touch(tree_places *p, const snapshot *s, uint32_t geometry, uint32_t i) {
  const geometry_entry *entry = &s->table[geometry];
  const slab_shape kind = (slab_shape)entry->kind;
  const uint32_t place = p->of[entry->global_id_base + i];
  float space[FLOATS_MOST];
  if (is_hidden(s, geometry)) return true;
  const float *values = values_at(s->values[geometry], primitive_floats(kind), i, space);
  if (place == PLACE_OUTSIDE)
    p->outside = true;
  else if (place != PLACE_NONE)
    bvh_touch(&p->tree, place);
  if (primitive_is_void(kind, values)) return true;
  if (primitive_is_outside(kind, values)) return place == PLACE_OUTSIDE;
  if (place >= PLACE_OUTSIDE) return false;
  return !is_beside(s, place) || primitive_is_never_hit(kind, values);
}

void places_note(tree_places *p, const snapshot *s, uint32_t geometry, uint32_t i) {
  const uint32_t id = s->table[geometry].global_id_base + i, place = p->of[id];
  if (p->listed[id] || place >= PLACE_OUTSIDE || is_beside(s, place)) return;
  p->overrun = p->overrun || p->moved_count == p->moved_space;
  if (p->moved_count == p->moved_space) return;
  p->listed[id] = 1;
  p->moved[p->moved_count++] = id;
}

/* ---- refitting ---- */

static uint32_t refit_leaf(void *argument, uint32_t kind, uint32_t first, uint32_t count, aabb *bounds) {
  *bounds = aabb_empty();
  return blocks_write(argument, kind, first, count, bounds).there;
}

/* Sums up the facts about the whole. */
static void sum_up(const tree_places *p, snapshot *s) {
  s->bvh.sah_cost = bvh_touched_cost(&p->tree, s->bvh.nodes);
  s->bvh.space = (p->units - p->free) * BLOCK_UNIT;
}

static block_writing writing_of(const snapshot *s) {
  return (block_writing){.scene = s, .form = wide, .from = s->bvh.blocks, .to = s->bvh.blocks};
}

void places_refit(tree_places *p, snapshot *s) {
  block_writing w = writing_of(s);
  for (int k = 0; k < OUTSIDE_KINDS && p->outside; k++)
    blocks_write(&w, layout_outside_kinds[k], s->bvh.outside[k].first, s->bvh.outside[k].blocks, NULL);
  p->outside = false;
  bvh_refit_touched(&p->tree, s->bvh.nodes, refit_leaf, &w);
  sum_up(p, s);
}

/* ---- leaves with other primitives ---- */

/* A leaf's blocks. */
typedef struct leaf_blocks {
  uint32_t kind, count;
  size_t at, floats; /* where the first begins, and the size of each */
} leaf_blocks;

static leaf_blocks blocks_at(uint32_t kind, uint32_t first, uint32_t count) {
  return (leaf_blocks){kind, count, (size_t)first * wide.unit, (size_t)block_units(wide, kind) * wide.unit};
}

static leaf_blocks leaf_at(const snapshot *s, uint32_t place) {
  const bvh_node *node = (const bvh_node *)s->bvh.nodes + place / BVH_WIDTH;
  const uint32_t k = place % BVH_WIDTH;
  return blocks_at(BVH_LEAF_KIND(node->meta[k]), node->child[k], BVH_LEAF_BLOCK_COUNT(node->meta[k]));
}

void places_follow(tree_places *p, const snapshot *last, snapshot *s, uint32_t leaf) {
  const bvh_node *from = (const bvh_node *)last->bvh.nodes + leaf / BVH_WIDTH;
  bvh_node *to = (bvh_node *)s->bvh.nodes + leaf / BVH_WIDTH;
  to->child[leaf % BVH_WIDTH] = from->child[leaf % BVH_WIDTH];
  to->meta[leaf % BVH_WIDTH] = from->meta[leaf % BVH_WIDTH];
  const leaf_blocks l = leaf_at(s, leaf);
  memcpy(s->bvh.blocks + l.at, last->bvh.blocks + l.at, l.count * l.floats * sizeof *s->bvh.blocks);
  bvh_touch(&p->tree, leaf);
}

static uint32_t *ids_of(const snapshot *s, const leaf_blocks *l, uint32_t block) {
  return block_ids(wide, l->kind, s->bvh.blocks + l->at + block * l->floats);
}

/* Puts an id in the place of another. Ids of a block ascend, SLAB_MISS for none at the end. Returns whether it is
 * there.
 */
static bool replace(const snapshot *s, const leaf_blocks *l, uint32_t id, uint32_t by) {
  for (uint32_t block = 0; block < l->count; block++) {
    uint32_t *ids = ids_of(s, l, block), k = 0;
    while (k < BVH_WIDTH && ids[k] != id) k++;
    if (k == BVH_WIDTH) continue;
    for (; k > 0 && ids[k - 1] > by; k--) ids[k] = ids[k - 1];
    for (; k + 1 < BVH_WIDTH && ids[k + 1] < by; k++) ids[k] = ids[k + 1];
    ids[k] = by;
    return true;
  }
  return false;
}

typedef struct lane_wanted {
  const snapshot *in;
  uint32_t kind;
} lane_wanted;

static bool has_lane(const void *argument, uint32_t kind, uint32_t first, uint32_t count) {
  const lane_wanted *w = argument;
  const leaf_blocks l = blocks_at(kind, first, count);
  bool has = false;
  for (uint32_t block = 0; block < count && kind == w->kind && !has; block++)
    has = ids_of(w->in, &l, block)[BVH_WIDTH - 1] == SLAB_MISS;
  return has;
}

static bool can_open(const tree_places *p, uint32_t kind) { return p->units - p->free >= block_units(wide, kind); }

/* Makes a leaf without primitives of a slot without a child. */
static void open_leaf(tree_places *p, snapshot *s, uint32_t place, uint32_t kind) {
  bvh_node *node = (bvh_node *)s->bvh.nodes + place / BVH_WIDTH;
  const uint32_t k = place % BVH_WIDTH;
  if (node->meta[k] != 0) return;
  node->child[k] = (uint32_t)p->free;
  node->meta[k] = BVH_LEAF(kind, 1);
  block_write_ids(wide, kind, s->bvh.blocks + p->free * wide.unit, NULL, 0);
  p->free += block_units(wide, kind);
}

/* A primitive that is taken out of its leaf. */
typedef struct mended {
  uint32_t id, geometry;
  aabb bounds;
} mended;

/* Returns whether there is a primitive to put elsewhere. */
static bool take_out(tree_places *p, const snapshot *s, uint32_t id, mended *m) {
  const uint32_t g = geometry_of(s->table, s->geometries, id);
  const slab_shape kind = (slab_shape)s->table[g].kind;
  float space[FLOATS_MOST], lower[3], upper[3];
  if (is_hidden(s, g)) return false;
  const float *values = values_at(s->values[g], primitive_floats(kind), id - s->table[g].global_id_base, space);
  const leaf_blocks leaf = leaf_at(s, p->of[id]);
  if (primitive_is_void(kind, values) || !replace(s, &leaf, id, SLAB_MISS)) return false;
  bvh_touch(&p->tree, p->of[id]);
  primitive_bounds(kind, values, lower, upper);
  *m = (mended){id, g, {float4_xyz(lower), float4_xyz(upper)}};
  return true;
}

/* Puts a primitive where it costs least. */
static void put_in(tree_places *p, snapshot *s, const mended *m) {
  const lane_wanted wanted = {s, s->table[m->geometry].kind};
  const bool opens = can_open(p, wanted.kind);
  const uint32_t place = bvh_find_leaf(&p->tree, s->bvh.nodes, m->bounds, p->of[m->id], opens, has_lane, &wanted);
  block_writing w = writing_of(s);
  open_leaf(p, s, place, wanted.kind);
  const leaf_blocks leaf = leaf_at(s, place);
  replace(s, &leaf, SLAB_MISS, m->id);
  p->of[m->id] = place;
  bvh_refit_path(&p->tree, s->bvh.nodes, place, refit_leaf, &w);
}

/* All are out before the first finds its leaf: else those that are still where they were stretch bounds, in which there
 * seems to be space. */
void places_mend(tree_places *p, snapshot *s, places_changed *changed, void *argument) {
  mended out[MENDED_MOST];
  uint32_t count = 0;
  while (count < MENDED_MOST && p->moved_count > 0) {
    const uint32_t id = p->moved[--p->moved_count];
    p->listed[id] = 0;
    if (!take_out(p, s, id, &out[count])) continue;
    changed(argument, p->of[id]);
    count++;
  }
  places_refit(p, s);
  for (uint32_t i = 0; i < count; i++) {
    put_in(p, s, &out[i]);
    changed(argument, p->of[out[i].id]);
  }
  sum_up(p, s);
}
