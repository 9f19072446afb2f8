/* Draws an explanation: the events along each axis in one dimension, the intervals of t over each other, and the
 * primitive with the ray in space. Every t and plane in it is a step of the explanation. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "program/common/vectors.h"
#include "program/explain/explain.h"
#include "program/io/errors.h"

#ifndef SLABCAST_CAIRO

int explain_can_draw(void) { return 0; }

int explain_draw(const explained *e, const char *path) {
  (void)e;
  complain("%s: this program was built without cairo, by which it draws", path);
  return -1;
}

#else

#include "program/explain/page.h"

int explain_can_draw(void) { return 1; }

enum { LEFT = 92, MIDDLE = 520, T_LEFT = 600, T_RIGHT = 970, ROW = 84, SLABS = 3 * ROW + 158 };

const color axis_colors[3] = {0xd9480f, 0x2b8a3e, 0x1864ab};

static double between(double x, double least, double most) { return x < least ? least : x > most ? most : x; }

/* ---- the line of t --------------------------------------------------------- */

/* The scale of t: all of `core`, and the part of `more` that is not too far away from it. */
static void set_t_scale(page *p, const double *core, int core_count, const double *more, int more_count) {
  double least = INFINITY, most = -INFINITY;
  for (int i = 0; i < core_count; i++) widen(&least, &most, core[i]);
  if (!(least <= most))
    for (int i = 0; i < more_count; i++) widen(&least, &most, more[i]);
  if (!(least <= most)) least = 0, most = 1;
  double span = most - least;
  if (!(span > 1e-4 * fmax(fabs(least), fabs(most)))) span = fabs(most) > 0 ? 0.5 * fabs(most) : 1;
  const double lowest = least - 2 * span, highest = most + 2 * span;
  for (int i = 0; i < more_count; i++)
    if (more[i] >= lowest && more[i] <= highest) widen(&least, &most, more[i]);
  span = fmax(most - least, 0.5 * span);
  p->t_first = least - 0.12 * span;
  p->t_last = most + 0.12 * span;
}

static double x_of(const page *p, double t) {
  const double x = T_LEFT + (t - p->t_first) / (p->t_last - p->t_first) * (T_RIGHT - T_LEFT);
  return between(x, T_LEFT, T_RIGHT);
}

static int is_on_line(const page *p, double t) { return t >= p->t_first && t <= p->t_last; }

static void draw_t_axis(const page *p, double y) {
  canvas_arrow(p->c, T_LEFT, y, T_RIGHT + 16, y, COLOR_QUIET, 1);
  canvas_text(p->c, T_RIGHT + 24, y + 4, 13, COLOR_QUIET, ALIGN_LEFT, "t");
}

/* Ends of bars that go on beyond the line have a head there. */
static void draw_bar(const page *p, double y, double height, double from, double to, color tint) {
  const double x0 = x_of(p, from), x1 = x_of(p, to), middle = y + 0.5 * height, head = 0.5 * height;
  canvas_box(p->c, x0, y, fmax(x1 - x0, 2), height, 2, tint, 0.85);
  if (from < p->t_first) {
    const double points[3][2] = {{x0 - head, middle}, {x0, y}, {x0, y + height}};
    canvas_polygon(p->c, points, 3, tint, 0.85, tint);
  }
  if (to > p->t_last) {
    const double points[3][2] = {{x1 + head, middle}, {x1, y}, {x1, y + height}};
    canvas_polygon(p->c, points, 3, tint, 0.85, tint);
  }
}

static void number_text(char *text, size_t size, double x) { snprintf(text, size, isnan(x) ? "NaN" : "%.6g", x); }

/* Labels at both ends of a bar: within it where there is space, else beside it. */
static void draw_ends(const page *p, double y, double from, double to, color tint) {
  char first[32], last[32];
  number_text(first, sizeof first, from);
  number_text(last, sizeof last, to);
  const double x0 = x_of(p, isnan(from) ? -INFINITY : from), x1 = x_of(p, isnan(to) ? INFINITY : to), space = x1 - x0;
  const double need = canvas_text_width(p->c, 12, first) + canvas_text_width(p->c, 12, last) + 14;
  const int first_inside = space > need || x0 == T_LEFT, last_inside = space > need || x1 == T_RIGHT;
  canvas_text(p->c, first_inside ? x0 + 4 : x0 - 3, y, 12, tint, first_inside ? ALIGN_LEFT : ALIGN_RIGHT, "%s", first);
  canvas_text(p->c, last_inside ? x1 - 4 : x1 + 3, y, 12, tint, last_inside ? ALIGN_RIGHT : ALIGN_LEFT, "%s", last);
}

/* An interval of t with its ends; where there is none, words say so. */
static void draw_interval(const page *p, double y, double from, double to, color tint) {
  const double first = isnan(from) ? -INFINITY : from, last = isnan(to) ? INFINITY : to;
  draw_t_axis(p, y + 6);
  if (first > last || (isinf(first) && first == last)) {
    canvas_text(p->c, T_LEFT, y - 6, 12, tint, ALIGN_LEFT, "never: from %.6g to %.6g", first, last);
    return;
  }
  draw_bar(p, y, 12, first, last, tint);
  draw_ends(p, y - 6, from, to, tint);
}

static void draw_crossing(const page *p, double y, double t) {
  if (!is_on_line(p, t)) return;
  canvas_dot(p->c, x_of(p, t), y, 5, COLOR_HIT, COLOR_PAPER);
}

/* The range of the ray, the crossing and the answer, below the intervals. */
static void draw_range(const page *p, double y, const char *part) {
  char result[64];
  const double t_min = (double)p->e->ray.t_min, t_max = (double)p->e->ray.t_max;
  explained_result(p->e, result, sizeof result);
  draw_t_axis(p, y);
  if (t_min <= t_max) {
    canvas_line(p->c, x_of(p, t_min), y, x_of(p, t_max), y, COLOR_INK, 4);
    if (is_on_line(p, t_min)) canvas_line(p->c, x_of(p, t_min), y - 7, x_of(p, t_min), y + 7, COLOR_INK, 2);
    if (is_on_line(p, t_max)) canvas_line(p->c, x_of(p, t_max), y - 7, x_of(p, t_max), y + 7, COLOR_INK, 2);
  }
  canvas_text(p->c, T_LEFT, y + 22, 12, COLOR_QUIET, ALIGN_LEFT, "the ray's range: %.6g to %.6g", t_min, t_max);
  const int is_hit = is_yes(p, "answer", "hit");
  if (is_told(p, part, "crossing") && is_yes(p, part, "is hit")) draw_crossing(p, y, t_of(p, part, "crossing"));
  canvas_text(p->c, T_RIGHT, y + 22, 14, is_hit ? COLOR_HIT : COLOR_QUIET, ALIGN_RIGHT, "%s", result);
}

/* ---- one axis -------------------------------------------------------------- */

/* The line of an axis: planes, the origin and the way that the ray goes along it. */
typedef struct axis_line {
  const page *p;
  double first, last;
} axis_line;

static double axis_x(const axis_line *a, double v) {
  return between(LEFT + (v - a->first) / (a->last - a->first) * (MIDDLE - LEFT), LEFT, MIDDLE);
}

static void draw_plane(const axis_line *a, double y, double at, const char *name, color tint) {
  if (!isfinite(at)) return;
  canvas_line(a->p->c, axis_x(a, at), y - 20, axis_x(a, at), y + 20, tint, 2.2);
  if (name[0]) canvas_text(a->p->c, axis_x(a, at), y + 34, 11, tint, ALIGN_CENTER, "%s %.6g", name, at);
}

static void draw_axis(const page *p, double y, const char *part, const char *label, color tint) {
  const double near = value(p, part, "near plane"), far = value(p, part, "far plane");
  const double origin = value(p, part, "origin"), direction = value(p, part, "direction") / p->scale;
  const double lower = fmin(near, far), upper = fmax(near, far);
  axis_line a = {p, INFINITY, -INFINITY};
  widen(&a.first, &a.last, near);
  widen(&a.first, &a.last, far);
  const double thickness = a.last >= a.first ? a.last - a.first : 0, size = thickness > 0 ? thickness : 1;
  if (!(a.first <= a.last)) a.first = a.last = origin; /* no plane is finite */
  /* An origin far away stands at the end of the line. */
  widen(&a.first, &a.last, between(origin, a.first - 3 * size, a.last + 3 * size));
  const double margin = 0.22 * fmax(a.last - a.first, fmax(fabs(a.first) * 1e-6, size));
  a.first -= margin;
  a.last += margin;
  canvas_box(p->c, MARGIN, y - 14, 34, 28, 14, tint, 0.14);
  canvas_text(p->c, MARGIN + 17, y + 5, 14, tint, ALIGN_CENTER, "%s", label);
  const double from = isfinite(lower) ? axis_x(&a, lower) : LEFT, to = isfinite(upper) ? axis_x(&a, upper) : MIDDLE;
  if (lower <= upper) canvas_box(p->c, from, y - 20, to - from, 40, 0, tint, 0.12);
  canvas_arrow(p->c, LEFT, y, MIDDLE, y, COLOR_FAINT, 1);
  draw_plane(&a, y, near, lower == upper ? "both planes" : "near", tint);
  draw_plane(&a, y, far, lower == upper ? "" : "far", tint);
  const double x = axis_x(&a, origin);
  if (direction != 0) canvas_arrow(p->c, x, y, x + (direction > 0 ? 44 : -44), y, COLOR_INK, 2);
  canvas_dot(p->c, x, y, 4.5, COLOR_INK, COLOR_PAPER);
  canvas_text(p->c, x, y - 26, 11, COLOR_INK, ALIGN_CENTER, "origin %.6g, direction %.6g", origin, direction);
}

/* ---- slabs ----------------------------------------------------------------- */

typedef struct slab_names {
  const char *axis[3], *label[3], *whole;
} slab_names;

static const slab_names box_names = {{"x", "y", "z"}, {"x", "y", "z"}, "box"};
static const slab_names frame_names = {{"axis 0", "axis 1", "axis 2"}, {"0", "1", "2"}, "oriented box"};

static void scale_slabs(page *p, const slab_names *s) {
  const double t_min = (double)p->e->ray.t_min, t_max = (double)p->e->ray.t_max;
  double core[4] = {t_of(p, s->whole, "enter"), t_of(p, s->whole, "leave"), t_of(p, s->whole, "crossing"), NAN};
  double more[8];
  for (int i = 0; i < 3; i++) {
    more[2 * i] = t_of(p, s->axis[i], "near t");
    more[2 * i + 1] = t_of(p, s->axis[i], "far t");
  }
  more[6] = t_min;
  more[7] = t_max;
  set_t_scale(p, core, 4, more, 8);
}

static void draw_t_sentence(const page *p, double y, const char *part, const char *name) {
  const char *note = note_of(p, part, name);
  canvas_text(p->c, MARGIN, y, 13, COLOR_INK, ALIGN_LEFT, "%s = %.9g%s%s", name, t_of(p, part, name),
              note[0] ? ": " : "", note);
}

/* Returns where the next panel begins. */
static double draw_slabs(page *p, const slab_names *s, double y) {
  double from[3], to[3];
  const double top = y;
  scale_slabs(p, s);
  const double enter = t_of(p, s->whole, "enter"), leave = t_of(p, s->whole, "leave");
  canvas_text(p->c, LEFT, y, 13, COLOR_QUIET, ALIGN_LEFT, "each axis as in one dimension");
  canvas_text(p->c, T_LEFT, y, 13, COLOR_QUIET, ALIGN_LEFT, "when the ray is between its planes");
  const double below = top + 3 * ROW + 84;
  if (enter <= leave) {
    canvas_box(p->c, x_of(p, enter), y + 16, fmax(x_of(p, leave) - x_of(p, enter), 2), below - y - 16, 0, COLOR_BAND,
               1);
    canvas_dashes(p->c, x_of(p, enter), y + 16, x_of(p, enter), below, COLOR_QUIET, 1);
    canvas_dashes(p->c, x_of(p, leave), y + 16, x_of(p, leave), below, COLOR_QUIET, 1);
  }
  y += 56;
  for (int i = 0; i < 3; i++) {
    from[i] = t_of(p, s->axis[i], "near t");
    to[i] = t_of(p, s->axis[i], "far t");
    draw_axis(p, y, s->axis[i], s->label[i], axis_colors[i]);
    draw_interval(p, y - 6, from[i], to[i], axis_colors[i]);
    const int is_near = isnan(from[i]) || from[i] == INFINITY; /* which of the two says why */
    if (is_near || isnan(to[i]) || to[i] == -INFINITY)
      canvas_text(p->c, T_LEFT, y + 24, 11, axis_colors[i], ALIGN_LEFT, "%s",
                  note_of(p, s->axis[i], is_near ? "near t" : "far t"));
    y += ROW;
  }
  y -= 16;
  for (int i = 0; i < 3; i++)
    if (!(from[i] > to[i]) && from[i] != INFINITY && to[i] != -INFINITY)
      draw_bar(p, y + 9 * i, 7, isnan(from[i]) ? -INFINITY : from[i], isnan(to[i]) ? INFINITY : to[i], axis_colors[i]);
  canvas_text(p->c, T_LEFT, y - 8, 13, COLOR_QUIET, ALIGN_LEFT, "the three over each other");
  draw_range(p, y + 44, s->whole);
  canvas_title(p->c, MARGIN, y - 8, 13, "what they make together");
  draw_t_sentence(p, y + 14, s->whole, "enter");
  draw_t_sentence(p, y + 34, s->whole, "leave");
  draw_t_sentence(p, y + 54, s->whole, "widened leave");
  const char *why = note_of(p, s->whole, "overlaps");
  canvas_text(p->c, MARGIN, y + 74, 13, is_yes(p, s->whole, "overlaps") ? COLOR_INK : COLOR_HIT, ALIGN_LEFT,
              "enter <= widened leave, in range: %s", is_yes(p, s->whole, "overlaps") ? "yes" : "no");
  canvas_text(p->c, MARGIN, y + 94, 13, is_yes(p, s->whole, "overlaps") ? COLOR_INK : COLOR_HIT, ALIGN_LEFT, "%s", why);
  return y + 118;
}

/* ---- other kinds ----------------------------------------------------------- */

/* A list of steps as they are: of the scaled direction. */
static void draw_steps(const page *p, double x, double y, const char *const (*steps)[2], int count) {
  if (p->scale != 1.0) canvas_text(p->c, x + 230, y, 12, COLOR_QUIET, ALIGN_LEFT, "in lengths of the scaled direction");
  for (int i = 0; i < count; i++) {
    const slab_step *step = explained_step(p->e, steps[i][0], steps[i][1]);
    if (!step) continue;
    char number[32];
    number_text(number, sizeof number, (double)step->value);
    const char *shown = step->is_question ? (step->value != 0.0f ? "yes" : "no") : number;
    canvas_text(p->c, x, y, 13, COLOR_QUIET, ALIGN_LEFT, "%s", step->name);
    canvas_text(p->c, x + 130, y, 13, COLOR_INK, ALIGN_LEFT, "%s", shown);
    y += 20;
  }
}

static double draw_plane_panel(page *p, double y) {
  const double from = value(p, "plane", "n.o"), along = value(p, "plane", "n.d");
  const double offset = value(p, "plane as kept", "offset"),
               core[2] = {t_of(p, "plane", "crossing"), (double)p->e->ray.t_min};
  const double more[1] = {(double)p->e->ray.t_max};
  set_t_scale(p, core, 2, more, 1);
  canvas_text(p->c, LEFT, y, 13, COLOR_QUIET, ALIGN_LEFT, "along the normal n, as in one dimension");
  canvas_text(p->c, T_LEFT, y, 13, COLOR_QUIET, ALIGN_LEFT, "when the ray is on the plane");
  axis_line a = {p, fmin(from, offset), fmax(from, offset)};
  const double margin = 0.3 * (a.last > a.first ? a.last - a.first : 1);
  a.first -= margin;
  a.last += margin;
  y += 56;
  canvas_text(p->c, MARGIN + 17, y + 5, 15, axis_colors[2], ALIGN_CENTER, "n");
  canvas_arrow(p->c, LEFT, y, MIDDLE, y, COLOR_FAINT, 1);
  draw_plane(&a, y, offset, "offset", axis_colors[2]);
  const double x = axis_x(&a, from);
  if (along != 0) canvas_arrow(p->c, x, y, x + (along > 0 ? 44 : -44), y, COLOR_INK, 2);
  canvas_dot(p->c, x, y, 4.5, COLOR_INK, COLOR_PAPER);
  canvas_text(p->c, x, y - 26, 11, COLOR_INK, ALIGN_CENTER, "n.o = %.6g, n.d = %.6g", from, along);
  draw_range(p, y, "plane");
  y += 70;
  canvas_text(p->c, MARGIN, y, 13, COLOR_INK, ALIGN_LEFT, "crossing = (offset - n.o) / n.d = %.9g%s%s",
              value(p, "plane", "crossing"), note_of(p, "plane", "n.d")[0] ? ": " : "", note_of(p, "plane", "n.d"));
  return y + 34;
}

/* The plane through the ray and the centre. */
static double draw_sphere_panel(page *p, double y) {
  static const char *const steps[][2] = {
      {"sphere", "d.d"},  {"sphere", "b"}, {"sphere", "nearest t"}, {"sphere", "discriminant"},
      {"sphere", "root"}, {"sphere", "q"}, {"sphere", "c"},         {"sphere", "t0"},
      {"sphere", "t1"}};
  const double size = 300, radius = value(p, "sphere as kept", "radius");
  const vector from = {(double)p->e->ray.origin[0] - value(p, "sphere as kept", "center x"),
                       (double)p->e->ray.origin[1] - value(p, "sphere as kept", "center y"),
                       (double)p->e->ray.origin[2] - value(p, "sphere as kept", "center z")};
  const vector direction = vector_unit(vector_of(p->e->ray.direction));
  const double along = -vector_dot(from, direction);
  const vector nearest = vector_add(from, along, direction);
  const double distance = sqrt(vector_dot(nearest, nearest));
  const double core[4] = {t_of(p, "sphere", "enter"), t_of(p, "sphere", "exit"), t_of(p, "sphere", "nearest t"),
                          is_told(p, "sphere", "enter") ? NAN : t_of(p, "padded bounds", "enter")};
  const double more[3] = {(double)p->e->ray.t_min, t_of(p, "padded bounds", "enter"),
                          t_of(p, "padded bounds", "leave")};
  set_t_scale(p, core, 4, more, 3);
  canvas_text(p->c, MARGIN, y, 13, COLOR_QUIET, ALIGN_LEFT, "the plane through the ray and the center");
  canvas_text(p->c, T_LEFT, y, 13, COLOR_QUIET, ALIGN_LEFT, "when the ray is inside");
  const double reach = fmax(radius, distance) * 1.25 + 1e-30, unit = 0.5 * size / reach;
  const double center_x = MARGIN + 240, center_y = y + 24 + 0.5 * size, ray_y = center_y - unit * distance;
  canvas_box(p->c, MARGIN, y + 14, 480, size + 20, 8, COLOR_PANEL, 1);
  canvas_clip(p->c, MARGIN, y + 14, 480, size + 20);
  canvas_circle(p->c, center_x, center_y, fmax(unit * radius, 2), axis_colors[2], 0.12, axis_colors[2]);
  canvas_arrow(p->c, MARGIN + 10, ray_y, MARGIN + 470, ray_y, COLOR_INK, 2);
  canvas_dashes(p->c, center_x, center_y, center_x, ray_y, COLOR_QUIET, 1.2);
  canvas_text(p->c, center_x + 8, 0.5 * (center_y + ray_y) + 4, 12, COLOR_QUIET, ALIGN_LEFT, "|l|");
  canvas_dot(p->c, center_x, center_y, 3.5, axis_colors[2], axis_colors[2]);
  const double half = radius > distance ? unit * sqrt(radius * radius - distance * distance) : 0;
  if (is_told(p, "sphere", "t0") && value(p, "sphere", "discriminant") >= 0) {
    canvas_dot(p->c, center_x - half, ray_y, 5, COLOR_HIT, COLOR_PAPER);
    canvas_dot(p->c, center_x + half, ray_y, 5, COLOR_HIT, COLOR_PAPER);
    canvas_text(p->c, center_x - half - 6, ray_y - 10, 12, COLOR_HIT, ALIGN_RIGHT, "%.6g", core[0]);
    canvas_text(p->c, center_x + half + 6, ray_y - 10, 12, COLOR_HIT, ALIGN_LEFT, "%.6g", core[1]);
  }
  const double start = center_x - unit * along;
  if (start > MARGIN && start < MARGIN + 480) canvas_dot(p->c, start, ray_y, 4.5, COLOR_INK, COLOR_PAPER);
  canvas_unclip(p->c);
  y += 56;
  if (is_told(p, "sphere", "enter") && is_yes(p, "padded bounds", "overlaps") &&
      value(p, "sphere", "discriminant") >= 0)
    draw_interval(p, y - 6, core[0], core[1], axis_colors[2]);
  else
    canvas_text(
        p->c, T_LEFT, y, 13, COLOR_HIT, ALIGN_LEFT, "never: %s",
        is_told(p, "sphere", "discriminant") ? note_of(p, "sphere", "discriminant") : note_of(p, "sphere", "is hit"));
  draw_range(p, y + 44, "sphere");
  draw_steps(p, T_LEFT, y + 96, steps, 9);
  return y + size + 8;
}

/* The triangle as the ray sees it: the ray is the point (0, 0). */
static double draw_triangle_panel(page *p, double y) {
  static const char *const vertices[] = {"sheared a", "sheared b", "sheared c"}, *const names[] = {"a", "b", "c"};
  static const char *const edges[] = {"edge bc", "edge ca", "edge ab"};
  static const char *const steps[][2] = {{"triangle", "is a candidate"}, {"triangle", "from the front"},
                                         {"triangle", "weight of a"},    {"triangle", "weight of b"},
                                         {"triangle", "weight of c"},    {"triangle", "t"},
                                         {"triangle", "crossing"}};
  const double size = 300;
  const double core[2] = {t_of(p, "triangle", "crossing"), NAN};
  const double more[3] = {(double)p->e->ray.t_min, t_of(p, "bounds", "enter"), t_of(p, "bounds", "leave")};
  double points[3][2], x_least = 0, x_most = 0, y_least = 0, y_most = 0;
  set_t_scale(p, core, 1, more, 3);
  canvas_text(p->c, MARGIN, y, 13, COLOR_QUIET, ALIGN_LEFT, "as the ray sees it, in shear space");
  canvas_text(p->c, T_LEFT, y, 13, COLOR_QUIET, ALIGN_LEFT, "the t of the triangle's bounds, and the crossing");
  for (int v = 0; v < 3; v++) {
    points[v][0] = value(p, vertices[v], "x");
    points[v][1] = value(p, vertices[v], "y");
    widen(&x_least, &x_most, points[v][0]);
    widen(&y_least, &y_most, points[v][1]);
  }
  const double span = fmax(fmax((x_most - x_least) / 1.5, y_most - y_least), 1e-30), unit = 0.78 * size / span;
  const double left = MARGIN + 240 - 0.5 * unit * (x_least + x_most),
               top = y + 24 + 0.5 * size + 0.5 * unit * (y_least + y_most);
  canvas_box(p->c, MARGIN, y + 14, 480, size + 20, 8, COLOR_PANEL, 1);
  for (int v = 0; v < 3; v++) {
    points[v][0] = left + unit * points[v][0];
    points[v][1] = top - unit * points[v][1];
  }
  canvas_polygon(p->c, (const double(*)[2])points, 3, axis_colors[2], 0.10, COLOR_FAINT);
  const double middle_x = (points[0][0] + points[1][0] + points[2][0]) / 3;
  const double middle_y = (points[0][1] + points[1][1] + points[2][1]) / 3;
  for (int i = 0; i < 3; i++) {
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    const double sign = value(p, edges[i], "sign");
    const int is_tie = value(p, edges[i], "difference") == 0 && value(p, edges[i], "residual") == 0;
    const color tint = sign > 0 ? axis_colors[1] : sign < 0 ? axis_colors[0] : COLOR_QUIET;
    canvas_arrow(p->c, points[a][0], points[a][1], points[b][0], points[b][1], tint, 2);
    const double x = 0.5 * (points[a][0] + points[b][0]), y_middle = 0.5 * (points[a][1] + points[b][1]);
    const double away = fmax(hypot(x - middle_x, y_middle - middle_y), 1e-9);
    const double push = 16 / away;
    canvas_text(p->c, x + push * (x - middle_x), y_middle + push * (y_middle - middle_y) + 4, 12, tint,
                x > middle_x + 20   ? ALIGN_LEFT
                : x < middle_x - 20 ? ALIGN_RIGHT
                                    : ALIGN_CENTER,
                is_tie ? "on the edge: %+.3g" : "%+.3g", sign);
  }
  for (int v = 0; v < 3; v++) {
    const double away = fmax(hypot(points[v][0] - middle_x, points[v][1] - middle_y), 1e-9);
    canvas_text(p->c, points[v][0] + 14 / away * (points[v][0] - middle_x),
                points[v][1] + 14 / away * (points[v][1] - middle_y) + 4, 13, COLOR_INK, ALIGN_CENTER, "%s", names[v]);
  }
  canvas_dot(p->c, left, top, 5, COLOR_HIT, COLOR_PAPER);
  canvas_text(p->c, left + 9, top - 8, 12, COLOR_HIT, ALIGN_LEFT, "the ray");
  y += 56;
  if (is_told(p, "bounds", "enter"))
    draw_interval(p, y - 6, more[1], more[2], axis_colors[2]);
  else
    canvas_text(p->c, T_LEFT, y, 13, COLOR_HIT, ALIGN_LEFT, "%s", note_of(p, "triangle", "is hit"));
  draw_range(p, y + 44, "triangle");
  for (int i = 0; i < 3; i++) {
    const double row = y + 96 + 20 * i;
    canvas_text(p->c, T_LEFT, row, 13, COLOR_QUIET, ALIGN_LEFT, "%s", edges[i]);
    canvas_text(p->c, T_LEFT + 70, row, 13, COLOR_INK, ALIGN_LEFT, "p - q = %.6g, residual %.3g",
                value(p, edges[i], "difference"), value(p, edges[i], "residual"));
  }
  draw_steps(p, T_LEFT, y + 164, steps, 7);
  return y + size + 8;
}

/* ---- the page -------------------------------------------------------------- */

static void draw_head(const page *p) {
  const slab_ray64 *r = &p->e->wide;
  const int digits = p->e->is_far ? 12 : 6;
  char name[64], result[64], title[160];
  explained_name(p->e, name, sizeof name);
  explained_result(p->e, result, sizeof result);
  snprintf(title, sizeof title, "%s: %s", name, result);
  canvas_title(p->c, MARGIN, 48, 21, title);
  canvas_text(p->c, MARGIN, 72, 13, COLOR_QUIET, ALIGN_LEFT,
              "origin (%.*g, %.*g, %.*g), direction (%.6g, %.6g, %.6g), t from %.6g to %.6g", digits, r->origin[0],
              digits, r->origin[1], digits, r->origin[2], r->direction[0], r->direction[1], r->direction[2], r->t_min,
              r->t_max);
  const char *why = note_of(p, "answer", "hit");
  if (why[0])
    canvas_text(p->c, MARGIN, 90, 13, COLOR_HIT, ALIGN_LEFT, "%s", why);
  else if (is_told(p, "gate 1", "enter"))
    canvas_text(p->c, MARGIN, 90, 13, COLOR_QUIET, ALIGN_LEFT, "drawn as the ray is in the space of the model");
}

/* The panels of a ray that is tested. Returns where they end. */
static double draw_panels(page *p) {
  const double top = 116;
  switch (p->e->found.kind) {
    case SLAB_BOX:
      return draw_slabs(p, &box_names, top);
    case SLAB_OBB:
      if (is_told(p, "axis 0", "near t")) return draw_slabs(p, &frame_names, top);
      canvas_text(p->c, MARGIN, top, 14, COLOR_HIT, ALIGN_LEFT, "%s: %s", note_of(p, "oriented box", "is hit"),
                  note_of(p, "padded bounds", "overlaps"));
      return top + 30;
    case SLAB_TRIANGLE:
      return draw_triangle_panel(p, top);
    case SLAB_SPHERE:
      return draw_sphere_panel(p, top);
    case SLAB_PLANE:
      break;
  }
  return draw_plane_panel(p, top);
}

static double page_height(const page *p) {
  switch (p->e->found.kind) {
    case SLAB_BOX:
      return 116 + SLABS + SCENE + MARGIN;
    case SLAB_OBB:
      return 116 + (is_told(p, "axis 0", "near t") ? SLABS : 30) + SCENE + MARGIN;
    case SLAB_PLANE:
      return 116 + 160 + SCENE + MARGIN;
    default:
      return 116 + 364 + SCENE + MARGIN;
  }
}

/* The same in the space of the model that the primitive is in: the ray there, and the answer in lengths of its
 * direction. */
static explained in_model(const explained *e) {
  static const char *const axes[] = {" x", " y", " z"};
  static const char *const outside[] = {"scaled ray of the scene", "scaled ray in model 1", "scaled ray in model 2",
                                        "scaled ray in model 3"};
  explained m = *e;
  char name[16];
  for (int i = 0; i < 3; i++) {
    snprintf(name, sizeof name, "origin%s", axes[i]);
    m.ray.origin[i] = (float)explained_value(e, "ray", name);
    snprintf(name, sizeof name, "direction%s", axes[i]);
    m.ray.direction[i] = (float)explained_value(e, "ray", name);
  }
  m.ray.t_min = (float)explained_value(e, "ray", "t_min");
  m.ray.t_max = (float)explained_value(e, "ray", "t_max");
  for (size_t k = 0; k < sizeof outside / sizeof *outside && explained_step(e, outside[k], "exponent"); k++) {
    const int exponent = (int)explained_value(e, outside[k], "exponent");
    m.found.hit.t = ldexpf(m.found.hit.t, exponent);
    m.found.interval.enter = ldexpf(m.found.interval.enter, exponent);
    m.found.interval.leave = ldexpf(m.found.interval.leave, exponent);
  }
  return m;
}

int explain_draw(const explained *e, const char *path) {
  const explained inside = in_model(e);
  page p = {.e = e};
  const int is_tested = is_yes(&p, "ray", "is valid") && is_yes(&p, "scaled ray", "has a range");
  p.scale = is_tested ? ldexp(1, -(int)value(&p, "scaled ray", "exponent")) : 1;
  p.c = canvas_open(path, WIDTH, is_tested ? page_height(&p) : 130);
  if (!p.c) return -1;
  draw_head(&p);
  p.e = &inside;
  if (is_tested)
    draw_space(&p, draw_panels(&p));
  else
    canvas_text(p.c, MARGIN, 104, 14, COLOR_HIT, ALIGN_LEFT, "%s",
                note_of(&p, is_yes(&p, "ray", "is valid") ? "scaled ray" : "ray",
                        is_yes(&p, "ray", "is valid") ? "has a range" : "is valid"));
  return canvas_close(p.c);
}

#endif
