/* Triangles whose signs are exact. For closed edges, where oracle_surface.c cannot tell, they are the signs of the
 * triple products of the direction and two corners relative to the origin, with t. For winding numbers they are those
 * of a ray along z.
 *
 * Numbers are sums of doubles that do not overlap, the smallest first (Shewchuk 1997, "Adaptive precision
 * floating-point arithmetic and fast robust geometric predicates", Grow-Expansion). A difference of two floats is two
 * doubles. All products are multiples of 2^-447 and below 2^190, so nothing is lost. */
#include "check/oracle_parts.h"

/* A sum grows by at most one part for each double that is added: three axes times the products below. */
enum {
  FACTOR_PARTS = 2,
  CROSS_PARTS = 4 * FACTOR_PARTS * FACTOR_PARTS,
  SUM_PARTS = 3 * 2 * FACTOR_PARTS * CROSS_PARTS
};

typedef struct expansion {
  double part[SUM_PARTS];
  int count;
} expansion;

static void add(expansion *sum, double x) {
  int kept = 0;
  for (int i = 0; i < sum->count; i++) {
    const double a = sum->part[i], s = x + a, b = s - x, rest = (x - (s - b)) + (a - b);
    if (rest != 0.0) sum->part[kept++] = rest;
    x = s;
  }
  if (x != 0.0) sum->part[kept++] = x;
  sum->count = kept;
}

/* The upper 26 bits (Veltkamp). */
static double upper(double x) {
  const double wide = 0x1.0000002p27 * x;
  return wide - (wide - x);
}

/* A product is two doubles (Dekker 1971, "A floating-point technique for extending the available precision"). Not by
 * fma: the C libraries for Windows round it twice. */
static void add_product(expansion *sum, double a, double b) {
  const double p = a * b, a1 = upper(a), a2 = a - a1, b1 = upper(b), b2 = b - b1;
  add(sum, a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2));
  add(sum, p);
}

/* a - b */
static expansion difference(double a, double b) {
  expansion d = {.count = 0};
  add(&d, a);
  add(&d, -b);
  return d;
}

/* sum += sign * a * b */
static void add_products(expansion *sum, const expansion *a, const expansion *b, double sign) {
  for (int i = 0; i < a->count; i++)
    for (int j = 0; j < b->count; j++) add_product(sum, sign * a->part[i], b->part[j]);
}

static int sign_of(const expansion *sum) {
  const double last = sum->count == 0 ? 0.0 : sum->part[sum->count - 1];
  return (last > 0.0) - (last < 0.0);
}

static double value_of(const expansion *sum) {
  double value = 0.0;
  for (int i = 0; i < sum->count; i++) value += sum->part[i];
  return value;
}

/* Component i of a x b. */
static expansion crossed(const expansion a[3], const expansion b[3], int i) {
  const int j = (i + 1) % 3, k = (i + 2) % 3;
  expansion c = {.count = 0};
  add_products(&c, &a[j], &b[k], 1.0);
  add_products(&c, &a[k], &b[j], -1.0);
  return c;
}

/* a . (b x c) */
static expansion triple(const expansion a[3], const expansion b[3], const expansion c[3]) {
  expansion sum = {.count = 0};
  for (int i = 0; i < 3; i++) {
    const expansion cross = crossed(b, c, i);
    add_products(&sum, &a[i], &cross, 1.0);
  }
  return sum;
}

void oracle_closed_normal(const slab_triangle *triangle, double normal[3]) {
  expansion b[3], c[3];
  for (int i = 0; i < 3; i++) {
    b[i] = difference((double)triangle->b[i], (double)triangle->a[i]);
    c[i] = difference((double)triangle->c[i], (double)triangle->a[i]);
  }
  for (int i = 0; i < 3; i++) {
    const expansion component = crossed(b, c, i);
    normal[i] = value_of(&component);
  }
}

double oracle_closed_signs(const oracle_line *line, const slab_triangle *triangle, int sign[3]) {
  const float *corners[3] = {triangle->a, triangle->b, triangle->c};
  expansion v[3][3], d[3];
  double sum = 0.0;
  for (int i = 0; i < 3; i++) {
    d[i] = difference(line->direction[i], 0.0);
    for (int k = 0; k < 3; k++) v[k][i] = difference((double)corners[k][i], line->origin[i]);
  }
  for (int k = 0; k < 3; k++) {
    const expansion edge = triple(d, v[(k + 1) % 3], v[(k + 2) % 3]);
    sign[k] = sign_of(&edge);
    sum += value_of(&edge);
  }
  const expansion volume = triple(v[0], v[1], v[2]);
  return value_of(&volume) / sum;
}

int oracle_crossing(const slab_triangle *triangle, const double p[3]) {
  const float *corners[3] = {triangle->a, triangle->b, triangle->c};
  expansion v[3][3];
  int turn[3];
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) v[k][i] = difference((double)corners[k][i], p[i]);
  for (int k = 0; k < 3; k++) {
    const float *a = corners[k], *b = corners[(k + 1) % 3];
    const expansion edge = crossed(v[k], v[(k + 1) % 3], 2);
    const int by_y = (a[1] > b[1]) - (a[1] < b[1]), by_x = (b[0] > a[0]) - (b[0] < a[0]);
    turn[k] = sign_of(&edge);
    if (turn[k] == 0) turn[k] = by_y != 0 ? by_y : by_x; /* the derivatives by x and by y of the point */
  }
  if (turn[0] != turn[1] || turn[1] != turn[2]) return 0;
  const expansion volume = triple(v[0], v[1], v[2]);
  return sign_of(&volume) * turn[0] >= 0 ? turn[0] : 0;
}
