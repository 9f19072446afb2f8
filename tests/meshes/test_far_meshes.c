/* Mesh files far from 0. A mesh on a grid is written near 0 and far away, in every format that the program reads itself
 * and in one of the import library's. The far one is taken in double, and is the near one less the distance, bit by
 * bit. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/formatted.h"
#include "harness.h"
#include "program/mesh/mesh.h"

enum { SIDE = 6, POINTS = SIDE * SIDE, NOTCHED = 6, TEXT_MAX = 1 << 18 };

static char folder[] = "/tmp/slabcast-far-XXXXXX";

/* Floats are 0.5 apart in the first of these, and 0.03 in the second. All is a multiple of 2^-10, as points are. */
static const double away[3] = {4194304.25, -445000.125, 300.5};

static double on_grid(random_state *random, uint32_t most) {
  return (double)random_below(random, most << 10) * 0x1p-10;
}

typedef struct model {
  double points[POINTS + NOTCHED][3];
} model;

/* A rough square of 6 x 6 points, two of which the same float has when far away; and a hexagon with a notch. */
static model make_model(random_state *random) {
  static const double notched[NOTCHED][2] = {{0, 0},          {0.25, 0}, {0.25, 0.25},
                                             {0.125, 0.0625}, {0, 0.25}, {0.0625, 0.125}};
  model m;
  for (int i = 0; i < POINTS; i++) {
    m.points[i][0] = 8 * (i % SIDE) + on_grid(random, 4);
    m.points[i][1] = 8 * (i / SIDE) + on_grid(random, 4);
    m.points[i][2] = on_grid(random, 16);
  }
  memcpy(m.points[1], m.points[0], sizeof m.points[1]);
  m.points[1][0] += 0x1p-10;
  for (int i = 0; i < NOTCHED; i++)
    memcpy(m.points[POINTS + i], (double[]){notched[i][0], notched[i][1], 5}, 3 * sizeof(double));
  return m;
}

/* ---- files ---- */

typedef struct text {
  char bytes[TEXT_MAX];
  size_t size;
} text;

static void say(text *t, const char *format, ...) FORMATTED(2, 3);

static void say(text *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  t->size += (size_t)vsnprintf(t->bytes + t->size, sizeof t->bytes - t->size, format, arguments);
  va_end(arguments);
  assert_true(t->size < sizeof t->bytes);
}

static void say_point(text *t, const model *m, int i, const double move[3]) {
  for (int k = 0; k < 3; k++) say(t, "%.10f%s", m->points[i][k] + move[k], k < 2 ? " " : "\n");
}

/* The corners of face `i`, counted from 0: squares, then the hexagon. */
static int corners_of(int i, int corners[NOTCHED]) {
  const int squares = (SIDE - 1) * (SIDE - 1), first = i / (SIDE - 1) * SIDE + i % (SIDE - 1);
  const int square[] = {first, first + 1, first + SIDE + 1, first + SIDE};
  if (i < squares) memcpy(corners, square, sizeof square);
  for (int k = 0; i >= squares && k < NOTCHED; k++) corners[k] = POINTS + k;
  return i < squares ? 4 : i == squares ? NOTCHED : 0;
}

static void say_faces(text *t, const char *before, int first, bool counted) {
  int corners[NOTCHED];
  for (int i = 0, n; (n = corners_of(i, corners)) > 0; i++) {
    say(t, "%s", before);
    if (counted) say(t, "%d", n);
    for (int k = 0; k < n; k++) say(t, " %d", corners[k] + first);
    say(t, "\n");
  }
}

static int face_count(void) {
  int corners[NOTCHED], count = 0;
  while (corners_of(count, corners) > 0) count++;
  return count;
}

/* With a vertex at 0 that no face names: an unseen vertex decides nothing. */
static void write_obj(text *t, const model *m, const double move[3]) {
  for (int i = 0; i < POINTS + NOTCHED; i++) say(t, "v "), say_point(t, m, i, move);
  say(t, "v 0 0 0\n");
  say_faces(t, "f", 1, false);
}

static void write_off(text *t, const model *m, const double move[3]) {
  say(t, "OFF\n%d %d 0\n", POINTS + NOTCHED, face_count());
  for (int i = 0; i < POINTS + NOTCHED; i++) say_point(t, m, i, move);
  say_faces(t, "", 0, true);
}

static void say_ply_header(text *t, const char *format) {
  say(t, "ply\nformat %s 1.0\nelement vertex %d\nproperty double x\nproperty double y\nproperty double z\n", format,
      POINTS + NOTCHED);
  say(t, "element face %d\nproperty list uchar int vertex_indices\nend_header\n", face_count());
}

static void write_ply(text *t, const model *m, const double move[3]) {
  say_ply_header(t, "ascii");
  for (int i = 0; i < POINTS + NOTCHED; i++) say_point(t, m, i, move);
  say_faces(t, "", 0, true);
}

static void put(text *t, uint64_t bits, unsigned size, bool is_big) {
  for (unsigned k = 0; k < size; k++) t->bytes[t->size++] = (char)(bits >> 8 * (is_big ? size - 1 - k : k));
}

static void write_binary_ply(text *t, const model *m, const double move[3], bool is_big) {
  int corners[NOTCHED];
  say_ply_header(t, is_big ? "binary_big_endian" : "binary_little_endian");
  for (int i = 0; i < 3 * (POINTS + NOTCHED); i++) {
    const double number = m->points[i / 3][i % 3] + move[i % 3];
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    put(t, bits, 8, is_big);
  }
  for (int i = 0, n; (n = corners_of(i, corners)) > 0; i++) {
    put(t, (uint64_t)n, 1, is_big);
    for (int k = 0; k < n; k++) put(t, (uint64_t)corners[k], 4, is_big);
  }
}

static void write_little_ply(text *t, const model *m, const double move[3]) { write_binary_ply(t, m, move, false); }
static void write_big_ply(text *t, const model *m, const double move[3]) { write_binary_ply(t, m, move, true); }

/* Facets of as many vertices as the faces have. */
static void write_stl(text *t, const model *m, const double move[3]) {
  int corners[NOTCHED];
  say(t, "solid s\n");
  for (int i = 0, n; (n = corners_of(i, corners)) > 0; i++) {
    say(t, "facet normal 0 0 1\nouter loop\n");
    for (int k = 0; k < n; k++) say(t, "vertex "), say_point(t, m, corners[k], move);
    say(t, "endloop\nendfacet\n");
  }
  say(t, "endsolid s\n");
}

typedef void writer(text *, const model *, const double move[3]);

static const struct {
  const char *name;
  writer *write;
} formats[] = {{"m.obj", write_obj},        {"m.off", write_off},     {"m.ply", write_ply},
               {"l.ply", write_little_ply}, {"b.ply", write_big_ply}, {"m.stl", write_stl}};

static const size_t format_count = sizeof formats / sizeof *formats;

static void path_of(const char *name, char path[300]) { snprintf(path, 300, "%s/%s", folder, name); }

static void write_file(const char *name, const text *t, char path[300]) {
  path_of(name, path);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(t->bytes, 1, t->size, file), t->size);
  assert_int_equal(fclose(file), 0);
}

static mesh_data import(const char *name, const text *t, mesh_options options) {
  char path[300], error[400] = "";
  mesh_data mesh;
  write_file(name, t, path);
  if (mesh_import(path, &options, &mesh, error, sizeof error) != 0) fail_msg("%s: %s", name, error);
  assert_true((mesh.vertices == NULL) != (mesh.vertices64 == NULL));
  remove(path);
  return mesh;
}

static mesh_data import_model(size_t format, const model *m, const double move[3], mesh_numbers numbers) {
  static text t;
  t.size = 0;
  formats[format].write(&t, m, move);
  return import(formats[format].name, &t, (mesh_options){.numbers = numbers});
}

/* ---- their meshes ---- */

static const double nowhere[3] = {0, 0, 0};

/* The same triangles over the same vertices, `away` apart. */
static void are_apart(const mesh_data *near, const mesh_data *far, const char *name) {
  if (near->vertices == NULL || far->vertices64 == NULL) fail_msg("%s: near or far is not what it should be", name);
  if (near->vertex_count != far->vertex_count)
    fail_msg("%s: %u vertices near, %u far", name, near->vertex_count, far->vertex_count);
  assert_int_equal(near->triangle_count, far->triangle_count);
  assert_memory_equal(near->indices, far->indices, near->triangle_count * 3 * sizeof *near->indices);
  for (size_t i = 0; i < 3 * (size_t)near->vertex_count; i++)
    if (far->vertices64[i] - away[i % 3] != (double)near->vertices[i])
      fail_msg("%s: %.17g far, %.9g near", name, far->vertices64[i], (double)near->vertices[i]);
  assert_true(far->facts.worst_rounding == 0);
}

static void far_mesh_is_the_near_one_elsewhere(void **state) {
  (void)state;
  random_state random = harness_seeded("far_mesh_is_the_near_one_elsewhere");
  for (int round = 0; round < 20; round++) {
    const model m = make_model(&random);
    for (size_t f = 0; f < format_count; f++) {
      mesh_data near = import_model(f, &m, nowhere, MESH_DOUBLES_WHERE_FAR);
      mesh_data far = import_model(f, &m, away, MESH_DOUBLES_WHERE_FAR);
      are_apart(&near, &far, formats[f].name);
      assert_int_equal(near.vertex_count, POINTS + NOTCHED);
      mesh_free(&near);
      mesh_free(&far);
    }
  }
}

/* Floats: as they always were, with what that lost. Doubles: near 0 too. */
static void numbers_are_what_is_asked_for(void **state) {
  (void)state;
  random_state random = harness_seeded("numbers_are_what_is_asked_for");
  const model m = make_model(&random);
  for (size_t f = 0; f < format_count; f++) {
    mesh_data floats = import_model(f, &m, away, MESH_FLOATS), doubles = import_model(f, &m, nowhere, MESH_DOUBLES);
    assert_non_null(floats.vertices);
    assert_non_null(doubles.vertices64);
    assert_true(floats.facts.worst_rounding > 0.1 && floats.facts.worst_rounding <= 0.25);
    assert_true(floats.vertex_count < doubles.vertex_count);
    for (uint32_t i = 0; i < floats.vertex_count; i++)
      assert_true(floats.vertices[3 * i] == rintf(floats.vertices[3 * i] * 2) / 2);
    mesh_free(&floats);
    mesh_free(&doubles);
  }
}

static mesh_data import_text(const char *name, const char *bytes, mesh_options options) {
  static text t;
  t.size = 0;
  say(&t, "%s", bytes);
  return import(name, &t, options);
}

/* The rule of program/io/far.h: its loss is a millionth of the size. */
static void only_where_it_shows(void **state) {
  (void)state;
  static const struct {
    const char *obj;
    bool is_double;
  } cases[] = {
      {"v 5e6 0 0\nv 5.4e6 0.1 0\nv 5e6 1 0\nf 1 2 3\n", false},          /* is 4e5 in size */
      {"v 5e6 0 0\nv 5.2e6 0.1 0\nv 5e6 1 0\nf 1 2 3\n", true},           /* is 2e5 */
      {"v 4701977.06 0 0\nv 5000000.26 1 0\nv 5e6 1 0\nf 1 2 3\n", true}, /* as floats it is larger by 0.3 */
      {"v 5000000 0 0\nv 5000001 1 0\nv 5000000 1 0\nf 1 2 3\n", false},  /* floats */
      {"v 0.1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\n", false},
      {"v 5e6 0 0\nv 5000000.1 0 0\nv 5e6 0.1 0\nf 1 2 3\n", true},
      {"v 5000000.1 7e6 9e6\nv 5000000.15 7e6 9e6\nv 5000000.2 7e6 9e6\nf 1 2 3\n", true}, /* one point, as floats */
      {"v 0.1 0.1 0.1\nv 0.1 0.1 0.1\nf 1 1 2\n", false},                                  /* no size */
      {"v nan 0 0\nv 5000000.1 0 0\nv 5000001 0 0\nv 5e6 0.1 0\nf 2 3 4\nf 1 2 3\n", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mesh_data mesh = import_text("c.obj", cases[i].obj, (mesh_options){.skip_invalid = true});
    if ((mesh.vertices64 != NULL) != cases[i].is_double) fail_msg("case %zu", i);
    assert_int_equal(mesh.facts.dropped, strstr(cases[i].obj, "nan") != NULL);
    mesh_free(&mesh);
  }
}

static void zeros_are_one_vertex(void **state) {
  (void)state;
  static const char two[] = "v 5000000.1 0 0\nv 5000001 1 0\nv 5e6 1 0\nv 5000000.1 -0 -0\nf 1 2 3\nf 4 2 3\n";
  mesh_data mesh = import_text("z.obj", two, (mesh_options){0});
  assert_non_null(mesh.vertices64);
  assert_int_equal(mesh.vertex_count, 3);
  mesh_free(&mesh);
}

/* ---- glTF: vertices near 0, in nodes far away ---- */

#define TRIANGLE_OF_FLOATS "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA" /* (0 0 0) (1 0 0) (0 1 0) */
#define GLTF(nodes, list)                                                                                           \
  "{\"asset\": {\"version\": \"2.0\"}, \"scenes\": [{\"nodes\": [" list "]}], \"nodes\": [" nodes                   \
  "],"                                                                                                              \
  "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}], \"accessors\": [{\"bufferView\": 0,"      \
  "\"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\"}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": " \
  "36}], \"buffers\": [{\"byteLength\": 36, \"uri\": \"data:application/octet-stream;base64," TRIANGLE_OF_FLOATS    \
  "\"}]}"
#define NODE(x, y) "{\"mesh\": 0, \"translation\": [" #x "," #y ", 0.1]}"

static void far_node_keeps_its_place(void **state) {
  (void)state;
  mesh_data mesh = import_text("n.gltf", GLTF(NODE(445123.3, 5403210.3), "0"), (mesh_options){0});
  const double *v = mesh.vertices64;
  assert_non_null(v);
  assert_int_equal(mesh.place_count, 0);
  assert_true(v[0] == 445123.3 && v[1] == 5403210.3 && v[2] == 0.1 && v[3] == 445123.3 + 1 && v[7] == 5403210.3 + 1);
  mesh_free(&mesh);
}

/* In floats a loss in the positions of places is reported; in double there is none. */
static void far_places_keep_their_digits(void **state) {
  (void)state;
  static const char two[] = GLTF(NODE(445123.3, 5403210.3) "," NODE(445125.3, 5403211.3), "0, 1");
  mesh_data mesh = import_text("p.gltf", two, (mesh_options){0});
  assert_non_null(mesh.vertices64);
  assert_int_equal(mesh.place_count, 2);
  assert_true(mesh.places[3] == 445123.3 && mesh.places[7] == 5403210.3 && mesh.places[11] == 0.1);
  assert_true(mesh.places[MESH_PLACE + 3] == 445125.3 && mesh.places[MESH_PLACE + 7] == 5403211.3);
  assert_true(mesh.vertices64[3] == 1 && mesh.facts.worst_rounding == 0);
  mesh_free(&mesh);
  mesh = import_text("p.gltf", two, (mesh_options){.numbers = MESH_FLOATS});
  assert_non_null(mesh.vertices);
  assert_true(mesh.places[7] == 5403210.3 && mesh.facts.worst_rounding == fabs((double)5403210.3f - 5403210.3));
  mesh_free(&mesh);
  mesh = import_text("p.gltf", two, (mesh_options){.up = 'z', .unit = 0.001});
  assert_non_null(mesh.vertices64);
  assert_true(mesh.places[11] == 5403210.3 * 1000 && mesh.places[7] == -0.1 * 1000);
  mesh_free(&mesh);
}

/* Of places that lie far apart, nothing is far. */
static void near_places_stay_floats(void **state) {
  (void)state;
  mesh_data mesh = import_text("f.gltf", GLTF(NODE(0.1, 0.1) "," NODE(445125.3, 5403211.3), "0, 1"), (mesh_options){0});
  assert_non_null(mesh.vertices);
  mesh_free(&mesh);
}

/* ---- through the child ---- */

static void it_comes_through_the_child(void **state) {
  (void)state;
  static text t;
  random_state random = harness_seeded("it_comes_through_the_child");
  const model m = make_model(&random);
  for (int far = 0; far < 2; far++) {
    char path[300], error[400] = "";
    mesh_data mesh;
    mesh_data own = import_model(0, &m, far ? away : nowhere, MESH_DOUBLES_WHERE_FAR);
    t.size = 0;
    write_obj(&t, &m, far ? away : nowhere);
    write_file("c.obj", &t, path);
    if (mesh_read(path, &(mesh_options){0}, &mesh, error, sizeof error) != 0) fail_msg("%s", error);
    assert_true((mesh.vertices64 != NULL) == far && (mesh.vertices == NULL) == far);
    assert_int_equal(mesh.vertex_count, own.vertex_count);
    assert_memory_equal(far ? (void *)mesh.vertices64 : mesh.vertices, far ? (void *)own.vertices64 : own.vertices,
                        own.vertex_count * 3 * (far ? sizeof(double) : sizeof(float)));
    mesh_free(&mesh);
    if (mesh_read(path, &(mesh_options){.numbers = MESH_FLOATS}, &mesh, error, sizeof error) != 0)
      fail_msg("%s", error);
    assert_non_null(mesh.vertices);
    mesh_free(&mesh);
    mesh_free(&own);
    remove(path);
  }
}

/* ---- the import library ---- */

#ifdef SLABCAST_ASSIMP
#define COLLADA(points, node)                                                                                        \
  "<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\"><library_geometries><geometry " \
  "id=\"g\"><mesh><source id=\"p\"><float_array id=\"a\" count=\"9\">" points                                        \
  "</float_array><technique_common><accessor source=\"#a\" count=\"3\" stride=\"3\"><param name=\"X\" "              \
  "type=\"float\"/><param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor>"                  \
  "</technique_common></source><vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>"           \
  "<triangles count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1 2</p></triangles></mesh>"    \
  "</geometry></library_geometries><library_visual_scenes><visual_scene id=\"s\"><node id=\"n\">" node               \
  "<instance_geometry url=\"#g\"/></node></visual_scene></library_visual_scenes><scene>"                             \
  "<instance_visual_scene url=\"#s\"/></scene></COLLADA>"

/* The library has floats. Which decimal each was is known where it was one alone; else it stays a float, and that is
 * reported. */
static void decimals_of_the_library_are_found_again(void **state) {
  (void)state;
  mesh_data mesh = import_text("d.dae", COLLADA("445123.3 5403210.3 0 445125.3 5403211.3 0 445127.3 5403219.3 0", ""),
                               (mesh_options){0});
  assert_non_null(mesh.vertices64);
  assert_true(mesh.vertices64[1] == 5403210.3 && mesh.vertices64[4] == 5403211.3 && mesh.vertices64[6] == 445127.3);
  assert_true(mesh.facts.worst_rounding == 0);
  mesh_free(&mesh);
  mesh = import_text("d.dae", COLLADA("445123.3 5403210.3 0 445125.3 5403210.4 0 445127.3 5403219.3 0", ""),
                     (mesh_options){0});
  assert_non_null(mesh.vertices64);
  assert_true(mesh.vertices64[1] == 5403210.5 && mesh.vertices64[4] == 5403210.5 && mesh.vertices64[7] == 5403219.3);
  assert_true(mesh.facts.worst_rounding == 5403210.5 - 5403210.3);
  mesh_free(&mesh);
  mesh = import_text("d.dae", COLLADA("445123.3 5403210.5 0 445125.3 5403210.4 0 445127.3 5403219.3 0", ""),
                     (mesh_options){0});
  assert_true(mesh.vertices64 && mesh.vertices64[4] == 5403210.5 && mesh.facts.worst_rounding == 5403210.5 - 5403210.4);
  mesh_free(&mesh);
}

static void node_of_the_library_keeps_its_place(void **state) {
  (void)state;
  static const char far[] =
      COLLADA("0 0 0 0.5 0 0 0 0.5 0", "<matrix>1 0 0 445123.3 0 1 0 5403210.3 0 0 1 0 0 0 0 1</matrix>");
  mesh_data mesh = import_text("n.dae", far, (mesh_options){0});
  assert_non_null(mesh.vertices64);
  assert_true(mesh.vertices64[0] == 445123.3 && mesh.vertices64[1] == 5403210.3 &&
              mesh.vertices64[3] == 445123.3 + 0.5);
  assert_true(mesh.facts.worst_rounding == 0);
  mesh_free(&mesh);
}
#endif

int main(int argc, char **argv) {
  const int child = mesh_child_main(argc, argv);
  if (child >= 0) return child;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(far_mesh_is_the_near_one_elsewhere),
      cmocka_unit_test(numbers_are_what_is_asked_for),
      cmocka_unit_test(only_where_it_shows),
      cmocka_unit_test(zeros_are_one_vertex),
      cmocka_unit_test(far_node_keeps_its_place),
      cmocka_unit_test(far_places_keep_their_digits),
      cmocka_unit_test(near_places_stay_floats),
      cmocka_unit_test(it_comes_through_the_child),
#ifdef SLABCAST_ASSIMP
      cmocka_unit_test(decimals_of_the_library_are_found_again),
      cmocka_unit_test(node_of_the_library_keeps_its_place),
#endif
  };
  if (mkdtemp(folder) == NULL) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  remove(folder);
  return failed;
}
