/* Reads PLY, as text and in both orders of bytes: the vertices, and the faces or strips of triangles. Properties may
 * stand in any order; other properties and elements are passed over. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/mesh/scan.h"

typedef enum number_type { CHAR, UCHAR, SHORT, USHORT, INT, UINT, FLOAT, DOUBLE, TYPES } number_type;

static const struct {
  const char *name, *sized;
  unsigned bytes;
} types[TYPES] = {{"char", "int8", 1}, {"uchar", "uint8", 1}, {"short", "int16", 2},   {"ushort", "uint16", 2},
                  {"int", "int32", 4}, {"uint", "uint32", 4}, {"float", "float32", 4}, {"double", "float64", 8}};

/* The role of a property. */
typedef enum role { X, Y, Z, CORNERS, NOTHING } role;

typedef struct property {
  number_type type, count_type;
  bool is_list;
  role role;
} property;

typedef enum element_kind { VERTICES, FACES, STRIPS, GRID, OTHER } element_kind;

typedef struct element {
  element_kind kind;
  const char *name; /* in the file, of name_size bytes */
  int name_size;
  uint64_t count;
  size_t first, properties; /* of ply.properties */
  scan begin;               /* where its items begin, once that is known */
} element;

typedef struct ply {
  scan text; /* the header, and the body whatever it is */
  enum { TEXT, LITTLE, BIG } order;
  element *elements;
  property *properties;
  size_t element_count, property_count, element_capacity, property_capacity;
  const element *element; /* whose items are read, and which */
  uint64_t item;
  bool given; /* items go to the builder, else they are passed over */
  mesh_point point;
  corner_list corners;
  bool dropped; /* the face at hand names no vertex */
} ply;

/* ---- header -------------------------------------------------------------------------- */

static int grow(ply *p, void *array, size_t *capacity, size_t count, size_t size) {
  return mesh_grow(array, capacity, count, size) ? mesh_builder_refuse(p->text.builder, "no memory for its header") : 0;
}

static int read_format(ply *p) {
  scan *s = &p->text;
  scan_blanks(s);
  if (scan_word(s, "ascii"))
    p->order = TEXT;
  else if (scan_word(s, "binary_little_endian"))
    p->order = LITTLE;
  else if (scan_word(s, "binary_big_endian"))
    p->order = BIG;
  else
    return scan_refuse_word(s, "is no format of PLY");
  return 0;
}

static element_kind kind_of(scan *name) {
  static const char *const names[] = {"vertex", "face", "tristrips", "range_grid"}; /* in the order of element_kind */
  for (int i = 0; i < OTHER; i++)
    if (scan_word(name, names[i])) return (element_kind)i;
  return OTHER;
}

static int read_element(ply *p) {
  scan *s = &p->text;
  if (grow(p, &p->elements, &p->element_capacity, p->element_count, sizeof *p->elements) != 0) return -1;
  element *e = &p->elements[p->element_count];
  scan_blanks(s);
  *e = (element){.name = s->at, .name_size = (int)scan_word_size(s), .first = p->property_count};
  if (e->name_size == 0) return scan_refuse(s, "an element without a name");
  if (e->name_size > 40) e->name_size = 40;
  scan name = *s;
  scan_pass_word(s);
  scan_blanks(s);
  e->kind = kind_of(&name);
  if (scan_count(s, &e->count) != 0) return -1;
  p->element_count++;
  return 0;
}

static int read_type(ply *p, number_type *type) {
  scan_blanks(&p->text);
  for (int i = 0; i < TYPES; i++)
    if (scan_word(&p->text, types[i].name) || scan_word(&p->text, types[i].sized)) {
      *type = (number_type)i;
      return 0;
    }
  return scan_refuse_word(&p->text, "is no type of PLY");
}

static role role_of(scan *name, element_kind kind, bool is_list) {
  if (kind == VERTICES && !is_list)
    return scan_word(name, "x") ? X : scan_word(name, "y") ? Y : scan_word(name, "z") ? Z : NOTHING;
  const bool is_corners = (kind == FACES || kind == STRIPS) && is_list;
  return is_corners && (scan_word(name, "vertex_indices") || scan_word(name, "vertex_index")) ? CORNERS : NOTHING;
}

static int read_property(ply *p) {
  property new = {.is_list = false};
  if (p->element_count == 0) return scan_refuse(&p->text, "a property before the first element");
  if (grow(p, &p->properties, &p->property_capacity, p->property_count, sizeof *p->properties) != 0) return -1;
  element *e = &p->elements[p->element_count - 1];
  scan_blanks(&p->text);
  new.is_list = scan_word(&p->text, "list");
  if (new.is_list && read_type(p, &new.count_type) != 0) return -1;
  if (new.is_list &&new.count_type >= FLOAT) return scan_refuse(&p->text, "a list whose count is no whole number");
  if (read_type(p, &new.type) != 0) return -1;
  scan_blanks(&p->text);
  new.role = role_of(&p->text, e->kind, new.is_list);
  p->properties[p->property_count++] = new;
  e->properties++;
  return 0;
}

/* Whether a line begins with end_header, after blanks. */
static bool has_header_end(scan s) {
  for (; !scan_is_end(&s); scan_next_line(&s)) {
    scan_blanks(&s);
    if (scan_word(&s, "end_header")) return true;
  }
  return false;
}

/* Reads up to end_header. Blender 2.47 wrote a comment without that word; such lines are passed over. A body may follow
 * that line at once: its first byte is none of the line end, unless the lines of the header end by CR and LF. */
static int read_header(ply *p) {
  scan *s = &p->text;
  scan_blanks(s);
  if (!scan_word(s, "ply")) return scan_refuse(s, "it does not begin with ply");
  if (!has_header_end(*s)) return mesh_builder_refuse(s->builder, "its header does not end: no line is end_header");
  scan_blanks(s);
  const bool ends_by_two = s->at[0] == '\r' && s->at[1] == '\n';
  for (scan_next_line(s); !scan_word(s, "end_header"); scan_next_line(s), scan_blanks(s)) {
    int failed = 0;
    if (scan_word(s, "format"))
      failed = read_format(p);
    else if (scan_word(s, "element"))
      failed = read_element(p);
    else if (scan_word(s, "property"))
      failed = read_property(p);
    else if (!scan_is_line_end(s) && !scan_word(s, "comment") && !scan_word(s, "obj_info"))
      mesh_builder_warn(s->builder, "line %" PRIu64 " of its header is none of PLY's, and passed over", s->line);
    if (failed) return -1;
  }
  scan_blanks(s);
  if (s->at[0] == '\r' && s->at[1] == '\n' && !ends_by_two)
    s->at++, s->line++;
  else
    scan_next_line(s);
  return 0;
}

/* ---- numbers of the body --------------------------------------------------------------- */

static size_t left(const ply *p) { return (size_t)(p->text.end - p->text.at); }

static int cut_short(ply *p) {
  const element *e = p->element;
  return mesh_builder_refuse(p->text.builder,
                             "it is cut short: it ends within %.*s %" PRIu64 " of %" PRIu64 " (counted from 0)",
                             e->name_size, e->name, p->item, e->count);
}

static decimal number_of(number_type type, uint64_t bits) {
  float narrow;
  double wide;
  const uint32_t low = (uint32_t)bits;
  switch (type) {
    case CHAR:
      wide = (int8_t)bits;
      break;
    case SHORT:
      wide = (int16_t)bits;
      break;
    case INT:
      wide = (int32_t)bits;
      break;
    case FLOAT:
      memcpy(&narrow, &low, sizeof low);
      return (decimal){(double)narrow, narrow};
    case DOUBLE:
      memcpy(&wide, &bits, sizeof bits);
      break;
    default:
      wide = (double)bits;
  }
  return (decimal){wide, (float)wide};
}

static int read_value(ply *p, number_type type, decimal *value) {
  const unsigned bytes = types[type].bytes;
  uint64_t bits = 0;
  if (p->order == TEXT) {
    scan_space(&p->text);
    return scan_is_end(&p->text) ? cut_short(p) : scan_number(&p->text, value);
  }
  if (left(p) < bytes) return cut_short(p);
  const unsigned char *at = (const unsigned char *)p->text.at;
  for (unsigned k = 0; k < bytes; k++) bits |= (uint64_t)at[p->order == LITTLE ? k : bytes - 1 - k] << 8 * k;
  *value = number_of(type, bits);
  p->text.at += bytes;
  return 0;
}

/* The fewest bytes of a number in the body. */
static uint64_t least_bytes(const ply *p, number_type type) { return p->order == TEXT ? 2 : types[type].bytes; }

/* ---- items ------------------------------------------------------------------------------ */

static const uint32_t restart = UINT32_MAX; /* begins a strip anew; -1 in the file */

static int append_corner(ply *p, double corner) {
  if (p->element->kind == STRIPS && (corner == -1 || corner == (double)restart))
    return corner_append(&p->corners, restart, p->text.builder);
  const int wrong = corner_append_number(&p->corners, p->item, corner, p->text.builder);
  p->dropped |= wrong != 0;
  return wrong < 0 ? -1 : 0;
}

static int read_list(ply *p, const property *list) {
  decimal count = {0, 0}, value = {0, 0};
  if (read_value(p, list->count_type, &count) != 0) return -1;
  if (!(count.wide >= 0 && count.wide < 0x1p32) || count.wide != (double)(uint32_t)count.wide)
    return mesh_builder_refuse(p->text.builder, "%.*s %" PRIu64 " (counted from 0) has a list of %.17g",
                               p->element->name_size, p->element->name, p->item, count.wide);
  if (count.wide * (double)least_bytes(p, list->type) > (double)left(p) + 1) return cut_short(p);
  for (uint32_t i = 0; i < (uint32_t)count.wide; i++) {
    if (read_value(p, list->type, &value) != 0) return -1;
    if (p->given && list->role == CORNERS && append_corner(p, value.wide) != 0) return -1;
  }
  return 0;
}

/* Every corner of a strip but the first two ends a triangle, and their windings alternate. */
static int give_strip(ply *p) {
  size_t run = 0;
  for (size_t i = 0; i < p->corners.count; i++) {
    const uint32_t *c = p->corners.at + i;
    run = *c == restart ? 0 : run + 1;
    if (run < 3) continue;
    const uint32_t triangle[] = {run % 2 ? c[-2] : c[-1], run % 2 ? c[-1] : c[-2], c[0]};
    if (mesh_builder_face(p->text.builder, triangle, 3) != 0) return -1;
  }
  return 0;
}

static int give_item(ply *p) {
  switch (p->element->kind) {
    case VERTICES:
      return mesh_builder_vertex(p->text.builder, &p->point);
    case FACES:
      return p->dropped ? 0 : mesh_builder_face(p->text.builder, p->corners.at, p->corners.count);
    case STRIPS:
      return p->dropped ? 0 : give_strip(p);
    default:
      return 0;
  }
}

/* An item of a text ends with its line. */
static int end_line(ply *p) {
  const element *e = p->element;
  scan_blanks(&p->text);
  if (scan_is_line_end(&p->text)) return 0;
  return scan_refuse(&p->text, "more numbers than %.*s %" PRIu64 " (counted from 0) has", e->name_size, e->name,
                     p->item);
}

static int read_item(ply *p) {
  const property *properties = p->properties + p->element->first;
  p->corners.count = 0;
  p->dropped = false;
  for (size_t i = 0; i < p->element->properties; i++) {
    decimal value = {0, 0};
    if (properties[i].is_list) {
      if (read_list(p, &properties[i]) != 0) return -1;
      continue;
    }
    if (read_value(p, properties[i].type, &value) != 0) return -1;
    if (properties[i].role > Z) continue;
    p->point.wide[properties[i].role] = value.wide;
    p->point.narrow[properties[i].role] = value.narrow;
  }
  if (p->order == TEXT && end_line(p) != 0) return -1;
  return p->given ? give_item(p) : 0;
}

static int read_items(ply *p, const element *e, bool given) {
  p->element = e;
  p->given = given;
  for (p->item = 0; p->item < e->count && e->properties > 0; p->item++)
    if (read_item(p) != 0) return -1;
  return 0;
}

/* ---- elements ------------------------------------------------------------------------------ */

static bool has_role(const ply *p, const element *e, role wanted) {
  for (size_t i = 0; i < e->properties; i++)
    if (p->properties[e->first + i].role == wanted) return true;
  return false;
}

/* Whether the element has the properties that its kind needs, and the file enough bytes for it. */
static int check_element(ply *p, const element *e) {
  uint64_t least = 0;
  for (size_t i = 0; i < e->properties; i++) {
    const property *own = &p->properties[e->first + i];
    least += least_bytes(p, own->is_list ? own->count_type : own->type);
  }
  if (least > 0 && e->count > (left(p) + 1) / least)
    return mesh_builder_refuse(p->text.builder, "it says %" PRIu64 " of %.*s, which the %zu bytes left cannot hold",
                               e->count, e->name_size, e->name, left(p));
  for (role own = X; e->kind == VERTICES && own <= Z; own++)
    if (!has_role(p, e, own))
      return mesh_builder_refuse(p->text.builder, "its vertices have no property %c", "xyz"[own - X]);
  if (e->count > 0 && (e->kind == FACES || e->kind == STRIPS) && !has_role(p, e, CORNERS))
    return mesh_builder_refuse(p->text.builder, "its %.*s has no list vertex_indices", e->name_size, e->name);
  if (e->kind == GRID) return mesh_builder_refuse(p->text.builder, "it is a range grid, which has points and no faces");
  return 0;
}

/* Faces that stand before the vertices are passed over, and read once these are known. */
static int read_body(ply *p) {
  size_t vertices = p->element_count;
  for (size_t i = 0; i < p->element_count; i++) {
    element *e = &p->elements[i];
    e->begin = p->text;
    if (check_element(p, e) != 0) return -1;
    if (e->kind == VERTICES && vertices < p->element_count)
      return mesh_builder_refuse(p->text.builder, "it has vertices twice");
    if (e->kind == VERTICES) vertices = i;
    if (read_items(p, e, vertices < p->element_count) != 0) return -1;
  }
  for (size_t i = 0; i < vertices && vertices < p->element_count; i++) {
    p->text = p->elements[i].begin;
    if (read_items(p, &p->elements[i], true) != 0) return -1;
  }
  return 0;
}

int read_ply(const mesh_file *file, mesh_builder *builder) {
  ply p = {.order = TEXT};
  scan_begin(&p.text, file, builder);
  p.text.end = file->bytes + file->size; /* zeros at the end may be numbers */
  const int failed = read_header(&p) || read_body(&p);
  free(p.elements);
  free(p.properties);
  free(p.corners.at);
  return failed ? -1 : 0;
}
