/* Instances.
 *
 * The contract defines a ray in a model's space: o' = B (o - p) and d' = B d of the prepared direction, rounded at each
 * operation, in a stated order. The oracle does so by itself, in floats, and judges primitives with that ray as with
 * any other. So it is as exact there as outside.
 *
 * A kernel also tests whether the ray outside passes the instance's gate, which the oracle does not have. It knows that
 * the gate holds the bounds of each primitive under the inverse of B. The gate has 2^-19 max(|A| |corner|) beside them
 * on each axis (K is at least 1), where the corner is the model's. Take the bounds of the primitive that is hit, in the
 * model's space, with half of that beside them, 2^-20 of the model's largest coordinate. A ray whose line, in real
 * numbers, meets these passes the gate. This is computed in double, whose errors are 2^-50 of the terms. Where it is
 * not certain no hit is. For the line that is judged and the line outside differ by up to 7 u K (|o - p| + |x - p|). So
 * a ray from far away may hit the model in its own space and miss the gate.
 *
 * t is raised to where the ray enters the gate, and that is not after it enters the bounds that the gate holds. */
#include <string.h>

#include "check/oracle_parts.h"

/* Relative errors of a sum of three products in double, with what went before. */
#define FINE 0x1p-50

/* The inverse of B, in double. */
static void invert(const float b[9], double a[9]) {
  double sum = 0.0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const int r = (j + 1) % 3, s = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
      a[3 * i + j] = (double)b[3 * r + c] * (double)b[3 * s + d] - (double)b[3 * r + d] * (double)b[3 * s + c];
    }
  }
  for (int j = 0; j < 3; j++) sum += (double)b[j] * a[3 * j];
  for (int i = 0; i < 9; i++) a[i] /= sum;
}

/* ---- bounds of a model's visible primitives ---------------------------------------------------- */

static void nothing_yet(double lower[3], double upper[3]) {
  for (int k = 0; k < 3; k++) {
    lower[k] = INFINITY;
    upper[k] = -INFINITY;
  }
}

static void grow(oracle_scene *scene, const double lower[3], const double upper[3]) {
  for (int k = 0; k < 3; k++) {
    scene->lower[k] = fmin(scene->lower[k], lower[k]);
    scene->upper[k] = fmax(scene->upper[k], upper[k]);
    scene->open = scene->open || isinf(lower[k]) || isinf(upper[k]);
  }
}

/* Bounds that a primitive reaches. Rows of oriented boxes are orthonormal within 1e-5. False for a box that is never
 * hit. */
static bool bounds_of_shape(slab_shape kind, const float *f, double lower[3], double upper[3]) {
  for (int k = 0; k < 3; k++) {
    double half = kind == SLAB_SPHERE ? (double)f[3] : 0.0;
    for (int r = 0; kind == SLAB_OBB && r < 3; r++)
      half += (1.0 - 2e-5) * fabs((double)f[6 + 3 * r + k]) * (double)f[3 + r];
    lower[k] = (double)f[k] - half;
    upper[k] = kind == SLAB_BOX ? (double)f[3 + k] : (double)f[k] + half;
    for (int v = 1; kind == SLAB_TRIANGLE && v < 3; v++) {
      lower[k] = fmin(lower[k], (double)f[3 * v + k]);
      upper[k] = fmax(upper[k], (double)f[3 * v + k]);
    }
    if (!(lower[k] <= upper[k])) return false;
  }
  return true;
}

/* Turns bounds in a model into bounds where an instance of it is: lower and upper become these. */
static void stand(const oracle_instance *instance, double lower[3], double upper[3]) {
  double a[9], low[3], high[3];
  invert(instance->inverse, a);
  memcpy(low, lower, sizeof low);
  memcpy(high, upper, sizeof high);
  for (int i = 0; i < 3; i++) {
    lower[i] = upper[i] = (double)instance->place[i];
    for (int j = 0; j < 3; j++) {
      lower[i] += fmin(a[3 * i + j] * low[j], a[3 * i + j] * high[j]);
      upper[i] += fmax(a[3 * i + j] * low[j], a[3 * i + j] * high[j]);
    }
  }
}

static bool is_empty(const oracle_scene *scene) { return !scene->open && !(scene->lower[0] <= scene->upper[0]); }

static void grow_by_instances(oracle_scene *scene, const oracle_geometry *g) {
  const oracle_instance *instances = g->primitives;
  double lower[3], upper[3];
  for (uint32_t i = 0; i < g->count && !is_empty(g->model); i++) {
    scene->open = scene->open || g->model->open;
    if (g->model->open) continue;
    memcpy(lower, g->model->lower, sizeof lower);
    memcpy(upper, g->model->upper, sizeof upper);
    stand(&instances[i], lower, upper);
    grow(scene, lower, upper);
  }
}

void oracle_measure(oracle_scene *scene) {
  nothing_yet(scene->lower, scene->upper);
  scene->open = false;
  for (uint32_t g = 0; g < scene->count; g++) {
    const oracle_geometry *of = &scene->geometries[g];
    if (of->model != NULL) grow_by_instances(scene, of);
    for (uint32_t i = 0; of->model == NULL && i < of->count; i++) {
      if (of->dropped != NULL && of->dropped[i]) continue;
      scene->open = scene->open || of->kind == SLAB_PLANE;
      double lower[3], upper[3];
      const float *shape = (const float *)of->primitives + (size_t)i * oracle_floats(of->kind);
      if (of->kind != SLAB_PLANE && bounds_of_shape(of->kind, shape, lower, upper)) grow(scene, lower, upper);
    }
  }
}

/* ---- gates --------------------------------------------------------------------------- */

/* A line in the model's space along one axis, and when it is between the bounds there. */
typedef struct between {
  double near, far, error; /* of both times; infinite where the line is about parallel to the planes */
  double inside, speed;    /* then: how far it is certainly inside at t = 0, and how fast it may leave */
} between;

static between pass_between(const oracle_line *inner, double lower, double upper, int axis) {
  const oracle_line *outer = inner->outer;
  const oracle_instance *instance = inner->instance;
  double at = 0.0, along = 0.0, at_error = 0.0, along_error = 0.0;
  for (int k = 0; k < 3; k++) {
    const double b = (double)instance->inverse[3 * axis + k], from = outer->origin[k] - (double)instance->place[k];
    at += b * from;
    along += b * outer->direction[k];
    at_error += FINE * fabs(b * from);
    along_error += FINE * fabs(b * outer->direction[k]);
  }
  if (fabs(along) <= 4.0 * along_error)
    return (between){-INFINITY, INFINITY, 0.0, fmin(at - lower, upper - at) - at_error, fabs(along) + along_error};
  const double near = ((along > 0.0 ? lower : upper) - at) / along, far = ((along > 0.0 ? upper : lower) - at) / along;
  const double error =
      2.0 / fabs(along) * (at_error + FINE * (fabs(lower) + fabs(upper)) + fmax(fabs(near), fabs(far)) * along_error);
  return (between){near, far, error, 0.0, 0.0};
}

/* Whether the ray outside certainly passes the gate, if it meets these bounds in the model. */
static bool passes(const oracle_line *inner, const double lower[3], const double upper[3]) {
  const oracle_line *outer = inner->outer;
  const oracle_scene *model = inner->model;
  double enter = outer->t_min.hi, leave = outer->t_max.lo;
  between times[3];
  if (model->open) return true;
  for (int i = 0; i < 3; i++) {
    const double beside = 0x1p-20 * fmax(fabs(model->lower[i]), fabs(model->upper[i]));
    times[i] = pass_between(inner, lower[i] - beside, upper[i] + beside, i);
    const double near = times[i].near + times[i].error, far = times[i].far - times[i].error;
    if (near + 4.0 * ORACLE_U * fabs(near) > outer->t_max.lo || far - 4.0 * ORACLE_U * fabs(far) < outer->t_min.hi)
      return false;
    for (int j = 0; j < i; j++)
      if (near > times[j].far - times[j].error || times[j].near + times[j].error > far) return false;
    enter = fmax(enter, near);
    leave = fmin(leave, far);
  }
  for (int i = 0; i < 3; i++)
    if (times[i].inside < times[i].speed * fmax(fabs(enter), fabs(leave))) return false;
  return true;
}

/* The latest t at which a kernel can find that the ray enters the gate, which holds these bounds outside. */
static double enters_before(const oracle_line *inner, const double lower[3], const double upper[3]) {
  const oracle_line *outer = inner->outer;
  const oracle_instance *instance = inner->instance;
  double enter = outer->t_min.hi;
  if (inner->model->open) return enter;
  for (int i = 0; i < 3; i++) {
    const double d = outer->direction[i], plane = d > 0.0 ? lower[i] : upper[i];
    if (d == 0.0) continue;
    const double near = (plane - outer->origin[i]) / d;
    const double fine = FINE * (fabs(lower[i]) + fabs(upper[i]) + fabs((double)instance->place[i])) / fabs(d);
    enter = fmax(enter, near + 3.001 * ORACLE_U * fabs(near) + fine + ORACLE_TINY);
  }
  return enter;
}

/* ---- the ray in a model -------------------------------------------------------------- */

/* B v, in floats. */
static void turn(const float b[9], const float v[3], float turned[3]) {
  for (int i = 0; i < 3; i++) {
    const float x = b[3 * i] * v[0], y = b[3 * i + 1] * v[1], z = b[3 * i + 2] * v[2];
    turned[i] = (x + y) + z;
  }
}

void oracle_point_inside(const oracle_instance *instance, const float p[3], float inside[3]) {
  float from[3];
  for (int i = 0; i < 3; i++) from[i] = p[i] - instance->place[i];
  turn(instance->inverse, from, inside);
}

void oracle_point_outside(const oracle_instance *instance, const double inside[3], double p[3]) {
  double a[9];
  invert(instance->inverse, a);
  for (int i = 0; i < 3; i++)
    p[i] = (double)instance->place[i] + a[3 * i] * inside[0] + a[3 * i + 1] * inside[1] + a[3 * i + 2] * inside[2];
}

/* A length turned by A, the inverse of B, is off from scale by half of the norm of A transpose(A) / scale^2 - 1. That
 * norm is at most three times its largest entry. */
double oracle_scale_of(const oracle_instance *instance, double *twist) {
  double a[9], square = 0.0, worst = 0.0;
  invert(instance->inverse, a);
  for (int i = 0; i < 9; i++) square += a[i] * a[i] / 3.0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const double dot = a[3 * i] * a[3 * j] + a[3 * i + 1] * a[3 * j + 1] + a[3 * i + 2] * a[3 * j + 2];
      worst = fmax(worst, fabs(dot / square - (i == j ? 1.0 : 0.0)));
    }
  *twist = 1.6 * worst;
  return sqrt(square);
}

bool oracle_line_enter(const oracle_line *outer, const oracle_instance *instance, const oracle_scene *model,
                       oracle_line *inner) {
  float from[3], along[3];
  slab_ray ray = {.t_min = (float)outer->t_min.lo, .t_max = (float)outer->t_max.hi};
  if (is_empty(model)) return false;
  for (int i = 0; i < 3; i++) {
    from[i] = (float)outer->origin[i] - instance->place[i];
    along[i] = (float)outer->direction[i];
  }
  turn(instance->inverse, from, ray.origin);
  turn(instance->inverse, along, ray.direction);
  if (oracle_line_prepare(&ray, inner) != ORACLE_RAY_VALID) return false;
  inner->outer = outer;
  inner->instance = instance;
  inner->model = model;
  inner->told = inner->back * outer->told;
  inner->certain =
      inner->certain && outer->certain && outer->t_min.lo == outer->t_min.hi && outer->t_max.lo == outer->t_max.hi;
  return true;
}

/* ---- results outside -------------------------------------------------------------- */

/* A t of a line, in lengths of the ray outside it, which reports its own ends as they were given. */
static oracle_span tell(const oracle_line *line, oracle_span t) {
  oracle_span told = oracle_final(line, t);
  if (t.lo <= line->t_min.hi) told = (oracle_span){fmin(told.lo, line->min_back.lo), fmax(told.hi, line->min_back.hi)};
  if (t.hi >= line->t_max.lo) told = (oracle_span){fmin(told.lo, line->max_back.lo), fmax(told.hi, line->max_back.hi)};
  return told;
}

void oracle_tell_outside(oracle_item *item) {
  const oracle_line *line = item->line;
  bool certain = line->certain;
  double lower[3], upper[3];
  bounds_of_shape(item->kind, item->shape, lower, upper);
  for (; line->outer != NULL; line = line->outer) {
    certain = certain && passes(line, lower, upper);
    stand(line->instance, lower, upper);
    const double raised = fmin(enters_before(line, lower, upper), line->outer->t_max.hi);
    item->t.hi = fmax(item->t.hi, raised);
    item->leave.hi = fmax(item->leave.hi, raised);
    item->t = tell(line->outer, item->t);
    item->leave = tell(line->outer, item->leave);
  }
  if (!certain) {
    item->verdict = oracle_both(item->verdict, ORACLE_UNDECIDED);
    item->joinable = false;
  }
  if (item->line->outer == NULL) return;
  const bool begins_with_range = item->t.hi <= line->min_back.hi;
  if (!begins_with_range && oracle_finite(item->t) != ORACLE_HIT)
    item->verdict = oracle_both(item->verdict, ORACLE_UNDECIDED);
}

/* transpose(B) n: 4 u of the terms, and at most 8 u for normalising. An error of n is turned like n. */
double oracle_normal_outside(const oracle_line *line, double n[3], double tolerance) {
  for (; line->outer != NULL; line = line->outer) {
    const float *b = line->instance->inverse;
    double turned[3], length = 0.0, error = 0.0;
    for (int i = 0; i < 3; i++) {
      double size = 0.0, column = 0.0;
      turned[i] = 0.0;
      for (int k = 0; k < 3; k++) {
        turned[i] += (double)b[3 * k + i] * n[k];
        size += fabs((double)b[3 * k + i] * n[k]);
        column += fabs((double)b[3 * k + i]);
      }
      error = fmax(error, 4.0 * ORACLE_U * size + tolerance * column);
      length += turned[i] * turned[i];
    }
    length = sqrt(length);
    for (int i = 0; i < 3; i++) n[i] = turned[i] / length;
    tolerance = 4.0 * error / length + 8.0 * ORACLE_U;
  }
  return tolerance;
}
