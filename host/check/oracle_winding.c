/* Judges one winding number: counts crossings and solids by brute force.
 *
 * Of each solid and each instance it knows the least and the most that may be counted. A sphere's distance from its
 * centre is off by 4 u of itself (three differences, two sums, a root) and is held against the radius. A place along an
 * axis of an oriented box is off by 4 u of the sum of its terms' sizes.
 *
 * It does not know gates. They hold all vertices and centres of the model's primitives, where these really are. A point
 * that these surround along every axis is in the gate. */
#include <stdio.h>

#include "check/oracle_points.h"

typedef struct count_span {
  int64_t least, most;
} count_span;

/* ---- solids -------------------------------------------------------------------- */

/* Whether `size` is at most `limit`, where it is off by `slack`. */
static count_span holds(double size, double limit, double slack) {
  return (count_span){size + slack <= limit, size - slack <= limit};
}

static count_span both(count_span a, count_span b) { return (count_span){a.least & b.least, a.most & b.most}; }

static count_span count_box(const slab_box *box, const double p[3]) {
  bool is = true;
  for (int i = 0; i < 3; i++) is = is && (double)box->lower[i] <= p[i] && p[i] <= (double)box->upper[i];
  return (count_span){is, is};
}

static count_span count_sphere(const slab_sphere *sphere, const double p[3]) {
  const double from[3] = {p[0] - (double)sphere->center[0], p[1] - (double)sphere->center[1],
                          p[2] - (double)sphere->center[2]};
  const double length = oracle_length_of(from);
  double square;
  if (oracle_square_is_exact(from, &square)) return holds((double)sqrtf((float)square), (double)sphere->radius, 0.0);
  return holds(length, (double)sphere->radius, 8.0 * ORACLE_U * length + ORACLE_FAINT);
}

static count_span count_obb(const slab_obb *box, const double p[3]) {
  count_span inside = {1, 1};
  double from[3];
  bool exact = true;
  for (int i = 0; i < 3; i++) {
    from[i] = p[i] - (double)box->center[i];
    exact = exact && oracle_is_float(from[i]);
  }
  for (int k = 0; k < 3; k++) {
    const double axis[3] = {(double)box->axes[k][0], (double)box->axes[k][1], (double)box->axes[k][2]};
    double slack;
    const double place = oracle_dot(from, axis, exact ? 0.0 : 1.0, &slack);
    inside = both(inside, holds(fabs(place), (double)box->half_size[k], slack + (exact ? 0.0 : ORACLE_FAINT)));
  }
  return inside;
}

static count_span count_plane(const slab_plane *plane, const double p[3]) {
  (void)plane, (void)p;
  return (count_span){0, 0};
}

/* ---- triangles ----------------------------------------------------------------- */

static count_span count_triangle(const slab_triangle *t, const double p[3]) {
  for (int i = 0; i < 2; i++)
    if ((double)fmaxf(t->a[i], fmaxf(t->b[i], t->c[i])) < p[i] ||
        (double)fminf(t->a[i], fminf(t->b[i], t->c[i])) > p[i])
      return (count_span){0, 0};
  const int crossing = oracle_crossing(t, p);
  return (count_span){crossing, crossing};
}

/* ---- scenes -------------------------------------------------------------------- */

static count_span count_primitive(slab_shape kind, const void *shape, const double p[3]) {
  switch (kind) {
#define COUNT_OF(shape_kind, name, names, noun, floats, form, where, source) \
  case shape_kind:                                                           \
    return count_##name(shape, p);
    SHAPES(COUNT_OF)
#undef COUNT_OF
  }
  return (count_span){0, 0};
}

static count_span count_scene(const oracle_scene *, const float p[3], visibility sees);

/* An instance, in those that its scene is in. */
typedef struct standing {
  const oracle_instance *instance;
  const struct standing *outer;
} standing;

typedef struct reach {
  double lower[3], upper[3];
} reach;

static void reach_point(const standing *in, const float at[3], reach *r) {
  double p[3] = {(double)at[0], (double)at[1], (double)at[2]}, out[3];
  for (; in != NULL; in = in->outer) {
    oracle_point_outside(in->instance, p, out);
    for (int i = 0; i < 3; i++) p[i] = out[i];
  }
  for (int i = 0; i < 3; i++) {
    r->lower[i] = fmin(r->lower[i], p[i]);
    r->upper[i] = fmax(r->upper[i], p[i]);
  }
}

static void reach_scene(const standing *in, const oracle_scene *model, reach *r) {
  for (uint32_t g = 0; g < model->count; g++) {
    const oracle_geometry *of = &model->geometries[g];
    for (uint32_t i = 0; i < of->count; i++) {
      if (of->dropped != NULL && of->dropped[i]) continue;
      const standing next = {(const oracle_instance *)of->primitives + i, in};
      const float *shape = (const float *)of->primitives + (size_t)i * oracle_floats(of->kind);
      if (of->model != NULL) reach_scene(&next, of->model, r);
      for (int v = 0; of->model == NULL && of->kind == SLAB_TRIANGLE && v < 3; v++) reach_point(in, shape + 3 * v, r);
      if (of->model == NULL && (of->kind == SLAB_SPHERE || of->kind == SLAB_OBB)) reach_point(in, shape, r);
    }
  }
}

static bool is_surrounded(const oracle_instance *instance, const oracle_scene *model, const float p[3]) {
  const standing in = {instance, NULL};
  reach r = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  bool is = true;
  if (model->open) return true; /* there is no gate */
  reach_scene(&in, model, &r);
  for (int i = 0; i < 3; i++) is = is && r.lower[i] <= (double)p[i] && (double)p[i] <= r.upper[i];
  return is;
}

static count_span count_instance(const oracle_instance *instance, const oracle_scene *model, const float p[3],
                                 visibility sees) {
  float inside[3];
  oracle_point_inside(instance, p, inside);
  if (!oracle_point_is_valid(inside)) return (count_span){0, 0};
  count_span span = count_scene(model, inside, sees);
  if ((span.least == 0 && span.most == 0) || is_surrounded(instance, model, p)) return span;
  if (span.least > 0) span.least = 0;
  if (span.most < 0) span.most = 0;
  return span;
}

static void add_geometry(const oracle_geometry *g, const float p[3], visibility sees, count_span *sum) {
  const double point[3] = {(double)p[0], (double)p[1], (double)p[2]};
  for (uint32_t i = 0; i < g->count; i++) {
    if (g->dropped != NULL && g->dropped[i]) continue;
    if (g->model != NULL && !visibility_reaches(sees, ((const oracle_instance *)g->primitives)[i].world)) continue;
    const count_span one =
        g->model != NULL
            ? count_instance((const oracle_instance *)g->primitives + i, g->model, p, sees)
            : count_primitive(g->kind, (const float *)g->primitives + (size_t)i * oracle_floats(g->kind), point);
    sum->least += one.least;
    sum->most += one.most;
  }
}

static count_span count_scene(const oracle_scene *scene, const float p[3], visibility sees) {
  count_span sum = {0, 0};
  for (uint32_t g = 0; g < scene->count; g++) {
    const oracle_geometry *of = &scene->geometries[g];
    if (oracle_sees(sees, of)) add_geometry(of, p, sees, &sum);
  }
  return sum;
}

oracle_judgement oracle_judge_winding(const oracle_scene *scene, const float point[3], int32_t winding, visibility sees,
                                      char *why, size_t why_size) {
  count_span span = {0, 0};
  if (oracle_point_is_valid(point)) span = count_scene(scene, point, sees);
  if (why_size > 0) why[0] = '\0';
  if (winding >= span.least && winding <= span.most && span.least == span.most) return ORACLE_RIGHT;
  (void)snprintf(why, why_size, "winding %d, of %lld to %lld", winding, (long long)span.least, (long long)span.most);
  return winding >= span.least && winding <= span.most ? ORACLE_TOO_CLOSE : ORACLE_WRONG;
}

/* ---- fractions ------------------------------------------------------------------- */

/* A number and its error, the same of edges that the point is on, and how many triangles it may be on. Each such edge
 * may count for 1 more or less. */
typedef struct number_span {
  double number, slack, on_edges;
  int64_t unsure;
} number_span;

/* How much a float's rounding turns an edge that a point is beside: u of the way to its ends, seen from as near as it
 * passes. Three differences, a root, a quotient and products round. */
static double edge_slack(const double a[3], const double b[3]) {
  double along[3], near[3];
  for (int i = 0; i < 3; i++) along[i] = b[i] - a[i];
  const double square = oracle_dot_of(along, along), place = square > 0.0 ? -oracle_dot_of(a, along) / square : 0.0;
  const double at = fmin(fmax(place, 0.0), 1.0);
  for (int i = 0; i < 3; i++) near[i] = a[i] + at * along[i];
  const double size = fmax(oracle_length_of(a), oracle_length_of(b)), distance = oracle_length_of(near);
  return distance > ORACLE_FAINT ? 4.0 * ORACLE_U * size / distance : 1.0;
}

/* Adds a triangle's solid angle in turns, by the tangent of its half (Van Oosterom and Strackee 1983). */
static void add_triangle(const slab_triangle *t, const double p[3], number_span *s) {
  const float *corners[3] = {t->a, t->b, t->c};
  double r[3][3], length[3], cross[3];
  for (int v = 0; v < 3; v++) {
    for (int i = 0; i < 3; i++) r[v][i] = (double)corners[v][i] - p[i];
    length[v] = oracle_length_of(r[v]);
  }
  for (int i = 0; i < 3; i++) cross[i] = r[1][(i + 1) % 3] * r[2][(i + 2) % 3] - r[1][(i + 2) % 3] * r[2][(i + 1) % 3];
  const double size = length[0] * length[1] * length[2], across = oracle_dot_of(r[0], cross);
  const double along = size + oracle_dot_of(r[0], r[1]) * length[2] + oracle_dot_of(r[1], r[2]) * length[0] +
                       oracle_dot_of(r[2], r[0]) * length[1];
  const double error = 0x1p-48 * size, most = sqrt(across * across + along * along);
  s->number += atan2(across, along) / (2.0 * acos(-1.0));
  s->slack += most > 0.0 ? fmin(1.0, error / most) : 1.0;
  if (fabs(across) <= error && along <= error) s->unsure++;
  for (int v = 0; v < 3; v++) {
    const double beside = edge_slack(r[v], r[(v + 1) % 3]);
    if (beside < 0x1p-8)
      s->slack = fmax(s->slack, beside);
    else
      s->on_edges += fmin(1.0, beside);
  }
}

oracle_judgement oracle_judge_winding_number(const oracle_scene *scene, const float point[3], float number,
                                             visibility sees, char *why, size_t why_size) {
  const double p[3] = {(double)point[0], (double)point[1], (double)point[2]};
  number_span s = {0.0, 1e-5, 0.0, 0};
  count_span solids = {0, 0};
  const bool valid = oracle_point_is_valid(point);
  for (uint32_t g = 0; g < scene->count && valid; g++) {
    const oracle_geometry *of = &scene->geometries[g];
    if (!oracle_sees(sees, of)) continue;
    const bool angles = of->model == NULL && of->kind == SLAB_TRIANGLE;
    if (!angles) add_geometry(of, point, sees, &solids);
    for (uint32_t i = 0; angles && i < of->count; i++)
      if (of->dropped == NULL || !of->dropped[i]) add_triangle((const slab_triangle *)of->primitives + i, p, &s);
  }
  s.slack += s.on_edges;
  const double off = (double)number - s.number;
  const double least = (double)(solids.least - s.unsure) - s.slack, most = (double)(solids.most + s.unsure) + s.slack;
  const bool certain = solids.least == solids.most && s.unsure == 0 && s.slack < 0.25;
  if (why_size > 0) why[0] = '\0';
  if (off >= least && off <= most && certain) return ORACLE_RIGHT;
  (void)snprintf(why, why_size, "winding number %.9g, of %.9g + %lld to %lld, off by %.3g", (double)number, s.number,
                 (long long)solids.least, (long long)solids.most, s.slack);
  return off >= least && off <= most ? ORACLE_TOO_CLOSE : ORACLE_WRONG;
}
