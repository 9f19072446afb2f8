/* Checks normal, u and v of a reported hit.
 *
 * Errors of normalising n: squares and sums 3 u of the square, so 1.5 u of the length. The root, the quotient or the
 * reciprocal and the product add up to 3 u. Together less than 5 u of each component. The check allows 8 u, and as much
 * for the length. The error of the vector itself, relative to its length, is added:
 *  - plane: none. Face of a box: none, it is exact. Row of an oriented box: the row as given, whose length may differ
 *    from 1 by 1e-5, or normalised.
 *  - sphere, (o + t d - c) / r: u |f| + 2 u |t d| of the point, and |d| times the half width of t's enclosure, since a
 *    kernel may use another t (before the clamp) than it reports.
 *  - triangle, cross(b - a, c - a): a component p - q of rounded edges is off by 2 u (edges) + u (product) of
 *    |p| + |q|, and u of itself: below 5 u (|p| + |q|).
 * Weights: for errors V_i of the areas U_i, w' - w = (V_i + w sum V) / (|sum U| - sum V), and 6 u for the compensated
 * value, the reciprocal and the product.
 * In instances the vector and its error are turned (oracle_normal_outside).
 * Where a bound exceeds 1/2, the vector's length is checked, its direction is not. */
#include "check/oracle_parts.h"

static const double unit_slack = 8.0 * ORACLE_U;

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }
static double dot_of(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static bool is_near(const float got[3], const double want[3], double sign, double tolerance) {
  for (int i = 0; i < 3; i++)
    if (!(fabs((double)got[i] - sign * want[i]) <= tolerance)) return false;
  return true;
}

static bool is_unit(const float normal[3], double tolerance) {
  const double n[3] = {(double)normal[0], (double)normal[1], (double)normal[2]};
  return fabs(length_of(n) - 1.0) <= tolerance;
}

/* Checks the side of the normal. face_forward turns the normal against the ray, unless facing is 1 (-1: it must be
 * turned, 0: either). At grazing incidence rounding decides on which side of the ray the normal lies; both signs are
 * then allowed. */
static bool is_facing(const oracle_line *line, const oracle_question *question, const slab_hit *hit, const double n[3],
                      double tolerance, int facing) {
  const double along = dot_of(n, line->direction) / line->length;
  const bool open = facing == 0 || fabs(along) <= 2.0 * tolerance;
  double outside[3] = {n[0], n[1], n[2]};
  tolerance = oracle_normal_outside(line, outside, tolerance);
  if ((!question->face_forward || open || facing > 0) && is_near(hit->normal, outside, 1.0, tolerance)) return true;
  return question->face_forward && (open || facing < 0) && is_near(hit->normal, outside, -1.0, tolerance);
}

/* Checks that the normal is `outward` scaled to length 1, up to `error` relative to its length. */
static const char *check_normal(const oracle_line *line, const oracle_question *question, const slab_hit *hit,
                                const double outward[3], double error, int facing) {
  const double length = length_of(outward);
  if (!is_unit(hit->normal, unit_slack)) return "normal is not of unit length";
  if (!(error < 0.5) || length == 0.0) return NULL;
  const double n[3] = {outward[0] / length, outward[1] / length, outward[2] / length};
  return is_facing(line, question, hit, n, unit_slack + 2.0 * error, facing) ? NULL : "normal points elsewhere";
}

static const char *check_plane(const oracle_line *line, const oracle_question *question, const oracle_item *item,
                               const slab_hit *hit) {
  const slab_plane *plane = item->shape;
  const double n[3] = {(double)plane->normal[0], (double)plane->normal[1], (double)plane->normal[2]};
  if (hit->u != 0.0f || hit->v != 0.0f) return "u, v of a plane are not 0";
  return check_normal(line, question, hit, n, 0.0, item->facing);
}

/* ---- spheres --------------------------------------------------------------------- */

static const char *check_sphere(const oracle_line *line, const oracle_question *question, const oracle_item *item,
                                const slab_hit *hit) {
  const slab_sphere *sphere = item->shape;
  const double t = (double)hit->t / line->told, *d = line->direction;
  double out[3], f[3];
  if (hit->u != 0.0f || hit->v != 0.0f) return "u, v of a sphere are not 0";
  if (sphere->radius == 0.0f) { /* a point: its normal points against the ray */
    const double against[3] = {-d[0], -d[1], -d[2]};
    return check_normal(line, question, hit, against, 0.0, 1);
  }
  for (int i = 0; i < 3; i++) {
    f[i] = line->origin[i] - (double)sphere->center[i];
    out[i] = f[i] + t * d[i];
  }
  const double point = ORACLE_U * (2.0 * length_of(f) + 4.0 * fabs(t) * line->length) + ORACLE_TINY;
  const double width = (item->t.hi - item->t.lo) / line->told * line->length;
  const double error = (point + width) / (double)sphere->radius;
  return check_normal(line, question, hit, out, error, dot_of(out, d) < 0.0 ? 1 : -1);
}

/* ---- boxes -------------------------------------------------------------------------- */

/* Whether the far end may be computed before the near one. It then gets the near one's value. */
static bool ends_may_cross(const oracle_axis axis[3]) {
  for (int j = 0; j < 3; j++)
    for (int k = 0; k < 3; k++)
      if (axis[j].far.lo < axis[k].near.hi) return true;
  return false;
}

/* The plane of the hit's face must be one that may have decided the crossing. Sets facing: 1 entered there, -1 left
 * there, 0 either. */
static bool face_is_possible(const oracle_item *item, const oracle_axis axis[3], unsigned face, int *facing) {
  const unsigned i = face / 2;
  const int outward = face % 2 == 1 ? 1 : -1;
  const bool enters = axis[i].sign != outward && (oracle_near_axes(axis) >> i & 1u) != 0;
  const bool leaves = axis[i].sign != -outward && (oracle_far_axes(axis) >> i & 1u) != 0;
  const bool as_near = enters && (item->side != ORACLE_FAR || ends_may_cross(axis));
  const bool as_far = leaves && item->side != ORACLE_NEAR;
  *facing = as_near && as_far ? 0 : as_near ? 1 : -1;
  return as_near || as_far;
}

static bool read_face(const slab_hit *hit, unsigned *face) {
  if (!(hit->u >= 0.0f && hit->u <= 5.0f) || hit->u != floorf(hit->u) || hit->v != 0.0f) return false;
  *face = (unsigned)hit->u;
  return true;
}

static const char *check_box(const oracle_line *line, const oracle_question *question, const oracle_item *item,
                             const slab_hit *hit) {
  oracle_axis axis[3];
  unsigned face;
  int facing;
  if (!oracle_box_axes(line, item->shape, axis) || !read_face(hit, &face)) return "u is no face, or v not 0";
  if (!face_is_possible(item, axis, face, &facing)) return "another face decided";
  double n[3] = {0.0, 0.0, 0.0};
  n[face / 2] = face % 2 == 1 ? 1.0 : -1.0;
  return is_facing(line, question, hit, n, 0.0, facing) ? NULL : "normal is not the face's";
}

static const char *check_obb(const oracle_line *line, const oracle_question *question, const oracle_item *item,
                             const slab_hit *hit) {
  const slab_obb *box = item->shape;
  oracle_axis axis[3];
  unsigned face;
  int facing;
  if (!oracle_obb_axes(line, box, axis) || !read_face(hit, &face)) return "u is no face, or v not 0";
  if (!face_is_possible(item, axis, face, &facing)) return "another face decided";
  const float *row = box->axes[face / 2];
  const double side = face % 2 == 1 ? 1.0 : -1.0;
  const double n[3] = {side * (double)row[0], side * (double)row[1], side * (double)row[2]};
  const double off = fabs(length_of(n) - 1.0) + unit_slack;
  return is_facing(line, question, hit, n, off, facing) ? NULL : "normal is not the face's";
}

/* ---- triangles ------------------------------------------------------------------------- */

static const char *check_weights(const oracle_view *view, const slab_hit *hit) {
  double error[3], sum;
  const double area = oracle_view_area(view, error, &sum), all = error[0] + error[1] + error[2];
  const float got[3] = {0.0f, hit->u, hit->v};
  for (int i = 1; i < 3; i++) {
    if (!(got[i] >= 0.0f && (double)got[i] <= 1.0 + unit_slack)) return "u or v is not in 0..1";
    if (!oracle_view_has_weights(area, sum)) continue;
    const double want = view->edge[i] / sum;
    const double off = (error[i] + fabs(want) * all) / area + unit_slack * (fabs(want) + error[i] / area);
    if (!(fabs((double)got[i] - want) <= off + ORACLE_TINY)) return "u or v is not the vertex' weight";
  }
  if (!(area > 0x1p-126)) return NULL; /* the reciprocal of the sum may overflow: both are 1 then */
  return (double)hit->u + (double)hit->v <= 1.0 + unit_slack ? NULL : "u + v exceeds 1";
}

static const char *check_triangle(const oracle_line *line, const oracle_question *question, const oracle_item *item,
                                  const slab_hit *hit) {
  const slab_triangle *triangle = item->shape;
  double n[3], e1[3], e2[3], off[3];
  oracle_view view;
  if (!oracle_triangle_view(line, triangle, &view)) return "triangle is missed";
  const char *wrong = check_weights(&view, hit);
  if (wrong) return wrong;
  for (int i = 0; i < 3; i++) {
    e1[i] = (double)triangle->b[i] - (double)triangle->a[i];
    e2[i] = (double)triangle->c[i] - (double)triangle->a[i];
  }
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double p = e1[j] * e2[k], q = e1[k] * e2[j];
    n[i] = p - q;
    off[i] = 5.0 * ORACLE_U * (fabs(p) + fabs(q));
  }
  const double length = length_of(n), error = length > 0.0 ? length_of(off) / length : 1.0;
  if (error >= 0.5) return NULL; /* so thin that even the zero vector is possible */
  return check_normal(line, question, hit, n, error, item->facing);
}

const char *oracle_detail(const oracle_question *question, const oracle_item *item, const slab_hit *hit) {
  switch (item->kind) {
#define CHECK_DETAIL(shape, name, names, noun, floats, form, place, source) \
  case shape:                                                               \
    return check_##name(item->line, question, item, hit);
    SHAPES(CHECK_DETAIL)
#undef CHECK_DETAIL
  }
  return "no such kind";
}

/* ---- equal times -------------------------------------------------------------------------- */

/* The only plane that certainly decides a box's crossing: its axis and position. Returns false when several may
 * decide. */
static bool deciding_plane(const oracle_item *item, unsigned *which, float *plane) {
  const slab_box *box = item->shape;
  oracle_axis axis[3];
  if (item->kind != SLAB_BOX || item->side == ORACLE_EITHER || !oracle_box_axes(item->line, box, axis)) return false;
  const bool near = item->side == ORACLE_NEAR;
  const unsigned may = near ? oracle_near_axes(axis) : oracle_far_axes(axis);
  if (!near && ends_may_cross(axis)) return false;
  if (may != 1u && may != 2u && may != 4u) return false;
  *which = may / 2u;
  *plane = (axis[*which].sign > 0) == near ? box->lower[*which] : box->upper[*which];
  return true;
}

static bool same_shape(const oracle_item *a, const oracle_item *b) {
  const float *x = a->shape, *y = b->shape;
  if (a->kind != b->kind) return false;
  for (size_t i = 0; i < oracle_floats(a->kind); i++)
    if (x[i] != y[i]) return false;
  return true;
}

bool oracle_same_t(const oracle_item *a, const oracle_item *b) {
  unsigned i, j;
  float p, q;
  if (a->line != b->line) return false;
  if (same_shape(a, b)) return true;
  return deciding_plane(a, &i, &p) && deciding_plane(b, &j, &q) && i == j && p == q;
}
