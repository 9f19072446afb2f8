/* The build nodes of BVH_FAST are cells along a Morton curve (Morton 1966; Lauterbach et al. 2009, "Fast BVH
 * Construction on GPUs"). References are sorted once. The other qualities partition them again on every level. */
#include <stdlib.h>

#include "parts.h"

#define CELL_BITS 10 /* bits for each axis */

/* Scale from a centre to a cell. Cells are cubes: a flat cell would be cut across its thin side first. */
static float cell_scale(aabb centers) {
  const float4 extent = centers.upper - centers.lower;
  const float side = fmaxf(extent[0], fmaxf(extent[1], extent[2]));
  return side > 0x1p-110f ? (float)(1 << CELL_BITS) * (1.0f - 0x1p-20f) / side : 0.0f; /* as in map_centers */
}

static void fill_keys(const builder *b, aabb centers, keyed *keys) {
  const float scale = cell_scale(centers);
  OMP(omp parallel num_threads(b->threads) if (b->input->count >= TASK_MIN)) {
    ARITHMETIC callers = arithmetic_begin();
    OMP(omp for schedule(static))
    for (uint32_t i = 0; i < b->input->count; i++) {
      const int4 cell =
          __builtin_convertvector((reference_center(&b->references[0][i]) - centers.lower) * float4_all(scale), int4);
      uint32_t key = 0;
      for (int axis = 0; axis < 3; axis++) key |= bits_apart((uint32_t)cell[axis]) << axis;
      keys[i] = (keyed){key, i};
    }
  }
}

bool curve_sort(builder *b, build_range *root) {
  const uint32_t count = b->input->count;
  keyed *others = bvh_allocate(count, sizeof *others);
  b->curve = bvh_allocate(count, sizeof *b->curve);
  bool sorted = others != NULL && b->curve != NULL;
  if (sorted) {
    fill_keys(b, root->centers, b->curve);
    sorted = radix_sort(&b->curve, &others, count, 3 * CELL_BITS, b->threads);
  }
  free(others);
  if (!sorted) return false;
  OMP(omp parallel for num_threads(b->threads) schedule(static) if (count >= TASK_MIN))
  for (uint32_t i = 0; i < count; i++) b->references[1][i] = b->references[0][b->curve[i].number];
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
    if (parts[i].count > SWEEP_MAX && difference(b->curve, &parts[i]) == 0)
      parts[i].centers = range_centers(b, &parts[i]);
  return true;
}
