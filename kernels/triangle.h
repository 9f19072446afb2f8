/* Triangles: Woop, Benthin, Wald 2013, "Watertight ray/triangle intersection", with exact edge signs. */
#ifndef TRIANGLE_H
#define TRIANGLE_H

#include "gate.h"

/* Vertices with the ray at the origin of shear space: x and y across the ray, z along its largest axis.
 * Each depends on one vertex alone, so triangles that share a vertex see it alike, to the bit. */
typedef struct triangle_shear {
  real x[3], y[3], z[3];
} triangle_shear;

/* One edge function at the ray: p - q is a product difference with rounding errors ep - eq. Where the rounded
 * difference is not zero its sign is exact, since rounding is monotone; where it is zero p = q, and the sign is that of
 * ep - eq, both exact by fma while nonzero products stay above 2^-102. */
typedef struct triangle_edge {
  real p, q, difference;
} triangle_edge;

/* Vertices in shear order: row[v][i] is axis k[i] of vertex v. */
typedef struct triangle_rows {
  real row[3][3];
} triangle_rows;

INLINE triangle_rows triangle_load(const ray_frame *ray, GLOBAL const float *block) {
  triangle_rows t;
  UNROLL for (int v = 0; v < 3; v++) UNROLL for (int i = 0; i < 3; i++) t.row[v][i] =
      lanes_load(block + (3 * v + (int)ray->k[i]) * STRIDE);
  return t;
}

INLINE triangle_shear triangle_sheared(const ray_frame *ray, const triangle_rows *t) {
  triangle_shear s;
  UNROLL for (int v = 0; v < 3; v++) {
    s.z[v] = t->row[v][2] - ray->shear_origin[2];
    s.x[v] = lanes_fma((real)(-ray->shear[0]), s.z[v], t->row[v][0] - ray->shear_origin[0]);
    s.y[v] = lanes_fma((real)(-ray->shear[1]), s.z[v], t->row[v][1] - ray->shear_origin[1]);
  }
  return s;
}

/* Twice the area of the origin and the edge from vertex i to vertex j. */
INLINE triangle_edge triangle_edge_of(const triangle_shear *s, int i, int j) {
  triangle_edge e;
  e.p = s->x[j] * s->y[i];
  e.q = s->y[j] * s->x[i];
  e.difference = e.p - e.q;
  return e;
}

INLINE real triangle_residual(const triangle_shear *s, int i, int j, const triangle_edge *e) {
  return lanes_fma(s->x[j], s->y[i], -e->p) - lanes_fma(s->y[j], s->x[i], -e->q);
}

/* A number with the exact sign of the edge function. Exactly on the edge it is the sign just beside it, at
 * (+h, +h^2) for h -> 0: the rasteriser's top-left rule, which gives a point on a shared edge or vertex to one side
 * whatever the winding. */
INLINE real triangle_sign(const triangle_shear *s, int i, int j, real difference, real residual) {
  real rise = s->y[j] - s->y[i], run = s->x[i] - s->x[j];
  real beside = rise != 0.0f ? rise : run;
  real exact = residual != 0.0f ? residual : beside;
  return difference != 0.0f ? difference : exact;
}

/* Bounds in shear order, and the gate: bounds padded by 2^-19 of the longest side.
 *
 * Why that holds what the test accepts. Let D be the distance to the hit along an axis, s the longest side, X and Z the
 * rounded vertex differences, which the slab test shares. The test sees vertices X - S Z with S off by a factor
 * 1 + u and one rounding of the fused result, which is at most about 2s when the ray passes the triangle: an error of
 * u |S Z| + 2us <= u D + 3us a vertex, so of u D + 3us for any point of the triangle. The slab test is off by 2u D on
 * either side (product and reciprocal). Between the entering and the leaving axis that is at most 2(2 + 1)u D + 6us
 * plus terms in u^2; the widening gives 8u D, the pad 32us on either side. */
INLINE void triangle_bounds(const triangle_rows *t, real lower[3], real upper[3]) {
  UNROLL for (int i = 0; i < 3; i++) {
    lower[i] = lanes_min(lanes_min(t->row[0][i], t->row[1][i]), t->row[2][i]);
    upper[i] = lanes_max(lanes_max(t->row[0][i], t->row[1][i]), t->row[2][i]);
  }
}

INLINE void triangle_gate(real lower[3], real upper[3]) {
  real side = upper[0] - lower[0];
  UNROLL for (int i = 1; i < 3; i++) side = lanes_max(upper[i] - lower[i], side);
  UNROLL for (int i = 0; i < 3; i++) {
    lower[i] = gate_lower(lower[i], side * 0x1p-19f);
    upper[i] = gate_upper(upper[i], side * 0x1p-19f);
  }
}

/* Of the lanes in hit: clamps t into the bounds, then into the gate; false where the gate is not touched. Its stretch
 * contains that of the bounds. So where the ray is within the bounds for a stretch, the gate leaves t as it is, and is
 * touched if t is in range: it is worked out only where rounding leaves no such stretch. */
INLINE mask triangle_pass_gate(const ray_frame *ray, const triangle_rows *rows, mask hit, ray_real limit, real *t) {
  real lower[3], upper[3], lo, leave, hi;
  triangle_bounds(rows, lower, upper);
  bounds_stretch(ray->shear_origin, ray->shear_inverse, lower, upper, &lo, &leave, &hi);
  *t = clamp_into(*t, lo, hi);
  if (!lanes_any(hit & (leave < lo))) return hit;
  triangle_gate(lower, upper);
  bounds_stretch(ray->shear_origin, ray->shear_inverse, lower, upper, &lo, &leave, &hi);
  *t = clamp_into(*t, lo, hi);
  return slab_touches(lo, leave, ray->t_min, limit);
}

/* Weights of the three vertices from the compensated edge functions, of either winding; never NaN, since 0/0 becomes 0.
 * Only hits come here, so all three have one sign, which rounding must not undo. */
INLINE void triangle_weights(const real value[3], mask front, real weight[3]) {
  real sum = (real)(0.0f);
  UNROLL for (int i = 0; i < 3; i++) {
    weight[i] = lanes_max(front ? value[i] : -value[i], (real)(0.0f));
    sum = sum + weight[i];
  }
  real inverse = lanes_divide((real)(1.0f), sum);
  UNROLL for (int i = 0; i < 3; i++) weight[i] = lanes_min(lanes_max(weight[i] * inverse, (real)(0.0f)), (real)(1.0f));
}

/* The least and the most of three numbers. */
INLINE void triangle_range(const real value[3], real *least, real *most) {
  *least = lanes_min(lanes_min(value[0], value[1]), value[2]);
  *most = lanes_max(lanes_max(value[0], value[1]), value[2]);
}

/* Lanes whose edge functions have one sign, by the rounded differences alone: no lane is lost. */
INLINE mask triangle_candidates(const triangle_edge e[3]) {
  const real value[3] = {e[0].difference, e[1].difference, e[2].difference};
  real least, most;
  triangle_range(value, &least, &most);
  return (least >= 0.0f) | (most <= 0.0f);
}

/* weight[i] belongs to vertex i: its edge function is that of the other two. */
INLINE void triangle_edges(const triangle_shear *s, triangle_edge e[3]) {
  e[0] = triangle_edge_of(s, 1, 2);
  e[1] = triangle_edge_of(s, 2, 0);
  e[2] = triangle_edge_of(s, 0, 1);
}

/* Exact, of the candidates: which are hit, which of them from the front, and the weights of their vertices. The signs
 * of differences do but for a ray that meets an edge, where one is zero. */
INLINE mask triangle_inside(const triangle_shear *s, const triangle_edge e[3], mask candidates, mask *front,
                            real weight[3]) {
  real sign[3], residual[3], value[3], least, most;
  UNROLL for (int i = 0; i < 3; i++) {
    residual[i] = triangle_residual(s, i == 2 ? 0 : i + 1, i == 0 ? 2 : i - 1, &e[i]);
    sign[i] = e[i].difference;
    value[i] = e[i].difference + residual[i];
  }
  triangle_range(sign, &least, &most);
  if (lanes_any(candidates & !((least > 0.0f) | (most < 0.0f)))) {
    UNROLL for (int i = 0; i < 3; i++) sign[i] =
        triangle_sign(s, i == 2 ? 0 : i + 1, i == 0 ? 2 : i - 1, e[i].difference, residual[i]);
    triangle_range(sign, &least, &most);
  }
  *front = least > 0.0f;
  triangle_weights(value, *front, weight);
  return candidates & (*front | (most < 0.0f));
}

INLINE mask triangle_met(const ray_frame *ray, const triangle_rows *rows, ray_real limit, uint cull, real *t) {
  triangle_shear s = triangle_sheared(ray, rows);
  triangle_edge e[3];
  triangle_edges(&s, e);
  mask hit = triangle_candidates(e), front;
  if (!lanes_any(hit)) return hit;
  real weight[3];
  hit = triangle_inside(&s, e, hit, &front, weight);
  if (cull == SLAB_CULL_BACK) hit = hit & front;
  if (cull == SLAB_CULL_FRONT) hit = hit & !front;
  *t = (weight[0] * (s.z[0] * ray->shear_inverse[2]) + weight[1] * (s.z[1] * ray->shear_inverse[2])) +
       weight[2] * (s.z[2] * ray->shear_inverse[2]);
  hit = hit & triangle_pass_gate(ray, rows, hit, limit, t);
  return hit & (*t >= ray->t_min) & (*t <= limit);
}

INLINE mask triangle_surface(const ray_frame *ray, GLOBAL const float *block, ray_real limit, uint cull, real *t) {
  const triangle_rows rows = triangle_load(ray, block);
  return triangle_met(ray, &rows, limit, cull, t);
}

/* The vertices' own plane: edges scaled by a power of two, cross product with its rounding errors kept, so that tiny
 * triangles and needles have a normal. What still has none gets one along the ray, by the side that was hit. */
INLINE void triangle_normal(const ray_frame *ray, const ray_real v[TRIANGLE_ROWS], ray_mask front, ray_real normal[3]) {
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
    int j = i == 2 ? 0 : i + 1, k = i == 0 ? 2 : i - 1;
    ray_real p = e1[j] * e2[k], q = e1[k] * e2[j];
    n[i] = (p - q) + (lanes_fma(e1[j], e2[k], -p) - lanes_fma(e1[k], e2[j], -q));
  }
  ray_mask lacks = !unit_vector(n, normal);
  normal_against(ray, lacks, normal);
  UNROLL for (int i = 0; i < 3; i++) normal[i] = (lacks & !front) ? -normal[i] : normal[i];
}

INLINE void triangle_attributes(const ray_frame *ray, const ray_real v[TRIANGLE_ROWS], ray_hit *hit) {
  triangle_rows rows;
  UNROLL for (int c = 0; c < 3; c++) UNROLL for (int i = 0; i < 3; i++) {
    const uint k = ray->k[i];
    rows.row[c][i] = (real)(k == 0 ? v[3 * c] : k == 1 ? v[3 * c + 1] : v[3 * c + 2]);
  }
  triangle_shear s = triangle_sheared(ray, &rows);
  triangle_edge e[3];
  triangle_edges(&s, e);
  mask front;
  real weight[3];
  triangle_inside(&s, e, triangle_candidates(e), &front, weight);
  hit->u = lanes_first(weight[1]);
  hit->v = lanes_first(weight[2]);
  triangle_normal(ray, v, lanes_first(front), hit->normal);
}

#endif
