#include "forms_list.h"

#include <string.h>

#include "forms/list.h"

#define ENTRY(function, shape, layout, name, source, arithmetic, min_max, compare, divide, first) \
  {"form_" #function, shape, layout, name, source, {arithmetic, min_max, compare, divide, first}},
const form forms_list[] = {FORMS(ENTRY)};
const size_t forms_count = sizeof forms_list / sizeof *forms_list;

const form *form_named(const char *function) {
  for (size_t i = 0; i < forms_count; i++)
    if (strcmp(forms_list[i].function, function) == 0) return &forms_list[i];
  return NULL;
}

unsigned form_rows(form_layout layout) {
  static const unsigned rows[] = {
      [FORM_BOUNDS] = 6, [FORM_CENTER] = 6, [FORM_VERTICES] = 9, [FORM_WOOP] = 12, [FORM_BALDWIN_WEBER] = 12};
  return rows[layout];
}

static void pack_center(const float *box, double rows[FORM_ROWS_MOST]) {
  for (int i = 0; i < 3; i++) {
    rows[i] = ((double)box[i] + (double)box[i + 3]) / 2.0;
    rows[i + 3] = ((double)box[i + 3] - (double)box[i]) / 2.0;
  }
}

/* ---- triangles ---- */

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double c[3]) {
  for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Vertex a, the edges from it, and their cross product. */
typedef struct triangle_frame {
  double a[3], e1[3], e2[3], normal[3];
} triangle_frame;

static triangle_frame frame_of(const float *triangle) {
  triangle_frame f;
  for (int i = 0; i < 3; i++) {
    f.a[i] = (double)triangle[i];
    f.e1[i] = (double)triangle[i + 3] - f.a[i];
    f.e2[i] = (double)triangle[i + 6] - f.a[i];
  }
  cross(f.e1, f.e2, f.normal);
  return f;
}

/* Writes a row that is 0 at vertex a. */
static void set_row(const triangle_frame *f, const double along[3], double scale, double row[4]) {
  for (int i = 0; i < 3; i++) row[i] = along[i] * scale;
  row[3] = -dot(row, f->a);
}

/* The inverse of the matrix with columns e1, e2, normal, a. */
static void pack_woop(const float *triangle, double rows[FORM_ROWS_MOST]) {
  const triangle_frame f = frame_of(triangle);
  const double scale = 1.0 / dot(f.normal, f.normal);
  double along[3];
  cross(f.e2, f.normal, along);
  set_row(&f, along, scale, rows);
  cross(f.normal, f.e1, along);
  set_row(&f, along, scale, rows + 4);
  set_row(&f, f.normal, scale, rows + 8);
}

/* As pack_woop, but the unit vector of the normal's largest axis replaces the column of the normal. Of a point in the
 * plane, u and v then do not depend on that coordinate. */
static void pack_baldwin_weber(const float *triangle, double rows[FORM_ROWS_MOST]) {
  const triangle_frame f = frame_of(triangle);
  int k = 0;
  for (int i = 1; i < 3; i++)
    if (f.normal[i] * f.normal[i] > f.normal[k] * f.normal[k]) k = i;
  double axis[3] = {0.0, 0.0, 0.0}, along[3];
  axis[k] = 1.0;
  cross(f.e2, axis, along);
  set_row(&f, along, 1.0 / f.normal[k], rows);
  cross(axis, f.e1, along);
  set_row(&f, along, 1.0 / f.normal[k], rows + 4);
  set_row(&f, f.normal, 1.0 / f.normal[k], rows + 8);
}

static void pack_one(form_layout layout, const float *shape, double rows[FORM_ROWS_MOST]) {
  if (layout == FORM_CENTER) {
    pack_center(shape, rows);
  } else if (layout == FORM_WOOP) {
    pack_woop(shape, rows);
  } else if (layout == FORM_BALDWIN_WEBER) {
    pack_baldwin_weber(shape, rows);
  } else {
    for (unsigned r = 0; r < form_rows(layout); r++) rows[r] = (double)shape[r];
  }
}

void form_pack(form_layout layout, unsigned lanes, const float *shapes, size_t count, float *blocks) {
  const size_t floats = layout == FORM_BOUNDS || layout == FORM_CENTER ? 6 : 9, row_count = form_rows(layout);
  for (size_t i = 0; i < count; i++) {
    double rows[FORM_ROWS_MOST] = {0.0};
    float *block = blocks + i / lanes * lanes * row_count;
    pack_one(layout, shapes + i * floats, rows);
    for (size_t r = 0; r < row_count; r++) block[r * lanes + i % lanes] = (float)rows[r];
  }
}
