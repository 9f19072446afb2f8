/* Points before planes, spheres, boxes and oriented boxes.
 *
 * Bounds on a kernel's results, from its order of operations (docs/contract.md, "Closest points"). fl(x) is off by u
 * |x|. The squared length of w takes 3 u of itself and its root u: 2.5 u of |w|, which all slacks below include.
 *  - Plane: offset - n.p is off by 4 u of |offset| and the terms |n_i p_i|; n.n, the quotient and the product by 5 u of
 *    |w|.
 *  - Sphere: c - p is off by u of each component, its length by 3.5 u, length - radius by u more of itself, and the
 *    quotient and the product by 2 u of |w|. |w| is at most length + radius, so 8 u of these is more. Bounds of
 *    primitives clamp w: it goes to them by no more than it was beyond, and they are off by u of length + radius.
 *  - Box: each component of w is one rounded difference, u of itself.
 *  - Oriented box: in its frame 4 u of |p - c| and u of the half sizes; turned back 4 u of |w|; axes are orthonormal
 *    within `skew`, so |w| turned is off by 1.5 `skew`, and the place along another axis by 2 `skew`. */
#include "check/oracle_points.h"

#define ORDER_SLACK 1.001 /* for terms of u^2 */

double oracle_apart(const double a[3], const double b[3]) {
  const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return oracle_length_of(d);
}

bool oracle_square_is_exact(const double v[3], double *square) {
  bool exact = true;
  *square = 0.0;
  for (int i = 0; i < 3; i++) {
    const double term = v[i] * v[i];
    exact =
        exact && oracle_is_float(v[i]) && (v[i] == 0.0 || fabs(v[i]) >= 0x1p-63) && oracle_sum_is_float(*square, term);
    *square += term;
  }
  return exact;
}

static void vector_between(const float at[3], const double p[3], double v[3]) {
  for (int i = 0; i < 3; i++) v[i] = (double)at[i] - p[i];
}

/* Compares the reported point with where it should be. */
static bool is_at(const oracle_near *near, const oracle_touch *touch, const double want[3]) {
  return oracle_apart(touch->point, want) <= near->slack + touch->tolerance;
}

static const char *check_plain(const oracle_touch *touch) {
  if (touch->u != 0.0f || touch->v != 0.0f) return "u, v are not 0";
  return touch->feature == SLAB_FEATURE_FACE ? NULL : "the feature is not a face";
}

/* ---- planes ------------------------------------------------------------------- */

/* How far along the normal the plane is, in lengths of the normal. */
static double plane_share(const slab_plane *plane, const double p[3], double n[3]) {
  for (int i = 0; i < 3; i++) n[i] = (double)plane->normal[i];
  return ((double)plane->offset - oracle_dot_of(n, p)) / oracle_dot_of(n, n);
}

void oracle_near_plane(const slab_plane *plane, const double p[3], oracle_near *near) {
  double n[3], terms = fabs((double)plane->offset);
  const double share = plane_share(plane, p, n), length = oracle_length_of(n);
  for (int i = 0; i < 3; i++) terms += fabs(n[i] * p[i]);
  near->distance = fabs(share) * length;
  near->reach = terms / length;
  near->slack = ORDER_SLACK * ORACLE_U * (4.0 * near->reach + 8.0 * near->distance) + ORACLE_FAINT;
  near->is_exact = false;
}

const char *oracle_touch_plane(const slab_plane *plane, const double p[3], const oracle_near *near,
                               const oracle_touch *touch) {
  double n[3], want[3];
  const double share = plane_share(plane, p, n);
  for (int i = 0; i < 3; i++) want[i] = p[i] + n[i] * share;
  return is_at(near, touch, want) ? check_plain(touch) : "the point is not the foot of the perpendicular";
}

/* ---- spheres -------------------------------------------------------------------- */

void oracle_near_sphere(const slab_sphere *sphere, const double p[3], oracle_near *near) {
  double from[3];
  vector_between(sphere->center, p, from);
  const double length = oracle_length_of(from), radius = (double)sphere->radius;
  near->distance = fabs(length - radius);
  near->reach = length + radius;
  near->slack = 8.0 * ORDER_SLACK * ORACLE_U * near->reach + ORACLE_FAINT;
  near->is_exact = false;
}

const char *oracle_touch_sphere(const slab_sphere *sphere, const double p[3], const oracle_near *near,
                                const oracle_touch *touch) {
  double from[3], want[3];
  vector_between(sphere->center, p, from);
  const double length = oracle_length_of(from), share = (length - (double)sphere->radius) / length;
  if (length < 16.0 * ORACLE_FAINT) return check_plain(touch); /* its components may count as 0 */
  for (int i = 0; i < 3; i++) want[i] = p[i] + from[i] * share;
  return is_at(near, touch, want) ? check_plain(touch) : "the point is not on the line through the centre";
}

/* ---- boxes -------------------------------------------------------------------------- */

/* A box around the origin's point, in its own frame: planes from the point. Axis i is clamped where the point is beyond
 * one of its planes by more than `doubt`, and may be where it is by more than -doubt. */
typedef struct boxed {
  double lower[3], upper[3], doubt;
} boxed;

/* How far the point is beyond the planes of an axis; negative: it is between them. */
static double beyond(const boxed *b, int i) { return fmax(b->lower[i], -b->upper[i]); }

static double clamped(const boxed *b, int i) { return fmax(b->lower[i], 0.0) + fmin(b->upper[i], 0.0); }

static double face_plane(const boxed *b, int face) { return face % 2 == 0 ? b->lower[face / 2] : b->upper[face / 2]; }

static bool is_inside(const boxed *b) { return fmax(beyond(b, 0), fmax(beyond(b, 1), beyond(b, 2))) <= 0.0; }

static double nearest_plane(const boxed *b) {
  double least = INFINITY;
  for (int f = 0; f < 6; f++) least = fmin(least, fabs(face_plane(b, f)));
  return least;
}

static double box_distance(const boxed *b) {
  const double w[3] = {clamped(b, 0), clamped(b, 1), clamped(b, 2)};
  return is_inside(b) ? nearest_plane(b) : oracle_length_of(w);
}

/* Whether `face` may be reported from inside: as near as the nearest but for doubt, and the lowest of equal ones. */
static bool is_face_inside(const boxed *b, int face) {
  const double at = fabs(face_plane(b, face)), rounded = b->doubt + 2.0 * ORACLE_U * at;
  if (!(at <= nearest_plane(b) + 2.0 * rounded)) return false;
  for (int f = 0; f < face && b->doubt == 0.0; f++)
    if (fabs(face_plane(b, f)) <= at) return false;
  return true;
}

/* Whether `face` may be reported from outside: its axis may be clamped on that side, and no lower one certainly is. */
static bool is_face_outside(const boxed *b, int face) {
  const double over = face % 2 == 0 ? b->lower[face / 2] : -b->upper[face / 2];
  for (int i = 0; i < face / 2; i++)
    if (beyond(b, i) > b->doubt) return false;
  return b->doubt == 0.0 ? over > 0.0 : over > -b->doubt;
}

/* Checks u and the feature; *want receives the point, relative to the query's. */
static const char *check_box(const boxed *b, const oracle_touch *touch, double want[3]) {
  int sure = 0, possible = 0;
  if (!(touch->u >= 0.0f && touch->u <= 5.0f) || touch->u != floorf(touch->u) || touch->v != 0.0f)
    return "u is no face, or v is not 0";
  const int face = (int)touch->u;
  for (int i = 0; i < 3; i++) {
    sure += beyond(b, i) > b->doubt;
    possible += b->doubt == 0.0 ? beyond(b, i) > 0.0 : beyond(b, i) > -b->doubt;
    want[i] = clamped(b, i);
  }
  const uint32_t most = possible > 1 ? (uint32_t)possible - 1 : 0, least = sure > 1 ? (uint32_t)sure - 1 : 0;
  if (touch->feature < least || touch->feature > most) return "the feature is not by how many axes are clamped";
  const bool outside = possible > 0 && is_face_outside(b, face), inside = sure == 0 && is_face_inside(b, face);
  if (!outside && !inside) return "the face is not the nearest or the lowest";
  if (is_inside(b))
    for (int i = 0; i < 3; i++) want[i] = i == face / 2 ? face_plane(b, face) : 0.0;
  return NULL;
}

static boxed boxed_of(const slab_box *box, const double p[3]) {
  boxed b = {.doubt = 0.0};
  vector_between(box->lower, p, b.lower);
  vector_between(box->upper, p, b.upper);
  return b;
}

void oracle_near_box(const slab_box *box, const double p[3], oracle_near *near) {
  const boxed b = boxed_of(box, p);
  const double w[3] = {clamped(&b, 0), clamped(&b, 1), clamped(&b, 2)};
  const double least = nearest_plane(&b), inner[3] = {least, 0.0, 0.0};
  near->distance = box_distance(&b);
  near->reach = near->distance;
  near->slack = 4.0 * ORDER_SLACK * ORACLE_U * near->distance + ORACLE_FAINT;
  near->is_exact = oracle_square_is_exact(is_inside(&b) ? inner : w, &near->square);
  if (!(box->lower[0] <= box->upper[0] && box->lower[1] <= box->upper[1] && box->lower[2] <= box->upper[2]))
    *near = (oracle_near){.distance = INFINITY};
}

const char *oracle_touch_box(const slab_box *box, const double p[3], const oracle_near *near,
                             const oracle_touch *touch) {
  const boxed b = boxed_of(box, p);
  double want[3];
  const char *wrong = check_box(&b, touch, want);
  for (int i = 0; wrong == NULL && i < 3; i++) want[i] += p[i];
  if (wrong == NULL && !is_at(near, touch, want)) wrong = "the point is not the closest of the box";
  return wrong;
}

/* ---- oriented boxes ------------------------------------------------------------------- */

/* The largest entry of axes * transpose(axes) - 1. */
static double obb_skew(const slab_obb *box) {
  double skew = 0.0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double sum = i == j ? -1.0 : 0.0;
      for (int k = 0; k < 3; k++) sum += (double)box->axes[i][k] * (double)box->axes[j][k];
      skew = fmax(skew, fabs(sum));
    }
  return skew;
}

static boxed boxed_in_frame(const slab_obb *box, const double p[3], double *reach) {
  boxed b;
  double from[3], half = 0.0;
  vector_between(box->center, p, from);
  for (int i = 0; i < 3; i++) {
    const double axis[3] = {(double)box->axes[i][0], (double)box->axes[i][1], (double)box->axes[i][2]};
    const double place = -oracle_dot_of(from, axis), size = (double)box->half_size[i];
    b.lower[i] = -size - place;
    b.upper[i] = size - place;
    half += size;
  }
  *reach = oracle_length_of(from) + half;
  b.doubt = 6.0 * ORDER_SLACK * ORACLE_U * *reach + ORACLE_FAINT;
  return b;
}

void oracle_near_obb(const slab_obb *box, const double p[3], oracle_near *near) {
  const boxed b = boxed_in_frame(box, p, &near->reach);
  near->distance = box_distance(&b);
  near->slack = b.doubt + ORDER_SLACK * (8.0 * ORACLE_U + 4.0 * obb_skew(box)) * near->distance;
  near->is_exact = false;
}

const char *oracle_touch_obb(const slab_obb *box, const double p[3], const oracle_near *near,
                             const oracle_touch *touch) {
  double reach, want[3], at[3] = {p[0], p[1], p[2]};
  const boxed b = boxed_in_frame(box, p, &reach);
  const char *wrong = check_box(&b, touch, want);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) at[k] += want[i] * (double)box->axes[i][k];
  /* Near a face from inside or outside another may be reported: only the surface is checked then. */
  if (wrong == NULL && !is_at(near, touch, at) && fabs(near->distance) > 4.0 * b.doubt && !is_inside(&b))
    wrong = "the point is not the closest of the box";
  return wrong;
}
