/* Makes winding numbers of crossings: adds the terms of a scene's boundary, in place. A work-item takes `each` points.
 * order: in which they are taken; NULL: as they stand. It uses no scene, but for the trees over its boundary. */
#define SLAB_WINDS 1
#define HAS_CLOSED 0
#include "maths/boundary.h"

/* The sum of a node's children, and bits of those that must be looked into. */
INLINE boundary_sum node_sum(const float p[3], GLOBAL const float *node, uint *into) {
  boundary_sum sum = 0;
  *into = 0;
  for (uint part = 0; part < BOUNDARY_WIDTH; part += LANES) {
    mask open;
    const mask units = boundary_children(p, node + part, &open);
    sum += lanes_sum(units);
    *into |= lanes_bits(open) << part;
  }
  return sum;
}

INLINE boundary_sum tree_sum(const float p[3], GLOBAL const float *nodes, uint root) {
  uint stack[BOUNDARY_STACK], waiting = 1;
  boundary_sum sum = 0;
  stack[0] = root;
  while (waiting > 0) {
    uint into;
    GLOBAL const float *node = nodes + (size_t)stack[--waiting] * BOUNDARY_FLOATS;
    sum += node_sum(p, node, &into);
    for (; into != 0; into &= into - 1)
      stack[waiting++] = scalar_bits(node[BOUNDARY_CHILD * BOUNDARY_WIDTH + lowest_lane(into)]);
  }
  return sum;
}

kernel KERNEL_HINT void KERNEL_NAME(boundary)(WORK_ITEM const global float *points, global int *results,
                                              const global uint *order, const global uint *masks,
                                              const global uint *worlds, const global float *nodes,
                                              const global boundary_tree *trees, const uint tree_count,
                                              const uint mask_of_all, const uint count, const uint each) {
  const size_t begin = get_global_id(0) * each, end = begin + each < count ? begin + each : count;
  for (size_t n = begin; n < end; n++) {
    const size_t i = order != 0 ? order[n] : n;
    const float p[3] = {points[3 * i], points[3 * i + 1], points[3 * i + 2]};
    const uint seen = masks != 0 ? masks[i] : mask_of_all, world = worlds != 0 ? worlds[i] : 0;
    boundary_sum sum = 0;
    if (point_is_valid(p))
      for (uint t = 0; t < tree_count; t++)
        if ((trees[t].mask & seen) != 0 && (trees[t].world == 0 || trees[t].world == world))
          sum += tree_sum(p, nodes, trees[t].root);
    results[i] = (int)scalar_bits(boundary_answer(results[i], sum));
  }
}
