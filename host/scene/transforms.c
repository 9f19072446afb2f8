#include "scene/transforms.h"

#include <math.h>
#include <stddef.h>

#include "base/extremes.h"
#include "maths/ray.h"

#define SKEW_MOST 4096.0 /* of || |A| |B| ||: scaling, then turning has at most 3 */
#define SCALE_MOST 0x1p60

/* The inverse by the adjugate, in double. False where the determinant is 0 or something is not finite. */
static bool inverse_of(const double a[9], double inverse[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const int r = (j + 1) % 3, s = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
      inverse[3 * i + j] = a[3 * r + c] * a[3 * s + d] - a[3 * r + d] * a[3 * s + c];
    }
  const double determinant = a[0] * inverse[0] + a[1] * inverse[3] + a[2] * inverse[6];
  if (!(fabs(determinant) > 0.0) || !isfinite(determinant)) return false;
  bool finite = true;
  for (int i = 0; i < 9; i++) {
    inverse[i] /= determinant;
    finite = finite && isfinite(inverse[i]);
  }
  return finite;
}

double transform_skew(const double a[9], const double b[9]) {
  double skew = 0.0;
  for (int i = 0; i < 3; i++) {
    double row = 0.0;
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) row += fabs(a[3 * i + k]) * fabs(b[3 * k + j]);
    skew = greater(skew, row);
  }
  return skew;
}

static double largest_of(const double m[9]) {
  double largest = 0.0;
  for (int i = 0; i < 9; i++) largest = greater(largest, fabs(m[i]));
  return largest;
}

const char *transform_linear_refusal(const linear *m, double *value) {
  *value = largest_of(m->a);
  if (*value > SCALE_MOST) return "scales by more than 2^60";
  *value = largest_of(m->b);
  if (*value > SCALE_MOST) return "scales by less than 2^-60, inversely";
  *value = transform_skew(m->a, m->b);
  return *value <= SKEW_MOST ? NULL : "is too skew: |A| |B| beyond 4096";
}

/* How far the rows of a rotation are from being orthonormal, at most: as far as oriented boxes' axes may be. */
#define ROTATION_WITHIN 1e-5

/* The scale of a matrix that is a rotation, mirrored or not, times it; else 0. */
static float scale_of(const double a[9]) {
  double square = 0.0;
  bool is_rotation = true;
  for (int i = 0; i < 9; i++) square += a[i] * a[i] / 3.0;
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) {
      const double product = a[3 * i] * a[3 * j] + a[3 * i + 1] * a[3 * j + 1] + a[3 * i + 2] * a[3 * j + 2];
      is_rotation = is_rotation && fabs(product / square - (i == j)) <= ROTATION_WITHIN;
    }
  return is_rotation ? (float)sqrt(square) : 0.0f;
}

const char *transform_refusal(const float t[12], instance_entry *made, double *value) {
  linear m;
  for (int i = 0; i < 12; i++) {
    *value = t[i];
    if (!is_within(t[i], i % 4 == 3 ? COORDINATE_MAX : FLOAT_MAX)) return "is not finite, or moves beyond 2^60";
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) m.a[3 * i + j] = t[4 * i + j];
    made->place[i] = t[4 * i + 3];
  }
  *value = 0.0;
  if (!inverse_of(m.a, m.b)) return "is singular: its determinant";
  for (int i = 0; i < 9; i++) made->inverse[i] = (float)m.b[i];
  made->scale = scale_of(m.a);
  return transform_linear_refusal(&m, value);
}

/* ---- transforms in each other ---- */

linear transform_linear(const instance_entry *of) {
  linear m;
  for (int i = 0; i < 9; i++) m.b[i] = of->inverse[i];
  if (!inverse_of(m.b, m.a)) m.a[0] = INFINITY;
  return m;
}

static void multiply(const double l[9], const double r[9], double product[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      product[3 * i + j] = l[3 * i] * r[j] + l[3 * i + 1] * r[3 + j] + l[3 * i + 2] * r[6 + j];
}

linear transform_linear_within(const linear *outer, const linear *inner) {
  linear m;
  multiply(outer->a, inner->a, m.a);
  multiply(inner->b, outer->b, m.b);
  return m;
}

static double norm_of(const double m[9]) {
  double most = 0.0;
  for (int i = 0; i < 3; i++) most = greater(most, fabs(m[3 * i]) + fabs(m[3 * i + 1]) + fabs(m[3 * i + 2]));
  return most;
}

/* Norms are submultiplicative: || |A A'| |B' B| || <= ||A|| || |A'| |B'| || ||B||. */
transform_reach transform_reach_within(const linear *outer, const transform_reach *inner) {
  const double a = norm_of(outer->a), b = norm_of(outer->b);
  return (transform_reach){a * inner->a, b * inner->b, a * inner->skew * b};
}

transform_reach transform_reach_of(const linear *m) {
  return (transform_reach){norm_of(m->a), norm_of(m->b), transform_skew(m->a, m->b)};
}

transform_reach transform_farther(transform_reach r, transform_reach q) {
  return (transform_reach){greater(r.a, q.a), greater(r.b, q.b), greater(r.skew, q.skew)};
}

/* There is space for rounding. */
bool transform_is_short(transform_reach r) {
  return r.a < 0.99 * SCALE_MOST && r.b < 0.99 * SCALE_MOST && r.skew < 0.99 * SKEW_MOST;
}
