/* Reads OBJ: vertices, faces, groups and objects. Texture coordinates, normals, materials, points, lines and free forms
 * are passed over. Of a vertex the first three numbers count; the rest is its weight or its colour.
 *
 * Faces may name vertices that come later. So the text is read twice: for its vertices, then for its faces. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/mesh/scan.h"

typedef struct obj {
  scan text;
  int64_t total, before; /* vertices of the file; and of the lines before */
  char object[SCAN_NAME_MAX], group[SCAN_NAME_MAX];
  bool named; /* the part of the faces to come is set */
  corner_list corners;
} obj;

/* The statement that begins here, one of v, f, g and o, which is passed; 0: another one. */
static char statement_of(scan *s) {
  scan_blanks(s);
  const char word[] = {*s->at, '\0'};
  return word[0] != '\0' && strchr("vfgo", word[0]) && scan_word(s, word) ? word[0] : '\0';
}

static int read_vertices(obj *o, scan text) {
  mesh_point point;
  for (; !scan_is_end(&text); scan_next_line(&text)) {
    if (statement_of(&text) != 'v') continue;
    if (scan_point(&text, &point) != 0 || mesh_builder_vertex(text.builder, &point) != 0) return -1;
    o->total++;
  }
  return 0;
}

/* ---- faces ---------------------------------------------------------------------- */

/* Reads i, i/j, i//k or i/j/k, of which i alone counts. It counts from 1, or backwards from -1, the last vertex before
 * the face. */
static int read_index(scan *s, int64_t *index) {
  const int64_t most = INT64_MAX / 100;
  const char *begin = s->at, *digits = begin + (*begin == '-' || *begin == '+');
  *index = 0;
  for (s->at = digits; *s->at >= '0' && *s->at <= '9'; s->at++)
    if (*index < most) *index = 10 * *index + (*s->at - '0');
  const bool found = s->at > digits;
  if (*begin == '-') *index = -*index;
  if (*s->at == '/')
    while ((*s->at >= '0' && *s->at <= '9') || *s->at == '/' || *s->at == '-') s->at++;
  if (found && scan_word_size(s) == 0) return 0;
  s->at = begin;
  return scan_refuse_word(s, "is no corner of a face");
}

/* Returns 1 if the face is to be dropped, and -1 if that is an error. */
static int read_corner(obj *o) {
  int64_t index = 0;
  if (read_index(&o->text, &index) != 0) return -1;
  if (index > 0 && index <= o->total) return corner_append(&o->corners, (uint32_t)(index - 1), o->text.builder);
  if (index < 0 && index >= -o->before)
    return corner_append(&o->corners, (uint32_t)(o->before + index), o->text.builder);
  const int64_t there = index < 0 ? o->before : o->total;
  return mesh_builder_drop_face(o->text.builder,
                                "line %" PRIu64 ": a face names vertex %" PRId64 ", and there %s %" PRId64,
                                o->text.line, index, plural((uint64_t)there, "is", "are"), there);
}

/* The part of a face is named by its group, its object, or object/group. */
static int name_part(obj *o) {
  char name[2 * SCAN_NAME_MAX];
  if (o->named) return 0;
  o->named = true;
  snprintf(name, sizeof name, "%s%s%s", o->object, o->object[0] && o->group[0] ? "/" : "", o->group);
  return mesh_builder_group(o->text.builder, name);
}

static int read_face(obj *o) {
  int unusable = 0;
  o->corners.count = 0;
  for (scan_blanks(&o->text); !scan_is_line_end(&o->text) && !unusable; scan_blanks(&o->text))
    unusable = read_corner(o);
  if (unusable) return unusable < 0 ? -1 : 0;
  return name_part(o) || mesh_builder_face(o->text.builder, o->corners.at, o->corners.count) ? -1 : 0;
}

static int read_faces(obj *o) {
  int failed = 0;
  for (; !scan_is_end(&o->text) && !failed; scan_next_line(&o->text)) {
    const char statement = statement_of(&o->text);
    if (statement == 'v') o->before++;
    if (statement == 'f') failed = read_face(o);
    if (statement == 'g' || statement == 'o') {
      scan_name(&o->text, statement == 'g' ? o->group : o->object);
      o->named = false;
    }
  }
  return failed;
}

int read_obj(const mesh_file *file, mesh_builder *builder) {
  obj o = {.named = false};
  scan_begin(&o.text, file, builder);
  o.text.comment = '#';
  o.text.continues = '\\';
  const int failed = scan_expect_text(&o.text) || read_vertices(&o, o.text) || read_faces(&o);
  free(o.corners.at);
  return failed ? -1 : 0;
}
