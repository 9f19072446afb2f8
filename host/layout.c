/* Builds the BVH of a scene in the device's layout. */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "base/pool.h"
#include "base/status.h"
#include "bvh/bvh.h"
#include "bvh/compressed.h"
#include "bvh/memory.h"
#include "context.h"
#include "geometry.h"
#include "snapshot.h"
#include "tuning.h"

enum { BLOCKS_A_PIECE = 1024 };

/* The primitives of a scene as input of the BVH builder. */
typedef struct gathered {
  bvh_bounds *bounds; /* padded bounds of the bounded primitives */
  uint8_t *kinds;
  uint32_t *orders;
  uint32_t count;
  uint32_t *outside[OUTSIDE_LISTS]; /* global primitive ids of the unbounded ones, outside the BVH */
  uint32_t outside_count[OUTSIDE_LISTS];
} gathered;

const uint8_t outside_kinds[OUTSIDE_LISTS] = {
#define OUTSIDE_OF_BOUNDED(shape, name)
#define OUTSIDE_OF_UNBOUNDED(shape, name) [OUTSIDE_##name] = shape,
#define OUTSIDE_OF_EITHER(shape, name) [OUTSIDE_##name] = shape,
#define OUTSIDE_OF(shape, name, names, noun, rows, form, place, source) OUTSIDE_OF_##place(shape, name)
    SHAPES(OUTSIDE_OF)
#undef OUTSIDE_OF
        [OUTSIDE_INSTANCES] = SHAPE_INSTANCE,
};

static const float *values_of(const snapshot *scene, uint32_t order, float room[ROWS_MOST]) {
  const uint32_t geometry = geometry_of(scene->table, scene->geometries, order);
  const geometry_entry *entry = &scene->table[geometry];
  return values_at(scene->values[geometry], primitive_rows(entry->kind), order - entry->global_id_base, room);
}

/* Values of `kinds` for primitives that are not in the BVH. */
enum { GATHERED_VOID = 0x10, GATHERED_OUTSIDE };

/* Fills bounds and kind of one primitive, given by its global primitive id. */
static void gather_one(gathered *g, slab_shape kind, const float *values, bool is_void, uint32_t order) {
  bvh_bounds *b = &g->bounds[order];
  g->kinds[order] = GATHERED_VOID;
  if (is_void) return;
  g->kinds[order] = GATHERED_OUTSIDE;
  if (primitive_is_outside(kind, values)) return;
  primitive_bounds(kind, values, b->lower, b->upper);
  g->kinds[order] = (uint8_t)kind;
}

/* Moves the primitives of the BVH together, over the gaps that the others leave. */
static void gather_close(gathered *g, const geometry_entry *entry) {
  for (uint32_t order = entry->global_id_base; order < entry->global_id_base + entry->count; order++) {
    const uint8_t kind = g->kinds[order];
    if (kind == GATHERED_VOID) continue;
    if (kind == GATHERED_OUTSIDE) {
      for (int k = 0; k < OUTSIDE_LISTS; k++)
        if (entry->kind == outside_kinds[k]) g->outside[k][g->outside_count[k]++] = order;
      continue;
    }
    if (g->count < order) g->bounds[g->count] = g->bounds[order];
    g->kinds[g->count] = kind;
    g->orders[g->count++] = order;
  }
}

static void gather_free(gathered *g) {
  free(g->bounds);
  free(g->kinds);
  free(g->orders);
  for (int k = 0; k < OUTSIDE_LISTS; k++) free(g->outside[k]);
}

static size_t count_of_kind(const snapshot *scene, uint32_t kind) {
  size_t count = 0;
  for (uint32_t i = 0; i < scene->geometries; i++)
    if (scene->table[i].kind == kind) count += scene->table[i].count;
  return count;
}

typedef struct gathering {
  gathered *to;
  const geometry_entry *entry;
  const geometry_values *values;
} gathering;

static void gather_some(void *argument, size_t first, size_t end) {
  const gathering *j = argument;
  const uint32_t rows = primitive_rows(j->entry->kind);
  float room[ROWS_MOST];
  const slab_shape kind = (slab_shape)j->entry->kind;
  for (uint32_t k = (uint32_t)first; k < end; k++) {
    const float *values = values_at(j->values, rows, k, room);
    gather_one(j->to, kind, values, values_are_void(j->values, kind, values), j->entry->global_id_base + k);
  }
}

static slab_status gather(const snapshot *scene, gathered *g) {
  const size_t n = scene->primitives + 1;
  *g = (gathered){0};
  g->bounds = bvh_allocate(n, sizeof *g->bounds);
  g->kinds = bvh_allocate(n, sizeof *g->kinds);
  g->orders = bvh_allocate(n, sizeof *g->orders);
  bool held = g->bounds != NULL && g->kinds != NULL && g->orders != NULL;
  for (int k = 0; k < OUTSIDE_LISTS; k++) {
    g->outside[k] = malloc((count_of_kind(scene, outside_kinds[k]) + 1) * sizeof *g->outside[k]);
    held = held && g->outside[k] != NULL;
  }
  if (!held) return fail_memory(n * sizeof *g->bounds, "the tree's bounds");
  for (uint32_t i = 0; i < scene->geometries; i++) {
    const geometry_entry *entry = &scene->table[i];
    if (is_hidden(scene, i)) continue;
    gathering job = {g, entry, scene->values[i]};
    pool_loop(scene->context->threads, entry->count, PARALLEL_LEAST, gather_some, &job);
    gather_close(g, entry);
  }
  return SLAB_OK;
}

/* ---- blocks ---- */

block_form block_form_of(slab_layout layout) {
  return layout == SLAB_LAYOUT_COMPRESSED ? (block_form){1, COMPRESSED_UNIT} : (block_form){BVH_WIDTH, BLOCK_UNIT};
}

size_t node_size(slab_layout layout) {
  return layout == SLAB_LAYOUT_COMPRESSED ? sizeof(compressed_node) : sizeof(bvh_node);
}

uint32_t block_units(block_form f, uint32_t kind) { return BLOCK_UNITS(primitive_rows(kind), f.width, f.unit); }

static uint32_t blocks_for(block_form f, uint32_t count) { return (count + f.width - 1) / f.width; }

/* Fills the lanes of a block from `count` on with an edge of its first triangle, to and fro: vertices a, b and b. Its
 * edge functions are 0, e and -e, and beside the ray 0, s and -s, to the bit: it is never hit, and a candidate only of
 * rays that are exactly on the edge. Triangles of no extent are never hit either, but are candidates of all rays. */
static void write_edges(float *block, uint32_t width, uint32_t count) {
  for (uint32_t r = 0; r < TRIANGLE_ROWS; r++)
    for (uint32_t lane = count; lane < width; lane++) block[r * width + lane] = block[(r < 6 ? r : r - 3) * width];
}

/* Writes one block of up to f.width primitives, given by their global primitive ids. */
static void write_block(const snapshot *scene, block_form f, slab_shape kind, const uint32_t *orders, uint32_t count,
                        float *block) {
  const uint32_t rows = primitive_rows(kind);
  float none[ROWS_MOST], room[ROWS_MOST];
  primitive_void(kind, none);
  for (uint32_t lane = 0; lane < f.width; lane++) {
    uint32_t order = lane < count ? orders[lane] : SLAB_MISS;
    const float *values = lane < count ? values_of(scene, order, room) : none;
    for (uint32_t r = 0; r < rows; r++) block[r * f.width + lane] = values[r];
    memcpy(&block[rows * f.width + lane], &order, sizeof order);
  }
  if (kind == SLAB_TRIANGLE) write_edges(block, f.width, count);
  const size_t used = (rows + 1) * f.width, all = (size_t)block_units(f, kind) * f.unit;
  memset(block + used, 0, (all - used) * sizeof *block);
}

/* Writes blocks of one kind, the first at `place`. */
static void write_run(const snapshot *scene, block_form f, slab_shape kind, const uint32_t *orders, uint32_t count,
                      float *blocks, uint32_t place) {
  for (uint32_t i = 0; i < count; i += f.width, place += block_units(f, kind))
    write_block(scene, f, kind, orders + i, count - i < f.width ? count - i : f.width, blocks + (size_t)place * f.unit);
}

static void write_tree_block(const snapshot *scene, const gathered *g, block_form f, const bvh *t, uint32_t b,
                             uint32_t place, float *blocks) {
  uint32_t orders[BVH_WIDTH];
  const uint32_t count = bvh_block_count(t, b);
  for (uint32_t i = 0; i < count; i++) orders[i] = g->orders[t->blocks[b].primitives[i]];
  write_run(scene, f, (slab_shape)t->block_kinds[b], orders, count, blocks, place);
}

/* Computes the positions of the BVH's blocks, one after the other, in units. Returns their total size. */
static size_t place_blocks(const bvh *t, block_form f, uint32_t *places) {
  size_t units = 0;
  for (uint32_t b = 0; b < t->block_count; b++) {
    places[b] = (uint32_t)units;
    units += (size_t)blocks_for(f, bvh_block_count(t, b)) * block_units(f, t->block_kinds[b]);
  }
  return units;
}

/* ---- nodes ---- */

/* Replaces the index of each leaf's first block by its position on the device. */
static void place_leaves(const bvh *t, const uint32_t *places, bvh_node *nodes) {
  for (uint32_t n = 0; n < t->node_count; n++)
    for (int k = 0; k < BVH_WIDTH; k++)
      if (nodes[n].meta[k] != 0 && !BVH_IS_INNER(nodes[n].meta[k])) nodes[n].child[k] = places[nodes[n].child[k]];
}

/* Writes the nodes in the device's layout; out->nodes may be t->nodes. */
static slab_status write_nodes(const snapshot *scene, bvh *t, slab_layout layout, uint32_t *places, bvh_layout *out) {
  if (layout == SLAB_LAYOUT_WIDE) {
    place_leaves(t, places, t->nodes);
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

typedef struct block_writing {
  const snapshot *scene;
  const gathered *from;
  const bvh *tree;
  block_form form;
  const uint32_t *places;
  float *blocks;
} block_writing;

static void write_some(void *argument, size_t first, size_t end) {
  const block_writing *w = argument;
  for (size_t b = first; b < end; b++)
    write_tree_block(w->scene, w->from, w->form, w->tree, (uint32_t)b, w->places[b], w->blocks);
}

static slab_status write_blocks(const snapshot *scene, const gathered *g, const bvh *t, block_form f,
                                const uint32_t *places, size_t units, bvh_layout *out) {
  for (int k = 0; k < OUTSIDE_LISTS; k++) {
    out->outside[k] = (bvh_outside){(uint32_t)units, blocks_for(f, g->outside_count[k])};
    units += (size_t)out->outside[k].blocks * block_units(f, outside_kinds[k]);
  }
  out->floats = units * f.unit;
  out->blocks = units > UINT32_MAX ? NULL : bvh_allocate(out->floats + 1, sizeof *out->blocks);
  if (out->blocks == NULL) return fail_memory(out->floats * sizeof *out->blocks, "the tree's blocks");
  block_writing writing = {scene, g, t, f, places, out->blocks};
  pool_loop(scene->context->threads, t->block_count, BLOCKS_A_PIECE, write_some, &writing);
  for (int k = 0; k < OUTSIDE_LISTS; k++)
    write_run(scene, f, (slab_shape)outside_kinds[k], g->outside[k], g->outside_count[k], out->blocks,
              out->outside[k].first);
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

/* ---- the whole ---- */

/* Wide: a traversal keeps the unvisited children of one node for each level, up to seven. Compressed: one entry for all
 * children of a node. */
uint32_t bvh_stack(slab_layout layout, uint32_t depth) { return layout == SLAB_LAYOUT_COMPRESSED ? depth : 7 * depth; }

slab_status bvh_layout_build(const snapshot *scene, slab_tree quality, slab_layout layout, bvh_layout *out) {
  gathered g;
  bvh t = {0};
  *out = (bvh_layout){0};
  slab_status status = gather(scene, &g);
  if (status == SLAB_OK) {
    const bvh_input input = {g.count, g.bounds, g.kinds};
    const bvh_options options = {
        .quality = quality == SLAB_TREE_FAST   ? BVH_FAST
                   : quality == SLAB_TREE_HIGH ? BVH_HIGH
                                               : BVH_DEFAULT,
        .threads = scene->context->threads,
        .leaves = tuning_of(layout == SLAB_LAYOUT_COMPRESSED ? SLAB_DEVICE_GPU : SLAB_DEVICE_CPU)->leaves};
    status = bvh_build(&input, &options, &t) ? SLAB_OK : fail_memory(g.count * sizeof *g.bounds, "the tree");
  }
  if (status == SLAB_OK) status = write_tree(scene, &g, layout, &t, out);
  if (status == SLAB_OK) {
    out->depth = t.depth;
    out->stack = bvh_stack(layout, t.depth);
    out->sah_cost = t.sah_cost;
    out->node_occupancy = t.occupancy_nodes;
    out->block_occupancy = layout == SLAB_LAYOUT_COMPRESSED && g.count > 0 ? 1.0 : t.occupancy_blocks;
  }
  bvh_free(&t);
  gather_free(&g);
  return status;
}
