/* From a scene's primitives to a tree on the device. */
#include "layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "build.h"
#include "memory.h"

/* The primitives of a scene on their way into a tree. */
typedef struct gathered {
  tree_bounds *bounds; /* of the bounded ones: their gates */
  uint8_t *kinds;
  uint32_t *orders;
  uint32_t count;
  uint32_t *planes, *boxes; /* orders of those that stand outside */
  uint32_t plane_count, box_count;
} gathered;

static const float *values_of(const slab_scene *scene, uint32_t order, uint32_t *kind) {
  const geometry_entry *entry = &scene->table[geometry_of(scene->table, scene->geometries, order)];
  *kind = entry->kind;
  return scene->blocks + (size_t)entry->first * BLOCK_UNIT +
         (size_t)(order - entry->order_base) * primitive_rows(entry->kind);
}

static void gate_of(slab_shape kind, const float *v, float lower[3], float upper[3]) {
  for (int i = 0; i < 3; i++) {
    lower[i] = kind == SLAB_TRIANGLE ? fminf(fminf(v[i], v[3 + i]), v[6 + i]) : v[i];
    upper[i] = kind == SLAB_TRIANGLE ? fmaxf(fmaxf(v[i], v[3 + i]), v[6 + i]) : v[3 + i];
  }
  if (kind == SLAB_TRIANGLE) triangle_gate(lower, upper);
  if (kind == SLAB_SPHERE) sphere_gate(v, v[3], lower, upper);
  if (kind == SLAB_OBB) {
    obb_lanes box;
    memcpy(&box, v, sizeof box);
    obb_gate(&box, lower, upper);
  }
}

/* What becomes of a primitive that is not in the tree, in the place of its kind. */
enum { GATHERED_VOID = 0x10, GATHERED_OUTSIDE };

/* Of a primitive by its order. */
static void gather_one(gathered *g, slab_shape kind, const float *values, uint32_t order) {
  tree_bounds *b = &g->bounds[order];
  bool bounded = kind != SLAB_PLANE;
  g->kinds[order] = GATHERED_VOID;
  if (primitive_is_void(kind, values)) return;
  if (bounded) gate_of(kind, values, b->lower, b->upper);
  for (int i = 0; bounded && i < 2; i++) bounded = isfinite(b->lower[i]) && isfinite(b->upper[i]);
  g->kinds[order] = bounded ? (uint8_t)kind : GATHERED_OUTSIDE;
}

/* Closes the gaps that the others leave between those of the tree. */
static void gather_close(gathered *g, const geometry_entry *entry) {
  for (uint32_t order = entry->order_base; order < entry->order_base + entry->count; order++) {
    const uint8_t kind = g->kinds[order];
    if (kind == GATHERED_VOID) continue;
    if (kind == GATHERED_OUTSIDE) {
      if (entry->kind == SLAB_PLANE) g->planes[g->plane_count++] = order;
      if (entry->kind == SLAB_BOX) g->boxes[g->box_count++] = order;
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
  free(g->planes);
  free(g->boxes);
}

static slab_status gather(const slab_scene *scene, gathered *g) {
  const size_t n = scene->primitives + 1;
  *g = (gathered){0};
  g->bounds = tree_allocate(n, sizeof *g->bounds);
  g->kinds = tree_allocate(n, sizeof *g->kinds);
  g->orders = tree_allocate(n, sizeof *g->orders);
  g->planes = malloc((scene->stats.planes + 1) * sizeof *g->planes);
  g->boxes = malloc((scene->stats.boxes + 1) * sizeof *g->boxes);
  if (g->bounds == NULL || g->kinds == NULL || g->orders == NULL || g->planes == NULL || g->boxes == NULL)
    return fail_memory(n * sizeof *g->bounds, "the tree's bounds");
  for (uint32_t i = 0; i < scene->geometries; i++) {
    const geometry_entry *entry = &scene->table[i];
    const float *values = scene->blocks + (size_t)entry->first * BLOCK_UNIT;
    const size_t rows = primitive_rows(entry->kind);
#pragma omp parallel for if (entry->count >= PARALLEL_LEAST)
    for (uint32_t k = 0; k < entry->count; k++)
      gather_one(g, (slab_shape)entry->kind, values + k * rows, entry->order_base + k);
    gather_close(g, entry);
  }
  return SLAB_OK;
}

/* ---- blocks ---- */

/* One block of up to TREE_WIDTH primitives by their orders. */
static void write_block(const slab_scene *scene, slab_shape kind, const uint32_t *orders, uint32_t count,
                        float *block) {
  const uint32_t rows = primitive_rows(kind);
  float none[OBB_ROWS];
  primitive_void(kind, none);
  for (uint32_t lane = 0; lane < TREE_WIDTH; lane++) {
    uint32_t unused, order = lane < count ? orders[lane] : SLAB_MISS;
    const float *values = lane < count ? values_of(scene, order, &unused) : none;
    for (uint32_t r = 0; r < rows; r++) block[r * TREE_WIDTH + lane] = values[r];
    memcpy(&block[rows * TREE_WIDTH + lane], &order, sizeof order);
  }
  const size_t used = (rows + 1) * TREE_WIDTH, all = TREE_BLOCK_UNITS(rows) * BLOCK_UNIT;
  memset(block + used, 0, (all - used) * sizeof *block);
}

static uint32_t block_units(uint32_t kind) { return TREE_BLOCK_UNITS(primitive_rows(kind)); }

static uint32_t blocks_for(uint32_t count) { return (count + TREE_WIDTH - 1) / TREE_WIDTH; }

/* Blocks of what stands outside, from unit `first` on. */
static tree_outside write_outside(const slab_scene *scene, slab_shape kind, const uint32_t *orders, uint32_t count,
                                  float *blocks, uint32_t first) {
  for (uint32_t i = 0; i < count; i += TREE_WIDTH) {
    float *block = blocks + (size_t)(first + i / TREE_WIDTH * block_units(kind)) * BLOCK_UNIT;
    write_block(scene, kind, orders + i, count - i < TREE_WIDTH ? count - i : TREE_WIDTH, block);
  }
  return (tree_outside){first, blocks_for(count)};
}

static void write_tree_block(const slab_scene *scene, const gathered *g, const tree_block *b, uint32_t kind,
                             float *block) {
  uint32_t orders[TREE_WIDTH], count = 0;
  while (count < TREE_WIDTH && b->primitives[count] != TREE_NONE) {
    orders[count] = g->orders[b->primitives[count]];
    count++;
  }
  write_block(scene, (slab_shape)kind, orders, count, block);
}

/* Leaves name their first block by its place on the device. */
static void place_leaves(const tree *t, const uint32_t *places, tree_node *nodes) {
  for (uint32_t n = 0; n < t->node_count; n++)
    for (int k = 0; k < TREE_WIDTH; k++)
      if (nodes[n].meta[k] != 0 && !TREE_IS_INNER(nodes[n].meta[k])) nodes[n].child[k] = places[nodes[n].child[k]];
}

static slab_status write_blocks(const slab_scene *scene, const gathered *g, const tree *t, tree_layout *out) {
  uint32_t *places = malloc((t->block_count + 1) * sizeof *places);
  size_t units = 0;
  if (places == NULL) return fail_memory(t->block_count * sizeof *places, "the tree's blocks");
  for (uint32_t b = 0; b < t->block_count; b++) {
    places[b] = (uint32_t)units;
    units += block_units(t->block_kinds[b]);
  }
  const size_t tree_units = units;
  units += (size_t)blocks_for(g->plane_count) * block_units(SLAB_PLANE);
  const size_t plane_end = units;
  units += (size_t)blocks_for(g->box_count) * block_units(SLAB_BOX);
  out->floats = units * BLOCK_UNIT;
  out->blocks = units > UINT32_MAX ? NULL : tree_allocate(out->floats + 1, sizeof *out->blocks);
  if (out->blocks == NULL) {
    free(places);
    return fail_memory(out->floats * sizeof *out->blocks, "the tree's blocks");
  }
#pragma omp parallel for
  for (uint32_t b = 0; b < t->block_count; b++)
    write_tree_block(scene, g, &t->blocks[b], t->block_kinds[b], out->blocks + (size_t)places[b] * BLOCK_UNIT);
  out->planes = write_outside(scene, SLAB_PLANE, g->planes, g->plane_count, out->blocks, (uint32_t)tree_units);
  out->boxes = write_outside(scene, SLAB_BOX, g->boxes, g->box_count, out->blocks, (uint32_t)plane_end);
  place_leaves(t, places, t->nodes);
  free(places);
  return SLAB_OK;
}

/* ---- the whole ---- */

/* A traversal keeps what is left to visit of one node a level. Rounded up, so that scenes share programs. */
uint32_t tree_stack(uint32_t depth) { return (7 * depth + 1 + 63) / 64 * 64; }

slab_status tree_layout_build(const slab_scene *scene, slab_tree quality, tree_layout *out) {
  gathered g;
  tree t = {0};
  *out = (tree_layout){0};
  slab_status status = gather(scene, &g);
  if (status == SLAB_OK) {
    const tree_input input = {g.count, g.bounds, g.kinds};
    const tree_options options = {.quality = quality == SLAB_TREE_FAST   ? TREE_FAST
                                             : quality == SLAB_TREE_HIGH ? TREE_HIGH
                                                                         : TREE_DEFAULT};
    status = tree_build(&input, &options, &t) ? SLAB_OK : fail_memory(g.count * sizeof *g.bounds, "the tree");
  }
  if (status == SLAB_OK) status = write_blocks(scene, &g, &t, out);
  if (status == SLAB_OK) {
    out->nodes = t.nodes;
    out->node_count = t.node_count;
    out->depth = t.depth;
    out->stack = tree_stack(t.depth);
    out->sah_cost = t.sah_cost;
    out->node_occupancy = t.occupancy_nodes;
    out->block_occupancy = t.occupancy_blocks;
    t.nodes = NULL;
  }
  tree_free(&t);
  gather_free(&g);
  return status;
}
