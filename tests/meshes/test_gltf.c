/* glTF files of every kind, made at random, against the places of their triangles by other formulas. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_gltf.h"
#include "program/mesh/mesh.h"

static char folder[] = "/tmp/slabcast-gltf-XXXXXX";

/* Corner `c` of a triangle, at a place of its part; NULL: where it is. */
static void corner_at(const mesh_data *mesh, size_t triangle, int c, const double *place, double p[3]) {
  static const double home[MESH_PLACE] = {[0] = 1, [5] = 1, [10] = 1};
  const size_t first = 3 * (size_t)mesh->indices[3 * triangle + (size_t)c];
  double v[3];
  for (int k = 0; k < 3; k++)
    v[k] = mesh->vertices64 ? mesh->vertices64[first + (size_t)k] : (double)mesh->vertices[first + (size_t)k];
  for (int k = 0; k < 3; k++) {
    const double *row = (place ? place : home) + 4 * k;
    p[k] = row[0] * v[0] + row[1] * v[1] + row[2] * v[2] + row[3];
  }
}

/* Parts and places follow the nodes, so triangles have an order. */
static void are_as_made(const mesh_data *mesh, const made_gltf *made) {
  size_t got = 0, triangle = 0, place = 0;
  const double slack = (mesh->vertices64 ? 1e-14 : 1e-6) * made->size;
  for (uint32_t part = 0; part < mesh->part_count; part++) {
    const mesh_part *p = &mesh->parts[part];
    for (uint32_t at = 0; at < p->place_count + (p->place_count == 0); at++) {
      const double *m = p->place_count ? mesh->places + (place + at) * MESH_PLACE : NULL;
      for (size_t i = 0; i < p->triangle_count; i++, got++) {
        assert_true(got < made->triangles);
        for (int c = 0; c < 3; c++) {
          double corner[3];
          corner_at(mesh, triangle + i, c, m, corner);
          for (int k = 0; k < 3; k++) assert_true(fabs(corner[k] - made->corners[got][3 * c + k]) <= slack);
        }
      }
    }
    triangle += p->triangle_count;
    place += p->place_count;
  }
  assert_int_equal(got, made->triangles);
}

/* One file in every container: with places, and as one geometry; in floats, in doubles, and in what it needs. */
static void read_made(random_state *random, made_container container) {
  char path[256], beside[300], error[400] = "";
  snprintf(path, sizeof path, "%s/made.%s", folder, made_ending(container));
  snprintf(beside, sizeof beside, "%s bytes.bin", path);
  const made_gltf made = make_gltf(random, container, path);
  for (int way = 0; way < 6; way++) {
    const bool one = way % 2 != 0;
    mesh_data mesh;
    const mesh_options options = {.one_geometry = one, .numbers = (mesh_numbers)(way / 2)};
    const int failed = mesh_import(path, &options, &mesh, error, sizeof error);
    if (failed) fail_msg("%s", error);
    assert_int_equal(mesh.facts.up, 'y');
    assert_true(mesh.facts.unit == 1);
    if (one) assert_int_equal(mesh.part_count, 1);
    if (!one && made.uses > 1) assert_int_equal(mesh.place_count, made.uses);
    if (options.numbers != MESH_DOUBLES_WHERE_FAR)
      assert_int_equal(mesh.vertices64 != NULL, options.numbers == MESH_DOUBLES);
    are_as_made(&mesh, &made);
    mesh_free(&mesh);
  }
  remove(path);
  remove(beside);
}

static void triangles_stand_where_nodes_put_them(void **state) {
  (void)state;
  random_state random = harness_seeded("gltf");
  for (int i = 0; i < 400; i++) read_made(&random, (made_container)(i % (MADE_UNCOUNTED + 1)));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(triangles_stand_where_nodes_put_them)};
  if (mkdtemp(folder) == NULL) return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  remove(folder);
  return failed;
}
