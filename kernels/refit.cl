/* Refits a compressed BVH of triangles whose vertices are in buffers. The host's refit (host/layout/refit.c,
 * host/bvh/refit.c) writes the same bits. The kernels run one after the other: places, once for each build; triangles,
 * for each geometry that has moved; nodes, for each depth, the deepest first.
 *
 * Structs are written through a pointer. Where a function that returned one is inlined, the compiler of Oclgrind 21.10
 * leaves an intrinsic that its interpreter does not know. */
#undef SLAB_FMAX /* of zeros of either sign the host's choice */
#include "maths/quantise.h"
#include "maths/triangle.h"

/* Finds the block of each global primitive id. */
kernel void KERNEL_NAME(places)(WORK_ITEM const global uint *blocks, global uint *places, const uint count) {
  const size_t i = get_global_id(0);
  if (i < count) places[blocks[i * COMPRESSED_TRIANGLE + TRIANGLE_FLOATS]] = (uint)i;
}

/* Writes the triangles of a geometry into their blocks as words: nothing rounds. A triangle has no place where `places`
 * failed as it ran, of which the host hears later. indices: NULL where each triangle has three vertices of its own. */
kernel void KERNEL_NAME(triangles)(WORK_ITEM const global uint *vertices, const global uint *indices,
                                   const global uint *places, global uint *blocks, const uint global_id_base,
                                   const uint count) {
  const size_t i = get_global_id(0);
  if (i >= count || places[global_id_base + i] == SLAB_MISS) return;
  global uint *block = blocks + (size_t)places[global_id_base + i] * COMPRESSED_TRIANGLE;
  for (uint c = 0; c < 3; c++) {
    const size_t corner = 3 * i + c;
    const global uint *vertex = vertices + 3 * (indices != 0 ? (size_t)indices[corner] : corner);
    for (uint axis = 0; axis < 3; axis++) block[3 * c + axis] = vertex[axis];
  }
}

INLINE void grow(refitted_node *to, const float lower[3], const float upper[3]) {
  for (int axis = 0; axis < 3; axis++) {
    to->lower[axis] = lanes_min(to->lower[axis], lower[axis]);
    to->upper[axis] = lanes_max(to->upper[axis], upper[axis]);
  }
}

/* Half the surface; 0 where nothing is below. scale: keeps it within the range of float. */
INLINE float area_of(const refitted_node *n, float scale) {
  float side[3];
  for (int axis = 0; axis < 3; axis++) side[axis] = (n->upper[axis] - n->lower[axis]) * scale;
  return n->lower[0] <= n->upper[0] ? side[0] * side[1] + (side[0] + side[1]) * side[2] : 0.0f;
}

INLINE void begin_with_nothing(refitted_node *n) {
  for (int axis = 0; axis < 3; axis++) {
    n->lower[axis] = INFINITY;
    n->upper[axis] = -INFINITY;
  }
  n->area = n->cost = 0.0f;
}

/* Bounds triangles that follow each other, but for void ones: those of geometries that are disabled. */
INLINE void bound_leaf(const global float *block, uint count, const refit_costs costs, refitted_node *leaf) {
  for (uint i = 0; i < count; i++, block += COMPRESSED_TRIANGLE) {
    triangle_rows t;
    float lower[3], upper[3];
    for (int v = 0; v < 3; v++)
      for (int axis = 0; axis < 3; axis++) t.row[v][axis] = block[3 * v + axis];
    triangle_bounds(&t, lower, upper);
    triangle_padded_bounds(lower, upper);
    if (!TRIANGLE_IS_VOID(block[0])) grow(leaf, lower, upper);
  }
  leaf->cost = costs.triangle * (float)count * area_of(leaf, costs.scale);
}

/* Bounds the nodes of a depth, those from `first` to `end` in `order`. The nodes below them have been refitted. */
kernel void KERNEL_NAME(nodes)(WORK_ITEM const global compressed_node *from, global compressed_node *to,
                               const global float *blocks, const global uint *order, global refitted_node *refitted,
                               const uint first, const uint end, const refit_costs costs) {
  const size_t i = first + get_global_id(0);
  if (i >= end) return;
  compressed_node node = from[order[i]];
  refitted_node all, below;
  bvh_node exact;
  uint child = node.child, unit = node.leaf;
  begin_with_nothing(&all);
  for (uint k = 0; k < BVH_WIDTH; k++) {
    const uint meta = compressed_byte(node.meta[k / 4], k % 4), count = COMPRESSED_LEAF_COUNT(meta);
    begin_with_nothing(&below);
    if (meta == COMPRESSED_INNER)
      below = refitted[child++];
    else if (count > 0)
      bound_leaf(blocks + (size_t)unit * COMPRESSED_UNIT, count, costs, &below);
    unit += count * (COMPRESSED_TRIANGLE / COMPRESSED_UNIT);
    for (int axis = 0; axis < 3; axis++) {
      exact.bounds[axis][k] = below.lower[axis];
      exact.bounds[axis + 3][k] = below.upper[axis];
    }
    grow(&all, below.lower, below.upper);
    all.cost += below.cost;
  }
  all.area = area_of(&all, costs.scale);
  all.cost += costs.node * all.area;
  quantise_again(&exact, &node);
  to[order[i]] = node;
  refitted[order[i]] = all;
}
