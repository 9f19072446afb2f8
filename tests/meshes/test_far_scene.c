/* Mesh files far from 0 as geometry: rays meet them as they meet the same mesh near 0, bit by bit, in parts and in
 * places. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "program/common/scene_mesh.h"
#include "program/io/errors.h"

enum { SIDE = 12, RAYS_A_SIDE = 60, RAYS = RAYS_A_SIDE * RAYS_A_SIDE };

static char folder[] = "/tmp/slabcast-scene-XXXXXX";
static slab_context *context;

static const double nowhere[3] = {0, 0, 0}, away[3] = {4194304.25, -445000.125, 300.5};

/* The program's own is in its main. */
void complain(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
}

/* ---- files ---- */

/* A rough sheet in three groups. A triangle beside it, above all rays, keeps these within the bounds. */
static void write_sheet(FILE *file, const double move[3]) {
  random_state random = random_seed(1);
  for (int i = 0; i < SIDE * SIDE; i++) {
    const double at[] = {4 * (i % SIDE), 4 * (i / SIDE), 0};
    fprintf(file, "v");
    for (int k = 0; k < 3; k++) fprintf(file, " %.10f", at[k] + random_below(&random, 2048) * 0x1p-10 + move[k]);
    fprintf(file, "\n");
  }
  for (int i = 1; i <= 3; i++) fprintf(file, "v %.10f %.10f %.10f\n", move[0] - i, move[1] - i % 2, move[2] + 80);
  fprintf(file, "f -1 -2 -3\n");
  for (int row = 0; row < SIDE - 1; row++) {
    if (row % 4 == 0) fprintf(file, "g rows%d\n", row);
    for (int i = row * SIDE + 1; i < (row + 1) * SIDE; i++)
      fprintf(file, "f %d %d %d %d\n", i, i + 1, i + SIDE + 1, i + SIDE);
  }
}

/* Two slopes of 16 x 16 in two places each, and one above all rays. */
static void write_places(FILE *file, const double move[3]) {
  static const double places[5][3] = {{0, 0}, {20.5, 0}, {3, 25.25}, {24, 22}, {-40, -40, 80}};
  fprintf(file, "{\"asset\": {\"version\": \"2.0\"}, \"scenes\": [{\"nodes\": [0, 1, 2, 3, 4]}], \"nodes\": [");
  for (int i = 0; i < 5; i++)
    fprintf(file, "%s{\"mesh\": %d, \"name\": \"n%d\", \"translation\": [%.10f, %.10f, %.10f]}", i ? ", " : "",
            i / 2 % 2, i, places[i][0] + move[0], places[i][1] + move[1], places[i][2] + move[2]);
  fprintf(file, "], \"meshes\": [");
  for (int i = 0; i < 2; i++) fprintf(file, "%s{\"primitives\": [{\"attributes\": {\"POSITION\": 0}}]}", i ? ", " : "");
  fprintf(file,
          "], \"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\"}], "
          "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 36}], \"buffers\": [{\"byteLength\": 36, \"uri\": "
          "\"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAQQAAAAAAAIA/AAAAAAAAgEEAAABA\"}]}\n");
}

/* ---- scenes ---- */

typedef struct loaded {
  slab_scene *scene;
  scene_parts parts;
  bool in_double;
  double worst_rounding;
} loaded;

static loaded load(const char *name, void (*write)(FILE *, const double[3]), const double move[3],
                   mesh_numbers numbers) {
  char path[300];
  loaded l = {.worst_rounding = -1};
  const scene_outputs outputs = {0};
  const slab_build_options build = {0};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  write(file, move);
  assert_int_equal(fclose(file), 0);
  assert_ok(slab_scene_create(context, &l.scene));
  const scene_mesh_target to = {.context = context,
                                .scene = l.scene,
                                .build = &build,
                                .parts = &l.parts,
                                .outputs = &outputs,
                                .numbers = numbers,
                                .in_double = &l.in_double};
  assert_int_equal(scene_mesh_add(path, &(mesh_options){0}, &to, &l.worst_rounding), EXIT_DONE);
  assert_ok(slab_scene_commit(l.scene, &build));
  remove(path);
  return l;
}

static void unload(loaded *l) {
  scene_parts_free(&l->parts);
  slab_scene_destroy(l->scene);
}

/* Rays straight down. Returns how many hit. */
static int cast(const loaded *l, const double move[3], slab_hit64 hits[RAYS]) {
  static slab_ray64 rays[RAYS];
  int count = 0;
  for (int i = 0; i < RAYS; i++)
    rays[i] = (slab_ray64){.origin = {move[0] + 0.8125 * (i % RAYS_A_SIDE) + 0x1p-10,
                                      move[1] + 0.8125 * (i / RAYS_A_SIDE) + 0x1p-9, move[2] + 64},
                           .direction = {0, 0, -1},
                           .t_max = 1e9};
  const slab_source source = {.rays64 = rays, .n = RAYS};
  memset(hits, 0, RAYS * sizeof *hits);
  assert_ok(slab_cast(l->scene, SLAB_CLOSEST, &source, &(slab_results){.memory = hits}, NULL));
  for (int i = 0; i < RAYS; i++) count += hits[i].primitive != SLAB_MISS;
  return count;
}

static void are_the_same(const char *name, void (*write)(FILE *, const double[3]), int least) {
  static slab_hit64 near_hits[RAYS], far_hits[RAYS];
  loaded near = load(name, write, nowhere, MESH_DOUBLES_WHERE_FAR),
         far = load(name, write, away, MESH_DOUBLES_WHERE_FAR);
  assert_true(!near.in_double && far.in_double && far.worst_rounding == 0);
  assert_true(cast(&near, nowhere, near_hits) > least && cast(&far, away, far_hits) > least);
  for (int i = 0; i < RAYS; i++)
    if (memcmp(&near_hits[i], &far_hits[i], sizeof near_hits[i]) != 0)
      fail_msg("%s, ray %d: t %.17g of %u, %u near, %.17g of %u, %u far", name, i, near_hits[i].t,
               near_hits[i].geometry, near_hits[i].primitive, far_hits[i].t, far_hits[i].geometry,
               far_hits[i].primitive);
  assert_int_equal(near.parts.count, far.parts.count);
  for (size_t i = 0; i < near.parts.count; i++) assert_string_equal(near.parts.at[i].name, far.parts.at[i].name);
  unload(&near);
  unload(&far);
}

static void parts_are_hit_as_near_ones(void **state) {
  (void)state;
  are_the_same("sheet.obj", write_sheet, RAYS / 2);
}

static void places_are_hit_as_near_ones(void **state) {
  (void)state;
  are_the_same("places.gltf", write_places, 4 * 180); /* each has an area of 128, and there are 1.5 rays for each */
}

static void floats_are_floats_where_asked_for(void **state) {
  (void)state;
  loaded sheet = load("sheet.obj", write_sheet, away, MESH_FLOATS);
  loaded places = load("places.gltf", write_places, away, MESH_FLOATS);
  assert_true(!sheet.in_double && sheet.worst_rounding > 0.1 && !places.in_double);
  unload(&sheet);
  unload(&places);
}

int main(int argc, char **argv) {
  const int child = mesh_child_main(argc, argv);
  if (child >= 0) return child;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_are_hit_as_near_ones),
      cmocka_unit_test(places_are_hit_as_near_ones),
      cmocka_unit_test(floats_are_floats_where_asked_for),
  };
  context = harness_context();
  if (mkdtemp(folder) == NULL) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  slab_context_destroy(context);
  remove(folder);
  return failed;
}
