/* The lowest panel of a drawing: the primitive and the ray in space, seen from the right, from above and from the
 * front. */
#include <math.h>
#include <string.h>

#include "program/common/vectors.h"
#include "program/explain/page.h"

/* Seen from the right, from above and from the front. */
typedef struct view {
  vector right, up, back;
  double unit, x, y; /* pixels per length; where the origin is */
} view;

static view view_from_there(void) {
  view v = {.unit = 1};
  double cos_a, sin_a, cos_b, sin_b;
  circle_at(34, &cos_a, &sin_a);
  circle_at(22, &cos_b, &sin_b);
  v.right = (vector){cos_a, 0, -sin_a};
  v.up = (vector){-sin_a * sin_b, cos_b, -cos_a * sin_b};
  v.back = (vector){sin_a * cos_b, sin_b, cos_a * cos_b};
  return v;
}

static void project(const view *v, vector point, double at[2]) {
  at[0] = v->x + v->unit * vector_dot(point, v->right);
  at[1] = v->y - v->unit * vector_dot(point, v->up);
}

/* The drawing of a primitive: its corners, and the faces that they make. A sphere is a circle around its corner. */
typedef struct solid {
  vector corner[8];
  int corners, faces;
  int face[6][4]; /* of 3 or 4 corners */
  vector normal[6];
  int sides; /* corners of a face */
  double radius;
} solid;

static vector scaled(double s, vector v) { return vector_add((vector){0, 0, 0}, s, v); }

/* A box around `center` with half edges along three axes. Its faces are in the order of slab_hit's u. */
static solid box_solid(vector center, const vector half[3]) {
  static const int faces[6][4] = {{0, 2, 6, 4}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 3, 7, 6}, {0, 1, 3, 2}, {4, 5, 7, 6}};
  solid s = {.corners = 8, .faces = 6, .sides = 4};
  for (int i = 0; i < 8; i++) {
    s.corner[i] = center;
    for (int k = 0; k < 3; k++) s.corner[i] = vector_add(s.corner[i], (i >> k & 1) ? 1 : -1, half[k]);
  }
  memcpy(s.face, faces, sizeof faces);
  for (int k = 0; k < 3; k++) {
    s.normal[2 * k] = scaled(-1, half[k]);
    s.normal[2 * k + 1] = half[k];
  }
  return s;
}

static vector point_told(const page *p, const char *part, const char *const names[3]) {
  return (vector){value(p, part, names[0]), value(p, part, names[1]), value(p, part, names[2])};
}

/* Infinite bounds are cut a little way beyond the ray's own points. */
static solid box_told(const page *p, const vector ends[2]) {
  static const char *const lower_names[] = {"lower x", "lower y", "lower z"}, *const upper_names[] = {
                                                                                  "upper x", "upper y", "upper z"};
  const vector lower = point_told(p, "box as kept", lower_names), upper = point_told(p, "box as kept", upper_names);
  double low[3] = {lower.x, lower.y, lower.z}, high[3] = {upper.x, upper.y, upper.z};
  const double a[3] = {ends[0].x, ends[0].y, ends[0].z}, b[3] = {ends[1].x, ends[1].y, ends[1].z};
  double size = 0;
  for (int k = 0; k < 3; k++) {
    if (isfinite(high[k] - low[k])) size = fmax(size, high[k] - low[k]);
    size = fmax(size, 0.25 * fabs(a[k] - b[k]));
  }
  for (int k = 0; k < 3; k++) {
    if (!isfinite(low[k])) low[k] = fmin(fmin(a[k], b[k]), isfinite(high[k]) ? high[k] : INFINITY) - 0.5 * size;
    if (!isfinite(high[k])) high[k] = fmax(fmax(a[k], b[k]), low[k]) + 0.5 * size;
  }
  const vector half[3] = {
      {0.5 * (high[0] - low[0]), 0, 0}, {0, 0.5 * (high[1] - low[1]), 0}, {0, 0, 0.5 * (high[2] - low[2])}};
  const vector center = {0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2])};
  return box_solid(center, half);
}

static solid obb_told(const page *p) {
  static const char *const center_names[] = {"center x", "center y", "center z"};
  static const char *const sizes[] = {"half size 0", "half size 1", "half size 2"};
  static const char *const axes[3][3] = {
      {"axis 0 x", "axis 0 y", "axis 0 z"}, {"axis 1 x", "axis 1 y", "axis 1 z"}, {"axis 2 x", "axis 2 y", "axis 2 z"}};
  const char *part = "oriented box as kept";
  vector half[3];
  for (int k = 0; k < 3; k++) half[k] = scaled(value(p, part, sizes[k]), point_told(p, part, axes[k]));
  return box_solid(point_told(p, part, center_names), half);
}

static solid triangle_told(const page *p) {
  static const char *const names[3][3] = {{"a x", "a y", "a z"}, {"b x", "b y", "b z"}, {"c x", "c y", "c z"}};
  solid s = {.corners = 3, .faces = 1, .sides = 3, .face = {{0, 1, 2, 0}}};
  for (int i = 0; i < 3; i++) s.corner[i] = point_told(p, "triangle as kept", names[i]);
  return s;
}

/* A square of the plane around a point on it. */
static solid plane_told(const page *p, vector near, double size) {
  static const char *const names[] = {"normal x", "normal y", "normal z"};
  const vector normal = point_told(p, "plane as kept", names), unit = vector_unit(normal);
  const double away = (value(p, "plane as kept", "offset") - vector_dot(normal, near)) / vector_dot(normal, normal);
  const vector center = vector_add(near, away, normal);
  const vector other = fabs(unit.y) < 0.9 ? (vector){0, 1, 0} : (vector){1, 0, 0};
  const vector side = vector_unit(vector_cross(unit, other)), over = vector_cross(unit, side);
  solid s = {.corners = 4, .faces = 1, .sides = 4, .face = {{0, 1, 2, 3}}};
  static const double corners[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  for (int i = 0; i < 4; i++)
    s.corner[i] = vector_add(vector_add(center, size * corners[i][0], side), size * corners[i][1], over);
  return s;
}

static solid sphere_told(const page *p) {
  static const char *const names[] = {"center x", "center y", "center z"};
  return (solid){
      .corner = {point_told(p, "sphere as kept", names)}, .corners = 1, .radius = value(p, "sphere as kept", "radius")};
}

/* Which part of the ray is drawn, in t: some way before and behind the primitive, within the range. */
typedef struct way {
  double begin, enter, leave, end; /* enter > leave: it is never inside */
  int has_start;                   /* the ray begins at begin */
} way;

static vector point_on(const page *p, double t) {
  return vector_add(vector_of(p->e->ray.origin), t, vector_of(p->e->ray.direction));
}

/* Where the ray is nearest to a point. */
static double nearest_t(const page *p, vector point) {
  const vector d = vector_of(p->e->ray.direction);
  return vector_dot(vector_minus(point, vector_of(p->e->ray.origin)), d) / vector_dot(d, d);
}

static way way_past(const page *p, const char *part, vector center, double size) {
  const vector d = vector_of(p->e->ray.direction);
  const double step = size / sqrt(vector_dot(d, d)), t_min = (double)p->e->ray.t_min, t_max = (double)p->e->ray.t_max;
  way w = {.enter = INFINITY, .leave = -INFINITY};
  const slab_interval *inside = &p->e->found.interval;
  double first = nearest_t(p, center), last = first;
  if (inside->primitive < SLAB_INVALID) {
    first = w.enter = (double)inside->enter;
    last = w.leave = isfinite(inside->leave) ? (double)inside->leave : t_of(p, part, "leave");
  } else if (is_told(p, part, "enter") && isfinite(t_of(p, part, "enter")) && isfinite(t_of(p, part, "leave"))) {
    first = fmin(fmin(first, t_of(p, part, "enter")), t_of(p, part, "leave"));
    last = fmax(fmax(last, t_of(p, part, "enter")), t_of(p, part, "leave"));
  }
  if (!isfinite(first)) first = nearest_t(p, center) - step;
  if (!isfinite(last)) last = first + 2 * step;
  w.begin = fmax(t_min, first - 1.1 * step);
  if (t_min > first - 3 * step) w.begin = t_min;
  w.end = fmax(fmin(t_max, last + 0.9 * step), w.begin);
  w.has_start = w.begin == t_min;
  return w;
}

static void draw_gizmo(const page *p, const view *v, double x, double y) {
  static const vector axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const char *const names[] = {"x", "y", "z"};
  for (int k = 0; k < 3; k++) {
    const double dx = 34 * vector_dot(axes[k], v->right), dy = -34 * vector_dot(axes[k], v->up);
    canvas_arrow(p->c, x, y, x + dx, y + dy, axis_colors[k], 1.6);
    canvas_text(p->c, x + 1.3 * dx, y + 1.3 * dy + 4, 12, axis_colors[k], ALIGN_CENTER, "%s", names[k]);
  }
}

static int faces_away(const view *v, const solid *s, int face) {
  return s->faces == 6 && vector_dot(s->normal[face], v->back) < 0;
}

/* Hidden faces first: behind the ray, with dashed edges where no face in front shares them. */
static void draw_faces(const page *p, const view *v, const solid *s, int hidden) {
  const int decided = s->faces == 6 && is_yes(p, "answer", "hit") ? (int)value(p, "answer", "face") : -1;
  for (int f = 0; f < s->faces; f++) {
    double at[4][2];
    if (faces_away(v, s, f) != hidden) continue;
    for (int i = 0; i < s->sides; i++) project(v, s->corner[s->face[f][i]], at[i]);
    const color tint = f == decided ? axis_colors[f / 2] : axis_colors[2];
    if (hidden && f != decided) {
      for (int i = 0; i < s->sides; i++) {
        const double *a = at[i], *b = at[(i + 1) % s->sides];
        canvas_dashes(p->c, a[0], a[1], b[0], b[1], COLOR_FAINT, 1.1);
      }
    } else {
      canvas_polygon(p->c, (const double(*)[2])at, s->sides, tint, f == decided ? 0.30 : 0.08,
                     hidden ? COLOR_FAINT : COLOR_QUIET);
    }
  }
}

static void draw_way(const page *p, const view *v, const way *w) {
  double a[2], b[2], c[2], d[2];
  const int is_inside = w->enter <= w->leave;
  project(v, point_on(p, w->begin), a);
  project(v, point_on(p, w->end), d);
  if (is_inside) {
    project(v, point_on(p, fmax(w->enter, w->begin)), b);
    project(v, point_on(p, fmin(w->leave, w->end)), c);
    canvas_line(p->c, a[0], a[1], b[0], b[1], COLOR_INK, 2.2);
    canvas_dashes(p->c, b[0], b[1], c[0], c[1], COLOR_HIT, 2.2);
    canvas_arrow(p->c, c[0], c[1], d[0], d[1], COLOR_INK, 2.2);
  } else {
    canvas_arrow(p->c, a[0], a[1], d[0], d[1], COLOR_INK, 2.2);
  }
  const double t = (double)p->e->found.hit.t; /* +inf where there is no hit */
  double hit[2] = {INFINITY, INFINITY};
  if (is_inside && is_yes(p, "answer", "hit")) {
    const int rises = (d[0] - a[0]) * (d[1] - a[1]) < 0; /* the label stands beside the ray */
    project(v, point_on(p, t), hit);
    canvas_text(p->c, hit[0] + 10, hit[1] + (rises ? 18 : -10), 13, COLOR_HIT, ALIGN_LEFT, "t = %.6g", t);
  }
  if (w->has_start) canvas_dot(p->c, a[0], a[1], 4.5, COLOR_INK, COLOR_PAPER);
  if (w->has_start && hypot(a[0] - hit[0], a[1] - hit[1]) > 24)
    canvas_text(p->c, a[0], a[1] + (d[1] > a[1] ? -12 : 20), 12, COLOR_INK, ALIGN_CENTER, "t = %.6g", w->begin);
  if (isfinite(hit[0])) canvas_dot(p->c, hit[0], hit[1], 5.5, COLOR_HIT, COLOR_PAPER);
}

static solid solid_told(const page *p, const vector ends[2]) {
  switch (p->e->found.kind) {
    case SLAB_BOX:
      return box_told(p, ends);
    case SLAB_OBB:
      return obb_told(p);
    case SLAB_TRIANGLE:
      return triangle_told(p);
    case SLAB_SPHERE:
      return sphere_told(p);
    case SLAB_PLANE:
      break;
  }
  const vector across = vector_minus(ends[1], ends[0]);
  return plane_told(p, p->e->found.hit.primitive < SLAB_INVALID ? point_on(p, (double)p->e->found.hit.t) : ends[0],
                    fmax(0.6 * sqrt(vector_dot(across, across)), 1e-30));
}

/* The middle of a solid and a length that it has; 0 for one point. */
static double measure(const solid *s, vector *center) {
  vector sum = {0, 0, 0};
  double size = s->radius;
  for (int i = 0; i < s->corners; i++) sum = vector_add(sum, 1.0 / s->corners, s->corner[i]);
  for (int i = 0; i < s->corners; i++) {
    const vector d = vector_minus(s->corner[i], sum);
    size = fmax(size, sqrt(vector_dot(d, d)));
  }
  *center = sum;
  return 2 * size;
}

static void fit(view *v, const solid *s, const vector ends[2], double x, double y, double width, double height) {
  double least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY}, at[2];
  for (int i = 0; i < s->corners + 2; i++) {
    project(v, i < s->corners ? s->corner[i] : ends[i - s->corners], at);
    const double r = i < s->corners ? s->radius : 0;
    for (int k = 0; k < 2; k++) {
      widen(&least[k], &most[k], at[k] - r);
      widen(&least[k], &most[k], at[k] + r);
    }
  }
  const double wide = fmax(most[0] - least[0], 1e-30), high = fmax(most[1] - least[1], 1e-30);
  v->unit = fmin(width / wide, height / high);
  v->x = x + 0.5 * width - 0.5 * v->unit * (least[0] + most[0]);
  v->y = y + 0.5 * height - 0.5 * v->unit * (least[1] + most[1]);
}

void draw_space(const page *p, double y) {
  const char *part = explained_noun(p->e->found.kind);
  view v = view_from_there();
  vector center, ends[2] = {point_on(p, 0), point_on(p, 1)};
  canvas_box(p->c, MARGIN, y, WIDTH - 2 * MARGIN, SCENE, 10, COLOR_PANEL, 1);
  canvas_text(p->c, WIDTH - MARGIN - 18, y + SCENE - 18, 13, COLOR_QUIET, ALIGN_RIGHT, "the %s and the ray in space",
              part);
  solid s = solid_told(p, ends);
  double size = measure(&s, &center);
  if (!isfinite(size) || !isfinite(center.x + center.y + center.z)) {
    canvas_text(p->c, 0.5 * WIDTH, y + 0.5 * SCENE, 14, COLOR_QUIET, ALIGN_CENTER, "never hit: nothing to show");
    return;
  }
  if (!(size > 0)) size = fmax(1e-3 * sqrt(vector_dot(center, center)), 1e-30);
  const way w = way_past(p, part, center, size);
  ends[0] = point_on(p, w.begin);
  ends[1] = point_on(p, w.end);
  if (p->e->found.kind == SLAB_BOX) s = solid_told(p, ends);
  fit(&v, &s, ends, MARGIN + 110, y + 46, WIDTH - 2 * MARGIN - 220, SCENE - 92);
  draw_gizmo(p, &v, MARGIN + 50, y + SCENE - 52);
  draw_faces(p, &v, &s, 1);
  if (s.radius > 0) {
    double at[2];
    project(&v, s.corner[0], at);
    canvas_circle(p->c, at[0], at[1], v.unit * s.radius, axis_colors[2], 0.10, COLOR_QUIET);
  }
  draw_faces(p, &v, &s, 0);
  draw_way(p, &v, &w);
}
