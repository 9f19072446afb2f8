/* The build nodes of BVH_FAST are cells along a Morton curve (Morton 1966; Lauterbach et al. 2009, "Fast BVH
 * Construction on GPUs"). References are sorted once. The other qualities partition them again on every level. */
#include <stdlib.h>

#include "parts.h"

#define CELL_BITS 10 /* bits for each axis */

/* Scale from a centre to a cell. Cells are cubes: a flat cell would be cut across its thin side first. */
static float cell_scale(aabb keys) {
  const float4 extent = keys.upper - keys.lower;
  const float side = fmaxf(extent[0], fmaxf(extent[1], extent[2]));
  return side > 0x1p-110f ? (float)(1 << CELL_BITS) * (1.0f - 0x1p-20f) / side : 0.0f; /* as in map_keys */
}

typedef struct curve_cells {
  const builder *b;
  keyed *keys;
  float4 lower;
  float scale;
} curve_cells;

static void fill_keys(void *argument, size_t first, size_t end) {
  const curve_cells *c = argument;
  const reference *references = c->b->references[0];
  keyed *keys = c->keys;
  const float4 lower = c->lower, scale = float4_all(c->scale);
  for (size_t i = first; i < end; i++) {
    const int4 cell = __builtin_convertvector((reference_center(&references[i]) - lower) * scale, int4);
    keys[i] = (keyed){curve_position((curve_cell)cell), (uint32_t)i};
  }
}

static void follow_curve(void *argument, size_t first, size_t end) {
  const builder *b = argument;
  for (size_t i = first; i < end; i++) b->references[1][i] = b->references[0][b->curve[i].number];
}

bool curve_sort(builder *b, build_range *root) {
  const uint32_t count = b->input->count;
  b->curve = bvh_allocate(count, sizeof *b->curve);
  if (b->curve == NULL) return false;
  keyed *arrays[2] = {b->curve, (keyed *)b->build_nodes}; /* whose memory nothing else is in yet */
  const int from = radix_passes(3 * CELL_BITS) % 2;       /* so that what is sorted is in the first */
  keyed *keys = arrays[from], *others = arrays[!from];
  curve_cells cells = {b, keys, root->keys.lower, cell_scale(root->keys)};
  pool_loop(b->threads, count, TASK_MIN, fill_keys, &cells);
  if (!radix_sort(&keys, &others, count, 3 * CELL_BITS, b->threads)) return false;
  pool_loop(b->threads, count, TASK_MIN, follow_curve, b);
  root->side = 1;
  return true;
}

/* The first reference, from `first` on, whose key has the bit set. Not all keys have it set. */
static uint32_t first_with(const keyed *keys, uint32_t first, uint32_t count, uint32_t bit) {
  while (count > 0) {
    const uint32_t half = count / 2;
    const bool has = (keys[first + half].key & bit) != 0;
    first = has ? first : first + half + 1;
    count = has ? half : count - half - 1;
  }
  return first;
}

/* The bits in which the keys of a range's references differ. */
static uint32_t difference(const keyed *curve, const build_range *s) {
  return curve[s->first].key ^ curve[s->first + s->count - 1].key;
}

bool curve_divide(const builder *b, const build_range *whole, build_range parts[2]) {
  const uint32_t differ = b->curve == NULL ? 0 : difference(b->curve, whole);
  if (differ == 0) return false;
  const uint32_t bit = 1u << (31 - __builtin_clz(differ));
  range_parts(whole, first_with(b->curve, whole->first, whole->count, bit) - whole->first, whole->side, parts);
  for (int i = 0; i < 2; i++)
    if (parts[i].count > SWEEP_MAX && difference(b->curve, &parts[i]) == 0) parts[i].keys = range_keys(b, &parts[i]);
  return true;
}
