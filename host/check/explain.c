/* slab_explain: one ray and one primitive, step by step. Each number comes from a function of the kernels' own headers,
 * compiled as C11 like the CPU reference. What stands here calls these functions in the order of NAME_surface and adds
 * what follows from the numbers. The answer itself is that of NAME_surface and NAME_solid. */
#include <stdio.h>

#include "answer.h"

#include "../base/arithmetic.h"
#include "../base/status.h"
#include "../cast.h"
#include "../context.h"
#include "../geometry.h"
#include "../scene.h"

typedef struct telling {
  slab_step *steps;
  size_t capacity, count;
  const slab_ray *given;
  const prepared_ray *ray;
  const float *values; /* of the primitive */
  uint rules;
} telling;

static void add_step(telling *w, slab_step step) {
  if (w->count < w->capacity) w->steps[w->count] = step;
  w->count++;
}

static void tell(telling *w, const char *part, const char *name, float value, const char *formula, const char *note) {
  add_step(w, (slab_step){part, name, formula, note, value, 0});
}

static void ask(telling *w, const char *part, const char *name, mask yes, const char *formula, const char *note) {
  add_step(w, (slab_step){part, name, formula, note, yes ? 1.0f : 0.0f, 1});
}

static void tell_each(telling *w, const char *part, const char *const *names, const float *values, int n,
                      const char *formula) {
  for (int i = 0; i < n; i++) tell(w, part, names[i], values[i], formula, "");
}

static const char *const origin_names[] = {"origin x", "origin y", "origin z"};
static const char *const direction_names[] = {"direction x", "direction y", "direction z"};
static const char *const inverse_names[] = {"inverse x", "inverse y", "inverse z"};

/* ---- the ray --------------------------------------------------------------- */

static void tell_given(telling *w) {
  const slab_ray *r = w->given;
  for (int i = 0; i < 3; i++)
    tell(w, "ray", origin_names[i], r->origin[i], "",
         is_within(r->origin[i], COORDINATE_MAX) ? "" : "NaN or beyond 2^60: the ray is invalid");
  for (int i = 0; i < 3; i++)
    tell(w, "ray", direction_names[i], r->direction[i], "",
         is_within(r->direction[i], FLOAT_MAX) ? "" : "not finite: the ray is invalid");
  tell(w, "ray", "t_min", r->t_min, "", r->t_min == r->t_min ? "" : "NaN: the ray is invalid");
  tell(w, "ray", "t_max", r->t_max, "", r->t_max == r->t_max ? "" : "NaN: the ray is invalid");
  ask(w, "ray", "is valid", w->ray->state != RAY_INVALID, "no NaN; finite; the direction is not zero",
      w->ray->state == RAY_INVALID ? "an invalid ray hits nothing" : "");
}

static void tell_scaled(telling *w) {
  const prepared_ray *ray = w->ray;
  const ray_mask e = exponent_of(ray->forth[0]) + exponent_of(ray->forth[1]);
  tell(w, "scaled ray", "exponent", (float)e, "of the direction's largest component",
       e == 0 ? "the direction is as given"
              : "below, t counts the scaled direction: t here = t of the ray * 2^exponent");
  for (int i = 0; i < 3; i++)
    tell(w, "scaled ray", direction_names[i], ray->direction[i], "direction * 2^-exponent",
         ray->direction[i] != 0.0f         ? ""
         : w->given->direction[i] != 0.0f  ? "subnormal after scaling: counts as 0"
         : signbit(w->given->direction[i]) ? "-0 counts as +0, so that its inverse is +inf"
                                           : "");
  for (int i = 0; i < 3; i++)
    tell(w, "scaled ray", inverse_names[i], ray->inverse[i], "1 / direction, correctly rounded",
         ray->direction[i] == 0.0f ? "the ray is parallel to this axis' planes" : "");
  tell(w, "scaled ray", "t_min", ray->t_min, "t_min * 2^exponent", "");
  tell(w, "scaled ray", "t_max", ray->t_max, "t_max * 2^exponent",
       isinf(w->given->t_max) && !isinf(ray->t_max) ? "the largest t that stays finite" : "");
  ask(w, "scaled ray", "has a range", ray->state == RAY_LIVE, "t_min <= t_max",
      ray->state == RAY_LIVE ? "" : "the range holds no t: a plain miss");
}

/* ---- slabs ----------------------------------------------------------------- */

/* The names of three slabs' parts, and of what they make together. */
typedef struct slab_parts {
  const char *axis[3], *whole;
} slab_parts;

static const slab_parts box_parts = {{"x", "y", "z"}, "box"};
static const slab_parts frame_parts = {{"axis 0", "axis 1", "axis 2"}, "oriented box"};
static const slab_parts bounds_parts = {{"bounds x", "bounds y", "bounds z"}, "bounds"};
static const slab_parts padded_parts = {{"padded bounds x", "padded bounds y", "padded bounds z"}, "padded bounds"};

/* Three slabs, each between the planes that the ray crosses first and last along an axis of some frame. */
typedef struct slabs {
  const slab_parts *parts;
  octant_word axis[3];
  float origin[3], direction[3], inverse[3], near[3], far[3];
} slabs;

static const char *note_of_crossing(float t, float plane, float direction, bool is_near) {
  if (plane != plane) return "a bound that is NaN constrains nothing";
  if (t != t) return "0 * inf is NaN: the ray runs in this plane; NaN constrains nothing";
  if (isinf(plane)) return (t > 0.0f) == is_near ? "no such t: the box is void" : "unbounded: constrains nothing";
  if (!isinf(t) || direction != 0.0f) return "";
  return (t > 0.0f) == is_near ? "parallel, and outside of this plane: no t is inside"
                               : "parallel, and inside of this plane: constrains nothing";
}

static const char *note_of_bound(float fresh, float before, float after) {
  if (fresh != fresh) return "a comparison with NaN is false: unchanged";
  return after != before ? "this axis decides so far" : "unchanged";
}

static const char *note_of_decider(const slabs *s, const float t[3], float bound) {
  static const char *const decides[] = {"axis x decides", "axis y decides", "axis z decides"};
  static const char *const decides_own[] = {"axis 0 decides", "axis 1 decides", "axis 2 decides"};
  for (octant_word axis = 0; axis < 3; axis++)
    for (int i = 0; i < 3; i++)
      if (s->axis[i] == axis && t[i] == bound) return (s->parts == &frame_parts ? decides_own : decides)[axis];
  return "no plane constrains it";
}

static const char *note_of_overlap(const prepared_ray *ray, float enter, float leave, float limit) {
  const float widened = slab_widened(leave);
  if (enter > widened) return "no t is inside all three slabs: a miss";
  if (ray->t_min > widened) return "it ends before t_min: a miss";
  if (!(lanes_max(enter, ray->t_min) <= limit)) return "it begins beyond t_max: a miss";
  return enter > leave ? "enter is beyond leave by rounding alone: the widening keeps the hit" : "";
}

static void set_axis(slabs *s, int i, octant_word axis, float origin, float direction, float inverse, float near,
                     float far) {
  s->axis[i] = axis;
  s->origin[i] = origin;
  s->direction[i] = direction;
  s->inverse[i] = inverse;
  s->near[i] = near;
  s->far[i] = far;
}

/* The slabs of bounds, in the world's axes or in the order of the shear. */
static slabs bounds_slabs(const slab_parts *parts, const prepared_ray *ray, bool sheared, const float lower[3],
                          const float upper[3]) {
  slabs s = {.parts = parts};
  for (int i = 0; i < 3; i++) {
    const octant_word axis = sheared ? ray->k[i] : (octant_word)i;
    float near, far;
    bounds_planes(ray->inverse[axis], lower[i], upper[i], &near, &far);
    set_axis(&s, i, axis, ray->origin[axis], ray->direction[axis], ray->inverse[axis], near, far);
  }
  return s;
}

/* Tells of each axis, and what they make together: [*lo, *leave]. */
static void tell_slabs(telling *w, const slabs *s, float *lo, float *leave) {
  float near_t[3], far_t[3];
  *lo = -INFINITY;
  *leave = INFINITY;
  for (int i = 0; i < 3; i++) {
    const char *part = s->parts->axis[s->axis[i]];
    const bool is_negative = s->direction[i] < 0.0f;
    const float lo_before = *lo, leave_before = *leave;
    near_t[i] = slab_crossing(s->origin[i], s->inverse[i], s->near[i]);
    far_t[i] = slab_crossing(s->origin[i], s->inverse[i], s->far[i]);
    slab_span(s->origin[i], s->inverse[i], s->near[i], s->far[i], lo, leave);
    tell(w, part, "origin", s->origin[i], "", "");
    tell(w, part, "direction", s->direction[i], "", "");
    tell(w, part, "inverse", s->inverse[i], "1 / direction", "");
    tell(w, part, "near plane", s->near[i], is_negative ? "the upper plane" : "the lower plane",
         is_negative ? "the direction is negative" : "the direction is not negative");
    tell(w, part, "far plane", s->far[i], is_negative ? "the lower plane" : "the upper plane", "");
    tell(w, part, "near t", near_t[i], "(near plane - origin) * inverse",
         note_of_crossing(near_t[i], s->near[i], s->direction[i], true));
    tell(w, part, "far t", far_t[i], "(far plane - origin) * inverse",
         note_of_crossing(far_t[i], s->far[i], s->direction[i], false));
    tell(w, part, "enter", *lo, "near t > enter ? near t : enter", note_of_bound(near_t[i], lo_before, *lo));
    tell(w, part, "leave", *leave, "far t < leave ? far t : leave", note_of_bound(far_t[i], leave_before, *leave));
  }
  tell(w, s->parts->whole, "enter", *lo, "the greatest near t", note_of_decider(s, near_t, *lo));
  tell(w, s->parts->whole, "leave", *leave, "the least far t", note_of_decider(s, far_t, *leave));
}

static mask tell_overlap(telling *w, const char *whole, float lo, float leave) {
  const float limit = w->ray->t_max;
  const mask overlaps = slab_overlaps(lo, leave, w->ray->t_min, limit);
  tell(w, whole, "widened leave", slab_widened(leave), "max(leave * (1 + 2^-21), leave * (1 - 2^-21))",
       "covers the rounding of enter and leave");
  tell(w, whole, "clipped enter", lanes_max(lo, w->ray->t_min), "max(enter, t_min)", "");
  ask(w, whole, "overlaps", overlaps, "clipped enter <= widened leave and <= t_max",
      note_of_overlap(w->ray, lo, leave, limit));
  return overlaps;
}

/* Of padded bounds. Whether the ray overlaps them. */
static mask tell_padded(telling *w, bool sheared, const float lower[3], const float upper[3], float *lo, float *leave) {
  const slabs s = bounds_slabs(&padded_parts, w->ray, sheared, lower, upper);
  tell_slabs(w, &s, lo, leave);
  return tell_overlap(w, padded_parts.whole, *lo, *leave);
}

/* Tells which end of [lo, hi] is the crossing of a solid, and whether it counts. */
static void tell_solid_crossing(telling *w, const char *part, float lo, float hi, mask hit) {
  float t = 0.0f;
  const mask kept = solid_crossing(lo, hi, w->ray->t_min, w->ray->t_max, w->rules, &t);
  const bool is_outside = lo >= w->ray->t_min;
  const char *which = (w->rules & SLAB_CULL_FRONT) != 0 ? "front faces are culled: the exit"
                      : is_outside                      ? "enter is in range: the entry"
                                                        : "enter is before t_min, the ray starts inside: the exit";
  const char *why = kept                                              ? ""
                    : (w->rules & SLAB_CULL_BACK) != 0 && !is_outside ? "back faces are culled"
                                                                      : "the crossing is out of range";
  tell(w, part, "crossing", t, "enter >= t_min ? enter : exit", which);
  ask(w, part, "is hit", hit & kept, "t_min <= crossing <= t_max", hit ? why : "");
}

static void tell_no_hit(telling *w, const char *part, const char *why) { ask(w, part, "is hit", 0, "", why); }

/* ---- kinds of primitives: NAME_steps tells of the test NAME_surface -------- */

static const char *const plane_names[PLANE_ROWS] = {"normal x", "normal y", "normal z", "offset"};
static const char *const sphere_names[SPHERE_ROWS] = {"center x", "center y", "center z", "radius"};
static const char *const box_names[BOX_ROWS] = {"lower x", "lower y", "lower z", "upper x", "upper y", "upper z"};
static const char *const triangle_names[TRIANGLE_ROWS] = {"a x", "a y", "a z", "b x", "b y",
                                                          "b z", "c x", "c y", "c z"};
static const char *const obb_names[OBB_ROWS] = {"center x",    "center y", "center z", "half size 0", "half size 1",
                                                "half size 2", "axis 0 x", "axis 0 y", "axis 0 z",    "axis 1 x",
                                                "axis 1 y",    "axis 1 z", "axis 2 x", "axis 2 y",    "axis 2 z"};

static void plane_steps(telling *w, const char *part) {
  const float *n = w->values, offset = n[3];
  const plane_line p = plane_crossing(w->ray, n, offset);
  const bool is_culled = ((w->rules & SLAB_CULL_BACK) != 0 && !(p.along < 0.0f)) ||
                         ((w->rules & SLAB_CULL_FRONT) != 0 && !(p.along > 0.0f));
  const mask hit = (p.along != 0.0f) & (p.t >= w->ray->t_min) & (p.t <= w->ray->t_max);
  tell(w, part, "n.d", p.along, "(nx * dx + ny * dy) + nz * dz",
       p.along == 0.0f  ? "parallel to the plane: a miss, in the plane too"
       : p.along < 0.0f ? "against the normal: the front"
                        : "along the normal: the back");
  tell(w, part, "n.o", p.from, "(nx * ox + ny * oy) + nz * oz", "");
  tell(w, part, "crossing", p.t, "(offset - n.o) / n.d", "");
  ask(w, part, "is hit", hit && !is_culled, "n.d != 0 and t_min <= crossing <= t_max",
      hit ? (is_culled ? "this side is culled" : "") : (p.along != 0.0f ? "the crossing is out of range" : ""));
}

static void box_steps(telling *w, const char *part) {
  const prepared_ray *ray = w->ray;
  slabs s = {.parts = &box_parts};
  float near[3], far[3], lo, leave, hi;
  box_planes(ray, w->values, near, far);
  for (int i = 0; i < 3; i++)
    set_axis(&s, i, (octant_word)i, ray->origin[i], ray->direction[i], ray->inverse[i], near[i], far[i]);
  tell_slabs(w, &s, &lo, &leave);
  box_interval(ray, near, far, &lo, &leave, &hi);
  const mask overlaps = tell_overlap(w, part, lo, leave);
  tell(w, part, "exit", hi, "max(leave, enter)", "");
  ask(w, part, "passes the short test", box_reject(ray, w->values, ray->t_max) & 1,
      "enter <= the least (origin - far plane) * -inverse * (1 + 2^-19)", "never no where the slabs overlap");
  tell_solid_crossing(w, part, lo, hi, overlaps);
}

static void sphere_steps(telling *w, const char *part) {
  static const char *const from_names[] = {"f x", "f y", "f z"}, *const nearest_names[] = {"l x", "l y", "l z"};
  const float *center = w->values, radius = center[3];
  float lower[3], upper[3], lo, leave;
  sphere_padded_bounds(center, radius, lower, upper);
  if (!tell_padded(w, false, lower, upper, &lo, &leave)) {
    tell_no_hit(w, part, "the padded bounds are missed");
    return;
  }
  const float last = lanes_max(leave, lo);
  const sphere_line line = sphere_roots(w->ray, center, radius);
  tell(w, part, "d.d", line.a, "(dx * dx + dy * dy) + dz * dz", "");
  tell_each(w, part, from_names, line.f, 3, "origin - center");
  tell(w, part, "b", line.b, "-f.d", "");
  tell(w, part, "nearest t", line.nearest, "b / d.d", "where the line is nearest to the center");
  tell_each(w, part, nearest_names, line.l, 3, "fma(nearest t, direction, f)");
  tell(w, part, "discriminant", line.discriminant, "radius^2 - l.l",
       line.discriminant > 0.0f    ? "the line passes inside"
       : line.discriminant == 0.0f ? "the line is tangent: a hit"
                                   : "the line passes beside the sphere: a miss");
  tell(w, part, "root", line.root, "sqrt(d.d * max(discriminant, 0))", "");
  tell(w, part, "q", line.q, "b >= 0 ? b + root : b - root", "no cancellation: both have one sign");
  tell(w, part, "c", line.c, "f.f - radius^2",
       line.c > 0.0f ? "the origin is outside" : "the origin is inside or on the surface");
  tell(w, part, "t0", line.t0, "q != 0 ? c / q : 0", "");
  tell(w, part, "t1", line.t1, "q / d.d", "");
  const float enter = clamp_into(lanes_min(line.t0, line.t1), lo, last);
  const float leaves = clamp_into(lanes_max(line.t0, line.t1), lo, last);
  tell(w, part, "enter", enter, "min(t0, t1), clamped into the padded bounds", "");
  tell(w, part, "exit", leaves, "max(t0, t1), clamped into the padded bounds", "");
  tell_solid_crossing(w, part, enter, leaves, line.discriminant >= 0.0f);
}

static void obb_steps(telling *w, const char *part) {
  const obb_lanes box = obb_of(w->values);
  float lower[3], upper[3], bounds_lo, bounds_leave, lo, leave;
  obb_padded_bounds(&box, lower, upper);
  if (!tell_padded(w, false, lower, upper, &bounds_lo, &bounds_leave)) {
    tell_no_hit(w, part, "the padded bounds are missed");
    return;
  }
  const float bounds_hi = lanes_max(bounds_leave, bounds_lo);
  const obb_frame f = obb_transform(w->ray, &box);
  slabs own = {.parts = &frame_parts};
  for (int i = 0; i < 3; i++)
    set_axis(&own, i, (octant_word)i, f.origin[i], f.direction[i], f.inverse[i], f.near[i], -f.near[i]);
  tell_slabs(w, &own, &lo, &leave);
  const mask overlaps = tell_overlap(w, part, lo, leave);
  const float exit = clamp_into(lanes_max(leave, lo), bounds_lo, bounds_hi);
  const float entry = clamp_into(lo, bounds_lo, bounds_hi);
  tell(w, part, "entry", entry, "enter, clamped into the padded bounds", "");
  tell(w, part, "exit", exit, "max(leave, enter), clamped into the padded bounds", "");
  tell_solid_crossing(w, part, entry, exit, overlaps);
}

static const char *note_of_sign(float difference, float residual, bool closed) {
  if (difference != 0.0f) return "the rounded difference decides: rounding is monotone";
  if (residual != 0.0f) return "p = q as rounded: their rounding errors decide";
  return closed ? "exactly on the edge: closed edges take the sign of the others"
                : "exactly on the edge: the tie rule, the sign just beside the ray at (+h, +h^2)";
}

static void tell_shear(telling *w, const triangle_shear *s) {
  static const char *const names[] = {"sheared a", "sheared b", "sheared c"};
  static const char *const axes[] = {"x", "y", "z"};
  const prepared_ray *ray = w->ray;
  tell(w, "shear", "axis", (float)ray->k[2], axes[ray->k[2]], "the axis of the direction's largest component");
  tell(w, "shear", "first axis", (float)ray->k[0], axes[ray->k[0]],
       ray->dir_is_negative[ray->k[2]] ? "swapped with the second: the largest component is negative" : "");
  tell(w, "shear", "second axis", (float)ray->k[1], axes[ray->k[1]], "");
  tell(w, "shear", "first shear", ray->shear[0], "direction / its largest component", "");
  tell(w, "shear", "second shear", ray->shear[1], "direction / its largest component", "");
  tell(w, "shear", "inverse", ray->shear_inverse[2], "1 / largest component", "");
  for (int v = 0; v < 3; v++) {
    tell(w, names[v], "x", s->x[v], "fma(-first shear, z, vertex - origin)", "");
    tell(w, names[v], "y", s->y[v], "fma(-second shear, z, vertex - origin)", "");
    tell(w, names[v], "z", s->z[v], "vertex - origin along the axis", "");
  }
}

static void tell_edges(telling *w, const triangle_shear *s, const triangle_edge e[3]) {
  static const char *const parts[] = {"edge bc", "edge ca", "edge ab"};
  for (int i = 0; i < 3; i++) {
    const float residual = triangle_residual(s, i, &e[i]);
    tell(w, parts[i], "p", e[i].p, "x of its end * y of its begin", "");
    tell(w, parts[i], "q", e[i].q, "y of its end * x of its begin", "");
    tell(w, parts[i], "difference", e[i].difference, "p - q", "");
    tell(w, parts[i], "residual", residual, "the rounding errors of p and q, exact by fma", "");
    tell(w, parts[i], "value", triangle_value(&e[i], residual), "difference + residual", "");
    tell(w, parts[i], "beside", triangle_beside(s, i), "rise != 0 ? rise : run", "the sign just beside the ray");
    tell(w, parts[i], "sign", triangle_sign(s, i, e[i].difference, residual, w->rules), "",
         note_of_sign(e[i].difference, residual, (w->rules & RULE_CLOSED) != 0));
  }
}

/* t as it is after the bounds; *kept: whether the padded bounds, where they are asked, are met. */
static float tell_triangle_bounds(telling *w, const triangle_rows *rows, float t, mask *kept) {
  float lower[3], upper[3], lo, leave;
  triangle_bounds(rows, lower, upper);
  const slabs bounds = bounds_slabs(&bounds_parts, w->ray, true, lower, upper);
  *kept = 1;
  tell_slabs(w, &bounds, &lo, &leave);
  t = clamp_into(t, lo, lanes_max(leave, lo));
  tell(w, "bounds", "clamped t", t, "t, clamped into the bounds", "");
  if (!(leave < lo)) return t;
  triangle_padded_bounds(lower, upper);
  *kept = tell_padded(w, true, lower, upper, &lo, &leave);
  t = clamp_into(t, lo, lanes_max(leave, lo));
  tell(w, "padded bounds", "clamped t", t, "t, clamped into the padded bounds",
       "asked, since rounding leaves the bounds' own interval empty");
  return t;
}

static void triangle_steps(telling *w, const char *part) {
  static const char *const weight_names[] = {"weight of a", "weight of b", "weight of c"};
  const triangle_rows rows = triangle_load(w->ray, w->values);
  const triangle_shear s = triangle_sheared(w->ray, &rows);
  triangle_edge e[3];
  float weight[3];
  mask front, kept;
  tell_shear(w, &s);
  triangle_edges(&s, e);
  tell_edges(w, &s, e);
  const mask candidate = triangle_candidates(e);
  ask(w, part, "is a candidate", candidate, "no two differences have opposite signs", "");
  const mask inside = candidate ? triangle_inside(&s, e, candidate, w->rules, &front, weight) : 0;
  if (!inside) {
    tell_no_hit(w, part,
                candidate ? "the exact signs differ, or all are 0: the ray passes beside it"
                          : "the edge functions differ in sign: the ray passes beside it");
    return;
  }
  const bool is_culled = ((w->rules & SLAB_CULL_BACK) != 0 && !front) || ((w->rules & SLAB_CULL_FRONT) != 0 && front);
  ask(w, part, "from the front", front, "all signs are positive",
      front ? "a, b, c run counter-clockwise as the ray sees them" : "a, b, c run clockwise as the ray sees them");
  tell_each(w, part, weight_names, weight, 3, "value / the sum of the three");
  float t = triangle_depth(w->ray, &s, weight);
  tell(w, part, "t", t, "the sum of weight * z * inverse", "");
  t = tell_triangle_bounds(w, &rows, t, &kept);
  const mask in_range = kept & (t >= w->ray->t_min) & (t <= w->ray->t_max);
  tell(w, part, "crossing", t, "t, clamped into the bounds", "");
  ask(w, part, "is hit", in_range && !is_culled, "t_min <= crossing <= t_max",
      is_culled  ? "this side is culled"
      : in_range ? ""
                 : "the crossing is out of range");
}

/* ---- the answer ------------------------------------------------------------ */

static void tell_answer(telling *w, const slab_explanation *found, const char *note) {
  static const char *const normal_names[] = {"normal x", "normal y", "normal z"};
  static const char *const faces[] = {"the lower plane of x", "the upper plane of x", "the lower plane of y",
                                      "the upper plane of y", "the lower plane of z", "the upper plane of z"};
  static const char *const own_faces[] = {"the lower plane of axis 0", "the upper plane of axis 0",
                                          "the lower plane of axis 1", "the upper plane of axis 1",
                                          "the lower plane of axis 2", "the upper plane of axis 2"};
  const slab_hit *hit = &found->hit;
  const bool is_hit = hit->primitive < SLAB_INVALID;
  ask(w, "answer", "hit", is_hit, "", note);
  if (is_hit) {
    tell(w, "answer", "t", hit->t, "crossing * 2^-exponent", "");
    tell_each(w, "answer", normal_names, hit->normal, 3, "");
    if (found->kind == SLAB_BOX) tell(w, "answer", "face", hit->u, "", faces[(int)hit->u]);
    if (found->kind == SLAB_OBB) tell(w, "answer", "face", hit->u, "", own_faces[(int)hit->u]);
    if (found->kind == SLAB_TRIANGLE) {
      tell(w, "answer", "u", hit->u, "the weight of b", "");
      tell(w, "answer", "v", hit->v, "the weight of c", "");
    }
  }
  if (found->interval.primitive >= SLAB_INVALID) return;
  tell(w, "answer", "interval enter", found->interval.enter, "", "the part inside, clipped to the ray's range");
  tell(w, "answer", "interval leave", found->interval.leave, "", "");
}

/* The primitive's values, and its test. */
static void tell_primitive(telling *w, slab_shape kind) {
#define TELL_KIND(shape, name, names, noun, rows, form, place, source) \
  if (kind == shape) tell_each(w, noun " as kept", name##_names, w->values, rows, "");
  SHAPES(TELL_KIND)
#undef TELL_KIND
  if (w->ray->state != RAY_LIVE) return;
#define TELL_TEST(shape, name, names, noun, rows, form, place, source) \
  if (kind == shape) name##_steps(w, noun);
  SHAPES(TELL_TEST)
#undef TELL_TEST
}

/* Whether a cast with these options does not see the primitive; *why is set then. */
static bool is_unseen(const snapshot *scene, const cast_uniforms *uniforms, const slab_cast_options *options,
                      slab_primitive_id id, const char **why) {
  const geometry_entry *entry = &scene->table[id.geometry];
  const bool is_masked = (entry->mask & uniforms->mask) == 0;
  const bool is_skipped =
      options != NULL && options->skip != NULL &&
      skipped_global_id(scene->table, scene->geometries, options->skip[0]) == entry->global_id_base + id.primitive;
  if (is_masked) *why = "the mask of the cast hides this geometry";
  if (is_hidden(scene, id.geometry)) *why = "the geometry is disabled";
  if (is_skipped) *why = "the ray skips this primitive";
  return is_masked || is_skipped;
}

/* What casts answer, for this primitive alone. */
static void answer(const snapshot *scene, const cast_uniforms *uniforms, const telling *w, slab_primitive_id id,
                   slab_explanation *found) {
  const geometry_entry *entry = &scene->table[id.geometry];
  const uint32_t global_id = entry->global_id_base + id.primitive;
  float t = 0.0f, enter = 0.0f, leave = 0.0f;
  if (primitive_surface(entry->kind, w->ray, w->values, w->ray->t_max, uniforms->rules, &t))
    found->hit = hit_at(w->ray, entry, id.geometry, w->values, 0, uniforms, ray_t_written(w->ray, t), global_id);
  if (primitive_solid(entry->kind, w->ray, w->values, w->ray->t_max, uniforms->rules, &enter, &leave))
    found->interval =
        interval_of(entry->kind, w->ray, w->given, ray_t_written(w->ray, enter), leave, id.primitive, id.geometry);
}

static slab_status check_arguments(const slab_scene *scene, const slab_ray *ray, const slab_cast_options *options,
                                   const slab_explanation *explanation, const slab_step *steps, size_t capacity,
                                   const size_t *count) {
  const char *missing = ray == NULL                     ? "ray"
                        : explanation == NULL           ? "explanation"
                        : capacity > 0 && steps == NULL ? "steps"
                        : count == NULL                 ? "count"
                                                        : NULL;
  const slab_status status = scene_check(scene, "slab_explain");
  if (status != SLAB_OK) return status;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_explain: %s is NULL", missing);
  return options == NULL ? SLAB_OK : check_rules("slab_explain", options->cull, options->edges);
}

static slab_status check_id(const snapshot *scene, slab_primitive_id id) {
  if (id.geometry >= scene->geometries)
    return fail(SLAB_INVALID_ARGUMENT, "slab_explain: geometry is %u, the scene has %u", id.geometry,
                scene->geometries);
  if (scene->values[id.geometry] == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_explain: geometry %u is removed", id.geometry);
  if (id.primitive >= scene->table[id.geometry].count)
    return fail(SLAB_INVALID_ARGUMENT, "slab_explain: primitive is %u, geometry %u has %u", id.primitive, id.geometry,
                scene->table[id.geometry].count);
  return SLAB_OK;
}

/* Tells into w, which has the caller's steps and ray. */
static void explain(const snapshot *scene, slab_primitive_id id, const slab_cast_options *options, telling *w,
                    slab_explanation *found) {
  const slab_shape kind = (slab_shape)scene->table[id.geometry].kind;
  const geometry_values *values = scene->values[id.geometry];
  cast_uniforms uniforms;
  float room[ROWS_MOST];
  cast_uniforms_of(scene, SLAB_CLOSEST, options, &uniforms);
  const prepared_ray prepared = ray_prepare(w->given);
  w->ray = &prepared;
  w->values = values_at(values, primitive_rows((uint32_t)kind), id.primitive, room);
  w->rules = uniforms.rules;
  const char *why =
      values_are_void(values, kind, w->values) ? "refused when added, or inverted: kept as never hit" : "";
  *found = (slab_explanation){kind, hit_none(reason_of(&prepared)), interval_none(reason_of(&prepared))};
  tell_given(w);
  if (prepared.state != RAY_INVALID) tell_scaled(w);
  tell_primitive(w, kind);
  if (!is_unseen(scene, &uniforms, options, id, &why) && prepared.state == RAY_LIVE)
    answer(scene, &uniforms, w, id, found);
  tell_answer(w, found, why);
}

slab_status slab_explain(slab_scene *scene, const slab_ray *ray, slab_primitive_id id, const slab_cast_options *options,
                         slab_explanation *explanation, slab_step *steps, size_t capacity, size_t *count) {
  ARITHMETIC callers = arithmetic_begin();
  telling w = {.steps = steps, .capacity = capacity, .given = ray};
  scene_reading reading;
  slab_status status = check_arguments(scene, ray, options, explanation, steps, capacity, count);
  if (status == SLAB_OK) status = scene_enter(scene, "slab_explain", &reading);
  if (status != SLAB_OK) return status;
  if (reading.scene->has_instances)
    status = fail(SLAB_UNSUPPORTED, "slab_explain: a scene with instances; explain the model's own scene");
  else
    status = check_id(reading.scene, id);
  if (status == SLAB_OK) explain(reading.scene, id, options, &w, explanation);
  scene_leave(&reading);
  if (status == SLAB_OK) *count = w.count;
  return status;
}

/* NaN has no sign here: that of 0 * inf differs between processors. */
static void number_text(float value, char decimal[24], char hexadecimal[24]) {
  if (value != value) value = fabsf(value);
  snprintf(decimal, 24, "%.9g", (double)value);
  snprintf(hexadecimal, 24, "%a", (double)value);
}

size_t slab_step_text(const slab_step *step, char *text, size_t size) {
  ARITHMETIC callers = arithmetic_begin();
  char decimal[24] = "no", hexadecimal[24] = "";
  if (!step->is_question)
    number_text(step->value, decimal, hexadecimal);
  else if (step->value != 0.0f)
    snprintf(decimal, sizeof decimal, "yes");
  const bool has_both = step->formula[0] != '\0' && step->note[0] != '\0';
  const bool has_text = step->formula[0] != '\0' || step->note[0] != '\0';
  const char *form = has_text ? "%-21s %-15s %-17s %s%s%s" : hexadecimal[0] != '\0' ? "%-21s %-15s %s" : "%-21s %s";
  const int length =
      snprintf(text, size, form, step->name, decimal, hexadecimal, step->formula, has_both ? "; " : "", step->note);
  return length < 0 ? 0 : (size_t)length;
}
