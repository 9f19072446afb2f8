/* Closest points: the vector from a point to the closest point of a primitive, by kind. A caller that passes the kind
 * as a constant pays for no other kind. Lanes of which nothing is to be found get NaN or infinity.
 *
 * Primitives are moved to the point first: in what follows the point is the origin. The vector is clamped into the
 * primitive's bounds. So along each axis it is at least as long as the distance to the bounds, and to those of every
 * node that holds them. Subtractions, products, max and fma round monotonically. A node that is strictly farther than
 * what was found can be dropped, and no BVH changes an answer. */
#ifndef MATHS_CLOSEST_H
#define MATHS_CLOSEST_H

#include "maths/primitive.h"

/* A closest point, from the query's point. */
typedef struct closest {
  real to[3]; /* the vector */
  real u, v;
  word feature; /* slab_feature */
} closest;

/* Components below this count as 0, so that no square is subnormal: devices that flush would differ. NaN stays. */
#define CLOSEST_LEAST 0x1p-63f
INLINE real closest_counted(real x) { return lanes_abs(x) < CLOSEST_LEAST ? (real)(0.0f) : x; }

INLINE real closest_square(const real to[3]) { return lanes_fma(to[2], to[2], lanes_fma(to[1], to[1], to[0] * to[0])); }

INLINE real closest_dot(const real a[3], const real b[3]) {
  return lanes_fma(a[2], b[2], lanes_fma(a[1], b[1], a[0] * b[0]));
}

/* The squared distance of bounds, from those of an axis as they are loaded. An unbounded axis gives NaN, which
 * constrains nothing. */
INLINE real closest_of_bounds(const float p[3], const real lower[3], const real upper[3]) {
  real axis[3];
  UNROLL for (int i = 0; i < 3; i++) {
    axis[i] = lanes_max(p[i] - upper[i], lanes_max(lower[i] - p[i], (real)(0.0f)));
    axis[i] = axis[i] < CLOSEST_LEAST ? (real)(0.0f) : axis[i];
  }
  return closest_square(axis);
}

/* Ends a vector: into the bounds, relative to the point. */
INLINE void closest_within(const real lower[3], const real upper[3], real to[3]) {
  UNROLL for (int i = 0; i < 3; i++) to[i] = closest_counted(clamp_into(to[i], lower[i], upper[i]));
}

/* The greatest squared distance whose root is at most r. The root of r r, rounded, is r. At most the next float has
 * that root too: seen for every mantissa, of even and of odd exponents. */
INLINE float closest_limit(float r) {
  if (!(r < 0x1p64f)) return FLOAT_MAX;
  if (r < CLOSEST_LEAST) return 0.0f; /* as no other square is below 2^-126 */
  const float square = r * r, next = scalar_float(scalar_bits(square) + 1);
  return scalar_sqrt(next) <= r ? next : square;
}

/* ---- triangles ---- */

INLINE triangle_rows closest_rows(GLOBAL const float *block) {
  triangle_rows t;
  UNROLL for (int v = 0; v < 3; v++) UNROLL for (int i = 0; i < 3; i++) t.row[v][i] =
      lanes_load(block + (3 * v + i) * STRIDE);
  return t;
}

/* The closest point of an edge, at a share t of the way from a to b. At its ends it is the corner itself, so triangles
 * that share a corner agree. An edge of no length is its first corner: 0 / 0 is NaN, which lanes_max drops. */
typedef struct closest_edge {
  real to[3], t, square;
} closest_edge;

INLINE closest_edge closest_of_edge(const real a[3], const real b[3]) {
  closest_edge e;
  real side[3];
  UNROLL for (int i = 0; i < 3; i++) side[i] = b[i] - a[i];
  const real along = lanes_divide(-closest_dot(a, side), closest_dot(side, side));
  e.t = lanes_min(lanes_max(along, (real)(0.0f)), (real)(1.0f));
  UNROLL for (int i = 0; i < 3; i++) e.to[i] = e.t < 1.0f ? lanes_fma(e.t, side[i], a[i]) : b[i];
  e.square = closest_square(e.to);
  return e;
}

/* a x b. Each component is off by two units in its last place at most: the error of the products is taken back. */
INLINE void closest_cross(const real a[3], const real b[3], real cross[3]) {
  UNROLL for (int i = 0; i < 3; i++) {
    const int j = next_of_three(i), k = next_of_three(j);
    const real q = a[k] * b[j];
    cross[i] = lanes_fma(a[j], b[k], -q) + lanes_fma(-a[k], b[j], q);
  }
}

/* The normal times a power of two: its largest component is in [1, 2). No overflow: sides are at most 2^61 along an
 * axis. 0 stays 0. */
INLINE void closest_normal(const real a[3], const real b[3], const real c[3], real normal[3]) {
  real e[3], f[3], largest = (real)(0.0f);
  UNROLL for (int i = 0; i < 3; i++) {
    e[i] = b[i] - a[i];
    f[i] = c[i] - a[i];
  }
  closest_cross(e, f, normal);
  UNROLL for (int i = 0; i < 3; i++) largest = lanes_max(lanes_abs(normal[i]), largest);
  const word exponent = lanes_as_word(largest) & 0x7F800000u;
  const real factor = lanes_as_real((word)(0x7F000000u) - exponent);
  UNROLL for (int i = 0; i < 3; i++) normal[i] = normal[i] * factor;
}

/* Where the point projects strictly inside of the triangle the plane's point is the closest, else that of the nearest
 * edge. Of several nearest edges it is the first.
 *
 * Error: all is computed of a triangle whose corners are off by a few u of the largest |a|, |b|, |c|, for triangles of
 * any aspect. The normal n is off by little of itself, since the cross product keeps its errors. The weights are n . (b
 * x c) and so on, of the same n. Where rounding calls a point inside that is not, the point is beside the edge by some
 * u of its distance from it. Up to that, the plane is as near as the edge. */
INLINE void triangle_closest(const float p[3], GLOBAL const float *block, closest *at) {
  const triangle_rows rows = closest_rows(block);
  real corner[3][3], lower[3], upper[3], normal[3], weight[3];
  triangle_bounds(&rows, lower, upper);
  UNROLL for (int i = 0; i < 3; i++) {
    UNROLL for (int v = 0; v < 3; v++) corner[v][i] = rows.row[v][i] - p[i];
    lower[i] = lower[i] - p[i];
    upper[i] = -(p[i] - upper[i]); /* as closest_of_bounds has it: computed once */
  }
  closest_edge nearest = closest_of_edge(corner[0], corner[1]);
  real of_b = nearest.t, of_c = (real)(0.0f);
  UNROLL for (int v = 1; v < 3; v++) {
    const closest_edge e = closest_of_edge(corner[v], corner[next_of_three(v)]);
    const mask nearer = e.square < nearest.square;
    UNROLL for (int i = 0; i < 3; i++) nearest.to[i] = nearer ? e.to[i] : nearest.to[i];
    nearest.square = nearer ? e.square : nearest.square;
    nearest.t = nearer ? e.t : nearest.t;
    of_b = nearer ? (v == 1 ? (real)(1.0f) - e.t : (real)(0.0f)) : of_b;
    of_c = nearer ? (v == 1 ? e.t : (real)(1.0f) - e.t) : of_c;
  }
  closest_normal(corner[0], corner[1], corner[2], normal);
  mask inside = normal[0] == normal[0];
  UNROLL for (int v = 0; v < 3; v++) {
    real cross[3];
    const int next = next_of_three(v);
    closest_cross(corner[next], corner[next_of_three(next)], cross);
    weight[v] = closest_dot(normal, cross);
    inside = inside & (weight[v] > 0.0f);
  }
  const real depth = lanes_divide(closest_dot(corner[0], normal), closest_dot(normal, normal));
  const real sum = (weight[0] + weight[1]) + weight[2];
  UNROLL for (int i = 0; i < 3; i++) at->to[i] = inside ? normal[i] * depth : nearest.to[i];
  closest_within(lower, upper, at->to);
  at->to[0] = TRIANGLE_IS_VOID(rows.row[0][0]) ? (real)(INFINITY) : at->to[0];
  at->u = inside ? lanes_divide(weight[1], sum) : of_b;
  at->v = inside ? lanes_divide(weight[2], sum) : of_c;
  const mask ends = (nearest.t == 0.0f) | (nearest.t == 1.0f);
  const word of_edge = ends ? (word)(SLAB_FEATURE_VERTEX) : (word)(SLAB_FEATURE_EDGE);
  at->feature = inside ? (word)(SLAB_FEATURE_FACE) : of_edge;
}

/* ---- solids: the closest point of their surface, from inside too ---- */

/* A sphere as a point sees it: the vector to its centre and how long that is, its radius and its padded bounds. */
typedef struct sphere_seen {
  real from[3], length, radius, lower[3], upper[3];
} sphere_seen;

INLINE void sphere_see(const float p[3], GLOBAL const float *block, sphere_seen *s) {
  real center[3];
  s->radius = lanes_load(block + 3 * STRIDE);
  UNROLL for (int i = 0; i < 3; i++) {
    center[i] = lanes_load(block + i * STRIDE);
    s->from[i] = closest_counted(center[i] - p[i]);
  }
  sphere_padded_bounds(center, s->radius, s->lower, s->upper);
  s->length = lanes_sqrt(closest_square(s->from));
}

/* From the centre of a sphere it is along x. */
INLINE void sphere_closest(const float p[3], GLOBAL const float *block, closest *at) {
  sphere_seen s;
  sphere_see(p, block, &s);
  const mask apart = s.length > 0.0f;
  const real share = lanes_divide(s.length - s.radius, apart ? s.length : (real)(1.0f));
  UNROLL for (int i = 0; i < 3; i++) {
    at->to[i] = apart ? s.from[i] * share : (i == 0 ? s.radius : (real)(0.0f));
    s.lower[i] = s.lower[i] - p[i];
    s.upper[i] = s.upper[i] - p[i];
  }
  closest_within(s.lower, s.upper, at->to);
  at->u = at->v = (real)(0.0f);
  at->feature = (word)(SLAB_FEATURE_FACE);
}

/* The surface of a box whose planes are given from the point. From inside, the border included, it is on the nearest
 * face, of several the lowest. Infinite faces do not count. Inverted boxes give NaN. */
INLINE void closest_of_box(const real lower[3], const real upper[3], closest *at) {
  real least = (real)(INFINITY), face = (real)(0.0f), beside = (real)(0.0f), axes = (real)(0.0f), inner[3];
  UNROLL for (int i = 0; i < 3; i++) inner[i] = (real)(INFINITY);
  UNROLL for (int i = 2; i >= 0; i--) {
    at->to[i] = lanes_max(lower[i], (real)(0.0f)) + lanes_min(upper[i], (real)(0.0f));
    const mask away = at->to[i] != 0.0f;
    const real side = upper[i] < 0.0f ? (real)(2.0f * (float)i + 1.0f) : (real)(2.0f * (float)i);
    beside = away ? side : beside;
    axes = away ? axes + 1.0f : axes;
  }
  const mask inside = axes == 0.0f;
  UNROLL for (int f = 0; f < 6; f++) {
    const real plane = f % 2 == 0 ? lower[f / 2] : upper[f / 2];
    const mask nearer = lanes_abs(plane) < least;
    least = nearer ? lanes_abs(plane) : least;
    face = nearer ? (real)((float)f) : face;
    UNROLL for (int i = 0; i < 3; i++) {
      const real along = i == f / 2 ? plane : (real)(0.0f);
      inner[i] = nearer ? along : inner[i];
    }
  }
  UNROLL for (int i = 0; i < 3; i++) at->to[i] = inside ? inner[i] : at->to[i];
  at->u = inside ? face : beside;
  at->v = (real)(0.0f);
  const word cornered = axes == 3.0f ? (word)(SLAB_FEATURE_VERTEX) : (word)(SLAB_FEATURE_EDGE);
  at->feature = axes >= 2.0f ? cornered : (word)(SLAB_FEATURE_FACE);
}

INLINE void box_closest(const float p[3], GLOBAL const float *block, closest *at) {
  real lower[3], upper[3];
  UNROLL for (int i = 0; i < 3; i++) {
    lower[i] = lanes_load(block + i * STRIDE) - p[i];
    upper[i] = lanes_load(block + (i + 3) * STRIDE) - p[i];
  }
  closest_of_box(lower, upper, at);
  UNROLL for (int i = 0; i < 3; i++) at->to[i] = closest_counted(at->to[i]);
}

/* Where a point is along the axes of a box, from its centre. */
INLINE void obb_place(const float p[3], const obb_lanes *box, real place[3]) {
  real from[3];
  UNROLL for (int i = 0; i < 3; i++) from[i] = p[i] - box->center[i];
  UNROLL for (int i = 0; i < 3; i++) place[i] =
      (from[0] * box->axes[i][0] + from[1] * box->axes[i][1]) + from[2] * box->axes[i][2];
}

/* In the frame of the box; back by the transpose of its axes. */
INLINE void obb_closest(const float p[3], GLOBAL const float *block, closest *at) {
  const obb_lanes box = obb_load(block);
  real place[3], lower[3], upper[3];
  obb_place(p, &box, place);
  UNROLL for (int i = 0; i < 3; i++) {
    lower[i] = -box.half_size[i] - place[i];
    upper[i] = box.half_size[i] - place[i];
  }
  closest in_frame;
  closest_of_box(lower, upper, &in_frame);
  obb_padded_bounds(&box, lower, upper);
  UNROLL for (int i = 0; i < 3; i++) {
    at->to[i] = (in_frame.to[0] * box.axes[0][i] + in_frame.to[1] * box.axes[1][i]) + in_frame.to[2] * box.axes[2][i];
    lower[i] = lower[i] - p[i];
    upper[i] = upper[i] - p[i];
  }
  closest_within(lower, upper, at->to);
  at->u = in_frame.u;
  at->v = in_frame.v;
  at->feature = in_frame.feature;
}

/* ---- planes ---- */

INLINE void plane_closest(const float p[3], GLOBAL const float *block, closest *at) {
  real n[3];
  UNROLL for (int i = 0; i < 3; i++) n[i] = lanes_load(block + i * STRIDE);
  const real share = lanes_divide(lanes_load(block + 3 * STRIDE) - plane_dot(n, p), closest_dot(n, n));
  UNROLL for (int i = 0; i < 3; i++) at->to[i] = closest_counted(n[i] * share);
  at->u = at->v = (real)(0.0f);
  at->feature = (word)(SLAB_FEATURE_FACE);
}

/* ---- any kind ---- */

INLINE void primitive_closest(const uint kind, const float p[3], GLOBAL const float *block, closest *at) {
#define CLOSEST_OF(shape, name, names, noun, floats, form, place, source) \
  if (HAS_KIND(shape) && kind == shape) name##_closest(p, block, at);
  SHAPES(CLOSEST_OF)
#undef CLOSEST_OF
}

/* ---- answers ---- */

INLINE slab_closest_point closest_none(uint why) {
  const slab_closest_point none = {INFINITY, {0.0f, 0.0f, 0.0f}, 0.0f, 0.0f, 0, why, why};
  return none;
}

/* ---- instances ---- */

/* The point in the space of an instance's model: B (p - place). False where it is beyond 2^60 there. */
INLINE bool closest_inside(const float p[3], GLOBAL const instance_entry *of, float inner[3]) {
  float from[3];
  UNROLL for (int i = 0; i < 3; i++) from[i] = p[i] - of->place[i];
  UNROLL for (int i = 0; i < 3; i++) inner[i] =
      (of->inverse[3 * i] * from[0] + of->inverse[3 * i + 1] * from[1]) + of->inverse[3 * i + 2] * from[2];
  return point_is_valid(inner);
}

/* A squared distance in a model as the scene or model outside has it. gate: that of the instance's gate there.
 * Primitives that are never found have NaN, which stays: lanes_max may drop it. */
INLINE real closest_outside(real square, float scale, float gate) {
  square = square * scale;
  square = square < FLOAT_MIN_NORMAL ? (real)(0.0f) : square;
  square = square * scale;
  square = square < FLOAT_MIN_NORMAL ? (real)(0.0f) : square;
  return square < gate ? (real)(gate) : square;
}

/* A vector in a model as the scene or model outside has it: A v, where A = scale^2 transpose(B). */
INLINE void closest_turned(GLOBAL const instance_entry *of, float v[3]) {
  float turned[3];
  UNROLL for (int i = 0; i < 3; i++) turned[i] =
      ((of->inverse[i] * v[0] + of->inverse[3 + i] * v[1]) + of->inverse[6 + i] * v[2]) * of->scale * of->scale;
  UNROLL for (int i = 0; i < 3; i++) v[i] = turned[i];
}

#endif
