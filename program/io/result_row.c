#include "program/io/result_row.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- queries --------------------------------------------------------------- */

static int is_primitive(uint32_t primitive) { return primitive != SLAB_MISS && primitive != SLAB_INVALID; }

int result_is_hit(slab_query query, const void *result) {
  switch (query) {
    case SLAB_CLOSEST:
    case SLAB_ALL:
      return is_primitive(((const slab_hit *)result)->primitive);
    case SLAB_DISTANCE:
      return *(const float *)result < INFINITY;
    case SLAB_ANY:
      return *(const uint8_t *)result != 0;
    case SLAB_COUNT:
      return *(const uint32_t *)result != 0;
    case SLAB_INTERVAL:
      return is_primitive(((const slab_interval *)result)->primitive);
    case SLAB_NEAREST:
      return is_primitive(((const slab_short_hit *)result)->primitive);
  }
  return 0;
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

static void add_hit(result_row *row) {
  result_row_add(row, "t", 'f', 1);
  result_row_add(row, "normal", 'f', 3);
  result_row_add(row, "u", 'f', 1);
  result_row_add(row, "v", 'f', 1);
  add_ids(row);
}

static void add_interval(result_row *row) {
  result_row_add(row, "enter", 'f', 1);
  result_row_add(row, "leave", 'f', 1);
  add_ids(row);
}

void result_row_add_closest(result_row *row, slab_point_query query) {
  if (query == SLAB_POINTS_WITHIN)
    result_row_add(row, "within", 'b', 1);
  else if (query == SLAB_WINDING)
    result_row_add(row, "winding", 'i', 1);
  else
    result_row_add(row, query == SLAB_WINDING_NUMBERS ? "number" : "distance", 'f', 1);
  if (query != SLAB_CLOSEST_POINTS) return;
  result_row_add(row, "point", 'f', 3);
  result_row_add(row, "u", 'f', 1);
  result_row_add(row, "v", 'f', 1);
  result_row_add(row, "feature", 'u', 1);
  add_ids(row);
}

static void add_point(result_row *row, const char *const names[3]) {
  for (int i = 0; i < 3; i++) result_row_add(row, names[i], 'f', 1);
}

/* The members of the result's struct. */
static void add_result(result_row *row) {
  const slab_query query = row->query;
  if (query == SLAB_CLOSEST || query == SLAB_ALL) add_hit(row);
  if (query == SLAB_DISTANCE || query == SLAB_NEAREST) result_row_add(row, "t", 'f', 1);
  if (query == SLAB_NEAREST) add_ids(row);
  if (query == SLAB_ANY) result_row_add(row, "hit", 'b', 1);
  if (query == SLAB_COUNT) result_row_add(row, "count", 'u', 1);
  if (query == SLAB_INTERVAL) add_interval(row);
}

static const char *const hit_names[] = {"x", "y", "z"};
static const char *const enter_names[] = {"enter_x", "enter_y", "enter_z"};
static const char *const leave_names[] = {"leave_x", "leave_y", "leave_z"};

result_row result_row_of(slab_query query, int points, int numbered) {
  result_row row = {.query = query, .points = points, .numbered = numbered};
  if (numbered) result_row_add(&row, "ray", 'U', 1);
  add_result(&row);
  if (points && query == SLAB_INTERVAL) add_point(&row, enter_names);
  if (points) add_point(&row, query == SLAB_INTERVAL ? leave_names : hit_names);
  return row;
}

result_row result_row_of_point(slab_query query, int of_sensor) {
  static const char *const ids[] = {"firing", "beam", "return"};
  result_row row = {.query = query, .of_sensor = of_sensor};
  add_point(&row, hit_names);
  add_result(&row);
  if (query == SLAB_INTERVAL) add_point(&row, leave_names);
  for (int i = 0; of_sensor && i < 3; i++) result_row_add(&row, ids[i], 'u', 1);
  result_row_add(&row, "ray", 'D', 1);
  return row;
}

static const char *kind_dtype(char kind) {
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

/* Writes the point at t; +inf for a miss. The point at an infinite t is infinite along the axes on which the direction
 * is not zero. It is never NaN. */
static void put_point(const slab_ray *ray, float t, int hit, unsigned char *place) {
  float point[3] = {INFINITY, INFINITY, INFINITY};
  if (hit && isfinite(t)) slab_point_at(ray, t, point);
  for (int i = 0; hit && !isfinite(t) && i < 3; i++)
    point[i] = ray->direction[i] == 0 ? ray->origin[i] : t * ray->direction[i];
  memcpy(place, point, sizeof point);
}

void result_pack(const result_row *row, uint64_t index, const slab_ray *ray, const void *result,
                 unsigned char packed[RESULT_ROW_MAX]) {
  const size_t size = slab_result_size(row->query);
  if (row->numbered) memcpy(packed, &index, sizeof index);
  if (row->numbered) packed += sizeof index;
  memcpy(packed, result, size);
  packed += size;
  if (!row->points) return;
  const int hit = result_is_hit(row->query, result);
  float t[2]; /* t, or enter and leave, are the first members */
  const int count = row->query == SLAB_INTERVAL ? 2 : 1;
  memcpy(t, result, sizeof(float) * (size_t)count);
  for (int i = 0; i < count; i++) put_point(ray, t[i], hit, packed + 12 * i);
}

int result_pack_point(const result_row *row, uint64_t index, const point_ids *ids, const slab_ray *ray,
                      const void *result, unsigned char packed[RESULT_ROW_MAX]) {
  const size_t size = slab_result_size(row->query), point = 3 * sizeof(float);
  const double number = (double)index;
  float t[2], place[3];
  memcpy(t, result, sizeof(float) * (row->query == SLAB_INTERVAL ? 2 : 1));
  put_point(ray, t[0], 1, packed);
  memcpy(place, packed, sizeof place);
  if (!isfinite(place[0]) || !isfinite(place[1]) || !isfinite(place[2])) return 0;
  memcpy(packed + point, result, size);
  if (row->query == SLAB_INTERVAL) put_point(ray, t[1], 1, packed + point + size);
  unsigned char *end = packed + row->size - sizeof number;
  memcpy(end, &number, sizeof number);
  if (row->of_sensor) memcpy(end - sizeof *ids, ids, sizeof *ids);
  return 1;
}

static size_t print_number(char kind, const unsigned char *place, char *text, size_t size) {
  uint64_t wide = 0;
  uint32_t whole = 0;
  float real = 0;
  switch (kind) {
    case 'f':
      memcpy(&real, place, sizeof real);
      return (size_t)snprintf(text, size, "%.9g", (double)real);
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
