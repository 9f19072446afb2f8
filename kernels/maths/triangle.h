/* Triangles: Woop, Benthin, Wald 2013, "Watertight ray/triangle intersection", with exact edge signs. */
#ifndef MATHS_TRIANGLE_H
#define MATHS_TRIANGLE_H

#include "maths/padded_bounds.h"

#include "maths/bounds.inc"

/* Whether triangle_certain is called first. In packets SLAB_ANY takes 0.88 to 0.98 of the time so. Interleaved rays
 * take 0.9 to 0.97 where they hit something. They take 1.0 to 1.05 where they leave a surface and miss every primitive,
 * as most diffuse rays do. The triangle that such a ray leaves is a candidate, and not certain (a Xeon with
 * AVX-512). */
#ifdef SLAB_PACKET
#define TRIANGLE_WITHOUT_T (SLAB_QUERY == SLAB_ANY || SLAB_QUERY == SLAB_COUNT)
#else
#define TRIANGLE_WITHOUT_T false
#endif

#include "maths/triangle.inc"

#include "maths/closed.h"

#ifndef SLAB_APART
INLINE triangle_rows triangle_load(const prepared_ray *ray, GLOBAL const float *block) {
  triangle_rows t;
  UNROLL for (int i = 0; i < 3; i++) {
    GLOBAL const float *rows = block + (size_t)ray->k[i] * STRIDE;
    UNROLL for (int v = 0; v < 3; v++) t.row[v][i] = lanes_load(rows + 3 * v * STRIDE);
  }
  return t;
}

INLINE mask triangle_surface(const prepared_ray *ray, GLOBAL const float *block, ray_real limit, uint rules, real *t) {
#if HAS_CLOSED
  if (CLOSED_EDGES(rules)) return closed_surface(ray, block, limit, rules, t);
#endif
  const triangle_rows rows = triangle_load(ray, block);
  return triangle_intersect(ray, &rows, limit, rules, t);
}
#endif

/* The normal of the plane through the vertices. Edges are scaled by a power of two, and the cross product keeps its
 * rounding errors, so that tiny triangles and needles have a normal. A triangle that still has none gets a normal along
 * the ray, its sign by the side that was hit. */
INLINE void triangle_normal(const prepared_ray *ray, const ray_real v[TRIANGLE_FLOATS], ray_mask front,
                            ray_real normal[3]) {
  ray_real e1[3], e2[3], n[3], factor[2], largest = (ray_real)(0.0f);
  UNROLL for (int i = 0; i < 3; i++) {
    e1[i] = v[3 + i] - v[i];
    e2[i] = v[6 + i] - v[i];
    largest = ray_max(ray_max(e1[i] < 0.0f ? -e1[i] : e1[i], e2[i] < 0.0f ? -e2[i] : e2[i]), largest);
  }
  power_of_two(largest > 0.0f ? -exponent_of(largest) : (ray_mask)(0), factor);
  UNROLL for (int i = 0; i < 3; i++) {
    e1[i] = e1[i] * factor[0] * factor[1];
    e2[i] = e2[i] * factor[0] * factor[1];
  }
  UNROLL for (int i = 0; i < 3; i++) {
    const int j = next_of_three(i), k = next_of_three(j);
    ray_real p = e1[j] * e2[k], q = e1[k] * e2[j];
    n[i] = (p - q) + (lanes_fma(e1[j], e2[k], -p) - lanes_fma(e1[k], e2[j], -q));
  }
  const ray_mask lacks = unit_normal(ray, n, (ray_mask)(0), normal);
  UNROLL for (int i = 0; i < 3; i++) normal[i] = (lacks & !front) ? -normal[i] : normal[i];
}

/* The side and the weights of a triangle that is hit, of half open edges. */
INLINE void triangle_half_open(const prepared_ray *ray, const triangle_rows *rows, mask *front, real weight[3]) {
  const triangle_shear s = triangle_sheared(ray, rows);
  triangle_edge e[3];
  triangle_edges(&s, e);
  triangle_inside(&s, e, triangle_candidates(e), front, weight);
}

INLINE void triangle_attributes(const prepared_ray *ray, const ray_real v[TRIANGLE_FLOATS], ray_real t, uint rules,
                                ray_hit *hit) {
  (void)t, (void)rules;
  triangle_rows rows;
  UNROLL for (int c = 0; c < 3; c++) UNROLL for (int i = 0; i < 3; i++) {
    const octant_word k = ray->k[i];
    rows.row[c][i] = (real)(k == 0 ? v[3 * c] : k == 1 ? v[3 * c + 1] : v[3 * c + 2]);
  }
  mask front;
  real weight[3];
#if HAS_CLOSED
  if (CLOSED_EDGES(rules))
    closed_weights(ray, &rows, &front, weight);
  else
#endif
    triangle_half_open(ray, &rows, &front, weight);
  hit->u = lanes_first(weight[1]);
  hit->v = lanes_first(weight[2]);
  triangle_normal(ray, v, lanes_first(front), hit->normal);
}

#endif
