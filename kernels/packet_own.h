/* Rays of a packet that are tested each against a triangle of its own, all of one block. On a smooth surface a ray has
 * one candidate or two of the eight. So the candidates of all rays are found first, and the rest of the test is done
 * once or twice, instead of once for each triangle. */
#ifndef PACKET_OWN_H
#define PACKET_OWN_H

#include "triangle.h"

/* Of each ray, its candidates among the triangles of a block that are in `bits`, as bits. No hit is lost. */
INLINE word own_candidates(const prepared_ray *ray, const global float *block, uint bits) {
  word candidates = (word)(0);
  for (; bits != 0; bits &= bits - 1) {
    const uint lane = lowest_lane(bits);
    const triangle_rows rows = triangle_load(ray, block + lane);
    const triangle_shear s = triangle_sheared(ray, &rows);
    triangle_edge e[3];
    triangle_edges(&s, e);
    candidates |= triangle_candidates(e) ? (word)(1u << lane) : (word)(0);
  }
  return candidates;
}

/* The lowest of eight bits, of each ray: the exponent of a float is that bit's number. Any where there is none. */
INLINE word own_lowest(word bits) {
  const word exponent = lanes_as_word(lanes_to_float(bits & (0 - bits))) >> 23;
  return (exponent - 127) & (BVH_WIDTH - 1);
}

/* The triangle of each ray. k: the axes of the shear, in its order. */
INLINE triangle_rows own_triangles(const octant_word k[3], const global float *block, word lane) {
  triangle_rows t;
  UNROLL for (int v = 0; v < 3; v++) UNROLL for (int i = 0; i < 3; i++) t.row[v][i] =
      lanes_pick(block + (3 * v + (int)k[i]) * BVH_WIDTH, lane);
  return t;
}

#endif
