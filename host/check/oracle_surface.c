/* Planes and triangles.
 *
 * Plane: t = fl(fl(offset - fl(n.o)) / fl(n.d)). Each dot product is off by 3 u of its terms' sizes, the
 * difference and the quotient by u. A computed n.d = 0 is a miss, so the sign of n.d must be certain.
 *
 * Triangle: the contract transforms the vertices into the ray's shear space,
 *     X = fl(v - o), S = fl(d[kx] / d[kz]), x = fl(fma(-S, Z, X)),
 * and takes the exact signs of the three areas of the projected triangle (a, b, c) around the origin. X and Z are off
 * by u of themselves, S Z by another u, the fma rounds x once:
 *     |error of x| <= e_x = u |X| + 2u |S Z| + u |x|, each term only where its operation is not exact.
 * The area p - q = xj yk - yj xk is then off by at most
 *     |xj| e_yk + |yk| e_xj + e_xj e_yk + the same of the other product;
 * beyond that its sign is certain. If all four coordinates are exact, the sign is exact too, with the tie rule: the
 * products of two floats are exact in double. (Nonzero products below 2^-102 are left undecided, as in the contract.)
 *
 * The tie rule, "top-left in shear space", moves the ray's point to (e, e^2), e -> +0: the area around (e, e^2) is
 *     (xj yk - yj xk) + e (yj - yk) + e^2 (xk - xj),
 * and its first term that is not 0 gives the sign. Closed edges need the areas of the line itself, without the rounding
 * of S, and an area of 0 excludes nothing, unless all three are 0. Beyond the same bound the sign is that, too; else
 * oracle_closed.c has it.
 *
 * t is the mean of the vertices' z_i = fl(Z_i * fl(1 / d[kz])) with the areas U_i as weights. For errors V_i of the
 * areas, t' - t = sum V_i (z_i - t) / sum U_i', because sum U_i (z_i - t) = 0. So t is off by at most
 *     sum V_i |z_i - t| / (|sum U| - sum V),
 * where V_i is the sum of the error from the vertices, 2u |U_i| and 4u^2 (|p| + |q|) of the compensated value. The
 * roundings of the evaluation (3 u of z_i, 2 of the sum U, its reciprocal, two products, two sums: 10 u) multiply the
 * terms |U_i z_i|. At last t is clamped to the slab interval of the vertices' bounds, which limits it where the areas
 * do not. Where |sum U| is below 2^-126 its reciprocal may overflow, and the weights may be anything. */
#include "check/oracle_parts.h"

static bool surface_item(const oracle_line *line, const oracle_question *question, oracle_item *item) {
  const oracle_verdict in_range = oracle_in_range(line, item->t);
  if (in_range != ORACLE_HIT) item->joinable = false;
  item->t = oracle_final(line, item->t);
  item->leave = item->t;
  item->side = ORACLE_NEAR;
  const oracle_verdict finite = oracle_finite(item->t);
  if (finite != ORACLE_HIT) item->joinable = false;
  item->verdict = oracle_both(item->verdict, oracle_both(in_range, finite));
  if (!question->solid && question->cull != SLAB_CULL_NONE) {
    const int dropped = question->cull == SLAB_CULL_FRONT ? 1 : -1;
    if (item->facing == dropped) return false;
    if (item->facing == 0) item->verdict = oracle_both(item->verdict, ORACLE_UNDECIDED);
    if (item->facing == 0) item->joinable = false;
  }
  return item->verdict != ORACLE_MISS;
}

/* ---- planes ------------------------------------------------------------------- */

static bool is_exact_quotient(double a, double b, double q) { return oracle_is_float(q) && q * b == a; }

/* [up - e, up + e] / [run - f, run + f]; run > f > 0, or exact. */
static oracle_span plane_time(double up, double e, double run, double f) {
  const double t = up / run;
  if (e == 0.0 && f == 0.0 && is_exact_quotient(up, run, t)) return oracle_around(t, 0.0);
  const double error = (e + fabs(t) * f) / (fabs(run) - f);
  return oracle_around(t, error + 1.001 * ORACLE_U * (fabs(t) + error) + ORACLE_TINY);
}

bool oracle_plane(const oracle_line *line, const oracle_question *question, const slab_plane *plane,
                  oracle_item *item) {
  double n[3], e_up, e_run;
  for (int i = 0; i < 3; i++) n[i] = (double)plane->normal[i];
  const double offset = (double)plane->offset;
  const double at = oracle_dot(n, line->origin, 0.0, &e_up), up = offset - at;
  const double run = oracle_dot(n, line->direction, 0.0, &e_run);
  if (run == 0.0 && e_run == 0.0) return false;
  if (e_up != 0.0 || !oracle_sum_is_float(offset, -at)) e_up += 1.001 * ORACLE_U * (fabs(up) + e_up) + ORACLE_TINY;
  item->joinable = false;
  item->verdict = ORACLE_HIT;
  if (fabs(run) > 1.001 * e_run) {
    item->facing = run < 0.0 ? 1 : -1;
    item->t = plane_time(up, e_up, run, e_run);
    return surface_item(line, question, item);
  }
  /* Nearly parallel: t is beyond |up| / |run| on either side, or there is none. */
  item->facing = 0;
  const double beyond = (fabs(up) - e_up) / (fabs(run) + e_run) * (1.0 - 4.0 * ORACLE_U);
  if (beyond > fmax(fabs(line->t_min.lo), fabs(line->t_max.hi))) return false;
  item->verdict = ORACLE_UNDECIDED;
  item->t = (oracle_span){-INFINITY, INFINITY};
  return surface_item(line, question, item);
}

/* ---- triangles in shear space ----------------------------------------------------- */

/* The error of one coordinate x = X - S Z, X = v - o, Z = w - p; 0 where all three operations are exact. */
static double coordinate_error(double v, double o, double w, double p, double s, bool s_exact, double x) {
  const double big = v - o, deep = w - p, sheared = s * deep;
  const bool big_exact = oracle_sum_is_float(v, -o), deep_exact = s == 0.0 || oracle_sum_is_float(w, -p);
  if (big_exact && deep_exact && s_exact && oracle_sum_is_float(big, -sheared)) return 0.0;
  const double e = (big_exact ? 0.0 : fabs(big)) + ((deep_exact ? 0.0 : 1.0) + (s_exact ? 0.0 : 1.0)) * fabs(sheared);
  return 1.001 * ORACLE_U * (e + fabs(x)) + 0x1p-148 * (1.0 + fabs(deep));
}

static const float *corner(const slab_triangle *triangle, int i) {
  return i == 0 ? triangle->a : i == 1 ? triangle->b : triangle->c;
}

/* Whether all three lie on one side of the ray by more than any error: 4 u of |X| + |S Z|. */
static bool one_sided(const double x[3], const double size[3]) {
  const double slack = 4.0 * ORACLE_U;
  bool above = true, below = true;
  for (int i = 0; i < 3; i++) {
    above = above && x[i] > slack * size[i] + ORACLE_TINY;
    below = below && x[i] < -(slack * size[i] + ORACLE_TINY);
  }
  return above || below;
}

static bool is_small(double product) { return product != 0.0 && fabs(product) < 0x1p-102; }

static bool has_small_product(const oracle_view *view) {
  bool small = false;
  for (int j = 0; j < 3; j++)
    for (int k = 0; k < 3; k++) small = small || (j != k && is_small(view->x[j] * view->y[k]));
  return small;
}

/* Computes the coordinates. Returns false when one of them alone shows a miss: where products are small, the signs may
 * not show it. */
static bool shear(const oracle_line *line, const slab_triangle *triangle, oracle_view *view) {
  double x_size[3], y_size[3];
  for (int i = 0; i < 3; i++) {
    const float *v = corner(triangle, i);
    const double big_x = (double)v[line->kx] - line->origin[line->kx];
    const double big_y = (double)v[line->ky] - line->origin[line->ky];
    const double deep = (double)v[line->kz] - line->origin[line->kz];
    view->x[i] = big_x - line->sx * deep;
    view->y[i] = big_y - line->sy * deep;
    view->rise[i] = deep;
    const double faint = 0x1p-120 * fabs(deep); /* covers a subnormal quotient */
    x_size[i] = fabs(big_x) + fabs(line->sx * deep) + faint;
    y_size[i] = fabs(big_y) + fabs(line->sy * deep) + faint;
  }
  return !(one_sided(view->x, x_size) || one_sided(view->y, y_size)) || has_small_product(view);
}

static void coordinate_errors(const oracle_line *line, const slab_triangle *triangle, oracle_view *view) {
  const double *o = line->origin, deep = o[line->kz];
  for (int i = 0; i < 3; i++) {
    const float *v = corner(triangle, i);
    const double w = (double)v[line->kz], x = (double)v[line->kx], y = (double)v[line->ky];
    view->ex[i] = coordinate_error(x, o[line->kx], w, deep, line->sx, line->sx_exact, view->x[i]);
    view->ey[i] = coordinate_error(y, o[line->ky], w, deep, line->sy, line->sy_exact, view->y[i]);
    view->rise[i] /= line->direction[line->kz];
  }
}

static int sign_of(double x) { return (x > 0.0) - (x < 0.0); }

int oracle_edge_sign(double xj, double yj, double xk, double yk) {
  const double p = xj * yk, q = yj * xk; /* exact: p and q are compared, not subtracted */
  if (p != q) return p > q ? 1 : -1;
  return yj != yk ? sign_of(yj - yk) : sign_of(xk - xj);
}

/* Area and sign of the edge from vertex j to vertex k. */
static void view_edge(oracle_view *view, int i) {
  const int j = (i + 1) % 3, k = (i + 2) % 3;
  const double *x = view->x, *y = view->y, *ex = view->ex, *ey = view->ey;
  const double p = x[j] * y[k], q = y[j] * x[k];
  view->edge[i] = p - q;
  view->edge_size[i] = fabs(p) + fabs(q);
  view->edge_error[i] =
      fabs(x[j]) * ey[k] + fabs(y[k]) * ex[j] + ex[j] * ey[k] + fabs(y[j]) * ex[k] + fabs(x[k]) * ey[j] + ey[j] * ex[k];
  const bool exact = ex[j] == 0.0 && ex[k] == 0.0 && ey[j] == 0.0 && ey[k] == 0.0;
  const double band = view->edge_error[i] + 0x1p-51 * view->edge_size[i] + 0x1p-140;
  view->sign[i] = fabs(view->edge[i]) > band ? sign_of(view->edge[i]) : 0;
  view->touches[i] = exact && !is_small(p) && !is_small(q) && p == q;
  if (exact && !is_small(p) && !is_small(q)) view->sign[i] = oracle_edge_sign(x[j], y[j], x[k], y[k]);
  if (exact && x[j] == x[k] && y[j] == y[k]) view->has_area = false;
}

static bool has_equal_corners(const slab_triangle *triangle) {
  bool equal = false;
  for (int i = 0; i < 3; i++) {
    const float *v = corner(triangle, i), *w = corner(triangle, (i + 1) % 3);
    equal = equal || (v[0] == w[0] && v[1] == w[1] && v[2] == w[2]);
  }
  return equal;
}

bool oracle_triangle_view(const oracle_line *line, const slab_triangle *triangle, oracle_view *view) {
  if (!shear(line, triangle, view)) return false;
  view->has_area = !has_equal_corners(triangle);
  coordinate_errors(line, triangle, view);
  for (int i = 0; i < 3; i++) view_edge(view, i);
  return true;
}

double oracle_view_area(const oracle_view *view, double error[3], double *sum) {
  double all = 0.0;
  *sum = 0.0;
  for (int i = 0; i < 3; i++) {
    error[i] = view->edge_error[i] + 0x1p-45 * view->edge_size[i] + 0x1p-140;
    all += error[i];
    *sum += view->edge[i];
  }
  return fabs(*sum) - all;
}

/* ---- t of a triangle ----------------------------------------------------------------- */

/* Whether every step of the weighted mean is computed without rounding: exact vertices, the products and sums of areas,
 * reciprocals, products and sums. An area whose products are rounded is compensated, but not for the rounding of their
 * difference. */
static bool is_exact_mean(const oracle_line *line, const oracle_view *view, double sum, double *t) {
  double term[3];
  const double *u = view->edge;
  bool exact = oracle_is_power_of_two(sum) && line->direction[line->kz] * line->direction[line->kz] == 1.0 &&
               oracle_sum_is_float(u[0], u[1]) && oracle_sum_is_float(u[0] + u[1], u[2]);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    term[i] = u[i] / sum * view->rise[i];
    exact = exact && oracle_is_float(view->x[j] * view->y[k]) && oracle_is_float(view->y[j] * view->x[k]) &&
            view->edge_error[i] == 0.0 && oracle_is_float(u[i]) && oracle_is_float(u[i] / sum) &&
            oracle_is_float(view->rise[i]) && oracle_is_float(term[i]);
  }
  *t = (term[0] + term[1]) + term[2];
  return exact && oracle_sum_is_float(term[0], term[1]) && oracle_sum_is_float(term[0] + term[1], term[2]);
}

bool oracle_view_has_weights(double area, double sum) { return area > 0x1p-126 && area > 0.1 * fabs(sum); }

/* The weighted mean; unbounded where the weights are. */
static oracle_span mean_time(const oracle_line *line, const oracle_view *view) {
  double error[3], sum, shift = 0.0, size = 0.0, t = 0.0;
  const double area = oracle_view_area(view, error, &sum);
  if (!oracle_view_has_weights(area, sum)) return (oracle_span){-INFINITY, INFINITY};
  if (is_exact_mean(line, view, sum, &t)) return oracle_around(t, 0.0);
  t = 0.0;
  for (int i = 0; i < 3; i++) t += view->edge[i] / sum * view->rise[i];
  for (int i = 0; i < 3; i++) {
    shift += (error[i] + 2.0 * ORACLE_U * fabs(view->edge[i])) * fabs(view->rise[i] - t);
    size += (fabs(view->edge[i]) + error[i]) * fabs(view->rise[i]);
  }
  return oracle_around(t, (shift + 11.0 * ORACLE_U * size) / area + ORACLE_TINY);
}

/* The slab interval of the vertices' bounds, as computed. Axes parallel to the ray set no bound. Where the ray is
 * outside on one, and hits because its products underflow, the interval is empty, and t may be any end of the padded
 * bounds. So it is where the ray is nearly parallel to an axis: it leaves the bounds along another one long before it
 * enters them. Then t is the near end. Where the padded bounds are left before, t is theirs. */
static void bound_times(const oracle_line *line, const slab_triangle *triangle, oracle_span *near, oracle_span *far) {
  *near = (oracle_span){-INFINITY, -INFINITY};
  *far = (oracle_span){INFINITY, INFINITY};
  bool outside = false;
  for (int i = 0; i < 3; i++) {
    const double d = line->direction[i], o = line->origin[i];
    const double a = (double)triangle->a[i], b = (double)triangle->b[i], c = (double)triangle->c[i];
    const double lower = fmin(a, fmin(b, c)), upper = fmax(a, fmax(b, c));
    outside = outside || (d == 0.0 && !(lower <= o && o <= upper));
    if (d == 0.0) continue;
    const oracle_span first = oracle_face_time(d > 0.0 ? lower : upper, o, d);
    const oracle_span last = oracle_face_time(d > 0.0 ? upper : lower, o, d);
    near->lo = fmax(near->lo, first.lo);
    near->hi = fmax(near->hi, first.hi);
    far->lo = fmin(far->lo, last.lo);
    far->hi = fmin(far->hi, last.hi);
  }
  if (near->lo > far->hi)
    near->lo = far->lo;
  else
    far->lo = fmax(far->lo, near->lo);
  far->hi = fmax(far->hi, near->hi);
  if (outside) *near = *far = (oracle_span){-INFINITY, INFINITY};
}

static oracle_span clamped_time(const oracle_line *line, const slab_triangle *triangle, oracle_span raw) {
  oracle_span near, far;
  bound_times(line, triangle, &near, &far);
  const oracle_span t = {fmin(fmax(raw.lo, near.lo), far.lo), fmin(fmax(raw.hi, near.hi), far.hi)};
  return t;
}

static bool closed_triangle(const oracle_line *line, const slab_triangle *triangle, const oracle_view *view,
                            oracle_item *item) {
  int sign[3];
  bool unknown = false, left = false, right = false;
  oracle_span t = mean_time(line, view);
  for (int i = 0; i < 3; i++) {
    sign[i] = view->touches[i] ? 0 : view->sign[i];
    unknown = unknown || (sign[i] == 0 && !view->touches[i]);
  }
  if (unknown || isinf(t.lo)) {
    const double exact = oracle_closed_signs(line, triangle, sign);
    /* Where the areas are as small as their errors, or as 2^-126, the kernel cannot do without whole numbers
     * (closed.h), and rounds t once. */
    if (isinf(t.lo)) t = oracle_around(exact, 1.001 * ORACLE_U * fabs(exact) + ORACLE_TINY);
  }
  for (int i = 0; i < 3; i++) {
    left = left || sign[i] > 0;
    right = right || sign[i] < 0;
  }
  if (left == right) return false;
  item->verdict = ORACLE_HIT;
  item->joinable = false;
  item->facing = left ? -1 : 1;
  item->t = clamped_time(line, triangle, t);
  return true;
}

bool oracle_triangle(const oracle_line *line, const oracle_question *question, const slab_triangle *triangle,
                     oracle_item *item) {
  oracle_view view;
  double error[3], sum;
  if (!oracle_triangle_view(line, triangle, &view) || !view.has_area) return false;
  if (question->closed) return closed_triangle(line, triangle, &view, item) && surface_item(line, question, item);
  bool left = false, right = false;
  int open = 0;
  for (int i = 0; i < 3; i++) {
    left = left || view.sign[i] > 0;
    right = right || view.sign[i] < 0;
    open += view.sign[i] == 0;
  }
  if (left && right) return false;
  item->verdict = open > 0 ? ORACLE_UNDECIDED : ORACLE_HIT;
  const double area = oracle_view_area(&view, error, &sum);
  /* Where products are small the kernel's signs are not exact. The sign of one edge is still opposite in its two
   * triangles, if their areas are not small too; around a vertex the signs may fit no position of it. */
  item->joinable = open > 0 && (!has_small_product(&view) || (open == 1 && oracle_view_has_weights(area, sum)));
  item->facing = area > 0.0 ? -sign_of(sum) : 0;
  if (open == 0) item->facing = left ? -1 : 1;
  item->t = clamped_time(line, triangle, mean_time(line, &view));
  return surface_item(line, question, item);
}
