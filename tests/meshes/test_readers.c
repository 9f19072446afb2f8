/* The program's own readers of mesh files. Meshes made at random are written in every way that a format has, and must
 * come back corner by corner. Files of single kinds have right values or reasons by hand. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "program/mesh/readers.h"

enum { TEXT_MAX = 1 << 16, VERTICES_MAX = 40, FACES_MAX = 60, ROUNDS = 400 };

/* ---- files -------------------------------------------------------------------- */

typedef struct text {
  char bytes[TEXT_MAX];
  size_t size;
  const char *line_end;
} text;

static void say(text *t, const char *format, ...) FORMATTED(2, 3);

/* Line ends of the format become those of the text. */
static void say(text *t, const char *format, ...) {
  char said[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(said, sizeof said, format, arguments);
  va_end(arguments);
  for (const char *c = said; *c; c++) {
    const char *bytes = *c == '\n' ? t->line_end : (const char[]){*c, '\0'};
    assert_true(t->size + 2 < TEXT_MAX);
    for (; *bytes; bytes++) t->bytes[t->size++] = *bytes;
  }
}

static void put_bytes(text *t, uint64_t bits, unsigned size, bool is_big) {
  assert_true(t->size + size < TEXT_MAX);
  for (unsigned k = 0; k < size; k++) t->bytes[t->size++] = (char)(bits >> 8 * (is_big ? size - 1 - k : k));
}

static void put_float(text *t, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_bytes(t, bits, 4, false);
}

/* Reads bytes that end with NUL where their memory ends. */
static int read_bytes(mesh_reader *read, const char *bytes, size_t size, bool skip_invalid, mesh_data *mesh,
                      char error[400]) {
  const mesh_options options = {.skip_invalid = skip_invalid};
  mesh_file file = {.path = "", .ending = "", .bytes = malloc(size + 1), .size = size};
  mesh_builder *builder = mesh_builder_create(&options);
  assert_non_null(file.bytes);
  assert_non_null(builder);
  memcpy(file.bytes, bytes, size);
  file.bytes[size] = '\0';
  *mesh = (mesh_data){0};
  const int failed = read(&file, builder) || mesh_builder_end(builder, mesh);
  snprintf(error, 400, "%s", mesh_builder_wrong(builder));
  mesh_builder_destroy(builder);
  free(file.bytes);
  return failed;
}

/* ---- meshes at random ------------------------------------------------------------ */

typedef struct model {
  float vertices[VERTICES_MAX][3];
  uint32_t faces[FACES_MAX][3];
  uint32_t vertex_count, face_count;
} model;

static model make_model(random_state *random) {
  model m = {.vertex_count = 3 + random_below(random, VERTICES_MAX - 3),
             .face_count = 1 + random_below(random, FACES_MAX)};
  for (uint32_t i = 0; i < m.vertex_count; i++)
    for (int k = 0; k < 3; k++)
      m.vertices[i][k] = random_between(random, -1000, 1000) * (random_below(random, 4) ? 1 : 1e-6f);
  for (uint32_t i = 0; i < m.face_count; i++)
    for (int k = 0; k < 3; k++) m.faces[i][k] = random_below(random, m.vertex_count);
  return m;
}

static void assert_same(const model *m, const mesh_data *mesh, const text *t) {
  if (mesh->triangle_count != m->face_count)
    fail_msg("%u triangles, not %u, of: %.*s", mesh->triangle_count, m->face_count, (int)t->size, t->bytes);
  for (uint32_t i = 0; i < m->face_count; i++)
    for (int k = 0; k < 3; k++) {
      const float *got = mesh->vertices + 3 * (size_t)mesh->indices[3 * i + (uint32_t)k];
      const float *wanted = m->vertices[m->faces[i][k]];
      if (memcmp(got, wanted, 3 * sizeof *got) != 0)
        fail_msg("corner %d of triangle %u is (%.9g, %.9g, %.9g), not (%.9g, %.9g, %.9g), of: %.*s", k, i,
                 (double)got[0], (double)got[1], (double)got[2], (double)wanted[0], (double)wanted[1],
                 (double)wanted[2], (int)t->size, t->bytes);
    }
}

static void assert_reads(mesh_reader *read, const model *m, const text *t) {
  mesh_data mesh;
  char error[400];
  if (read_bytes(read, t->bytes, t->size, false, &mesh, error) != 0)
    fail_msg("refused: %s, of: %.*s", error, (int)t->size, t->bytes);
  assert_same(m, &mesh, t);
  mesh_free(&mesh);
}

static const char *any_line_end(random_state *random) {
  static const char *const ends[] = {"\n", "\r\n", "\r"};
  return ends[random_below(random, 3)];
}

static const char *any_blank(random_state *random) {
  static const char *const blanks[] = {" ", "  ", "\t"};
  return blanks[random_below(random, 3)];
}

static void say_point(text *t, random_state *random, const float p[3]) {
  for (int k = 0; k < 3; k++) say(t, "%s%.9g", k ? any_blank(random) : "", (double)p[k]);
}

/* ---- OBJ --------------------------------------------------------------------------- */

static void say_obj_vertex(text *t, random_state *random, const float p[3]) {
  static const char *const more[] = {"", " 1", " 0.5 0.5 0.5", " 1 0 0 1 # red", "\nvt 0 0\nvn 0 0 1"};
  say(t, "%sv%s", random_below(random, 9) ? "" : "  ", any_blank(random));
  say_point(t, random, p);
  say(t, "%s\n", more[random_below(random, 5)]);
}

/* Texture and normal corners are those of nothing. */
static void say_obj_corner(text *t, random_state *random, uint32_t corner, uint32_t said) {
  static const char *const more[] = {"", "/7", "//9", "/70/80", "/-1/-1"};
  const bool is_back = corner < said && random_below(random, 3) == 0;
  say(t, "%s%d%s", random_below(random, 12) ? any_blank(random) : " \\\n ",
      is_back ? (int)corner - (int)said : (int)corner + 1, more[random_below(random, 5)]);
}

/* Faces and vertices in any order, so that faces name vertices that come later. */
static void write_obj(text *t, random_state *random, const model *m) {
  static const char *const others[] = {"# f 1 2 3\\\n", "\n",      "usemtl a b\n", "s off\n",
                                       "vp 1 2\n",      "l 1 2\n", "p 1\n",        "mtllib x.mtl\n"};
  uint32_t vertex = 0, face = 0;
  if (random_below(random, 2)) say(t, "\xEF\xBB\xBF");
  while (vertex < m->vertex_count || face < m->face_count) {
    if (random_below(random, 4) == 0) say(t, "%s", others[random_below(random, 8)]);
    if (vertex < m->vertex_count && (face == m->face_count || random_below(random, 3))) {
      say_obj_vertex(t, random, m->vertices[vertex++]);
    } else if (face < m->face_count) {
      say(t, "f");
      for (int k = 0; k < 3; k++) say_obj_corner(t, random, m->faces[face][k], vertex);
      say(t, "%s", ++face == m->face_count && vertex == m->vertex_count ? "" : "\n");
    }
  }
}

/* ---- PLY ---------------------------------------------------------------------------- */

typedef enum body { ASCII, LITTLE, BIG } body;

static const char *const type_names[][2] = {{"char", "int8"},     {"uchar", "uint8"},   {"short", "int16"},
                                            {"ushort", "uint16"}, {"int", "int32"},     {"uint", "uint32"},
                                            {"float", "float32"}, {"double", "float64"}};
static const unsigned type_sizes[] = {1, 1, 2, 2, 4, 4, 4, 8};
enum { FLOAT = 6, DOUBLE = 7 };

static void put_value(text *t, body order, int type, double value) {
  const float narrow = (float)value;
  uint32_t low;
  uint64_t bits = (uint64_t)(int64_t)value;
  memcpy(&low, &narrow, sizeof low);
  if (order == ASCII) {
    say(t, "%.9g ", value);
    return;
  }
  if (type == FLOAT) bits = low;
  if (type == DOUBLE) memcpy(&bits, &value, sizeof bits);
  put_bytes(t, bits, type_sizes[type], order == BIG);
}

typedef struct ply_way {
  body order;
  int point_types[3], axes[3]; /* of the vertex's properties in their order; 3 others may come before each */
  int others[3], count_type, index_type;
  bool is_strip;
} ply_way;

static ply_way make_way(random_state *random) {
  static const int integers = 6, indices[] = {1, 2, 3, 4, 5, 0}; /* of up to 40 vertices */
  ply_way w = {.order = (body)random_below(random, 3)};
  const int first = (int)random_below(random, 3), step = 1 + (int)random_below(random, 2);
  for (int k = 0; k < 3; k++) {
    w.axes[k] = (first + k * step) % 3;
    w.point_types[k] = random_below(random, 2) ? FLOAT : DOUBLE;
    w.others[k] = (int)random_below(random, 12);
  }
  w.count_type = indices[random_below(random, (uint32_t)integers)];
  w.is_strip = random_below(random, 3) == 0;
  w.index_type = w.is_strip ? 4 : indices[random_below(random, (uint32_t)integers)];
  if (w.is_strip) w.count_type = 4;
  return w;
}

static const char *type_name(random_state *random, int type) { return type_names[type][random_below(random, 2)]; }

static void say_vertex_head(text *t, random_state *random, const model *m, const ply_way *w) {
  say(t, "element vertex %u\n", m->vertex_count);
  for (int k = 0; k < 3; k++) {
    if (w->others[k] < 8) say(t, "property %s other%d\n", type_name(random, w->others[k]), k);
    if (w->others[k] == 8) say(t, "property list uchar short many%d\n", k);
    say(t, "property %s %c\n", type_name(random, w->point_types[k]), "xyz"[w->axes[k]]);
  }
}

static void put_vertices(text *t, const model *m, const ply_way *w) {
  for (uint32_t i = 0; i < m->vertex_count; i++) {
    for (int k = 0; k < 3; k++) {
      if (w->others[k] < 8) put_value(t, w->order, w->others[k], 7);
      if (w->others[k] == 8) put_value(t, w->order, 1, i % 3);
      for (uint32_t j = 0; w->others[k] == 8 && j < i % 3; j++) put_value(t, w->order, 2, -5);
      put_value(t, w->order, w->point_types[k], (double)m->vertices[i][w->axes[k]]);
    }
    if (w->order == ASCII) say(t, "\n");
  }
}

static void say_face_head(text *t, random_state *random, const model *m, const ply_way *w) {
  if (w->is_strip)
    say(t, "element tristrips 1\n");
  else
    say(t, "element face %u\nproperty uchar red\n", m->face_count);
  say(t, "property list %s %s %s\n", type_name(random, w->count_type), type_name(random, w->index_type),
      random_below(random, 2) ? "vertex_indices" : "vertex_index");
}

/* Every triangle is a strip of its own, and all but the last are ended by -1. */
static void put_faces(text *t, const model *m, const ply_way *w) {
  if (w->is_strip) put_value(t, w->order, w->count_type, 4 * m->face_count - 1);
  for (uint32_t i = 0; i < m->face_count; i++) {
    if (w->is_strip && i > 0) put_value(t, w->order, w->index_type, -1);
    if (!w->is_strip) put_value(t, w->order, 1, 200);
    if (!w->is_strip) put_value(t, w->order, w->count_type, 3);
    for (int k = 0; k < 3; k++) put_value(t, w->order, w->index_type, m->faces[i][k]);
    if (!w->is_strip && w->order == ASCII) say(t, "\n");
  }
  if (w->is_strip && w->order == ASCII) say(t, "\n");
}

static void write_ply(text *t, random_state *random, const model *m) {
  static const char *const formats[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  const ply_way w = make_way(random);
  const bool faces_first = random_below(random, 3) == 0, has_edges = random_below(random, 2);
  say(t, "ply\nformat %s 1.0\ncomment element vertex 3\nobj_info end_header\n", formats[w.order]);
  if (faces_first) say_face_head(t, random, m, &w);
  if (has_edges) say(t, "element edge 2\nproperty int vertex1\nproperty list uchar uchar vertex_indices\n");
  say_vertex_head(t, random, m, &w);
  if (!faces_first) say_face_head(t, random, m, &w);
  say(t, "end_header\n");
  if (faces_first) put_faces(t, m, &w);
  for (int i = 0; has_edges && i < 2; i++) {
    put_value(t, w.order, 4, -1);
    put_value(t, w.order, 1, i);
    if (i) put_value(t, w.order, 1, 77);
    if (w.order == ASCII) say(t, "\n");
  }
  put_vertices(t, m, &w);
  if (!faces_first) put_faces(t, m, &w);
}

/* ---- STL ---------------------------------------------------------------------------- */

static void write_stl_text(text *t, random_state *random, const model *m) {
  static const char *const words[][2] = {
      {"solid", "SOLID"},     {"facet normal", "FACET NORMAL"}, {"outer loop", "Outer Loop"}, {"vertex", "VERTEX"},
      {"endloop", "ENDLOOP"}, {"endfacet", "EndFacet"},         {"endsolid", "ENDSOLID"}};
  const uint32_t upper = random_below(random, 2), per_solid = 1 + random_below(random, 20);
  for (uint32_t i = 0; i < m->face_count; i++) {
    if (i % per_solid == 0) say(t, "%s part %u\n", words[0][upper], i / per_solid);
    say(t, "  %s 0 nan 1\n %s\n", words[1][upper], words[2][upper]);
    for (int k = 0; k < 3; k++) {
      say(t, "%s%s", words[3][upper], any_blank(random));
      say_point(t, random, m->vertices[m->faces[i][k]]);
      say(t, "\n");
    }
    say(t, "%s\n%s\n", words[4][upper], words[5][upper]);
    if (i % per_solid == per_solid - 1 || i + 1 == m->face_count) say(t, "%s part\n", words[6][upper]);
  }
}

static void write_stl_binary(text *t, random_state *random, const model *m) {
  t->size = 80;
  memset(t->bytes, ' ', t->size);
  memcpy(t->bytes, "solid facet", random_below(random, 12));
  put_bytes(t, m->face_count, 4, false);
  for (uint32_t i = 0; i < m->face_count; i++) {
    for (int k = 0; k < 3; k++) put_float(t, 0);
    for (int k = 0; k < 9; k++) put_float(t, m->vertices[m->faces[i][k / 3]][k % 3]);
    put_bytes(t, random_below(random, 65536), 2, false);
  }
  for (uint32_t more = random_below(random, 2) ? random_below(random, 70) : 0; more > 0; more--)
    put_bytes(t, 0, 1, false);
}

/* ---- OFF ----------------------------------------------------------------------------- */

static void say_gap(text *t, random_state *random) {
  static const char *const gaps[] = {"", "", "\n", "# 3 0 0 0\n", " \n\n# a\n#\n"};
  say(t, "%s", gaps[random_below(random, 5)]);
}

static void write_off(text *t, random_state *random, const model *m) {
  static const char *const heads[] = {"OFF\n",         "OFF ",     "COFF\n", "NOFF\n", "STOFF # texture\n",
                                      "STCNnOFF\n3\n", "nOFF 3\n", ""};
  static const char *const more[] = {"", "", " 255 0 0 255", " 0 0 1", " 0.5 0.5", " # v"};
  say_gap(t, random);
  say(t, "%s", heads[random_below(random, 8)]);
  say_gap(t, random);
  say(t, "%u %u%s\n", m->vertex_count, m->face_count, random_below(random, 4) ? " 0" : "");
  for (uint32_t i = 0; i < m->vertex_count; i++) {
    say_gap(t, random);
    say_point(t, random, m->vertices[i]);
    say(t, "%s\n", more[random_below(random, 6)]);
  }
  for (uint32_t i = 0; i < m->face_count; i++) {
    say_gap(t, random);
    say(t, "3%s%u %u %u%s%s", any_blank(random), m->faces[i][0], m->faces[i][1], m->faces[i][2],
        more[random_below(random, 6)], i + 1 < m->face_count ? "\n" : "");
  }
}

/* ---- LWOB ---------------------------------------------------------------------------- */

/* Writes how many bytes came since the place, in the four bytes before it, and fills up to an even number. */
static void end_chunk(text *t, size_t place) {
  const size_t size = t->size - place;
  for (unsigned k = 0; k < 4; k++) t->bytes[place - 1 - k] = (char)(size >> 8 * k);
  if (size % 2) put_bytes(t, 0, 1, true);
}

static size_t begin_chunk(text *t, const char *name) {
  for (int k = 0; k < 4; k++) put_bytes(t, (unsigned char)name[k], 1, true);
  put_bytes(t, 0, 4, true);
  return t->size;
}

/* Chunks in an order of chance, others between them, and polygons with some of detail behind them. */
static void write_lwob(text *t, random_state *random, const model *m) {
  const size_t whole = begin_chunk(t, "FORM"), faces_first = random_below(random, 2);
  for (const char *c = "LWOB"; *c; c++) put_bytes(t, (unsigned char)*c, 1, true);
  for (size_t pass = 0; pass < 3; pass++) {
    const size_t chunk = begin_chunk(t, pass == 1 ? "SRFS" : (pass == 0) == faces_first ? "POLS" : "PNTS");
    for (uint32_t i = 0; pass == 1 && i < random_below(random, 7); i++) put_bytes(t, 'a', 1, true);
    for (uint32_t i = 0; pass != 1 && (pass == 0) != faces_first && i < 3 * m->vertex_count; i++) {
      uint32_t bits;
      memcpy(&bits, &m->vertices[i / 3][i % 3], sizeof bits);
      put_bytes(t, bits, 4, true);
    }
    for (uint32_t i = 0; pass != 1 && (pass == 0) == faces_first && i < m->face_count; i++) {
      const bool has_details = random_below(random, 3) == 0;
      put_bytes(t, 3, 2, true);
      for (int k = 0; k < 3; k++) put_bytes(t, m->faces[i][k], 2, true);
      put_bytes(t, has_details ? (uint64_t)-1 : 1, 2, true);
      if (has_details) put_bytes(t, m->face_count - 1 - i, 2, true);
    }
    end_chunk(t, chunk);
  }
  end_chunk(t, whole);
}

/* ---- tests: written files come back ---------------------------------------------------- */

typedef void writer(text *, random_state *, const model *);

static void come_back(const char *test, writer *write, mesh_reader *read) {
  static text t;
  random_state random = harness_seeded(test);
  for (int i = 0; i < ROUNDS; i++) {
    const model m = make_model(&random);
    t = (text){.line_end = any_line_end(&random)};
    write(&t, &random, &m);
    assert_reads(read, &m, &t);
  }
}

static void obj_comes_back(void **state) {
  (void)state;
  come_back("obj_comes_back", write_obj, read_obj);
}

static void ply_comes_back(void **state) {
  (void)state;
  come_back("ply_comes_back", write_ply, read_ply);
}

static void off_comes_back(void **state) {
  (void)state;
  come_back("off_comes_back", write_off, read_off);
}

static void stl_comes_back(void **state) {
  (void)state;
  come_back("stl_comes_back", write_stl_text, read_stl);
  come_back("stl_comes_back", write_stl_binary, read_stl);
}

static void lwob_comes_back(void **state) {
  (void)state;
  come_back("lwob_comes_back", write_lwob, read_lwob);
}

/* Wherever it is cut within a chunk that is read, the chunk is named; a polygon of no vertex is refused by that. */
static void lwob_that_is_cut_is_refused(void **state) {
  (void)state;
  static text t;
  random_state random = harness_seeded("lwob_that_is_cut_is_refused");
  const model m = make_model(&random);
  mesh_data mesh;
  char error[400];
  t = (text){.line_end = "\n"};
  write_lwob(&t, &random, &m);
  for (size_t size = 12; size < t.size; size++) {
    if (read_bytes(read_lwob, t.bytes, size, false, &mesh, error) == 0) fail_msg("read when cut to %zu bytes", size);
    if (!strstr(error, "is cut short") && !strstr(error, "holds no triangles") && !strstr(error, "names vertex"))
      fail_msg("cut to %zu bytes: %s", size, error);
  }
  size_t polygons = 12;
  while (memcmp(t.bytes + polygons, "POLS", 4) != 0) polygons++;
  t.bytes[polygons + 11] = (char)0xFF; /* the first corner's low byte */
  assert_int_not_equal(read_bytes(read_lwob, t.bytes, t.size, false, &mesh, error), 0);
  assert_non_null(strstr(error, "face 0 names vertex 255"));
}

/* ---- tests: by hand ----------------------------------------------------------------------- */

/* Triangles as the positions of their corners, and the parts that they are in: "name:count ". */
static void expect(mesh_reader *read, const char *bytes, const char *parts, const char *corners) {
  mesh_data mesh;
  char error[400], got[1000] = "", names[200] = "";
  if (read_bytes(read, bytes, strlen(bytes), false, &mesh, error) != 0) fail_msg("refused: %s, of: %s", error, bytes);
  for (uint32_t i = 0; i < 3 * mesh.triangle_count; i++) {
    const float *p = mesh.vertices + 3 * (size_t)mesh.indices[i];
    snprintf(got + strlen(got), sizeof got - strlen(got), "%s%g,%g",
             i % 3 ? " "
             : i   ? "; "
                   : "",
             (double)p[0], (double)p[1]);
  }
  const char *name = mesh.names;
  for (uint32_t i = 0; i < mesh.part_count; name += strlen(name) + 1, i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s:%u ", name, mesh.parts[i].triangle_count);
  assert_string_equal(got, corners);
  assert_string_equal(names, parts);
  mesh_free(&mesh);
}

#define STRIPS(list)                                                                                               \
  "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\nproperty float z\n"                \
  "element tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 2 0\n1 2 " \
  "0\n" list "\n"

static void strips_alternate_and_restart(void **state) {
  (void)state;
  expect(read_ply, STRIPS("8 0 1 2 -1 1 3 2 -1"), ":2 ", "0,0 1,0 0,1; 1,0 1,1 0,1");
  expect(read_ply, STRIPS("9 0 1 2 3 -1 2 3 4 5"), ":4 ", "0,0 1,0 0,1; 0,1 1,0 1,1; 0,1 1,1 0,2; 0,2 1,1 1,2");
  expect(read_ply, STRIPS("6 0 1 2 3 4 5"), ":4 ", "0,0 1,0 0,1; 0,1 1,0 1,1; 0,1 1,1 0,2; 0,2 1,1 1,2");
  expect(read_ply, STRIPS("9 -1 -1 0 1 -1 2 3 1 -1"), ":1 ", "0,1 1,1 1,0");
}

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

static void groups_and_objects_are_parts(void **state) {
  (void)state;
  expect(read_obj, SQUARE "f 1 2 3\nf 1 3 4\n", ":2 ", "0,0 1,0 1,1; 0,0 1,1 0,1");
  expect(read_obj, SQUARE "g a\nf 1 2 3\ng b c \ng\tb c # d\nf 1 3 4\ng a\nf 2 3 4\n", "a:2 b c:1 ",
         "0,0 1,0 1,1; 1,0 1,1 0,1; 0,0 1,1 0,1");
  expect(read_obj, SQUARE "f 4 3 2\no thing\nf 1 2 3\ng side\nusemtl red\nf 1 3 4\n", ":1 thing:1 thing/side:1 ",
         "0,1 1,1 1,0; 0,0 1,0 1,1; 0,0 1,1 0,1");
  expect(read_obj, SQUARE "o empty\no \xC3\xA9\xFFx\nf 1 2 3\n", "\xC3\xA9?x:1 ", "0,0 1,0 1,1");
}

static void stl_solids_are_parts(void **state) {
  (void)state;
#define FACET(x) "facet normal 0 0 1\nouter loop\nvertex " x " 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
  expect(read_stl, "solid one\n" FACET("0") FACET("3") "endsolid one\nsolid two \n" FACET("4") "endsolid two",
         "one:2 two:1 ", "0,0 1,0 0,1; 3,0 1,0 0,1; 4,0 1,0 0,1");
  expect(read_stl, "solid\nendsolid\nSOLID  x\tY\n" FACET("0") "ENDSOLID x y\n", "x Y:1 ", "0,0 1,0 0,1");
}

/* Refused for this reason; where faces are dropped, `left` triangles are. */
static void expect_reason(mesh_reader *read, const char *bytes, size_t size, const char *reason, uint32_t left) {
  mesh_data mesh;
  char error[400];
  if (read_bytes(read, bytes, size, false, &mesh, error) == 0) fail_msg("it is read: %s", bytes);
  if (strstr(error, reason) == NULL) fail_msg("\"%s\" instead of \"%s\", of: %s", error, reason, bytes);
  const int failed = read_bytes(read, bytes, size, true, &mesh, error);
  assert_int_equal(failed ? 0 : mesh.triangle_count, left);
  if (left > 0) assert_non_null(strstr(mesh.facts.first_dropped, reason));
  mesh_free(&mesh);
}

typedef struct refusal {
  mesh_reader *read;
  const char *bytes, *reason;
  uint32_t left; /* triangles, where faces are dropped */
} refusal;

#define PLY(counts, body)                                                                                  \
  "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n" counts \
  "end_header\n" body
#define FACES(n) "element face " n "\nproperty list uchar int vertex_indices\n"
#define CORNER "0 0 0\n1 0 0\n0 1 0\n"

static void reasons_name_line_and_value(void **state) {
  static const refusal refusals[] = {
      {read_obj, SQUARE "f 1 2 3\nf 1 2 5\n", "line 6: a face names vertex 5, and there are 4", 1},
      {read_obj, SQUARE "f 1 2 3\nf 0 1 2\n", "line 6: a face names vertex 0, and there are 4", 1},
      {read_obj, "v 0 0 0\nf -1 -1 -2\nv 1 0 0\n", "line 2: a face names vertex -2, and there is 1", 0},
      {read_obj, SQUARE "f 1 2 99999999999999999999\n", "line 5: a face names vertex 9", 0},
      {read_obj, "v 0 0\n", "line 1: a vertex has 2 of its 3 coordinates", 0},
      {read_obj, "v 0 0 0\r\rv 0 1,5 0\r", "line 3: '1,5' is not a number", 0},
      {read_obj, SQUARE "f 1 2 3x\n", "line 5: '3x' is no corner of a face", 0},
      {read_obj, SQUARE "f 1/a 2 3\n", "line 5: '1/a' is no corner of a face", 0},
      {read_obj, SQUARE "v nan 0 0\nf 1 2 3\nf 1 2 5\n", "face 1: vertex 4 (nan, 0, 0) is NaN", 1},
      {read_obj, SQUARE "v 1.#QNAN 0 0\nf 1 2 5\nf 1 2 3\n", "face 0: vertex 4 (nan, 0, 0) is NaN", 1},
      {read_obj, SQUARE "v 1.#INF 0 0\nv 1e39 0 0\nf 1 2 6\nf 1 2 3\n", "face 0: vertex 5 (inf, 0, 0)", 1},
      {read_ply, PLY(FACES("1"), CORNER "3 0 1\n"), "it is cut short: it ends within face 0 of 1", 0},
      {read_ply, PLY(FACES("2"), CORNER "3 0 1 2\n3 0 1 3\n"), "face 1 names vertex 3, and there are 3", 1},
      {read_ply, PLY(FACES("2"), CORNER "3 0 1 2\n3 0 1 -1\n"), "face 1 names vertex -1", 1},
      {read_ply, PLY(FACES("2"), CORNER "3 0 1 0.5\n3 0 1 2\n"), "face 0 names vertex 0.5", 1},
      {read_ply, PLY(FACES("1"), CORNER "3 0 1 2 7\n"), "line 13: more numbers than face 0", 0},
      {read_ply, PLY(FACES("1"), "0 0 0 1 0 0\n0 1 0\n3 0 1 2\n"), "line 10: more numbers than vertex 0", 0},
      {read_ply, PLY(FACES("1"), CORNER "3 0 1 x\n"), "line 13: 'x' is not a number", 0},
      {read_ply, PLY(FACES("1"), CORNER "-3 0 1 2\n"), "face 0 (counted from 0) has a list of -3", 0},
      {read_ply, PLY(FACES("4000000000"), CORNER "3 0 1 2\n"),
       "it says 4000000000 of face, which the 9 bytes left cannot hold", 0},
      {read_ply, PLY("element face 1\nproperty list uchar int corners\n", CORNER "3 0 1 2\n"),
       "its face has no list vertex_indices", 0},
      {read_ply, PLY("element range_grid 1\nproperty list uchar int vertex_indices\n", CORNER "0\n"),
       "it is a range grid", 0},
      {read_ply, "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nend_header\n0 0\n",
       "no property z", 0},
      {read_ply, "ply\nformat ascii 1.0\nelement vertex 1\n", "its header does not end", 0},
      {read_ply, "ply\nformat ascii 1.0\nelement vertex many\nend_header\n", "line 3: 'many' is not a count", 0},
      {read_ply, "ply\nformat utf8 1.0\nend_header\n", "line 2: 'utf8' is no format of PLY", 0},
      {read_ply, "ply\nelement face 1\nproperty int64 x\nend_header\n", "line 3: 'int64' is no type of PLY", 0},
      {read_ply, "plY2\n", "it does not begin with ply", 0},
      {read_stl, "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n",
       "line 5: it is cut short: it ends within a facet", 0},
      {read_stl, "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n", "line 4: a vertex has 2 of its 3 coordinates",
       0},
      {read_stl, "solid x\nfacet normal 0 0 1\nvertex 0 0 0\nendfacet\n", "line 4: a facet has 1 vertex", 0},
      {read_stl, "solid x\nvertex 0 0 0\n", "line 2: a vertex stands outside of facets", 0},
      {read_stl, "solid x\nhello\n", "line 2: 'hello' is no word of an STL text", 0},
      {read_stl, "solid x\n" FACET("0") FACET("nan") "endsolid\n", "face 1: vertex 3 (nan, 0, 0) is NaN", 1},
      {read_stl, "solid x\nendsolid x\n", "it holds no triangles", 0},
      {read_off, "OFF\n3 2 0\n" CORNER "3 0 1 2", "line 6: it ends before face 1 of 2", 0},
      {read_off, "OFF\n3 2 0\n" CORNER "3 0 1 2\n3 0 1 9", "face 1 names vertex 9, and there are 3", 1},
      {read_off, "OFF\n3 2 0\n" CORNER "3 -1 1 2\n3 0 1 2", "face 0 names vertex -1", 1},
      {read_off, "OFF\n3 1 0\n0 0 0\n1 0\n0 1 0\n3 0 1 2", "line 4: a vertex has 2 of its 3 coordinates", 0},
      {read_off, "OFF\n99999999999999999999999 1 0\n", "is not a count", 0},
      {read_off, "OFF\n4000000000 1 0\n" CORNER, "it counts 4000000000 vertices and 1 faces", 0},
      {read_off, "4OFF\n3 1 0\n", "four coordinates", 0},
      {read_off, "nOFF 5\n3 1 0\n", "its vertices have 5 coordinates, not 3", 0},
      {read_off, "OFF BINARY\n", "binary OFF is not read", 0},
      {read_off, "hello\n", "line 1: 'hello' is not OFF", 0},
  };
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    expect_reason(refusals[i].read, refusals[i].bytes, strlen(refusals[i].bytes), refusals[i].reason, refusals[i].left);
}

/* Binary STL of `facets` facets, the last with a NaN if `is_nan`, with the count `said`, and with `more` bytes
 * behind. */
static size_t make_stl(char bytes[400], uint32_t facets, uint32_t said, size_t more, bool is_nan) {
  static text t;
  t = (text){.size = 80};
  put_bytes(&t, said, 4, false);
  for (uint32_t i = 0; i < facets; i++) {
    const bool is_bad = is_nan && i + 1 == facets;
    const float numbers[12] = {0, 0, 1, 0, 0, 0, is_bad ? NAN : 1, 0, 0, 0, 1, (float)i};
    for (int k = 0; k < 12; k++) put_float(&t, numbers[k]);
    put_bytes(&t, 0, 2, false);
  }
  memcpy(bytes, t.bytes, t.size + more);
  return t.size + more;
}

static void stl_sizes_and_counts(void **state) {
  char bytes[400], error[400], wanted[100];
  mesh_data mesh;
  (void)state;
  for (uint32_t facets = 1; facets < 5; facets++)
    for (size_t more = 1; more < 80; more += 24 + facets) {
      const size_t size = make_stl(bytes, facets, facets, more, false);
      assert_int_equal(read_bytes(read_stl, bytes, size, false, &mesh, error), 0);
      assert_int_equal(mesh.triangle_count, facets);
      snprintf(wanted, sizeof wanted, "%zu byte%s behind its %u facet%s left out", more, more == 1 ? "" : "s", facets,
               facets == 1 ? " is" : "s are");
      assert_string_equal(mesh.facts.warning, wanted);
      mesh_free(&mesh);
    }
  expect_reason(read_stl, bytes, make_stl(bytes, 2, 3, 0, false), "it says 3 facets, and its 184 bytes hold 2", 0);
  expect_reason(read_stl, bytes, make_stl(bytes, 2, UINT32_MAX, 7, false), "it says 4294967295 facets, and its 191", 0);
  expect_reason(read_stl, bytes, make_stl(bytes, 2, 0, 0, false), "it says 0 facets, and 100 bytes follow", 0);
  expect_reason(read_stl, bytes, 70, "it has 70 bytes, and a binary STL begins with 84", 0);
  for (uint32_t facets = 2; facets < 6; facets++) {
    snprintf(wanted, sizeof wanted, "face %u: vertex %u (nan, 0, 0) is NaN", facets - 1, 3 * facets - 2);
    expect_reason(read_stl, bytes, make_stl(bytes, facets, facets, 0, true), wanted, facets - 1);
  }
}

/* A comment that lacks its word, as Blender 2.47 wrote it, wherever it is. */
static void odd_lines_of_a_header_are_passed_over(void **state) {
  static const char *const lines[] = {"ply\n",
                                      "format ascii 1.0\n",
                                      "element vertex 3\nproperty float x\n",
                                      "property float y\nproperty float z\n",
                                      FACES("1"),
                                      "end_header\n" CORNER "3 0 1 2\n"};
  (void)state;
  for (size_t odd = 1; odd < 6; odd++) {
    char bytes[400] = "", error[400];
    mesh_data mesh;
    for (size_t i = 0; i < 6; i++) {
      if (i == odd) strcat(bytes, "Created by Blender3D 247\n");
      strcat(bytes, lines[i]);
    }
    assert_int_equal(read_bytes(read_ply, bytes, strlen(bytes), false, &mesh, error), 0);
    assert_int_equal(mesh.triangle_count, 1);
    assert_non_null(strstr(mesh.facts.warning, " of its header is none of PLY's, and passed over"));
    mesh_free(&mesh);
  }
}

/* The float next to the digits, where the double between lies half-way; and how far rounding went. */
static void decimals_are_rounded_once(void **state) {
  mesh_data mesh;
  char error[400];
  const char *file = "v 1.00000017881393432617187499 0.1 512345.600\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  (void)state;
  assert_int_equal(read_bytes(read_obj, file, strlen(file), false, &mesh, error), 0);
  assert_true(mesh.vertices[0] == 0x1.000002p0f); /* through a double it would be 0x1.000004p0 */
  assert_true(mesh.vertices[1] == 0.1f && mesh.vertices[2] == 512345.59375f);
  assert_true(mesh.facts.worst_rounding > 0.00624 && mesh.facts.worst_rounding < 0.00626);
  mesh_free(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(obj_comes_back),
      cmocka_unit_test(ply_comes_back),
      cmocka_unit_test(off_comes_back),
      cmocka_unit_test(stl_comes_back),
      cmocka_unit_test(lwob_comes_back),
      cmocka_unit_test(lwob_that_is_cut_is_refused),
      cmocka_unit_test(strips_alternate_and_restart),
      cmocka_unit_test(groups_and_objects_are_parts),
      cmocka_unit_test(stl_solids_are_parts),
      cmocka_unit_test(reasons_name_line_and_value),
      cmocka_unit_test(stl_sizes_and_counts),
      cmocka_unit_test(odd_lines_of_a_header_are_passed_over),
      cmocka_unit_test(decimals_are_rounded_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
