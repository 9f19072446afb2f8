/* Points before triangles.
 *
 * In real numbers the closest point is the foot of the perpendicular on the triangle's plane, where it is strictly
 * inside of all three edges. Else it is the nearest of the three clamped feet on the edges. Sides come from the
 * corners, not from differences to the point. So the results here, in double, are off by 2^-48 of M, the largest
 * distance of a corner. Where the normal cancels by more than 2^-20 of the sides' product, it is computed exactly
 * (oracle_closed.c).
 *
 * The error of a kernel, in u M (u is 2^-24):
 *  - corners from the point are off by 1. Sides are off by u of themselves, which are at most 2 M: corners by 3 in all.
 *  - a share t of an edge: two sums of products, 3 u each, and a quotient: 3 u |a| / |side| + 4 u t, which moves the
 *    point along the edge by 3 + 8; the product and sum that make the point round by 1.
 *  - the plane's vector n (n.a) / (n.n): n is off by 2 u in each component, beside the errors of its sides, which were
 *    counted; n.a by 3 u |n| |a|, n.n by 3 u; quotient and product by 2 u: 2 * 2 + 3 + 3 + 2 = 12 of |a|.
 *  - a weight n.(b x c) is off by 2 + 2 + 3 u of |n| |b x c|, and |b x c| is the edge's length times its distance.
 *    Where rounding decides, the foot is 8 or less beside the edge, and so much nearer or farther is the plane.
 *  - the root of the square: 2.5.
 * So an edge's distance is off by 3 + 11 + 1 + 2.5 at most, the plane's by 3 + 12 + 8 + 2.5: 26, and 32 is allowed.
 *
 * A thin triangle's normal may be off by more, since its sides' errors are larger than its height h. All values are
 * then those of a triangle whose corners are off by the 3 above, so the distance is as good. But its plane is turned by
 * an angle of their error / h, and the foot with it. Weights are off by a foot's error, in heights of their corners.
 * Where products of the sides underflow, n is off by 2^-147, and so the angle by 2^-147 / |n|: not more than clamping
 * into the triangle's bounds leaves. */
#include "check/oracle_points.h"

#define TRIANGLE_SLACK (32.0 * ORACLE_U)
/* Kernels multiply and sum numbers of at most so many units without rounding. Corners to 2^4 make normals to 2^11 and
 * products b x c to 2^9. Their three products sum to less than 2^22. */
#define WHOLE_UNITS 16.0

typedef struct sight {
  double corner[3][3]; /* from the point */
  double side[3][3];   /* from a corner to the next */
  double length[3];
  double share[3];        /* of the clamped foot on each edge, from 0 to 1 */
  double away[3];         /* distance of that foot */
  double normal[3], area; /* area: length of the normal; 0: there is no plane */
  double within[3];       /* how far inside of each edge the foot on the plane is */
  double depth;           /* distance of the plane */
  double height;          /* the least */
  double reach, diameter;
  bool is_whole; /* kernels decide every sign without rounding */
} sight;

static const float *corner_of(const slab_triangle *t, int v) { return v == 0 ? t->a : v == 1 ? t->b : t->c; }

static void cross(const double a[3], const double b[3], double c[3]) {
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    c[i] = a[j] * b[k] - a[k] * b[j];
  }
}

static void sides_of(const slab_triangle *t, const double p[3], sight *s) {
  s->reach = s->diameter = 0.0;
  for (int v = 0; v < 3; v++) {
    for (int i = 0; i < 3; i++) {
      s->corner[v][i] = (double)corner_of(t, v)[i] - p[i];
      s->side[v][i] = (double)corner_of(t, (v + 1) % 3)[i] - (double)corner_of(t, v)[i];
    }
    s->length[v] = oracle_length_of(s->side[v]);
    s->reach = fmax(s->reach, oracle_length_of(s->corner[v]));
    s->diameter = fmax(s->diameter, s->length[v]);
  }
}

static void edges_of(sight *s) {
  for (int v = 0; v < 3; v++) {
    const double square = oracle_dot_of(s->side[v], s->side[v]);
    const double along = square > 0.0 ? -oracle_dot_of(s->corner[v], s->side[v]) / square : 0.0;
    double foot[3];
    s->share[v] = fmin(fmax(along, 0.0), 1.0);
    for (int i = 0; i < 3; i++) foot[i] = s->corner[v][i] + s->share[v] * s->side[v][i];
    s->away[v] = s->share[v] < 1.0 ? oracle_length_of(foot) : oracle_length_of(s->corner[(v + 1) % 3]);
  }
}

static void plane_of(const slab_triangle *t, sight *s) {
  const double most = s->length[0] * s->length[1];
  cross(s->side[0], s->side[1], s->normal);
  if (oracle_length_of(s->normal) <= 0x1p-20 * most) oracle_closed_normal(t, s->normal);
  s->area = oracle_length_of(s->normal);
  s->depth = INFINITY;
  s->height = 0.0;
  if (!(s->area > 0.0)) return;
  s->depth = fabs(oracle_dot_of(s->corner[0], s->normal)) / s->area;
  s->height = s->area / s->diameter;
  for (int v = 0; v < 3; v++) {
    double inward[3];
    cross(s->side[v], s->corner[v], inward);
    s->within[v] = -oracle_dot_of(s->normal, inward) / (s->area * s->length[v]);
  }
}

static bool has_foot(const sight *s) {
  return s->area > 0.0 && s->within[0] > 0.0 && s->within[1] > 0.0 && s->within[2] > 0.0;
}

/* Whether corners are few units of a common power of two, and their differences from the point are not rounded here. */
static bool is_whole(const sight *s) {
  int exponent;
  double largest = 0.0;
  for (int v = 0; v < 3; v++)
    for (int i = 0; i < 3; i++) largest = fmax(largest, fabs(s->corner[v][i]));
  (void)frexp(largest, &exponent);
  const double unit = ldexp(1.0, exponent - 4);
  bool whole = unit > 0x1p-24 && unit < 0x1p24; /* so no product underflows */
  for (int v = 0; v < 3; v++)
    for (int i = 0; i < 3; i++)
      whole = whole && floor(s->corner[v][i] / unit) * unit == s->corner[v][i] &&
              s->corner[(v + 1) % 3][i] - s->corner[v][i] == s->side[v][i];
  return whole && largest <= WHOLE_UNITS * unit;
}

static void look(const slab_triangle *t, const double p[3], sight *s) {
  sides_of(t, p, s);
  edges_of(s);
  plane_of(t, s);
  s->is_whole = is_whole(s);
}

static double slack_of(const sight *s) {
  const double fine = s->area > 0.0 ? fmin(s->reach * 0x1p-146 / s->area, 2.0 * s->diameter) : 0.0;
  return TRIANGLE_SLACK * s->reach + fine + ORACLE_FAINT;
}

/* How far the foot on the plane may be off in a kernel: the plane is turned by an angle. */
static double foot_error(const sight *s, double slack) {
  const double angle = fmin(slack / s->height, 1.0);
  return slack + angle * (s->depth + angle * s->reach);
}

/* The same where the kernel tests whether the foot is inside. */
static double foot_slack(const sight *s, double slack) { return s->is_whole ? 0.0 : foot_error(s, slack); }

static double nearest_edge(const sight *s) { return fmin(s->away[0], fmin(s->away[1], s->away[2])); }

/* Whether the closest point is certainly corner v, in kernels too. */
static bool is_corner(const sight *s, int v, double slack) {
  const int before = (v + 2) % 3, opposite = (v + 1) % 3;
  const double doubt = s->is_whole ? 0.0 : slack, off = foot_slack(s, slack);
  const double out = oracle_dot_of(s->corner[v], s->side[v]), in = oracle_dot_of(s->corner[v], s->side[before]);
  bool beside = !(s->area > 0.0);
  for (int k = 0; k < 3 && s->area > 0.0; k++)
    beside = beside || (off > 0.0 ? s->within[k] < -off : s->within[k] <= 0.0);
  return beside && out >= doubt * s->length[v] && in <= -doubt * s->length[before] &&
         s->away[opposite] > oracle_length_of(s->corner[v]) + 2.0 * slack;
}

void oracle_near_triangle(const slab_triangle *t, const double p[3], oracle_near *near) {
  sight s;
  look(t, p, &s);
  near->distance = has_foot(&s) ? s.depth : nearest_edge(&s);
  near->reach = s.reach;
  near->slack = slack_of(&s);
  near->is_exact = false;
  for (int v = 0; v < 3 && !near->is_exact; v++)
    near->is_exact = oracle_square_is_exact(s.corner[v], &near->square) && is_corner(&s, v, near->slack);
}

/* ---- the reported point ------------------------------------------------------ */

/* From the query's point, by its weights. */
static void weighed(const sight *s, const oracle_touch *touch, double at[3]) {
  const double u = (double)touch->u, v = (double)touch->v;
  for (int i = 0; i < 3; i++) at[i] = s->corner[0][i] + u * s->side[0][i] - v * s->side[2][i];
}

static const char *check_face(const sight *s, const double told[3], const oracle_touch *touch, double slack) {
  const double off = foot_slack(s, slack);
  double at[3], foot[3], spread = 0.0;
  if (!(s->area > 0.0)) return NULL; /* a plane by rounding alone: only the surface is checked */
  const double share = oracle_dot_of(s->corner[0], s->normal) / (s->area * s->area);
  for (int i = 0; i < 3; i++) foot[i] = s->normal[i] * share;
  for (int v = 0; v < 3; v++) {
    if (s->is_whole ? s->within[v] <= 0.0 : s->within[v] < -off) return "a face, and the projection is beside it";
    spread += oracle_apart(s->corner[v], told) * s->length[(v + 1) % 3] / s->area;
  }
  if (oracle_apart(told, foot) > foot_error(s, slack) + touch->tolerance) return "the point is not the projection";
  weighed(s, touch, at);
  const double apart = slack + touch->tolerance + foot_error(s, slack) * spread;
  return oracle_apart(at, told) <= apart ? NULL : "u and v are not those of the point";
}

/* The edge of the weights, -1: none, and how far along it they are. */
static int edge_of(const oracle_touch *touch, double *share) {
  const double u = (double)touch->u, v = (double)touch->v;
  if (v == 0.0) return *share = u, 0;
  if (u == 0.0) return *share = 1.0 - v, 2;
  return fabs(u + v - 1.0) <= 2.0 * ORACLE_U ? (*share = v, 1) : -1;
}

static const char *check_edge(const sight *s, const double told[3], const oracle_touch *touch, double slack) {
  double share = 0.0, at[3];
  const int edge = edge_of(touch, &share);
  if (edge < 0) return "an edge, and u and v are not on one";
  if (fabs(share - s->share[edge]) * s->length[edge] > slack + touch->tolerance)
    return "u and v are not the closest of their edge";
  weighed(s, touch, at);
  return oracle_apart(at, told) <= slack + touch->tolerance ? NULL : "u and v are not those of the point";
}

static const char *check_corner(const sight *s, const double told[3], const oracle_touch *touch, double slack) {
  const int v = touch->u == 1.0f ? 1 : touch->v == 1.0f ? 2 : 0, before = (v + 2) % 3;
  const double off = s->is_whole ? 0.0 : slack;
  if (touch->u + touch->v != (v == 0 ? 0.0f : 1.0f)) return "a vertex, and u and v are not at one";
  if (s->share[v] * s->length[v] > off && (1.0 - s->share[before]) * s->length[before] > off)
    return "a vertex, and both of its edges have nearer points";
  return oracle_apart(s->corner[v], told) <= slack + touch->tolerance ? NULL : "the point is not the vertex";
}

static bool is_weight(float x) { return x >= 0.0f && x <= 1.0f; }

const char *oracle_touch_triangle(const slab_triangle *t, const double p[3], const oracle_near *near,
                                  const oracle_touch *touch) {
  sight s;
  look(t, p, &s);
  const double told[3] = {touch->point[0] - p[0], touch->point[1] - p[1], touch->point[2] - p[2]};
  const double off = foot_slack(&s, near->slack);
  if (!is_weight(touch->u) || !is_weight(touch->v) || (double)touch->u + (double)touch->v > 1.0 + 4.0 * ORACLE_U)
    return "u and v are no weights";
  if (touch->feature == SLAB_FEATURE_FACE) return check_face(&s, told, touch, near->slack);
  if (s.area > 0.0 && fmin(s.within[0], fmin(s.within[1], s.within[2])) > off)
    return "not a face, and the projection is inside";
  for (int v = 0; v < 3 && touch->feature != SLAB_FEATURE_VERTEX; v++)
    if (is_corner(&s, v, near->slack)) return "not a vertex, and one is closest";
  return touch->feature == SLAB_FEATURE_EDGE ? check_edge(&s, told, touch, near->slack)
                                             : check_corner(&s, told, touch, near->slack);
}
