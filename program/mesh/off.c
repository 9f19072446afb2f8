/* Reads OFF: vertices and faces of a text. Comments and empty lines may stand anywhere. After the coordinates of a
 * vertex its normal, colour or texture coordinates, as the prefixes N, C and ST say, are passed over. So is the colour
 * after the corners of a face. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/plural.h"
#include "program/mesh/scan.h"

typedef struct off {
  scan text;
  uint64_t vertices, faces; /* as the file counts them */
  corner_list corners;
} off;

/* ---- head ------------------------------------------------------------------------- */

/* Passes the first word, such as OFF or STCNOFF; a file may also begin with its counts. */
static int read_keyword(off *o, bool *has_dimension) {
  scan *s = &o->text;
  const char *c = s->at;
  if (*c >= '0' && *c <= '9' && c[1] != 'O' && c[1] != 'n') return 0;
  if (c[0] == 'S' && c[1] == 'T') c += 2;
  c += *c == 'C';
  c += *c == 'N';
  if (*c == '4') return scan_refuse(s, "its vertices have four coordinates, not three (4OFF)");
  *has_dimension = *c == 'n';
  c += *has_dimension;
  if (c[0] != 'O' || c[1] != 'F' || c[2] != 'F' || c + 3 != s->at + scan_word_size(s))
    return scan_refuse_word(s, "is not OFF");
  s->at = c + 3;
  return 0;
}

static int read_dimension(off *o) {
  uint64_t dimension = 0;
  scan_space(&o->text);
  if (scan_count(&o->text, &dimension) != 0) return -1;
  if (dimension == 3) return 0;
  return scan_refuse(&o->text, "its vertices have %" PRIu64 " %s, not 3", dimension,
                     plural(dimension, "coordinate", "coordinates"));
}

static int read_head(off *o) {
  bool has_dimension = false;
  scan_space(&o->text);
  if (read_keyword(o, &has_dimension) != 0) return -1;
  scan_space(&o->text);
  if (scan_word(&o->text, "binary")) return mesh_builder_refuse(o->text.builder, "binary OFF is not read, text is");
  if (has_dimension && read_dimension(o) != 0) return -1;
  scan_space(&o->text);
  if (scan_count(&o->text, &o->vertices) != 0) return -1;
  scan_blanks(&o->text);
  if (scan_count(&o->text, &o->faces) != 0) return -1;
  scan_next_line(&o->text); /* the number of edges may be wrong, or left out */
  const uint64_t left = (uint64_t)(o->text.end - o->text.at);
  if (o->vertices <= left / 6 + 1 && o->faces <= left / 2 + 1) return 0; /* each is a digit and a blank */
  return mesh_builder_refuse(o->text.builder,
                             "it counts %" PRIu64 " vertices and %" PRIu64 " faces, which %" PRIu64 " %s cannot hold",
                             o->vertices, o->faces, left, plural(left, "byte", "bytes"));
}

/* ---- body ------------------------------------------------------------------------- */

static int cut_short(off *o, const char *what, uint64_t number, uint64_t count) {
  return scan_refuse(&o->text, "it ends before %s %" PRIu64 " of %" PRIu64 " (counted from 0)", what, number, count);
}

static int read_vertices(off *o) {
  for (uint64_t i = 0; i < o->vertices; i++) {
    mesh_point point;
    scan_space(&o->text);
    if (scan_is_end(&o->text)) return cut_short(o, "vertex", i, o->vertices);
    if (scan_point(&o->text, &point) != 0 || mesh_builder_vertex(o->text.builder, &point) != 0) return -1;
    scan_next_line(&o->text);
  }
  return 0;
}

/* Returns 1 if the face is to be dropped, and -1 if that is an error. */
static int read_corners(off *o, uint64_t face, uint64_t count) {
  int unusable = 0;
  o->corners.count = 0;
  for (uint64_t i = 0; i < count && unusable >= 0; i++) {
    decimal corner = {0, 0};
    scan_space(&o->text);
    if (scan_is_end(&o->text)) return cut_short(o, "the end of face", face, o->faces);
    if (scan_number(&o->text, &corner) != 0) return -1;
    const int wrong = corner_append_number(&o->corners, face, corner.wide, o->text.builder);
    if (wrong) unusable = wrong;
  }
  return unusable;
}

static int read_faces(off *o) {
  for (uint64_t i = 0; i < o->faces; i++) {
    uint64_t count = 0;
    scan_space(&o->text);
    if (scan_is_end(&o->text)) return cut_short(o, "face", i, o->faces);
    if (scan_count(&o->text, &count) != 0) return -1;
    const int unusable = read_corners(o, i, count);
    if (unusable < 0) return -1;
    if (!unusable && mesh_builder_face(o->text.builder, o->corners.at, o->corners.count) != 0) return -1;
    scan_next_line(&o->text);
  }
  return 0;
}

int read_off(const mesh_file *file, mesh_builder *builder) {
  off o = {.vertices = 0};
  scan_begin(&o.text, file, builder);
  o.text.comment = '#';
  const int failed = read_head(&o) || scan_expect_text(&o.text) || read_vertices(&o) || read_faces(&o);
  free(o.corners.at);
  return failed ? -1 : 0;
}
