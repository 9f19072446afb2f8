/* The oracle's ray and its arithmetic.
 *
 * A kernel computes in float with + - * / sqrt fma, each correctly rounded: fl(x) = x (1 + e) with |e| <= u = 2^-24,
 * and below 2^-126 fl(x) = x + e with |e| <= 2^-150. The relative error of k roundings in a row is at most
 * (1+u)^k - 1 < 1.0001 k u for the k <= 20 that occur here. The bounds below round that up to k.001 u or more. This
 * also covers the roundings of this file: they are 2^-53 = 2^-29 u of the same magnitudes. ORACLE_TINY covers the
 * subnormal part.
 *
 * Where every operation of the kernel is exact, and only there, the bound is 0 and the oracle must be exact too.
 * It is exact there: float operands have 24 bits, so their products (48 bits) are exact in double. Whether a sum of
 * two doubles is exact is known from its rounding error (Knuth's two-sum).
 *
 * Compile without contraction or fast mathematics. */
#include "check/oracle_parts.h"

bool oracle_is_float(double x) { return fabs(x) <= FLT_MAX && (double)(float)x == x; }

/* The rounding error of a + b (Knuth). */
static double sum_error(double a, double b) {
  const double sum = a + b, rest = sum - a;
  return (a - (sum - rest)) + (b - rest);
}

bool oracle_sum_is_float(double a, double b) { return oracle_is_float(a + b) && sum_error(a, b) == 0.0; }

oracle_verdict oracle_both(oracle_verdict a, oracle_verdict b) {
  if (a == ORACLE_MISS || b == ORACLE_MISS) return ORACLE_MISS;
  return a == ORACLE_HIT && b == ORACLE_HIT ? ORACLE_HIT : ORACLE_UNDECIDED;
}

oracle_verdict oracle_at_most(oracle_span a, oracle_span b) {
  if (a.hi <= b.lo) return ORACLE_HIT;
  return a.lo > b.hi ? ORACLE_MISS : ORACLE_UNDECIDED;
}

oracle_verdict oracle_in_range(const oracle_line *line, oracle_span t) {
  return oracle_both(oracle_at_most(line->t_min, t), oracle_at_most(t, line->t_max));
}

oracle_span oracle_around(double value, double error) {
  const oracle_span span = {value - error, value + error};
  return span;
}

/* Scaling back is exact except for results below 2^-126, which are off by less than 2^-149. */
static double final_end(double t, double slack) { return oracle_is_float(t) || fabs(t) >= FLT_MIN ? t : t + slack; }

oracle_span oracle_final(const oracle_line *line, oracle_span t) {
  const oracle_span span = {final_end(t.lo * line->back, -0x1p-149), final_end(t.hi * line->back, 0x1p-149)};
  return span;
}

oracle_verdict oracle_finite(oracle_span t) {
  const double limit = 0x1.ffffffp127; /* values from here on round to infinity */
  if (t.lo >= limit || t.hi <= -limit) return ORACLE_MISS;
  return t.lo > -limit && t.hi < limit ? ORACLE_HIT : ORACLE_UNDECIDED;
}

bool oracle_is_power_of_two(double x) {
  int exponent;
  return fabs(frexp(x, &exponent)) == 0.5;
}

/* Three roundings: the difference, the reciprocal, the product. No rounding where the difference is a float and the
 * direction a power of two, or where the difference is 0. */
oracle_span oracle_face_time(double plane, double origin, double direction) {
  const double rise = plane - origin, t = rise / direction;
  if (rise == 0.0) return oracle_around(0.0, 0.0);
  if (isinf(t)) return (oracle_span){t, t};
  const bool exact = oracle_sum_is_float(plane, -origin) && oracle_is_power_of_two(direction) && oracle_is_float(t);
  oracle_span span = oracle_around(t, exact ? 0.0 : 3.001 * ORACLE_U * fabs(t) + ORACLE_TINY);
  if (span.hi > FLT_MAX) span.hi = INFINITY;
  if (span.lo < -FLT_MAX) span.lo = -INFINITY;
  return span;
}

/* A product and two sums for the first two terms, a product and one sum for the last: 3 u of each term. */
double oracle_dot(const double a[3], const double b[3], double extra, double *error) {
  double product[3], size = 0.0;
  bool exact = extra == 0.0;
  for (int i = 0; i < 3; i++) {
    product[i] = a[i] * b[i];
    size += fabs(product[i]);
    exact = exact && oracle_is_float(product[i]);
  }
  const double two = product[0] + product[1], sum = two + product[2];
  exact = exact && oracle_sum_is_float(product[0], product[1]) && oracle_sum_is_float(two, product[2]);
  *error = exact ? 0.0 : (3.001 + 1.001 * extra) * ORACLE_U * size + ORACLE_TINY;
  if (!(size < 0x1p126)) *error = INFINITY; /* a partial sum may overflow */
  return sum;
}

double oracle_offset_square(const oracle_line *line, const double f[3]) {
  const double *d = line->direction;
  const double x = f[1] * d[2] - f[2] * d[1], y = f[2] * d[0] - f[0] * d[2], z = f[0] * d[1] - f[1] * d[0];
  return x * x + y * y + z * z;
}

/* ---- preparing -------------------------------------------------------------- */

static bool is_invalid(const slab_ray *ray) {
  bool zero = true;
  if (isnan(ray->t_min) || isnan(ray->t_max)) return true;
  for (int i = 0; i < 3; i++) {
    if (!(fabsf(ray->origin[i]) <= 0x1p60f) || !isfinite(ray->direction[i])) return true;
    zero = zero && ray->direction[i] == 0.0f;
  }
  return zero;
}

/* Scales exactly, then replaces subnormal components by 0. */
static void scale_direction(const slab_ray *ray, oracle_line *line) {
  double largest = 0.0;
  int exponent;
  for (int i = 0; i < 3; i++) largest = fmax(largest, fabs((double)ray->direction[i]));
  (void)frexp(largest, &exponent);
  line->back = ldexp(1.0, 1 - exponent);
  for (int i = 0; i < 3; i++) {
    const double scaled = (double)ray->direction[i] * line->back;
    line->direction[i] = fabs(scaled) < FLT_MIN ? 0.0 : scaled;
    line->inverse[i] = 1.0 / line->direction[i];
  }
  const double *d = line->direction;
  line->length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static double clamp_to_floats(double x) { return fmin(fmax(x, -(double)FLT_MAX), (double)FLT_MAX); }

/* One end of the range: as tested, and as an interval reports it. If the scaling rounds or clamps a finite end, the
 * interval may report the given or the scaled value. An infinite end means +-FLT_MAX in the caller's units. Take a
 * solid that is entered at a t that is no float, and left at one that is. It is hit where it is left, as for a range
 * that begins at -FLT_MAX. */
static void scale_end(const oracle_line *line, float given, oracle_span *tested, oracle_span *reported) {
  const double scaled = clamp_to_floats((double)given) / line->back, t = clamp_to_floats(scaled);
  *tested = oracle_around(t, oracle_is_float(t) ? 0.0 : 0x1p-148);
  *reported = (oracle_span){given, given};
  if (isinf(given) || oracle_is_float(scaled)) return;
  const oracle_span back = oracle_final(line, *tested);
  reported->lo = fmin(reported->lo, back.lo);
  reported->hi = fmax(reported->hi, back.hi);
}

/* kz: the axis of the largest component, the lowest axis of equal ones. kx and ky follow cyclically. They are swapped
 * where direction[kz] is negative, so that areas in (kx, ky) are positive where the ray runs along cross(b - a, c -
 * a). */
static void shear_axes(oracle_line *line) {
  const double *d = line->direction;
  int kz = 0;
  for (int i = 1; i < 3; i++)
    if (fabs(d[i]) > fabs(d[kz])) kz = i;
  const int next = (kz + 1) % 3, last = (kz + 2) % 3;
  line->kz = kz;
  line->kx = d[kz] < 0.0 ? last : next;
  line->ky = d[kz] < 0.0 ? next : last;
  line->sx = d[line->kx] / d[kz];
  line->sy = d[line->ky] / d[kz];
  line->sx_exact = oracle_is_float(line->sx) && line->sx * d[kz] == d[line->kx];
  line->sy_exact = oracle_is_float(line->sy) && line->sy * d[kz] == d[line->ky];
}

oracle_state oracle_line_prepare(const slab_ray *ray, oracle_line *line) {
  if (is_invalid(ray)) return ORACLE_RAY_INVALID;
  /* a range of only +inf or only -inf is empty too: nothing is hit at infinity */
  if (ray->t_min > ray->t_max || ray->t_min == INFINITY || ray->t_max == -INFINITY) return ORACLE_RAY_EMPTY;
  scale_direction(ray, line);
  /* a range outside the floats after scaling is empty too */
  if ((double)ray->t_min / line->back > FLT_MAX || (double)ray->t_max / line->back < -FLT_MAX) return ORACLE_RAY_EMPTY;
  for (int i = 0; i < 3; i++) line->origin[i] = (double)ray->origin[i];
  scale_end(line, ray->t_min, &line->t_min, &line->min_back);
  scale_end(line, ray->t_max, &line->t_max, &line->max_back);
  shear_axes(line);
  line->told = line->back;
  line->outer = NULL;
  line->instance = NULL;
  line->certain = line->t_min.hi <= line->t_max.lo; /* else the ends, rounded inward, may leave no range */
  return ORACLE_RAY_VALID;
}
