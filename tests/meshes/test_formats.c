/* Formats that the import library reads. Coordinates are the file's own, with the axis and the unit that the file
 * states. Losses are refused, but not those that are only about materials and cameras. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "program/io/decimal.h"
#include "program/mesh/mesh.h"

static char folder[] = "/tmp/slabcast-formats-XXXXXX";

/* ---- files ---- */

enum { TEXT_MAX = 8192 };

/* Each has the triangle (0, 0, 5), (4, 0, 5), (0, 4, 5) once, at a node moved by (1, 2, 3) where the format has nodes.
 * In the text %s stands for a test's own part. */
static const char collada[] =
    "<?xml version=\"1.0\"?>\n<!-- <up_axis>X_UP</up_axis> -->\n"
    "<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\"><asset>%s</asset>"
    "<library_geometries><geometry id=\"g\"><mesh><source id=\"p\"><float_array id=\"a\" count=\"9\">0 0 5 4 0 5 0 4 5"
    "</float_array><technique_common><accessor source=\"#a\" count=\"3\" stride=\"3\"><param name=\"X\" "
    "type=\"float\"/>"
    "<param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor></technique_common></source>"
    "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices><triangles count=\"1\">"
    "<input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1 "
    "2</p></triangles></mesh></geometry></library_geometries>"
    "<library_visual_scenes><visual_scene id=\"s\">%s</visual_scene></library_visual_scenes>"
    "<scene><instance_visual_scene url=\"#s\"/></scene></COLLADA>";
static const char moved_node[] = "<node id=\"n\"><translate>1 2 3</translate>%s<instance_geometry url=\"#g\"/></node>";

static const char directx[] =
    "xof 0303txt 0032\nFrame Root { FrameTransformMatrix { 1.0,0.0,0.0,0.0, 0.0,1.0,0.0,0.0, 0.0,0.0,1.0,0.0, "
    "1.0,2.0,3.0,1.0;; } Mesh { 3; 0.0;0.0;5.0;, 4.0;0.0;5.0;, 0.0;4.0;5.0;; 1; 3;0,1,2;; } }\n";

static const char autocad[] =
    "0\nSECTION\n2\nENTITIES\n%s0\n3DFACE\n8\n0\n10\n1\n20\n2\n30\n8\n11\n5\n21\n2\n31\n8\n12\n1\n22\n6\n32\n8\n13\n1\n"
    "23\n6\n33\n8\n0\nENDSEC\n0\nEOF\n";

static const char ascii_3ds[] =
    "*3DSMAX_ASCIIEXPORT 200\n*GEOMOBJECT {\n*NODE_NAME \"a\"\n*NODE_TM {\n*NODE_NAME \"a\"\n*TM_ROW0 1.0 0.0 0.0\n"
    "*TM_ROW1 0.0 1.0 0.0\n*TM_ROW2 0.0 0.0 1.0\n*TM_ROW3 0.0 0.0 0.0\n}\n*MESH {\n*MESH_NUMVERTEX 3\n*MESH_NUMFACES "
    "1\n"
    "*MESH_VERTEX_LIST {\n*MESH_VERTEX 0 1.0 2.0 8.0\n*MESH_VERTEX 1 5.0 2.0 8.0\n*MESH_VERTEX %s 1.0 6.0 8.0\n}\n"
    "*MESH_FACE_LIST {\n*MESH_FACE 0: A: 0 B: 1 C: 2 AB: 1 BC: 1 CA: 1 *MESH_SMOOTHING 1 *MESH_MTLID 0\n}\n}\n}\n";

static const char amf[] =
    "<?xml version=\"1.0\"?>\n<amf %s><object id=\"0\"><mesh><vertices>"
    "<vertex><coordinates><x>1</x><y>2</y><z>8</z></coordinates></vertex>"
    "<vertex><coordinates><x>5</x><y>2</y><z>8</z></coordinates></vertex>"
    "<vertex><coordinates><x>1</x><y>6</y><z>8</z></coordinates></vertex></vertices>"
    "<volume><triangle><v1>0</v1><v2>1</v2><v3>2</v3></triangle></volume></mesh></object></amf>";

static const char fbx[] =
    "; FBX 7.4.0 project file\nFBXHeaderExtension:  {\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}\nGlobalSettings:  "
    "{\n"
    "Version: 1000\nProperties70:  {\n%s}\n}\nDefinitions:  {\nVersion: 100\nCount: 2\n}\nObjects:  {\n"
    "Geometry: 100, \"Geometry::g\", \"Mesh\" {\nVertices: *9 {\na: 0,0,5,4,0,5,0,4,5\n}\nPolygonVertexIndex: *3 {\n"
    "a: 0,1,%s\n}\nGeometryVersion: 124\n}\nModel: 200, \"Model::m\", \"Mesh\" {\nVersion: 232\nProperties70:  {\n"
    "P: \"Lcl Translation\", \"Lcl Translation\", \"\", \"A\",1,2,3\n}\n}\n}\nConnections:  {\nC: \"OO\",200,0\n"
    "C: \"OO\",100,200\n}\n";

static const char ac3d[] =
    "AC3Db\nMATERIAL \"\" rgb 1 1 1  amb 0.2 0.2 0.2  emis 0 0 0  spec 0.5 0.5 0.5  shi 10  trans 0\nOBJECT "
    "world\nkids 1\n"
    "OBJECT poly\nname \"t\"\nloc 1 2 3\nnumvert 3\n0 0 5\n4 0 5\n0 4 5\nnumsurf 1\nSURF 0x10\nmat %s\nrefs 3\n0 0 "
    "0\n1 0 0\n"
    "%s 0 0\nkids 0\n";

static const char x3d[] =
    "<?xml version=\"1.0\"?>\n<X3D profile=\"Interchange\" version=\"3.0\"><Scene><Transform translation=\"1 2 "
    "3\"><Shape>"
    "<IndexedFaceSet coordIndex=\"0 1 2 -1\"><Coordinate point=\"0 0 5 4 0 5 0 4 "
    "5\"/></IndexedFaceSet></Shape></Transform>"
    "</Scene></X3D>";

static const char threemf[] =
    "<?xml version=\"1.0\"?><model %s xml:lang=\"en-US\" "
    "xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\">"
    "<resources><object id=\"1\" type=\"model\"><mesh><vertices><vertex x=\"0\" y=\"0\" z=\"5\"/><vertex x=\"4\" "
    "y=\"0\" "
    "z=\"5\"/><vertex x=\"0\" y=\"4\" z=\"5\"/></vertices><triangles><triangle v1=\"0\" v2=\"1\" "
    "v3=\"2\"/></triangles></mesh>"
    "</object></resources><build><item objectid=\"1\" transform=\"1 0 0 0 1 0 0 0 1 1 2 3\"/></build></model>";
static const char relations[] =
    "<?xml version=\"1.0\"?><Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">"
    "<Relationship Target=\"/3D/3dmodel.model\" Id=\"rel0\" "
    "Type=\"http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel\"/></Relationships>";

static void put_file(const char *path, const void *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  assert_int_equal(fclose(file), 0);
}

static int import_bytes(const char *name, const mesh_options *options, mesh_data *out, char *error, size_t size,
                        const void *bytes, size_t count) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  put_file(path, bytes, count);
  error[0] = '\0';
  const int failed = mesh_import(path, options, out, error, size);
  remove(path);
  return failed;
}

static int import(const char *name, const mesh_options *options, mesh_data *out, char *error, size_t size,
                  const char *text) {
  return import_bytes(name, options, out, error, size, text, strlen(text));
}

/* Fills a text in; one of the two may be left over. */
static const char *with(const char *text, const char *first, const char *second) {
  static char filled[TEXT_MAX];
  char *at = filled;
  const char *next[] = {first, second};
  for (int i = 0; *text; text++) {
    if (text[0] == '%' && text[1] == 's') {
      at += strlen(strcpy(at, next[i++]));
      text++;
    } else {
      *at++ = *text;
    }
    assert_true(at < filled + TEXT_MAX - 1000);
  }
  *at = '\0';
  return filled;
}

static const char *collada_of(const char *asset, const char *in_node) {
  static char node[TEXT_MAX];
  strcpy(node, with(moved_node, in_node, ""));
  return with(collada, asset, node);
}

/* ---- coordinates ---- */

static void has_corners(const mesh_data *mesh, const double want[9], const char *name) {
  assert_int_equal(mesh->triangle_count, 1);
  assert_int_equal(mesh->place_count, 0);
  for (int i = 0; i < 9; i++) {
    const double got = (double)mesh->vertices[3 * mesh->indices[i / 3] + (uint32_t)(i % 3)];
    if (fabs(got - want[i]) > 1e-6 * fabs(want[i])) fail_msg("%s: coordinate %d is %g, not %g", name, i, got, want[i]);
  }
}

static const double own[9] = {1, 2, 8, 5, 2, 8, 1, 6, 8};

static void are_own(const char *name, const void *bytes, size_t count, char up, double unit) {
  char error[400];
  mesh_data mesh;
  if (import_bytes(name, &(mesh_options){0}, &mesh, error, sizeof error, bytes, count)) fail_msg("%s: %s", name, error);
  has_corners(&mesh, own, name);
  if (mesh.facts.up != up) fail_msg("%s: up is %d", name, mesh.facts.up);
  if (fabs(mesh.facts.unit - unit) > 1e-7 * unit) fail_msg("%s: the unit is %g, not %g", name, mesh.facts.unit, unit);
  mesh_free(&mesh);
}

static void is_own(const char *name, const char *text, char up, double unit) {
  are_own(name, text, strlen(text), up, unit);
}

static void coordinates_are_the_files_own(void **state) {
  (void)state;
  is_own("t.x", directx, 0, 0);
  is_own("t.dxf", with(autocad, "", ""), 0, 0);
  is_own("t.ase", with(ascii_3ds, "2", ""), 0, 0);
  is_own("t.ac", with(ac3d, "0", "2"), 0, 0);
  is_own("t.x3d", x3d, 0, 0);
  is_own("t.amf", with(amf, "version=\"1.1\" unit=\"inch\"", ""), 0, 0.0254);
  is_own("t.amf", with(amf, "unit='feet'", ""), 0, 0.3048);
  is_own("t.amf", with(amf, "unit = \"micron\"", ""), 0, 1e-6);
  is_own("t.amf", with(amf, "version=\"1.1\"", ""), 0, 1e-3);
  static const char of_fbx[] =
      "P: \"UpAxis\", \"int\", \"Integer\", \"\",%s\nP: \"UnitScaleFactor\", \"double\", \"Number\", "
      "\"\",%s\n";
  static const char *const factors[] = {"1", "2.54", "100"};
  for (int axis = 0; axis < 3; axis++) {
    char number[2] = {(char)('0' + axis), '\0'}, settings[TEXT_MAX];
    strcpy(settings, with(of_fbx, number, factors[axis]));
    is_own("t.fbx", with(fbx, settings, "-3"), (char)('x' + axis), strtod(factors[axis], NULL) / 100);
  }
}

/* Surfaces to be subdivided are the faces that the file has. */
static void subdivision_is_left_out(void **state) {
  (void)state;
  for (int times = 1; times < 5; times++) {
    char text[TEXT_MAX];
    const char *whole = with(ac3d, "0", "2"), *rest = strstr(whole, "numvert");
    snprintf(text, sizeof text, "%.*ssubdiv %d\n%s", (int)(rest - whole), whole, times, rest);
    is_own("t.ac", text, 0, 0);
  }
}

/* Bytes of a binary file. Chunks of 3DS count their head, and those of the others do not. */
typedef struct blob {
  char bytes[1024];
  size_t size;
  bool is_big;
} blob;

static void put_number(blob *b, uint32_t value, int bytes) {
  for (int k = 0; k < bytes; k++) b->bytes[b->size++] = (char)(value >> 8 * (b->is_big ? bytes - 1 - k : k));
}

static void put_text(blob *b, const char *text, size_t size) {
  memset(b->bytes + b->size, 0, size);
  memcpy(b->bytes + b->size, text, strlen(text));
  b->size += size;
}

static void put_floats(blob *b, const double *values, int count) {
  for (int i = 0; i < count; i++) {
    const float value = (float)values[i];
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(b, bits, 4);
  }
}

/* Returns where the chunk's bytes begin, behind the four of their number. */
static size_t begin_chunk(blob *b, const char *name) {
  put_text(b, name, strlen(name));
  put_number(b, 0, 4);
  return b->size;
}

static void end_chunk(blob *b, size_t begin, size_t head) {
  const size_t end = b->size, size = end - begin + head;
  b->size = begin - 4;
  put_number(b, (uint32_t)size, 4);
  b->size = end;
}

static void write_3ds(blob *b) {
  const size_t file = begin_chunk(b, "MM"), editor = begin_chunk(b, "=="), object = begin_chunk(b, "\x01@");
  b->bytes[object - 6] = 0; /* 0x4000 */
  put_text(b, "t", 2);
  const size_t mesh = begin_chunk(b,
                                  "\x01"
                                  "A"),
               vertices = begin_chunk(b,
                                      "\x10"
                                      "A");
  b->bytes[mesh - 6] = 0; /* 0x4100 */
  put_number(b, 3, 2);
  put_floats(b, own, 9);
  end_chunk(b, vertices, 6);
  const size_t faces = begin_chunk(b, " A");
  put_number(b, 1, 2);
  for (uint32_t i = 0; i < 4; i++) put_number(b, i % 3, 2);
  end_chunk(b, faces, 6);
  end_chunk(b, mesh, 6);
  end_chunk(b, object, 6);
  end_chunk(b, editor, 6);
  end_chunk(b, file, 6);
}

static void write_lwo2(blob *b) {
  b->is_big = true;
  const size_t file = begin_chunk(b, "FORM");
  put_text(b, "LWO2", 4);
  const size_t layer = begin_chunk(b, "LAYR");
  put_text(b, "", 18);
  end_chunk(b, layer, 0);
  const size_t points = begin_chunk(b, "PNTS");
  put_floats(b, own, 9);
  end_chunk(b, points, 0);
  const size_t polygons = begin_chunk(b, "POLS");
  put_text(b, "FACE", 4);
  put_number(b, 3, 2);
  for (uint32_t i = 0; i < 3; i++) put_number(b, i, 2);
  end_chunk(b, polygons, 0);
  end_chunk(b, file, 0);
}

static void write_lwob(blob *b) {
  b->is_big = true;
  const size_t file = begin_chunk(b, "FORM");
  put_text(b, "LWOB", 4);
  const size_t points = begin_chunk(b, "PNTS");
  put_floats(b, own, 9);
  end_chunk(b, points, 0);
  const size_t polygons = begin_chunk(b, "POLS");
  put_number(b, 3, 2);
  for (uint32_t i = 0; i < 3; i++) put_number(b, i, 2);
  put_number(b, 1, 2);
  end_chunk(b, polygons, 0);
  end_chunk(b, file, 0);
}

/* MilkShape's: a group of one triangle. */
static void write_ms3d(blob *b) {
  put_text(b, "MS3D000000", 10);
  put_number(b, 4, 4);
  put_number(b, 3, 2);
  for (int i = 0; i < 3; i++) {
    put_number(b, 0, 1);
    put_floats(b, own + 3 * i, 3);
    put_number(b, 0x00FF, 2); /* no bone */
  }
  put_number(b, 1, 2);
  for (uint32_t i = 0; i < 4; i++) put_number(b, i ? i - 1 : 0, 2);
  put_text(b, "", 15 * 4 + 2);
  put_number(b, 1, 2);
  put_text(b, "", 33);
  put_number(b, 1, 2);
  put_number(b, 0, 2);
  put_number(b, 0xFF, 1);         /* no material */
  put_text(b, "", 2 + 3 * 4 + 2); /* materials, times, joints */
}

/* Blitz3D's: a node at (1, 2, 3), with a mesh. */
static void write_b3d(blob *b) {
  static const double place[] = {1, 2, 3, 1, 1, 1, 1, 0, 0, 0}, corners[] = {0, 0, 5, 4, 0, 5, 0, 4, 5};
  const size_t file = begin_chunk(b, "BB3D");
  put_number(b, 1, 4);
  const size_t node = begin_chunk(b, "NODE");
  put_text(b, "t", 2);
  put_floats(b, place, 10);
  const size_t mesh = begin_chunk(b, "MESH");
  put_number(b, UINT32_MAX, 4);
  const size_t vertices = begin_chunk(b, "VRTS");
  put_text(b, "", 12);
  put_floats(b, corners, 9);
  end_chunk(b, vertices, 0);
  const size_t triangles = begin_chunk(b, "TRIS");
  put_number(b, UINT32_MAX, 4);
  for (uint32_t i = 0; i < 3; i++) put_number(b, i, 4);
  end_chunk(b, triangles, 0);
  end_chunk(b, mesh, 0);
  end_chunk(b, node, 0);
  end_chunk(b, file, 0);
}

static void binary_coordinates_are_the_files_own(void **state) {
  (void)state;
  static const struct {
    const char *name;
    void (*write)(blob *);
  } files[] = {{"t.3ds", write_3ds}, {"t.lwo", write_lwo2},  {"t.lwo", write_lwob},
               {"bare", write_lwob}, {"t.ms3d", write_ms3d}, {"t.b3d", write_b3d}};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    blob b = {.size = 0};
    files[i].write(&b);
    are_own(files[i].name, b.bytes, b.size, 0, 0);
  }
}

/* An archive that grows, and its directory. */
typedef struct archive {
  unsigned char bytes[1 << 17], directory[512];
  size_t size, directory_size, files;
} archive;

static void put(unsigned char *to, size_t *size, uint32_t value, int bytes) {
  for (int k = 0; k < bytes; k++) to[(*size)++] = (unsigned char)(value >> 8 * k);
}

static void put_bytes(archive *a, const char *text) {
  memcpy(a->bytes + a->size, text, strlen(text));
  a->size += strlen(text);
}

/* Deflate without packing: one last block, of the bytes as they are. */
static void put_block(archive *a, const char *text) {
  const uint32_t length = (uint32_t)strlen(text);
  put(a->bytes, &a->size, 1, 1);
  put(a->bytes, &a->size, length | ~length << 16, 4);
  put_bytes(a, text);
}

/* Adds a file as it is, or packed. */
static void add_file(archive *a, const char *name, const char *text, bool packed) {
  const uint32_t offset = (uint32_t)a->size, length = (uint32_t)strlen(text), kept = length + (packed ? 5 : 0);
  uint32_t crc = 0xffffffffu;
  for (const char *c = text; *c; c++) {
    crc ^= (unsigned char)*c;
    for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  for (int in_directory = 0; in_directory < 2; in_directory++) {
    unsigned char *to = in_directory ? a->directory : a->bytes;
    size_t *size = in_directory ? &a->directory_size : &a->size;
    put(to, size, in_directory ? 0x02014b50 : 0x04034b50, 4);
    if (in_directory) put(to, size, 20, 2);
    put(to, size, 20, 4); /* the version, no flags */
    put(to, size, packed ? 8 : 0, 2);
    put(to, size, 0x21 << 16, 4); /* the first of January 1980 */
    put(to, size, ~crc, 4);
    put(to, size, kept, 4);
    put(to, size, length, 4);
    put(to, size, (uint32_t)strlen(name), 4); /* and nothing extra */
    for (int k = 0; in_directory && k < 5; k++) put(to, size, k == 4 ? offset : 0, k == 3 || k == 4 ? 4 : 2);
    memcpy(to + *size, name, strlen(name));
    *size += strlen(name);
  }
  if (packed)
    put_block(a, text);
  else
    put_bytes(a, text);
  a->files++;
}

static void end_archive(archive *a, const char *comment) {
  const uint32_t at = (uint32_t)a->size;
  memcpy(a->bytes + a->size, a->directory, a->directory_size);
  a->size += a->directory_size;
  put(a->bytes, &a->size, 0x06054b50, 4);
  put(a->bytes, &a->size, 0, 4);
  put(a->bytes, &a->size, (uint32_t)(a->files | a->files << 16), 4);
  put(a->bytes, &a->size, (uint32_t)a->directory_size, 4);
  put(a->bytes, &a->size, at, 4);
  put(a->bytes, &a->size, (uint32_t)strlen(comment), 2);
  memcpy(a->bytes + a->size, comment, strlen(comment));
  a->size += strlen(comment);
}

/* The unit is in an archive, whose file is packed or not. */
static void archives_tell_their_unit(void **state) {
  (void)state;
  static const struct {
    const char *attribute;
    double metres;
  } units[] = {{"", 1e-3},
               {"unit=\"micron\"", 1e-6},
               {"unit='inch'", 0.0254},
               {"xml:space=\"default\" unit=\"centimeter\"", 1e-2},
               {"unit=\"foot\"", 0.3048},
               {"unit=\"meter\"", 1}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    archive a = {.size = 0};
    add_file(&a, "_rels/.rels", relations, false);
    add_file(&a, "3D/3dmodel.model", with(threemf, units[i].attribute, ""), i % 2 == 1);
    end_archive(&a, i < 3 ? "" : "a comment");
    are_own("t.3mf", a.bytes, a.size, 'z', units[i].metres);
  }
}

static int import_3mf(const char *model, char *error, size_t size) {
  mesh_data mesh;
  archive a = {.size = 0};
  add_file(&a, "_rels/.rels", relations, false);
  add_file(&a, "3D/3dmodel.model", model, true);
  end_archive(&a, "");
  const int failed = import_bytes("t.3mf", &(mesh_options){0}, &mesh, error, size, a.bytes, a.size);
  if (!failed) mesh_free(&mesh);
  return failed;
}

/* The import library passes over extensions, whatever their prefix; those of materials and names lose nothing. */
static void extensions_of_3mf_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *uri;
    bool is_read;
  } extensions[] = {{"http://schemas.microsoft.com/3dmanufacturing/material/2015/02", true},
                    {"http://schemas.microsoft.com/3dmanufacturing/production/2015/06", true},
                    {"http://schemas.microsoft.com/3dmanufacturing/trianglesets/2021/07", true},
                    {"http://schemas.microsoft.com/3dmanufacturing/beamlattice/2017/02", false},
                    {"http://schemas.3mf.io/3dmanufacturing/booleanoperations/2023/07", false},
                    {"urn:of-somebody", false}};
  enum { KINDS = sizeof extensions / sizeof *extensions };
  random_state random = harness_seeded("extensions_of_3mf_are_refused");
  for (int round = 0; round < 60; round++) {
    char attributes[800], required[80] = "", error[400], wanted[200] = "";
    size_t size = 0;
    for (int k = 0; k < 3; k++) {
      const uint32_t kind = random_below(&random, KINDS);
      const bool is_required = random_below(&random, 2) == 1;
      const char quote = random_below(&random, 2) ? '"' : '\'';
      char prefix[16];
      snprintf(prefix, sizeof prefix, "%c%u", 'a' + k, random_below(&random, 100000));
      size += (size_t)snprintf(attributes + size, sizeof attributes - size, "xmlns:%s=%c%s%c ", prefix, quote,
                               extensions[kind].uri, quote);
      if (!is_required) continue;
      snprintf(required + strlen(required), sizeof required - strlen(required), "%s%s", required[0] ? "  " : "",
               prefix);
      if (!extensions[kind].is_read && wanted[0] == '\0')
        snprintf(wanted, sizeof wanted, "it requires the extension \"%s\", which is not read", extensions[kind].uri);
    }
    snprintf(attributes + size, sizeof attributes - size, "requiredextensions=\"%s\"", required);
    const int failed = import_3mf(with(threemf, attributes, ""), error, sizeof error);
    if (failed != (wanted[0] ? -1 : 0) || strcmp(error, wanted) != 0)
      fail_msg("%s: \"%s\", not \"%s\"", attributes, error, wanted);
  }
  char model[TEXT_MAX], error[400];
  const char *whole = with(threemf, "xmlns:p=\"http://schemas.microsoft.com/3dmanufacturing/production/2015/06\"", "");
  const char *item = strstr(whole, "<item ");
  assert_non_null(item);
  snprintf(model, sizeof model, "%.*s<item p:path=\"/3D/other.model\" %s", (int)(item - whole), whole, item + 6);
  assert_int_equal(import_3mf(model, error, sizeof error), -1);
  assert_string_equal(error, "it has objects in other files of its archive, which are not read");
}

/* A Collada file in an archive: the one that the manifest names, or the first. */
static void archives_hold_collada(void **state) {
  (void)state;
  static const char other[] = "<COLLADA/>", asset[] = "<up_axis>Z_UP</up_axis><unit meter=\"0.0254\"/>";
  static const struct {
    const char *manifest, *name;
  } kinds[] = {{NULL, "first.dae"},
               {"<dae_root>b.dae</dae_root>", "b.dae"},
               {"<?xml version=\"1.0\"?>\n<dae_root>\n ./models/b.DAE</dae_root>", "models/b.DAE"},
               {"<dae_root>gone%20.txt</dae_root>", "m.dae"},
               {"<dae_root>m/n o/a long name.dae#Scene</dae_root>", "m/n o/a long name.dae"}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (int packed = 0; packed < 2; packed++) {
      archive a = {.size = 0};
      if (kinds[i].manifest && i < 3) add_file(&a, "other.dae", other, packed);
      if (kinds[i].manifest) add_file(&a, "manifest.xml", kinds[i].manifest, !packed);
      add_file(&a, kinds[i].name, collada_of(asset, ""), packed);
      end_archive(&a, packed ? "" : "a comment");
      are_own("t.zae", a.bytes, a.size, 'z', 0.0254);
      for (size_t k = 0; k < a.size; k++) /* a damaged text is not read as if it were whole */
        if (!memcmp(a.bytes + k, "0 0 5 4", 7)) a.bytes[k] = '7';
      char error[400];
      mesh_data mesh;
      assert_int_not_equal(import_bytes("t.zae", &(mesh_options){0}, &mesh, error, sizeof error, a.bytes, a.size), 0);
      assert_string_equal(error, "it is no archive that has a Collada file, or it is damaged");
    }
}

/* Every axis with every unit, and neither. */
static void collada_is_not_turned_or_scaled(void **state) {
  (void)state;
  static const char *const axes[] = {"", "<up_axis>X_UP</up_axis>", "<up_axis> Y_UP </up_axis>",
                                     "<up_axis>Z_UP</up_axis>"};
  static const char *const units[] = {"", "<unit name=\"inch\" meter=\"0.0254\"/>", "<unit meter='0.001' name='mm'/>",
                                      "<unit name=\"furlong\" meter = \"201.168\" />"};
  static const double metres[] = {0, 0.0254, 0.001, 201.168};
  for (int axis = 0; axis < 4; axis++)
    for (int unit = 0; unit < 4; unit++) {
      char asset[200];
      snprintf(asset, sizeof asset, "%s%s", units[unit], axes[axis]);
      is_own("t.dae", collada_of(asset, ""), axis ? (char)('w' + axis) : 0, metres[unit]);
    }
}

/* The options turn and scale from the file's axis and unit. Files that have none are left alone. */
static void options_turn_and_scale(void **state) {
  (void)state;
  static const char said[] = "<unit name=\"inch\" meter=\"0.0254\"/><up_axis>Z_UP</up_axis>";
  const mesh_options options = {.up = 'y', .unit = 0.001};
  char error[400];
  mesh_data mesh;
  double turned[9];
  for (int i = 0; i < 9; i += 3) { /* a quarter turn about x */
    turned[i] = 25.4 * own[i];
    turned[i + 1] = 25.4 * own[i + 2];
    turned[i + 2] = -25.4 * own[i + 1];
  }
  assert_int_equal(import("t.dae", &options, &mesh, error, sizeof error, collada_of(said, "")), 0);
  has_corners(&mesh, turned, "turned");
  mesh_free(&mesh);
  assert_int_equal(import("t.dae", &options, &mesh, error, sizeof error, collada_of("", "")), 0);
  has_corners(&mesh, own, "left alone");
  mesh_free(&mesh);
}

/* ---- decimals ---- */

enum { POINTS = 300, NUMBERS = 3 * POINTS };

typedef struct number_text {
  char text[48];
  decimal right;
} number_text;

/* A decimal of some kind, and its value by the C library alone. */
static number_text make_number(random_state *random, int kind) {
  number_text n;
  const double size = (double)random_between(random, -1000, 1000);
  const int places = 1 + (int)random_below(random, 12);
  switch (kind) {
    case 0: /* plain */
      snprintf(n.text, sizeof n.text, "%.*f", places, size + 1e-9 * (double)random_below(random, 1000000000));
      break;
    case 1: /* with an exponent */
      snprintf(n.text, sizeof n.text, "%.*fe%d", places, size / 100, (int)random_below(random, 41) - 25);
      break;
    case 2: /* more digits than the library takes */
      snprintf(n.text, sizeof n.text, "%.30f", size * 1e-12);
      break;
    case 3: /* far away, as of a map */
      snprintf(n.text, sizeof n.text, "%.*f", 1 + places % 4, 5e6 + size * 1e3);
      break;
    default: /* whole numbers that no float has, and fractions */
      snprintf(n.text, sizeof n.text, places % 2 ? "%u%u" : "0.%u%u", 1 + random_below(random, 99999999), places);
  }
  n.right = (decimal){strtod(n.text, NULL), strtof(n.text, NULL)};
  return n;
}

/* A text of POINTS points, and of faces of three in their order. */
typedef struct list_format {
  const char *name, *before, *point, *between, *face, *after;
  bool is_named;
} list_format;

#define COLLADA_LIST                                                                                                 \
  "<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\"><library_geometries><geometry " \
  "id=\"g\"><mesh><source id=\"p\"><float_array id=\"a\" count=\"900\">",                                            \
      "%s %s %s ",                                                                                                   \
      "</float_array><technique_common><accessor source=\"#a\" count=\"300\" stride=\"3\"><param name=\"X\" "        \
      "type=\"float\"/><param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor>"              \
      "</technique_common></source><vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>"       \
      "<triangles count=\"100\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>",                         \
      "%d %d %d ",                                                                                                   \
      "</p></triangles></mesh></geometry></library_geometries><library_visual_scenes><visual_scene id=\"s\"><node "  \
      "id=\"plate 1.18\"><instance_geometry url=\"#g\"/></node></visual_scene></library_visual_scenes><scene>"       \
      "<instance_visual_scene url=\"#s\"/></scene></COLLADA>",                                                       \
      true
#define XGL_LIST                                                                                                 \
  "<WORLD><LIGHTING><AMBIENT>1, 1, 1</AMBIENT></LIGHTING><OBJECT><MESH><MAT ID=\"1\"><DIFF>1, 1, 1</DIFF>"       \
  "</MAT>",                                                                                                      \
      "<P ID=\"%4$d\">%1$s, %2$s, %3$s</P>", "",                                                                 \
      "<F><MATREF>1</MATREF><FV1><PREF>%d</PREF></FV1><FV2><PREF>%d</PREF></FV2><FV3><PREF>%d</PREF></FV3></F>", \
      "</MESH></OBJECT></WORLD>", false

static const list_format list_formats[] = {
    {"t.dae", COLLADA_LIST},
    {"t.x", "xof 0303txt 0032\nMesh { 300; ", "%s;%s;%s;,", "; 100; ", "3;%d,%d,%d;,", "; }\n", false},
    {"t.ac",
     "AC3Db\nMATERIAL \"\" rgb 1 1 1  amb 0.2 0.2 0.2  emis 0 0 0  spec 0.5 0.5 0.5  shi 10  trans 0\nOBJECT "
     "world\nkids 1\nOBJECT poly\nname \"plate 1.18\"\nnumvert 300\n",
     "%s %s %s\n", "numsurf 100\n", "SURF 0x10\nmat 0\nrefs 3\n%d 0 0\n%d 0 0\n%d 0 0\n", "kids 0\n", true},
    {"t.zae", COLLADA_LIST},
    {"t.xgl", XGL_LIST},
    {"t.zgl", XGL_LIST},
    {"t.amf", "<?xml version=\"1.0\"?>\n<amf><object id=\"0\"><mesh><vertices>",
     "<vertex><coordinates><x>%s</x><y>%s</y><z>%s</z></coordinates></vertex>", "</vertices><volume>",
     "<triangle><v1>%d</v1><v2>%d</v2><v3>%d</v3></triangle>", "</volume></mesh></object></amf>", false},
};

static const char *list_text(const list_format *format, const number_text *numbers) {
  static char text[1 << 17];
  size_t size = (size_t)snprintf(text, sizeof text, "%s", format->before);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  for (int i = 0; i < NUMBERS; i += 3)
    size += (size_t)snprintf(text + size, sizeof text - size, format->point, numbers[i].text, numbers[i + 1].text,
                             numbers[i + 2].text, i / 3);
  size -= text[size - 1] == ','; /* which is between two */
  size += (size_t)snprintf(text + size, sizeof text - size, "%s", format->between);
  for (int i = 0; i < POINTS; i += 3)
    size += (size_t)snprintf(text + size, sizeof text - size, format->face, i, i + 1, i + 2);
#pragma GCC diagnostic pop
  size -= text[size - 1] == ',';
  snprintf(text + size, sizeof text - size, "%s", format->after);
  return text;
}

/* The same as the format has it: ZAE is an archive, ZGL has two bytes before what deflate makes. */
static size_t list_bytes(const list_format *format, const number_text *numbers, archive *a) {
  const char *text = list_text(format, numbers);
  const size_t length = strlen(text);
  a->size = a->directory_size = a->files = 0;
  if (!strcmp(format->name, "t.zae")) {
    add_file(a, "a.dae", text, true);
    end_archive(a, "");
    return a->size;
  }
  assert_true(length < 65536);
  if (!strcmp(format->name, "t.zgl")) put(a->bytes, &a->size, 0x0178, 2), put_block(a, text);
  if (a->size > 0) return a->size;
  memcpy(a->bytes, text, length);
  return length;
}

/* Any spelling: the nearest float, and its loss. */
static void decimals_are_the_nearest_floats(void **state) {
  (void)state;
  static number_text numbers[NUMBERS];
  static archive file;
  random_state random = harness_seeded("decimals_are_the_nearest_floats");
  for (size_t f = 0; f < sizeof list_formats / sizeof *list_formats; f++)
    for (int kind = 0; kind < 5; kind++) {
      char error[400];
      mesh_data mesh;
      double loss = 0;
      for (int i = 0; i < NUMBERS; i++) {
        numbers[i] = make_number(&random, kind);
        loss = fmax(loss, fabs(numbers[i].right.wide - (double)numbers[i].right.narrow));
      }
      const list_format *format = &list_formats[f];
      const size_t size = list_bytes(format, numbers, &file);
      if (import_bytes(format->name, &(mesh_options){0}, &mesh, error, sizeof error, file.bytes, size))
        fail_msg("%s, kind %d: %s", format->name, kind, error);
      assert_int_equal(mesh.triangle_count, POINTS / 3);
      for (int i = 0; i < NUMBERS; i++) {
        const float got = mesh.vertices[3 * mesh.indices[i / 3] + (uint32_t)(i % 3)];
        if (got != numbers[i].right.narrow)
          fail_msg("%s: %s became %.9g, not %.9g", format->name, numbers[i].text, (double)got,
                   (double)numbers[i].right.narrow);
      }
      if (mesh.facts.worst_rounding != loss)
        fail_msg("%s, kind %d: a loss of %.17g, not %.17g", format->name, kind, mesh.facts.worst_rounding, loss);
      if (format->is_named) assert_string_equal(mesh.names, "plate 1.18"); /* which is no number to be spelled anew */
      mesh_free(&mesh);
    }
}

/* ---- UTF-16 ---- */

/* The text with its mark; each @ becomes characters of one, two, three and four bytes in UTF-8. */
static size_t in_utf16(const char *text, bool is_big, char *bytes) {
  static const uint16_t wide[] = {'n', 0xE9, 0x4E2D, 0xD83D, 0xDE00};
  size_t size = 0;
  for (const char *c = text - 1; c < text || *c; c++) {
    const uint16_t letter = c < text ? 0xFEFF : (unsigned char)*c, *units = *c == '@' && c >= text ? wide : &letter;
    for (size_t i = 0; i < (units == wide ? sizeof wide / sizeof *wide : 1); i++) {
      bytes[size++] = (char)(units[i] >> (is_big ? 8 : 0));
      bytes[size++] = (char)(units[i] >> (is_big ? 0 : 8));
    }
  }
  return size;
}

/* Read in both orders of bytes, with the name that is there; refused where a character is half or NUL. */
static void texts_in_utf16_are_read(void **state) {
  (void)state;
  static const struct {
    const char *name, *text;
    bool is_named;
  } files[] = {
      {"t.obj", "g @\nv 1 2 8\nv 5 2 8\nv 1 6 8\nf 1 2 3\n", true},
      {"t.stl",
       "solid @\nfacet normal 0 0 1\nouter loop\nvertex 1 2 8\nvertex 5 2 8\nvertex 1 6 8\nendloop\nendfacet\n"
       "endsolid\n",
       true},
      {"t.off", "OFF\n3 1 0 # @\n1 2 8\n5 2 8\n1 6 8\n3 0 1 2\n", false},
      {"t.ply",
       "ply\nformat ascii 1.0\ncomment @\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
       "element face 1\nproperty list uchar int vertex_indices\nend_header\n1 2 8\n5 2 8\n1 6 8\n3 0 1 2\n",
       false},
      {"t.amf", amf, false},
      {"bare", "# @\nv 1 2 8\nv 5 2 8\nv 1 6 8\nf 1 2 3\n", false},
  };
  static char bytes[2 * TEXT_MAX];
  for (size_t f = 0; f < sizeof files / sizeof *files; f++)
    for (int is_big = 0; is_big < 2; is_big++) {
      char error[400];
      mesh_data mesh;
      const size_t size = in_utf16(with(files[f].text, "", ""), is_big, bytes);
      if (import_bytes(files[f].name, &(mesh_options){0}, &mesh, error, sizeof error, bytes, size))
        fail_msg("%s: %s", files[f].name, error);
      has_corners(&mesh, own, files[f].name);
      if (files[f].is_named) assert_string_equal(mesh.names, "n\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80");
      mesh_free(&mesh);
      static const uint16_t broken[] = {0, 0xDE00, 0xD83D};
      for (int i = 0; i < 4; i++) { /* at the end, where nothing else is wrong; the last is half a unit */
        memcpy(bytes + size, (const char[]){(char)(broken[i % 3] >> 8), (char)broken[i % 3]}, 2);
        if (!is_big) bytes[size] = (char)broken[i % 3], bytes[size + 1] = (char)(broken[i % 3] >> 8);
        const size_t cut = i == 3 ? size - 1 : size + 2;
        assert_int_not_equal(import_bytes(files[f].name, &(mesh_options){0}, &mesh, error, sizeof error, bytes, cut),
                             0);
      }
    }
}

/* ---- nodes ---- */

static void small_moves_are_kept(void **state) {
  (void)state;
  static const double moves[] = {1e-3, 4e-3, 1e-5};
  char node[300], error[400];
  mesh_data mesh;
  for (int i = 0; i < 3; i++) {
    const double m = moves[i], want[9] = {m, 0, 5, 4 + m, 0, 5, m, 4, 5};
    snprintf(node, sizeof node, "<node id=\"n\"><translate>%g 0 0</translate><instance_geometry url=\"#g\"/></node>",
             m);
    assert_int_equal(import("t.dae", &(mesh_options){0}, &mesh, error, sizeof error, with(collada, "", node)), 0);
    has_corners(&mesh, want, "moved");
    mesh_free(&mesh);
  }
}

/* n nodes of one mesh, the last one mirrored: n - 1 places of one part, and triangles, whose front stays in front. */
static void repeated_nodes_are_places(void **state) {
  (void)state;
  for (int n = 3; n < 40; n += 9) {
    char nodes[TEXT_MAX / 2] = "", error[400];
    mesh_data mesh;
    for (int i = 0; i < n; i++)
      snprintf(nodes + strlen(nodes), 120,
               "<node id=\"n%d\"><translate>%d 0 0</translate>%s<instance_geometry url=\"#g\"/></node>", i, i,
               i + 1 == n ? "<scale>-1 1 1</scale>" : "");
    assert_int_equal(import("t.dae", &(mesh_options){0}, &mesh, error, sizeof error, with(collada, "", nodes)), 0);
    assert_int_equal(mesh.part_count, 2);
    assert_int_equal(mesh.triangle_count, 2);
    assert_int_equal(mesh.place_count, n - 1);
    assert_string_equal(mesh.names, "n0");
    for (int i = 0; i + 1 < n; i++) assert_true(mesh.places[12 * i + 3] == (float)i && mesh.places[12 * i] == 1);
    const float *a = mesh.vertices + 3 * mesh.indices[3], *b = mesh.vertices + 3 * mesh.indices[4],
                *c = mesh.vertices + 3 * mesh.indices[5];
    assert_true((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0);
    mesh_free(&mesh);
    assert_int_equal(
        import("t.dae", &(mesh_options){.one_geometry = true}, &mesh, error, sizeof error, with(collada, "", nodes)),
        0);
    assert_int_equal(mesh.part_count, 1);
    assert_int_equal(mesh.place_count, 0);
    assert_int_equal(mesh.triangle_count, n);
    mesh_free(&mesh);
  }
}

/* ---- losses ---- */

/* Refused with this reason; with skip_invalid read where something is left, and counted. */
static void is_lost(const char *name, const char *text, const char *reason, bool is_something_left) {
  char error[400], copy[TEXT_MAX];
  mesh_data mesh;
  strcpy(copy, text);
  if (import(name, &(mesh_options){0}, &mesh, error, sizeof error, copy) == 0)
    fail_msg("%s was read: no \"%s\"", name, reason);
  if (strstr(error, reason) == NULL) fail_msg("%s: \"%s\" says nothing of \"%s\"", name, error, reason);
  const int failed = import(name, &(mesh_options){.skip_invalid = true}, &mesh, error, sizeof error, copy);
  assert_int_equal(failed == 0, is_something_left);
  if (failed) return;
  assert_int_equal(mesh.facts.dropped, 1);
  assert_non_null(strstr(mesh.facts.first_dropped, reason));
  mesh_free(&mesh);
}

static void lost_geometry_is_refused(void **state) {
  (void)state;
  is_lost("t.dae", collada_of("", "<instance_node url=\"#gone\"/>"), "instanced node gone", true);
  is_lost("t.dae", collada_of("", "<instance_geometry url=\"#gone\"/>"), "geometry for ID \"gone\"", true);
  is_lost("t.dae", collada_of("", "<instance_geometry url=\"b.dae#g\"/>"), "Unknown reference format", false);
  is_lost("t.fbx", with(fbx, "", "-9"), "polygon vertex index out of range", false);
  is_lost("t.ase", with(ascii_3ds, "7", ""), "Invalid vertex index", true);
  is_lost("t.ac", with(ac3d, "0", "9"), "Invalid vertex reference", true);
  is_lost("t.ac", with(ac3d, "5", "2"), "material index is out of range", false);
  is_lost("t.dxf", with(autocad, "0\nINSERT\n2\nnowhere\n10\n0\n", ""), "block reference: nowhere", true);
  is_lost("t.raw", "0 0 0 1 0 0 0 1 0\n0 0 0 1 0 0\n", "9 or 12 floats", true);
}

/* Nodes alone are no skeleton of faces, and a long text from the library is not reported as a complaint of its own. */
static void nothing_is_made_up(void **state) {
  (void)state;
  char node[3200], long_name[3001], error[400];
  mesh_data mesh;
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = '\0';
  static const char *const nodes[] = {"<node id=\"a\"/>",
                                      "<node id=\"a\"><node id=\"b\"><translate>1 2 3</translate></node></node>"};
  for (int i = 0; i < 3; i++) {
    snprintf(node, sizeof node, "<node id=\"a\"><instance_geometry url=\"#%s\"/></node>", long_name);
    assert_int_not_equal(
        import("t.dae", &(mesh_options){0}, &mesh, error, sizeof error, with(collada, "", i < 2 ? nodes[i] : node)), 0);
    assert_string_equal(error, "it holds no triangles");
  }
}

/* The errors and warnings that are logged here are about materials, cameras and lights. */
static void other_faults_are_not(void **state) {
  (void)state;
  is_own("t.fbx", with(fbx, "", "-3"), 'y', 0.01); /* no material assigned to mesh */
  is_own("t.dae", collada_of("", "<instance_light url=\"#gone\"/>"), 0, 0);
  is_own("t.dae", collada_of("", "<instance_camera url=\"#gone\"/>"), 0, 0);
}

/* ---- other files ---- */

/* A scene that names another file: it is read beside the mesh file, or below, and nowhere else. */
static void other_files_stand_beside(void **state) {
  (void)state;
  static const char obj[] = "v 0 0 5\nv 4 0 5\nv 0 4 5\nf 1 2 3\n";
  static const char scene[] = "LWSC\n3\n\nFirstFrame 1\nLastFrame 60\n\nLoadObjectLayer 1 %s\n";
  static const struct {
    const char *name, *reason;
  } others[] = {{"../t.lwo", "\"../t.lwo\": it leaves the folder"},
                {"a/../../t.lwo", "it leaves the folder"},
                {"..\\t.lwo", "it leaves the folder"},
                {"/etc/passwd", "it is no name beside the mesh file"},
                {"C:\\t.lwo", "is an address, or has a drive"},
                {"file:///etc/passwd", "is an address, or has a drive"},
                {"five.lwo", "objects of LightWave 5 are read alone"},
                {"gone.lwo", "Failed to read external file gone.lwo"}};
  char path[128];
  blob five = {.size = 0};
  write_lwob(&five);
  snprintf(path, sizeof path, "%s/five.lwo", folder);
  put_file(path, five.bytes, five.size);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    is_lost("t.lws", with(scene, others[i].name, ""), others[i].reason, false);
  remove(path);
  snprintf(path, sizeof path, "%s/beside.obj", folder);
  put_file(path, obj, sizeof obj - 1);
  char error[400];
  mesh_data mesh;
  if (import("t.lws", &(mesh_options){0}, &mesh, error, sizeof error, with(scene, "beside.obj", "")))
    fail_msg("%s", error);
  assert_int_equal(mesh.triangle_count, 1);
  mesh_free(&mesh);
  remove(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coordinates_are_the_files_own),
      cmocka_unit_test(subdivision_is_left_out),
      cmocka_unit_test(binary_coordinates_are_the_files_own),
      cmocka_unit_test(collada_is_not_turned_or_scaled),
      cmocka_unit_test(archives_tell_their_unit),
      cmocka_unit_test(archives_hold_collada),
      cmocka_unit_test(extensions_of_3mf_are_refused),
      cmocka_unit_test(options_turn_and_scale),
      cmocka_unit_test(decimals_are_the_nearest_floats),
      cmocka_unit_test(texts_in_utf16_are_read),
      cmocka_unit_test(small_moves_are_kept),
      cmocka_unit_test(repeated_nodes_are_places),
      cmocka_unit_test(lost_geometry_is_refused),
      cmocka_unit_test(other_faults_are_not),
      cmocka_unit_test(nothing_is_made_up),
      cmocka_unit_test(other_files_stand_beside),
  };
  if (mkdtemp(folder) == NULL) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  remove(folder);
  return failed;
}
