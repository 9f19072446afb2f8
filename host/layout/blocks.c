/* Writes blocks of primitives, for builds and for refits. */
#include "layout/blocks.h"

#include <string.h>

#include "base/cache.h"
#include "base/per_processor.h"
#include "maths/answer.h"
#include "maths/primitive.h"
#include "shapes/padded.h"
#include "shapes/primitive.h"
#include "shapes/values.h"

/* Into write_kind, which is compiled for several processors. */

block_form block_form_of(slab_layout layout) {
  return layout == SLAB_LAYOUT_COMPRESSED ? (block_form){1, COMPRESSED_UNIT} : (block_form){BVH_WIDTH, BLOCK_UNIT};
}

uint32_t block_units(block_form f, uint32_t kind) { return BLOCK_UNITS(primitive_floats(kind), f.width, f.unit); }

uint32_t *block_ids(block_form f, uint32_t kind, float *block) {
  return (uint32_t *)(block + (size_t)primitive_floats(kind) * f.width);
}

void block_write_ids(block_form f, uint32_t kind, float *block, const uint32_t *ids, uint32_t count) {
  const uint32_t rest = block_units(f, kind) * f.unit - primitive_floats(kind) * f.width;
  uint32_t *to = block_ids(f, kind, block);
  for (uint32_t k = 0; k < rest; k++) to[k] = k >= f.width ? 0 : k < count ? ids[k] : SLAB_MISS;
}

/* So what is there is as many as values count. */
ALWAYS_INLINE bool is_known_unhit(const geometry_values *v, slab_shape kind, const float *values) {
  return v->unhit > 0 && primitive_is_never_hit(kind, values);
}

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

/* The triangles of some lanes, by number in their geometry; where none is there any. */
typedef struct triangle_lanes {
  uint4 triangle;
  int4 there;
} triangle_lanes;

/* It has no branch, since lanes without a triangle are unpredictable. first: for those. *others: those of other
 * geometries. */
ALWAYS_INLINE triangle_lanes lanes_of(const found *f, const uint32_t *ids, uint32_t first, int4 *others) {
  triangle_lanes l;
  uint4 id;
  memcpy(&id, ids, sizeof id);
  l.triangle = id - f->first;
  l.there = l.triangle < f->end - f->first;
  l.triangle = (l.triangle & (uint4)l.there) | ((uint4){first, first, first, first} & ~(uint4)l.there);
  *others |= ~l.there & (id != SLAB_MISS);
  return l;
}

/* The extents of some lanes of triangles so far: bounds that are not padded yet, and longest sides. */
typedef struct reach {
  float4 lower[3], upper[3], side;
  int4 there;         /* how many triangles */
  uint32_t collapsed; /* how many of them are known to be collapsed */
} reach;

/* Stores four lanes, and grows *all by those that are there. Others become void: an edge to and fro, vertices a, b and
 * b. Its edge functions are 0, e and -e, and beside the ray 0, s and -s, to the bit: it is never hit. The three indices
 * of each triangle's vertices are in `list`, which is NULL where each triangle has vertices of its own. A vertex has
 * `stride` floats. Each load takes four of them, and geometry_values have space for as many. Nothing is stored in parts
 * and loaded whole: that waits until the parts are in the cache, behind all stores before them. */
ALWAYS_INLINE void write_lanes(const float *values, size_t stride, const uint32_t *list, triangle_lanes lanes,
                               const float none_of[TRIANGLE_FLOATS], float *block, reach *all) {
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
      v[i] = float4_select(there, v[i], float4_all(none_of[3 * c + (size_t)i]));
      float4_store(v[i], block + (3 * c + (size_t)i) * BVH_WIDTH);
      lower[i] = c == 0 ? v[i] : float4_min(lower[i], v[i]);
      upper[i] = c == 0 ? v[i] : float4_max(upper[i], v[i]);
    }
  }
  for (int i = 0; i < 3; i++) {
    all->side = float4_max(float4_select(there, upper[i] - lower[i], float4_all(0.0f)), all->side);
    all->lower[i] = float4_min(all->lower[i], float4_max(lower[i], none));
    all->upper[i] = float4_max(all->upper[i], float4_min(upper[i], -none));
  }
  all->there -= there;
}

/* Writes a block whose triangles may be of any geometries, void, collapsed and disabled ones among them. Collapsed ones
 * stay what they are, since points find them. */
ALWAYS_INLINE void write_block_of_each(const snapshot *scene, const uint32_t *ids, found *geometry,
                                       const float none_of[TRIANGLE_FLOATS], float *block, reach *all) {
  for (uint32_t lane = 0; lane < BVH_WIDTH; lane += LANES_AT_ONCE) {
    float4 vertices[3 * LANES_AT_ONCE] = {{0}};
    triangle_lanes lanes = {{0, 1, 2, 3}, {0}};
    for (uint32_t k = 0; k < LANES_AT_ONCE; k++) {
      float space[FLOATS_MOST];
      if (ids[lane + k] == SLAB_MISS) continue;
      find(scene, ids[lane + k], geometry);
      if (geometry->values == NULL) continue;
      const float *values = values_at(geometry->values, TRIANGLE_FLOATS, ids[lane + k] - geometry->first, space);
      if (TRIANGLE_IS_VOID(values[0])) continue;
      all->collapsed += is_known_unhit(geometry->values, SLAB_TRIANGLE, values);
      for (uint32_t c = 0; c < 3; c++) vertices[3 * k + c] = float4_xyz(values + 3 * c);
      lanes.there[k] = -1;
    }
    write_lanes((const float *)vertices, 4, NULL, lanes, none_of, block + lane, all);
  }
}

ALWAYS_INLINE bool any_collapsed(const geometry_values *v, triangle_lanes lanes) {
  bool any = false;
  for (uint32_t k = 0; k < LANES_AT_ONCE; k++) any |= values_are_collapsed(v, lanes.triangle[k]);
  return any;
}

/* Writes a block of a wide BVH. */
ALWAYS_INLINE void write_triangle_block(const snapshot *scene, const uint32_t *ids, found *geometry,
                                        const float none_of[TRIANGLE_FLOATS], float *block, reach *all) {
  int4 others = {0};
  uint32_t first = 0;
  if (ids[0] != SLAB_MISS) {
    find(scene, ids[0], geometry);
    first = ids[0] - geometry->first;
  }
  const triangle_lanes low = lanes_of(geometry, ids, first, &others),
                       high = lanes_of(geometry, ids + LANES_AT_ONCE, first, &others);
  const geometry_values *v = geometry->values;
  if (v == NULL || int4_any(others) || (v->unhit > 0 && (any_collapsed(v, low) || any_collapsed(v, high)))) {
    write_block_of_each(scene, ids, geometry, none_of, block, all);
  } else if (v->indexed) {
    write_lanes(v->values, 3, v->indices->list, low, none_of, block, all);
    write_lanes(v->values, 3, v->indices->list, high, none_of, block + LANES_AT_ONCE, all);
  } else {
    write_lanes(v->values, 3, NULL, low, none_of, block, all);
    write_lanes(v->values, 3, NULL, high, none_of, block + LANES_AT_ONCE, all);
  }
}

/* How many blocks ahead their vertices, indices and ids are requested; each of them is found by the next. The floats to
 * write are requested too, since stores that miss the cache delay the others. */
enum { VERTICES_AHEAD = 6, INDICES_AHEAD = 12, ROWS_AHEAD = 12, IDS_AHEAD = 24 };

/* Requests the memory that later blocks are made of. */
ALWAYS_INLINE void request_ahead(const block_writing *w, const found *f, size_t at, size_t floats, size_t used) {
  const geometry_values *v = f->values;
  __builtin_prefetch(w->from + at + IDS_AHEAD * floats + used);
  cache_request(w->to + at + ROWS_AHEAD * floats, used * sizeof *w->to);
  if (v == NULL || at + (INDICES_AHEAD + 1) * floats > w->alike) return;
  const uint32_t *ids = (const uint32_t *)(w->from + at + INDICES_AHEAD * floats + used);
  const uint32_t *nearer = (const uint32_t *)(w->from + at + VERTICES_AHEAD * floats + used);
  for (int half = 0; half < 2; half++) {
    int4 others = {0};
    const triangle_lanes far = lanes_of(f, ids + half * LANES_AT_ONCE, 0, &others);
    const triangle_lanes near = lanes_of(f, nearer + half * LANES_AT_ONCE, 0, &others);
    for (int k = 0; k < LANES_AT_ONCE; k++) {
      if (!v->indexed) {
        __builtin_prefetch(v->values + TRIANGLE_FLOATS * (size_t)near.triangle[k]);
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
 * and u = 2^-24. Where a = b, rounding is monotone. Else b - a >= u max(|a|, |b|). The amount taken from b exceeds that
 * taken from a by at most 2^-22 (b - a) + q - p + u (q + p + 2^-22 (|a| + |b|)) <= 3 2^-22 (b - a) < b - a. */
ALWAYS_INLINE void grow_by_reach(const reach *all, aabb *bounds) {
  float4 l[4] = {all->lower[0], all->lower[1], all->lower[2], all->lower[2]};
  float4 u[4] = {all->upper[0], all->upper[1], all->upper[2], all->side};
  float4_transpose(&l[0], &l[1], &l[2], &l[3]);
  float4_transpose(&u[0], &u[1], &u[2], &u[3]);
  float4 lower = float4_min(float4_min(l[0], l[1]), float4_min(l[2], l[3]));
  float4 upper = float4_max(float4_max(u[0], u[1]), float4_max(u[2], u[3]));
  const float pad = upper[3] * (0x1p-19f + 0x1p-29f);
  *bounds = aabb_join(*bounds, aabb_padded((aabb){lower, upper}, pad));
}

/* Writes blocks of a wide BVH. */
ALWAYS_INLINE blocks_held write_triangle_blocks(const block_writing *w, uint32_t first, uint32_t count, aabb *bounds) {
  const size_t size = (size_t)block_units(w->form, SLAB_TRIANGLE) * w->form.unit;
  const size_t used = TRIANGLE_FLOATS * BVH_WIDTH;
  found geometry = {NULL, 0, 0};
  float none_of[TRIANGLE_FLOATS];
  reach all = {.side = {0}};
  primitive_void(SLAB_TRIANGLE, none_of);
  for (int i = 0; i < 3; i++) {
    all.lower[i] = float4_all(INFINITY);
    all.upper[i] = float4_all(-INFINITY);
  }
  for (uint32_t i = 0; i < count; i++) {
    const size_t at = (size_t)first * w->form.unit + i * size;
    const uint32_t *ids = (const uint32_t *)(w->from + at + used);
    write_triangle_block(w->scene, ids, &geometry, none_of, w->to + at, &all);
    request_ahead(w, &geometry, at, size, used);
    if (w->from != w->to) memcpy(w->to + at + used, ids, (size - used) * sizeof *w->to);
  }
  const uint32_t there = (uint32_t)(all.there[0] + all.there[1] + all.there[2] + all.there[3]);
  if (there > 0 && bounds != NULL) grow_by_reach(&all, bounds);
  return (blocks_held){there - all.collapsed, 0, all.collapsed};
}

/* ---- blocks of any kind ---- */

ALWAYS_INLINE void grow_by_primitive(slab_shape kind, const float *values, aabb *bounds) {
  float lower[3], upper[3];
  primitive_bounds(kind, values, lower, upper);
  *bounds = aabb_join(*bounds, (aabb){float4_xyz(lower), float4_xyz(upper)});
}

/* Writes a block's lanes, for the ids that it has. Counts those that are there. Grows *bounds, unless it is NULL, by
 * the padded bounds of these. */
ALWAYS_INLINE void write_block(const block_writing *w, slab_shape kind, uint32_t floats, uint32_t width,
                               const uint32_t *ids, found *geometry, float *block, aabb *bounds, blocks_held *held) {
  float none[FLOATS_MOST], space[FLOATS_MOST];
  primitive_void(kind, none);
  for (uint32_t lane = 0; lane < width; lane++) {
    const float *values = none;
    if (ids[lane] != SLAB_MISS) {
      find(w->scene, ids[lane], geometry);
      if (geometry->values != NULL) values = values_at(geometry->values, floats, ids[lane] - geometry->first, space);
    }
    for (uint32_t k = 0; k < floats; k++) block[k * width + lane] = values[k];
    if (values == none || (geometry->values->voids > 0 && primitive_is_void(kind, values))) continue;
    const bool collapsed = is_known_unhit(geometry->values, kind, values);
    held->collapsed += collapsed;
    held->there += !collapsed;
    held->outside += !collapsed && primitive_is_outside(kind, values);
    if (bounds != NULL) grow_by_primitive(kind, values, bounds);
  }
}

ALWAYS_INLINE blocks_held write_blocks(const block_writing *w, slab_shape kind, uint32_t floats, uint32_t width,
                                       uint32_t first, uint32_t count, aabb *bounds) {
  if (kind == SLAB_TRIANGLE && width == BVH_WIDTH) return write_triangle_blocks(w, first, count, bounds);
  const size_t size = (size_t)block_units(w->form, kind) * w->form.unit, used = (size_t)floats * width;
  found geometry = {NULL, 0, 0};
  blocks_held held = {0, 0, 0};
  for (uint32_t i = 0; i < count; i++) {
    const size_t at = (size_t)first * w->form.unit + i * size;
    uint32_t ids[BVH_WIDTH];
    memcpy(ids, w->from + at + used, width * sizeof *ids);
    write_block(w, kind, floats, width, ids, &geometry, w->to + at, bounds, &held);
    if (w->from != w->to) memcpy(w->to + at + used, w->from + at + used, (size - used) * sizeof *w->to);
  }
  return held;
}

ALWAYS_INLINE blocks_held write_kind(const block_writing *w, uint32_t kind, uint32_t first, uint32_t count,
                                     aabb *bounds) {
  const uint32_t width = w->form.width;
#define WRITE_KIND(shape, name, names, noun, floats, form, place, source) \
  if (kind == (shape)) return write_blocks(w, shape, floats, width, first, count, bounds);
  SHAPES(WRITE_KIND)
#undef WRITE_KIND
  if (kind != SHAPE_INSTANCE) return (blocks_held){0, 0, 0};
  return write_blocks(w, (slab_shape)SHAPE_INSTANCE, BOX_FLOATS, width, first, count, bounds);
}

WITH_FMA static blocks_held write_kind_fma(const block_writing *w, uint32_t kind, uint32_t first, uint32_t count,
                                           aabb *bounds) {
  return write_kind(w, kind, first, count, bounds);
}

blocks_held blocks_write(const block_writing *w, uint32_t kind, uint32_t first, uint32_t count, aabb *bounds) {
  return PER_PROCESSOR(write_kind)(w, kind, first, count, bounds);
}
