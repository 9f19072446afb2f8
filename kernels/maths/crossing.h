/* Whether a ray along z crosses a triangle, exactly, and on which side of an edge it passes.
 *
 * Signs are exact, of the coordinates as they are. Where one is 0 it is that of the point moved by (e, e^2, -d), with
 * d far above e and both as small as need be. So a point on an edge, a vertex or a face has the answer of a point
 * beside it, the same one for every triangle.
 *
 * Rounded numbers decide where they are beyond their error. Where one is not, whole numbers do (whole.h). */
#ifndef MATHS_CROSSING_H
#define MATHS_CROSSING_H

#include "lanes/lanes.h"
#include "maths/whole.h"

/* Edge functions: with X and Y the rounded differences, X_a Y_b - Y_a X_b. Each difference is off by u of itself, each
 * product by u more, and so is the last difference. Together the error is less than 4 u (|X_a Y_b| + |Y_a X_b|) with u
 * = 2^-24. This bound has 8 u. 2^-100 covers what is lost below the normal numbers. */
#define CROSSING_ERROR 0x1p-21f
#define CROSSING_FAINT 0x1p-100f

/* ---- one triangle ---- */

#if !defined(__OPENCL_C_VERSION__) || defined(SLAB_NATIVE)
/* Once for the library: host/shapes/exact.c. */
int slab_crosses(const float p[3], float corner[3][3]);
int slab_side(const float p[3], float ends[2][3]);
#define CROSSING_FUNCTION int
#else
#define CROSSING_FUNCTION static __attribute__((noinline, unused)) int /* a program may need one of the two */
#endif

#if HAS_WHOLE

/* 1 or -1 by the sign of a number that is off by at most `error`; 0: it cannot tell. */
INLINE int crossing_sign(float value, float error) { return value > error ? 1 : value < -error ? -1 : 0; }

/* The sign of the edge function of a to b, where it is 0 at the point itself. 0: a and b are one above the other. */
INLINE int crossing_tie(const float a[3], const float b[3]) {
  if (a[1] != b[1]) return a[1] > b[1] ? 1 : -1;
  return b[0] > a[0] ? 1 : b[0] < a[0] ? -1 : 0;
}

/* Whether a - p is the float d (Knuth). */
INLINE bool crossing_is_exact(float a, float p, float d) {
  const float back = a - d, there = d + back;
  return (a - there) + (back - p) == 0.0f;
}

/* The differences of a triangle's corners from a point. exact: those of x and y are not rounded. */
typedef struct crossing {
  float at[3][3];
  bool exact;
} crossing;

PART void crossing_begin(const float p[3], float corner[3][3], crossing *c) {
  c->exact = true;
  for (int v = 0; v < 3; v++)
    for (int i = 0; i < 3; i++) {
      c->at[v][i] = corner[v][i] - p[i];
      c->exact = c->exact && (i == 2 || crossing_is_exact(corner[v][i], p[i], c->at[v][i]));
    }
}

/* An edge function, the size of its products, and its sign. */
typedef struct crossing_edge {
  float value, size;
  int sign;
} crossing_edge;

#define CROSSING_UNSURE 2

/* The edge function of the edge facing a corner. Where differences are exact, so are products with their residuals. But
 * residuals of products below 2^-100 may have lost the bits that decide. */
PART crossing_edge crossing_edge_of(const crossing *c, int vertex) {
  const int i = next_of_three(vertex), j = next_of_three(i);
  const float *a = c->at[i], *b = c->at[j];
  const float m = a[0] * b[1], n = a[1] * b[0];
  crossing_edge e = {m - n, lanes_abs(m) + lanes_abs(n), 0};
  const float error = lanes_fma(e.size, CROSSING_ERROR, CROSSING_FAINT);
  const bool is_zero = (a[0] == 0.0f || b[1] == 0.0f) && (a[1] == 0.0f || b[0] == 0.0f);
  e.sign = crossing_sign(e.value, error);
  if (e.sign != 0 || (c->exact && is_zero)) return e;
  e.sign = CROSSING_UNSURE;
  if (c->exact && e.size >= CROSSING_FAINT)
    e.sign = crossing_sign(e.value + (lanes_fma(a[0], b[1], -m) - lanes_fma(a[1], b[0], -n)), 0.0f);
  return e;
}

/* The signs that whole numbers decide: of the edge functions, and of the height at which the plane of the triangle
 * passes the point. */
typedef struct crossing_signs {
  int edge[3], height;
} crossing_signs;

PART void crossing_exactly(const float p[3], float corner[3][3], crossing_signs *signs) {
  const float up[3] = {0.0f, 0.0f, 1.0f};
  whole_corners n;
  for (int k = 0; k < 3; k++) signs->edge[k] = 0;
  signs->height = -1;
  if (!whole_prepare(p, up, corner, &n)) return;
  whole_clear(&n.sum, n.words);
  for (int k = 0; k < 3; k++) {
    whole_edge(&n, k);
    whole_add(&n.sum, &n.edge[k], false, n.words);
    signs->edge[k] = -whole_sign(&n.edge[k], n.words); /* of edges the other way round */
  }
  signs->height = whole_sign(&n.depth, n.words) * whole_sign(&n.sum, n.words);
}

/* The sign of that height: it is that of the sum of edge functions times heights, seen from the triangle's side. Of
 * each term the edge function is off by 4 u of its products, and the rest by 3 u: less than 8 u of the sum of sizes.
 * This bound has 16 u. 0: it cannot tell, as where the sum overflows. */
INLINE int crossing_height(const crossing *c, const crossing_edge e[3], int side) {
  float sum = 0.0f, size = 0.0f;
  for (int v = 0; v < 3; v++) {
    sum = lanes_fma(e[v].value, c->at[v][2], sum);
    size = lanes_fma(e[v].size, lanes_abs(c->at[v][2]), size);
  }
  return side * crossing_sign(sum, lanes_fma(size, 2.0f * CROSSING_ERROR, CROSSING_FAINT));
}

/* 1: the ray leaves through the triangle; -1: it enters; 0: neither. */
CROSSING_FUNCTION slab_crosses(const float p[3], float corner[3][3]) {
  crossing c;
  crossing_edge e[3];
  crossing_signs exact;
  int sign[3];
  bool is_exact = false;
  crossing_begin(p, corner, &c);
  for (int k = 0; k < 3; k++) {
    e[k] = crossing_edge_of(&c, k);
    is_exact = is_exact || e[k].sign == CROSSING_UNSURE;
  }
  if (is_exact) crossing_exactly(p, corner, &exact);
  for (int k = 0; k < 3; k++) {
    const int i = next_of_three(k), j = next_of_three(i);
    sign[k] = is_exact ? exact.edge[k] : e[k].sign;
    if (sign[k] == 0) sign[k] = crossing_tie(corner[i], corner[j]);
  }
  if (sign[0] != sign[1] || sign[1] != sign[2]) return 0;
  if (corner[0][2] >= p[2] && corner[1][2] >= p[2] && corner[2][2] >= p[2]) return sign[0];
  int height = is_exact ? exact.height : crossing_height(&c, e, sign[0]);
  if (height == 0 && !is_exact) {
    crossing_exactly(p, corner, &exact);
    height = exact.height;
  }
  return height >= 0 ? sign[0] : 0;
}

/* The sign of one edge function, as slab_crosses takes it. 0: one end is above the other. */
CROSSING_FUNCTION slab_side(const float p[3], float ends[2][3]) {
  float corner[3][3];
  crossing c;
  for (int v = 0; v < 3; v++)
    for (int i = 0; i < 3; i++) corner[v][i] = ends[v % 2][i];
  crossing_begin(p, corner, &c);
  int sign = crossing_edge_of(&c, 2).sign;
  if (sign == CROSSING_UNSURE) {
    crossing_signs exact;
    crossing_exactly(p, corner, &exact);
    sign = exact.edge[2];
  }
  return sign != 0 ? sign : crossing_tie(ends[0], ends[1]);
}
#endif

#endif
