/* Refits the BVH of the last commit: writes the blocks anew, at their places, and bounds the nodes by what is in them.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "backend.h"
#include "base/cache.h"
#include "base/per_processor.h"
#include "base/status.h"
#include "bvh/float4.h"
#include "bvh/memory.h"
#include "bvh/refit.h"
#include "context.h"
#include "geometry.h"
#include "layout.h"
#include "primitive.h"
#include "snapshot.h"
#include "tuning.h"

/* Into write_kind, which is compiled for several processors. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef struct refitting {
  const snapshot *scene;
  block_form blocks;
  const float *from; /* the blocks of the last commit, for their global primitive ids, or those to be written */
  float *to;
  size_t alike; /* floats of blocks that all are of triangles, so that it is known where the next ones lie; or 0 */
  atomic_bool misplaced; /* some primitive is in the BVH and would stand outside it, or the reverse */
} refitting;

/* The geometry that was found last: neighbours in a leaf mostly have the same. */
typedef struct found {
  const geometry_values *values; /* NULL: none of its primitives is there */
  uint32_t first, end;           /* global primitive ids */
} found;

ALWAYS_INLINE void find(const snapshot *scene, uint32_t id, found *f) {
  if (id >= f->first && id < f->end) return;
  const uint32_t g = geometry_of(scene->table, scene->geometries, id);
  const geometry_entry *entry = &scene->table[g];
  *f = (found){is_hidden(scene, g) ? NULL : scene->values[g], entry->global_id_base,
               entry->global_id_base + entry->count};
}

/* ---- blocks of triangles ---- */

/* Lanes of a block that are loaded, transposed, stored and bounded at once. */
enum { LANES_AT_ONCE = 4 };
_Static_assert(BVH_WIDTH % LANES_AT_ONCE == 0, "a block is some vectors wide");

/* The triangles of some lanes, by number in their geometry; 0 where none is there. */
typedef struct triangle_lanes {
  uint4 triangle;
  int4 there;
} triangle_lanes;

/* It has no branch, since lanes without a triangle are unpredictable. *others: those of other geometries. */
ALWAYS_INLINE triangle_lanes lanes_of(const found *f, const uint32_t *ids, int4 *others) {
  triangle_lanes l;
  uint4 id;
  memcpy(&id, ids, sizeof id);
  l.triangle = id - f->first;
  l.there = l.triangle < f->end - f->first;
  l.triangle &= (uint4)l.there;
  *others |= ~l.there & (id != SLAB_MISS);
  return l;
}

/* What some lanes of triangles reach, so far: bounds that are not padded yet, and longest sides. */
typedef struct reach {
  float4 lower[3], upper[3], side;
  int4 there; /* how many triangles */
} reach;

/* An edge of the first triangle of a block, in all lanes; see write_edges in layout.c. */
typedef struct block_edge {
  float4 vertex[2][3];
} block_edge;

/* Stores four lanes, and grows *all by those that are there; others get the edge. list: the indices of three vertices a
 * triangle, or NULL where each has vertices of its own. stride: floats a vertex, of which each load takes four: so many
 * geometry_values have room for. begins: of the first lanes, which set *edge. Nothing is stored in parts and loaded
 * whole: that waits until the parts are in the cache, behind all stores before them. */
ALWAYS_INLINE void write_lanes(const float *values, size_t stride, const uint32_t *list, triangle_lanes lanes,
                               bool begins, block_edge *edge, float *block, reach *all) {
  const int4 there = lanes.there;
  const float4 none = float4_select(there, float4_all(-INFINITY), float4_all(INFINITY));
  float4 lower[3], upper[3];
  for (size_t c = 0; c < 3; c++) {
    float4 v[LANES_AT_ONCE];
    for (uint32_t k = 0; k < LANES_AT_ONCE; k++) {
      const size_t corner = 3 * (size_t)lanes.triangle[k] + c;
      v[k] = float4_load(values + stride * (list != NULL ? list[corner] : corner));
    }
    float4_transpose(&v[0], &v[1], &v[2], &v[3]);
    for (int i = 0; i < 3; i++) {
      if (begins && c < 2) edge->vertex[c][i] = float4_all(v[i][0]);
      v[i] = float4_select(there, v[i], edge->vertex[c < 2 ? c : 1][i]);
      float4_store(v[i], block + (3 * c + (size_t)i) * BVH_WIDTH);
      lower[i] = c == 0 ? v[i] : float4_min(lower[i], v[i]);
      upper[i] = c == 0 ? v[i] : float4_max(upper[i], v[i]);
    }
  }
  for (int i = 0; i < 3; i++) {
    all->side = float4_max(upper[i] - lower[i], all->side);
    all->lower[i] = float4_min(all->lower[i], float4_max(lower[i], none));
    all->upper[i] = float4_max(all->upper[i], float4_min(upper[i], -none));
  }
  all->there -= there;
}

/* Writes a block whose triangles may be of any geometries, void and disabled ones among them. */
ALWAYS_INLINE void write_block_of_each(const snapshot *scene, const uint32_t *ids, found *geometry, float *block,
                                       reach *all) {
  block_edge edge;
  for (uint32_t lane = 0; lane < BVH_WIDTH; lane += LANES_AT_ONCE) {
    float4 vertices[3 * LANES_AT_ONCE] = {{0}};
    triangle_lanes lanes = {{0, 1, 2, 3}, {0}};
    for (uint32_t k = 0; k < LANES_AT_ONCE; k++) {
      float room[ROWS_MOST];
      if (ids[lane + k] == SLAB_MISS) continue;
      find(scene, ids[lane + k], geometry);
      if (geometry->values == NULL) continue;
      const float *values = values_at(geometry->values, TRIANGLE_ROWS, ids[lane + k] - geometry->first, room);
      if (values_are_void(geometry->values, SLAB_TRIANGLE, values)) continue;
      for (uint32_t c = 0; c < 3; c++) vertices[3 * k + c] = float4_xyz(values + 3 * c);
      lanes.there[k] = -1;
    }
    write_lanes((const float *)vertices, 4, NULL, lanes, lane == 0, &edge, block + lane, all);
  }
}

/* Writes a block of a wide BVH. */
ALWAYS_INLINE void write_triangle_block(const snapshot *scene, const uint32_t *ids, found *geometry, float *block,
                                        reach *all) {
  int4 others = {0};
  block_edge edge;
  if (ids[0] != SLAB_MISS) find(scene, ids[0], geometry);
  const triangle_lanes low = lanes_of(geometry, ids, &others), high = lanes_of(geometry, ids + LANES_AT_ONCE, &others);
  const geometry_values *v = geometry->values;
  if (v == NULL || v->voids > 0 || int4_any(others)) {
    write_block_of_each(scene, ids, geometry, block, all);
  } else if (v->indexed) {
    write_lanes(v->values, 3, v->indices->list, low, true, &edge, block, all);
    write_lanes(v->values, 3, v->indices->list, high, false, &edge, block + LANES_AT_ONCE, all);
  } else {
    write_lanes(v->values, 3, NULL, low, true, &edge, block, all);
    write_lanes(v->values, 3, NULL, high, false, &edge, block + LANES_AT_ONCE, all);
  }
}

/* How many blocks ahead their vertices, indices and ids are requested, each of which is found by the next; and the rows
 * that are written, since stores that miss the cache hold up the others. */
enum { VERTICES_AHEAD = 6, INDICES_AHEAD = 12, ROWS_AHEAD = 12, IDS_AHEAD = 24 };

/* Requests what blocks that come later are made of. */
ALWAYS_INLINE void request_ahead(const refitting *r, const found *f, size_t at, size_t floats, size_t used) {
  const geometry_values *v = f->values;
  __builtin_prefetch(r->from + at + IDS_AHEAD * floats + used);
  cache_request(r->to + at + ROWS_AHEAD * floats, used * sizeof *r->to);
  if (v == NULL || at + (INDICES_AHEAD + 1) * floats > r->alike) return;
  const uint32_t *ids = (const uint32_t *)(r->from + at + INDICES_AHEAD * floats + used);
  const uint32_t *nearer = (const uint32_t *)(r->from + at + VERTICES_AHEAD * floats + used);
  for (int half = 0; half < 2; half++) {
    int4 others = {0};
    const triangle_lanes far = lanes_of(f, ids + half * LANES_AT_ONCE, &others);
    const triangle_lanes near = lanes_of(f, nearer + half * LANES_AT_ONCE, &others);
    for (int k = 0; k < LANES_AT_ONCE; k++) {
      if (!v->indexed) {
        __builtin_prefetch(v->values + TRIANGLE_ROWS * (size_t)near.triangle[k]);
        continue;
      }
      const uint32_t *corners = v->indices->list + 3 * (size_t)near.triangle[k];
      __builtin_prefetch(v->indices->list + 3 * (size_t)far.triangle[k]);
      for (int c = 0; c < 3; c++) __builtin_prefetch(v->values + 3 * (size_t)corners[c]);
    }
  }
}

/* Grows *bounds by bounds that hold the padded bounds of each triangle within reach, bit by bit. All are padded by the
 * longest side of any, and 2^-10 of that more. Let a be the lowest bound and p that pad, b and q those of a triangle,
 * and u = 2^-24. Where a = b, rounding is monotone. Else b - a >= u max(|a|, |b|), and what is taken from b exceeds
 * what is taken from a by at most 2^-22 (b - a) + q - p + u (q + p + 2^-22 (|a| + |b|)) <= 3 2^-22 (b - a) < b - a. */
ALWAYS_INLINE void grow_by_reach(const reach *all, aabb *bounds) {
  float4 l[4] = {all->lower[0], all->lower[1], all->lower[2], all->lower[2]};
  float4 u[4] = {all->upper[0], all->upper[1], all->upper[2], all->side};
  float4_transpose(&l[0], &l[1], &l[2], &l[3]);
  float4_transpose(&u[0], &u[1], &u[2], &u[3]);
  float4 lower = float4_min(float4_min(l[0], l[1]), float4_min(l[2], l[3]));
  float4 upper = float4_max(float4_max(u[0], u[1]), float4_max(u[2], u[3]));
  const float pad = upper[3] * (0x1p-19f + 0x1p-29f);
  for (int i = 0; i < 4; i++) {
    lower[i] = padded_lower(lower[i], pad);
    upper[i] = padded_upper(upper[i], pad);
  }
  *bounds = aabb_join(*bounds, (aabb){lower, upper});
}

/* Writes blocks of a wide BVH. Returns how many triangles are there. */
ALWAYS_INLINE uint32_t write_triangle_blocks(refitting *r, uint32_t first, uint32_t count, aabb *bounds) {
  const size_t floats = (size_t)block_units(r->blocks, SLAB_TRIANGLE) * r->blocks.unit;
  const size_t used = TRIANGLE_ROWS * BVH_WIDTH;
  found geometry = {NULL, 0, 0};
  reach all = {.side = {0}};
  for (int i = 0; i < 3; i++) {
    all.lower[i] = float4_all(INFINITY);
    all.upper[i] = float4_all(-INFINITY);
  }
  for (uint32_t i = 0; i < count; i++) {
    const size_t at = (size_t)first * r->blocks.unit + i * floats;
    const uint32_t *ids = (const uint32_t *)(r->from + at + used);
    write_triangle_block(r->scene, ids, &geometry, r->to + at, &all);
    request_ahead(r, &geometry, at, floats, used);
    if (r->from != r->to) memcpy(r->to + at + used, ids, (floats - used) * sizeof *r->to);
  }
  const uint32_t there = (uint32_t)(all.there[0] + all.there[1] + all.there[2] + all.there[3]);
  if (there > 0) grow_by_reach(&all, bounds);
  return there;
}

/* ---- blocks of any kind ---- */

ALWAYS_INLINE void grow_by_primitive(slab_shape kind, const float *values, aabb *bounds) {
  float lower[3], upper[3];
  primitive_bounds(kind, values, lower, upper);
  *bounds = aabb_join(*bounds, (aabb){float4_xyz(lower), float4_xyz(upper)});
}

/* Writes a block's lanes, for the ids that it has. Returns which of them are there. Grows *bounds, unless it is NULL,
 * by the padded bounds of what is. */
ALWAYS_INLINE uint32_t write_block(refitting *r, slab_shape kind, uint32_t rows, uint32_t width, const uint32_t *ids,
                                   found *geometry, float *block, aabb *bounds) {
  uint32_t there = 0;
  float none[ROWS_MOST], room[ROWS_MOST];
  primitive_void(kind, none);
  for (uint32_t lane = 0; lane < width; lane++) {
    const float *values = none;
    if (ids[lane] != SLAB_MISS) {
      find(r->scene, ids[lane], geometry);
      if (geometry->values != NULL) values = values_at(geometry->values, rows, ids[lane] - geometry->first, room);
    }
    for (uint32_t k = 0; k < rows; k++) block[k * width + lane] = values[k];
    if (values == none || values_are_void(geometry->values, kind, values)) continue;
    there |= 1u << lane;
    if (primitive_is_outside(kind, values) == (bounds != NULL)) atomic_store(&r->misplaced, true);
    if (bounds != NULL) grow_by_primitive(kind, values, bounds);
  }
  return there;
}

/* Writes `count` blocks, the first at `first`. Returns how many primitives are there. */
ALWAYS_INLINE uint32_t write_blocks(refitting *r, slab_shape kind, uint32_t rows, uint32_t width, uint32_t first,
                                    uint32_t count, aabb *bounds) {
  if (kind == SLAB_TRIANGLE && width == BVH_WIDTH) return write_triangle_blocks(r, first, count, bounds);
  const size_t floats = (size_t)block_units(r->blocks, kind) * r->blocks.unit, used = (size_t)rows * width;
  found geometry = {NULL, 0, 0};
  uint32_t there = 0;
  for (uint32_t i = 0; i < count; i++) {
    const size_t at = (size_t)first * r->blocks.unit + i * floats;
    uint32_t ids[BVH_WIDTH];
    memcpy(ids, r->from + at + used, width * sizeof *ids);
    there += (uint32_t)__builtin_popcount(write_block(r, kind, rows, width, ids, &geometry, r->to + at, bounds));
    if (r->from != r->to) memcpy(r->to + at + used, r->from + at + used, (floats - used) * sizeof *r->to);
  }
  return there;
}

PER_PROCESSOR static uint32_t write_kind(refitting *r, uint32_t kind, uint32_t first, uint32_t count, aabb *bounds) {
#define WRITE_KIND(shape, name, names, noun, rows, form, place, source) \
  if (kind == (shape)) return write_blocks(r, shape, rows, r->blocks.width, first, count, bounds);
  SHAPES(WRITE_KIND)
#undef WRITE_KIND
  if (kind != SHAPE_INSTANCE) return 0;
  return write_blocks(r, (slab_shape)SHAPE_INSTANCE, BOX_ROWS, r->blocks.width, first, count, bounds);
}

static uint32_t refit_leaf(void *argument, uint32_t kind, uint32_t first, uint32_t count, aabb *bounds) {
  *bounds = aabb_empty();
  return write_kind(argument, kind, first, count, bounds);
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
  for (int k = 0; k < OUTSIDE_LISTS; k++)
    there += write_kind(r, outside_kinds[k], t->outside[k].first, t->outside[k].blocks, NULL);
  return there;
}

static slab_status refit(const snapshot *scene, const bvh_layout *from, bvh_layout *to, bool *holds) {
  const slab_layout layout = scene->context->layout;
  const bool compressed = layout == SLAB_LAYOUT_COMPRESSED;
  const wanted w = wanted_of(scene);
  refitting r = {.scene = scene, .blocks = block_form_of(layout), .from = from->blocks, .to = to->blocks};
  const bvh_refit_input input = {.compressed = compressed,
                                 .nodes = from->nodes,
                                 .refitted = to->nodes,
                                 .bounds = snapshot_bounds(scene),
                                 .leaves = tuning_of(compressed ? SLAB_DEVICE_GPU : SLAB_DEVICE_CPU)->leaves,
                                 .threads = scene->context->threads,
                                 .leaf = refit_leaf,
                                 .argument = &r};
  if (!scene->has_instances && scene->kinds == 1u << SLAB_TRIANGLE) r.alike = from->floats;
  bvh_refit_outcome outcome;
  if (!bvh_refit(&input, &outcome)) return fail_memory(from->node_bytes, "refitting the tree");
  to->sah_cost = outcome.sah_cost;
  *holds = refit_outside(&r, from) == w.out && outcome.primitives == w.in && !atomic_load(&r.misplaced);
  return SLAB_OK;
}

slab_status bvh_layout_refit(const snapshot *scene, const snapshot *last, bvh_layout *out, bool *holds) {
  bvh_layout from, again = *out;
  *out = last->bvh;
  if (again.node_bytes != out->node_bytes || again.floats != out->floats) layout_free_arrays(&again);
  out->build = scene->build;
  out->model_set = again.nodes != NULL && again.blocks != NULL ? again.model_set : 0;
  out->nodes = again.nodes != NULL ? again.nodes : bvh_allocate(out->node_bytes, 1);
  out->blocks = again.blocks != NULL ? again.blocks : bvh_allocate(out->floats + 1, sizeof *out->blocks);
  if (out->nodes == NULL || out->blocks == NULL)
    return fail_memory(out->node_bytes + out->floats * sizeof *out->blocks, "the tree");
  if (again.nodes != NULL && again.blocks != NULL && again.build == last->build) return refit(scene, out, out, holds);
  slab_status status = arrays_of(last, &from);
  if (status == SLAB_OK) status = refit(scene, &from, out, holds);
  if (from.nodes != last->bvh.nodes) free(from.nodes);
  if (from.blocks != last->bvh.blocks) free(from.blocks);
  return status;
}

/* ---- on a device ---- */

/* Whether all that has moved are triangles of which the BVH has each, whose vertices are on the device. */
static bool can_refit_there(const snapshot *scene, const snapshot *last) {
  bool any = false;
  if (scene->has_instances || scene->kinds != 1u << SLAB_TRIANGLE) return false;
  for (uint32_t g = 0; g < scene->geometries; g++) {
    if (is_hidden(scene, g) != is_hidden(last, g)) return false;
    if (!has_moved(scene, last, g)) continue;
    const geometry_values *now = scene->values[g];
    if (now->copy.memory == NULL || now->voids > 0 || last->values[g]->voids > 0) return false;
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
