/* Boxes and oriented boxes.
 *
 * For each axis the contract's kernel computes near = fl(fl(plane - o) * fl(1 / d)), which is the real time times
 * (1 + e)^3 with |e| <= u. It computes the far times in the same way. It widens the least far time by 2^-21 = 8 u to w.
 * The line crosses the box where enter = max near <= w. Hence:
 *  - a real enter <= leave, equality included, is always accepted: the widening exceeds the six roundings,
 *    ((1+u)/(1-u))^3 < 1 + 8u, and rounding w is monotone. (Requires times that are not subnormal.)
 *  - the line is certainly rejected where the least possible enter exceeds the greatest possible w;
 *  - between the two (a relative gap below 15 u) it is undecided.
 * On an axis with direction 0 the kernel compares the origin with the planes. The interval is closed and nothing is
 * rounded: the sign of a float difference is exact. */
#include "check/oracle_parts.h"

static void no_constraint(oracle_axis *axis) {
  *axis = (oracle_axis){.near = {-INFINITY, -INFINITY}, .far = {INFINITY, INFINITY}};
  axis->near_rise = -INFINITY;
  axis->far_rise = INFINITY;
  axis->speed = 1.0;
  axis->sound = true;
}

/* Slab [lower, upper] whose four numbers are floats that the kernel uses too. */
static bool plain_axis(double lower, double upper, double origin, double direction, oracle_axis *axis) {
  no_constraint(axis);
  if (direction == 0.0) return lower <= origin && origin <= upper;
  const double near = direction > 0.0 ? lower : upper, far = direction > 0.0 ? upper : lower;
  axis->sign = direction > 0.0 ? 1 : -1;
  axis->near = oracle_face_time(near, origin, direction);
  axis->far = oracle_face_time(far, origin, direction);
  axis->near_rise = (near - origin) * axis->sign;
  axis->far_rise = (far - origin) * axis->sign;
  axis->speed = fabs(direction);
  axis->sound =
      (isinf(near) || oracle_sum_is_float(near, -origin)) && (isinf(far) || oracle_sum_is_float(far, -origin));
  return true;
}

bool oracle_box_axes(const oracle_line *line, const slab_box *box, oracle_axis axis[3]) {
  for (int i = 0; i < 3; i++) {
    const double lower = (double)box->lower[i], upper = (double)box->upper[i];
    if (!plain_axis(lower, upper, line->origin[i], line->direction[i], &axis[i])) return false;
  }
  return true;
}

/* ---- oriented boxes ------------------------------------------------------------ */

/* The ray along one axis of the box's frame: position p and direction q, with their errors. */
typedef struct framed {
  double p, p_error, q, q_error;
} framed;

/* The subtraction of the centre costs 1 u of each term, the dot product 3 u. */
static framed to_frame(const oracle_line *line, const slab_obb *box, int row) {
  double from[3], axis[3], extra = 0.0;
  for (int i = 0; i < 3; i++) {
    from[i] = line->origin[i] - (double)box->center[i];
    axis[i] = (double)box->axes[row][i];
    if (!oracle_sum_is_float(line->origin[i], -(double)box->center[i])) extra = 1.0;
  }
  framed f;
  f.p = oracle_dot(axis, from, extra, &f.p_error);
  f.q = oracle_dot(axis, line->direction, 0.0, &f.q_error);
  return f;
}

/* [rise - e, rise + e] / [speed - f, speed + f], with the rounding of the reciprocal and of the product; speed > f. */
static oracle_span quotient(double rise, double e, double speed, double f) {
  const double lo = rise - e, hi = rise + e;
  const double a = lo / (lo < 0.0 ? speed - f : speed + f), b = hi / (hi < 0.0 ? speed + f : speed - f);
  const double slack = 2.001 * ORACLE_U;
  const oracle_span span = {a - slack * fabs(a) - ORACLE_TINY, b + slack * fabs(b) + ORACLE_TINY};
  return span;
}

/* The direction along the axis may have either sign or be 0. With the origin well inside, the times of the planes are
 * beyond +-(h - |p|) / |q|. With the origin well outside, the time of the plane that counts is beyond (|p| - h) / |q|:
 * a miss if the range ends before. */
static bool parallel_axis(const oracle_line *line, double half, const framed *f, oracle_axis *axis) {
  const double inside = half - fabs(f->p), error = f->p_error + ORACLE_U * (half + fabs(f->p)) + ORACLE_TINY;
  const double speed = (fabs(f->q) + f->q_error) * (1.0 + 8.0 * ORACLE_U);
  const double beyond = (fabs(inside) - error) / speed;
  axis->near = (oracle_span){-INFINITY, INFINITY};
  axis->far = axis->near;
  axis->sound = false;
  axis->sign = 0;
  if (inside > error) {
    axis->near.hi = -beyond;
    axis->far.lo = beyond;
  }
  return !(inside < -error && beyond > fmax(fabs(line->t_min.lo), fabs(line->t_max.hi)));
}

static bool framed_axis(const oracle_line *line, double half, const framed *f, oracle_axis *axis) {
  if (f->p_error == 0.0 && f->q_error == 0.0) return plain_axis(-half, half, f->p, f->q, axis);
  no_constraint(axis);
  if (fabs(f->q) <= f->q_error) return parallel_axis(line, half, f, axis);
  axis->sign = f->q > 0.0 ? 1 : -1;
  const double near = -half - axis->sign * f->p, far = half - axis->sign * f->p;
  axis->near = quotient(near, f->p_error + 1.001 * ORACLE_U * fabs(near), fabs(f->q), f->q_error);
  axis->far = quotient(far, f->p_error + 1.001 * ORACLE_U * fabs(far), fabs(f->q), f->q_error);
  axis->sound = false;
  return true;
}

bool oracle_obb_axes(const oracle_line *line, const slab_obb *box, oracle_axis axis[3]) {
  for (int i = 0; i < 3; i++) {
    const framed f = to_frame(line, box, i);
    if (!framed_axis(line, (double)box->half_size[i], &f, &axis[i])) return false;
  }
  return true;
}

/* ---- the slab test ----------------------------------------------------------------- */

/* The float product t (1 +- 8u), the greater of the two. `side` is the direction in which it may be rounded. */
static double widened_end(double t, double side) {
  if (isinf(t) || t == 0.0) return t;
  const double wide = t + 8.0 * ORACLE_U * fabs(t);
  return wide + side * (1.001 * ORACLE_U * fabs(wide) + (fabs(wide) < 0x1p-100 ? ORACLE_TINY : 0.0));
}

static oracle_span widened(oracle_span leave) {
  const oracle_span span = {widened_end(leave.lo, -1.0), widened_end(leave.hi, 1.0)};
  return span;
}

/* Whether real near <= real far, by comparing near_rise_i * speed_j with far_rise_j * speed_i: exact products. */
static bool really_before(const oracle_axis *i, const oracle_axis *j) {
  if (!i->sound || !j->sound) return false;
  if (i->near_rise != 0.0 && fabs(i->near_rise) < 0x1p-100 * i->speed) return false; /* subnormal times */
  return i->near_rise * j->speed <= j->far_rise * i->speed;
}

static oracle_verdict crosses(const oracle_axis axis[3]) {
  oracle_verdict verdict = ORACLE_HIT;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      /* the planes of one axis are in order because rounding is monotone, if the direction's sign is known */
      if (i == j && axis[i].sign != 0) continue;
      if (really_before(&axis[i], &axis[j])) continue;
      verdict = oracle_both(verdict, oracle_at_most(axis[i].near, widened(axis[j].far)));
    }
  }
  return verdict;
}

/* If the line misses an oriented box by less than the widening, the kernel may clamp the box's interval to its padded
 * bounds. The ends then lie anywhere between the two planes whose order is wrong, or, rounded outward, around them. */
static void allow_gate(oracle_solid *solid, oracle_span reach) {
  const double slack = 16.0 * ORACLE_U * fmax(fabs(solid->near.hi), fabs(solid->far.lo));
  solid->near.lo = fmin(solid->near.lo, reach.lo) - slack;
  solid->near.hi += slack;
  solid->far.lo = fmin(solid->far.lo, reach.lo) - slack;
  solid->far.hi += slack;
}

static oracle_span gate_of(const oracle_line *line, const slab_obb *box) {
  double extent[3] = {0.0, 0.0, 0.0};
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++) extent[j] += fabs((double)box->axes[i][j]) * (double)box->half_size[i];
  return oracle_bounds_ends(line, box->center, extent);
}

/* Enter and leave as computed. The reported far end is never before the near one. gate: padded bounds of an oriented
 * box, or NULL. */
static bool slab_item(const oracle_line *line, const oracle_question *question, const oracle_axis axis[3],
                      const oracle_span *gate, oracle_item *item) {
  oracle_solid solid = {.crosses = ORACLE_HIT, .near = axis[0].near, .far = axis[0].far};
  for (int i = 1; i < 3; i++) {
    solid.near.lo = fmax(solid.near.lo, axis[i].near.lo);
    solid.near.hi = fmax(solid.near.hi, axis[i].near.hi);
    solid.far.lo = fmin(solid.far.lo, axis[i].far.lo);
    solid.far.hi = fmin(solid.far.hi, axis[i].far.hi);
  }
  const oracle_span reach = widened(solid.far);
  if (solid.near.lo > reach.hi || solid.near.lo > line->t_max.hi || reach.hi < line->t_min.lo) return false;
  solid.crosses = crosses(axis);
  solid.far.lo = fmax(solid.far.lo, solid.near.lo);
  solid.far.hi = fmax(solid.far.hi, solid.near.hi);
  if (gate != NULL) {
    oracle_clamp(*gate, &solid.near);
    oracle_clamp(*gate, &solid.far);
    if (solid.crosses != ORACLE_HIT) allow_gate(&solid, reach);
  }
  return oracle_solid_item(line, question, &solid, item);
}

/* Quick reject, since most boxes are missed by far: plain times with a slack of 64 u, over three times the 15 u
 * above. */
static bool clearly_missed(const oracle_line *line, const slab_box *box) {
  double enter = line->t_min.lo, leave = line->t_max.hi;
  for (int i = 0; i < 3; i++) {
    if (line->direction[i] == 0.0) continue;
    const double a = ((double)box->lower[i] - line->origin[i]) * line->inverse[i];
    const double b = ((double)box->upper[i] - line->origin[i]) * line->inverse[i];
    const double near = a < b ? a : b, far = a < b ? b : a;
    if (near > enter) enter = near;
    if (far < leave) leave = far;
  }
  return enter > leave && enter - leave > 64.0 * ORACLE_U * (fabs(enter) + fabs(leave)) + ORACLE_TINY;
}

bool oracle_box(const oracle_line *line, const oracle_question *question, const slab_box *box, oracle_item *item) {
  oracle_axis axis[3];
  if (clearly_missed(line, box)) return false;
  for (int i = 0; i < 3; i++)
    if (!(box->lower[i] <= box->upper[i])) return false; /* inverted or NaN */
  return oracle_box_axes(line, box, axis) && slab_item(line, question, axis, NULL, item);
}

/* The line misses the bounding ball of the box by more than the errors of the frame. These are a few u of the distance
 * f: (h + e)^2 is below 1.01 h^2 + 101 e^2, with e = 2^-18 |f|. The 1.01 also covers the axes' 1e-5. */
static bool misses_ball(const oracle_line *line, const slab_obb *box) {
  double f[3], h2 = 0.0;
  for (int i = 0; i < 3; i++) {
    f[i] = line->origin[i] - (double)box->center[i];
    h2 += (double)box->half_size[i] * (double)box->half_size[i];
  }
  const double slack = 0x1p-29 * (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) + ORACLE_TINY;
  return oracle_offset_square(line, f) > (1.011 * h2 + slack) * line->length * line->length;
}

bool oracle_obb(const oracle_line *line, const oracle_question *question, const slab_obb *box, oracle_item *item) {
  oracle_axis axis[3];
  if (misses_ball(line, box) || !oracle_obb_axes(line, box, axis)) return false;
  const oracle_span gate = gate_of(line, box);
  return slab_item(line, question, axis, &gate, item);
}

/* ---- who decided ----------------------------------------------------------------------- */

/* The near plane of axis i may decide if its time can be the greatest and no lower axis is certainly as great. */
unsigned oracle_near_axes(const oracle_axis axis[3]) {
  unsigned may = 0;
  for (int i = 0; i < 3; i++) {
    bool possible = axis[i].near.hi > -INFINITY;
    for (int j = 0; j < 3; j++) {
      if (axis[i].near.hi < axis[j].near.lo) possible = false;
      if (j < i && axis[i].near.hi <= axis[j].near.lo) possible = false;
    }
    if (possible) may |= 1u << i;
  }
  return may;
}

unsigned oracle_far_axes(const oracle_axis axis[3]) {
  unsigned may = 0;
  for (int i = 0; i < 3; i++) {
    bool possible = axis[i].far.lo < INFINITY;
    for (int j = 0; j < 3; j++) {
      if (axis[i].far.lo > axis[j].far.hi) possible = false;
      if (j < i && axis[i].far.lo >= axis[j].far.hi) possible = false;
    }
    if (possible) may |= 1u << i;
  }
  return may;
}
