/* slab_explain: one ray and one primitive, step by step. Each number comes from a function of the kernels' own headers,
 * compiled as C11 like the CPU reference. This file calls these functions in the order of NAME_surface and adds the
 * conclusions from the numbers. The answer itself is that of NAME_surface and NAME_solid. */
#include <stdio.h>

#include "maths/answer.h"

#include "base/arithmetic.h"
#include "base/moved.h"
#include "base/status.h"
#include "check/reference.h"
#include "check/reference_far.h"
#include "device/context.h"
#include "maths/instances.h"
#include "scene/models.h"
#include "scene/scene.h"
#include "shapes/primitive.h"
#include "work/uniforms.h"

/* A ray in the scene, or in a model below. */
typedef struct explained_depth {
  const snapshot *scene;
  uint32_t g;                     /* entry of the geometry there, in the table */
  uint32_t id;                    /* of the geometry there */
  const instance_entry *instance; /* that leads further; NULL: there is none */
  float gate[BOX_FLOATS];         /* the instance's */
  slab_ray given;
  prepared_ray ray;
  float enter; /* where it enters the gate */
  bool enters;
} explained_depth;

/* The way to a primitive: the scene, then the models that it is in. */
typedef struct descent {
  explained_depth at[SCENE_DEPTHS];
  uint32_t last; /* of them */
} descent;

/* The subject of the steps, and where they are written. */
typedef struct telling {
  slab_step *steps;
  size_t capacity, count;
  const slab_ray *given; /* at the depth of the steps */
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

/* formulas: of the origin, the direction and the range. */
static void tell_given(telling *w, const char *part, const char *const formulas[3]) {
  const slab_ray *r = w->given;
  for (int i = 0; i < 3; i++)
    tell(w, part, origin_names[i], r->origin[i], formulas[0],
         is_within(r->origin[i], COORDINATE_MAX) ? "" : "NaN or beyond 2^60: the ray is invalid");
  for (int i = 0; i < 3; i++)
    tell(w, part, direction_names[i], r->direction[i], formulas[1],
         is_within(r->direction[i], FLOAT_MAX) ? "" : "not finite: the ray is invalid");
  tell(w, part, "t_min", r->t_min, formulas[2], r->t_min == r->t_min ? "" : "NaN: the ray is invalid");
  tell(w, part, "t_max", r->t_max, formulas[2], r->t_max == r->t_max ? "" : "NaN: the ray is invalid");
  ask(w, part, "is valid", w->ray->state != RAY_INVALID, "no NaN; finite; the direction is not zero",
      w->ray->state == RAY_INVALID ? "an invalid ray hits nothing" : "");
}

static void tell_scaled(telling *w, const char *part) {
  const prepared_ray *ray = w->ray;
  const ray_mask e = exponent_of(ray->forth[0]) + exponent_of(ray->forth[1]);
  tell(w, part, "exponent", (float)e, "of the direction's largest component",
       e == 0 ? "the direction is as given"
              : "below, t counts the scaled direction: t here = t of the ray * 2^exponent");
  for (int i = 0; i < 3; i++)
    tell(w, part, direction_names[i], ray->direction[i], "direction * 2^-exponent",
         ray->direction[i] != 0.0f         ? ""
         : w->given->direction[i] != 0.0f  ? "subnormal after scaling: counts as 0"
         : signbit(w->given->direction[i]) ? "-0 counts as +0, so that its inverse is +inf"
                                           : "");
  for (int i = 0; i < 3; i++)
    tell(w, part, inverse_names[i], ray->inverse[i], "1 / direction, correctly rounded",
         ray->direction[i] == 0.0f ? "the ray is parallel to this axis' planes" : "");
  tell(w, part, "t_min", ray->t_min, "t_min * 2^exponent", "");
  tell(w, part, "t_max", ray->t_max, "t_max * 2^exponent",
       isinf(w->given->t_max) && !isinf(ray->t_max) ? "the largest t that stays finite" : "");
  ask(w, part, "has a range", ray->state == RAY_LIVE, "t_min <= t_max",
      ray->state == RAY_LIVE ? "" : "the range holds no t: a plain miss");
}

/* ---- slabs ----------------------------------------------------------------- */

/* The names of three slabs' parts, and of their intersection. */
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

/* Reports each axis, and their intersection: [*lo, *leave]. */
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

/* Reports which end of [lo, hi] is the crossing of a solid, and whether it counts. */
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

/* ---- kinds of primitives: NAME_steps reports the test NAME_surface -------- */

static const char *const plane_names[PLANE_FLOATS] = {"normal x", "normal y", "normal z", "offset"};
static const char *const sphere_names[SPHERE_FLOATS] = {"center x", "center y", "center z", "radius"};
static const char *const box_names[BOX_FLOATS] = {"lower x", "lower y", "lower z", "upper x", "upper y", "upper z"};
static const char *const triangle_names[TRIANGLE_FLOATS] = {"a x", "a y", "a z", "b x", "b y",
                                                            "b z", "c x", "c y", "c z"};
static const char *const obb_names[OBB_FLOATS] = {"center x",    "center y", "center z", "half size 0", "half size 1",
                                                  "half size 2", "axis 0 x", "axis 0 y", "axis 0 z",    "axis 1 x",
                                                  "axis 1 y",    "axis 1 z", "axis 2 x", "axis 2 y",    "axis 2 z"};

static void plane_steps(telling *w, const char *part) {
  const float *n = w->values, offset = n[3];
  const plane_line p = plane_crossing(w->ray, n, offset);
  const mask hit = plane_in_range(&p, w->ray, w->ray->t_max);
  const bool is_culled = !plane_kept(1, p.along, w->rules);
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

static const char *note_of_sign(float difference, float residual) {
  if (difference != 0.0f) return "the rounded difference decides: rounding is monotone";
  if (residual != 0.0f) return "p = q as rounded: their rounding errors decide";
  return "exactly on the edge: the tie rule, the sign just beside the ray at (+h, +h^2)";
}

/* The sign of an edge function as closed edges take it from its rounded difference: 0 where that cannot tell. */
static float closed_sign(float difference, float error) { return fabsf(difference) > error ? difference : 0.0f; }

static void tell_sign(telling *w, const char *part, const triangle_shear *s, int vertex, const triangle_edge *e) {
  const float residual = triangle_residual(s, vertex, e);
  tell(w, part, "beside", triangle_beside(s, vertex), "rise != 0 ? rise : run", "the sign just beside the ray");
  tell(w, part, "sign", triangle_sign(s, vertex, e->difference, residual), "", note_of_sign(e->difference, residual));
}

static void tell_closed_sign(telling *w, const char *part, float difference, float error) {
  const float sign = closed_sign(difference, error);
  tell(w, part, "error", error, "", "at most so far from the edge function without any rounding");
  tell(w, part, "sign", sign, "abs(difference) > error ? difference : 0",
       sign != 0.0f ? "the rounded difference decides" : "within its error of 0: whole numbers decide");
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

/* error: of each edge function; NULL where edges are half open. */
static void tell_edges(telling *w, const triangle_shear *s, const triangle_edge e[3], const float *error) {
  static const char *const parts[] = {"edge bc", "edge ca", "edge ab"};
  for (int i = 0; i < 3; i++) {
    const float residual = triangle_residual(s, i, &e[i]);
    tell(w, parts[i], "p", e[i].p, "x of its end * y of its begin", "");
    tell(w, parts[i], "q", e[i].q, "y of its end * x of its begin", "");
    tell(w, parts[i], "difference", e[i].difference, "p - q", "");
    tell(w, parts[i], "residual", residual, "the rounding errors of p and q, exact by fma", "");
    tell(w, parts[i], "value", triangle_value(&e[i], residual), "difference + residual", "");
    if (error == NULL)
      tell_sign(w, parts[i], s, i, &e[i]);
    else
      tell_closed_sign(w, parts[i], e[i].difference, error[i]);
  }
}

/* t as it is after the bounds; *kept: whether the padded bounds, where they are tested, are met. */
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

static void tell_weights(telling *w, const char *part, const float weight[3], bool by_whole_numbers) {
  static const char *const names[] = {"weight of a", "weight of b", "weight of c"};
  if (by_whole_numbers)
    tell_each(w, part, names + 1, weight + 1, 2, "by whole numbers, rounded once");
  else
    tell_each(w, part, names, weight, 3, "value / the sum of the three");
}

static void tell_triangle_crossing(telling *w, const char *part, const triangle_rows *rows, mask front, float t) {
  const bool is_culled = !triangle_kept(1, front, w->rules);
  mask kept;
  t = tell_triangle_bounds(w, rows, t, &kept);
  const mask in_range = kept & (t >= w->ray->t_min) & (t <= w->ray->t_max);
  tell(w, part, "crossing", t, "t, clamped into the bounds", "");
  ask(w, part, "is hit", in_range && !is_culled, "t_min <= crossing <= t_max",
      is_culled  ? "this side is culled"
      : in_range ? ""
                 : "the crossing is out of range");
}

/* The result of a candidate's test: whether it is hit, and of a hit the rest. */
static closed_met meet_triangle(const telling *w, const triangle_rows *rows, const triangle_shear *s,
                                const triangle_edge e[3]) {
  closed_met met = {0};
  if ((w->rules & RULE_CLOSED) != 0) {
    closed_meet(w->ray, rows, &met);
  } else {
    met.hit = triangle_inside(s, e, triangle_candidates(e), &met.front, met.weight);
    met.t = triangle_depth(w->ray, s, met.weight);
  }
  return met;
}

static void triangle_steps(telling *w, const char *part) {
  const bool closed = (w->rules & RULE_CLOSED) != 0;
  const triangle_rows rows = triangle_load(w->ray, w->values);
  const triangle_shear s = triangle_sheared(w->ray, &rows);
  triangle_edge e[3];
  float errors[3];
  tell_shear(w, &s);
  triangle_edges(&s, e);
  closed_errors(w->ray, &rows, &s, errors);
  const closed_range range = closed_range_of(e, errors);
  const bool by_whole_numbers = closed && !closed_agree(&range);
  const mask candidate = closed ? closed_may_agree(&range) : triangle_candidates(e);
  tell_edges(w, &s, e, closed ? errors : NULL);
  ask(w, part, "is a candidate", candidate,
      closed ? "no two signs are opposite" : "no two differences have opposite signs", "");
  const closed_met met = candidate ? meet_triangle(w, &rows, &s, e) : (closed_met){0};
  if (!met.hit) {
    tell_no_hit(w, part,
                candidate ? "the exact signs differ, or all are 0: the ray passes beside it"
                          : "the edge functions differ in sign: the ray passes beside it");
    return;
  }
  ask(w, part, "from the front", met.front, "all signs are positive",
      met.front ? "a, b, c run counter-clockwise as the ray sees them" : "a, b, c run clockwise as the ray sees them");
  tell_weights(w, part, met.weight, by_whole_numbers);
  tell(w, part, "t", met.t, by_whole_numbers ? "by whole numbers, rounded once" : "the sum of weight * z * inverse",
       "");
  tell_triangle_crossing(w, part, &rows, met.front, met.t);
}

/* ---- instances ------------------------------------------------------------- */

/* Parts of the rays outside, of the instances that they go through, and of the gates of these. The ray that meets the
 * primitive is "ray". */
static const char *const outer_parts[] = {"ray of the scene", "ray in model 1", "ray in model 2", "ray in model 3"};
static const char *const scaled_parts[] = {"scaled ray of the scene", "scaled ray in model 1", "scaled ray in model 2",
                                           "scaled ray in model 3"};
static const char *const instance_parts[] = {"instance 1", "instance 2", "instance 3", "instance 4"};
static const slab_parts gate_parts[] = {{{"gate 1 x", "gate 1 y", "gate 1 z"}, "gate 1"},
                                        {{"gate 2 x", "gate 2 y", "gate 2 z"}, "gate 2"},
                                        {{"gate 3 x", "gate 3 y", "gate 3 z"}, "gate 3"},
                                        {{"gate 4 x", "gate 4 y", "gate 4 z"}, "gate 4"}};
_Static_assert(sizeof gate_parts / sizeof *gate_parts == SCENE_DEPTHS - 1, "each depth outside has its parts");

static void tell_ray(telling *w, const descent *down, uint32_t nth) {
  static const char *const none[3] = {"", "", ""}, *const turned[3] = {"B (origin - place)", "B direction",
                                                                       "of the scaled ray outside"};
  const bool is_last = nth == down->last;
  w->given = &down->at[nth].given;
  w->ray = &down->at[nth].ray;
  tell_given(w, is_last ? "ray" : outer_parts[nth], nth > 0 ? turned : none);
  if (w->ray->state != RAY_INVALID) tell_scaled(w, is_last ? "scaled ray" : scaled_parts[nth]);
}

static void tell_gate(telling *w, const explained_depth *at, const slab_parts *parts) {
  slabs s = {.parts = parts};
  float near[3], far[3], lo, leave, hi;
  box_planes(w->ray, at->gate, near, far);
  for (int i = 0; i < 3; i++)
    set_axis(&s, i, (octant_word)i, w->ray->origin[i], w->ray->direction[i], w->ray->inverse[i], near[i], far[i]);
  tell_slabs(w, &s, &lo, &leave);
  box_interval(w->ray, near, far, &lo, &leave, &hi);
  tell_overlap(w, parts->whole, lo, leave);
  ask(w, parts->whole, "is entered", at->enters, "as the interval of a box",
      at->enters ? "" : "the instance is not visible to this ray");
  if (at->enters) tell(w, parts->whole, "entered at", at->enter, "", "no hit in the model is before it");
}

static void tell_instance(telling *w, const instance_entry *of, const char *part) {
  static const char *const inverse[] = {"B 0 0", "B 0 1", "B 0 2", "B 1 0", "B 1 1",
                                        "B 1 2", "B 2 0", "B 2 1", "B 2 2"};
  static const char *const place[] = {"place x", "place y", "place z"};
  tell_each(w, part, inverse, of->inverse, 9, "the inverse of the matrix, by row");
  tell_each(w, part, place, of->place, 3, "where the model's origin is");
}

/* The world of a geometry, or of the instance that leads on. Models have none. */
static uint32_t world_of(const explained_depth *at) {
  return at->instance != NULL ? at->instance->world : values_world(at->scene->values[at->g]);
}

static void tell_worlds(telling *w, const descent *down, const ray_own *own) {
  if (down->at[0].scene->worlds == 0) return;
  tell(w, "world", "of the ray", (float)own->sees.world, "", "0: none");
  tell(w, "world", "of the geometry", (float)world_of(&down->at[0]), "", "0: it belongs to all");
}

/* The ray of the scene, and its state on the way. */
static void tell_depths(telling *w, const descent *down) {
  for (uint32_t k = 0; k < down->last; k++) {
    tell_ray(w, down, k);
    tell_gate(w, &down->at[k], &gate_parts[k]);
    tell_instance(w, down->at[k].instance, instance_parts[k]);
  }
  tell_ray(w, down, down->last);
}

/* A crossing in the innermost model as the scene's ray has it. */
static float t_outside(const descent *down, float t) {
  for (uint32_t k = down->last; k > 0; k--)
    t = instance_t(&down->at[k].ray, &down->at[k - 1].ray, down->at[k - 1].enter, t);
  return t;
}

static void tell_outside(telling *w, const descent *down, float t) {
  static const char *const names[] = {"t of the scene", "t in model 1", "t in model 2", "t in model 3"};
  for (uint32_t k = down->last; k > 0; k--) {
    const explained_depth *outer = &down->at[k - 1];
    const float before = ray_final_t(&down->at[k].ray, t);
    t = instance_t(&down->at[k].ray, &outer->ray, outer->enter, t);
    tell(w, "outside", names[k - 1], t, "t inside * 2^-exponent, and not below where the gate is entered",
         t > before ? "raised to where the gate is entered" : "");
  }
}

/* The geometry at a depth. */
static slab_status enter_depth(const char *function, descent *down, slab_primitive_id id) {
  explained_depth *at = &down->at[down->last];
  const snapshot *scene = at->scene;
  at->g = entry_of_id(scene->table, scene->geometries, at->id);
  if (scene->values[at->g] == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "%s: geometry %u is removed", function, id.geometry);
  at->instance = NULL;
  if (scene->groups[at->g] == NULL) return SLAB_OK;
  const instance_group *group = scene->groups[at->g];
  const uint32_t beyond = at->id - scene->table[at->g].id, nth = beyond / group->geometries;
  at->instance = &group->instances[nth];
  gate_in(scene, at->g, nth, at->gate);
  down->at[++down->last] = (explained_depth){.scene = scene->models[at->g].snapshot, .id = beyond % group->geometries};
  return enter_depth(function, down, id);
}

/* Finds the primitive. */
static slab_status find_depths(const char *function, const snapshot *scene, slab_primitive_id id, descent *down) {
  if (id.geometry >= scene->ids)
    return fail(SLAB_INVALID_ARGUMENT, "%s: geometry is %u, the scene has %u", function, id.geometry, scene->ids);
  down->last = 0;
  down->at[0] = (explained_depth){.scene = scene, .id = id.geometry};
  const slab_status status = enter_depth(function, down, id);
  if (status != SLAB_OK) return status;
  const explained_depth *at = &down->at[down->last];
  const uint32_t count = at->scene->table[at->g].count;
  return id.primitive < count ? SLAB_OK
                              : fail(SLAB_INVALID_ARGUMENT, "%s: primitive is %u, geometry %u has %u", function,
                                     id.primitive, id.geometry, count);
}

/* The ray at each depth. A depth where it is not live is the last. The gate of an instance counts only there: a
 * primitive behind a missed gate is explained too. */
static void cast_depths(descent *down, const slab_ray *ray) {
  down->at[0].given = *ray;
  for (uint32_t k = 0;; k++) {
    explained_depth *at = &down->at[k];
    float leave, from[3];
    at->ray = ray_prepare(&at->given);
    if (at->ray.state != RAY_LIVE) down->last = k;
    if (k == down->last) return;
    at->enters = box_solid(&at->ray, at->gate, at->ray.t_max, &at->enter, &leave);
    for (int i = 0; i < 3; i++) from[i] = at->ray.origin[i] - at->instance->place[i];
    const ray_axis o = instance_turn(at->instance->inverse, from),
                   d = instance_turn(at->instance->inverse, at->ray.direction);
    down->at[k + 1].given =
        (slab_ray){{o.v[0], o.v[1], o.v[2]}, at->ray.t_min, {d.v[0], d.v[1], d.v[2]}, at->ray.t_max};
  }
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
#define TELL_KIND(shape, name, names, noun, floats, form, place, source) \
  if (kind == shape) tell_each(w, noun " as kept", name##_names, w->values, floats, "");
  SHAPES(TELL_KIND)
#undef TELL_KIND
  if (w->ray->state != RAY_LIVE) return;
#define TELL_TEST(shape, name, names, noun, floats, form, place, source) \
  if (kind == shape) name##_steps(w, noun);
  SHAPES(TELL_TEST)
#undef TELL_TEST
}

/* Whether a cast with these options does not see the primitive; *why is set then. */
static bool is_unseen(const descent *down, uint32_t kind, const ray_own *own, slab_primitive_id id, const char **why) {
  bool unseen = false;
  for (uint32_t k = 0; k <= down->last; k++) {
    const explained_depth *at = &down->at[k];
    if (k < down->last && !at->enters) *why = "the ray does not enter the gate of an instance";
    if ((at->scene->table[at->g].mask & own->sees.mask) == 0)
      *why = k < down->last ? "the mask of the cast hides an instance" : "the mask of the cast hides this geometry";
    if (is_hidden(at->scene, at->g)) *why = "the geometry is disabled";
    const bool elsewhere = !visibility_reaches(own->sees, world_of(at));
    if (elsewhere) *why = k < down->last ? "an instance is in another world" : "the geometry is in another world";
    unseen =
        unseen || elsewhere || (k < down->last && !at->enters) || (at->scene->table[at->g].mask & own->sees.mask) == 0;
  }
  const bool is_skipped =
      primitive_is_surface(kind) && own->skip.geometry == id.geometry && own->skip.primitive == id.primitive;
  if (is_skipped) *why = "the ray skips this primitive";
  return unseen || is_skipped;
}

/* The answer of casts, for this primitive alone. *why is set where its hit comes too early for the ray. */
static void answer(const descent *down, slab_shape kind, const cast_uniforms *uniforms, const ray_own *own, telling *w,
                   slab_primitive_id id, slab_explanation *found, const char **why) {
  const explained_depth *scene = &down->at[0];
  float t = 0.0f, enter = 0.0f, leave = 0.0f;
  if (primitive_surface((uint)kind, w->ray, w->values, w->ray->t_max, w->rules, &t)) {
    tell_outside(w, down, t);
    const float outside = t_outside(down, t);
    if (ray_own_takes(own, ray_final_t(&scene->ray, outside), id))
      found->hit = reference_hit(scene->scene, uniforms, &scene->ray, ray_t_written(&scene->ray, outside), id);
    else
      *why = "it does not come after the hit that the ray begins after";
  }
  if (primitive_solid((uint)kind, w->ray, w->values, w->ray->t_max, w->rules, &enter, &leave))
    found->interval =
        interval_of((uint)kind, &scene->ray, &scene->given, ray_t_written(&scene->ray, t_outside(down, enter)),
                    t_outside(down, leave), id.primitive, id.geometry);
}

static slab_status check_arguments(const char *function, const slab_scene *scene, const void *ray,
                                   const slab_cast_options *options, const void *explanation, const slab_step *steps,
                                   size_t capacity, const size_t *count) {
  const char *missing = ray == NULL                     ? "ray"
                        : explanation == NULL           ? "explanation"
                        : capacity > 0 && steps == NULL ? "steps"
                        : count == NULL                 ? "count"
                                                        : NULL;
  const slab_status status = scene_check(scene, function);
  if (status != SLAB_OK) return status;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: %s is NULL", function, missing);
  if (options == NULL) return SLAB_OK;
  const slab_status ruled = check_rules(function, options->cull, options->edges);
  return ruled == SLAB_OK ? check_own_rays(function, SLAB_CLOSEST, 1, options) : ruled;
}

/* Writes to w, which has the caller's steps. kind, values: of the primitive, also where the ray does not come to it. */
static void explain(descent *down, slab_primitive_id id, const slab_ray *ray, const slab_cast_options *options,
                    telling *w, slab_explanation *found) {
  const explained_depth primitive = down->at[down->last];
  const slab_shape kind = (slab_shape)primitive.scene->table[primitive.g].kind;
  const geometry_values *values = primitive.scene->values[primitive.g];
  cast_uniforms uniforms;
  float space[FLOATS_MOST];
  cast_uniforms_of(down->at[0].scene, SLAB_CLOSEST, options, &uniforms);
  cast_depths(down, ray);
  w->values = values_at(values, primitive_floats((uint32_t)kind), id.primitive, space);
  w->rules = uniforms.rules;
  const char *why = primitive_is_void(kind, w->values) ? "refused when added, or inverted: kept as never hit" : "";
  const uint32_t none = reason_of(&down->at[0].ray);
  *found = (slab_explanation){kind, hit_none(none), interval_none(none)};
  const ray_own own = ray_own_of(options, 0);
  tell_worlds(w, down, &own);
  tell_depths(w, down);
  tell_primitive(w, kind);
  if (!is_unseen(down, (uint32_t)kind, &own, id, &why) && w->ray->state == RAY_LIVE)
    answer(down, kind, &uniforms, &own, w, id, found, &why);
  tell_answer(w, found, why);
}

/* A ray of the world is explained as the float ray in its place. A ray of the scene's floats is that itself, with its
 * own t: -0 changes no number. */
static reference_line line_of(const snapshot *scene, const slab_ray *ray, const slab_ray64 *ray64) {
  if (ray64 != NULL) return reference_line_of(&scene->stats, scene->unbounded, ray64);
  if (is_moved(scene->stats.origin)) return reference_line_of_floats(&scene->stats, scene->unbounded, ray);
  return (reference_line){.given = {.t_min = -INFINITY, .t_max = INFINITY}, .ray = *ray, .begin = -0.0};
}

/* t of a result of the float ray, or that of a miss. */
static double world_t(const reference_line *line, uint32_t primitive, float t) {
  return primitive < SLAB_INVALID ? reference_world_t(line, t) : (double)t;
}

/* Hits that a float ray of the world begins after have a t that is not that of the ray in its place. */
static slab_status check_is_near(const snapshot *scene, const slab_ray *ray, const slab_cast_options *options) {
  if (ray == NULL || options == NULL || options->after == NULL) return SLAB_OK;
  return far_refuse_moved("slab_explain: after", &scene->stats);
}

/* One of ray and ray64 is NULL. *line becomes the ray that is explained, and *found its answer. */
static slab_status explain_any(const char *function, slab_scene *scene, const slab_ray *ray, const slab_ray64 *ray64,
                               slab_primitive_id id, const slab_cast_options *options, telling *w, reference_line *line,
                               slab_explanation *found) {
  descent down;
  scene_reading reading;
  slab_status status = scene_enter(scene, function, &reading);
  if (status != SLAB_OK) return status;
  status = check_is_near(reading.scene, ray, options);
  if (status == SLAB_OK) status = find_depths(function, reading.scene, id, &down);
  if (status == SLAB_OK && options != NULL) status = check_worlds(function, reading.scene, 1, options->worlds);
  if (status == SLAB_OK) {
    *line = line_of(reading.scene, ray, ray64);
    explain(&down, id, &line->ray, options, w, found);
  }
  scene_leave(&reading);
  return status;
}

slab_status slab_explain(slab_scene *scene, const slab_ray *ray, slab_primitive_id id, const slab_cast_options *options,
                         slab_explanation *explanation, slab_step *steps, size_t capacity, size_t *count) {
  ARITHMETIC callers = arithmetic_begin();
  static const char function[] = "slab_explain";
  telling w = {.steps = steps, .capacity = capacity};
  reference_line line;
  slab_status status = check_arguments(function, scene, ray, options, explanation, steps, capacity, count);
  if (status == SLAB_OK) status = explain_any(function, scene, ray, NULL, id, options, &w, &line, explanation);
  if (status != SLAB_OK) return status;
  *count = w.count;
  slab_hit *hit = &explanation->hit;
  slab_interval *interval = &explanation->interval;
  hit->t = (float)world_t(&line, hit->primitive, hit->t);
  interval->enter = (float)world_t(&line, interval->primitive, interval->enter);
  interval->leave = (float)world_t(&line, interval->primitive, interval->leave);
  return status;
}

slab_status slab_explain64(slab_scene *scene, const slab_ray64 *ray, slab_primitive_id id,
                           const slab_cast_options *options, slab_explanation64 *explanation, slab_step *steps,
                           size_t capacity, size_t *count) {
  ARITHMETIC callers = arithmetic_begin();
  static const char function[] = "slab_explain64";
  telling w = {.steps = steps, .capacity = capacity};
  reference_line line;
  slab_explanation found;
  slab_status status = check_arguments(function, scene, ray, options, explanation, steps, capacity, count);
  if (status == SLAB_OK) status = explain_any(function, scene, NULL, ray, id, options, &w, &line, &found);
  if (status != SLAB_OK) return status;
  *count = w.count;
  const slab_hit *hit = &found.hit;
  const slab_interval *interval = &found.interval;
  *explanation = (slab_explanation64){.kind = found.kind,
                                      .hit = {.t = world_t(&line, hit->primitive, hit->t),
                                              .normal = {hit->normal[0], hit->normal[1], hit->normal[2]},
                                              .u = hit->u,
                                              .v = hit->v,
                                              .primitive = hit->primitive,
                                              .geometry = hit->geometry,
                                              .order = hit->t},
                                      .interval = {.enter = world_t(&line, interval->primitive, interval->enter),
                                                   .leave = world_t(&line, interval->primitive, interval->leave),
                                                   .primitive = interval->primitive,
                                                   .geometry = interval->geometry}};
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
