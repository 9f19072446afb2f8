#include "program/io/result_row.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- queries --------------------------------------------------------------- */

static int is_primitive(uint32_t primitive) { return primitive != SLAB_MISS && primitive != SLAB_INVALID; }

size_t result_size(slab_query query, int doubles) {
  return doubles ? slab_result_size64(query) : slab_result_size(query);
}

/* Where a result of a query with a primitive has it. */
static size_t primitive_at(slab_query query, int doubles) {
  switch (query) {
    case SLAB_INTERVAL:
      return doubles ? offsetof(slab_interval64, primitive) : offsetof(slab_interval, primitive);
    case SLAB_NEAREST:
      return doubles ? offsetof(slab_short_hit64, primitive) : offsetof(slab_short_hit, primitive);
    default:
      return doubles ? offsetof(slab_hit64, primitive) : offsetof(slab_hit, primitive);
  }
}

/* The t of a result, or of SLAB_INTERVAL enter (0) and leave (1), which are its first members. */
static double t_of(const result_form *form, const void *result, int which) {
  double wide;
  float narrow;
  if (form->doubles) {
    memcpy(&wide, (const char *)result + (size_t)which * sizeof wide, sizeof wide);
    return wide;
  }
  memcpy(&narrow, (const char *)result + (size_t)which * sizeof narrow, sizeof narrow);
  return (double)narrow;
}

int result_is_hit(slab_query query, int doubles, const void *result) {
  const result_form form = {.query = query, .doubles = doubles};
  uint32_t primitive;
  if (query == SLAB_ANY) return *(const uint8_t *)result != 0;
  if (query == SLAB_COUNT) return *(const uint32_t *)result != 0;
  if (query == SLAB_DISTANCE) return t_of(&form, result, 0) < (double)INFINITY;
  memcpy(&primitive, (const char *)result + primitive_at(query, doubles), sizeof primitive);
  return is_primitive(primitive);
}

/* ---- fields ---------------------------------------------------------------- */

static size_t kind_size(char kind) { return kind == 'b' || kind == 'B' ? 1 : kind == 'U' || kind == 'D' ? 8 : 4; }

size_t result_field_size(const result_field *field) { return kind_size(field->kind) * field->count; }

void result_row_add(result_row *row, const char *name, char kind, unsigned count) {
  row->fields[row->field_count++] = (result_field){name, kind, count};
  row->size += kind_size(kind) * count;
}

static void add_ids(result_row *row) {
  result_row_add(row, "primitive", 'u', 1);
  row->geometry_at = row->size;
  result_row_add(row, "geometry", 'u', 1);
}

static char kind_of_real(int is_double) { return is_double ? 'D' : 'f'; }

static void add_hit(result_row *row) {
  result_row_add(row, "t", kind_of_real(row->form.doubles), 1);
  result_row_add(row, "normal", 'f', 3);
  result_row_add(row, "u", 'f', 1);
  result_row_add(row, "v", 'f', 1);
  add_ids(row);
}

static void add_interval(result_row *row) {
  result_row_add(row, "enter", kind_of_real(row->form.doubles), 1);
  result_row_add(row, "leave", kind_of_real(row->form.doubles), 1);
  add_ids(row);
}

void result_row_add_closest(result_row *row, slab_point_query query, int doubles) {
  const int places = query == SLAB_CLOSEST_POINTS;
  if (places && doubles) result_row_add(row, "point", 'D', 3);
  if (query == SLAB_POINTS_WITHIN)
    result_row_add(row, "within", 'b', 1);
  else if (query == SLAB_WINDING)
    result_row_add(row, "winding", 'i', 1);
  else
    result_row_add(row, query == SLAB_WINDING_NUMBERS ? "number" : "distance", 'f', 1);
  if (!places) return;
  if (!doubles) result_row_add(row, "point", 'f', 3);
  result_row_add(row, "u", 'f', 1);
  result_row_add(row, "v", 'f', 1);
  result_row_add(row, "feature", 'u', 1);
  add_ids(row);
}

static void add_point(result_row *row, const char *const names[3]) {
  for (int i = 0; i < 3; i++) result_row_add(row, names[i], kind_of_real(row->form.places), 1);
}

/* The members of the result's struct: of a short hit in double all but the last one, which is 0. */
static void add_result(result_row *row) {
  const slab_query query = row->form.query;
  const size_t before = row->size;
  if (query == SLAB_CLOSEST || query == SLAB_ALL) add_hit(row);
  if (query == SLAB_DISTANCE || query == SLAB_NEAREST) result_row_add(row, "t", kind_of_real(row->form.doubles), 1);
  if (query == SLAB_NEAREST) add_ids(row);
  if (query == SLAB_ANY) result_row_add(row, "hit", 'b', 1);
  if (query == SLAB_COUNT) result_row_add(row, "count", 'u', 1);
  if (query == SLAB_INTERVAL) add_interval(row);
  const int ordered = query == SLAB_CLOSEST || query == SLAB_ALL || query == SLAB_NEAREST;
  if (row->form.doubles && ordered) result_row_add(row, "order", 'f', 1);
  row->taken = row->size - before;
}

static const char *const hit_names[] = {"x", "y", "z"};
static const char *const enter_names[] = {"enter_x", "enter_y", "enter_z"};
static const char *const leave_names[] = {"leave_x", "leave_y", "leave_z"};

result_row result_row_of(const result_form *form, int numbered) {
  result_row row = {.form = *form, .numbered = numbered};
  if (numbered) result_row_add(&row, "ray", 'U', 1);
  add_result(&row);
  if (form->points && form->query == SLAB_INTERVAL) add_point(&row, enter_names);
  if (form->points) add_point(&row, form->query == SLAB_INTERVAL ? leave_names : hit_names);
  return row;
}

result_row result_row_of_point(const result_form *form, int of_sensor) {
  static const char *const ids[] = {"firing", "beam", "return"};
  result_row row = {.form = *form, .of_sensor = of_sensor};
  add_point(&row, hit_names);
  add_result(&row);
  if (form->query == SLAB_INTERVAL) add_point(&row, leave_names);
  for (int i = 0; of_sensor && i < 3; i++) result_row_add(&row, ids[i], 'u', 1);
  result_row_add(&row, "ray", 'D', 1);
  return row;
}

static const char *kind_dtype(char kind) {
  if (kind == 'D') return "<f8";
  return kind == 'f' ? "<f4" : kind == 'u' ? "<u4" : kind == 'i' ? "<i4" : kind == 'b' || kind == 'B' ? "|u1" : "<u8";
}

void result_descr(const result_row *row, char *text, size_t size) {
  if (row->field_count == 1 && row->fields[0].kind != 'B') { /* a plain array without field names */
    snprintf(text, size, "'%s'", kind_dtype(row->fields[0].kind));
    return;
  }
  size_t at = 0;
  for (int i = 0; i < row->field_count && at < size; i++) {
    const result_field *field = &row->fields[i];
    char shape[24] = "";
    if (field->count == 3 || field->kind == 'B') snprintf(shape, sizeof shape, ", (%u,)", field->count);
    at += (size_t)snprintf(text + at, size - at, "%s('%s', '%s'%s)", i ? ", " : "[", field->name,
                           kind_dtype(field->kind), shape);
  }
  if (at < size) snprintf(text + at, size - at, "]");
}

void result_names(const result_row *row, char text[RESULT_TEXT_MAX]) {
  size_t at = 0;
  for (int i = 0; i < row->field_count; i++) {
    const char *name = row->fields[i].name;
    const char *comma = i ? "," : "";
    at += (size_t)(row->fields[i].count == 3
                       ? snprintf(text + at, RESULT_TEXT_MAX - at, "%s%s_x,%s_y,%s_z", comma, name, name, name)
                       : snprintf(text + at, RESULT_TEXT_MAX - at, "%s%s", comma, name));
  }
  snprintf(text + at, RESULT_TEXT_MAX - at, row->labels ? ",name\n" : "\n");
}

/* ---- rows ------------------------------------------------------------------ */

/* The point of a ray of floats, as slab_point_at has it. At an infinite t it is infinite along the axes on which the
 * direction is not zero. It is never NaN. */
static void point_of_floats(const slab_ray *ray, float t, float point[3]) {
  if (isfinite(t)) {
    slab_point_at(ray, t, point);
    return;
  }
  for (int i = 0; i < 3; i++) point[i] = ray->direction[i] == 0 ? ray->origin[i] : t * ray->direction[i];
}

/* The same in double. */
static void point_of_doubles(const result_rays *rays, size_t i, double t, double point[3]) {
  for (int k = 0; k < 3; k++) {
    const double o = rays->doubles ? rays->doubles[i].origin[k] : rays->offset[k] + (double)rays->floats[i].origin[k];
    const double d = rays->doubles ? rays->doubles[i].direction[k] : (double)rays->floats[i].direction[k];
    point[k] = d == 0 ? o : o + t * d;
  }
}

/* Writes a point's coordinates, +inf for a miss, and returns their bytes. */
static size_t put_point(const result_row *row, const result_rays *rays, size_t i, double t, int hit,
                        unsigned char *place) {
  const double none = (double)INFINITY;
  double wide[3] = {none, none, none};
  float narrow[3] = {INFINITY, INFINITY, INFINITY};
  if (row->form.places) {
    if (hit) point_of_doubles(rays, i, t, wide);
    memcpy(place, wide, sizeof wide);
    return sizeof wide;
  }
  if (hit) point_of_floats(&rays->floats[i], (float)t, narrow);
  memcpy(place, narrow, sizeof narrow);
  return sizeof narrow;
}

/* Whether all three coordinates there are finite. */
static int is_finite_point(const result_row *row, const unsigned char *place) {
  double wide[3];
  float narrow[3];
  memcpy(narrow, place, sizeof narrow);
  for (int k = 0; k < 3; k++) wide[k] = (double)narrow[k];
  if (row->form.places) memcpy(wide, place, sizeof wide);
  return isfinite(wide[0]) && isfinite(wide[1]) && isfinite(wide[2]);
}

int result_row_is_plain(const result_row *row) { return row->size == result_size(row->form.query, row->form.doubles); }

void result_pack(const result_row *row, uint64_t index, const result_rays *rays, size_t i, const void *result,
                 unsigned char packed[RESULT_ROW_MAX]) {
  const result_form *form = &row->form;
  if (row->numbered) memcpy(packed, &index, sizeof index);
  if (row->numbered) packed += sizeof index;
  memcpy(packed, result, row->taken);
  packed += row->taken;
  if (!form->points) return;
  const int hit = result_is_hit(form->query, form->doubles, result);
  for (int which = 0; which < (form->query == SLAB_INTERVAL ? 2 : 1); which++)
    packed += put_point(row, rays, i, t_of(form, result, which), hit, packed);
}

int result_pack_point(const result_row *row, uint64_t index, const point_ids *ids, const result_rays *rays, size_t i,
                      const void *result, unsigned char packed[RESULT_ROW_MAX]) {
  const result_form *form = &row->form;
  const double number = (double)index;
  const size_t point = put_point(row, rays, i, t_of(form, result, 0), 1, packed);
  if (!is_finite_point(row, packed)) return 0;
  memcpy(packed + point, result, row->taken);
  if (form->query == SLAB_INTERVAL) put_point(row, rays, i, t_of(form, result, 1), 1, packed + point + row->taken);
  unsigned char *end = packed + row->size - sizeof number;
  memcpy(end, &number, sizeof number);
  if (row->of_sensor) memcpy(end - sizeof *ids, ids, sizeof *ids);
  return 1;
}

static size_t print_number(char kind, const unsigned char *place, char *text, size_t size) {
  uint64_t wide = 0;
  uint32_t whole = 0;
  float real = 0;
  double digits = 0;
  switch (kind) {
    case 'f':
      memcpy(&real, place, sizeof real);
      return (size_t)snprintf(text, size, "%.9g", (double)real);
    case 'D':
      memcpy(&digits, place, sizeof digits);
      return (size_t)snprintf(text, size, "%.17g", digits);
    case 'u':
      memcpy(&whole, place, sizeof whole);
      return (size_t)snprintf(text, size, "%" PRIu32, whole);
    case 'i':
      memcpy(&whole, place, sizeof whole);
      return (size_t)snprintf(text, size, "%" PRId32, (int32_t)whole);
    case 'U':
      memcpy(&wide, place, sizeof wide);
      return (size_t)snprintf(text, size, "%" PRIu64, wide);
    default:
      return (size_t)snprintf(text, size, "%u", (unsigned)*place);
  }
}

/* Writes a comma and the name of a row's geometry, quoted as csv needs it. */
static size_t print_label(const result_row *row, const unsigned char *packed, char *text) {
  uint32_t geometry = 0;
  memcpy(&geometry, packed + row->geometry_at, sizeof geometry);
  const char *name = geometry < row->labels->count ? row->labels->names[geometry] : NULL;
  size_t at = 0;
  text[at++] = ',';
  if (!name) return at;
  const int quoted = strpbrk(name, ",\"") != NULL;
  if (quoted) text[at++] = '"';
  for (; *name; name++) {
    if (*name == '"') text[at++] = '"';
    text[at++] = *name;
  }
  if (quoted) text[at++] = '"';
  return at;
}

size_t result_print(const result_row *row, const unsigned char *packed, char separator, char text[RESULT_TEXT_MAX]) {
  const unsigned char *start = packed;
  size_t at = 0;
  for (int i = 0; i < row->field_count; i++)
    for (unsigned part = 0; part < row->fields[i].count; part++) {
      if (at) text[at++] = separator;
      at += print_number(row->fields[i].kind, packed, text + at, RESULT_TEXT_MAX - at);
      packed += kind_size(row->fields[i].kind);
    }
  if (row->labels) at += print_label(row, start, text + at);
  text[at++] = '\n';
  return at;
}
