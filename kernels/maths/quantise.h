/* Writes quantised bounds that hold exact ones, as quantised.h reads them. The host builds and refits compressed nodes
 * with it, refit.cl refits them on a device. */
#ifndef MATHS_QUANTISE_H
#define MATHS_QUANTISE_H

#include "maths/quantised.h"

/* The least and the greatest end of the children's bounds along an axis. Returns false where one is infinite or beyond
 * COMPRESSED_LARGEST. */
INLINE bool axis_ends(const bvh_node *exact, int axis, float *lower, float *upper) {
  *lower = INFINITY;
  *upper = -INFINITY;
  for (int k = 0; k < BVH_WIDTH; k++) {
    *lower = lanes_min(exact->bounds[axis][k], *lower);
    *upper = lanes_max(exact->bounds[axis + 3][k], *upper);
  }
  return is_within(*lower, COMPRESSED_LARGEST) && is_within(*upper, COMPRESSED_LARGEST);
}

/* The least exponent with which COMPRESSED_STEPS steps from `origin` reach `upper`. Rounding may put it beside that of
 * their share of the distance. */
INLINE uint least_exponent(float origin, float upper) {
  uint e = scalar_bits((upper - origin) * (1.0f / (float)COMPRESSED_STEPS)) >> 23;
  e = e < COMPRESSED_LEAST ? COMPRESSED_LEAST : e;
  while (e < 254 && compressed_plane(COMPRESSED_STEPS, compressed_step(e), origin) < upper) e++;
  while (e > COMPRESSED_LEAST && compressed_plane(COMPRESSED_STEPS, compressed_step(e - 1), origin) >= upper) e--;
  return e;
}

/* The least number of steps that reaches or passes a bound; COMPRESSED_STEPS where none does. It is near the quotient,
 * unless steps are less than what the origin is rounded to. inverse: of the step. */
INLINE uint least_steps(float bound, float step, float inverse, float origin) {
  const float quotient = lanes_max((bound - origin) * inverse, 0.0f);
  uint steps = (uint)lanes_min(quotient, (float)COMPRESSED_STEPS);
  while (steps < COMPRESSED_STEPS && compressed_plane(steps, step, origin) < bound) steps++;
  while (steps > 0 && compressed_plane(steps - 1, step, origin) >= bound) steps--;
  return steps;
}

INLINE uint steps_below(float bound, float step, float inverse, float origin) {
  const uint steps = least_steps(bound, step, inverse, origin);
  return compressed_plane(steps, step, origin) > bound ? steps - 1 : steps; /* 0 steps are not above any bound */
}

/* Writes origin, scales without the mask of inner nodes, and planes. exact: the bounds of child k in slot k. A slot
 * without a child, or with nothing in it, has +inf to -inf, which becomes inverted bounds. */
INLINE void quantise_bounds(const bvh_node *exact, compressed_node *to) {
  to->scales = 0;
  for (int axis = 0; axis < 3; axis++) {
    float lower, upper;
    const bool bounded = axis_ends(exact, axis, &lower, &upper); /* not where the node has nothing below */
    const uint exponent = bounded ? least_exponent(lower, upper) : COMPRESSED_UNBOUNDED;
    const float step = compressed_step(exponent), inverse = compressed_step(254 - exponent);
    to->origin[axis] = bounded ? lower : 0.0f;
    to->scales |= exponent << (8 * axis);
    for (int side = 0; side < 2; side++) {
      uint below = 0, above = 0;
      for (int k = 0; k < 4 && bounded; k++) {
        below |= steps_below(exact->bounds[axis][4 * side + k], step, inverse, lower) << (8 * k);
        above |= least_steps(exact->bounds[axis + 3][4 * side + k], step, inverse, lower) << (8 * k);
      }
      to->planes[axis][side] = below;
      to->planes[axis + 3][side] = above;
    }
  }
}

/* The same for a node that keeps its children. */
INLINE void quantise_again(const bvh_node *exact, compressed_node *node) {
  const uint inner = node->scales & 0xFF000000u;
  quantise_bounds(exact, node);
  node->scales |= inner;
}

#endif
