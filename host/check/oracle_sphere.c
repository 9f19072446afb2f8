/* Spheres.
 *
 * The contract's kernel computes f = o - c, a = d.d, b = -f.d, p = f + (b / a) d and the discriminant D = r^2 - p.p.
 * Here p is the point of the line closest to the centre, relative to the centre. With q = b +- sqrt(a D) (the sign of
 * b) the roots are q / a and c / q, where c = f.f - r^2. Errors (each operation 1 u, vectors by their lengths, |f.d| <=
 * |f||d|):
 *  - f: u |f|. a: 3 u a. b: 4 u |f||d|.
 *  - p: the error of b / a moves p along d only. This is perpendicular to p and has no first-order effect on |p|^2.
 *    The errors of f, of the product (b/a) d, whose length is <= |f|, and of the sum move p by up to 2u|f| + u|p|. So
 *    p.p is off by 2|p|(2u|f| + u|p|), by 3u|p|^2 of its own, and by the square of all errors of p, (12u|f|)^2. With
 *    r^2: D is off by less than
 *        5u|f||p| + 6u|p|^2 + 2u r^2 + 200u^2 f.f                                                  (its band)
 *    before the last subtraction, which keeps the sign.
 *  - sqrt(a D): |sqrt(x + e) - sqrt(x)| <= |e| / max(sqrt(x), sqrt|e|), x = a D, e = a band + 6u x; and 1 u.
 *  - c: 5u f.f + u r^2 + u|c|. Quotients: as for any first-order error, and 1 u.
 * Where the error of q is as large as q, the padded bounds limit the root. The points of a box around the sphere are
 * within sqrt(3) r of the centre. Where all operations are exact (small dyadic numbers) a tangent is a hit and the
 * roots are exact. The clamp to the padded bounds may still move t. */
#include "check/oracle_parts.h"

typedef struct chord {
  double f[3], a, b, p2, f2, r, discriminant, band;
  bool exact;   /* the discriminant's sign */
  bool c_exact; /* f.f - r^2 */
} chord;

static double difference(const oracle_line *line, const slab_sphere *sphere, double f[3]) {
  double extra = 0.0;
  for (int i = 0; i < 3; i++) {
    f[i] = line->origin[i] - (double)sphere->center[i];
    if (!oracle_sum_is_float(line->origin[i], -(double)sphere->center[i])) extra = 1.0;
  }
  return extra;
}

static chord measure(const oracle_line *line, const slab_sphere *sphere) {
  chord k;
  double p[3], error[4];
  const double extra = difference(line, sphere, k.f), *d = line->direction;
  k.r = (double)sphere->radius;
  k.a = oracle_dot(d, d, 0.0, &error[0]);
  k.b = -oracle_dot(k.f, d, extra, &error[1]);
  const double s = k.b / k.a;
  k.exact = error[0] == 0.0 && error[1] == 0.0 && oracle_is_float(s) && s * k.a == k.b;
  for (int i = 0; i < 3; i++) {
    p[i] = k.f[i] + s * d[i];
    k.exact = k.exact && oracle_is_float(s * d[i]) && oracle_sum_is_float(k.f[i], s * d[i]);
  }
  k.p2 = oracle_dot(p, p, 0.0, &error[2]);
  k.f2 = oracle_dot(k.f, k.f, extra, &error[3]);
  k.exact = k.exact && error[2] == 0.0 && oracle_is_float(k.r * k.r);
  k.c_exact = error[3] == 0.0 && oracle_is_float(k.r * k.r) && oracle_sum_is_float(k.f2, -k.r * k.r);
  k.discriminant = k.r * k.r - k.p2;
  k.band = ORACLE_U * (5.0 * sqrt(k.f2 * k.p2) + 6.0 * k.p2 + 2.0 * k.r * k.r + 200.0 * ORACLE_U * k.f2) + ORACLE_TINY;
  return k;
}

/* Whether all steps of both roots are computed without rounding. */
static bool exact_roots(const chord *k, double first, double second) {
  const double x = k->a * k->discriminant, root = sqrt(x), q = k->b < 0.0 ? k->b - root : k->b + root;
  if (!k->exact || !oracle_sum_is_float(k->r * k->r, -k->p2) || !oracle_is_float(x) || !oracle_is_float(root) ||
      root * root != x || !oracle_sum_is_float(k->b, q - k->b) || !oracle_is_float(q))
    return false;
  return k->c_exact && oracle_is_float(first) && oracle_is_float(second) && first * k->a == q &&
         second * q == k->f2 - k->r * k->r;
}

/* The roots q / a and c / q, each with its error. */
static void roots(const oracle_line *line, const slab_sphere *sphere, const chord *k, oracle_span root[2]) {
  const double x = k->a * fmax(k->discriminant, 0.0), e_x = k->a * k->band + 6.0 * ORACLE_U * x;
  const double root_x = sqrt(x), q = k->b < 0.0 ? k->b - root_x : k->b + root_x;
  const double c = k->f2 - k->r * k->r;
  const double e_c = k->c_exact ? 0.0 : ORACLE_U * (6.0 * k->f2 + 3.0 * k->r * k->r) + ORACLE_TINY;
  const double e_q = e_x / fmax(root_x, sqrt(e_x)) +
                     ORACLE_U * (4.01 * sqrt(k->f2 * k->a) + 2.01 * root_x + 1.01 * fabs(q)) + ORACLE_TINY;
  const double first = q / k->a, second = c / q;
  if (q != 0.0 && exact_roots(k, first, second)) {
    root[0] = oracle_around(first, 0.0);
    root[1] = oracle_around(second, 0.0);
    return;
  }
  root[0] = oracle_around(first, e_q / k->a * (1.0 + 8.0 * ORACLE_U) + 5.0 * ORACLE_U * fabs(first) + ORACLE_TINY);
  const double least = fabs(q) - e_q;
  if (least > 0.25 * fabs(q)) {
    const double error = (e_c + fabs(second) * e_q) / least + 3.1 * ORACLE_U * fabs(second);
    root[1] = oracle_around(second, error > 0.0 ? error + ORACLE_TINY : 0.0); /* 0 / q is 0 for every q */
    return;
  }
  double place = k->r;
  for (int i = 0; i < 3; i++) place = fmax(place, fabs(line->origin[i]) + fabs((double)sphere->center[i]));
  const double middle = k->b / k->a, reach = 1.75 * k->r + 16.0 * ORACLE_U * place;
  root[1] = oracle_around(middle, reach / line->length + 8.0 * ORACLE_U * fabs(middle) + ORACLE_TINY);
}

static oracle_verdict crosses(const chord *k) {
  if (k->exact) return k->discriminant >= 0.0 ? ORACLE_HIT : ORACLE_MISS;
  if (k->discriminant > k->band) return ORACLE_HIT;
  return k->discriminant < -k->band ? ORACLE_MISS : ORACLE_UNDECIDED;
}

/* q / a is the far root for b > 0 and the near one for b < 0. Where the sign of b is unknown, each result covers the
 * bounds of both roots. */
static void order_roots(const chord *k, const oracle_span root[2], oracle_solid *solid) {
  const double e_b = 4.01 * ORACLE_U * sqrt(k->f2 * k->a) + ORACLE_TINY;
  const int far = k->b < 0.0 ? 1 : 0;
  solid->near = root[1 - far];
  solid->far = root[far];
  if (fabs(k->b) > e_b) return;
  const double half = fmax(root[0].hi - root[0].lo, root[1].hi - root[1].lo) * 0.5;
  solid->near = oracle_around((solid->near.lo + solid->near.hi) * 0.5, half);
  solid->far = oracle_around((solid->far.lo + solid->far.hi) * 0.5, half);
}

/* D below -13 u (f.f + r^2) is certainly a miss; the test requires 32 u. */
static bool clearly_missed(const oracle_line *line, const slab_sphere *sphere) {
  double f[3], r2 = (double)sphere->radius * (double)sphere->radius;
  for (int i = 0; i < 3; i++) f[i] = line->origin[i] - (double)sphere->center[i];
  const double f2 = f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
  return oracle_offset_square(line, f) > (r2 + 32.0 * ORACLE_U * (f2 + r2) + ORACLE_TINY) * line->length * line->length;
}

bool oracle_sphere(const oracle_line *line, const oracle_question *question, const slab_sphere *sphere,
                   oracle_item *item) {
  if (clearly_missed(line, sphere)) return false;
  const chord k = measure(line, sphere);
  oracle_solid solid = {.crosses = crosses(&k)};
  oracle_span root[2] = {{0.0, 0.0}, {0.0, 0.0}}; /* exact and q = 0: both roots are 0 */
  const bool at_zero = k.exact && k.b == 0.0 && k.discriminant == 0.0;
  if (!at_zero) {
    roots(line, sphere, &k, root);
    order_roots(&k, root, &solid);
  }
  const double extent[3] = {k.r, k.r, k.r};
  const oracle_span gate = oracle_bounds_ends(line, sphere->center, extent);
  oracle_clamp(gate, &solid.near);
  oracle_clamp(gate, &solid.far);
  return oracle_solid_item(line, question, &solid, item);
}
