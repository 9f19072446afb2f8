/* Judges t of the world by the ray as it is given, in double, and the primitive as it is stored: floats that count from
 * the origin.
 *
 * Let d' be the direction times the power of two, p' = o - O, and F + s G the float ray. The oracle encloses both the
 * exact crossing of that ray, at s, and the t that a kernel may report, within a width w. The float ray differs from
 * the line by one rounding of its origin, u |F| per coordinate, and one of its direction, u |G|. Kernels also drop
 * components of the direction below 2^-126. So at s the line is no further from the primitive than
 *
 *   sqrt(3) (u max|F| + 2^-149) + s (u |G| + 2^-125).
 *
 * The reported point is at the reported t. It is off along the line by the kernel's error, w at most. Where t is
 * clamped to an end of the range, it is also off by that end's rounding to float, u |t| of the float ray. That is at
 * most |d'| (w + 2 u |order| + 2^-148). The distance to a primitive changes by no more than the point moves. So the sum
 * of both bounds the distance of the reported point from the primitive, at every angle. On a plane, at an angle whose
 * cosine is c, that is |t - t_exact| |d| <= sum / |c|.
 *
 * All doubles of the conversion and of this file add 2^-53 of the largest numbers for each of some ten roundings:
 * 2^-48 of all of them is more. Compile without contraction or fast mathematics. */
#include "check/oracle_far.h"

#include <math.h>
#include <stdio.h>

#include "check/oracle_parts.h"

/* The reported point, and how far from the primitive it may be. */
typedef struct far_point {
  double at[3];
  double allowed;
} far_point;

static double dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static double length_of(const double a[3]) { return sqrt(dot3(a, a)); }

static void less(const double a[3], const double b[3], double to[3]) {
  for (int k = 0; k < 3; k++) to[k] = a[k] - b[k];
}

/* size: of the primitive's numbers. t: encloses the t that a kernel may report. */
static far_point point_of(const double origin[3], const reference_line *line, const far_claim *claim, const double t[2],
                          double size) {
  const double along = ldexp(claim->t, -line->exponent), s = fmax(fabs(t[0]), fabs(t[1]));
  double d[3], g[3], largest = 0.0, numbers = size;
  far_point point;
  for (int k = 0; k < 3; k++) {
    d[k] = ldexp(line->given.direction[k], line->exponent);
    g[k] = (double)line->ray.direction[k];
    const double p = line->given.origin[k] - origin[k];
    point.at[k] = p + along * d[k];
    largest = fmax(largest, fabs((double)line->ray.origin[k]));
    numbers += fabs(p) + (fabs(along) + fabs(line->begin)) * fabs(d[k]);
  }
  const double line_off = 1.7321 * (ORACLE_U * largest + 0x1p-149) + s * (ORACLE_U * length_of(g) + 0x1p-125);
  const double t_off = (t[1] - t[0]) + 2.0 * ORACLE_U * fabs((double)claim->order) + 0x1p-148;
  point.allowed = line_off + length_of(d) * t_off + 0x1p-48 * numbers;
  return point;
}

/* ---- distances ---- */

static double plane_distance(const double x[3], const slab_plane *s) {
  const double n[3] = {s->normal[0], s->normal[1], s->normal[2]};
  return fabs(dot3(n, x) - (double)s->offset) / length_of(n);
}

static double sphere_distance(const double x[3], const slab_sphere *s) {
  const double c[3] = {s->center[0], s->center[1], s->center[2]};
  double from[3];
  less(x, c, from);
  return fabs(length_of(from) - (double)s->radius);
}

/* From the nearest face, inside and outside. */
static double box_distance(const double x[3], const slab_box *s) {
  double inside = INFINITY, outside[3];
  for (int k = 0; k < 3; k++) {
    const double below = (double)s->lower[k] - x[k], above = x[k] - (double)s->upper[k];
    outside[k] = fmax(0.0, fmax(below, above));
    inside = fmin(inside, fmin(fabs(below), fabs(above)));
  }
  const double distance = length_of(outside);
  return distance > 0.0 ? distance : inside;
}

static double segment_distance(const double x[3], const double a[3], const double b[3]) {
  double along[3], from[3];
  less(b, a, along);
  less(x, a, from);
  const double square = dot3(along, along),
               part = square > 0.0 ? fmin(1.0, fmax(0.0, dot3(from, along) / square)) : 0.0;
  for (int k = 0; k < 3; k++) from[k] -= part * along[k];
  return length_of(from);
}

static void cross3(const double a[3], const double b[3], double to[3]) {
  for (int k = 0; k < 3; k++) to[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* From its plane where the point is above the triangle, else from the nearest edge. */
static double triangle_distance(const double x[3], double v[3][3]) {
  double ab[3], ac[3], n[3], nearest = INFINITY;
  bool above = true;
  less(v[1], v[0], ab);
  less(v[2], v[0], ac);
  cross3(ab, ac, n);
  for (int k = 0; k < 3; k++) {
    const double *a = v[k], *b = v[(k + 1) % 3];
    double edge[3], out[3], from[3];
    less(b, a, edge);
    less(x, a, from);
    cross3(edge, n, out);
    above = above && dot3(from, out) <= 0.0;
    nearest = fmin(nearest, segment_distance(x, a, b));
  }
  const double length = length_of(n);
  double from[3];
  less(x, v[0], from);
  return above && length > 0.0 ? fmin(nearest, fabs(dot3(from, n)) / length) : nearest;
}

static double distance_of(slab_shape kind, const void *shape, const double x[3]) {
  const float *values = shape;
  double v[3][3];
  switch (kind) {
    case SLAB_PLANE:
      return plane_distance(x, shape);
    case SLAB_SPHERE:
      return sphere_distance(x, shape);
    case SLAB_BOX:
      return box_distance(x, shape);
    case SLAB_OBB:
      return 0.0;
    case SLAB_TRIANGLE:
      break;
  }
  for (int k = 0; k < 9; k++) v[k / 3][k % 3] = (double)values[k];
  return triangle_distance(x, v);
}

/* Its largest number, times as many as matter. A plane's offset counts in lengths of the normal. */
static double size_of(slab_shape kind, const void *shape) {
  const float *values = shape;
  double size = 0.0;
  for (size_t k = 0; k < oracle_floats(kind); k++) size += fabs((double)values[k]);
  if (kind != SLAB_PLANE) return size;
  const double n[3] = {values[0], values[1], values[2]};
  return fabs((double)values[3]) / length_of(n);
}

/* ---- judging ---- */

static const oracle_geometry *geometry_of(const oracle_scene *scene, uint32_t id) {
  for (uint32_t g = 0; g < scene->count; g++)
    if (scene->geometries[g].id == id) return &scene->geometries[g];
  return NULL;
}

oracle_judgement oracle_judge_far(const oracle_scene *scene, const double origin[3], const reference_line *line,
                                  const far_claim *claim, const slab_cast_options *options, char *why,
                                  size_t why_size) {
  const oracle_geometry *g = geometry_of(scene, claim->id.geometry);
  const uint32_t i = claim->id.primitive;
  double t[2];
  if (g == NULL || g->model != NULL || g->kind == SLAB_OBB || i >= g->count) return ORACLE_RIGHT;
  if (oracle_decide(g, i, SLAB_CLOSEST, &line->ray, options, t) != ORACLE_HIT || !isfinite(t[1] - t[0])) {
    (void)snprintf(why, why_size, "primitive %u of geometry %u is undecided", i, g->id);
    return ORACLE_TOO_CLOSE;
  }
  const void *shape = (const float *)g->primitives + (size_t)i * oracle_floats(g->kind);
  const far_point point = point_of(origin, line, claim, t, size_of(g->kind, shape));
  const double distance = distance_of(g->kind, shape, point.at);
  if (distance <= point.allowed) return ORACLE_RIGHT;
  (void)snprintf(why, why_size,
                 "primitive %u of geometry %u: t %.17g leads to a point %.9g from it, and %.9g is allowed", i, g->id,
                 claim->t, distance, point.allowed);
  return ORACLE_WRONG;
}
