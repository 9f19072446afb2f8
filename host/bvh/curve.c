/* The build nodes of BVH_FAST are cells along a Morton curve (Morton 1966; Lauterbach et al. 2009, "Fast BVH
 * Construction on GPUs"). Primitives are sorted once. Their references are filled when they are bounded: to fill them
 * again takes less time than to keep them, in memory that has to be cleared first. The other qualities partition
 * references at every depth. */
#include "bvh/parts.h"

#define CELL_BITS 10 /* bits for each axis */
#define FULL_MOST 4u /* binary leaves: ranges that fit in so many have as few */

/* Cells are cubes: a flat cell would be cut across its thin side first. */
curve_grid curve_grid_of(float4 lower, float4 upper) {
  const float4 extent = upper - lower;
  const float side = fmaxf(extent[0], fmaxf(extent[1], extent[2]));
  const bool known = side > 0x1p-110f && side < INFINITY && extent[0] >= 0.0f && extent[1] >= 0.0f && extent[2] >= 0.0f;
  return (curve_grid){2.0f * lower, float4_all(known ? 0.5f * (float)(1 << CELL_BITS) / side : 0.0f)};
}

/* Sorted keys are to be in the first of two arrays. */
static keyed *unsorted(const builder *b) {
  return radix_passes(3 * CELL_BITS) % 2 == 0 ? b->curve : (keyed *)b->build_nodes;
}

void curve_note(const builder *b, uint32_t first, const reference *r, uint32_t count) {
  keyed *keys = unsorted(b) + first;
  const float4 lower = b->grid.lower, scale = b->grid.scale, last = float4_all((float)((1 << CELL_BITS) - 1));
  for (uint32_t i = 0; i < count; i++) {
    const float4 place = (reference_center(&r[i]) - lower) * scale; /* NaN of scale 0 becomes 0 */
    const int4 cell = __builtin_convertvector(float4_min(float4_max(place, float4_all(0.0f)), last), int4);
    keys[i] = (keyed){curve_position((curve_cell)cell), first + i};
  }
}

void curve_take(const builder *b, uint32_t first, uint32_t count, reference *to) {
  uint32_t primitives[BVH_FILL_MOST];
  for (uint32_t i = 0; i < count; i++) primitives[i] = b->curve[first + i].number;
  references_take(b, primitives, count, to);
}

bool curve_sort(builder *b) {
  keyed *keys = unsorted(b), *others = keys == b->curve ? (keyed *)b->build_nodes : b->curve;
  return radix_sort(&keys, &others, b->input->count, 3 * CELL_BITS, b->threads);
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

/* The cut nearest to `left` that leaves no more binary leaves than must be, where few are left. A leaf that is not full
 * takes as much time and memory as another. Larger ranges are cut between cells alone: to move their cuts costs more
 * than it gains. */
static uint32_t full_cut(const builder *b, uint32_t count, uint32_t left) {
  const uint32_t most = b->tip_most, last = (count - 1) % most + 1, over = left % most;
  if (count > FULL_MOST * most || over == 0 || over >= last) return left;
  const uint32_t below = left - over, above = below + last;
  return below == 0 || (above < count && last - over < over) ? above : below;
}

bool curve_divide(const builder *b, const build_range *whole, build_range parts[2]) {
  const uint32_t differ = difference(b->curve, whole);
  if (differ == 0) return false;
  const uint32_t bit = 1u << (31 - __builtin_clz(differ));
  const uint32_t left = first_with(b->curve, whole->first, whole->count, bit) - whole->first;
  range_parts(whole, full_cut(b, whole->count, left), whole->side, parts);
  return true;
}

build_range curve_leave(const builder *b, const build_range *whole) {
  build_range taken = *whole;
  taken.side = 0;
  for (uint32_t at = 0; at < whole->count; at += BVH_FILL_MOST) {
    const uint32_t rest = whole->count - at;
    curve_take(b, whole->first + at, rest < BVH_FILL_MOST ? rest : BVH_FILL_MOST, &b->references[0][whole->first + at]);
  }
  taken.keys = range_keys(b, &taken);
  return taken;
}
