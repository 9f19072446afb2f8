/* How often surfaces surround points: closed meshes judged exactly, whatever the direction; solids, instances, masks,
 * and refusals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "harness.h"
#include "sets/lattice.h"
#include "sets/points.h"
#include "sets/tetrahedra.h"

enum { POINTS = 512 };

static const slab_tree trees[] = {SLAB_TREE_FLAT, SLAB_TREE_FAST, SLAB_TREE_HIGH};
enum { TREES = sizeof trees / sizeof *trees };

/* ---- asking ---- */

/* Each answer must be right by both references. */
static void ask(slab_scene *scene, const float *points, size_t n, const slab_point_options *options,
                int32_t *windings) {
  slab_check_report report;
  assert_ok(slab_winding(scene, points, n, windings, options));
  assert_ok(slab_check_points(scene, SLAB_WINDING, points, n, windings, options, &report));
  if (report.mismatches + report.oracle_wrong != 0) fail_msg("%s", report.text);
  harness_count(n);
}

static int32_t ask_one(slab_scene *scene, float x, float y, float z) {
  const float point[3] = {x, y, z};
  int32_t winding;
  ask(scene, point, 1, NULL, &winding);
  return winding;
}

static slab_scene *of_mesh(slab_context *context, const lattice_mesh *mesh, slab_tree tree) {
  static const int origin[3] = {0, 0, 0};
  slab_scene *scene = harness_scene(context);
  assert_ok(lattice_add(scene, mesh, origin));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = tree}));
  return scene;
}

static void turn_inside_out(lattice_mesh *mesh) {
  for (uint32_t i = 0; i < mesh->triangle_count; i++) {
    const uint32_t kept = mesh->indices[i][0];
    mesh->indices[i][0] = mesh->indices[i][1];
    mesh->indices[i][1] = kept;
  }
}

/* ---- closed meshes ---- */

/* A point on the border has the answer of the one beside it, moved by (e, e^2, -d). */
static void box_holds_its_lattice(void **state) {
  static const int size[3] = {4, 3, 2};
  float points[3 * 2000];
  int32_t want[2000], got[2000];
  size_t n = 0;
  lattice_mesh box = {0};
  lattice_box(&box, size);
  for (int x = -1; x <= 9; x++)
    for (int y = -1; y <= 7; y++)
      for (int z = -1; z <= 5; z++) {
        const float p[3] = {0.5f * (float)x, 0.5f * (float)y, 0.5f * (float)z};
        memcpy(points + 3 * n, p, sizeof p);
        want[n++] = x >= 0 && x < 8 && y >= 0 && y < 6 && z > 0 && z <= 4;
      }
  for (int inward = 0; inward < 2; inward++) {
    for (int tree = 0; tree < TREES; tree++) {
      slab_scene *scene = of_mesh(*state, &box, trees[tree]);
      ask(scene, points, n, NULL, got);
      assert_same_bits(got, want, n, sizeof *got);
      slab_scene_destroy(scene);
    }
    turn_inside_out(&box);
    for (size_t i = 0; i < n; i++) want[i] = -want[i];
  }
}

static void compare_tetrahedra(slab_context *context, const tetrahedra *t, const float *points, int32_t *got) {
  for (int tree = 0; tree < TREES; tree++) {
    slab_scene *scene = harness_scene(context);
    assert_ok(tetrahedra_add(t, scene));
    assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = trees[tree]}));
    ask(scene, points, POINTS, NULL, got);
    for (int i = 0; i < POINTS; i++) {
      const float *p = points + 3 * i;
      const int32_t want = tetrahedra_winding(t, p, NULL);
      if (got[i] != want)
        fail_msg("tree %d, point %a %a %a: %d, not %d", (int)trees[tree], (double)p[0], (double)p[1], (double)p[2],
                 got[i], want);
    }
    slab_scene_destroy(scene);
  }
}

static void tetrahedra_surround_as_their_planes_say(void **state) {
  random_state random = harness_seeded("test_winding");
  for (uint32_t i = 0; i < harness_rays(60); i++) {
    tetrahedra t;
    float points[3 * POINTS];
    int32_t got[POINTS];
    tetrahedra_make(&random, (tetrahedra_sort)(i % TETRAHEDRA_SORTS), 1 + random_below(&random, 40), &t);
    for (int k = 0; k < POINTS; k++) tetrahedra_aim(&random, &t, points + 3 * k);
    compare_tetrahedra(*state, &t, points, got);
  }
}

/* Axes that are exchanged and turned round are another direction of the ray. */
static void no_direction_changes_an_answer(void **state) {
  random_state random = harness_seeded("test_winding directions");
  uint32_t beside = 0;
  for (uint32_t sort = 0; sort < TETRAHEDRA_SORTS; sort++) {
    tetrahedra t;
    float points[3 * POINTS];
    int32_t first[POINTS];
    tetrahedra_make(&random, (tetrahedra_sort)sort, 24, &t);
    for (int k = 0; k < POINTS; k++) tetrahedra_aim(&random, &t, points + 3 * k);
    compare_tetrahedra(*state, &t, points, first);
    for (uint32_t way = 1; way < 48; way += harness_asks_all() ? 1 : 5) {
      tetrahedra turned = t;
      float moved[3 * POINTS];
      int32_t got[POINTS];
      memcpy(moved, points, sizeof moved);
      tetrahedra_turn(way, &turned, moved, POINTS);
      compare_tetrahedra(*state, &turned, moved, got);
      for (int k = 0; k < POINTS; k++) {
        bool on_plane;
        tetrahedra_winding(&t, points + 3 * k, &on_plane);
        if (on_plane) continue;
        assert_int_equal(got[k], first[k]);
        beside++;
      }
    }
  }
  assert_true(beside > 1000);
}

static void overlaps_and_nests_add_up(void **state) {
  static const int large[3] = {8, 8, 8}, small[3] = {2, 2, 2}, at[3] = {1, 1, 1}, over[3] = {-2, 4, 4};
  static const int origin[3] = {0, 0, 0};
  lattice_mesh outer = {0}, inner = {0};
  lattice_box(&outer, large);
  lattice_box(&inner, small);
  slab_scene *scene = harness_scene(*state);
  assert_ok(lattice_add(scene, &outer, origin));
  assert_ok(lattice_add(scene, &outer, over));
  assert_ok(lattice_add(scene, &inner, at));
  turn_inside_out(&inner);
  for (int i = 0; i < 2; i++) assert_ok(lattice_add(scene, &inner, at)); /* a hole, twice as deep as what fills it */
  assert_ok(slab_scene_commit(scene, NULL));
  assert_int_equal(ask_one(scene, 7, 2, 2), 1);
  assert_int_equal(ask_one(scene, 2, 6, 6), 2);
  assert_int_equal(ask_one(scene, 2, 2, 2), 0);
  assert_int_equal(ask_one(scene, -1, 2, 6), 0);
  assert_int_equal(ask_one(scene, -1, 6, 6), 1);
  slab_scene_destroy(scene);
}

/* A sheet is crossed from below and not from above; a point on it counts as below. */
static void open_meshes_count_along_z(void **state) {
  const slab_triangle up = {{0, 0, 1}, {4, 0, 1}, {0, 4, 1}};
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, &up, 1);
  assert_int_equal(ask_one(scene, 1, 1, 0), 1);
  assert_int_equal(ask_one(scene, 1, 1, 1), 1);
  assert_int_equal(ask_one(scene, 1, 1, nextafterf(1, 2)), 0);
  assert_int_equal(ask_one(scene, 3, 3, 0), 0);
  assert_int_equal(ask_one(scene, 0, 0, 0), 1);
  assert_int_equal(ask_one(scene, 4, 0, 0), 0);
  assert_int_equal(ask_one(scene, 2, 2, 0), 0); /* on the third edge, and moved by e along x */
  slab_scene_destroy(scene);
}

/* Sides along z, triangles without area, and points far beyond or within rounding of a plane. */
static void flat_and_steep_triangles_count_nothing(void **state) {
  const slab_triangle odd[4] = {{{1, 0, 0}, {1, 4, 0}, {1, 0, 4}},
                                {{0, 0, 2}, {1, 1, 2}, {2, 2, 2}},
                                {{0, 0, 2}, {0, 0, 2}, {2, 2, 2}},
                                {{0, 0, 1}, {0, 0, 2}, {0, 0, 3}}};
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, odd, 4);
  for (int x = 0; x < 4; x++)
    for (int y = 0; y < 4; y++) assert_int_equal(ask_one(scene, 0.5f * (float)x, 0.5f * (float)y, 0), 0);
  slab_scene_destroy(scene);
}

/* ---- extremes ---- */

/* Corners from 2^-149 to 2^60 away: products of differences neither overflow nor vanish. */
static void extremes_are_decided(void **state) {
  static const float sizes[] = {0x1p-149f, 0x1p-126f, 0x1p-80f, 0x1p-30f, 1.0f, 0x1p30f, 0x1p59f};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const float s = sizes[i];
    const slab_triangle up = {{-s, -s, s}, {s, -s, s}, {0, s, s}};
    slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, &up, 1);
    assert_int_equal(ask_one(scene, 0, 0, 0), 1);
    assert_int_equal(ask_one(scene, 0, 0, s), 1);
    assert_int_equal(ask_one(scene, 0, 0, nextafterf(s, INFINITY)), 0);
    assert_int_equal(ask_one(scene, -s, -s, 0), 1);
    assert_int_equal(ask_one(scene, nextafterf(-s, -INFINITY), -s, 0), 0);
    assert_int_equal(ask_one(scene, 0, 0, -0x1p60f), 1);
    slab_scene_destroy(scene);
  }
}

/* A wall that is a few last places thick and leans by as much: its plane passes a point far below it on the other side.
 * The oracle judges. */
static void steep_walls_are_where_they_are(void **state) {
  const float x = 1.0f, next = nextafterf(1.0f, 2.0f);
  const slab_triangle shapes[3] = {{{-x, -x, 1}, {next, x, 0}, {x, x, 1}},   /* the wall, from above */
                                   {{-x, -x, 1}, {-x, -x, 0}, {next, x, 0}}, /* its lower half */
                                   {{-x, -x, 0}, {8, -8, 0}, {next, x, 0}}}; /* the floor */
  slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, shapes, 3);
  random_state random = harness_seeded("test_winding walls");
  float points[3 * POINTS];
  int32_t got[POINTS];
  for (int i = 0; i < POINTS; i++) {
    const float y = random_between(&random, -0.9f, 0.9f);
    float *p = points + 3 * i;
    p[0] = y, p[1] = y, p[2] = random_between(&random, -1.0f, 1.0f);
    for (uint32_t k = random_below(&random, 4); k > 0; k--) p[0] = nextafterf(p[0], 2.0f);
  }
  ask(scene, points, POINTS, NULL, got);
  slab_scene_destroy(scene);
}

/* ---- solids, masks, instances ---- */

static void solids_hold_their_border(void **state) {
  const slab_box box = {{0, 0, 0}, {4, 4, 4}}, inverted = {{1, 0, 0}, {0, 4, 4}},
                 endless = {{-INFINITY, 0, 0}, {INFINITY, 4, 4}};
  const slab_sphere sphere = {{2, 2, 2}, 2};
  const slab_obb turned = {{2, 2, 2}, {1, 2, 1}, {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}};
  const slab_plane plane = {{0, 0, 1}, 3};
  slab_scene *scene = harness_scene(*state);
  assert_ok(slab_scene_add_boxes(scene, &box, 1, NULL, NULL));
  assert_ok(slab_scene_add_boxes(scene, &inverted, 1, NULL, NULL));
  assert_ok(slab_scene_add_boxes(scene, &endless, 1, NULL, NULL));
  assert_ok(slab_scene_add_spheres(scene, &sphere, 1, NULL, NULL));
  assert_ok(slab_scene_add_obbs(scene, &turned, 1, NULL, NULL));
  assert_ok(slab_scene_add_planes(scene, &plane, 1, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_int_equal(ask_one(scene, 2, 2, 2), 4);
  assert_int_equal(ask_one(scene, 0, 2, 2), 4);    /* on box, sphere and the oriented one, whose long axis is x */
  assert_int_equal(ask_one(scene, 2, 3, 3), 4);    /* on the oriented one's edge */
  assert_int_equal(ask_one(scene, 2, 3.5f, 2), 3); /* beyond it */
  assert_int_equal(ask_one(scene, 0, 0, 0), 2);
  assert_int_equal(ask_one(scene, 9, 4, 4), 1);
  assert_int_equal(ask_one(scene, 9, 5, 4), 0);
  slab_scene_destroy(scene);
}

static void masks_hide_what_surrounds(void **state) {
  const slab_box near = {{-1, -1, -1}, {1, 1, 1}}, far = {{-2, -2, -2}, {2, 2, 2}};
  const float points[12] = {0};
  const uint32_t masks[4] = {1, 2, 3, 0};
  int32_t w[4];
  slab_scene *scene = harness_scene(*state);
  assert_ok(slab_scene_add_boxes(scene, &near, 1, &(slab_geometry_options){.mask = 1}, NULL));
  assert_ok(slab_scene_add_boxes(scene, &far, 1, &(slab_geometry_options){.mask = 2}, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  ask(scene, points, 4, &(slab_point_options){.masks = masks}, w);
  assert_true(w[0] == 1 && w[1] == 1 && w[2] == 2 && w[3] == 0);
  ask(scene, points, 1, &(slab_point_options){.mask = 2}, w);
  assert_int_equal(w[0], 1);
  assert_ok(slab_scene_enable(scene, 0, 0));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_int_equal(ask_one(scene, 0, 0, 0), 1);
  slab_scene_destroy(scene);
}

/* ---- signed distances ---- */

static int told_of(void *user, uint64_t done, uint64_t total) {
  uint64_t *told = user;
  told[0] = done;
  told[1] = total;
  return 0;
}

static void signed_distances_tell_the_side(void **state) {
  static const int size[3] = {4, 4, 4};
  const float points[] = {2,   2, 1, 2, 2, 4.5f, 2,  2, 9, 7, 2, 2, 0, 3, 3, /* on a face, and inside */
                          NAN, 0, 0, 2, 2, -1,   20, 2, 2};
  const float want[] = {-1, -0.5f, 4, 3, 0, INFINITY, 1, 16},
              within[] = {-1, -0.5f, INFINITY, INFINITY, 0, INFINITY, 1, INFINITY};
  enum { COUNT = sizeof want / sizeof *want };
  const slab_box above = {{1, 1, 3}, {3, 3, 5}};
  lattice_mesh box = {0};
  float got[COUNT];
  uint64_t told[2] = {0}, invalid = 0;
  lattice_box(&box, size);
  slab_scene *scene = of_mesh(*state, &box, SLAB_TREE_DEFAULT);
  assert_ok(slab_scene_add_boxes(scene, &above, 1, &(slab_geometry_options){.mask = 2}, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  slab_point_options options = {.progress = told_of, .user = told, .invalid = &invalid};
  assert_ok(slab_signed_distances(scene, points, COUNT, got, &options));
  assert_memory_equal(got, want, sizeof want);
  assert_true(told[0] == 2 * COUNT && told[1] == 2 * COUNT && invalid == 1);
  options.radius = 1;
  assert_ok(slab_signed_distances(scene, points, COUNT, got, &options));
  assert_memory_equal(got, within, sizeof within);
  slab_check_report report;
  assert_ok(slab_check_points(scene, SLAB_SIGNED_DISTANCES, points, COUNT, within, &options, &report));
  assert_true(report.mismatches == 0 && report.oracle_wrong == 0);
  got[1] = 0.5f; /* the other side */
  assert_ok(slab_check_points(scene, SLAB_SIGNED_DISTANCES, points, COUNT, got, &options, &report));
  assert_true(report.mismatches == 1 && report.oracle_wrong == 1 && report.first == 1);
  options = (slab_point_options){.mask = 2, .radius = 0.25f};
  assert_ok(slab_signed_distances(scene, (const float[]){2, 2, 4.5f}, 1, got, &options));
  assert_true(got[0] == -INFINITY);
  slab_scene_destroy(scene);
  turn_inside_out(&box); /* inside as well */
  scene = of_mesh(*state, &box, SLAB_TREE_DEFAULT);
  assert_ok(slab_signed_distances(scene, points, COUNT, got, NULL));
  assert_true(got[0] == -1 && got[1] == 0.5f && got[4] == 0 && !signbit(got[4]));
  slab_scene_destroy(scene);
}

/* Turned, skew and mirrored: facing is the model's. */
static void instances_count_as_their_models(void **state) {
  static const float places[3 * 12] = {0,  -1, 0, 0,  1, 0, 0, 0, 0, 0, 1, 0,  /* a quarter turn */
                                       -1, 0,  0, 9,  0, 1, 0, 0, 0, 0, 1, 0,  /* mirrored */
                                       1,  1,  0, 20, 0, 1, 0, 0, 0, 0, 2, 0}; /* skew */
  static const int size[3] = {2, 2, 2};
  lattice_mesh box = {0};
  lattice_box(&box, size);
  slab_scene *model = of_mesh(*state, &box, SLAB_TREE_DEFAULT), *scene = harness_scene(*state);
  assert_ok(slab_scene_add_instances(scene, model, places, 3, NULL, NULL));
  for (int round = 0; round < 2; round++) {
    assert_ok(slab_scene_commit(scene, NULL));
    assert_int_equal(ask_one(scene, -1, 1, 1), 1 + round);
    assert_int_equal(ask_one(scene, 1, 1, 1), round);
    assert_int_equal(ask_one(scene, 8, 1, 1), 1 + round);
    assert_int_equal(ask_one(scene, 22.5f, 1, 3), 1 + round); /* sheared by y, and twice as high */
    assert_int_equal(ask_one(scene, 20.5f, 1, 3), round);
    const slab_box around = {{-30, -30, -30}, {30, 30, 30}};
    assert_ok(slab_scene_add_boxes(scene, &around, 1, NULL, NULL));
  }
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

static void packed_and_updated_scenes_answer_the_same(void **state) {
  static const int size[3] = {2, 2, 2};
  lattice_mesh box = {0};
  size_t bytes = 0;
  lattice_box(&box, size);
  slab_scene *scene = of_mesh(*state, &box, SLAB_TREE_DEFAULT), *copy = NULL;
  assert_ok(slab_scene_pack(scene, NULL, 0, &bytes));
  void *packed = harness_space(bytes);
  assert_ok(slab_scene_pack(scene, packed, bytes, &bytes));
  assert_ok(slab_scene_unpack(*state, packed, bytes, &copy));
  assert_int_equal(ask_one(copy, 1, 1, 1), 1);
  float moved[3 * LATTICE_MOST];
  for (uint32_t i = 0; i < 3 * box.vertex_count; i++) moved[i] = (float)box.vertices[i / 3][i % 3] + 5.0f;
  const slab_mesh mesh = {moved, 0, box.vertex_count, &box.indices[0][0], box.triangle_count, NULL};
  assert_ok(slab_scene_update_mesh(scene, 0, &mesh));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_int_equal(ask_one(scene, 1, 1, 1), 0);
  assert_int_equal(ask_one(scene, 6, 6, 6), 1);
  free(packed);
  slab_scene_destroy(copy);
  slab_scene_destroy(scene);
}

/* ---- invalid points, wrong answers, refusals ---- */

static void invalid_points_are_outside_and_counted(void **state) {
  const slab_box all = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
  const float points[4 * 3] = {NAN, 0, 0, 0, 0x1.000002p60f, 0, 0, 0, -0x1p60f, 0, 0, INFINITY};
  int32_t w[4];
  uint64_t invalid = 9;
  slab_scene *scene = expect_scene(*state, SLAB_BOX, &all, 1);
  ask(scene, points, 4, &(slab_point_options){.invalid = &invalid}, w);
  assert_true(invalid == 3 && w[0] == 0 && w[1] == 0 && w[2] == 1 && w[3] == 0);
  slab_scene_destroy(scene);
}

static void wrong_answers_are_seen(void **state) {
  const slab_box box = {{0, 0, 0}, {4, 4, 4}};
  const float points[6] = {1, 1, 1, 9, 9, 9};
  const int32_t wrong[2] = {1, 1};
  slab_check_report report;
  slab_scene *scene = expect_scene(*state, SLAB_BOX, &box, 1);
  assert_ok(slab_check_points(scene, SLAB_WINDING, points, 2, wrong, NULL, &report));
  assert_true(report.mismatches == 1 && report.oracle_wrong == 1 && report.first == 1);
  assert_non_null(strstr(report.text, "point 1: winding is 1, the CPU reference has 0"));
  slab_scene_destroy(scene);
}

static void radii_are_refused(void **state) {
  const float points[3] = {0}, radii[1] = {1};
  int32_t w[1];
  slab_scene *scene = harness_scene(*state);
  assert_status(slab_winding(scene, points, 1, w, NULL), SLAB_INVALID_STATE);
  assert_ok(slab_scene_commit(scene, NULL));
  assert_int_equal(ask_one(scene, 0, 0, 0), 0); /* of nothing */
  assert_status(slab_winding(scene, points, 1, w, &(slab_point_options){.radius = 2}), SLAB_INVALID_ARGUMENT);
  assert_mentions("slab_winding: a radius is given");
  assert_status(slab_winding(scene, points, 1, w, &(slab_point_options){.radii = radii}), SLAB_INVALID_ARGUMENT);
  assert_mentions("radii are given");
  assert_status(slab_winding(scene, NULL, 1, w, NULL), SLAB_INVALID_ARGUMENT);
  assert_mentions("points is NULL");
  assert_status(slab_winding(scene, points, 1, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_mentions("the results array is NULL");
  slab_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_holds_its_lattice),
      cmocka_unit_test(tetrahedra_surround_as_their_planes_say),
      cmocka_unit_test(no_direction_changes_an_answer),
      cmocka_unit_test(overlaps_and_nests_add_up),
      cmocka_unit_test(open_meshes_count_along_z),
      cmocka_unit_test(flat_and_steep_triangles_count_nothing),
      cmocka_unit_test(extremes_are_decided),
      cmocka_unit_test(steep_walls_are_where_they_are),
      cmocka_unit_test(solids_hold_their_border),
      cmocka_unit_test(signed_distances_tell_the_side),
      cmocka_unit_test(masks_hide_what_surrounds),
      cmocka_unit_test(instances_count_as_their_models),
      cmocka_unit_test(packed_and_updated_scenes_answer_the_same),
      cmocka_unit_test(invalid_points_are_outside_and_counted),
      cmocka_unit_test(wrong_answers_are_seen),
      cmocka_unit_test(radii_are_refused),
  };
  return cmocka_run_group_tests_name("test_winding", tests, expect_setup, expect_teardown);
}
