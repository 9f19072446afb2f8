/* Builds the BVH of a scene in the device's layout. */
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/per_processor.h"
#include "base/pool.h"
#include "base/status.h"
#include "bvh/bvh.h"
#include "bvh/compressed.h"
#include "bvh/memory.h"
#include "device/context.h"
#include "device/tuning.h"
#include "maths/answer.h"
#include "maths/primitive.h"
#include "os/memory.h"
#include "record/snapshot.h"
#include "shapes/padded.h"
#include "shapes/primitive.h"
#include "shapes/values.h"

enum { BLOCKS_A_PIECE = 1024, NODES_A_PIECE = 1024 };

/* The primitives of a scene as input of the BVH builder. */
typedef struct gathered {
  const snapshot *scene;
  const layout_part *part; /* of which they are; NULL: of all */
  bool collapsed_ones;     /* those are gathered, and no others */
  uint32_t *ids;           /* global primitive ids of those in the BVH, ascending; NULL: all are in it */
  uint32_t count;
  uint32_t *outside[OUTSIDE_LISTS]; /* global primitive ids of the unbounded ones, outside the BVH */
  uint32_t outside_count[OUTSIDE_LISTS];
  atomic_bool *collapsed; /* some triangle is, of a geometry that nobody has looked through */
} gathered;

const uint8_t layout_outside_kinds[OUTSIDE_LISTS] = {
#define OUTSIDE_KIND(shape, name) [OUTSIDE_##name] = shape,
    SHAPES_OUTSIDE(OUTSIDE_KIND)
#undef OUTSIDE_KIND
        [OUTSIDE_INSTANCES] = SHAPE_INSTANCE,
};

static uint32_t id_of(const gathered *g, uint32_t i) { return g->ids == NULL ? i : g->ids[i]; }

static void gather_free(gathered *g) {
  os_free(g->ids);
  for (int k = 0; k < OUTSIDE_LISTS; k++) free(g->outside[k]);
}

/* The runs that are gathered, by number: of no part the geometries. */
static uint32_t run_count(const gathered *g) { return g->part != NULL ? g->part->count : g->scene->geometries; }

static layout_run run_of(const gathered *g, uint32_t i) {
  return g->part != NULL ? g->part->runs[i] : (layout_run){i, 0, g->scene->table[i].count};
}

/* Primitives of a kind, or of all. */
static size_t count_of_kind(const gathered *g, uint32_t kind, bool any) {
  size_t count = 0;
  for (uint32_t i = 0; i < run_count(g); i++) {
    const layout_run run = run_of(g, i);
    if (any || g->scene->table[run.geometry].kind == kind) count += run.count;
  }
  return count;
}

/* Whether all primitives of a geometry are in the BVH. */
static bool all_bounded(const geometry_values *v) { return v->unhit + v->outside == 0; }

/* Lists primitives of a geometry. */
static void list_geometry(gathered *g, const geometry_entry *entry, const geometry_values *v, uint32_t first,
                          uint32_t count) {
  const uint32_t floats = primitive_floats(entry->kind);
  const slab_shape kind = (slab_shape)entry->kind;
  float space[FLOATS_MOST];
  for (uint32_t i = first; i < first + count; i++) {
    const uint32_t id = entry->global_id_base + i;
    const float *values = all_bounded(v) ? NULL : values_at(v, floats, i, space);
    if (values != NULL && primitive_is_never_hit(kind, values)) {
      if (g->collapsed_ones && !primitive_is_void(kind, values)) g->ids[g->count++] = id;
      continue;
    }
    if (g->collapsed_ones) continue;
    if (values == NULL || !primitive_is_outside(kind, values)) {
      g->ids[g->count++] = id;
      continue;
    }
    for (int k = 0; k < OUTSIDE_LISTS; k++)
      if (entry->kind == layout_outside_kinds[k]) g->outside[k][g->outside_count[k]++] = id;
  }
}

static slab_status gather(gathered *g) {
  const snapshot *scene = g->scene;
  bool all = g->part == NULL, held = true;
  for (uint32_t i = 0; i < scene->geometries && all; i++)
    all = all && (scene->table[i].count == 0 || (!is_hidden(scene, i) && all_bounded(scene->values[i])));
  all = all && !g->collapsed_ones;
  if (all) {
    g->count = (uint32_t)scene->primitives;
    return SLAB_OK;
  }
  const size_t n = count_of_kind(g, 0, true) + 1;
  g->ids = bvh_allocate(n, sizeof *g->ids);
  for (int k = 0; k < OUTSIDE_LISTS; k++) {
    g->outside[k] = malloc((count_of_kind(g, layout_outside_kinds[k], false) + 1) * sizeof *g->outside[k]);
    held = held && g->outside[k] != NULL;
  }
  if (g->ids == NULL || !held) return fail_memory(n * sizeof *g->ids, "the tree's primitives");
  for (uint32_t i = 0; i < run_count(g); i++) {
    const layout_run run = run_of(g, i);
    if (!is_hidden(scene, run.geometry))
      list_geometry(g, &scene->table[run.geometry], scene->values[run.geometry], run.first, run.count);
  }
  return SLAB_OK;
}

/* ---- bounds ---- */

void layout_grow_bounds(const snapshot *scene, uint32_t geometry, float lower[3], float upper[3]) {
  const geometry_values *v = scene->values[geometry];
  for (int k = 0; !is_hidden(scene, geometry) && k < 3; k++) {
    if (v->lower[k] < lower[k]) lower[k] = v->lower[k];
    if (v->upper[k] > upper[k]) upper[k] = v->upper[k];
  }
}

bool layout_is_unbounded(const snapshot *scene, uint32_t geometry) {
  return !is_hidden(scene, geometry) && scene->values[geometry]->unbounded > 0;
}

static const bvh_bounds no_bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

bvh_bounds layout_bounds(const snapshot *scene) {
  bvh_bounds all = no_bounds;
  for (uint32_t g = 0; g < scene->geometries; g++) layout_grow_bounds(scene, g, all.lower, all.upper);
  return all;
}

/* Of a part those of its geometries, of which it may have some primitives alone. */
static bvh_bounds gathered_bounds(const gathered *g) {
  bvh_bounds all = no_bounds;
  for (uint32_t i = 0; i < run_count(g); i++) layout_grow_bounds(g->scene, run_of(g, i).geometry, all.lower, all.upper);
  return all;
}

/* The indices and vertices of triangles are requested so many triangles before their turn: along a curve they are
 * anywhere. */
enum { VALUES_AHEAD = 12, INDICES_AHEAD = 24 };

/* False for nearly all whose corners differ: in some axis all three do. */
static inline bool may_be_collapsed(const float4 v[3]) {
  const int4 a = (int4)v[0], b = (int4)v[1], c = (int4)v[2];
  return int4_all_xyz((a == b) | (b == c) | (c == a));
}

/* Fills the references of triangles, by number in their geometry, by three loads of four floats each: so many
 * geometry_values have space for. As primitive_bounds does, to the bit. Returns whether some triangle is collapsed. */
ALWAYS_INLINE bool fill_triangles(const geometry_values *v, const uint32_t *numbers, uint32_t count,
                                  bvh_reference *to) {
  const int4 xyz = {-1, -1, -1, 0}, kind = {0, 0, 0, SLAB_TRIANGLE};
  bool collapsed = false;
  for (uint32_t i = 0; i < count; i++) {
    float4 corner[3];
    for (size_t c = 0; c < 3 && i + VALUES_AHEAD < count; c++)
      __builtin_prefetch(values_corner(v, numbers[i + VALUES_AHEAD], c));
    if (v->indexed && i + INDICES_AHEAD < count)
      __builtin_prefetch(v->indices->list + 3 * (size_t)numbers[i + INDICES_AHEAD]);
    for (size_t c = 0; c < 3; c++) corner[c] = float4_load(values_corner(v, numbers[i], c));
    const aabb bounds = {float4_min(float4_min(corner[0], corner[1]), corner[2]),
                         float4_max(float4_max(corner[0], corner[1]), corner[2])};
    if (may_be_collapsed(corner)) collapsed |= triangle_is_collapsed(corner[0], corner[1], corner[2]);
    const float4 sides = bounds.upper - bounds.lower;
    const float side = lanes_max(sides[2], lanes_max(sides[1], sides[0]));
    const aabb padded = aabb_padded(bounds, side * 0x1p-19f);
    to[i].side[0] = padded.lower;
    to[i].side[1] = (float4)(((int4)padded.upper & xyz) | kind);
  }
  return collapsed;
}

WITH_FMA static bool fill_triangles_fma(const geometry_values *v, const uint32_t *numbers, uint32_t count,
                                        bvh_reference *to) {
  return fill_triangles(v, numbers, count, to);
}

/* Fills the references of primitives of one geometry. */
static void fill_run(slab_shape kind, const geometry_values *v, const uint32_t *numbers, uint32_t count,
                     bvh_reference *to, atomic_bool *collapsed) {
  float space[FLOATS_MOST];
  if (kind == SLAB_TRIANGLE) {
    if (PER_PROCESSOR(fill_triangles)(v, numbers, count, to)) atomic_store(collapsed, true);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    primitive_bounds(kind, values_at(v, primitive_floats(kind), numbers[i], space), to[i].lower, to[i].upper);
    to[i].tag = kind;
  }
}

static void fill_references(const void *argument, const uint32_t *primitives, uint32_t count, bvh_reference *to) {
  const gathered *g = argument;
  const snapshot *scene = g->scene;
  uint32_t numbers[BVH_FILL_MOST];
  for (uint32_t i = 0, end = 0; i < count; i = end) {
    const uint32_t geometry = geometry_of(scene->table, scene->geometries, id_of(g, primitives[i]));
    const geometry_entry *entry = &scene->table[geometry];
    for (; end < count; end++) {
      numbers[end] = id_of(g, primitives[end]) - entry->global_id_base;
      if (numbers[end] >= entry->count) break;
    }
    fill_run((slab_shape)entry->kind, scene->values[geometry], numbers + i, end - i, to + i, g->collapsed);
  }
}

/* ---- blocks ---- */

void layout_free_arrays(bvh_layout *t) {
  os_free(t->nodes);
  os_free(t->blocks);
  t->nodes = t->blocks = NULL;
}

size_t layout_node_size(slab_layout layout) {
  return layout == SLAB_LAYOUT_COMPRESSED ? sizeof(compressed_node) : sizeof(bvh_node);
}

static uint32_t blocks_for(block_form f, uint32_t count) { return (count + f.width - 1) / f.width; }

/* Writes the ids of blocks of one kind that follow each other, zeros behind them, and then all before them. */
typedef struct block_run {
  block_writing writing;
  uint32_t kind, first, next; /* next: where the next block goes */
} block_run;

static void write_ids(block_run *r, const uint32_t *ids, uint32_t count) {
  const block_form f = r->writing.form;
  for (uint32_t i = 0; i < count; i += f.width, r->next += block_units(f, r->kind))
    block_write_ids(f, r->kind, r->writing.to + (size_t)r->next * f.unit, ids + i, count - i);
}

static void end_run(block_run *r) {
  const block_form f = r->writing.form;
  r->writing.alike = r->kind == SLAB_TRIANGLE ? (size_t)r->next * f.unit : 0;
  blocks_write(&r->writing, r->kind, r->first, (r->next - r->first) / block_units(f, r->kind), NULL);
}

/* Computes the positions of the BVH's blocks, one after the other, in units. Returns their total size. */
static size_t place_blocks(const bvh *t, block_form f, uint32_t *places) {
  size_t units = 0;
  uint32_t each[256];
  for (uint32_t kind = 0; kind < 256; kind++) each[kind] = block_units(f, kind);
  for (uint32_t b = 0; b < t->block_count; b++) {
    places[b] = (uint32_t)units;
    units += (size_t)each[t->block_kinds[b]] * (f.width == BVH_WIDTH ? 1 : blocks_for(f, bvh_block_count(t, b)));
  }
  return units;
}

/* ---- nodes ---- */

static void copy_wide(const bvh_node *from, size_t n, bvh_node *to, uint32_t node, uint32_t unit) {
  for (size_t i = 0; i < n; i++) {
    to[i] = from[i];
    for (int k = 0; k < BVH_WIDTH; k++)
      if (to[i].meta[k] != 0) to[i].child[k] += BVH_IS_INNER(to[i].meta[k]) ? node : unit;
  }
}

static void copy_compressed(const compressed_node *from, size_t n, compressed_node *to, uint32_t node, uint32_t unit) {
  for (size_t i = 0; i < n; i++) {
    to[i] = from[i];
    to[i].child += node;
    to[i].leaf += unit;
  }
}

void layout_copy_nodes(slab_layout layout, const void *from, size_t n, void *to, size_t node, size_t unit) {
  if (layout == SLAB_LAYOUT_COMPRESSED)
    copy_compressed(from, n, to, (uint32_t)node, (uint32_t)unit);
  else
    copy_wide(from, n, to, (uint32_t)node, (uint32_t)unit);
}

void *layout_node(slab_layout layout, const void *nodes, size_t nth) {
  return (char *)nodes + nth * layout_node_size(layout);
}

/* The index of each leaf's first block is replaced by its position on the device. */
typedef struct leaf_placing {
  bvh_node *nodes;
  const uint32_t *places;
} leaf_placing;

static void place_leaves(void *argument, size_t first, size_t end) {
  const leaf_placing *p = argument;
  for (size_t n = first; n < end; n++) {
    bvh_node *node = &p->nodes[n];
    for (int k = 0; k < BVH_WIDTH; k++)
      if (node->meta[k] != 0 && !BVH_IS_INNER(node->meta[k])) node->child[k] = p->places[node->child[k]];
  }
}

/* Writes the nodes in the device's layout; out->nodes may be t->nodes. */
static slab_status write_nodes(const snapshot *scene, bvh *t, slab_layout layout, uint32_t *places, bvh_layout *out) {
  if (layout == SLAB_LAYOUT_WIDE) {
    leaf_placing placing = {t->nodes, places};
    pool_loop(scene->context->threads, t->node_count, NODES_A_PIECE, place_leaves, &placing);
    out->nodes = t->nodes;
    out->node_bytes = t->node_count * sizeof *t->nodes;
    t->nodes = NULL;
    return SLAB_OK;
  }
  out->node_bytes = t->node_count * sizeof(compressed_node);
  out->nodes = bvh_allocate(t->node_count, sizeof(compressed_node));
  if (out->nodes == NULL || !compressed_emit(t, places, out->nodes, scene->context->threads))
    return fail_memory(out->node_bytes, "the tree");
  return SLAB_OK;
}

typedef struct tree_writing {
  const gathered *from;
  const bvh *tree;
  const uint32_t *places;
  block_writing blocks;
} tree_writing;

static void write_some(void *argument, size_t first, size_t end) {
  const tree_writing *w = argument;
  const bvh *t = w->tree;
  for (size_t b = first; b < end;) {
    block_run run = {w->blocks, t->block_kinds[b], w->places[b], w->places[b]};
    for (; b < end && t->block_kinds[b] == run.kind && w->places[b] == run.next; b++) {
      uint32_t ids[BVH_WIDTH];
      const uint32_t count = bvh_block_count(t, (uint32_t)b);
      for (uint32_t i = 0; i < count; i++) ids[i] = id_of(w->from, t->blocks[b].primitives[i]);
      write_ids(&run, ids, count);
    }
    end_run(&run);
  }
}

static slab_status write_blocks(const snapshot *scene, const gathered *g, bvh *t, block_form f, const uint32_t *places,
                                size_t units, bvh_layout *out) {
  for (int k = 0; k < OUTSIDE_LISTS; k++) {
    out->outside[k] = (bvh_outside){(uint32_t)units, blocks_for(f, g->outside_count[k])};
    units += (size_t)out->outside[k].blocks * block_units(f, layout_outside_kinds[k]);
  }
  out->floats = units * f.unit;
  if (units <= UINT32_MAX) {
    out->blocks = bvh_reuse(t->spare, t->spare_bytes, out->floats + 1, sizeof *out->blocks);
    t->spare = NULL;
  }
  if (out->blocks == NULL) return fail_memory(out->floats * sizeof *out->blocks, "the tree's blocks");
  tree_writing w = {g, t, places, {scene, f, out->blocks, out->blocks, 0}};
  pool_loop(scene->context->threads, t->block_count, BLOCKS_A_PIECE, write_some, &w);
  for (int k = 0; k < OUTSIDE_LISTS; k++) {
    block_run run = {w.blocks, layout_outside_kinds[k], out->outside[k].first, out->outside[k].first};
    write_ids(&run, g->outside[k], g->outside_count[k]);
    end_run(&run);
  }
  return SLAB_OK;
}

/* Takes ownership of those arrays of the BVH that it can use. */
static slab_status write_tree(const snapshot *scene, const gathered *g, slab_layout layout, bvh *t, bvh_layout *out) {
  const block_form f = block_form_of(layout);
  uint32_t *places = malloc((t->block_count + 1) * sizeof *places);
  if (places == NULL) return fail_memory(t->block_count * sizeof *places, "the tree's blocks");
  const size_t units = place_blocks(t, f, places);
  slab_status status = write_nodes(scene, t, layout, places, out);
  if (status == SLAB_OK) status = write_blocks(scene, g, t, f, places, units, out);
  free(places);
  return status;
}

/* Whether triangles collapse by anything else than their indices. */
static bool lacks_some(const gathered *of) {
  const snapshot *scene = of->scene;
  bool lacks = false;
  for (uint32_t i = 0; i < run_count(of); i++) {
    const uint32_t g = run_of(of, i).geometry;
    lacks = lacks || (scene->table[g].kind == SLAB_TRIANGLE && !is_hidden(scene, g) &&
                      scene->values[g]->unhit > collapsed_by_index(scene->values[g]));
  }
  return lacks;
}

/* ---- the whole ---- */

/* Wide: a traversal keeps the unvisited children of one node at each depth, up to seven. Compressed: one entry for all
 * children of a node. */
uint32_t layout_stack(slab_layout layout, uint32_t depth) {
  return layout == SLAB_LAYOUT_COMPRESSED ? depth : 7 * depth;
}

static void look(const gathered *of, bool closer) {
  const snapshot *scene = of->scene;
  const uint32_t threads = of->part != NULL ? of->part->threads : scene->context->threads;
  for (uint32_t i = 0; i < run_count(of); i++) {
    const uint32_t g = run_of(of, i).geometry;
    if (!is_hidden(scene, g) && (!closer || scene->values[g]->unhit > 0))
      values_look(threads, scene->values[g], scene->table[g].count);
  }
}

void layout_look_through(const snapshot *scene) { look(&(gathered){.scene = scene}, false); }

void layout_look_closer(const snapshot *scene) { look(&(gathered){.scene = scene}, true); }

/* Builds the BVH of all that is not known to be never hit; where that has collapsed triangles, once more without these.
 * The builder reads all corners anyway, and few scenes have any. */
static slab_status build(const snapshot *scene, const layout_part *part, const bvh_options *options, gathered *g,
                         bvh *t) {
  atomic_bool collapsed = false;
  *g = (gathered){.scene = scene, .part = part, .collapsed = &collapsed};
  look(g, true);
  slab_status status = gather(g);
  const bvh_input input = {g->count, fill_references, g, gathered_bounds(g), &collapsed};
  if (status != SLAB_OK || bvh_build(&input, options, t)) return status;
  if (!atomic_load(&collapsed)) return fail_memory(g->count * sizeof(bvh_reference), "the tree");
  gather_free(g);
  look(g, false);
  return build(scene, part, options, g, t);
}

/* ---- collapsed triangles ---- */

static bool has_collapsed(const gathered *of) {
  const snapshot *scene = of->scene;
  bool has = false;
  for (uint32_t i = 0; i < run_count(of); i++) {
    const uint32_t g = run_of(of, i).geometry;
    has = has ||
          (scene->table[g].kind == SLAB_TRIANGLE && !is_hidden(scene, g) && values_collapsed(scene->values[g]) > 0);
  }
  return has;
}

/* Puts the arrays of another BVH behind those of the first, with its root. */
static slab_status append(slab_layout layout, const bvh_layout *beside, bvh_layout *out) {
  const size_t size = layout_node_size(layout), unit = block_form_of(layout).unit;
  const size_t node = out->node_bytes / size, added = beside->node_bytes / size;
  bvh_layout made = *out;
  made.node_bytes += beside->node_bytes;
  made.floats += beside->floats;
  if (made.floats / unit > UINT32_MAX || node + added > UINT32_MAX - 1)
    return fail(SLAB_OUT_OF_MEMORY, "the tree takes %zu units of %zu bytes, more than 2^32", made.floats / unit,
                unit * sizeof(float));
  made.nodes = bvh_allocate(made.node_bytes, 1);
  made.blocks = bvh_allocate(made.floats + 1, sizeof *made.blocks);
  if (made.nodes == NULL || made.blocks == NULL) {
    layout_free_arrays(&made);
    return fail_memory(made.node_bytes + made.floats * sizeof *made.blocks, "the tree");
  }
  memcpy(made.nodes, out->nodes, out->node_bytes);
  memcpy(made.blocks, out->blocks, out->floats * sizeof *made.blocks);
  memcpy(made.blocks + out->floats, beside->blocks, beside->floats * sizeof *made.blocks);
  layout_copy_nodes(layout, beside->nodes, added, layout_node(layout, made.nodes, node), node, out->floats / unit);
  layout_free_arrays(out);
  made.collapsed_root = (uint32_t)node;
  if (beside->depth > made.depth) made.depth = beside->depth;
  made.stack = layout_stack(layout, made.depth);
  *out = made;
  return SLAB_OK;
}

/* No ray hits collapsed triangles, and points find them: in a BVH of their own, of which rays know nothing. */
static slab_status build_collapsed(const snapshot *scene, const layout_part *part, const bvh_options *options,
                                   slab_layout layout, bvh_layout *out) {
  atomic_bool unused = false;
  gathered g = {.scene = scene, .part = part, .collapsed_ones = true, .collapsed = &unused};
  bvh t = {0};
  bvh_layout beside = {0};
  slab_status status = gather(&g);
  const bvh_input input = {g.count, fill_references, &g, gathered_bounds(&g), NULL};
  if (status == SLAB_OK && !bvh_build(&input, options, &t))
    status = fail_memory(g.count * sizeof(bvh_reference), "the tree");
  if (status == SLAB_OK) status = write_tree(scene, &g, layout, &t, &beside);
  beside.depth = t.depth;
  if (status == SLAB_OK) status = append(layout, &beside, out);
  layout_free_arrays(&beside);
  bvh_free(&t);
  gather_free(&g);
  return status;
}

slab_status bvh_layout_build(const snapshot *scene, const layout_part *part, slab_tree quality, slab_layout layout,
                             bvh_layout *out) {
  gathered g;
  bvh t = {0};
  *out = (bvh_layout){0};
  const bvh_options options = {
      .quality = quality == SLAB_TREE_FAST   ? BVH_FAST
                 : quality == SLAB_TREE_HIGH ? BVH_HIGH
                                             : BVH_DEFAULT,
      .threads = part != NULL ? part->threads : scene->context->threads,
      .leaves = tuning_of(layout == SLAB_LAYOUT_COMPRESSED ? SLAB_DEVICE_GPU : SLAB_DEVICE_CPU)->leaves};
  slab_status status = build(scene, part, &options, &g, &t);
  if (status == SLAB_OK) status = write_tree(scene, &g, layout, &t, out);
  if (status == SLAB_OK) {
    out->lacks_some = lacks_some(&g);
    out->depth = t.depth;
    out->stack = layout_stack(layout, t.depth);
    out->sah_cost = t.sah_cost;
    out->node_occupancy = t.occupancy_nodes;
    out->block_occupancy = layout == SLAB_LAYOUT_COMPRESSED && g.count > 0 ? 1.0 : t.occupancy_blocks;
  }
  bvh_free(&t);
  gather_free(&g);
  return status == SLAB_OK && has_collapsed(&g) ? build_collapsed(scene, part, &options, layout, out) : status;
}
