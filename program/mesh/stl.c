/* Reads STL, as text and binary. Each solid of a text is a part of its name. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "program/mesh/scan.h"

static uint32_t word_of(const char *at) {
  const unsigned char *b = (const unsigned char *)at;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* ---- binary ------------------------------------------------------------------------ */

enum {
  FRONT = 84, /* 80 bytes of any kind, and the number of facets */
  FACET = 50, /* a normal, three vertices, and two bytes of any kind */
  NORMAL = 12
};

static uint32_t facets_of(const char *bytes) { return word_of(bytes + FRONT - 4); }

bool stl_is_binary(const char *bytes, size_t size) {
  return size >= FRONT && size == FRONT + (uint64_t)facets_of(bytes) * FACET;
}

static int read_facet(const char *at, uint32_t first, mesh_builder *b) {
  float numbers[9];
  const uint32_t corners[] = {first, first + 1, first + 2};
  for (int k = 0; k < 9; k++) {
    const uint32_t bits = word_of(at + NORMAL + 4 * k);
    memcpy(&numbers[k], &bits, sizeof bits);
  }
  for (int k = 0; k < 3; k++)
    if (mesh_builder_vertex_float(b, numbers + 3 * k) != 0) return -1;
  return mesh_builder_face(b, corners, 3);
}

/* Checks the size. A file with more bytes is read; one that says it is empty and is not, is refused. */
static int check_size(const mesh_file *file, uint32_t facets, mesh_builder *b) {
  const uint64_t body = file->size - FRONT, more = body - (uint64_t)facets * FACET;
  const char *s = plural(facets, "", "s");
  if (body < (uint64_t)facets * FACET)
    return mesh_builder_refuse(b, "it is cut short: it says %u facet%s, and its %zu bytes hold %" PRIu64, facets, s,
                               file->size, body / FACET);
  if (more == 0) return 0;
  if (facets == 0) return mesh_builder_refuse(b, "it says 0 facets, and %" PRIu64 " bytes follow", more);
  mesh_builder_warn(b, "%" PRIu64 " %s behind its %u facet%s left out", more, plural(more, "byte", "bytes"), facets,
                    plural(facets, " is", "s are"));
  return 0;
}

static int read_binary(const mesh_file *file, mesh_builder *b) {
  if (file->size < FRONT)
    return mesh_builder_refuse(b, "it is cut short: it has %zu bytes, and a binary STL begins with %d", file->size,
                               FRONT);
  const uint32_t facets = facets_of(file->bytes);
  if (check_size(file, facets, b) != 0) return -1;
  for (uint32_t i = 0; i < facets; i++)
    if (read_facet(file->bytes + FRONT + (size_t)i * FACET, 3 * i, b) != 0) return -1;
  return 0;
}

/* ---- text -------------------------------------------------------------------------- */

typedef struct solid {
  scan text;
  uint32_t vertices; /* given so far */
  uint32_t corners;  /* of the facet that is being read */
  bool in_solid, in_facet;
} solid;

static int begin_solid(solid *s) {
  char name[SCAN_NAME_MAX];
  scan_name(&s->text, name);
  scan_next_line(&s->text);
  s->in_solid = true;
  return mesh_builder_part(s->text.builder, name);
}

/* Normals are passed over, whatever they are: facets know theirs. */
static int begin_facet(solid *s) {
  if (s->in_facet) return scan_refuse(&s->text, "a facet begins within a facet");
  s->in_facet = true;
  s->corners = 0;
  scan_space(&s->text);
  if (!scan_word(&s->text, "normal")) return 0;
  for (int k = 0; k < 3; k++) {
    scan_space(&s->text);
    scan_pass_word(&s->text);
  }
  return 0;
}

static int read_vertex(solid *s) {
  mesh_point point;
  if (!s->in_facet) return scan_refuse(&s->text, "a vertex stands outside of facets");
  if (scan_point(&s->text, &point) != 0) return -1;
  s->corners++;
  s->vertices++;
  return mesh_builder_vertex(s->text.builder, &point);
}

/* A facet has three vertices. More are a polygon that someone wrote. */
static int end_facet(solid *s) {
  uint32_t corners[16];
  const uint32_t most = sizeof corners / sizeof *corners;
  if (!s->in_facet) return scan_refuse(&s->text, "endfacet without a facet");
  if (s->corners < 3 || s->corners > most)
    return scan_refuse(&s->text, "a facet has %u %s", s->corners, plural(s->corners, "vertex", "vertices"));
  for (uint32_t i = 0; i < s->corners; i++) corners[i] = s->vertices - s->corners + i;
  s->in_facet = false;
  return mesh_builder_face(s->text.builder, corners, s->corners);
}

static int read_statement(solid *s) {
  scan *text = &s->text;
  if (scan_word(text, "vertex")) return read_vertex(s);
  if (scan_word(text, "facet")) return begin_facet(s);
  if (scan_word(text, "endfacet")) return end_facet(s);
  if (scan_word(text, "outer") || scan_word(text, "loop") || scan_word(text, "endloop")) return 0;
  if (scan_word(text, "solid")) return begin_solid(s);
  if (!scan_word(text, "endsolid")) return scan_refuse_word(text, "is no word of an STL text");
  s->in_solid = false;
  scan_next_line(text);
  return 0;
}

static int read_text(solid *s) {
  for (scan_space(&s->text); !scan_is_end(&s->text); scan_space(&s->text))
    if (read_statement(s) != 0) return -1;
  if (s->in_facet) return scan_refuse(&s->text, "it is cut short: it ends within a facet");
  if (s->in_solid) mesh_builder_warn(s->text.builder, "it ends without endsolid, and may be cut short");
  return 0;
}

/* A binary file may begin with solid too. Its zero bytes show this, since every facet has some. */
int read_stl(const mesh_file *file, mesh_builder *builder) {
  solid s = {.vertices = 0};
  scan_begin(&s.text, file, builder);
  scan word = s.text;
  scan_space(&word);
  const bool is_text = scan_word(&word, "solid") && memchr(file->bytes, '\0', file->size) == NULL;
  return is_text && !stl_is_binary(file->bytes, file->size) ? read_text(&s) : read_binary(file, builder);
}
