/* Triangles with closed edges: a triangle is hit where the line of the prepared ray meets it, exactly.
 *
 * Half open edges take signs at the vertices as the shear rounds them, so that every crossing counts once. Between
 * these and the line itself is only the rounding of the shear. So an edge function beyond that error decides; where one
 * of the three is within it whole numbers do (touch.h). */
#ifndef MATHS_CLOSED_H
#define MATHS_CLOSED_H

/* Whether a program has closed edges, and whether a cast wants them. Packets have half open edges alone. A program of
 * OpenCL at one lane, as GPUs get it, is for one of the two (program.c). The programs of the user's kernels and of
 * QUERY_TOLD, which is compiled ahead, are for both. */
#if defined(SLAB_PACKET) && !defined(SLAB_APART)
#define HAS_CLOSED 0
#elif defined(SLAB_CLOSED)
#define HAS_CLOSED 1
#define CLOSED_EDGES(rules) ((void)(rules), true)
#elif defined(__OPENCL_C_VERSION__) && !defined(SLAB_NATIVE) && !defined(SLAB_TRACE) && LANES == 1 && \
    SLAB_QUERY != QUERY_TOLD
#define HAS_CLOSED 0
#else
#define HAS_CLOSED 1
#ifdef __GNUC__
#define CLOSED_EDGES(rules) __builtin_expect(((rules)&RULE_CLOSED) != 0, 0)
#else
#define CLOSED_EDGES(rules) (((rules)&RULE_CLOSED) != 0)
#endif
#endif

/* Called, not inlined, where few casts need it: so programs are built as fast as without. */
#if !defined(__OPENCL_C_VERSION__) || defined(SLAB_NATIVE) || defined(SLAB_CLOSED) || LANES == 1
#define CLOSED_CALLED INLINE
#elif SLAB_RAY_PAIRS > 1 || defined(SLAB_PACKET)
#define CLOSED_CALLED static __attribute__((noinline, overloadable))
#else
#define CLOSED_CALLED static __attribute__((noinline))
#endif

#include "maths/touch.h"

#if HAS_CLOSED

/* The direction, in the order of the shear. */
INLINE ray_real closed_along(const prepared_ray *ray, int i) {
  return on_axis(ray->k[i], ray->direction[0], ray->direction[1], ray->direction[2]);
}

/* How far a sheared coordinate is from that of the exact shear, at most. With X and Z the rounded differences and S the
 * rounded shear it is fma(-S, Z, X). X is off by u |X|, S Z by 2u |S Z|, the result by u (|X| + |S Z|): together less
 * than 3u (|X| + |S Z|). This bound has 5u; closed_errors uses the rest. 2^-124 covers what is lost below the normal
 * numbers. */
INLINE real closed_coordinate_error(real x, real z, ray_real shear) {
  const real faint = (real)(0x1p-124f), share = (real)(0x1.4p-22f);
  return lanes_fma(lanes_abs(z), lanes_fma(lanes_abs((real)(shear)), share, faint),
                   lanes_fma(lanes_abs(x), share, faint));
}

/* How far the rounded difference of each edge function is from that of the exact shear, at most. Rounding the products
 * p and q and their difference adds 2u (|p| + |q|). The 2u to spare in the error of each coordinate give 4u. */
INLINE void closed_errors(const prepared_ray *ray, const triangle_rows *rows, const triangle_shear *s, real error[3]) {
  real x[3], y[3];
  UNROLL for (int v = 0; v < 3; v++) {
    x[v] = closed_coordinate_error(rows->row[v][0] - ray->shear_origin[0], s->z[v], ray->shear[0]);
    y[v] = closed_coordinate_error(rows->row[v][1] - ray->shear_origin[1], s->z[v], ray->shear[1]);
  }
  UNROLL for (int vertex = 0; vertex < 3; vertex++) {
    const int i = next_of_three(vertex), j = next_of_three(i);
    const real q = lanes_fma(lanes_abs(s->y[j]) + y[j], x[i], lanes_fma(lanes_abs(s->x[i]), y[j], (real)(0x1p-120f)));
    error[vertex] = lanes_fma(lanes_abs(s->x[j]) + x[j], y[i], lanes_fma(lanes_abs(s->y[i]), x[j], q));
  }
}

/* Where a line meets triangles, if it does: from which side, at which weights of the vertices, and at which t. */
typedef struct closed_met {
  mask hit, front;
  real weight[3], t;
} closed_met;

/* Lanes one by one. */
typedef union closed_lanes {
  real all;
  float lane[sizeof(real) / sizeof(float)];
} closed_lanes;

INLINE float closed_lane(real v, uint lane) {
  closed_lanes lanes;
  lanes.all = v;
  return lanes.lane[lane];
}

INLINE void closed_touch(const prepared_ray *ray, const triangle_rows *rows, uint lane, touch *met) {
  float origin[3], along[3], corner[3][3];
  for (int i = 0; i < 3; i++) {
    origin[i] = closed_lane((real)(ray->shear_origin[i]), lane);
    along[i] = closed_lane((real)(closed_along(ray, i)), lane);
    for (int v = 0; v < 3; v++) corner[v][i] = closed_lane(rows->row[v][i], lane);
  }
  slab_touch(origin, along, corner, met);
}

/* Replaces the results of rounded edge functions by those of whole numbers, in some lanes, as bits. There the weight of
 * a is not set: u, v and t come from whole numbers too. */
INLINE void closed_meet_exactly(const prepared_ray *ray, const triangle_rows *rows, uint some, closed_met *met) {
  closed_lanes u, v, t, side;
  u.all = met->weight[1], v.all = met->weight[2], t.all = met->t;
  side.all = met->hit ? (met->front ? (real)(1.0f) : (real)(-1.0f)) : (real)(0.0f);
  for (; some != 0; some &= some - 1) {
    const uint lane = lowest_lane(some);
    touch one;
    closed_touch(ray, rows, lane, &one);
    u.lane[lane] = one.u, v.lane[lane] = one.v, t.lane[lane] = one.t, side.lane[lane] = (float)one.side;
  }
  met->hit = side.all != 0.0f;
  met->front = side.all > 0.0f;
  met->weight[1] = u.all, met->weight[2] = v.all, met->t = t.all;
}

/* The least and the greatest of the edge functions: each at the low and at the high end of its error. */
typedef struct closed_range {
  real least_low, least_high, most_low, most_high;
} closed_range;

INLINE closed_range closed_range_of(const triangle_edge e[3], const real error[3]) {
  closed_range r;
  real low[3], high[3];
  UNROLL for (int i = 0; i < 3; i++) {
    low[i] = e[i].difference - error[i];
    high[i] = e[i].difference + error[i];
  }
  triangle_range(low, &r.least_low, &r.most_low);
  triangle_range(high, &r.least_high, &r.most_high);
  return r;
}

/* Whether the three certainly have one sign, within their errors; and whether they may. */
INLINE mask closed_agree(const closed_range *r) { return (r->least_low > 0.0f) | (r->most_high < 0.0f); }
INLINE mask closed_may_agree(const closed_range *r) { return (r->least_high >= 0.0f) | (r->most_low <= 0.0f); }

/* Of the ray it reads shear_origin, shear, shear_inverse, direction and k. */
INLINE void closed_meet(const prepared_ray *ray, const triangle_rows *rows, closed_met *met) {
  const triangle_shear s = triangle_sheared(ray, rows);
  triangle_edge e[3];
  real error[3], value[3];
  triangle_edges(&s, e);
  closed_errors(ray, rows, &s, error);
  UNROLL for (int i = 0; i < 3; i++) value[i] = triangle_value(&e[i], triangle_residual(&s, i, &e[i]));
  const closed_range range = closed_range_of(e, error);
  met->front = range.least_low > 0.0f;
  met->hit = closed_agree(&range);
  const mask near = (!met->hit) & closed_may_agree(&range);
  triangle_weights(value, met->front, met->weight);
  met->t = triangle_depth(ray, &s, met->weight);
  if (lanes_any(near)) closed_meet_exactly(ray, rows, lanes_bits(near), met);
}

/* ---- blocks ---- */

/* A ray as functions read it that are compiled once for all kernels: in the order of the shear. */
typedef struct closed_line {
  float origin[3], inverse[3], shear[2], along[3], t_min, limit;
  uint k[3];
} closed_line;

#if defined(SLAB_NATIVE) && !defined(CLOSED_HERE)
#if LANES > 1
#define CLOSED_LANES 8
#define CLOSED_BLOCK NATIVE_CLOSED /* closed.cl, of the level's width */
#else
#define CLOSED_LANES 1
#define CLOSED_BLOCK slab_closed_block /* host/shapes/exact.c */
#endif
void CLOSED_BLOCK(const closed_line *line, const float *block, uint stride, uint rules, float *t, uint *hit);
void slab_closed_met(const closed_line *line, const float *corners, touch *met);
#endif

#ifndef SLAB_PACKET

INLINE closed_line closed_line_of(const prepared_ray *ray, float limit) {
  closed_line l;
  l.t_min = ray->t_min;
  l.limit = limit;
  UNROLL for (int i = 0; i < 3; i++) {
    l.origin[i] = ray->shear_origin[i];
    l.inverse[i] = ray->shear_inverse[i];
    l.along[i] = closed_along(ray, i);
    l.k[i] = ray->k[i];
    if (i < 2) l.shear[i] = ray->shear[i];
  }
  return l;
}

/* The part of the ray that the tests read. */
INLINE prepared_ray closed_ray(const closed_line *line) {
  prepared_ray ray = {0};
  ray.t_min = line->t_min;
  UNROLL for (int i = 0; i < 3; i++) {
    ray.k[i] = (uint)i;
    ray.shear_origin[i] = line->origin[i];
    ray.shear_inverse[i] = line->inverse[i];
    ray.direction[i] = line->along[i];
    if (i < 2) ray.shear[i] = line->shear[i];
  }
  return ray;
}

/* The test of triangles of a block whose rows are `stride` floats apart. */
INLINE mask closed_hits(const closed_line *line, GLOBAL const float *block, uint stride, uint rules, real *t) {
  const prepared_ray ray = closed_ray(line);
  triangle_rows rows;
  closed_met met;
  UNROLL for (int v = 0; v < 3; v++) UNROLL for (int i = 0; i < 3; i++) rows.row[v][i] =
      lanes_load(block + (3 * (uint)v + line->k[i]) * stride);
  closed_meet(&ray, &rows, &met);
  *t = met.t;
  return triangle_accepted(&ray, &rows, met.hit, met.front, line->limit, rules, t);
}

CLOSED_CALLED mask closed_surface(const prepared_ray *ray, GLOBAL const float *block, float limit, uint rules,
                                  real *t) {
  const closed_line line = closed_line_of(ray, limit);
#ifdef CLOSED_BLOCK
  float times[LANES];
  uint hits[LANES];
  for (uint i = 0; i < LANES; i += CLOSED_LANES) CLOSED_BLOCK(&line, block + i, STRIDE, rules, times + i, hits + i);
#if LANES > 1
  *t = lanes_from(times);
  return lanes_from(hits) != 0;
#else
  *t = times[0];
  return (mask)hits[0];
#endif
#else
  return closed_hits(&line, block, STRIDE, rules, t);
#endif
}

#endif

/* The side and the weights of triangles that are hit. */
INLINE void closed_weights(const prepared_ray *ray, const triangle_rows *rows, mask *front, real weight[3]) {
#if defined(CLOSED_BLOCK) && !defined(SLAB_PACKET)
  const closed_line line = closed_line_of(ray, 0.0f);
  float corners[TRIANGLE_FLOATS];
  touch met;
  UNROLL for (int v = 0; v < 3; v++) UNROLL for (int i = 0; i < 3; i++) corners[3 * v + i] =
      closed_lane(rows->row[v][i], 0);
  slab_closed_met(&line, corners, &met);
  *front = (real)((float)met.side) > 0.0f;
  weight[1] = (real)(met.u), weight[2] = (real)(met.v);
#else
  closed_met met;
  closed_meet(ray, rows, &met);
  *front = met.front;
  weight[1] = met.weight[1], weight[2] = met.weight[2];
#endif
}

#endif
#endif
